//! `WarmStart`: what one step hands to the next beside the state.

use crate::arguments::arg;
use crate::errors::Failure;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

/// What a Simulator carries from one step to the next: impulses, and where searches for contacts ended.
///
/// Made by Simulator.warm_start(). With it, the same state and input repeat a step bit for bit. It can be pickled.
#[pyclass(frozen, eq, module = "slipstick.types")]
#[derive(PartialEq)]
pub struct WarmStart(pub slipstick::WarmStart);

#[pymethods]
impl WarmStart {
    /// From the bytes that to_bytes() made.
    #[classmethod]
    fn from_bytes(
        _cls: &Bound<'_, PyType>,
        #[pyo3(from_py_with = arg::data)] data: &[u8],
    ) -> Result<WarmStart, Failure> {
        Ok(WarmStart(slipstick::WarmStart::from_bytes(data)?))
    }

    /// Everything in it (bytes), the same on every machine.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<WarmStart>().getattr("from_bytes")?, (self.to_bytes(py),)))
    }

    fn __repr__(&self) -> String {
        format!("<slipstick.types.WarmStart: {} bytes>", self.0.to_bytes().len())
    }
}
