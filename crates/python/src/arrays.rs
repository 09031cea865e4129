//! Array-likes of Python to numbers, and numbers to fresh arrays.
//!
//! What comes in is copied: it is a few hundred numbers at most, and another thread may write to the caller's array
//! while the interpreter's lock is released.

use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::IntoPyDict;
use slipstick::InputError;
use slipstick::dynamics::Wrench;
use slipstick::model::BodyId;
use slipstick::spatial::Vec3;

use crate::arguments::wrong_type;
use crate::dlpack::seen;
use crate::errors::Failure;

pub type Vector<'py> = Bound<'py, PyArray1<f64>>;
pub type Matrix<'py> = Bound<'py, PyArray2<f64>>;
pub type Input<'a, 'py> = &'a Bound<'py, PyAny>;

/// A vector of any length; the model checks it.
pub fn vector(what: &'static str, x: Input) -> PyResult<Vec<f64>> {
    if let Ok(array) = x.cast::<PyArray1<f64>>()
        && let Ok(numbers) = array.to_vec()
    {
        return Ok(numbers);
    }
    let (numbers, shape) = array(what, x)?;
    match shape.len() {
        1 => Ok(numbers),
        _ => Err(wrong_shape(what, "a vector", &shape)),
    }
}

/// A vector that may be left out.
pub fn optional_vector(what: &'static str, x: Option<Input>) -> PyResult<Option<Vec<f64>>> {
    x.map(|x| vector(what, x)).transpose()
}

/// A matrix, row by row, with its numbers of rows and columns.
pub fn matrix(what: &'static str, x: Input) -> PyResult<(Vec<f64>, [usize; 2])> {
    let (numbers, shape) = array(what, x)?;
    match *shape {
        [rows, columns] => Ok((numbers, [rows, columns])),
        _ => Err(wrong_shape(what, "a matrix", &shape)),
    }
}

/// Numbers of an array whose shape is one of those expected, and that shape.
pub fn shaped_array(
    what: &'static str,
    x: Input,
    expected: &str,
    fits: impl FnOnce(&[usize]) -> bool,
) -> PyResult<(Vec<f64>, Vec<usize>)> {
    let (numbers, shape) = array(what, x)?;
    if fits(&shape) { Ok((numbers, shape)) } else { Err(wrong_shape(what, expected, &shape)) }
}

/// A vector of `rows` numbers or a matrix of `rows` rows: its numbers row by row, and its shape.
pub fn columns(what: &'static str, x: Input, rows: usize) -> Result<(Vec<f64>, Vec<usize>), Failure> {
    let (numbers, shape) = array(what, x)?;
    if !matches!(shape.len(), 1 | 2) || shape[0] != rows {
        return Err(wrong_shape(what, &format!("({rows},) or ({rows}, k)"), &shape).into());
    }
    match numbers.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(InputError::NotFinite { what, index }.into()),
        None => Ok((numbers, shape)),
    }
}

/// One wrench per body: rows [force; torque].
pub fn wrenches(x: Option<Input>, n_bodies: usize) -> PyResult<Vec<Wrench>> {
    let Some(x) = x else { return Ok(Vec::new()) };
    let (numbers, shape) = matrix("wrenches", x)?;
    if shape != [n_bodies, 6] {
        return Err(wrong_shape("wrenches", &format!("({n_bodies}, 6)"), &shape));
    }
    let rows = numbers.chunks_exact(6).enumerate();
    Ok(rows.map(|(i, w)| Wrench::new(BodyId(i), Vec3::from_slice(w), Vec3::from_slice(&w[3..]))).collect())
}

/// Whatever numpy makes an array of, or DLPack brings, as contiguous float64, and its shape.
pub fn array(what: &str, x: Input) -> PyResult<(Vec<f64>, Vec<usize>)> {
    let (py, x) = (x.py(), &seen(what, x)?);
    let options = [("dtype", "float64"), ("order", "C")].into_py_dict(py)?;
    let numpy = py.import("numpy")?;
    let wrong = |error| {
        let wrong = wrong_type(what, "an array of numbers", x);
        // what numpy says may be about one of its elements
        wrong.set_cause(py, Some(error));
        wrong
    };
    let given = numpy.call_method1("asarray", (x,)).map_err(wrong)?;
    if given.getattr("dtype")?.getattr("kind")?.extract::<String>()? == "c" {
        return Err(wrong_type(what, "an array of real numbers", x)); // numpy would drop the imaginary parts
    }
    let array = numpy.call_method("array", (given,), Some(&options)).map_err(wrong)?;
    let array = array.cast::<PyArrayDyn<f64>>()?;
    Ok((array.to_vec()?, array.shape().to_vec()))
}

pub fn wrong_shape(what: &str, expected: &str, got: &[usize]) -> PyErr {
    let sizes = got.iter().map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    let comma = if got.len() == 1 { "," } else { "" };
    PyValueError::new_err(format!("{what}: expected {expected}, got an array of shape ({sizes}{comma})"))
}

/// Zeros to be written; an error where there is no room, of which the interpreter would die.
pub fn zeros(what: &'static str, rows: usize, columns: usize) -> Result<Vec<f64>, InputError> {
    let (size, mut out) = (rows.saturating_mul(columns), Vec::new());
    let full = |_| InputError::Memory { what, bytes: size.saturating_mul(size_of::<f64>()) };
    out.try_reserve_exact(size).map_err(full)?;
    out.resize(size, 0.0);
    Ok(out)
}

/// An array of the numbers, which are row by row.
pub fn to_matrix(py: Python<'_>, rows: usize, columns: usize, numbers: Vec<f64>) -> PyResult<Matrix<'_>> {
    let array = Array2::from_shape_vec((rows, columns), numbers);
    Ok(array.map_err(|e| PyValueError::new_err(e.to_string()))?.into_pyarray(py))
}
