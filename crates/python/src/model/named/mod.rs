//! `model.body("x")`, `model.joint("x")`, `model.actuator("x")`, `model.geom("x")`, `model.frame("x")`: one element with
//! its numbers; `model.visuals`.

mod bodies;
mod geoms;
mod joints;
pub mod visuals;

pub use bodies::{Body, Frame};
pub use geoms::Geom;
pub use joints::{Actuator, Joint};
pub use visuals::Visual;

use crate::arrays::{Matrix, Vector};
use crate::errors::Failure;
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PySlice;
use slipstick::InputError;
use slipstick::spatial::{Mat3, Quat};
use std::ops::Range;

/// How an element is asked for.
pub enum Key {
    Name(String),
    Number(usize),
}

impl Key {
    /// The number of the element, one of `count`.
    pub fn number(
        &self,
        what: &'static str,
        count: usize,
        by_name: impl FnOnce(&str) -> Result<usize, InputError>,
    ) -> Result<usize, Failure> {
        match *self {
            Key::Name(ref name) => Ok(by_name(name)?),
            Key::Number(number) if number < count => Ok(number),
            Key::Number(got) => Err(InputError::OutOfRange { what, count, got }.into()),
        }
    }
}

/// A class for one kind of element: the model and the number of the element in it.
macro_rules! element_class {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[pyclass(frozen, module = "slipstick.types")]
        pub struct $name {
            model: Model,
            index: usize,
        }

        impl $name {
            pub fn new(model: &Model, index: usize) -> $name {
                $name { model: model.clone(), index }
            }
        }
    };
}
use element_class;

pub fn slice(py: Python<'_>, range: Range<usize>) -> Bound<'_, PySlice> {
    PySlice::new(py, range.start as isize, range.end as isize, 1)
}

/// Largest force of actuators on a dof, in either direction; infinite where unlimited.
pub fn effort_limit(joint: &slipstick::model::Joint) -> f64 {
    joint.effort[1].max(-joint.effort[0])
}

fn square<'py>(py: Python<'py>, m: &Mat3) -> Matrix<'py> {
    Array2::from_shape_fn((3, 3), |(i, j)| m.at(i, j)).into_pyarray(py)
}

fn quaternion<'py>(py: Python<'py>, rotation: &Mat3) -> Vector<'py> {
    let Quat { w, x, y, z } = Quat::from_matrix(rotation);
    PyArray1::from_slice(py, &[w, x, y, z])
}
