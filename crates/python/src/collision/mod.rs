//! Contacts of a model: where its shapes touch, their derivatives, distances and rays.

mod poses;
pub mod solids;

use crate::arguments::{arg, wrong_type};
use crate::arrays::{Input, vector};
use crate::errors::Failure;
use crate::interrupt::interruptible;
use crate::model::Model;
use numpy::ndarray::{Array2, Array3};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use slipstick::collision::{self, CollisionGradient, ContactSet, Order, PointDerivatives};
use slipstick::dynamics::Workspace;
use slipstick::model::{BodyId, FrameId, GeomId};
use slipstick::spatial::{Pose, Vec3};
use slipstick::{InputError, interrupt};
use solids::{ClosestPoints, kept, three};

/// A point where two shapes of a model touch or nearly touch, in world axes.
///
/// Attributes: pair (its row in Model.pairs), geoms (two names, may be empty), geom_numbers (two ints), bodies (two
/// names), point (3,) (m), normal (3,) from the first shape to the second, frame (3, 3) with two tangents and the normal
/// as columns, distance (float, m; negative when they overlap), feature (int: the same while the same features touch).
#[pyclass(frozen, get_all, module = "slipstick.collision")]
pub struct Contact {
    pair: usize,
    geoms: (String, String),
    geom_numbers: (usize, usize),
    bodies: (String, String),
    point: Py<PyArray1<f64>>,
    normal: Py<PyArray1<f64>>,
    frame: Py<PyArray2<f64>>,
    distance: f64,
    feature: u64,
}

#[pymethods]
impl Contact {
    fn __repr__(&self) -> String {
        let ((a, b), (i, j)) = (&self.geoms, self.geom_numbers);
        format!("<slipstick.collision.Contact of '{a}' ({i}) and '{b}' ({j}): distance={:.3e}>", self.distance)
    }
}

/// Derivatives of a contact with respect to the poses of its two bodies.
///
/// Attributes: contact (Contact), normal (2, 3, 6), point (2, 3, 6) (m), distance (2, 6) (m): for each body, per
/// component of a displacement [linear; angular] in world axes of the body's point that lies at the contact point.
#[pyclass(frozen, get_all, module = "slipstick.collision")]
pub struct ContactDerivatives {
    contact: Py<Contact>,
    normal: Py<PyArray3<f64>>,
    point: Py<PyArray3<f64>>,
    distance: Py<PyArray2<f64>>,
}

#[pymethods]
impl ContactDerivatives {
    fn __repr__(&self) -> String {
        let contact = self.contact.get();
        let (a, b) = &contact.geoms;
        format!("<slipstick.collision.ContactDerivatives of '{a}' and '{b}': distance={:.3e}>", contact.distance)
    }
}

/// Where a ray meets a shape of a model.
///
/// Attributes: geom (name, may be empty), geom_number (int), body (name), distance (float, m) from the ray's origin,
/// point (3,) (m), normal (3,): outward, of the shape.
#[pyclass(frozen, get_all, module = "slipstick.collision")]
pub struct ModelHit {
    geom: String,
    geom_number: usize,
    body: String,
    distance: f64,
    point: Py<PyArray1<f64>>,
    normal: Py<PyArray1<f64>>,
}

#[pymethods]
impl ModelHit {
    fn __repr__(&self) -> String {
        let (geom, number, distance) = (&self.geom, self.geom_number, self.distance);
        format!("<slipstick.collision.ModelHit on '{geom}' ({number}): distance={distance:.6}>")
    }
}

fn geom_name(model: &slipstick::Model, id: GeomId) -> String {
    model.geoms()[id.0].name.clone()
}

fn body_name(model: &slipstick::Model, id: GeomId) -> String {
    model.bodies()[model.geoms()[id.0].body.0].name.clone()
}

