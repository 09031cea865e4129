//! Placements from Python: 4×4 matrices, or a position and a quaternion; one or a stack of them.

use crate::arrays::{Input, array, wrong_shape};
use crate::errors::Failure;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use slipstick::spatial::{Mat3, Pose, Quat, Vec3};

/// One placement or several.
pub enum Poses {
    One(Pose),
    Stack(Vec<Pose>),
}

impl Poses {
    /// How many there are; `None` for one that is no stack.
    fn count(&self) -> Option<usize> {
        match self {
            Poses::One(_) => None,
            Poses::Stack(poses) => Some(poses.len()),
        }
    }

    /// Placement number `k`; one that is no stack goes with all of another stack.
    pub fn at(&self, k: usize) -> &Pose {
        match self {
            Poses::One(pose) => pose,
            Poses::Stack(poses) => &poses[k],
        }
    }

    /// How many placements two stacks make together; `None` if neither is a stack.
    pub fn together(&self, other: &Poses) -> Result<Option<usize>, Failure> {
        match (self.count(), other.count()) {
            (Some(a), Some(b)) if a != b => {
                let text = format!("X_a and X_b: expected stacks of one length, got {a} and {b}");
                Err(PyValueError::new_err(text).into())
            }
            (a, b) => Ok(a.or(b)),
        }
    }
}

/// A 4×4 matrix or a stack of them, (n, 4, 4); or a tuple of position and quaternion, (3,) and (4,) or (n, 3) and (n, 4).
pub fn poses(what: &'static str, x: Input) -> Result<Poses, Failure> {
    match x.cast::<PyTuple>() {
        Ok(pair) if pair.len() == 2 => from_quaternions(what, &pair.get_item(0)?, &pair.get_item(1)?),
        _ => from_matrices(what, x),
    }
}

/// A single pose.
pub fn pose(what: &'static str, x: Input) -> Result<Pose, Failure> {
    match poses(what, x)? {
        Poses::One(pose) => Ok(pose),
        Poses::Stack(_) => Err(PyValueError::new_err(format!("{what}: expected one pose, got a stack")).into()),
    }
}

fn from_matrices(what: &'static str, x: Input) -> Result<Poses, Failure> {
    let (numbers, shape) = array(what, x)?;
    match *shape {
        [4, 4] => Ok(Poses::One(from_matrix(what, &numbers)?)),
        [_, 4, 4] => {
            Ok(Poses::Stack(numbers.chunks_exact(16).map(|m| from_matrix(what, m)).collect::<Result<_, _>>()?))
        }
        _ => Err(wrong_shape(what, "(4, 4), (n, 4, 4) or a tuple (position, quaternion)", &shape).into()),
    }
}

fn from_matrix(what: &'static str, m: &[f64]) -> Result<Pose, Failure> {
    if m[12..] != [0.0, 0.0, 0.0, 1.0] {
        let text = format!("{what}: expected 0, 0, 0, 1 as last row of a 4×4 matrix, got {:?}", &m[12..]);
        return Err(PyValueError::new_err(text).into());
    }
    let rotation = Mat3::from_rows(Vec3::from_slice(m), Vec3::from_slice(&m[4..]), Vec3::from_slice(&m[8..]));
    Ok(Pose { rotation, position: Vec3::new(m[3], m[7], m[11]) })
}

fn from_quaternions(what: &'static str, position: Input, quaternion: Input) -> Result<Poses, Failure> {
    let ((positions, shape), (quaternions, turns)) = (array(what, position)?, array(what, quaternion)?);
    let one = |k: usize| from_quaternion(what, &positions[3 * k..], &quaternions[4 * k..]);
    match (&*shape, &*turns) {
        ([3], [4]) => Ok(Poses::One(one(0)?)),
        ([n, 3], [m, 4]) if n == m => Ok(Poses::Stack((0..*n).map(one).collect::<Result<_, _>>()?)),
        ([.., 3], _) => {
            Err(wrong_shape(what, "a quaternion (4,) or (n, 4) as the position's (3,) or (n, 3)", &turns).into())
        }
        _ => Err(wrong_shape(what, "a position (3,) or (n, 3)", &shape).into()),
    }
}

fn from_quaternion(what: &'static str, position: &[f64], quaternion: &[f64]) -> Result<Pose, Failure> {
    let turn = Quat::from_slice(quaternion).normalized();
    let none =
        || PyValueError::new_err(format!("{what}: expected a quaternion other than zero, got {:?}", &quaternion[..4]));
    Ok(Pose::new(Vec3::from_slice(position), turn.ok_or_else(none)?))
}
