//! How a step is differentiated, in words and numbers: `"exact"`, `("central", 1e-4)`, `("smoothed", 1e-3)`, …

use crate::collision::order;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::{Borrowed, IntoPyObjectExt};
use slipstick::model::{CollisionGradient, GradientMode, Order};

const GRADIENT: &str = "'exact', ('central', kappa) or ('exact-forward-central', kappa)";
const COLLISION_GRADIENT: &str = "'exact', ('smoothed', eps), ('randomized', sigma, samples, seed, order) or 'frozen'";

/// The option `gradient`.
#[derive(Clone, Copy)]
pub struct Gradient(pub GradientMode);

/// The option `collision_gradient`.
#[derive(Clone, Copy)]
pub struct Collision(pub CollisionGradient);

impl<'a, 'py> FromPyObject<'a, 'py> for Gradient {
    type Error = PyErr;

    fn extract(x: Borrowed<'a, 'py, PyAny>) -> PyResult<Gradient> {
        if let Ok("exact") = x.extract() {
            return Ok(Gradient(GradientMode::Exact));
        }
        match x.extract::<(String, f64)>() {
            Ok((word, kappa)) if word == "central" => Ok(Gradient(GradientMode::Central { kappa })),
            Ok((word, kappa)) if word == "exact-forward-central" => {
                Ok(Gradient(GradientMode::ExactForwardCentral { kappa }))
            }
            _ => Err(unknown("gradient", GRADIENT, &x)),
        }
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Collision {
    type Error = PyErr;

    fn extract(x: Borrowed<'a, 'py, PyAny>) -> PyResult<Collision> {
        match x.extract() {
            Ok("exact") => return Ok(Collision(CollisionGradient::Exact)),
            Ok("frozen") => return Ok(Collision(CollisionGradient::Frozen)),
            _ => {}
        }
        match x.extract::<(String, f64)>() {
            Ok((word, eps)) if word == "smoothed" => return Ok(Collision(CollisionGradient::Smoothed { eps })),
            _ => {}
        }
        match x.extract::<(String, f64, u32, u64, u8)>() {
            Ok((word, sigma, samples, seed, number)) if word == "randomized" => {
                let order = order(number)?;
                Ok(Collision(CollisionGradient::Randomized { sigma, samples, seed, order }))
            }
            _ => Err(unknown("collision_gradient", COLLISION_GRADIENT, &x)),
        }
    }
}

fn unknown(what: &str, expected: &str, got: &Bound<'_, PyAny>) -> PyErr {
    match got.repr() {
        Ok(got) => PyValueError::new_err(format!("{what}: expected {expected}, got {got}")),
        Err(error) => error,
    }
}

impl<'py> IntoPyObject<'py> for Gradient {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.0 {
            GradientMode::Exact => "exact".into_bound_py_any(py),
            GradientMode::Central { kappa } => ("central", kappa).into_bound_py_any(py),
            GradientMode::ExactForwardCentral { kappa } => ("exact-forward-central", kappa).into_bound_py_any(py),
            other => Err(PyValueError::new_err(format!("gradient: no word for {other:?}"))),
        }
    }
}

impl<'py> IntoPyObject<'py> for Collision {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.0 {
            CollisionGradient::Exact => "exact".into_bound_py_any(py),
            CollisionGradient::Frozen => "frozen".into_bound_py_any(py),
            CollisionGradient::Smoothed { eps } => ("smoothed", eps).into_bound_py_any(py),
            CollisionGradient::Randomized { sigma, samples, seed, order } => {
                ("randomized", sigma, samples, seed, order_number(order)).into_bound_py_any(py)
            }
            other => Err(PyValueError::new_err(format!("collision_gradient: no word for {other:?}"))),
        }
    }
}

fn order_number(order: Order) -> u8 {
    match order {
        Order::Zeroth => 0,
        Order::First => 1,
    }
}
