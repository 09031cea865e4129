//! `model.body("x")`, `model.joint("x")`, `model.actuator("x")`, `model.geom("x")`, `model.frame("x")`: one element with
//! its numbers.

use crate::arrays::{Matrix, Vector};
use crate::errors::Failure;
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PySlice;
use slipstick::InputError;
use slipstick::model::{GeomId, JointKind, Model, ParameterGroup, Shape, Transmission};
use slipstick::spatial::{Mat3, Quat};
use std::ops::Range;

/// How an element is asked for.
pub enum Key {
    Name(String),
    Number(usize),
}

impl Key {
    /// The number of the element, one of `count`.
    pub fn number(
        &self,
        what: &'static str,
        count: usize,
        by_name: impl FnOnce(&str) -> Result<usize, InputError>,
    ) -> Result<usize, Failure> {
        match *self {
            Key::Name(ref name) => Ok(by_name(name)?),
            Key::Number(number) if number < count => Ok(number),
            Key::Number(got) => Err(InputError::OutOfRange { what, count, got }.into()),
        }
    }
}

/// A class for one kind of element: the model and the number of the element in it.
macro_rules! element_class {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "slipstick.types")]
        pub struct $name {
            model: Model,
            index: usize,
        }

        impl $name {
            pub fn new(model: &Model, index: usize) -> $name {
                $name { model: model.clone(), index }
            }
        }
    };
}

element_class! {
    /// A body that moves by joints of its own; body 0 is the world.
    ///
    /// Attributes: name, index, parent (name; None for the world), joints (names), geoms (their numbers), mass (float, kg), center_of_mass (3,)
    /// and inertia (3, 3) about it, in the body's axes (m, kg·m²),
    /// inertial (10,): m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz about its origin, as in Model.parameters, position (3,), rotation (3, 3) and quaternion (4,) in its
    /// parent before its joints move.
    Body
}

element_class! {
    /// A joint.
    ///
    /// Attributes: name, index, type ("revolute", …), body (name of the body that it moves), axis (3,) in the body's axes or
    /// None, q and v (slices into configuration and velocity), range (two floats or None), armature, damping, stiffness,
    /// dry_friction (of its first dof), effort_limit, velocity_limit (inf: unlimited).
    Joint
}

element_class! {
    /// An actuator: force = gain · ctrl + bias[0] + bias[1] · length + bias[2] · velocity.
    ///
    /// Attributes: name, index (into ctrl), joint (name or None), tendon (number or None), gear (6,), gain, bias (3,),
    /// ctrl_range, force_range (two floats or None).
    Actuator
}

element_class! {
    /// A shape fixed to a body.
    ///
    /// Attributes: name, index, type ("box", …), body (name), link (name), position (3,), rotation (3, 3) and quaternion (4,) in the
    /// body's frame, size (radius; radius and half length; half sizes) (m), mesh (corners (n, 3) (m) and triangles (m, 3), or
    /// None), friction, restitution, compliance (1/kg).
    Geom
}

element_class! {
    /// A named frame: a link of the file, also one merged over a fixed joint, or a site.
    ///
    /// Attributes: name, index, body (name), position (3,), rotation (3, 3) and quaternion (4,) in the body's frame, mass (float,
    /// kg: of the link alone).
    Frame
}

#[pymethods]
impl Body {
    #[getter]
    fn name(&self) -> &str {
        &self.model.bodies()[self.index].name
    }

    #[getter]
    fn index(&self) -> usize {
        self.index
    }

    #[getter]
    fn parent(&self) -> Option<&str> {
        let parent = self.model.bodies()[self.index].parent;
        (self.index > 0).then(|| self.model.bodies()[parent.0].name.as_str())
    }

    #[getter]
    fn joints(&self) -> Vec<&str> {
        let own = self.model.joints().iter().filter(|j| j.body.0 == self.index);
        own.map(|j| j.name.as_str()).collect()
    }

