//! The part of `slipstick.jax` that is compiled: handlers that XLA calls without the interpreter.
#![allow(non_snake_case)]

mod frames;
pub mod handlers;
mod registry;
mod xla;

use crate::arguments::arg;
use crate::arrays::{Input, matrix};
use crate::control_step::ControlStep;
use crate::errors::Failure;
use crate::gradient::rollout::shaped;
use crate::model::Model;
use numpy::PyArrayDyn;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use registry::{CONTROL_STEPS, FRAMES};
use std::sync::Arc;

type Array<'py> = Bound<'py, PyArrayDyn<f64>>;

/// Lets compiled programs find control steps by a key (int).
#[pyfunction]
#[pyo3(name = "_xla_control_step")]
pub fn register_control_step(key: i64, control_step: &ControlStep) {
    CONTROL_STEPS.add(key, control_step.inner.clone());
}

/// Lets compiled programs find frames of a model by a key (int). Returns how many numbers a row of q and v gives (int).
#[pyfunction]
#[pyo3(name = "_xla_frames")]
pub fn register_frames(
    key: i64,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    #[pyo3(from_py_with = arg::names)] names: Vec<String>,
) -> Result<usize, Failure> {
    let frames = frames::Frames::new(&model.inner, &names)?;
    let width = frames.width();
    FRAMES.add(key, Arc::new(frames));
    Ok(width)
}

/// What the handler of frames computes, for callbacks: key, q (n, nq), v (n, nv), and whether derivatives are wanted.
#[pyfunction]
#[pyo3(name = "_xla_frames_values")]
pub fn frames_values<'py>(
    py: Python<'py>,
    key: i64,
    q: Input,
    v: Input,
    derivatives: bool,
) -> Result<(Array<'py>, Array<'py>), Failure> {
    let frames = FRAMES.find(key).map_err(PyValueError::new_err)?;
    let ((q, _), (v, [n, nv])) = (matrix("q", q)?, matrix("v", v)?);
    let (width, columns) = (frames.width(), q.len() / n.max(1) + nv);
    let rows = if derivatives { width } else { 0 };
    let (mut values, mut slopes) = (vec![0.0; n * width], vec![0.0; n * rows * columns]);
    py.detach(|| frames.evaluate(&q, &v, &mut values, &mut slopes))?;
    Ok((shaped(py, &[n, width], values)?, shaped(py, &[n, rows, columns], slopes)?))
}
