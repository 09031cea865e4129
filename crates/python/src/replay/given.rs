//! Gradients and changes that are given to a replay: dicts of a name to numbers.

use crate::arguments::wrong_type;
use crate::arrays::array;
use crate::errors::Failure;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use slipstick_view::InputGradient;

/// The gradient of a number with respect to what acts in one step or in several.
pub struct Given {
    pub name: String,
    /// A row of nv numbers per step.
    tau: Vec<f64>,
    /// The group `friction`, of all steps together; `None`: not known.
    friction: Option<Vec<f64>>,
    nv: usize,
}

impl Given {
    /// The part of a step.
    pub fn of_step(&self, step: usize) -> InputGradient<'_> {
        let tau = &self.tau[self.nv * step..self.nv * (step + 1)];
        InputGradient { tau, friction: self.friction.as_deref() }
    }
}

/// Gradients by name: each a Gradient, or an array of the gradient with respect to tau, (nv,) or (steps, nv).
pub fn gradients(by_name: Option<&Bound<'_, PyDict>>, steps: Option<usize>, nv: usize) -> Result<Vec<Given>, Failure> {
    let expected = "a dict of names to Gradients or arrays";
    by_name
        .into_iter()
        .flatten()
        .map(|(name, value)| one(text("gradients", expected, &name)?, &value, steps, nv))
        .collect()
}

fn one(name: String, value: &Bound<'_, PyAny>, steps: Option<usize>, nv: usize) -> Result<Given, Failure> {
    let is_gradient = value.hasattr("tau")?;
    let tau = if is_gradient { value.getattr("tau")? } else { value.clone() };
    let friction = match is_gradient {
        true => {
            value.getattr("parameters")?.cast_into::<PyDict>().ok().and_then(|p| p.get_item("friction").transpose())
        }
        false => None,
    };
    let tau = rows(&format!("gradients['{name}']"), &tau, steps, nv)?;
    let friction = friction.transpose()?.map(|x| array("friction", &x)).transpose()?.map(|(numbers, _)| numbers);
    Ok(Given { name, tau, friction, nv })
}

/// Changes of the configuration by name: (states, nv) each.
pub fn changes(
    by_name: Option<&Bound<'_, PyDict>>,
    states: usize,
    nv: usize,
) -> Result<Vec<(String, Vec<f64>)>, Failure> {
    let expected = "a dict of names to arrays";
    let change = |(name, value): (Bound<PyAny>, Bound<PyAny>)| {
        let name = text("changes", expected, &name)?;
        let numbers = rows(&format!("changes['{name}']"), &value, Some(states), nv)?;
        Ok((name, numbers))
    };
    by_name.into_iter().flatten().map(change).collect()
}

fn text(what: &str, expected: &str, name: &Bound<'_, PyAny>) -> PyResult<String> {
    match name.cast::<PyString>() {
        Ok(name) => Ok(name.to_str()?.to_string()),
        Err(_) => Err(wrong_type(what, expected, name)),
    }
}

/// Finite numbers: (nv,), or (n, nv) where a number of rows is given.
fn rows(what: &str, x: &Bound<'_, PyAny>, n: Option<usize>, nv: usize) -> Result<Vec<f64>, Failure> {
    let (numbers, shape) = array(what, x)?;
    let expected = n.map_or(format!("({nv},)"), |n| format!("({n}, {nv})"));
    if shape != n.map_or(vec![nv], |n| vec![n, nv]) {
        return Err(crate::arrays::wrong_shape(what, &expected, &shape).into());
    }
    match numbers.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(PyValueError::new_err(format!("{what}: number {index} is not finite")).into()),
        None => Ok(numbers),
    }
}
