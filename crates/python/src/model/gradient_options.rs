//! How a step is differentiated: `"exact"`, `Central(kappa)`, `Smoothed(eps)`, …

use crate::arguments::wrong_type;
use crate::collision::order;
use crate::option_class::option_class;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::{Borrowed, IntoPyObjectExt};
use slipstick::model::{CollisionGradient, GradientMode, Order};

const GRADIENT: &str = "'exact', options.Central(kappa) or options.ExactForwardCentral(kappa)";
const COLLISION_GRADIENT: &str =
    "'exact', 'frozen', options.Smoothed(eps) or options.Randomized(sigma, samples, seed, order)";

option_class! {
    /// Step and derivatives on the central path: complementarity products equal kappa instead of zero. Smooth, and a little
    /// soft: contacts act at a distance.
    ///
    /// kappa (float): in units of the robot's weight over a step times the velocity that gravity gives in one.
    "slipstick.options" Central { kappa: f64 }
}

option_class! {
    /// The exact step, with the derivatives of the central path.
    ///
    /// kappa (float): as of Central.
    "slipstick.options" ExactForwardCentral { kappa: f64 }
}

option_class! {
    /// Points and normals of contacts are differentiated as if corners and edges of shapes were rounded.
    ///
    /// eps (float): radius (m).
    "slipstick.options" Smoothed { eps: f64 }
}

option_class! {
    /// Derivatives of points and normals of contacts are means over random poses.
    ///
    /// sigma (float): standard deviation of the displacements (m and rad); samples (int); seed (int); order: 1 for means of derivatives, 0 for
    /// a linear fit.
    "slipstick.options" Randomized { sigma: f64, samples: u32 = 100, seed: u64 = 0, order: u8 = 1 }
}

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
            Ok(Gradient(GradientMode::Exact))
        } else if let Ok(central) = x.cast::<Central>() {
            Ok(Gradient(GradientMode::Central { kappa: central.get().kappa }))
        } else if let Ok(central) = x.cast::<ExactForwardCentral>() {
            Ok(Gradient(GradientMode::ExactForwardCentral { kappa: central.get().kappa }))
        } else {
            Err(unknown("gradient", GRADIENT, &x))
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
        if let Ok(smoothed) = x.cast::<Smoothed>() {
            Ok(Collision(CollisionGradient::Smoothed { eps: smoothed.get().eps }))
        } else if let Ok(randomized) = x.cast::<Randomized>() {
            let Randomized { sigma, samples, seed, order } = *randomized.get();
            let order = self::order(order)?;
            Ok(Collision(CollisionGradient::Randomized { sigma, samples, seed, order }))
        } else {
            Err(unknown("collision_gradient", COLLISION_GRADIENT, &x))
        }
    }
}

fn unknown(what: &str, expected: &str, got: &Bound<'_, PyAny>) -> PyErr {
    match got.extract::<String>() {
        Ok(word) => PyValueError::new_err(format!("{what}: expected {expected}, got '{word}'")),
        Err(_) => wrong_type(what, expected, got),
    }
}

impl<'py> IntoPyObject<'py> for Gradient {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.0 {
            GradientMode::Exact => "exact".into_bound_py_any(py),
            GradientMode::Central { kappa } => Central { kappa }.into_bound_py_any(py),
            GradientMode::ExactForwardCentral { kappa } => ExactForwardCentral { kappa }.into_bound_py_any(py),
            other => Err(PyValueError::new_err(format!("gradient: no class for {other:?}"))),
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
            CollisionGradient::Smoothed { eps } => Smoothed { eps }.into_bound_py_any(py),
            CollisionGradient::Randomized { sigma, samples, seed, order } => {
                Randomized { sigma, samples, seed, order: order_number(order) }.into_bound_py_any(py)
            }
            other => Err(PyValueError::new_err(format!("collision_gradient: no class for {other:?}"))),
        }
    }
}

fn order_number(order: Order) -> u8 {
    match order {
        Order::Zeroth => 0,
        Order::First => 1,
    }
}
