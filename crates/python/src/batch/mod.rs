//! `Batch`: many environments at once.

mod failure;
mod jacobian;
mod rollout;

pub use jacobian::BatchJacobian;
pub use rollout::BatchRollout;

use crate::arrays::{Input, array, wrong_shape};
use crate::errors::Failure;
use crate::gradient::object::Gradient;
use crate::gradient::rollout::shaped;
use crate::model::Model;
use crate::model::options::count;
use failure::finish;
use jacobian::Blocks;
use numpy::{IntoPyArray, PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use slipstick::gradient::InputGrad;
use slipstick::rollout::StateGrad;
use std::sync::{Mutex, MutexGuard, TryLockError};

type Array<'py> = Bound<'py, PyArrayDyn<f64>>;

/// n environments of one robot on several threads: arrays with one row per environment in, arrays out.
///
/// model: a Model, with n (int) environments of it, or a list of models that differ in parameters and options only, one
/// per environment; threads (int): None stands for as many as there are cores. Every environment computes what a
/// Simulator would, bit for bit, for any n and threads, and keeps its own warm start.
///
///     batch = slipstick.Batch(slipstick.builtin("quadruped"), 64)
///     q, v = batch.reset()                       # (64, nq), (64, nv): where a simulation begins
///     q, v = batch.step(q, v, ctrl=ctrl)
///     gq, gv, gtau, gctrl = batch.vjp(v=v)       # of the sum of v**2 / 2, one row per environment
///     fallen = q[:, 2] < 0.1
///     q, v = batch.reset(fallen, q, v)
///
/// If environments fail, the others are done all the same: a BatchError has their numbers, their exceptions and the
/// result, in which rows of failed steps hold the state before. Two threads in one Batch get a RuntimeError. Threads do
/// not survive os.fork: make a Batch in each process.
#[pyclass(frozen, module = "slipstick")]
pub struct Batch {
    n: usize,
    /// Numbers of a configuration, a velocity and the controls.
    sizes: [usize; 3],
    /// Boxed: it holds vectors aligned to 32 bytes, and Python aligns what is in its objects to 16.
    inner: Mutex<Box<Inner>>,
}

struct Inner {
    batch: slipstick::Batch,
    /// Whether the last steps were made with controls.
    actuated: bool,
}

/// One model for all environments, or one for each.
#[derive(FromPyObject)]
pub enum Models<'py> {
    One(Bound<'py, Model>),
    Several(Vec<Bound<'py, Model>>),
}

#[pymethods]
impl Batch {
    #[new]
    #[pyo3(signature = (model, n=None, *, threads=None))]
    fn new(model: Models, n: Option<i64>, threads: Option<i64>) -> Result<Batch, Failure> {
        let models: Vec<slipstick::Model> = match (model, n) {
            (Models::One(model), Some(n)) => vec![model.get().inner.clone(); count("n", n)? as usize],
            (Models::Several(models), None) => models.iter().map(|m| m.get().inner.clone()).collect(),
            (Models::Several(models), Some(n)) if models.len() as i64 == n => {
                models.iter().map(|m| m.get().inner.clone()).collect()
            }
            (Models::One(_), None) => return Err(PyValueError::new_err("n: how many environments?").into()),
            (Models::Several(models), Some(n)) => {
                let text = format!("n: expected {}, one for each model, got {n}", models.len());
                return Err(PyValueError::new_err(text).into());
            }
        };
        let threads = threads.map_or(Ok(0), |k| count("threads", k))? as usize;
        let batch = slipstick::Batch::with_models(&models).map_err(failure::of_all)?.threads(threads);
        let sizes = [models[0].nq(), models[0].nv(), models[0].nu()];
        let inner = Inner { batch, actuated: false };
        Ok(Batch { n: models.len(), sizes, inner: Mutex::new(Box::new(inner)) })
    }

    /// Number of environments.
    #[getter]
    fn n(&self) -> usize {
        self.n
    }

    /// Number of threads, the one that calls included.
    #[getter]
    fn threads(&self) -> Result<usize, Failure> {
        Ok(self.enter()?.batch.n_threads())
    }

    /// Bytes that an environment takes, on average.
    #[getter]
    fn bytes_per_environment(&self) -> Result<usize, Failure> {
        Ok(self.enter()?.batch.bytes_per_environment())
    }

    /// How many of the steps that were differentiated last have a derivative that is a choice (n,): something is undecided
    /// between two modes, or more holds than can along some change of q.
    #[getter]
    fn choices<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<i64>>, Failure> {
        let choices: Vec<i64> = self.enter()?.batch.choices().map(|n| n as i64).collect();
        Ok(choices.into_pyarray(py))
    }

    /// Gives an environment (int) other parameters or options: a Model of the same structure. Its warm start stays.
    fn set_model(&self, environment: i64, model: &Model) -> Result<(), Failure> {
        let environment = count("environment", environment)? as usize;
        self.enter()?.batch.set_model(environment, &model.inner).map_err(failure::of_all)
    }

    /// One step of every environment.
    ///
    /// q (n, nq), v (n, nv); tau (n, nv): generalized forces; ctrl (n, nu): controls, without which the actuators are
    /// off; out: two float64 arrays (n, nq), (n, nv) to write to, which may be q and v themselves.
    /// Returns (q, v) at the end of the step. Raises BatchError.
    #[pyo3(signature = (q, v, tau=None, ctrl=None, *, out=None))]
    fn step<'py>(
        &self,
        py: Python<'py>,
        q: Input,
        v: Input,
        tau: Option<Input>,
        ctrl: Option<Input>,
        out: Option<(Array<'py>, Array<'py>)>,
    ) -> Result<(Array<'py>, Array<'py>), Failure> {
        let (n, [nq, nv, nu]) = (self.n, self.sizes);
        let (mut q, v) = (rows("q", q, &[n, nq])?, rows("v", v, &[n, nv])?);
        let tau = tau.map_or(Ok(Vec::new()), |x| rows("tau", x, &[n, nv]))?;
        let ctrl = ctrl.map(|x| rows("ctrl", x, &[n, nu])).transpose()?;
        let (mut q_next, mut v_next) = (vec![0.0; n * nq], vec![0.0; n * nv]);
        let done = py.detach(|| {
            let mut inner = self.enter()?;
            let Inner { batch, actuated, .. } = &mut **inner;
            normalize(batch, nq, &mut q);
            *actuated = ctrl.is_some();
            let input = slipstick::Input { tau: &tau, ctrl: ctrl.as_deref(), wrenches: &[] };
            Ok::<_, Failure>(batch.step(&q, &v, &input, &mut q_next, &mut v_next))
        })?;
        let fresh = (shaped(py, &[n, nq], q_next)?, shaped(py, &[n, nv], v_next)?);
        let result = match out {
            Some(out) => (written(fresh.0, out.0)?, written(fresh.1, out.1)?),
            None => fresh,
        };
        finish(py, n, done, result)
    }

    /// Derivatives of the last step of every environment (BatchJacobian). Raises StaleStep before the first step, and
    /// BatchError, in whose result rows of failed environments are zero.
    fn jacobian<'py>(&self, py: Python<'py>) -> Result<Bound<'py, BatchJacobian>, Failure> {
        let [_, nv, nu] = self.sizes;
        let (done, blocks) = py.detach(|| {
            let mut inner = self.enter()?;
            let mut blocks = Blocks::new(self.n, nv, if inner.actuated { nu } else { 0 });
            Ok::<_, Failure>((inner.batch.jacobian(blocks.borrow()), blocks))
        })?;
        let result = Bound::new(py, blocks.into_python(py)?)?;
        finish(py, self.n, done, result)
    }

    /// The gradient of numbers, one per environment, with respect to what the last step was made from.
    ///
    /// q (n, nv), v (n, nv): gradients with respect to q and v at the end; what is left out is zero. Returns a
    /// Gradient: q, v, tau (n, nv), ctrl (n, nu), or None for a step made without ctrl. Raises StaleStep before the first step, and BatchError, in whose result rows of failed environments are zero.
    #[pyo3(signature = (*, q=None, v=None))]
    fn vjp<'py>(&self, py: Python<'py>, q: Option<Input>, v: Option<Input>) -> Result<Bound<'py, Gradient>, Failure> {
        let (n, nv) = (self.n, self.sizes[1]);
        let weights = |what, x: Option<Input>| x.map_or(Ok(Vec::new()), |x| rows(what, x, &[n, nv]));
        let (q, v) = (weights("q", q)?, weights("v", v)?);
        self.gradients(py, None, None, |batch, out| batch.vjp(StateGrad { q: &q, v: &v }, out))
    }

    /// Many steps of every environment from (q, v), each under its own input.
    ///
    /// q (n, nq), v (n, nv), steps (int); ctrl (n, steps, nu), without which the actuators are off; tau (n, steps,
    /// nv); record: True, if gradients are wanted; "recompute" (the same: keep what repeats each step) or "store" (keep
    /// its derivatives). Returns a BatchRollout: run.q, run.v, run.vjp(…). Raises BatchError, in whose result an
    /// environment stays in the state before the step that failed.
    #[pyo3(signature = (q, v, steps, *, ctrl=None, tau=None, record=None))]
    fn rollout<'py>(
        slf: &Bound<'py, Self>,
        q: Input,
        v: Input,
        steps: i64,
        ctrl: Option<Input>,
        tau: Option<Input>,
        record: Option<&Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, BatchRollout>, Failure> {
        let (py, this) = (slf.py(), slf.get());
        let (n, [nq, nv, nu], steps) = (this.n, this.sizes, count("steps", steps)? as usize);
        let memory = rollout::wanted(record)?;
        let (mut q, v) = (rows("q", q, &[n, nq])?, rows("v", v, &[n, nv])?);
        let acting = |what, x: Option<Input>, width| x.map_or(Ok(Vec::new()), |x| rows(what, x, &[n, steps, width]));
        let (ctrl, tau) = (acting("ctrl", ctrl, nu)?, acting("tau", tau, nv)?);
        let (mut q_out, mut v_out) = (vec![0.0; n * (steps + 1) * nq], vec![0.0; n * (steps + 1) * nv]);
        let with_ctrl = !ctrl.is_empty();
        let (done, record) = py.detach(|| {
            let mut inner = this.enter()?;
            let Inner { batch, actuated } = &mut **inner;
            normalize(batch, nq, &mut q);
            *actuated = with_ctrl;
            let input = slipstick::Input { tau: &tau, ctrl: with_ctrl.then_some(&ctrl), wrenches: &[] };
            let done = batch.rollout(steps, memory, [&q, &v], &input, [&mut q_out, &mut v_out]);
            Ok::<_, Failure>((done, batch.take_rollout()))
        })?;
        let states = [shaped(py, &[n, steps + 1, nq], q_out)?, shaped(py, &[n, steps + 1, nv], v_out)?];
        let run = Bound::new(py, BatchRollout::new(slf, states, steps, with_ctrl, record))?;
        finish(py, n, done, run)
    }

    /// Begins anew: mask (n,) of bool, without it all; q (n, nq), v (n, nv): the present states, which are needed
    /// unless all begin anew. Returns (q, v), in which rows of the chosen environments hold the keyframe "home", or
    /// the neutral configuration at rest; their warm starts are forgotten.
    #[pyo3(signature = (mask=None, q=None, v=None))]
    fn reset<'py>(
        &self,
        py: Python<'py>,
        mask: Option<Vec<bool>>,
        q: Option<Input>,
        v: Option<Input>,
    ) -> Result<(Array<'py>, Array<'py>), Failure> {
        let (n, [nq, nv, _]) = (self.n, self.sizes);
        let mask = mask.unwrap_or_else(|| vec![true; n]);
        let (mut q, mut v) = match (q, v) {
            (Some(q), Some(v)) => (rows("q", q, &[n, nq])?, rows("v", v, &[n, nv])?),
            (None, None) if mask.iter().all(|m| *m) => (vec![0.0; n * nq], vec![0.0; n * nv]),
            _ => return Err(PyValueError::new_err("q and v: needed unless all environments begin anew").into()),
        };
        self.enter()?.batch.reset(&mask, &mut q, &mut v).map_err(failure::of_all)?;
        Ok((shaped(py, &[n, nq], q)?, shaped(py, &[n, nv], v)?))
    }

    /// Drops the warm starts of some environments, mask (n,) of bool, or of all: for those that begin in a state
    /// of your own.
    #[pyo3(signature = (mask=None))]
    fn clear_warm_start(&self, mask: Option<Vec<bool>>) -> Result<(), Failure> {
        let mask = mask.unwrap_or_else(|| vec![true; self.n]);
        self.enter()?.batch.clear_warm_start(&mask).map_err(failure::of_all)
    }

    fn __len__(&self) -> usize {
        self.n
    }

    fn __repr__(&self) -> Result<String, Failure> {
        let inner = self.enter()?;
        let name = inner.batch.model(0).map_or("", |m| m.name());
        Ok(format!("<slipstick.Batch of '{name}': {} environments, {} threads>", self.n, inner.batch.n_threads()))
    }
}

