//! Vectors from Python, one or a stack of them along a first axis, and what functions of each make.

use crate::arrays::{Input, array, wrong_shape};
use crate::errors::Failure;
use crate::gradient::rollout::shaped;
use numpy::PyArrayDyn;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use slipstick::InputError;

/// A vector, or rows of an (n, width) array.
pub struct Stack {
    what: &'static str,
    numbers: Vec<f64>,
    width: usize,
    /// How many there are; `None` for one that is no stack.
    rows: Option<usize>,
}

impl Stack {
    /// Numbers of rows are checked here, a single vector is for the model to check.
    pub fn new(what: &'static str, x: Input, width: usize) -> Result<Stack, Failure> {
        let (numbers, shape) = array(what, x)?;
        let (width, rows) = match *shape {
            [any] => (any, None),
            [n, w] if w == width => (w, Some(n)),
            _ => return Err(wrong_shape(what, &format!("({width},) or (n, {width})"), &shape).into()),
        };
        match numbers.iter().position(|x| !x.is_finite()).filter(|_| rows.is_some()) {
            Some(index) => Err(InputError::NotFinite { what, index }.into()),
            None => Ok(Stack { what, numbers, width, rows }),
        }
    }

    /// Row `k`; one that is no stack goes with all of another stack.
    pub fn row(&self, k: usize) -> &[f64] {
        match self.rows {
            None => &self.numbers,
            Some(_) => &self.numbers[k * self.width..(k + 1) * self.width],
        }
    }
}

/// How many results the rows make together.
#[derive(Clone, Copy)]
pub struct Count(Option<usize>);

impl Count {
    /// Of one argument.
    pub fn of(x: &Stack) -> Count {
        Count(x.rows)
    }

    /// Of two, which have as many rows each if both are stacks.
    pub fn of_both(a: &Stack, b: &Stack) -> Result<Count, Failure> {
        match (a.rows, b.rows) {
            (Some(n), Some(m)) if n != m => {
                let text = format!("{} and {}: expected stacks of one length, got {n} and {m}", a.what, b.what);
                Err(PyValueError::new_err(text).into())
            }
            (n, m) => Ok(Count(n.or(m))),
        }
    }

    /// Numbers of the results: one for what is no stack.
    pub fn each(self) -> std::ops::Range<usize> {
        0..self.0.unwrap_or(1)
    }

    /// An array of the results, which have a shape each.
    pub fn array<'py>(
        self,
        py: Python<'py>,
        shape: &[usize],
        numbers: Vec<f64>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let shape: Vec<usize> = self.0.into_iter().chain(shape.iter().copied()).collect();
        shaped(py, &shape, numbers)
    }

    /// Room for the results, of so many numbers each.
    pub fn room(self, size: usize) -> Vec<f64> {
        vec![0.0; self.each().len() * size]
    }
}
