//! Arrays with one row per environment.

use crate::arguments::wrong_type;
use crate::arrays::{Input, array, wrong_shape};
use crate::dlpack::seen;
use crate::errors::Failure;
use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Rows of every environment. (n, width) has one for each; (width,) is one for all.
pub fn of_states(what: &'static str, x: Input, n: usize, width: usize) -> Result<Vec<f64>, Failure> {
    let (numbers, shape) = array(what, x)?;
    let rows = match *shape {
        [w] if w == width => Some([1, 1]),
        [a, w] if w == width => Some([a, 1]),
        _ => None,
    };
    let expected = || wrong_shape(what, &format!("({n}, {width}) or ({width},)"), &shape);
    spread(numbers, rows, [n, 1], width)?.ok_or_else(|| expected().into())
}

/// What acts in every step. The number of dimensions decides: (n, steps, width) is that of every environment and step, (n,
/// width) holds over the steps, (width,) over all. None is that of no environment.
pub fn of_steps(what: &'static str, x: Input, sizes: [usize; 2], width: usize) -> Result<Vec<f64>, Failure> {
    let (numbers, shape) = array(what, x)?;
    let rows = match *shape {
        [w] if w == width => Some([1, 1]),
        [a, w] if w == width => Some([a, 1]),
        [a, b, w] if w == width => Some([a, b]),
        _ => None,
    };
    let [n, steps] = sizes;
    let wrong = || {
        let expected = format!("({n}, {steps}, {width}), ({n}, {width}) held over the steps or ({width},) for all");
        let error = wrong_shape(what, &expected, &shape);
        match *shape == [steps, width] {
            true => {
                let error = error.value(x.py());
                PyValueError::new_err(format!("{error}; for the same steps of all environments give {what}[None]"))
            }
            false => error,
        }
    };
    spread(numbers, rows, sizes, width)?.ok_or_else(|| wrong().into())
}

/// Wrenches on the bodies of every environment: (n, bodies, 6), or (bodies, 6) for all.
pub fn wrenches(x: Input, n: usize, bodies: usize) -> Result<Vec<f64>, Failure> {
    let (numbers, shape) = array("wrenches", x)?;
    let rows = match *shape {
        [b, 6] if b == bodies => Some([1, 1]),
        [a, b, 6] if b == bodies => Some([a, 1]),
        _ => None,
    };
    let expected = || wrong_shape("wrenches", &format!("({n}, {bodies}, 6) or ({bodies}, 6)"), &shape);
    spread(numbers, rows, [n, 1], 6 * bodies)?.ok_or_else(|| expected().into())
}

/// Poses of the mocap bodies of every environment: (n, bodies, 7), or (bodies, 7) for all.
pub fn poses(x: Input, n: usize, bodies: usize) -> Result<Vec<f64>, Failure> {
    let (numbers, shape) = array("mocap", x)?;
    let rows = match *shape {
        [b, 7] if b == bodies => Some([1, 1]),
        [a, b, 7] if b == bodies => Some([a, 1]),
        _ => None,
    };
    let expected = || wrong_shape("mocap", &format!("({n}, {bodies}, 7) or ({bodies}, 7)"), &shape);
    spread(numbers, rows, [n, 1], 7 * bodies)?.ok_or_else(|| expected().into())
}

/// Rows repeated along axes of length 1; `None` if they do not fit.
fn spread(
    numbers: Vec<f64>,
    given: Option<[usize; 2]>,
    [n, steps]: [usize; 2],
    width: usize,
) -> Result<Option<Vec<f64>>, Failure> {
    let Some([a, b]) = given.filter(|[a, b]| [1, n].contains(a) && [1, steps].contains(b)) else { return Ok(None) };
    if (a, b) == (n, steps) {
        return Ok(Some(numbers));
    }
    let mut all = Vec::new();
    let size = n.saturating_mul(steps).saturating_mul(width);
    all.try_reserve_exact(size).map_err(|_| no_room(size))?;
    for i in 0..n {
        for t in 0..steps {
            let row = (i % a) * b + t % b;
            all.extend_from_slice(&numbers[row * width..][..width]);
        }
    }
    Ok(Some(all))
}

/// Which environments are meant: without a mask, all.
pub fn mask(x: Option<Input>, n: usize) -> Result<Vec<bool>, Failure> {
    let Some(x) = x else { return Ok(vec![true; n]) };
    let array = x.py().import("numpy")?.call_method1("ascontiguousarray", (seen("mask", x)?,));
    let array = array.map_err(|_| wrong_type("mask", "a bool for each environment", x))?;
    let Ok(mask) = array.cast::<PyArrayDyn<bool>>() else {
        let kind = array.getattr("dtype")?;
        let text = format!("mask: expected a bool for each environment ({n},), got an array of {kind}");
        return Err(PyTypeError::new_err(text).into());
    };
    match mask.shape() == [n] {
        true => Ok(mask.to_vec().map_err(PyErr::from)?),
        false => Err(wrong_shape("mask", &format!("({n},)"), mask.shape()).into()),
    }
}

/// Zeros for an array of a shape, if there is room for it.
pub fn zeros(shape: &[usize]) -> Result<Vec<f64>, Failure> {
    let size = shape.iter().fold(1usize, |size, n| size.saturating_mul(*n));
    Vec::<f64>::new().try_reserve_exact(size).map_err(|_| no_room(size))?;
    Ok(vec![0.0; size])
}

fn no_room(size: usize) -> Failure {
    let text = format!("there is no room for {} bytes: take fewer steps or environments", size.saturating_mul(8));
    PyMemoryError::new_err(text).into()
}