fn body_poses(model: &slipstick::Model, work: &mut Workspace, q: &[f64]) -> Result<Vec<Pose>, Failure> {
    work.kinematics(model, q)?;
    Ok((0..model.n_bodies()).map(|i| work.body_pose(BodyId(i))).collect::<Result<_, _>>()?)
}

/// Contacts at q, with the poses they were found at.
fn found(py: Python<'_>, model: &Model, q: Input) -> Result<(Vec<Pose>, ContactSet), Failure> {
    let q = vector("q", q)?;
    model.run(py, |m, work| {
        let poses = body_poses(m, work, &q)?;
        let mut set = ContactSet::new(m);
        collision::detect(m, &poses, &mut set)?;
        Ok((poses, set))
    })
}

fn to_contact(py: Python<'_>, model: &slipstick::Model, c: &collision::Contact) -> Contact {
    let [a, b] = c.geoms;
    Contact {
        pair: c.pair,
        geoms: (geom_name(model, a), geom_name(model, b)),
        geom_numbers: (a.0, b.0),
        bodies: (body_name(model, a), body_name(model, b)),
        point: kept(py, c.point),
        normal: kept(py, c.normal()),
        frame: Array2::from_shape_fn((3, 3), |(i, j)| c.frame.at(i, j)).into_pyarray(py).unbind(),
        distance: c.distance,
        feature: c.feature,
    }
}

/// Every pair of shapes nearer than the model's contact_distance.
///
/// q (nq,). Returns a list of Contact: up to four points for each pair, in the order of Model.pairs.
#[pyfunction]
pub fn detect(
    py: Python<'_>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
) -> Result<Vec<Contact>, Failure> {
    let (_, set) = found(py, model, q)?;
    Ok(set.contacts().iter().map(|c| to_contact(py, &model.inner, c)).collect())
}

/// Contacts as detect finds them, with the derivatives of their points, normals and distances.
///
/// q (nq,); mode: "exact" (features and curvatures as they are), "smoothed" (corners and edges rounded by a softmax over
/// the vertices with temperature eps, m), "randomized" (mean over random poses, sigma (m, rad) wide, of differences of
/// queries (order 0) or of exact derivatives (order 1)) or "frozen" (point and normal stay where they are in the world).
/// Returns a list of ContactDerivatives. Raises ArithmeticError where there is no derivative.
#[pyfunction]
#[pyo3(signature = (model, q, mode="exact", *, eps=1e-3, sigma=1e-2, samples=100, seed=0, order=1))]
pub fn derivatives(
    py: Python<'_>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    #[pyo3(from_py_with = arg::mode)] mode: &str,
    #[pyo3(from_py_with = arg::eps)] eps: f64,
    #[pyo3(from_py_with = arg::sigma)] sigma: f64,
    #[pyo3(from_py_with = arg::samples)] samples: u32,
    #[pyo3(from_py_with = arg::seed)] seed: u64,
    #[pyo3(from_py_with = arg::order)] order: u8,
) -> Result<Vec<ContactDerivatives>, Failure> {
    let mode = match mode {
        "exact" => CollisionGradient::Exact,
        "smoothed" => CollisionGradient::Smoothed { eps },
        "randomized" => CollisionGradient::Randomized { sigma, samples, seed, order: self::order(order)? },
        "frozen" => CollisionGradient::Frozen,
        other => {
            let expected = "'exact', 'smoothed', 'randomized' or 'frozen'";
            return Err(PyValueError::new_err(format!("mode: expected {expected}, got '{other}'")).into());
        }
    };
    let (poses, mut set) = found(py, model, q)?;
    let n = set.contacts().len();
    let all = interruptible(py, || {
        let of = |k: usize| {
            interrupt::check()?;
            Ok(collision::contact_derivatives(&model.inner, &poses, &mut set, k, &mode)?)
        };
        (0..n).map(of).collect::<Result<Vec<_>, Failure>>()
    })?;
    set.contacts().iter().zip(&all).map(|(c, d)| to_derivatives(py, to_contact(py, &model.inner, c), d)).collect()
}

