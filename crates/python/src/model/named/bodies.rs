//! Bodies, and the frames that they carry.

use super::{element_class, quaternion, square};
use crate::arrays::{Matrix, Vector};
use numpy::PyArray1;
use pyo3::prelude::*;
use slipstick::Model;

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
