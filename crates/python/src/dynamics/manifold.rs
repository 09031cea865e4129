//! Configurations as a manifold: step along a tangent, the tangent between two, and their derivatives; of one or of many.

use super::stacks::{Count, Stack};
use crate::arguments::arg;
use crate::arrays::Input;
use crate::errors::Failure;
use crate::interrupt::interruptible;
use crate::model::Model;
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use slipstick::linalg::MatMut;
use slipstick::{InputError, interrupt};

type Array<'py> = Bound<'py, PyArrayDyn<f64>>;

/// The configuration reached from q along dv: lengths and angles add, rotations turn.
///
/// q (nq,), dv (nv,), or stacks of them: (n, nq), (n, nv). Returns (nq,) or (n, nq), quaternions of norm one.
#[pyfunction]
pub fn integrate<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    dv: Input,
) -> Result<Array<'py>, Failure> {
    let m = &model.inner;
    let (q, dv) = (Stack::new("q", q, m.nq())?, Stack::new("dv", dv, m.nv())?);
    let count = Count::of_both(&q, &dv)?;
    vectors(py, count, m.nq(), |k, out| m.integrate(q.row(k), dv.row(k), out))
}

/// The tangent at q0 that leads to q1, rotations by the shorter way: integrate(q0, difference(q0, q1)) is q1.
///
/// q0 (nq,), q1 (nq,), or stacks of them, (n, nq). Returns (nv,) or (n, nv).
#[pyfunction]
pub fn difference<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q0: Input,
    q1: Input,
) -> Result<Array<'py>, Failure> {
    let m = &model.inner;
    let (q0, q1) = (Stack::new("q0", q0, m.nq())?, Stack::new("q1", q1, m.nq())?);
    let count = Count::of_both(&q0, &q1)?;
    vectors(py, count, m.nv(), |k, out| m.difference(checked(m, "q0", q0.row(k))?, checked(m, "q1", q1.row(k))?, out))
}

/// Derivatives of integrate with respect to q and dv, in tangents.
///
/// q (nq,), dv (nv,), or stacks of them. Returns (d_dq, d_ddv), (nv, nv) or (n, nv, nv) each.
#[pyfunction]
pub fn integrate_derivatives<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    dv: Input,
) -> Result<(Array<'py>, Array<'py>), Failure> {
    let m = &model.inner;
    let (q, dv) = (Stack::new("q", q, m.nq())?, Stack::new("dv", dv, m.nv())?);
    let count = Count::of_both(&q, &dv)?;
    matrices(py, count, m.nv(), |k, a, b| m.integrate_derivatives(q.row(k), dv.row(k), a, b))
}

/// Derivatives of difference with respect to q0 and q1, in tangents.
///
/// q0 (nq,), q1 (nq,), or stacks of them. Returns (d_dq0, d_dq1), (nv, nv) or (n, nv, nv) each.
#[pyfunction]
pub fn difference_derivatives<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q0: Input,
    q1: Input,
) -> Result<(Array<'py>, Array<'py>), Failure> {
    let m = &model.inner;
    let (q0, q1) = (Stack::new("q0", q0, m.nq())?, Stack::new("q1", q1, m.nq())?);
    let count = Count::of_both(&q0, &q1)?;
    matrices(py, count, m.nv(), |k, a, b| {
        m.difference_derivatives(checked(m, "q0", q0.row(k))?, checked(m, "q1", q1.row(k))?, a, b)
    })
}

/// Vectors that `write` fills.
fn vectors<'py>(
    py: Python<'py>,
    count: Count,
    width: usize,
    write: impl Fn(usize, &mut [f64]) -> Result<(), InputError> + Send + Sync,
) -> Result<Array<'py>, Failure> {
    let mut out = count.room(width);
    interruptible(py, || {
        count.each().try_for_each(|k| {
            interrupt::check()?;
            Ok::<_, Failure>(write(k, &mut out[k * width..(k + 1) * width])?)
        })
    })?;
    Ok(count.array(py, &[width], out)?)
}

/// Pairs of nv × nv matrices that `write` fills.
fn matrices<'py>(
    py: Python<'py>,
    count: Count,
    nv: usize,
    write: impl Fn(usize, MatMut, MatMut) -> Result<(), InputError> + Send + Sync,
) -> Result<(Array<'py>, Array<'py>), Failure> {
    let (mut a, mut b) = (count.room(nv * nv), count.room(nv * nv));
    interruptible(py, || {
        count.each().try_for_each(|k| {
            let place = k * nv * nv..(k + 1) * nv * nv;
            interrupt::check()?;
            Ok::<_, Failure>(write(k, MatMut::new(&mut a[place.clone()], nv, nv), MatMut::new(&mut b[place], nv, nv))?)
        })
    })?;
    Ok((count.array(py, &[nv, nv], a)?, count.array(py, &[nv, nv], b)?))
}

/// One of several configurations: the model's own messages would call each of them q.
fn checked<'a>(model: &slipstick::Model, what: &'static str, q: &'a [f64]) -> Result<&'a [f64], InputError> {
    model.check_q(q).map_err(|e| match e {
        InputError::Length { expected, got, .. } => InputError::Length { what, expected, got },
        InputError::NotFinite { index, .. } => InputError::NotFinite { what, index },
        other => other,
    })?;
    Ok(q)
}
