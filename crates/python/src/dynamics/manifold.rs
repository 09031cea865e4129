//! Configurations as a manifold: step along a tangent, the tangent between two, and their derivatives.

use crate::arguments::arg;
use crate::arrays::{Input, Matrix, Vector, to_matrix, vector};
use crate::errors::Failure;
use crate::model::Model;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use slipstick::InputError;
use slipstick::linalg::MatMut;

/// The configuration reached from q along dv: lengths and angles add, rotations turn.
///
/// q (nq,), dv (nv,). Returns (nq,), quaternions of norm one.
#[pyfunction]
pub fn integrate<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    dv: Input,
) -> Result<Vector<'py>, Failure> {
    let mut out = vec![0.0; model.inner.nq()];
    model.inner.integrate(&vector("q", q)?, &vector("dv", dv)?, &mut out)?;
    Ok(out.into_pyarray(py))
}

/// The tangent at q0 that leads to q1, rotations by the shorter way: integrate(q0, difference(q0, q1)) is q1.
///
/// q0 (nq,), q1 (nq,). Returns (nv,).
#[pyfunction]
pub fn difference<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q0: Input,
    q1: Input,
) -> Result<Vector<'py>, Failure> {
    let (q0, q1) = (configuration(model, "q0", q0)?, configuration(model, "q1", q1)?);
    let mut out = vec![0.0; model.inner.nv()];
    model.inner.difference(&q0, &q1, &mut out)?;
    Ok(out.into_pyarray(py))
}

/// Derivatives of integrate with respect to q and dv, in tangents.
///
/// q (nq,), dv (nv,). Returns (d_dq, d_ddv), (nv, nv) each.
#[pyfunction]
pub fn integrate_derivatives<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    dv: Input,
) -> Result<(Matrix<'py>, Matrix<'py>), Failure> {
    let (q, dv) = (vector("q", q)?, vector("dv", dv)?);
    two(py, model.inner.nv(), |a, b| model.inner.integrate_derivatives(&q, &dv, a, b))
}

/// Derivatives of difference with respect to q0 and q1, in tangents.
///
/// q0 (nq,), q1 (nq,). Returns (d_dq0, d_dq1), (nv, nv) each.
#[pyfunction]
pub fn difference_derivatives<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q0: Input,
    q1: Input,
) -> Result<(Matrix<'py>, Matrix<'py>), Failure> {
    let (q0, q1) = (configuration(model, "q0", q0)?, configuration(model, "q1", q1)?);
    two(py, model.inner.nv(), |a, b| model.inner.difference_derivatives(&q0, &q1, a, b))
}

/// Two nv × nv matrices that `write` fills.
fn two<'py>(
    py: Python<'py>,
    nv: usize,
    write: impl FnOnce(MatMut, MatMut) -> Result<(), InputError>,
) -> Result<(Matrix<'py>, Matrix<'py>), Failure> {
    let (mut a, mut b) = (vec![0.0; nv * nv], vec![0.0; nv * nv]);
    write(MatMut::new(&mut a, nv, nv), MatMut::new(&mut b, nv, nv))?;
    Ok((to_matrix(py, nv, nv, a)?, to_matrix(py, nv, nv, b)?))
}

/// One of several configurations: the model's own messages would call each of them q.
fn configuration(model: &Model, what: &'static str, q: Input) -> Result<Vec<f64>, Failure> {
    let q = vector(what, q)?;
    model.inner.check_q(&q).map_err(|e| match e {
        InputError::Length { expected, got, .. } => InputError::Length { what, expected, got },
        InputError::NotFinite { index, .. } => InputError::NotFinite { what, index },
        other => other,
    })?;
    Ok(q)
}
