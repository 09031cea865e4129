//! What a model holds beside its tree: warnings, shapes and pairs, constraints, tendons, sensors.

use crate::arguments::arg;
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
use slipstick::Model;
use slipstick::model::{EqualityKind, FrameId, JointId, Quantity, SensorObject};
use slipstick::spatial::{Quat, Vec3};

/// A vector that an object keeps.
type Kept = Py<PyArray1<f64>>;

/// Something that a file says and the model does not represent, although it would change the motion.
///
/// Attributes: what (the element), where (file and line, may be empty), effect. str() puts them in one line.
#[pyclass(frozen, eq, from_py_object, module = "slipstick.types")]
#[derive(Clone, PartialEq)]
pub struct ModelWarning(pub slipstick::model::Warning);

#[pymethods]
impl ModelWarning {
    #[new]
    fn new(
        #[pyo3(from_py_with = arg::what)] what: String,
        #[pyo3(from_py_with = arg::r#where)] r#where: String,
        #[pyo3(from_py_with = arg::effect)] effect: String,
    ) -> ModelWarning {
        ModelWarning(slipstick::model::Warning { what, place: r#where, effect })
    }

    /// What was found (str).
    #[getter]
    fn what(&self) -> &str {
        &self.0.what
    }

    /// File and line (str).
    #[getter]
    fn r#where(&self) -> &str {
        &self.0.place
    }

    /// What follows from it (str).
    #[getter]
    fn effect(&self) -> &str {
        &self.0.effect
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<slipstick.types.ModelWarning: {}>", self.0)
    }

    fn __getnewargs__(&self) -> (&str, &str, &str) {
        (&self.0.what, &self.0.place, &self.0.effect)
    }
}

/// A constraint that holds at all times.
///
/// Attributes: name (str), kind ("joint", "tendon", "connect" or "weld"), active (bool), and by kind, else empty or None:
/// joints (names: the one that follows, the one that leads if any), tendons (numbers, likewise), coefficients (5,),
/// frames (two names), points (2, 3) of a connect in each frame, pose (position (3,), quaternion (4,)) of the second
/// frame in the first of a weld, anchor (3,), torque_scale (float).
#[pyclass(frozen, get_all, module = "slipstick.types")]
pub struct Equality {
    name: String,
    kind: &'static str,
    active: bool,
    joints: Vec<String>,
    tendons: Vec<usize>,
    frames: Vec<String>,
    coefficients: Option<Kept>,
    points: Option<Py<PyArray2<f64>>>,
    pose: Option<(Kept, Kept)>,
    anchor: Option<Kept>,
    torque_scale: Option<f64>,
}

/// A fixed tendon: its length is a weighted sum of joint positions.
///
/// Attributes: name (str), joints (names), weights (n,), range (two floats or None), stiffness, rest (two floats: the
/// spring pulls outside of this interval), damping, dry_friction.
#[pyclass(frozen, get_all, module = "slipstick.types")]
pub struct Tendon {
    name: String,
    joints: Vec<String>,
    weights: Kept,
    range: Option<(f64, f64)>,
    stiffness: f64,
    rest: (f64, f64),
    damping: f64,
    dry_friction: f64,
}

/// A quantity that the file wants to have measured.
///
/// Attributes: name (str), quantity (str, for example "gyro"), object_type ("world", "joint", "frame", "inertial",
/// "actuator", "tendon" or "geoms"), object (its number), reference (name of a frame, or None), size (numbers per reading), cutoff
/// (bound of a reading, 0: none).
#[pyclass(frozen, get_all, module = "slipstick.types")]
pub struct Sensor {
    name: String,
    quantity: String,
    object_type: &'static str,
    object: usize,
    reference: Option<String>,
    size: usize,
    cutoff: f64,
}

#[pymethods]
impl Equality {
    fn __repr__(&self) -> String {
        let tendons = self.tendons.iter().map(|t| format!("tendon {t}"));
        let of: Vec<_> =
            self.joints.iter().chain(&self.frames).map(|name| format!("'{name}'")).chain(tendons).collect();
        let inactive = if self.active { "" } else { ", inactive" };
        format!("<slipstick.types.Equality '{}': {} of {}{inactive}>", self.name, self.kind, of.join(" and "))
    }
}

#[pymethods]
impl Tendon {
    fn __repr__(&self) -> String {
        format!("<slipstick.types.Tendon '{}' of '{}'>", self.name, self.joints.join("', '"))
    }
}

#[pymethods]
impl Sensor {
    fn __repr__(&self) -> String {
        let (name, quantity, object_type, object) = (&self.name, &self.quantity, self.object_type, self.object);
        format!("<slipstick.types.Sensor '{name}': {quantity} of {object_type} {object}, {} numbers>", self.size)
    }
}

/// Pairs of geoms that may touch: (n, 2).
pub fn pairs<'py>(py: Python<'py>, model: &Model) -> Bound<'py, PyArray2<i64>> {
    let pairs = model.pairs();
    Array2::from_shape_fn((pairs.len(), 2), |(i, k)| pairs[i].geoms[k].0 as i64).into_pyarray(py)
}

