//! What became of every environment, as arrays.

use numpy::{Element, IntoPyArray, PyArray1};
use pyo3::prelude::*;
use slipstick::rollout::EnvironmentReport;
use slipstick::{Batch, Status};

/// One number of each report.
pub fn column<'py, T: Element>(
    py: Python<'py>,
    batch: &Batch,
    number: impl Fn(&EnvironmentReport) -> T,
) -> Bound<'py, PyArray1<T>> {
    batch.reports().map(number).collect::<Vec<T>>().into_pyarray(py)
}

/// The word of each report: numpy fills an array of words faster from their numbers than from objects.
pub fn words<'py>(py: Python<'py>, batch: &Batch) -> PyResult<Bound<'py, PyAny>> {
    let mut words = Status::ALL.map(Status::name).to_vec();
    words.push("failed");
    let number = |report: &EnvironmentReport| words.iter().position(|word| *word == report.status_name());
    let numbers = column(py, batch, |report| number(report).unwrap_or(words.len()) as i64);
    py.import("numpy")?.call_method1("array", (words.clone(),))?.call_method1("take", (numbers,))
}

/// How many environments failed, and how many did not converge, as words; empty if none did.
pub fn troubles(batch: &Batch) -> String {
    let failed = batch.reports().filter(|r| r.failed).count();
    let not_converged = batch.reports().filter(|r| r.not_converged > 0).count();
    let tell = |(n, what)| if n > 0 { format!(", {n} {what}") } else { String::new() };
    [(failed, "failed"), (not_converged, "not converged")].map(tell).concat()
}
