//! Derivatives of the dynamics. Those with respect to q are in the tangent space: nv columns.

use crate::arguments::arg;
use crate::arrays::{Input, Matrix, Vector, to_matrix, vector, wrenches, zeros};
use crate::errors::Failure;
use crate::model::Model;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use slipstick::InputError;
use slipstick::linalg::MatRef;

type Three<T> = (T, T, T);

fn copied(matrix: MatRef) -> Result<Vec<f64>, InputError> {
    let mut out = zeros("derivatives of dynamics", matrix.rows(), matrix.cols())?;
    matrix.copy_to(&mut out);
    Ok(out)
}

/// Derivatives of rnea; wrenches are constant in world axes.
///
/// q (nq,), v (nv,), a (nv,), wrenches (n_bodies, 6). Returns (dtau_dq, dtau_dv, M), (nv, nv) each.
#[pyfunction]
#[pyo3(signature = (model, q, v, a, wrenches=None))]
pub fn rnea_derivatives<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    v: Input,
    a: Input,
    wrenches: Option<Input>,
) -> Result<Three<Matrix<'py>>, Failure> {
    let (q, v, a, nv) = (vector("q", q)?, vector("v", v)?, vector("a", a)?, model.inner.nv());
    let wrenches = self::wrenches(wrenches, model.inner.n_bodies())?;
    let (dq, dv, inertia) = model.run(py, |m, work| {
        let derivatives = work.rnea_derivatives(m, &q, &v, &a, &wrenches)?;
        let (dq, dv) = (copied(derivatives.dtau_dq)?, copied(derivatives.dtau_dv)?);
        let mut inertia = zeros("joint-space inertia", nv, nv)?;
        work.crba(m, &q, &mut inertia)?;
        Ok((dq, dv, inertia))
    })?;
    let array = |x| to_matrix(py, nv, nv, x);
    Ok((array(dq)?, array(dv)?, array(inertia)?))
}

/// Derivatives of aba; wrenches are constant in world axes.
///
/// q (nq,), v (nv,), tau (nv,), wrenches (n_bodies, 6). Returns (da_dq, da_dv, da_dtau), (nv, nv) each.
/// Raises DynamicsError where the inertia is singular.
#[pyfunction]
#[pyo3(signature = (model, q, v, tau, wrenches=None))]
pub fn aba_derivatives<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    v: Input,
    tau: Input,
    wrenches: Option<Input>,
) -> Result<Three<Matrix<'py>>, Failure> {
    let (q, v, tau, nv) = (vector("q", q)?, vector("v", v)?, vector("tau", tau)?, model.inner.nv());
    let wrenches = self::wrenches(wrenches, model.inner.n_bodies())?;
    let (dq, dv, dtau) = model.run(py, |m, work| {
        let derivatives = work.aba_derivatives(m, &q, &v, &tau, &wrenches)?;
        Ok((copied(derivatives.da_dq())?, copied(derivatives.da_dv())?, copied(derivatives.da_dtau())?))
    })?;
    let array = |x| to_matrix(py, nv, nv, x);
    Ok((array(dq)?, array(dv)?, array(dtau)?))
}

/// Products of a row vector w with the derivatives of rnea, without forming those.
///
/// q (nq,), v (nv,), a (nv,), w (nv,), wrenches (n_bodies, 6). Returns (w dtau/dq, w dtau/dv, w dtau/da), (nv,) each.
#[pyfunction]
#[pyo3(signature = (model, q, v, a, w, wrenches=None))]
pub fn rnea_vjp<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    v: Input,
    a: Input,
    w: Input,
    wrenches: Option<Input>,
) -> Result<Three<Vector<'py>>, Failure> {
    let (q, v, a, w) = (vector("q", q)?, vector("v", v)?, vector("a", a)?, vector("w", w)?);
    let wrenches = self::wrenches(wrenches, model.inner.n_bodies())?;
    let [gq, gv, ga] = model.run(py, |m, work| {
        let mut out = [(); 3].map(|()| vec![0.0; m.nv()]);
        let [gq, gv, ga] = &mut out;
        work.rnea_vjp(m, &q, &v, &a, &wrenches, &w, [gq, gv, ga])?;
        Ok(out)
    })?;
    Ok((gq.into_pyarray(py), gv.into_pyarray(py), ga.into_pyarray(py)))
}

