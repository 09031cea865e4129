//! Inverse and forward dynamics, the mass matrix and joint forces.

pub mod derivatives;
pub mod kinematics;
pub mod manifold;
mod stacks;
pub mod workspaces;

use crate::arguments::arg;
use crate::arrays::{Input, Matrix, Vector, columns, to_matrix, vector, wrenches, zeros};
use crate::errors::Failure;
use crate::model::Model;
use numpy::IntoPyArray;
use pyo3::prelude::*;

/// Inverse dynamics: tau = M a + b - wrenches.
///
/// q (nq,), v (nv,), a (nv,); wrenches (n_bodies, 6): [force; torque] in world axes at each body's center of mass.
/// Returns tau (nv,): plain generalized forces, without damping, springs or dry friction.
#[pyfunction]
#[pyo3(signature = (model, q, v, a, wrenches=None))]
pub fn rnea<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    v: Input,
    a: Input,
    wrenches: Option<Input>,
) -> Result<Vector<'py>, Failure> {
    let (q, v, a) = (vector("q", q)?, vector("v", v)?, vector("a", a)?);
    let wrenches = self::wrenches(wrenches, model.inner.n_bodies())?;
    let tau = model.run(py, |m, work| {
        let mut tau = vec![0.0; m.nv()];
        work.rnea(m, &q, &v, &a, &wrenches, &mut tau)?;
        Ok(tau)
    })?;
    Ok(tau.into_pyarray(py))
}

/// Forces that hold the accelerations at zero: rnea at a = 0.
///
/// q (nq,), v (nv,). Returns (nv,).
#[pyfunction]
pub fn bias<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    v: Input,
) -> Result<Vector<'py>, Failure> {
    let (q, v) = (vector("q", q)?, vector("v", v)?);
    let tau = model.run(py, |m, work| {
        let mut tau = vec![0.0; m.nv()];
        work.bias(m, &q, &v, &mut tau)?;
        Ok(tau)
    })?;
    Ok(tau.into_pyarray(py))
}

/// Forward dynamics: the accelerations under tau, in a time linear in the number of bodies.
///
/// q (nq,), v (nv,), tau (nv,); wrenches (n_bodies, 6): [force; torque] in world axes at each body's center of mass.
/// Returns a (nv,). Raises DynamicsError where the inertia is singular.
#[pyfunction]
#[pyo3(signature = (model, q, v, tau, wrenches=None))]
pub fn aba<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    v: Input,
    tau: Input,
    wrenches: Option<Input>,
) -> Result<Vector<'py>, Failure> {
    let (q, v, tau) = (vector("q", q)?, vector("v", v)?, vector("tau", tau)?);
    let wrenches = self::wrenches(wrenches, model.inner.n_bodies())?;
    let a = model.run(py, |m, work| {
        let mut a = vec![0.0; m.nv()];
        work.aba(m, &q, &v, &tau, &wrenches, &mut a)?;
        Ok(a)
    })?;
    Ok(a.into_pyarray(py))
}

/// Joint-space inertia, armature included.
///
/// q (nq,). Returns M (nv, nv), both triangles filled.
#[pyfunction]
pub fn crba<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
) -> Result<Matrix<'py>, Failure> {
    let (q, nv) = (vector("q", q)?, model.inner.nv());
    let inertia = model.run(py, |m, work| {
        let mut inertia = zeros("joint-space inertia", nv, nv)?;
        work.crba(m, &q, &mut inertia)?;
        Ok(inertia)
    })?;
    Ok(to_matrix(py, nv, nv, inertia)?)
}

/// Inverse of the joint-space inertia.
///
/// q (nq,). Returns (nv, nv). Raises DynamicsError where the inertia is singular.
#[pyfunction]
pub fn mass_inverse<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
) -> Result<Matrix<'py>, Failure> {
    let (q, nv) = (vector("q", q)?, model.inner.nv());
    let inverse = model.run(py, |m, work| {
        let mut inverse = zeros("inverse of the joint-space inertia", nv, nv)?;
        work.mass_inverse(m, &q, &mut inverse)?;
        Ok(inverse)
    })?;
    Ok(to_matrix(py, nv, nv, inverse)?)
}

/// Solves M x = B with the sparse factor of M.
///
/// q (nq,), B (nv,) or (nv, k). Returns x, shaped as B. Raises DynamicsError where the inertia is singular.
#[pyfunction]
#[pyo3(name = "solve", signature = (model, q, B))]
#[allow(non_snake_case)]
pub fn solve<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    B: Input,
) -> Result<Bound<'py, PyAny>, Failure> {
    let (q, nv) = (vector("q", q)?, model.inner.nv());
    let (mut B, shape) = columns("B", B, nv)?;
    let k = shape.get(1).copied().unwrap_or(1);
    let solved = model.run(py, |m, work| {
        work.factor(m, &q)?;
        let mut column = vec![0.0; nv];
        for j in 0..k {
            for i in 0..nv {
                column[i] = B[i * k + j];
            }
            work.solve(m, &mut column)?;
            for i in 0..nv {
                B[i * k + j] = column[i];
            }
        }
        Ok(B)
    })?;
    if shape.len() == 1 {
        return Ok(solved.into_pyarray(py).into_any());
    }
    Ok(to_matrix(py, nv, k, solved)?.into_any())
}

/// Forces of joint springs and dampers.
///
/// q (nq,), v (nv,). Returns (nv,).
#[pyfunction]
pub fn passive<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    v: Input,
) -> Result<Vector<'py>, Failure> {
    let (q, v) = (vector("q", q)?, vector("v", v)?);
    let tau = model.run(py, |m, work| {
        let mut tau = vec![0.0; m.nv()];
        work.passive(m, &q, &v, &mut tau)?;
        Ok(tau)
    })?;
    Ok(tau.into_pyarray(py))
}

/// Forces of the actuators under controls.
///
/// q (nq,), v (nv,), ctrl (nu,), act (na,): activations, needed where the model has them. Returns tau (nv,).
#[pyfunction]
#[pyo3(signature = (model, q, v, ctrl, act=None))]
pub fn actuate<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    v: Input,
    ctrl: Input,
    act: Option<Input>,
) -> Result<Vector<'py>, Failure> {
    let (q, v, ctrl) = (vector("q", q)?, vector("v", v)?, vector("ctrl", ctrl)?);
    let act = act.map_or(Ok(Vec::new()), |act| vector("act", act))?;
    let tau = model.run(py, |m, work| {
        let (mut tau, mut drives) = (vec![0.0; m.nv()], vec![0.0; m.nu()]);
        work.drives(m, &act, &ctrl, &mut drives)?;
        work.actuate(m, &q, &v, &drives, &mut tau)?;
        Ok(tau)
    })?;
    Ok(tau.into_pyarray(py))
}

/// Energies (J): kinetic (drives included), and potential of gravity and joint springs.
///
/// q (nq,), v (nv,). Returns (kinetic, potential).
#[pyfunction]
pub fn energy(
    py: Python<'_>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    v: Input,
) -> Result<(f64, f64), Failure> {
    let (q, v) = (vector("q", q)?, vector("v", v)?);
    model.run(py, |m, work| Ok(work.energy(m, &q, &v)?))
}
