//! Steps and rollouts of a `Batch`.

use super::failure::{self, finish};
use super::rows::{self, of_states, of_steps, zeros};
use super::{Array, Batch, BatchRollout, Inner, rollout, shaped};
use crate::arguments::{arg, pair, wrong_type};
use crate::arrays::{Input, wrong_shape};
use crate::errors::Failure;
use crate::interrupt::interruptible;
use crate::model::options::count;
use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use slipstick::rollout::BatchInput;

#[pymethods]
impl Batch {
    /// One step of every environment.
    ///
    /// q (n, nq), v (n, nv); tau (n, nv): generalized forces; ctrl (n, nu): controls, without which the actuators are
    /// off. A vector, (nq,) or the like, is that of all environments. wrenches (n, n_bodies, 6), or (n_bodies, 6) for all:
    /// [force; torque] in world axes at each body's center of mass. mocap (n, bodies, 7), or (bodies, 7) for all: poses of the mocap
    /// bodies (position, quaternion), default: those of the file. out: two float64 arrays (n, nq), (n, nv) to write
    /// to, which may be q and v themselves.
    ///
    /// hold (int): engine steps under this control; derivatives are those of all of them together, sensors and contacts those of
    /// the last one. warm: False for a cold start, with which the step is a function of its arguments: the same whatever was done
    /// before. Returns (q, v) at the end. Raises BatchError, in whose result an environment is in the last state it had.
    #[pyo3(signature = (q, v, tau=None, ctrl=None, *, hold=1, warm=true, wrenches=None, mocap=None, out=None))]
    fn step<'py>(
        &self,
        py: Python<'py>,
        q: Input,
        v: Input,
        tau: Option<Input>,
        ctrl: Option<Input>,
        #[pyo3(from_py_with = arg::hold)] hold: i64,
        #[pyo3(from_py_with = arg::warm)] warm: bool,
        wrenches: Option<Input>,
        mocap: Option<Input>,
        out: Option<Input<'_, 'py>>,
    ) -> Result<(Array<'py>, Array<'py>), Failure> {
        let (n, [nq, nv, nu]) = (self.n, self.sizes);
        let (mut q, v) = (of_states("q", q, n, nq)?, of_states("v", v, n, nv)?);
        let tau = tau.map_or(Ok(Vec::new()), |x| of_states("tau", x, n, nv))?;
        let ctrl = ctrl.map(|x| of_states("ctrl", x, n, nu)).transpose()?;
        let (hold, wrenches) = (count("hold", hold)? as usize, self.wrenches(wrenches)?);
        let poses = self.model_mocap()?;
        let mocap = mocap.map_or(Ok(Vec::new()), |x| rows::poses(x, n, poses))?;
        let out: Option<[Array; 2]> = out.map(|out| destinations(out, n, [nq, nv])).transpose()?;
        let (mut q_next, mut v_next) = (vec![0.0; n * nq], vec![0.0; n * nv]);
        let done = interruptible(py, || {
            let mut inner = self.enter()?;
            let Inner { batch, actuated, .. } = &mut **inner;
            normalize(batch, nq, &mut q);
            *actuated = ctrl.is_some();
            begin(batch, warm)?;
            let acting = slipstick::Input { tau: &tau, ctrl: ctrl.as_deref(), wrenches: &[], mocap: &mocap };
            let input = BatchInput { acting, wrenches: &wrenches };
            Ok::<_, Failure>(batch.step_held(hold, [&q, &v], input, [&mut q_next, &mut v_next]))
        })?;
        let fresh = (shaped(py, &[n, nq], q_next)?, shaped(py, &[n, nv], v_next)?);
        let result = match out {
            Some([q, v]) => (written(fresh.0, q)?, written(fresh.1, v)?),
            None => fresh,
        };
        finish(py, n, done, result)
    }

    /// Many steps of every environment from (q, v), each under its own input.
    ///
    /// q (n, nq), v (n, nv), or vectors for all environments; steps (int); ctrl (n, steps, nu), (n, nu) held over the steps
    /// or (nu,) for all, without which the actuators are off; tau likewise with nv. The number of dimensions decides: a
    /// matrix has a row for each environment, also where n equals steps; ctrl[None] is the same sequence for all. wrenches: in all
    /// steps, as of step; mocap: as ctrl with 7 numbers per body. warm: False for a cold start, so that the rollout is a function of its arguments. record:
    /// True, if derivatives are wanted; "recompute" (the same: keep what repeats each step) or "store" (keep its
    /// derivatives). Returns a BatchRollout: run.q, run.v, run.vjp(…), run.jacobian(). Raises BatchError, in whose result
    /// an environment stays in the state before the step that failed.
    #[pyo3(signature = (q, v, steps, *, ctrl=None, tau=None, wrenches=None, mocap=None, warm=true, record=None))]
    fn rollout<'py>(
        slf: &Bound<'py, Self>,
        q: Input,
        v: Input,
        #[pyo3(from_py_with = arg::steps)] steps: i64,
        ctrl: Option<Input>,
        tau: Option<Input>,
        wrenches: Option<Input>,
        mocap: Option<Input>,
        #[pyo3(from_py_with = arg::warm)] warm: bool,
        record: Option<&Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, BatchRollout>, Failure> {
        let (py, this) = (slf.py(), slf.get());
        let (n, [nq, nv, nu], steps) = (this.n, this.sizes, count("steps", steps)? as usize);
        let memory = rollout::wanted(record)?;
        let (mut q, v) = (of_states("q", q, n, nq)?, of_states("v", v, n, nv)?);
        let (mut q_out, mut v_out) = (zeros(&[n, steps + 1, nq])?, zeros(&[n, steps + 1, nv])?);
        let ctrl = ctrl.map(|x| of_steps("ctrl", x, [n, steps], nu)).transpose()?;
        let tau = tau.map_or(Ok(Vec::new()), |x| of_steps("tau", x, [n, steps], nv))?;
        let poses = 7 * this.model_mocap()?;
        let mocap = mocap.map_or(Ok(Vec::new()), |x| of_steps("mocap", x, [n, steps], poses))?;
        let (with_ctrl, wrenches) = (ctrl.is_some(), this.wrenches(wrenches)?);
        let (done, record) = interruptible(py, || {
            let mut inner = this.enter()?;
            let Inner { batch, actuated } = &mut **inner;
            normalize(batch, nq, &mut q);
            *actuated = with_ctrl;
            begin(batch, warm)?;
            let acting = slipstick::Input { tau: &tau, ctrl: ctrl.as_deref(), wrenches: &[], mocap: &mocap };
            let input = BatchInput { acting, wrenches: &wrenches };
            let done = batch.rollout(steps, memory, [&q, &v], input, [&mut q_out, &mut v_out]);
            Ok::<_, Failure>((done, batch.take_rollout()))
        })?;
        let states = [shaped(py, &[n, steps + 1, nq], q_out)?, shaped(py, &[n, steps + 1, nv], v_out)?];
        let run = Bound::new(py, BatchRollout::new(slf, states, steps, with_ctrl, record))?;
        finish(py, n, done, run)
    }
}

