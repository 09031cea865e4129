//! What a model looks like.

use super::{element_class, quaternion, square};
use crate::arrays::{Matrix, Vector};
use crate::errors::Failure;
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
use slipstick::Model;
use slipstick::files::load_visual_mesh;
use slipstick::model::{MeshSource, Shape, VisualShape};
use slipstick::spatial::Vec3;

element_class! {
    /// A shape that the file shows: a geom of MJCF, a <visual> of URDF.
    ///
    /// Attributes: name, index, type ("box", "mesh", …), body (name), link (name), position (3,), rotation (3, 3) and quaternion (4,)
    /// in the body's frame, size (radius; radius and half length; half sizes) (m), rgba (4,), material (name or None), mesh_file
    /// (path or None), group, shown (False: hidden at first, as MuJoCo's groups from 3 on), geom (number of the geom that it is,
    /// or None).
    Visual
}

/// Corners (n, 3) and triangles (m, 3).
pub type MeshArrays<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<i64>>);

pub fn arrays<'py>(py: Python<'py>, vertices: &[Vec3], triangles: &[[u32; 3]]) -> MeshArrays<'py> {
    let corners = Array2::from_shape_fn((vertices.len(), 3), |(i, k)| vertices[i].to_array()[k]);
    let triangles = Array2::from_shape_fn((triangles.len(), 3), |(i, k)| i64::from(triangles[i][k]));
    (corners.into_pyarray(py), triangles.into_pyarray(py))
}

/// All visuals of a model.
pub fn all(model: &Model) -> Vec<Visual> {
    (0..model.visuals().shapes.len()).map(|k| Visual::new(model, k)).collect()
}

impl Visual {
    fn inner(&self) -> &slipstick::model::Visual {
        &self.model.visuals().shapes[self.index]
    }

    /// `None` for a mesh of its own.
    fn shape(&self) -> Option<Shape> {
        match self.inner().shape {
            VisualShape::Geom(id) => Some(self.model.shape(id)),
            VisualShape::Shape(shape) => Some(shape),
            _ => None,
        }
    }
}

#[pymethods]
impl Visual {
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
        self.shape().map_or("mesh", |shape| shape.name())
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
        let shape = self.shape().unwrap_or(Shape::Plane);
        PyArray1::from_slice(py, &shape.size()[..shape.n_sizes()])
    }

    #[getter]
    fn rgba<'py>(&self, py: Python<'py>) -> Vector<'py> {
        PyArray1::from_slice(py, &self.inner().look.rgba())
    }

    #[getter]
    fn material(&self) -> Option<&str> {
        self.inner().look.material.as_ref().map(|m| m.name.as_str())
    }

    #[getter]
    fn mesh_file(&self) -> Option<String> {
        let VisualShape::Mesh(source) = &self.inner().shape else { return None };
        let MeshSource::File(file) = &**source else { return None };
        Some(file.path.display().to_string())
    }

    #[getter]
    fn group(&self) -> i32 {
        self.inner().group
    }

    #[getter]
    fn shown(&self) -> bool {
        self.inner().is_shown()
    }

    #[getter]
    fn geom(&self) -> Option<usize> {
        if let VisualShape::Geom(id) = self.inner().shape { Some(id.0) } else { None }
    }

    /// Corners (n, 3) (m) and triangles (m, 3) of a mesh, in the frame of the visual; None for other shapes. Reads the file.
    fn mesh<'py>(&self, py: Python<'py>) -> Result<Option<MeshArrays<'py>>, Failure> {
        match &self.inner().shape {
            VisualShape::Mesh(source) => {
                let read = py.detach(|| load_visual_mesh(source))?;
                let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
                for part in &read.parts {
                    let first = vertices.len() as u32;
                    vertices.extend_from_slice(&part.vertices);
                    triangles.extend(part.triangles.iter().map(|t| t.map(|i| i + first)));
                }
                Ok(Some(arrays(py, &vertices, &triangles)))
            }
            VisualShape::Geom(id) => Ok(super::geoms::mesh(py, &self.model, *id)),
            _ => Ok(None),
        }
    }

    fn __repr__(&self) -> String {
        let (name, kind, body) = (self.name(), self.r#type(), self.body());
        format!("<slipstick.types.Visual {} '{name}': {kind} of '{body}'>", self.index)
    }
}
