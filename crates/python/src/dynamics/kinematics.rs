//! Poses, Jacobians and velocities of frames, and sums over all bodies.

use crate::arguments::arg;
use crate::arrays::{Input, Matrix, Vector, to_matrix, vector};
use crate::errors::Failure;
use crate::model::Model;
use numpy::ndarray::Array3;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use slipstick::model::{BodyId, FrameId};
use slipstick::spatial::Pose;

/// Poses in the world: rotation (n_bodies, 3, 3), position (n_bodies, 3), frame_rotation (n_frames, 3, 3),
/// frame_position (n_frames, 3). Rotations take the axes of the body or frame to those of the world.
#[pyclass(frozen, get_all, module = "slipstick.types")]
pub struct Kinematics {
    rotation: Py<PyArray3<f64>>,
    position: Py<PyArray2<f64>>,
    frame_rotation: Py<PyArray3<f64>>,
    frame_position: Py<PyArray2<f64>>,
}

#[pymethods]
impl Kinematics {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (bodies, frames) = (self.position.bind(py).len()?, self.frame_position.bind(py).len()?);
        Ok(format!("<slipstick.types.Kinematics of {bodies} bodies and {frames} frames>"))
    }
}

/// Poses of all bodies and frames.
///
/// q (nq,). Returns an object with rotation (n_bodies, 3, 3), position (n_bodies, 3), frame_rotation (n_frames, 3, 3)
/// and frame_position (n_frames, 3).
#[pyfunction]
pub fn kinematics(
    py: Python<'_>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
) -> Result<Kinematics, Failure> {
    let q = vector("q", q)?;
    let (bodies, frames) = model.run(py, |m, work| {
        work.kinematics(m, &q)?;
        let bodies = (0..m.n_bodies()).map(|i| work.body_pose(BodyId(i)));
        let frames = (0..m.frames().len()).map(|i| work.frame_pose(m, FrameId(i)));
        Ok((bodies.collect::<Result<Vec<_>, _>>()?, frames.collect::<Result<Vec<_>, _>>()?))
    })?;
    Ok(Kinematics {
        rotation: rotations(py, &bodies)?,
        position: positions(py, &bodies)?,
        frame_rotation: rotations(py, &frames)?,
        frame_position: positions(py, &frames)?,
    })
}

fn rotations(py: Python<'_>, poses: &[Pose]) -> PyResult<Py<PyArray3<f64>>> {
    let entry = |k: usize| (k / 3, k % 3);
    let numbers = poses.iter().flat_map(|pose| (0..9).map(entry).map(|(i, j)| pose.rotation.at(i, j)));
    let array = Array3::from_shape_vec((poses.len(), 3, 3), numbers.collect());
    Ok(array.map_err(|e| PyValueError::new_err(e.to_string()))?.into_pyarray(py).unbind())
}

fn positions(py: Python<'_>, poses: &[Pose]) -> PyResult<Py<PyArray2<f64>>> {
    let numbers = poses.iter().flat_map(|pose| pose.position.to_array());
    Ok(to_matrix(py, poses.len(), 3, numbers.collect())?.unbind())
}

/// Jacobian of a frame: velocity of its origin and angular velocity, world axes, per unit of v.
///
/// q (nq,); frame: name of a body, link or site. Returns (6, nv), rows [linear; angular].
#[pyfunction]
pub fn jacobian<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    #[pyo3(from_py_with = arg::frame)] frame: &str,
) -> Result<Matrix<'py>, Failure> {
    let (q, frame, nv) = (vector("q", q)?, model.inner.frame(frame)?, model.inner.nv());
    let rows = model.run(py, |m, work| {
        let mut rows = vec![0.0; 6 * nv];
        work.jacobian(m, &q, frame, &mut rows)?;
        Ok(rows)
    })?;
    Ok(to_matrix(py, 6, nv, rows)?)
}

/// Velocity of a frame's origin and its angular velocity, world axes.
///
/// q (nq,), v (nv,); frame: name of a body, link or site. Returns (6,), [linear; angular].
#[pyfunction]
pub fn velocity<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    v: Input,
    #[pyo3(from_py_with = arg::frame)] frame: &str,
) -> Result<Vector<'py>, Failure> {
    let (q, v, frame) = (vector("q", q)?, vector("v", v)?, model.inner.frame(frame)?);
    let velocity = model.run(py, |m, work| Ok(work.velocity(m, &q, &v, frame)?))?;
    Ok(PyArray1::from_slice(py, &velocity.to_array()))
}

/// Center of mass of all moving bodies, world axes.
///
/// q (nq,). Returns (3,) (m).
#[pyfunction]
pub fn center_of_mass<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
) -> Result<Vector<'py>, Failure> {
    let q = vector("q", q)?;
    let center = model.run(py, |m, work| Ok(work.center_of_mass(m, &q)?))?;
    Ok(PyArray1::from_slice(py, &center.to_array()))
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