fn joint(model: &Model, id: JointId) -> String {
    model.joints()[id.0].name.clone()
}

fn frame(model: &Model, id: FrameId) -> String {
    model.frames()[id.0].name.clone()
}

fn vector(py: Python<'_>, x: Vec3) -> Kept {
    PyArray1::from_slice(py, &x.to_array()).unbind()
}

pub fn equalities(py: Python<'_>, model: &Model) -> Vec<Equality> {
    model.equalities().iter().map(|e| equality(py, model, e)).collect()
}

fn equality(py: Python<'_>, model: &Model, e: &slipstick::model::Equality) -> Equality {
    let mut out = Equality {
        name: e.name.clone(),
        kind: "",
        active: e.active,
        joints: vec![],
        tendons: vec![],
        frames: vec![],
        coefficients: None,
        points: None,
        pose: None,
        anchor: None,
        torque_scale: None,
    };
    let numbers = |x: &[f64]| PyArray1::from_slice(py, x).unbind();
    match &e.kind {
        EqualityKind::Joint { joint: follower, other, coefficients } => {
            out.kind = "joint";
            out.joints = std::iter::once(*follower).chain(*other).map(|j| joint(model, j)).collect();
            out.coefficients = Some(numbers(coefficients));
        }
        EqualityKind::Tendon { tendon, other, coefficients } => {
            out.kind = "tendon";
            out.tendons = std::iter::once(*tendon).chain(*other).collect();
            out.coefficients = Some(numbers(coefficients));
        }
        EqualityKind::Connect { frames, points } => {
            out.kind = "connect";
            out.frames = frames.iter().map(|f| frame(model, *f)).collect();
            let rows = Array2::from_shape_fn((2, 3), |(i, k)| points[i].to_array()[k]);
            out.points = Some(rows.into_pyarray(py).unbind());
        }
        EqualityKind::Weld { frames, pose, anchor, torque_scale } => {
            out.kind = "weld";
            out.frames = frames.iter().map(|f| frame(model, *f)).collect();
            let turn = Quat::from_matrix(&pose.rotation);
            out.pose = Some((vector(py, pose.position), numbers(&[turn.w, turn.x, turn.y, turn.z])));
            out.anchor = Some(vector(py, *anchor));
            out.torque_scale = Some(*torque_scale);
        }
        _ => out.kind = "other",
    }
    out
}

pub fn tendons(py: Python<'_>, model: &Model) -> Vec<Tendon> {
    let tendon = |t: &slipstick::model::Tendon| Tendon {
        name: t.name.clone(),
        joints: t.joints.iter().map(|(j, _)| joint(model, *j)).collect(),
        weights: PyArray1::from_iter(py, t.joints.iter().map(|(_, w)| *w)).unbind(),
        range: t.range.map(|[lower, upper]| (lower, upper)),
        stiffness: t.stiffness,
        rest: (t.rest[0], t.rest[1]),
        damping: t.damping,
        dry_friction: t.dry_friction,
    };
    model.tendons().iter().map(tendon).collect()
}

pub fn sensors(model: &Model) -> Vec<Sensor> {
    let sensor = |s: &slipstick::model::Sensor| {
        let (object_type, object) = match s.object {
            SensorObject::Joint(j) => ("joint", j.0),
            SensorObject::Frame(f) => ("frame", f.0),
            SensorObject::Inertial(f) => ("inertial", f.0),
            SensorObject::Actuator(a) => ("actuator", a.0),
            SensorObject::Tendon(t) => ("tendon", t),
            SensorObject::Geoms(_) => ("geoms", 0),
            _ => ("world", 0),
        };
        Sensor {
            name: s.name.clone(),
            quantity: quantity(s.quantity),
            object_type,
            object,
            reference: s.reference.map(|f| frame(model, f)),
            size: s.size(),
            cutoff: s.cutoff,
        }
    };
    model.sensors().iter().map(sensor).collect()
}

/// The quantity as a word: `LinearVelocity` → `linear_velocity`.
fn quantity(quantity: Quantity) -> String {
    let name = format!("{quantity:?}");
    snake_case(name.split('(').next().unwrap_or(&name))
}

/// `LinearVelocity` → `linear_velocity`.
fn snake_case(name: &str) -> String {
    let mut out = String::new();
    for (i, c) in name.char_indices() {
        if c.is_uppercase() && i > 0 {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}
