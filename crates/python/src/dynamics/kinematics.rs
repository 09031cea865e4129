//! Poses, Jacobians and velocities of frames, and sums over all bodies; of one configuration or of many.

use super::stacks::{Count, Stack};
use crate::arguments::arg;
use crate::arrays::{Input, Vector, vector};
use crate::errors::Failure;
use crate::model::Model;
use numpy::{PyArray1, PyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use slipstick::interrupt;
use slipstick::model::{BodyId, FrameId};
use slipstick::spatial::Pose;

type Array<'py> = Bound<'py, PyArrayDyn<f64>>;

/// Poses in the world: rotation (n_bodies, 3, 3), position (n_bodies, 3), frame_rotation (n_frames, 3, 3),
/// frame_position (n_frames, 3), those of a stack of configurations along a first axis of n. Rotations take the axes of the
/// body or frame to those of the world.
#[pyclass(frozen, get_all, module = "slipstick.types")]
pub struct Kinematics {
    rotation: Py<PyArrayDyn<f64>>,
    position: Py<PyArrayDyn<f64>>,
    frame_rotation: Py<PyArrayDyn<f64>>,
    frame_position: Py<PyArrayDyn<f64>>,
}

#[pymethods]
impl Kinematics {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (bodies, frames) = (self.position.bind(py).shape(), self.frame_position.bind(py).shape());
        let stack = if bodies.len() > 2 { format!("{} configurations, ", bodies[0]) } else { String::new() };
        let [bodies, frames] = [bodies, frames].map(|shape| shape[shape.len() - 2]);
        Ok(format!("<slipstick.types.Kinematics of {stack}{bodies} bodies and {frames} frames>"))
    }
}

/// Poses of all bodies and frames.
///
/// q (nq,), or a stack (n, nq). Returns an object with rotation (n_bodies, 3, 3), position (n_bodies, 3), frame_rotation
/// (n_frames, 3, 3) and frame_position (n_frames, 3), or stacks of them.
#[pyfunction]
pub fn kinematics(
    py: Python<'_>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
) -> Result<Kinematics, Failure> {
    let q = Stack::new("q", q, model.inner.nq())?;
    let count = Count::of(&q);
    let (n_bodies, n_frames) = (model.inner.n_bodies(), model.inner.frames().len());
    let (bodies, frames) = model.run(py, |m, work| {
        let (mut bodies, mut frames) = (Vec::new(), Vec::new());
        for k in count.each() {
            interrupt::check()?;
            work.kinematics(m, q.row(k))?;
            for i in 0..n_bodies {
                bodies.push(work.body_pose(BodyId(i))?);
            }
            for i in 0..n_frames {
                frames.push(work.frame_pose(m, FrameId(i))?);
            }
        }
        Ok((bodies, frames))
    })?;
    Ok(Kinematics {
        rotation: rotations(py, count, n_bodies, &bodies)?,
        position: positions(py, count, n_bodies, &bodies)?,
        frame_rotation: rotations(py, count, n_frames, &frames)?,
        frame_position: positions(py, count, n_frames, &frames)?,
    })
}

fn rotations(py: Python<'_>, count: Count, n: usize, poses: &[Pose]) -> PyResult<Py<PyArrayDyn<f64>>> {
    let entry = |k: usize| (k / 3, k % 3);
    let numbers = poses.iter().flat_map(|pose| (0..9).map(entry).map(|(i, j)| pose.rotation.at(i, j)));
    Ok(count.array(py, &[n, 3, 3], numbers.collect())?.unbind())
}

fn positions(py: Python<'_>, count: Count, n: usize, poses: &[Pose]) -> PyResult<Py<PyArrayDyn<f64>>> {
    let numbers = poses.iter().flat_map(|pose| pose.position.to_array());
    Ok(count.array(py, &[n, 3], numbers.collect())?.unbind())
}

/// Jacobian of a frame: velocity of its origin and angular velocity, world axes, per unit of v.
///
/// q (nq,), or a stack (n, nq); frame: name of a body, link or site. Returns (6, nv) or (n, 6, nv), rows [linear; angular].
#[pyfunction]
pub fn jacobian<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    #[pyo3(from_py_with = arg::frame)] frame: &str,
) -> Result<Array<'py>, Failure> {
    let (q, frame, nv) = (Stack::new("q", q, model.inner.nq())?, model.inner.frame(frame)?, model.inner.nv());
    let count = Count::of(&q);
    let rows = model.run(py, |m, work| {
        let mut rows = count.room(6 * nv);
        for k in count.each() {
            interrupt::check()?;
            work.jacobian(m, q.row(k), frame, &mut rows[k * 6 * nv..(k + 1) * 6 * nv])?;
        }
        Ok(rows)
    })?;
    Ok(count.array(py, &[6, nv], rows)?)
}

/// Velocity of a frame's origin and its angular velocity, world axes.
///
/// q (nq,), v (nv,), or stacks (n, nq), (n, nv); frame: name of a body, link or site. Returns (6,) or (n, 6), [linear; angular].
#[pyfunction]
pub fn velocity<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    v: Input,
    #[pyo3(from_py_with = arg::frame)] frame: &str,
) -> Result<Array<'py>, Failure> {
    let (q, v) = (Stack::new("q", q, model.inner.nq())?, Stack::new("v", v, model.inner.nv())?);
    let (count, frame) = (Count::of_both(&q, &v)?, model.inner.frame(frame)?);
    let velocities = model.run(py, |m, work| {
        let mut all = Vec::new();
        for k in count.each() {
            interrupt::check()?;
            all.extend(work.velocity(m, q.row(k), v.row(k), frame)?.to_array());
        }
        Ok(all)
    })?;
    Ok(count.array(py, &[6], velocities)?)
}

/// Center of mass of all moving bodies, world axes.
///
/// q (nq,), or a stack (n, nq). Returns (3,) or (n, 3) (m).
#[pyfunction]
pub fn center_of_mass<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
) -> Result<Array<'py>, Failure> {
    let q = Stack::new("q", q, model.inner.nq())?;
    let count = Count::of(&q);
    let centers = model.run(py, |m, work| {
        let mut all = Vec::new();
        for k in count.each() {
            interrupt::check()?;
            all.extend(work.center_of_mass(m, q.row(k))?.to_array());
        }
        Ok(all)
    })?;
    Ok(count.array(py, &[3], centers)?)
}

/// Linear momentum, and angular momentum about the center of mass, world axes.
///
/// q (nq,), v (nv,). Returns (6,), [linear; angular].
#[pyfunction]
pub fn momentum<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    v: Input,
) -> Result<Vector<'py>, Failure> {
    let (q, v) = (vector("q", q)?, vector("v", v)?);
    let momentum = model.run(py, |m, work| Ok(work.momentum(m, &q, &v)?))?;
    Ok(PyArray1::from_slice(py, &momentum.to_array()))
}
