//! Shapes.

use super::visuals::{MeshArrays, arrays};
use super::{element_class, quaternion, square};
use crate::arrays::{Matrix, Vector};
use numpy::PyArray1;
use pyo3::prelude::*;
use slipstick::Model;
use slipstick::model::{GeomId, ParameterGroup, Shape};
use slipstick::spatial::Vec3;

element_class! {
    /// A shape fixed to a body.
    ///
    /// Attributes: name, index, type ("box", …), body (name), link (name), position (3,), rotation (3, 3) and quaternion (4,) in the
    /// body's frame, size (radius; radius and half length; half sizes) (m), mesh (corners (n, 3) (m) and triangles (m, 3), or
    /// None), rgba (4,), friction, restitution, compliance (1/kg).
    Geom
}

impl Geom {
    fn inner(&self) -> &slipstick::model::Geom {
        &self.model.geoms()[self.index]
    }

    fn surface(&self, group: ParameterGroup) -> f64 {
        self.model.parameters().group(group)[self.index]
    }
}

/// Corners and triangles of the mesh of a geom, scaled; `None` for other shapes.
pub fn mesh<'py>(py: Python<'py>, model: &Model, geom: GeomId) -> Option<MeshArrays<'py>> {
    let (Shape::Mesh { mesh: id } | Shape::Terrain { mesh: id }) = model.geoms()[geom.0].shape else { return None };
    let mesh = &model.meshes()[id.0];
    let s = &model.parameters().group(ParameterGroup::MeshScale)[3 * id.0..3 * id.0 + 3];
    let corners: Vec<Vec3> = mesh.vertices.iter().map(|v| Vec3::new(v.x * s[0], v.y * s[1], v.z * s[2])).collect();
    Some(arrays(py, &corners, &mesh.triangles))
}

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
        mesh(py, &self.model, GeomId(self.index))
    }

    #[getter]
    fn rgba<'py>(&self, py: Python<'py>) -> Vector<'py> {
        PyArray1::from_slice(py, &self.model.visuals().geoms[self.index].rgba())
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