impl Batch {
    fn enter(&self) -> Result<MutexGuard<'_, Box<Inner>>, Failure> {
        match self.inner.try_lock() {
            Ok(inner) => Ok(inner),
            Err(TryLockError::WouldBlock) => {
                Err(PyRuntimeError::new_err("this Batch is at work in another thread; make one per thread").into())
            }
            Err(TryLockError::Poisoned(inner)) => {
                // work that broke off may have left half a warm start, and no step to differentiate
                self.inner.clear_poison();
                let mut inner = inner.into_inner();
                inner.batch.clear_warm_start(&vec![true; self.n]).map_err(failure::of_all)?;
                Ok(inner)
            }
        }
    }

    /// Gradients with respect to the states and what acted, in one step or in `steps`; with controls if `actuated`, or if the last
    /// step had some.
    fn gradients<'py>(
        &self,
        py: Python<'py>,
        steps: Option<usize>,
        actuated: Option<bool>,
        work: impl FnOnce(&mut slipstick::Batch, InputGrad) -> Result<(), slipstick::rollout::BatchError> + Send,
    ) -> Result<Bound<'py, Gradient>, Failure> {
        let (n, [_, nv, nu]) = (self.n, self.sizes);
        let shape = |width: usize| [n].into_iter().chain(steps).chain([width]).collect::<Vec<_>>();
        let (of_state, of_tau, of_ctrl) = (vec![n, nv], shape(nv), shape(nu));
        let zeros = |shape: &[usize]| vec![0.0; shape.iter().product()];
        let (mut q, mut v, mut tau) = (zeros(&of_state), zeros(&of_state), zeros(&of_tau));
        let (done, ctrl) = py.detach(|| {
            let mut inner = self.enter()?;
            let mut ctrl = actuated.unwrap_or(inner.actuated).then(|| zeros(&of_ctrl));
            let out = InputGrad { q: &mut q, v: &mut v, tau: &mut tau, ctrl: ctrl.as_deref_mut().unwrap_or(&mut []) };
            Ok::<_, Failure>((work(&mut inner.batch, out), ctrl))
        })?;
        let states = [(&of_state[..], q), (&of_state, v), (&of_tau, tau)];
        let gradient = Gradient::new(py, states, ctrl.map(|ctrl| (&of_ctrl[..], ctrl)), [])?;
        finish(py, n, done, Bound::new(py, gradient)?)
    }
}

/// Numbers of an array of a known shape.
fn rows(what: &'static str, x: Input, expected: &[usize]) -> Result<Vec<f64>, Failure> {
    let (numbers, shape) = array(x)?;
    match shape == expected {
        true => Ok(numbers),
        false => {
            let sizes = expected.iter().map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
            Err(wrong_shape(what, &format!("({sizes})"), &shape).into())
        }
    }
}

/// Quaternions become unit ones, as in Simulator.step; those that a step returned stay as they are, so that steps
/// repeat a rollout bit for bit. Rows that are no configurations are left for the step to refuse.
fn normalize(batch: &slipstick::Batch, nq: usize, q: &mut [f64]) {
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

/// The caller's array with the numbers of ours.
fn written<'py>(from: Array<'py>, to: Array<'py>) -> Result<Array<'py>, Failure> {
    if to.shape() != from.shape() {
        return Err(wrong_shape("out", &format!("{:?}", from.shape()), to.shape()).into());
    }
    from.copy_to(&to)?;
    Ok(to)
}
