//! How a step is differentiated: `"exact"`, `Central(kappa)`, `Smoothed(eps)`, …

use crate::arguments::{arg, wrong_type};
use crate::collision::order;
use crate::option_class::option_class;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyType;
use pyo3::{Borrowed, IntoPyObjectExt};
use slipstick::model::{CollisionGradient, GradientMode, Order};
use slipstick::rollout::GradientChoice;

const GRADIENT: &str = "'exact', options.Central(kappa) or options.ExactForwardCentral(kappa)";
const COLLISION_GRADIENT: &str =
    "'exact', 'frozen', options.Smoothed(eps) or options.Randomized(sigma, samples, seed, order)";

/// How soft the central path is: as a number without dimension, or as a speed (m/s), which is one for the time step of a model.
#[derive(Clone, Copy, PartialEq)]
pub enum Softness {
    Kappa(f64),
    Speed(f64),
}

impl Softness {
    fn new(kappa: Option<f64>, speed: Option<f64>) -> PyResult<Softness> {
        match (kappa, speed) {
            (Some(kappa), None) => Ok(Softness::Kappa(kappa)),
            (None, Some(speed)) if speed.is_finite() && speed > 0.0 => Ok(Softness::Speed(speed)),
            (None, Some(speed)) => {
                Err(PyValueError::new_err(format!("speed: expected a positive number, got {speed:?}")))
            }
            (None, None) => Err(PyTypeError::new_err("kappa: expected a float, or speed in its place, got neither")),
            (Some(_), Some(_)) => {
                Err(PyTypeError::new_err("speed: expected None where kappa is given, got both kappa and speed"))
            }
        }
    }

    fn kappa(self, dt: f64) -> f64 {
        match self {
            Softness::Kappa(kappa) => kappa,
            Softness::Speed(speed) => GradientMode::kappa_of_speed(speed, dt),
        }
    }
}

/// A class with kappa or speed: made from them, compared, shown and pickled by them.
macro_rules! soft_class {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[pyclass(frozen, eq, module = "slipstick.options")]
        #[derive(Clone, Copy, PartialEq)]
        pub struct $name(Softness);

        #[pymethods]
        impl $name {
            #[new]
            #[pyo3(signature = (kappa=None, speed=None))]
            fn new(
                #[pyo3(from_py_with = arg::kappa)] kappa: Option<f64>,
                #[pyo3(from_py_with = arg::speed)] speed: Option<f64>,
            ) -> PyResult<$name> {
                Ok($name(Softness::new(kappa, speed)?))
            }

            #[getter]
            fn kappa(&self) -> Option<f64> {
                if let Softness::Kappa(kappa) = self.0 { Some(kappa) } else { None }
            }

            #[getter]
            fn speed(&self) -> Option<f64> {
                if let Softness::Speed(speed) = self.0 { Some(speed) } else { None }
            }

            fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (Option<f64>, Option<f64>)) {
                (py.get_type::<$name>(), (self.kappa(), self.speed()))
            }

            fn __repr__(&self) -> String {
                match self.0 {
                    Softness::Kappa(kappa) => format!("{}(kappa={kappa:?})", stringify!($name)),
                    Softness::Speed(speed) => format!("{}(speed={speed:?})", stringify!($name)),
                }
            }
        }
    };
}

soft_class! {
    /// Step and derivatives on the central path: complementarity products equal kappa instead of zero. Smooth, and a little
    /// soft: contacts act at a distance.
    ///
    /// Either kappa (float): in units of the robot's weight over a step times the velocity that gravity gives in one; or speed
    /// (float, m/s): kappa = (speed / (9.81 m/s² dt))², so that the softness does not depend on the time step. Contacts then act at a
    /// distance of about speed dt. Useful are speeds from 1e-4 m/s, nearly exact, to 0.1 m/s; above 0.3 m/s little changes.
    Central
}

soft_class! {
    /// The exact step, with the derivatives of the central path.
    ///
    /// kappa or speed (float): as of Central.
    ExactForwardCentral
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

/// The option `gradient`; a speed becomes a kappa with the time step of the model.
#[derive(Clone, Copy)]
pub enum Gradient {
    Exact,
    Central(Softness),
    ExactForwardCentral(Softness),
}

impl Gradient {
    pub fn mode(self, dt: f64) -> GradientMode {
        match self {
            Gradient::Exact => GradientMode::Exact,
            Gradient::Central(softness) => GradientMode::Central { kappa: softness.kappa(dt) },
            Gradient::ExactForwardCentral(softness) => GradientMode::ExactForwardCentral { kappa: softness.kappa(dt) },
        }
    }

    /// That of a model, which has no speeds.
    pub fn of(mode: GradientMode) -> PyResult<Gradient> {
        match mode {
            GradientMode::Exact => Ok(Gradient::Exact),
            GradientMode::Central { kappa } => Ok(Gradient::Central(Softness::Kappa(kappa))),
            GradientMode::ExactForwardCentral { kappa } => Ok(Gradient::ExactForwardCentral(Softness::Kappa(kappa))),
            other => Err(PyValueError::new_err(format!("gradient: no class for {other:?}"))),
        }
    }
}

/// The argument `gradient` of derivatives of steps that are made already.
#[derive(Clone, Copy)]
pub struct Choice(pub GradientChoice);

impl<'a, 'py> FromPyObject<'a, 'py> for Choice {
    type Error = PyErr;

    fn extract(x: Borrowed<'a, 'py, PyAny>) -> PyResult<Choice> {
        if x.cast::<Central>().is_ok() {
            let text = "gradient: expected 'exact' or options.ExactForwardCentral(…), got options.Central(…), with which steps are made \
                        otherwise: it is for Model.with_options";
            return Err(PyValueError::new_err(text));
        }
        Ok(Choice(match x.extract::<Gradient>() {
            Ok(Gradient::ExactForwardCentral(Softness::Kappa(kappa))) => GradientChoice::Central { kappa },
            Ok(Gradient::ExactForwardCentral(Softness::Speed(speed))) => GradientChoice::CentralAtSpeed { speed },
            Ok(_) => GradientChoice::Exact,
            Err(_) => return Err(unknown("gradient", "'exact' or options.ExactForwardCentral(kappa)", &x)),
        }))
    }
}

/// The option `collision_gradient`.
#[derive(Clone, Copy)]
pub struct Collision(pub CollisionGradient);

impl<'a, 'py> FromPyObject<'a, 'py> for Gradient {
    type Error = PyErr;

    fn extract(x: Borrowed<'a, 'py, PyAny>) -> PyResult<Gradient> {
        if let Ok("exact") = x.extract() {
            Ok(Gradient::Exact)
        } else if let Ok(central) = x.cast::<Central>() {
            Ok(Gradient::Central(central.get().0))
        } else if let Ok(central) = x.cast::<ExactForwardCentral>() {
            Ok(Gradient::ExactForwardCentral(central.get().0))
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
        match self {
            Gradient::Exact => "exact".into_bound_py_any(py),
            Gradient::Central(softness) => Central(softness).into_bound_py_any(py),
            Gradient::ExactForwardCentral(softness) => ExactForwardCentral(softness).into_bound_py_any(py),
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
