//! `Model.with_…`: this robot with other numbers, options or actuators.

use super::Model;
use super::gradient_options::{Collision, Gradient};
use super::options::{Changes, Options};
use crate::arguments::arg;
use crate::arrays::{Input, Vector, vector};
use crate::errors::Failure;
use numpy::PyArray1;
use pyo3::prelude::*;
use slipstick::InputError;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Numbers by name.
pub struct Numbers(pub BTreeMap<String, f64>);

impl Numbers {
    /// As Rust takes them.
    fn pairs(&self) -> Vec<(&str, f64)> {
        self.0.iter().map(|(name, x)| (name.as_str(), *x)).collect()
    }
}

/// One coefficient for all, or some by name.
pub enum Frictions {
    All(f64),
    Named(Numbers),
}

#[pymethods]
impl Model {
    /// This robot with other numbers: parameters (n_parameters,), ordered as Model.parameters.
    fn with_parameters(&self, parameters: Input) -> Result<Model, Failure> {
        Ok(self.derived(with_numbers(&self.inner, &vector("parameters", parameters)?)?))
    }

    /// This robot with other masses: dict of names of bodies to masses (kg). The center of mass and the shape of the inertia stay.
    fn with_mass(&self, #[pyo3(from_py_with = arg::masses)] masses: Numbers) -> Result<Model, Failure> {
        Ok(self.derived(self.inner.with_mass(&masses.pairs())?))
    }

    /// This robot with other friction: a float for all shapes, or a dict of names of shapes to coefficients.
    ///
    /// A contact has the larger coefficient of its two shapes, unless one has a higher priority or the file lists the pair.
    fn with_friction(&self, #[pyo3(from_py_with = arg::friction)] friction: Frictions) -> Result<Model, Failure> {
        Ok(self.derived(match friction {
            Frictions::All(friction) => self.inner.with_uniform_friction(friction)?,
            Frictions::Named(friction) => self.inner.with_friction(&friction.pairs())?,
        }))
    }

    /// This robot with position servos: force = kp (ctrl - q) - kd v, within the effort limit of the joint.
    ///
    /// kp (float, N·m/rad or N/m), kd (float, N·m·s/rad or N·s/m), joints: names; default: every joint with one degree of freedom that has no
    /// actuator. The servos are named after the joints and come after the actuators there are; keyframes get their angles
    /// as controls. Damping is taken at the end of the step, so that stiff servos are stable.
    #[pyo3(signature = (kp, kd, *, joints=None))]
    fn with_servos(
        &self,
        #[pyo3(from_py_with = arg::kp)] kp: f64,
        #[pyo3(from_py_with = arg::kd)] kd: f64,
        #[pyo3(from_py_with = arg::joints)] joints: Option<Vec<String>>,
    ) -> Result<Model, Failure> {
        let inner = match joints {
            Some(joints) => {
                let servos: Vec<_> = joints.iter().map(|name| (name.as_str(), kp, kd)).collect();
                self.inner.with_servos_of(&servos)?
            }
            None => self.inner.with_servos(kp, kd)?,
        };
        let remarks = self.remarks.clone();
        Ok(Model { inner, workspaces: Arc::default(), remarks, hash: Arc::default() })
    }

    /// Numerical choices of a simulation of this model (Options).
    #[getter]
    fn options(&self) -> Options {
        Options(self.inner.options().clone())
    }

    /// This robot with other numerical options; what is left out stays. See Options.
    ///
    /// dt (s), gravity (3,) [m/s²], magnetic (3,), contact_distance (m), implicit (str), integrator (str), solver (str), tolerance,
    /// max_iterations (int), correction (full_depth, beta, max_speed), restitution_threshold [m/s], patch_compliance, speed_limit, gradient and
    /// collision_gradient (a word, or a class of slipstick.options).
    #[pyo3(signature = (*, dt=None, gravity=None, magnetic=None, contact_distance=None, implicit=None, integrator=None, solver=None, tolerance=None,
        max_iterations=None, correction=None, restitution_threshold=None, patch_compliance=None, speed_limit=None,
        gradient=None, collision_gradient=None, gradient_of_failed_steps=None))]
    fn with_options(
        &self,
        #[pyo3(from_py_with = arg::dt)] dt: Option<f64>,
        gravity: Option<Input>,
        magnetic: Option<Input>,
        #[pyo3(from_py_with = arg::contact_distance)] contact_distance: Option<f64>,
        #[pyo3(from_py_with = arg::implicit)] implicit: Option<&str>,
        #[pyo3(from_py_with = arg::integrator)] integrator: Option<&str>,
        #[pyo3(from_py_with = arg::solver)] solver: Option<&str>,
        #[pyo3(from_py_with = arg::tolerance)] tolerance: Option<f64>,
        #[pyo3(from_py_with = arg::max_iterations)] max_iterations: Option<i64>,
        correction: Option<Input>,
        #[pyo3(from_py_with = arg::restitution_threshold)] restitution_threshold: Option<f64>,
        #[pyo3(from_py_with = arg::patch_compliance)] patch_compliance: Option<f64>,
        #[pyo3(from_py_with = arg::speed_limit)] speed_limit: Option<f64>,
        gradient: Option<Gradient>,
        collision_gradient: Option<Collision>,
        #[pyo3(from_py_with = arg::gradient_of_failed_steps)] gradient_of_failed_steps: Option<bool>,
    ) -> Result<Model, Failure> {
        let changes = Changes {
            dt,
            gravity,
            magnetic,
            contact_distance,
            implicit,
            integrator,
            solver,
            tolerance,
            max_iterations,
            correction,
            restitution_threshold,
            patch_compliance,
            speed_limit,
            gradient,
            collision_gradient,
            gradient_of_failed_steps,
        };
        Ok(self.derived(self.inner.with_options(changes.apply(self.inner.options())?)?))
    }

    /// Time step (s).
    #[getter]
    fn dt(&self) -> f64 {
        self.inner.options().dt
    }

    /// Gravity in world axes: (3,) [m/s²].
    #[getter]
    fn gravity<'py>(&self, py: Python<'py>) -> Vector<'py> {
        PyArray1::from_slice(py, &self.inner.options().gravity)
    }

    /// Pairs of shapes nearer than this are contacts (m).
    #[getter]
    fn contact_distance(&self) -> f64 {
        self.inner.options().contact_distance
    }
}

/// This structure with other numbers.
pub fn with_numbers(model: &slipstick::Model, numbers: &[f64]) -> Result<slipstick::Model, InputError> {
    let mut all = model.parameters().clone();
    let (expected, got) = (all.values().len(), numbers.len());
    if got != expected {
        return Err(InputError::Length { what: "parameters", expected, got });
    }
    all.values_mut().copy_from_slice(numbers);
    model.with_parameters(all)
}