/// What randomized smoothing averages, by number.
pub fn order(order: u8) -> Result<Order, Failure> {
    match order {
        0 => Ok(Order::Zeroth),
        1 => Ok(Order::First),
        got => Err(InputError::Value { what: "order".into(), expected: "0 or 1", got: got.into() }.into()),
    }
}

fn to_derivatives(py: Python<'_>, contact: Contact, d: &PointDerivatives) -> Result<ContactDerivatives, Failure> {
    let vectors = |x: &[[Vec3; 6]; 2]| {
        Array3::from_shape_fn((2, 3, 6), |(body, k, j)| x[body][j].to_array()[k]).into_pyarray(py).unbind()
    };
    Ok(ContactDerivatives {
        contact: Py::new(py, contact)?,
        normal: vectors(&d.normal),
        point: vectors(&d.point),
        distance: Array2::from_shape_fn((2, 6), |(body, j)| d.distance[body][j]).into_pyarray(py).unbind(),
    })
}

/// A link by its name.
fn link(model: &slipstick::Model, name: &str) -> Result<FrameId, InputError> {
    let links = || model.frames().iter().filter(|f| f.inertia.is_some()).map(|f| f.name.as_str());
    let found = links().position(|other| other == name);
    found.map(FrameId).ok_or_else(|| InputError::unknown_name("link", name, links()))
}

/// A shape of a model: its name or its number.
fn geom(what: &'static str, model: &slipstick::Model, x: Input) -> Result<GeomId, Failure> {
    if let Ok(number) = x.extract::<usize>() {
        return Ok(GeomId(number));
    }
    let name: String = x.extract().map_err(|_| wrong_type(what, "the name or the number of a shape", x))?;
    Ok(model.geom(&name)?)
}

/// Nearest points of two shapes of a model, whether or not they may touch.
///
/// q (nq,); a, b: names or numbers of shapes. Returns a ClosestPoints.
#[pyfunction]
pub fn geom_distance(
    py: Python<'_>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    a: Input,
    b: Input,
) -> Result<ClosestPoints, Failure> {
    let (q, a, b) = (vector("q", q)?, geom("a", &model.inner, a)?, geom("b", &model.inner, b)?);
    let found = model.run(py, |m, work| Ok(collision::geom_distance(m, &body_poses(m, work, &q)?, a, b)?))?;
    Ok(ClosestPoints::one(py, &found)?)
}

/// Where a ray first meets a shape of a model.
///
/// q (nq,), origin (3,) (m), direction (3,) of any length, max_distance (m), without: name of a link whose shapes the ray passes.
/// Rays pass through transparent shapes, and beside a plane where it ends. Returns a ModelHit, or None if it meets nothing.
#[pyfunction]
#[pyo3(
    signature = (model, q, origin, direction, *, max_distance=f64::INFINITY, without=None),
    text_signature = "(model, q, origin, direction, *, max_distance=1e999, without=None)"
)]
pub fn raycast_model(
    py: Python<'_>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    origin: Input,
    direction: Input,
    #[pyo3(from_py_with = arg::max_distance)] max_distance: f64,
    #[pyo3(from_py_with = arg::without)] without: Option<&str>,
) -> Result<Option<ModelHit>, Failure> {
    let (q, origin, direction) = (vector("q", q)?, three("origin", origin)?, three("direction", direction)?);
    let left_out = without.map(|name| link(&model.inner, name)).transpose()?;
    let found = model.run(py, |m, work| {
        let poses = body_poses(m, work, &q)?;
        Ok(collision::raycast_model_without(m, &poses, origin, direction, max_distance, left_out)?)
    })?;
    let Some((id, hit)) = found else { return Ok(None) };
    Ok(Some(ModelHit {
        geom: geom_name(&model.inner, id),
        geom_number: id.0,
        body: body_name(&model.inner, id),
        distance: hit.distance,
        point: kept(py, hit.point),
        normal: kept(py, hit.normal),
    }))
}
