//! Numerical choices of a simulation: words and numbers of Python to `slipstick::Options`, and back.

use crate::arguments::wrong_type;
use crate::arrays::{Input, Vector, vector};
use crate::errors::Failure;
use crate::model::gradient_options::{Collision, Gradient};
use crate::option_class::option_class;
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use slipstick::InputError;
use slipstick::model::{Implicit, Integrator, Solver};

const IMPLICIT: [(&str, Implicit); 4] = [
    ("none", Implicit::None),
    ("damping", Implicit::Damping),
    ("velocity", Implicit::Velocity),
    ("all", Implicit::All),
];

option_class! {
    /// The position correction of contacts and limits that overlap.
    ///
    /// full_depth (float, m): overlaps down to it vanish within a step; beta (float): of deeper ones this fraction; max_speed
    /// (float, m/s): never faster.
    "slipstick.options" Correction { full_depth: f64, beta: f64, max_speed: f64 }
}

/// Numerical choices of a simulation; Model.with_options makes a model with others.
///
/// - dt (float, s), gravity (3,) [m/s²], integrator ("midpoint": free rotation keeps its energy, or "euler", as MuJoCo's)
/// - magnetic (3,): the field that magnetometers read, world axes
/// - implicit ("none", "damping", "velocity" or "all"): the forces that are taken at the end of a step
/// - contact_distance (float, m): smoothed derivatives see contacts this far; the step looks as far as bodies can come; 0: only
///   what overlaps is a contact
/// - solver ("auto", "cold", "admm" or "pgs"), tolerance (float: scaled residual at which a solve is finished), max_iterations
///   (int: factorizations of each island of bodies in a step)
/// - correction (Correction): how fast overlaps vanish
/// - restitution_threshold (float, m/s): what approaches more slowly does not bounce
/// - patch_compliance (float): compliance of the normals of two bodies that touch in more than three points, as a fraction of
///   the inverse of the mass that they may have to bear
/// - speed_limit (float): a dof faster than this, in m/s or rad/s, has diverged
/// - gradient ("exact", options.Central(…) or options.ExactForwardCentral(…)): how steps are differentiated
/// - collision_gradient ("exact", "frozen", options.Smoothed(eps) or options.Randomized(…)): how points and normals of contacts
///   are differentiated; see slipstick.collision.derivatives
/// - gradient_of_failed_steps (bool): a step that did not converge has the derivatives of its best iterate; else they raise
///   GradientError
#[pyclass(frozen, eq, module = "slipstick.options")]
#[derive(PartialEq)]
pub struct Options(pub slipstick::Options);

#[pymethods]
impl Options {
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let restore = py.import("slipstick._native")?.getattr("_restore_options")?;
        Ok((restore, (PyBytes::new(py, &self.0.to_bytes()),)))
    }

    #[getter]
    fn dt(&self) -> f64 {
        self.0.dt
    }

    #[getter]
    fn magnetic<'py>(&self, py: Python<'py>) -> Vector<'py> {
        PyArray1::from_slice(py, &self.0.magnetic)
    }

    #[getter]
    fn gravity<'py>(&self, py: Python<'py>) -> Vector<'py> {
        PyArray1::from_slice(py, &self.0.gravity)
    }

    #[getter]
    fn contact_distance(&self) -> f64 {
        self.0.contact_distance
    }

    #[getter]
    fn implicit(&self) -> &'static str {
        implicit_name(self.0.implicit)
    }

    #[getter]
    fn integrator(&self) -> &'static str {
        self.0.integrator.name()
    }

    #[getter]
    fn speed_limit(&self) -> f64 {
        self.0.speed_limit
    }

    #[getter]
    fn solver(&self) -> &'static str {
        self.0.solver.name()
    }

    #[getter]
    fn tolerance(&self) -> f64 {
        self.0.tolerance
    }

    #[getter]
    fn max_iterations(&self) -> u32 {
        self.0.max_iterations
    }

    #[getter]
    fn correction(&self) -> Correction {
        let slipstick::model::Correction { full_depth, beta, max_speed } = self.0.correction;
        Correction { full_depth, beta, max_speed }
    }

    #[getter]
    fn restitution_threshold(&self) -> f64 {
        self.0.restitution_threshold
    }

    #[getter]
    fn patch_compliance(&self) -> f64 {
        self.0.patch_compliance
    }

    #[getter]
    fn gradient(&self) -> PyResult<Gradient> {
        Gradient::of(self.0.gradient)
    }

    #[getter]
    fn collision_gradient(&self) -> Collision {
        Collision(self.0.collision_gradient)
    }

    #[getter]
    fn gradient_of_failed_steps(&self) -> bool {
        self.0.gradient_of_failed_steps
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let o = &self.0;
        let gradient = self.gradient()?.into_pyobject(py)?.repr()?;
        let collision_gradient = self.collision_gradient().into_pyobject(py)?.repr()?;
        Ok(format!(
            "<slipstick.options.Options: dt={}, gravity={:?}, magnetic={:?}, contact_distance={}, implicit='{}', integrator='{}', solver='{}', tolerance={:e}, \
             max_iterations={}, correction={}, restitution_threshold={}, patch_compliance={:e}, \
             speed_limit={:e}, gradient={gradient}, collision_gradient={collision_gradient}, gradient_of_failed_steps={}>",
            o.dt,
            o.gravity,
            o.magnetic,
            o.contact_distance,
            self.implicit(),
            self.integrator(),
            self.solver(),
            o.tolerance,
            o.max_iterations,
            self.correction().__repr__(),
            o.restitution_threshold,
            o.patch_compliance,
            o.speed_limit,
            if o.gradient_of_failed_steps { "True" } else { "False" }
        ))
    }
}