/// Y with tau = Y pi + armature * a, pi the inertial parameters (Model.body_inertia) body by body.
///
/// q (nq,), v (nv,), a (nv,). Returns (nv, 10 (n_bodies - 1)).
#[pyfunction]
pub fn regressor<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    v: Input,
    a: Input,
) -> Result<Matrix<'py>, Failure> {
    let (q, v, a) = (vector("q", q)?, vector("v", v)?, vector("a", a)?);
    let (nv, n) = (model.inner.nv(), 10 * (model.inner.n_bodies() - 1));
    let rows = model.run(py, |m, work| {
        let mut rows = zeros("regressor", nv, n)?;
        work.regressor(m, &q, &v, &a, &mut rows)?;
        Ok(rows)
    })?;
    Ok(to_matrix(py, nv, n, rows)?)
}

/// Derivative of aba with respect to the inertial parameters (Model.body_inertia) body by body.
///
/// q (nq,), v (nv,), tau (nv,). Returns (nv, 10 (n_bodies - 1)).
/// Raises DynamicsError where the inertia is singular.
#[pyfunction]
pub fn aba_inertial_derivatives<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    v: Input,
    tau: Input,
) -> Result<Matrix<'py>, Failure> {
    let (q, v, tau) = (vector("q", q)?, vector("v", v)?, vector("tau", tau)?);
    let (nv, n) = (model.inner.nv(), 10 * (model.inner.n_bodies() - 1));
    let rows = model.run(py, |m, work| {
        let mut rows = zeros("derivatives of dynamics", nv, n)?;
        work.aba_inertial_derivatives(m, &q, &v, &tau, &mut rows)?;
        Ok(rows)
    })?;
    Ok(to_matrix(py, nv, n, rows)?)
}

/// Derivatives of velocity with respect to q and v.
///
/// q (nq,), v (nv,); frame: name of a body, link or site. Returns (dV_dq, dV_dv), (6, nv) each.
#[pyfunction]
pub fn velocity_derivatives<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    v: Input,
    #[pyo3(from_py_with = arg::frame)] frame: &str,
) -> Result<(Matrix<'py>, Matrix<'py>), Failure> {
    let (q, v, frame, nv) = (vector("q", q)?, vector("v", v)?, model.inner.frame(frame)?, model.inner.nv());
    let (dq, dv) = model.run(py, |m, work| {
        let (mut dq, mut dv) = (vec![0.0; 6 * nv], vec![0.0; 6 * nv]);
        work.velocity_derivatives(m, &q, &v, frame, &mut dq, &mut dv)?;
        Ok((dq, dv))
    })?;
    Ok((to_matrix(py, 6, nv, dq)?, to_matrix(py, 6, nv, dv)?))
}

/// Derivatives of actuate.
///
/// q (nq,), v (nv,), ctrl (nu,). Returns (dtau_dq (nv, nv), dtau_dv (nv, nv), dtau_dctrl (nv, nu)). Of a model without activations;
/// Step.jacobian has the derivatives of others.
#[pyfunction]
pub fn actuate_derivatives<'py>(
    py: Python<'py>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    v: Input,
    ctrl: Input,
) -> Result<Three<Matrix<'py>>, Failure> {
    let (q, v, ctrl) = (vector("q", q)?, vector("v", v)?, vector("ctrl", ctrl)?);
    model.inner.without_activations("actuate_derivatives")?;
    let (nv, nu) = (model.inner.nv(), model.inner.nu());
    let [dq, dv, dctrl] = model.run(py, |m, work| {
        let room = |n| zeros("derivatives of actuators", nv, n);
        let mut out = [room(nv)?, room(nv)?, room(nu)?];
        let [dq, dv, dctrl] = &mut out;
        work.actuate_derivatives(m, &q, &v, &ctrl, [dq, dv, dctrl])?;
        Ok(out)
    })?;
    Ok((to_matrix(py, nv, nv, dq)?, to_matrix(py, nv, nv, dv)?, to_matrix(py, nv, nu, dctrl)?))
}
