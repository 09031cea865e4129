//! Models, options and keyframes in pickles: exact bytes, and a hash of what they should make.

use super::{Keyframe, Model};
use crate::errors::{Failure, FormatError};
use crate::model::options::Options;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Bytes, content hash.
pub type State<'py> = (Bound<'py, PyBytes>, String);

/// The model that was pickled, if the bytes make one with its hash.
#[pyfunction]
#[pyo3(name = "_restore")]
pub fn restore(py: Python<'_>, saved: &[u8], hash: &str) -> Result<Model, Failure> {
    let (inner, got) = py.detach(|| {
        let inner = slipstick::Model::from_bytes(saved)?;
        let got = slipstick::files::content_hash(&inner);
        Ok::<_, Failure>((inner, got))
    })?;
    match got == hash {
        true => Ok(Model::restored(inner, got)),
        false => {
            Err(FormatError::new_err(format!("pickled model: expected the content hash {hash}, got {got}")).into())
        }
    }
}

/// The options that were pickled.
#[pyfunction]
#[pyo3(name = "_restore_options")]
pub fn restore_options(saved: &[u8]) -> Result<Options, Failure> {
    Ok(Options(slipstick::Options::from_bytes(saved)?))
}

/// The keyframe that was pickled.
#[pyfunction]
#[pyo3(name = "_restore_keyframe")]
pub fn restore_keyframe(
    name: String,
    q: Py<PyArray1<f64>>,
    v: Py<PyArray1<f64>>,
    ctrl: Py<PyArray1<f64>>,
    act: Py<PyArray1<f64>>,
    mocap: Py<PyArray2<f64>>,
) -> Keyframe {
    Keyframe { name, q, v, ctrl, act, mocap }
}