    #[getter]
    fn geoms(&self) -> Vec<usize> {
        let geoms = self.model.geoms().iter().enumerate();
        geoms.filter(|(_, g)| g.body.0 == self.index).map(|(i, _)| i).collect()
    }

    #[getter]
    fn mass(&self) -> f64 {
        self.model.inertias()[self.index].mass
    }

    #[getter]
    fn center_of_mass<'py>(&self, py: Python<'py>) -> Vector<'py> {
        PyArray1::from_slice(py, &self.model.inertias()[self.index].com.to_array())
    }

    #[getter]
    fn inertia<'py>(&self, py: Python<'py>) -> Matrix<'py> {
        let about_com = self.model.inertias()[self.index].about_com.to_mat();
        square(py, &about_com)
    }

    /// What Model.parameters has of it: (10,), mass, first moments, inertia about the origin; zeros for the world.
    #[getter]
    fn inertial<'py>(&self, py: Python<'py>) -> Vector<'py> {
        PyArray1::from_slice(py, &self.model.inertias()[self.index].to_parameters())
    }

    #[getter]
    fn position<'py>(&self, py: Python<'py>) -> Vector<'py> {
        PyArray1::from_slice(py, &self.model.placements()[self.index].position.to_array())
    }

    #[getter]
    fn rotation<'py>(&self, py: Python<'py>) -> Matrix<'py> {
        square(py, &self.model.placements()[self.index].rotation)
    }

    #[getter]
    fn quaternion<'py>(&self, py: Python<'py>) -> Vector<'py> {
        quaternion(py, &self.model.placements()[self.index].rotation)
    }

    fn __repr__(&self) -> String {
        let parent = self.parent().map_or(String::new(), |p| format!(" on '{p}'"));
        let joints = self.joints().join("', '");
        let joints = if joints.is_empty() { String::new() } else { format!(", joints '{joints}'") };
        format!("<slipstick.types.Body '{}'{parent}: {:.4} kg{joints}>", self.name(), self.mass())
    }
}

impl Joint {
    fn inner(&self) -> &slipstick::model::Joint {
        &self.model.joints()[self.index]
    }

    /// What a group says of its first dof.
    fn first(&self, group: ParameterGroup) -> f64 {
        self.model.parameters().group(group)[self.inner().v.start]
    }
}

#[pymethods]
impl Joint {
    #[getter]
    fn name(&self) -> &str {
        &self.inner().name
    }

    #[getter]
    fn index(&self) -> usize {
        self.index
    }

    #[getter]
    fn r#type(&self) -> &'static str {
        self.inner().kind.name()
    }

    #[getter]
    fn body(&self) -> &str {
        &self.model.bodies()[self.inner().body.0].name
    }

    #[getter]
    fn axis<'py>(&self, py: Python<'py>) -> Option<Vector<'py>> {
        match self.inner().kind {
            JointKind::Revolute { axis } | JointKind::Prismatic { axis } => {
                Some(PyArray1::from_slice(py, &axis.to_array()))
            }
            _ => None,
        }
    }

    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> Bound<'py, PySlice> {
        slice(py, self.inner().q.clone())
    }

    #[getter]
    fn v<'py>(&self, py: Python<'py>) -> Bound<'py, PySlice> {
        slice(py, self.inner().v.clone())
    }

    #[getter]
    fn range(&self) -> Option<(f64, f64)> {
        self.inner().range.map(|[lower, upper]| (lower, upper))
    }

    #[getter]
    fn armature(&self) -> f64 {
        self.first(ParameterGroup::Armature)
    }

    #[getter]
    fn damping(&self) -> f64 {
        self.first(ParameterGroup::Damping)
    }

    #[getter]
    fn stiffness(&self) -> f64 {
        self.first(ParameterGroup::Stiffness)
    }

    #[getter]
    fn dry_friction(&self) -> f64 {
        self.first(ParameterGroup::DryFriction)
    }

    #[getter]
    fn effort_limit(&self) -> f64 {
        effort_limit(self.inner())
    }

    #[getter]
    fn velocity_limit(&self) -> f64 {
        self.inner().velocity
    }

    fn __repr__(&self) -> String {
        let (j, body) = (self.inner(), self.body());
        let range = j.range.map_or(String::new(), |[lower, upper]| format!(", range {lower:.4} to {upper:.4}"));
        let (q, v) = (&j.q, &j.v);
        format!("<slipstick.types.Joint '{}': {} of '{body}', q[{q:?}], v[{v:?}]{range}>", j.name, j.kind.name())
            .replace("..", ":")
    }
}

