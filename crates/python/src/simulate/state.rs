//! `State`: configuration, velocity, activations and time.

use crate::arrays::{Input, vector};
use crate::errors::Failure;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyTuple};
use slipstick::{InputError, Model};

/// The state of a robot.
///
/// Attributes: q (nq,), v (nv,), act (na,): activations of actuators, time (float, s). `q, v = state` works too.
#[pyclass(frozen, get_all, module = "slipstick")]
pub struct State {
    q: Py<PyArray1<f64>>,
    v: Py<PyArray1<f64>>,
    act: Py<PyArray1<f64>>,
    time: f64,
}

impl State {
    pub fn new(py: Python<'_>, x: &slipstick::State) -> State {
        let array = |x: &[f64]| PyArray1::from_slice(py, x).unbind();
        State { q: array(&x.q), v: array(&x.v), act: array(&x.act), time: x.time }
    }
}

#[pymethods]
impl State {
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyTuple::new(py, [self.q.bind(py), self.v.bind(py)])?.try_iter()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let text = |x: &Py<PyArray1<f64>>| Ok::<_, PyErr>(shown(&x.bind(py).to_vec()?));
        Ok(format!("<slipstick.State: time={:.6}, q={}, v={}>", self.time, text(&self.q)?, text(&self.v)?))
    }
}

/// Numbers that are shown of a vector; the others are counted.
const SHOWN: usize = 7;

fn shown(x: &[f64]) -> String {
    let numbers = x.iter().take(SHOWN).map(|x| format!("{:.4}", x + 0.0)).collect::<Vec<_>>().join(", ");
    match x.len().saturating_sub(SHOWN) {
        0 => format!("[{numbers}]"),
        more => format!("[{numbers}, … {more} more]"),
    }
}

/// A state with another q, v, act and time. Numbers that are a configuration already stay as they are, to the last bit, so that steps
/// one by one repeat a rollout.
pub fn changed(
    model: &Model,
    mut x: slipstick::State,
    q: Option<Input>,
    v: Option<Input>,
    act: Option<Input>,
    time: f64,
) -> Result<slipstick::State, Failure> {
    if !time.is_finite() {
        return Err(InputError::Value { what: "time".into(), expected: "a finite number", got: time }.into());
    }
    let q = q.map_or(Ok(x.q), |q| vector("q", q))?;
    let v = v.map_or(Ok(x.v), |v| vector("v", v))?;
    let act = act.map_or(Ok(x.act), |act| vector("act", act))?;
    x = slipstick::State::new(model, &q, &v)?.with_act(model, &act)?;
    if x.q.iter().zip(&q).all(|(unit, given)| (unit - given).abs() <= 4.0 * f64::EPSILON) {
        x.q = q;
    }
    x.time = time;
    Ok(x)
}
