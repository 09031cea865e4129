//! Poses of mocap bodies as MuJoCo has them: arrays of positions and quaternions that stay from step to step.

use crate::arrays::{Input, array, wrong_shape};
use crate::errors::Failure;
use numpy::{PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use slipstick::InputError;

/// Numbers of a pose.
const POSE: usize = 7;

/// Arrays that the user may write to: positions (n, 3), quaternions (n, 4).
pub struct Mocap {
    pos: Py<PyArray2<f64>>,
    quat: Py<PyArray2<f64>>,
    count: usize,
}

impl Mocap {
    pub fn new(py: Python<'_>, poses: &[f64]) -> Mocap {
        let count = poses.len() / POSE;
        let (pos, quat) = (PyArray2::zeros(py, [count, 3], false), PyArray2::zeros(py, [count, 4], false));
        let mocap = Mocap { pos: pos.unbind(), quat: quat.unbind(), count };
        mocap.write(py, poses);
        mocap
    }

    pub fn pos(&self, py: Python<'_>) -> Py<PyArray2<f64>> {
        self.pos.clone_ref(py)
    }

    pub fn quat(&self, py: Python<'_>) -> Py<PyArray2<f64>> {
        self.quat.clone_ref(py)
    }

    /// Puts all bodies somewhere.
    pub fn write(&self, py: Python<'_>, poses: &[f64]) {
        let (mut pos, mut quat) = (self.pos.bind(py).readwrite(), self.quat.bind(py).readwrite());
        let rows = pos.as_array_mut().into_iter().collect::<Vec<_>>();
        rows.into_iter().zip(poses.chunks_exact(POSE).flat_map(|pose| &pose[..3])).for_each(|(x, p)| *x = *p);
        let rows = quat.as_array_mut().into_iter().collect::<Vec<_>>();
        rows.into_iter().zip(poses.chunks_exact(POSE).flat_map(|pose| &pose[3..])).for_each(|(x, p)| *x = *p);
    }

    /// Where all bodies are (7 numbers each).
    pub fn read(&self, py: Python<'_>) -> Vec<f64> {
        if self.count == 0 {
            return Vec::new();
        }
        let (pos, quat) = (self.pos.bind(py).readonly(), self.quat.bind(py).readonly());
        let (pos, quat) = (pos.as_array(), quat.as_array());
        let rows = pos.outer_iter().zip(quat.outer_iter());
        rows.flat_map(|(p, q)| p.into_iter().chain(q).copied().collect::<Vec<_>>()).collect()
    }

    /// Another array for `pos` or `quat`, copied into the one that stays.
    pub fn assign(&self, what: &'static str, x: Input) -> Result<(), Failure> {
        let py = x.py();
        let (own, width) = if what == "mocap_pos" { (&self.pos, 3) } else { (&self.quat, 4) };
        let (numbers, shape) = array(what, x)?;
        if shape != [self.count, width] {
            return Err(wrong_shape(what, &format!("({}, {width})", self.count), &shape).into());
        }
        if let Some(index) = numbers.iter().position(|x| !x.is_finite()) {
            return Err(InputError::NotFinite { what, index }.into());
        }
        let mut own = own.bind(py).readwrite();
        own.as_array_mut().iter_mut().zip(numbers).for_each(|(own, x)| *own = x);
        Ok(())
    }
}

/// Poses (n, 7) of a call, or nothing.
pub fn poses(x: Option<Input>, count: usize) -> Result<Vec<f64>, Failure> {
    let Some(x) = x else { return Ok(Vec::new()) };
    let (numbers, shape) = array("mocap", x)?;
    if shape != [count, POSE] {
        return Err(wrong_shape("mocap", &format!("({count}, {POSE})"), &shape).into());
    }
    Ok(numbers)
}