/// What a caller wants otherwise; `None`: as it is.
pub struct Changes<'a, 'py> {
    pub dt: Option<f64>,
    pub gravity: Option<Input<'a, 'py>>,
    pub magnetic: Option<Input<'a, 'py>>,
    pub contact_distance: Option<f64>,
    pub implicit: Option<&'a str>,
    pub integrator: Option<&'a str>,
    pub solver: Option<&'a str>,
    pub tolerance: Option<f64>,
    pub max_iterations: Option<i64>,
    pub correction: Option<Input<'a, 'py>>,
    pub restitution_threshold: Option<f64>,
    pub patch_compliance: Option<f64>,
    pub speed_limit: Option<f64>,
    pub gradient: Option<Gradient>,
    pub collision_gradient: Option<Collision>,
    pub gradient_of_failed_steps: Option<bool>,
}

impl Changes<'_, '_> {
    /// The options with the changes; whether they make sense is for the model to say.
    pub fn apply(self, old: &slipstick::Options) -> Result<slipstick::Options, Failure> {
        let mut o = old.clone();
        o.dt = self.dt.unwrap_or(o.dt);
        o.contact_distance = self.contact_distance.unwrap_or(o.contact_distance);
        o.tolerance = self.tolerance.unwrap_or(o.tolerance);
        o.restitution_threshold = self.restitution_threshold.unwrap_or(o.restitution_threshold);
        o.patch_compliance = self.patch_compliance.unwrap_or(o.patch_compliance);
        o.speed_limit = self.speed_limit.unwrap_or(o.speed_limit);
        o.gradient = self.gradient.map_or(o.gradient, |x| x.mode(o.dt));
        o.collision_gradient = self.collision_gradient.map_or(o.collision_gradient, |x| x.0);
        o.gradient_of_failed_steps = self.gradient_of_failed_steps.unwrap_or(o.gradient_of_failed_steps);
        if let Some(x) = self.magnetic {
            o.magnetic = three("magnetic", x)?;
        }
        if let Some(x) = self.gravity {
            o.gravity = three("gravity", x)?;
        }
        if let Some(x) = self.correction {
            let Correction { full_depth, beta, max_speed } = correction(x)?;
            o.correction = slipstick::model::Correction { full_depth, beta, max_speed };
        }
        if let Some(word) = self.implicit {
            o.implicit = implicit(word)?;
        }
        if let Some(word) = self.integrator {
            o.integrator = integrator(word)?;
        }
        if let Some(word) = self.solver {
            o.solver = solver(word)?;
        }
        if let Some(n) = self.max_iterations {
            o.max_iterations = count("max_iterations", n)?;
        }
        Ok(o)
    }
}

fn correction(x: Input) -> Result<Correction, Failure> {
    match x.cast::<Correction>() {
        Ok(correction) => Ok(*correction.get()),
        Err(_) => Err(wrong_type("correction", "options.Correction(full_depth, beta, max_speed)", x).into()),
    }
}

fn three(what: &'static str, x: Input) -> Result<[f64; 3], Failure> {
    let numbers = vector(what, x)?;
    let got = numbers.len();
    Ok(numbers.try_into().map_err(|_| InputError::Length { what, expected: 3, got })?)
}

/// A number of things.
pub fn count(what: &str, n: i64) -> Result<u32, InputError> {
    let expected = if n < 0 { "zero or more" } else { "at most 4294967295" };
    u32::try_from(n).map_err(|_| InputError::Value { what: what.into(), expected, got: n as f64 })
}

/// The solver that a word names.
pub fn solver(word: &str) -> Result<Solver, Failure> {
    let found = Solver::ALL.into_iter().find(|s| s.name() == word);
    found.ok_or_else(|| unknown("solver", Solver::ALL.map(Solver::name), word))
}

fn implicit(word: &str) -> Result<Implicit, Failure> {
    let found = IMPLICIT.into_iter().find(|(name, _)| *name == word);
    found.map(|(_, x)| x).ok_or_else(|| unknown("implicit", IMPLICIT.map(|(name, _)| name), word))
}

fn integrator(word: &str) -> Result<Integrator, Failure> {
    let found = Integrator::ALL.into_iter().find(|x| x.name() == word);
    found.ok_or_else(|| unknown("integrator", Integrator::ALL.map(Integrator::name), word))
}

fn implicit_name(x: Implicit) -> &'static str {
    IMPLICIT.into_iter().find(|(_, y)| *y == x).map_or("", |(name, _)| name)
}

/// A word that is none of those known.
pub fn unknown<const N: usize>(what: &str, words: [&str; N], got: &str) -> Failure {
    let known = words.map(|w| format!("'{w}'")).join(", ");
    PyValueError::new_err(format!("{what}: expected one of {known}, got '{got}'")).into()
}
