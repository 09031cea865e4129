//! What became of every environment, as arrays.

use super::Batch;
use crate::errors::Failure;
use numpy::{Element, IntoPyArray, PyArray1};
use pyo3::prelude::*;
use slipstick::Status;
use slipstick::rollout::EnvironmentReport;

#[pymethods]
impl Batch {
    /// How many of the steps that were differentiated last have a derivative that is a choice (n,): something is undecided
    /// between two modes, or more holds than can along some change of q.
    #[getter]
    fn choices<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<i64>>, Failure> {
        let choices: Vec<i64> = self.enter()?.batch.choices().map(|n| n as i64).collect();
        Ok(choices.into_pyarray(py))
    }

    /// How the last step, or the worst step of the last rollout, was solved (n,) of str: "converged", "acceptable",
    /// "infeasible", "not_converged", or "failed" for an environment of a BatchError. Before the first step, and of failed
    /// environments, all other numbers are those of no steps; residual and margin of failed ones are NaN.
    #[getter]
    fn status<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>, Failure> {
        Ok(words(py, &self.enter()?.batch)?)
    }

    /// Where the last step, or all steps of the last rollout, gave a state, and none was "not_converged" (n,) of bool.
    #[getter]
    fn converged<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<bool>>, Failure> {
        Ok(column(py, &self.enter()?.batch, |r| r.is_converged()))
    }

    /// How many steps of the last rollout, or of the one last step, did not converge (n,).
    #[getter]
    fn not_converged<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<i64>>, Failure> {
        Ok(column(py, &self.enter()?.batch, |r| r.not_converged as i64))
    }

    /// Scaled residual of the last step, or the largest of the last rollout (n,).
    #[getter]
    fn residual<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<f64>>, Failure> {
        Ok(column(py, &self.enter()?.batch, |r| r.worst.residual))
    }

    /// Iterations of the last step, or of the step of the last rollout that took most (n,).
    #[getter]
    fn iterations<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<i64>>, Failure> {
        Ok(column(py, &self.enter()?.batch, |r| r.worst.iterations.into()))
    }

    /// How many contacts the last step had, that of a rollout included (n,). contacts() shows them.
    #[getter]
    fn n_contacts<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<i64>>, Failure> {
        Ok(column(py, &self.enter()?.batch, |r| r.contacts as i64))
    }

    /// Constraints about to change their mode in the last step, or the most in a step of the last rollout (n,): of the
    /// impulses that were found, where Step.report has those at the center of all that give the same motion.
    #[getter]
    fn degenerate<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<i64>>, Failure> {
        Ok(column(py, &self.enter()?.batch, |r| r.worst.degenerate as i64))
    }

    /// The smallest change of velocity that would change a mode in the last step or the last rollout (n,) [m/s], infinite
    /// without constraints; of the impulses that were found.
    #[getter]
    fn margin<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<f64>>, Failure> {
        Ok(column(py, &self.enter()?.batch, |r| r.worst.margin))
    }

    /// Steps of the last control step or rollout that did something else in their constraints than the one before (n,): 0 for a single
    /// step; -1 where the steps were not recorded, which those under hold are from the first vjp or jacobian on.
    #[getter]
    fn mode_changes<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<i64>>, Failure> {
        Ok(column(py, &self.enter()?.batch, |r| r.mode_changes.map_or(-1, |n| n as i64)))
    }

    /// The largest normal impulse of a contact in a step of the last call, over the impulse of the robot's weight in one (n,).
    #[getter]
    fn impulse<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<f64>>, Failure> {
        Ok(column(py, &self.enter()?.batch, |r| r.impulse))
    }
}

/// One number of each report.
fn column<'py, T: Element>(
    py: Python<'py>,
    batch: &slipstick::Batch,
    number: impl Fn(&EnvironmentReport) -> T,
) -> Bound<'py, PyArray1<T>> {
    batch.reports().map(number).collect::<Vec<T>>().into_pyarray(py)
}

/// The word of each report: numpy fills an array of words faster from their numbers than from objects.
fn words<'py>(py: Python<'py>, batch: &slipstick::Batch) -> PyResult<Bound<'py, PyAny>> {
    let mut words = Status::ALL.map(Status::name).to_vec();
    words.push("failed");
    let number = |report: &EnvironmentReport| words.iter().position(|word| *word == report.status_name());
    let numbers = column(py, batch, |report| number(report).unwrap_or(words.len()) as i64);
    py.import("numpy")?.call_method1("array", (words.clone(),))?.call_method1("take", (numbers,))
}

/// How many environments failed, and how many did not converge, as words; empty if none did.
pub fn troubles(batch: &slipstick::Batch) -> String {
    let failed = batch.reports().filter(|r| r.failed).count();
    let not_converged = batch.reports().filter(|r| r.not_converged > 0).count();
    let tell = |(n, what)| if n > 0 { format!(", {n} {what}") } else { String::new() };
    [(failed, "failed"), (not_converged, "not converged")].map(tell).concat()
}
