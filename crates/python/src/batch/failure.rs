//! Environments without an answer as one exception that does not lose the answers of the others.

use crate::errors::{BatchError, Failure};
use crate::gradient::rollout;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError};
use pyo3::prelude::*;
use slipstick::rollout::{EnvironmentError, FailedEnvironment};

/// What a call of a batch says.
pub type Done = Result<(), slipstick::rollout::BatchError>;

/// Numbers of the environments that failed.
pub fn failed(done: &Done) -> Vec<usize> {
    match done {
        Err(slipstick::rollout::BatchError::Environments(failed)) => failed.iter().map(|f| f.environment).collect(),
        _ => Vec::new(),
    }
}

/// Zeros in some of `n` rows.
pub fn clear_rows(rows: &mut [f64], which: &[usize], n: usize) {
    let width = rows.len() / n;
    which.iter().for_each(|i| rows[i * width..(i + 1) * width].fill(0.0));
}

/// The result, or the exception that carries it: rows of environments that did not fail are good.
pub fn finish<'py, T>(
    py: Python<'py>,
    n: usize,
    done: Result<(), slipstick::rollout::BatchError>,
    result: T,
) -> Result<T, Failure>
where
    T: IntoPyObject<'py>,
{
    match done {
        Ok(()) => Ok(result),
        Err(slipstick::rollout::BatchError::Environments(failed)) => {
            let missing =
                |f: &FailedEnvironment| matches!(f.error, EnvironmentError::NoStep | EnvironmentError::NoRollout);
            // there is nothing to lose
            if failed.len() == n && failed.iter().all(missing) {
                return Err(single(failed.into_iter().map(|f| f.error).next().unwrap_or(EnvironmentError::NoStep)));
            }
            Err(several(py, failed, result)?.into())
        }
        Err(e) => Err(of_all(e)),
    }
}

/// What is wrong with a call as a whole.
pub fn of_all(e: slipstick::rollout::BatchError) -> Failure {
    match e {
        slipstick::rollout::BatchError::Input(e) => e.into(),
        e @ slipstick::rollout::BatchError::Memory { .. } => PyMemoryError::new_err(e.to_string()).into(),
        e => PyRuntimeError::new_err(e.to_string()).into(),
    }
}

/// The exception that a Simulator would raise.
fn single(error: EnvironmentError) -> Failure {
    let text = error.to_string();
    match error {
        EnvironmentError::Step(e) => e.into(),
        EnvironmentError::Gradient(e) => e.into(),
        EnvironmentError::Rollout(e) => rollout::failure(e),
        EnvironmentError::NoStep | EnvironmentError::NoRollout => crate::errors::StaleStep::new_err(text).into(),
        _ => PyRuntimeError::new_err(text).into(),
    }
}

fn several<'py>(py: Python<'py>, failed: Vec<FailedEnvironment>, result: impl IntoPyObject<'py>) -> PyResult<PyErr> {
    let numbers: Vec<usize> = failed.iter().map(|f| f.environment).collect();
    let error = BatchError::new_err(slipstick::rollout::BatchError::Environments(failed.clone()).to_string());
    let errors: Vec<PyErr> = failed.into_iter().map(|f| PyErr::from(single(f.error))).collect();
    let errors: Vec<_> = errors.into_iter().map(|e| e.into_value(py)).collect();
    let value = error.value(py);
    value.setattr("environments", numbers)?;
    value.setattr("errors", errors)?;
    value.setattr("result", result)?;
    Ok(error)
}