impl Actuator {
    fn inner(&self) -> &slipstick::model::Actuator {
        &self.model.actuators()[self.index]
    }
}

#[pymethods]
impl Actuator {
    #[getter]
    fn name(&self) -> &str {
        &self.inner().name
    }

    #[getter]
    fn index(&self) -> usize {
        self.index
    }

    #[getter]
    fn joint(&self) -> Option<&str> {
        match self.inner().transmission {
            Transmission::Joint(id) => Some(&self.model.joints()[id.0].name),
            _ => None,
        }
    }

    #[getter]
    fn tendon(&self) -> Option<usize> {
        match self.inner().transmission {
            Transmission::Tendon(number) => Some(number),
            _ => None,
        }
    }

    #[getter]
    fn gear<'py>(&self, py: Python<'py>) -> Vector<'py> {
        PyArray1::from_slice(py, &self.inner().gear)
    }

    /// Parameters may differ from what the file gave.
    #[getter]
    fn gain(&self) -> f64 {
        self.model.parameters().group(ParameterGroup::Actuator)[4 * self.index]
    }

    #[getter]
    fn bias<'py>(&self, py: Python<'py>) -> Vector<'py> {
        let numbers = &self.model.parameters().group(ParameterGroup::Actuator)[4 * self.index + 1..4 * self.index + 4];
        PyArray1::from_slice(py, numbers)
    }

    #[getter]
    fn ctrl_range(&self) -> Option<(f64, f64)> {
        self.inner().ctrl_range.map(|[lower, upper]| (lower, upper))
    }

    #[getter]
    fn force_range(&self) -> Option<(f64, f64)> {
        self.inner().force_range.map(|[lower, upper]| (lower, upper))
    }

    fn __repr__(&self) -> String {
        let on = match (self.joint(), self.tendon()) {
            (Some(joint), _) => format!("joint '{joint}'"),
            (_, Some(tendon)) => format!("tendon {tendon}"),
            _ => "nothing".into(),
        };
        let range = self.ctrl_range().map_or("unlimited".into(), |(lower, upper)| format!("{lower:.4} to {upper:.4}"));
        let (name, index) = (self.name(), self.index);
        format!("<slipstick.types.Actuator '{name}' on {on}: ctrl[{index}], {range}>")
    }
}

impl Geom {
    fn inner(&self) -> &slipstick::model::Geom {
        &self.model.geoms()[self.index]
    }

    fn surface(&self, group: ParameterGroup) -> f64 {
        self.model.parameters().group(group)[self.index]
    }
}

/// Corners (n, 3) and triangles (m, 3) of a mesh.
type MeshArrays<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<i64>>);

#[pymethods]
impl Geom {
    #[getter]
    fn name(&self) -> &str {
        &self.inner().name
    }

    #[getter]
    fn index(&self) -> usize {
        self.index
    }

