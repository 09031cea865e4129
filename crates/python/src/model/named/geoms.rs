//! Shapes.

use super::{element_class, quaternion, square};
use crate::arrays::{Matrix, Vector};
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
use slipstick::Model;
use slipstick::model::{GeomId, ParameterGroup, Shape};

element_class! {
    /// A shape fixed to a body.
    ///
    /// Attributes: name, index, type ("box", …), body (name), link (name), position (3,), rotation (3, 3) and quaternion (4,) in the
    /// body's frame, size (radius; radius and half length; half sizes) (m), mesh (corners (n, 3) (m) and triangles (m, 3), or
    /// None), friction, restitution, compliance (1/kg).
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
