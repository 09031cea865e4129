//! Numbers of a `Model` as arrays: one per body, per dof, per actuator, and all parameters.

use super::Model;
use super::named::{self, slice};
use crate::arguments::arg;
use crate::arrays::Vector;
use crate::errors::Failure;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use slipstick::model::{Joint, JointKind, ParameterGroup};

#[pymethods]
impl Model {
    /// Body that carries each body, -1 for the world: (n_bodies,) int64.
    #[getter]
    fn parents<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let bodies = self.inner.bodies().iter().enumerate();
        bodies.map(|(i, b)| if i == 0 { -1 } else { b.parent.0 as i64 }).collect::<Vec<_>>().into_pyarray(py)
    }

    /// Masses of the bodies, merged links included: (n_bodies,) (kg).
    #[getter]
    fn body_masses<'py>(&self, py: Python<'py>) -> Vector<'py> {
        let masses = (0..self.inner.n_bodies()).map(|i| self.inner.inertias()[i].mass);
        masses.collect::<Vec<_>>().into_pyarray(py)
    }

    /// Masses of the links as the file gives them, 0 for sites: (n_frames,) (kg).
    #[getter]
    fn frame_masses<'py>(&self, py: Python<'py>) -> Vector<'py> {
        let masses = self.inner.frames().iter().map(|f| f.inertia.map_or(0.0, |i| i.mass));
        masses.collect::<Vec<_>>().into_pyarray(py)
    }

    /// Mass of all moving bodies (kg).
    #[getter]
    fn total_mass(&self) -> f64 {
        self.inner.total_mass()
    }

    /// Inertia of the drive of each dof, part of M: (nv,).
    #[getter]
    fn armature<'py>(&self, py: Python<'py>) -> Vector<'py> {
        group(py, &self.inner, ParameterGroup::Armature)
    }

    /// Force per velocity of each dof: (nv,).
    #[getter]
    fn damping<'py>(&self, py: Python<'py>) -> Vector<'py> {
        group(py, &self.inner, ParameterGroup::Damping)
    }

    /// Force per displacement of each dof: (nv,).
    #[getter]
    fn stiffness<'py>(&self, py: Python<'py>) -> Vector<'py> {
        group(py, &self.inner, ParameterGroup::Stiffness)
    }

    /// Where springs rest, one number per coordinate of q (quaternions for spherical and free joints): (nq,).
    #[getter]
    fn spring_reference<'py>(&self, py: Python<'py>) -> Vector<'py> {
        group(py, &self.inner, ParameterGroup::SpringReference)
    }

    /// Largest force of dry friction of each dof: (nv,).
    #[getter]
    fn dry_friction<'py>(&self, py: Python<'py>) -> Vector<'py> {
        group(py, &self.inner, ParameterGroup::DryFriction)
    }

    /// Smallest coordinate of each dof: (nv,), -inf where unlimited and for joints with several dofs.
    #[getter]
    fn lower<'py>(&self, py: Python<'py>) -> Vector<'py> {
        per_dof(&self.inner, |j| bounds(j).map_or(f64::NEG_INFINITY, |[lower, _]| lower)).into_pyarray(py)
    }

    /// Largest coordinate of each dof: (nv,), inf where unlimited and for joints with several dofs.
    #[getter]
    fn upper<'py>(&self, py: Python<'py>) -> Vector<'py> {
        per_dof(&self.inner, |j| bounds(j).map_or(f64::INFINITY, |[_, upper]| upper)).into_pyarray(py)
    }

    /// Largest force that actuators may put on each dof, in either direction: (nv,), inf where unlimited.
    #[getter]
    fn effort_limit<'py>(&self, py: Python<'py>) -> Vector<'py> {
        per_dof(&self.inner, named::effort_limit).into_pyarray(py)
    }

    /// Rated speed of each dof (reported, not enforced): (nv,), inf where unlimited.
    #[getter]
    fn velocity_limit<'py>(&self, py: Python<'py>) -> Vector<'py> {
        per_dof(&self.inner, |j| j.velocity).into_pyarray(py)
    }

    /// Smallest control of each actuator: (nu,), -inf where unlimited.
    #[getter]
    fn ctrl_lower<'py>(&self, py: Python<'py>) -> Vector<'py> {
        per_actuator(&self.inner, |range| range.map_or(f64::NEG_INFINITY, |[lower, _]| lower)).into_pyarray(py)
    }

    /// Largest control of each actuator: (nu,), inf where unlimited.
    #[getter]
    fn ctrl_upper<'py>(&self, py: Python<'py>) -> Vector<'py> {
        per_actuator(&self.inner, |range| range.map_or(f64::INFINITY, |[_, upper]| upper)).into_pyarray(py)
    }

    /// Every number that can be differentiated, in one vector: (n_parameters,).
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> Vector<'py> {
        PyArray1::from_slice(py, self.inner.parameters().values())
    }

    /// A name for every parameter, such as "inertial/torso/xx" (list of str).
    #[getter]
    fn parameter_names(&self) -> Vec<String> {
        self.inner.parameters().layout().names()
    }

    /// Where a parameter lies in Model.parameters, by its name (int).
    fn parameter_index(&self, #[pyo3(from_py_with = arg::name)] name: &str) -> Result<usize, Failure> {
        Ok(self.inner.parameters().layout().index(name)?)
    }

    /// Where the groups of parameters lie: dict of name to slice into parameters.
    #[getter]
    fn parameter_groups<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (groups, layout) = (PyDict::new(py), self.inner.parameters().layout());
        for group in ParameterGroup::ALL {
            groups.set_item(group.name(), slice(py, layout.range(group)))?;
        }
        Ok(groups)
    }

    /// Neutral configuration: (nq,), joints at their reference, free bodies where the file puts them.
    fn neutral<'py>(&self, py: Python<'py>) -> Vector<'py> {
        PyArray1::from_slice(py, self.inner.neutral())
    }
}

/// One number per dof, from its joint.
fn per_dof(model: &slipstick::Model, value: impl Fn(&Joint) -> f64) -> Vec<f64> {
    model.joints().iter().flat_map(|j| std::iter::repeat_n(value(j), j.v.len())).collect()
}

/// One number per actuator, from the range of its control.
fn per_actuator(model: &slipstick::Model, value: impl Fn(Option<[f64; 2]>) -> f64) -> Vec<f64> {
    model.actuators().iter().map(|a| value(a.ctrl_range)).collect()
}

fn group<'py>(py: Python<'py>, model: &slipstick::Model, group: ParameterGroup) -> Vector<'py> {
    PyArray1::from_slice(py, model.parameters().group(group))
}

/// Bounds of a joint with one dof. The range of a spherical joint is an angle, no bound of a single dof.
fn bounds(joint: &Joint) -> Option<[f64; 2]> {
    match joint.kind {
        JointKind::Revolute { .. } | JointKind::Prismatic { .. } => joint.range,
        _ => None,
    }
}