impl Batch {
    /// Number of mocap bodies.
    fn model_mocap(&self) -> Result<usize, Failure> {
        Ok(self.enter()?.batch.model(0).map_or(0, |model| model.n_mocap()))
    }

    /// Wrenches on every body of every environment, or none.
    fn wrenches(&self, x: Option<Input>) -> Result<Vec<f64>, Failure> {
        let bodies = self.enter()?.batch.model(0).map_or(0, |model| model.n_bodies());
        x.map_or(Ok(Vec::new()), |x| rows::wrenches(x, self.n, bodies))
    }
}

/// Before a step: without a warm start nothing of the steps before is left.
fn begin(batch: &mut slipstick::Batch, warm: bool) -> Result<(), Failure> {
    let all = if warm { Vec::new() } else { vec![true; batch.len()] };
    if warm { Ok(()) } else { batch.clear_warm_start(&all).map_err(failure::of_all) }
}

/// Quaternions become unit ones, as in Simulator.step; those that a step returned stay as they are, so that steps
/// repeat a rollout bit for bit. Rows that are no configurations are left for the step to refuse.
pub fn normalize(batch: &slipstick::Batch, nq: usize, q: &mut [f64]) {
    let Some(model) = batch.model(0) else { return };
    let mut unit = vec![0.0; nq];
    for row in q.chunks_exact_mut(nq.max(1)) {
        unit.copy_from_slice(row);
        let far = |(unit, given): (&f64, &f64)| (unit - given).abs() > 4.0 * f64::EPSILON;
        if model.normalize_q(&mut unit).is_ok() && unit.iter().zip(&*row).any(far) {
            row.copy_from_slice(&unit);
        }
    }
}

/// Arrays of the caller for q and v, checked before anything is done.
fn destinations<'py>(out: Input<'_, 'py>, n: usize, widths: [usize; 2]) -> Result<[Array<'py>; 2], Failure> {
    let [q, v] = pair("out", "two arrays (q, v)", out)?;
    let destination = |x: Bound<'py, PyAny>, width: usize| {
        let array = x.cast::<PyArrayDyn<f64>>().map_err(|_| wrong_destination(&x))?;
        if !array.getattr("flags")?.getattr("writeable")?.is_truthy()? {
            return Err(PyValueError::new_err("out: expected arrays to write to, got one that is read-only").into());
        }
        match array.shape() == [n, width] {
            true => Ok::<_, Failure>(array.clone()),
            false => Err(wrong_shape("out", &format!("({n}, {width})"), array.shape()).into()),
        }
    };
    Ok([destination(q, widths[0])?, destination(v, widths[1])?])
}

fn wrong_destination(x: &Bound<'_, PyAny>) -> PyErr {
    match x.getattr("dtype") {
        Ok(dtype) => PyTypeError::new_err(format!("out: expected two float64 arrays, got one of {dtype}")),
        Err(_) => wrong_type("out", "two float64 arrays", x),
    }
}

/// The caller's array with the numbers of ours.
fn written<'py>(from: Array<'py>, to: Array<'py>) -> Result<Array<'py>, Failure> {
    from.copy_to(&to)?;
    Ok(to)
}
