//! `Corners`: columns of a Jacobian that have two sides.

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

/// Columns of the Jacobian of a step that are not its derivative on both sides.
///
/// Attributes: q, v, tau (nv,), ctrl (nu,; empty if the step was made without ctrl), act (na,): bool, True at a corner; count (int: how
/// many are).
#[pyclass(frozen, get_all, module = "slipstick.types")]
pub struct Corners {
    q: Py<PyArray1<bool>>,
    v: Py<PyArray1<bool>>,
    tau: Py<PyArray1<bool>>,
    ctrl: Py<PyArray1<bool>>,
    act: Py<PyArray1<bool>>,
    count: usize,
}

impl Corners {
    pub fn new(py: Python<'_>, corners: slipstick::check::Corners) -> Corners {
        let count = corners.count();
        let [q, v, tau, ctrl, act] =
            [corners.q, corners.v, corners.tau, corners.ctrl, corners.act].map(|flags| flags.into_pyarray(py).unbind());
        Corners { q, v, tau, ctrl, act, count }
    }
}

#[pymethods]
impl Corners {
    fn __repr__(&self) -> String {
        format!("<slipstick.types.Corners: {} columns>", self.count)
    }
}