    #[getter]
    fn r#type(&self) -> &'static str {
        self.inner().shape.name()
    }

    #[getter]
    fn body(&self) -> &str {
        &self.model.bodies()[self.inner().body.0].name
    }

    #[getter]
    fn link(&self) -> &str {
        &self.model.frames()[self.inner().link.0].name
    }

    #[getter]
    fn position<'py>(&self, py: Python<'py>) -> Vector<'py> {
        PyArray1::from_slice(py, &self.inner().pose.position.to_array())
    }

    #[getter]
    fn rotation<'py>(&self, py: Python<'py>) -> Matrix<'py> {
        square(py, &self.inner().pose.rotation)
    }

    #[getter]
    fn quaternion<'py>(&self, py: Python<'py>) -> Vector<'py> {
        quaternion(py, &self.inner().pose.rotation)
    }

    #[getter]
    fn size<'py>(&self, py: Python<'py>) -> Vector<'py> {
        let shape = self.model.shape(GeomId(self.index));
        PyArray1::from_slice(py, &shape.size()[..shape.n_sizes()])
    }

    #[getter]
    fn mesh<'py>(&self, py: Python<'py>) -> Option<MeshArrays<'py>> {
        let (Shape::Mesh { mesh: id } | Shape::Terrain { mesh: id }) = self.inner().shape else { return None };
        let mesh = &self.model.meshes()[id.0];
        let scale = &self.model.parameters().group(ParameterGroup::MeshScale)[3 * id.0..3 * id.0 + 3];
        let corners =
            Array2::from_shape_fn((mesh.vertices.len(), 3), |(i, k)| mesh.vertices[i].to_array()[k] * scale[k]);
        let triangles = Array2::from_shape_fn((mesh.triangles.len(), 3), |(i, k)| i64::from(mesh.triangles[i][k]));
        Some((corners.into_pyarray(py), triangles.into_pyarray(py)))
    }

    #[getter]
    fn friction(&self) -> f64 {
        self.surface(ParameterGroup::Friction)
    }

    #[getter]
    fn restitution(&self) -> f64 {
        self.surface(ParameterGroup::Restitution)
    }

    #[getter]
    fn compliance(&self) -> f64 {
        self.surface(ParameterGroup::Compliance)
    }

    fn __repr__(&self) -> String {
        let shape = self.model.shape(GeomId(self.index));
        let size = &shape.size()[..shape.n_sizes()];
        let size = if size.is_empty() { String::new() } else { format!(", size {size:?}") };
        let (name, kind, body) = (self.name(), self.r#type(), self.body());
        format!("<slipstick.types.Geom {} '{name}': {kind} of '{body}'{size}>", self.index)
    }
}

impl Frame {
    fn inner(&self) -> &slipstick::model::Frame {
        &self.model.frames()[self.index]
    }
}

#[pymethods]
impl Frame {
    #[getter]
    fn name(&self) -> &str {
        &self.inner().name
    }

    #[getter]
    fn index(&self) -> usize {
        self.index
    }

    #[getter]
    fn body(&self) -> &str {
        &self.model.bodies()[self.inner().body.0].name
    }

    #[getter]
    fn position<'py>(&self, py: Python<'py>) -> Vector<'py> {
        PyArray1::from_slice(py, &self.inner().pose.position.to_array())
    }

    #[getter]
    fn rotation<'py>(&self, py: Python<'py>) -> Matrix<'py> {
        square(py, &self.inner().pose.rotation)
    }

    #[getter]
    fn quaternion<'py>(&self, py: Python<'py>) -> Vector<'py> {
        quaternion(py, &self.inner().pose.rotation)
    }

    #[getter]
    fn mass(&self) -> f64 {
        self.inner().inertia.map_or(0.0, |inertia| inertia.mass)
    }

    fn __repr__(&self) -> String {
        format!("<slipstick.types.Frame '{}' of body '{}'>", self.name(), self.body())
    }
}

pub fn slice(py: Python<'_>, range: Range<usize>) -> Bound<'_, PySlice> {
    PySlice::new(py, range.start as isize, range.end as isize, 1)
}

/// Largest force of actuators on a dof, in either direction; infinite where unlimited.
pub fn effort_limit(joint: &slipstick::model::Joint) -> f64 {
    joint.effort[1].max(-joint.effort[0])
}

fn square<'py>(py: Python<'py>, m: &Mat3) -> Matrix<'py> {
    Array2::from_shape_fn((3, 3), |(i, j)| m.at(i, j)).into_pyarray(py)
}

fn quaternion<'py>(py: Python<'py>, rotation: &Mat3) -> Vector<'py> {
    let Quat { w, x, y, z } = Quat::from_matrix(rotation);
    PyArray1::from_slice(py, &[w, x, y, z])
}
