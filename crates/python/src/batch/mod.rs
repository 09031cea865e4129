//! `Batch`: many environments at once.

mod failure;
mod jacobian;
mod reports;
mod rollout;
mod rows;

pub use jacobian::BatchJacobian;
pub use rollout::BatchRollout;

use crate::arguments::{arg, pair, wrong_type};
use crate::arrays::{Input, wrong_shape};
use crate::errors::Failure;
use crate::gradient::object::Gradient;
use crate::gradient::rollout::shaped;
use crate::model::Model;
use crate::model::options::count;
use failure::finish;
use jacobian::Blocks;
use numpy::{IntoPyArray, PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use rows::{of_states, of_steps, zeros};
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
    /// Name of the model.
    name: String,
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
pub enum Models<'py> {
    One(Bound<'py, Model>),
    Several(Vec<Bound<'py, Model>>),
}

#[pymethods]
impl Batch {
    #[new]
    #[pyo3(signature = (model, n=None, *, threads=None))]
    fn new(
        #[pyo3(from_py_with = arg::model)] model: Models,
        #[pyo3(from_py_with = arg::n)] n: Option<i64>,
        #[pyo3(from_py_with = arg::threads)] threads: Option<i64>,
    ) -> Result<Batch, Failure> {
        let batch = match (model, n) {
            (Models::One(model), Some(n)) => slipstick::Batch::new(&model.get().inner, count("n", n)? as usize),
            (Models::One(_), None) => return Err(PyValueError::new_err("n: how many environments?").into()),
            (Models::Several(models), Some(n)) if models.len() as i64 != n => {
                let text = format!("n: expected {}, one for each model, got {n}", models.len());
                return Err(PyValueError::new_err(text).into());
            }
            (Models::Several(models), _) => {
                let models: Vec<slipstick::Model> = models.iter().map(|m| m.get().inner.clone()).collect();
                slipstick::Batch::with_models(&models)
            }
        };
        let threads = threads.map_or(Ok(0), |k| count("threads", k))? as usize;
        let batch = batch.map_err(failure::of_all)?.threads(threads);
        let (name, sizes) =
            batch.model(0).map_or_else(Default::default, |m| (m.name().into(), [m.nq(), m.nv(), m.nu()]));
        let (n, inner) = (batch.len(), Inner { batch, actuated: false });
        Ok(Batch { n, name, sizes, inner: Mutex::new(Box::new(inner)) })
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

    /// How the last step, or the worst step of the last rollout, was solved (n,) of str: "converged", "acceptable",
    /// "infeasible", "not_converged", or "failed" for an environment of a BatchError. Before the first step, and of failed
    /// environments, all other numbers are those of no steps; residual and margin of failed ones are NaN.
    #[getter]
    fn status<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>, Failure> {
        Ok(reports::words(py, &self.enter()?.batch)?)
    }

    /// Where the last step, or all steps of the last rollout, gave a state, and none was "not_converged" (n,) of bool.
    #[getter]
    fn converged<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<bool>>, Failure> {
        Ok(reports::column(py, &self.enter()?.batch, |r| r.is_converged()))
    }

    /// How many steps of the last rollout, or of the one last step, did not converge (n,).
    #[getter]
    fn not_converged<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<i64>>, Failure> {
        Ok(reports::column(py, &self.enter()?.batch, |r| r.not_converged as i64))
    }

    /// Scaled residual of the last step, or the largest of the last rollout (n,).
    #[getter]
    fn residual<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<f64>>, Failure> {
        Ok(reports::column(py, &self.enter()?.batch, |r| r.worst.residual))
    }

    /// Iterations of the last step, or of the step of the last rollout that took most (n,).
    #[getter]
    fn iterations<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<i64>>, Failure> {
        Ok(reports::column(py, &self.enter()?.batch, |r| r.worst.iterations.into()))
    }

    /// Contacts of the last step, that of a rollout included (n,).
    #[getter]
    fn contacts<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<i64>>, Failure> {
        Ok(reports::column(py, &self.enter()?.batch, |r| r.contacts as i64))
    }

    /// Constraints about to change their mode in the last step, or the most in a step of the last rollout (n,): of the
    /// impulses that were found, where Step.report has those at the center of all that give the same motion.
    #[getter]
    fn degenerate<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<i64>>, Failure> {
        Ok(reports::column(py, &self.enter()?.batch, |r| r.worst.degenerate as i64))
    }

    /// The smallest change of velocity that would change a mode in the last step or the last rollout (n,) [m/s], infinite
    /// without constraints; of the impulses that were found.
    #[getter]
    fn margin<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<f64>>, Failure> {
        Ok(reports::column(py, &self.enter()?.batch, |r| r.worst.margin))
    }

    /// Gives an environment (int) other parameters or options: a Model of the same structure. Its warm start stays.
    fn set_model(
        &self,
        #[pyo3(from_py_with = arg::environment)] environment: i64,
        #[pyo3(from_py_with = arg::model)] model: &Model,
    ) -> Result<(), Failure> {
        let environment = count("environment", environment)? as usize;
        self.enter()?.batch.set_model(environment, &model.inner).map_err(failure::of_all)
    }

    /// One step of every environment.
    ///
    /// q (n, nq), v (n, nv); tau (n, nv): generalized forces; ctrl (n, nu): controls, without which the actuators are
    /// off. A vector, (nq,) or the like, is that of all environments. out: two float64 arrays (n, nq), (n, nv) to write
    /// to, which may be q and v themselves.
    /// Returns (q, v) at the end of the step. Raises BatchError.
    #[pyo3(signature = (q, v, tau=None, ctrl=None, *, out=None))]
    fn step<'py>(
        &self,
        py: Python<'py>,
        q: Input,
        v: Input,
        tau: Option<Input>,
        ctrl: Option<Input>,
        out: Option<Input<'_, 'py>>,
    ) -> Result<(Array<'py>, Array<'py>), Failure> {
        let (n, [nq, nv, nu]) = (self.n, self.sizes);
        let (mut q, v) = (of_states("q", q, n, nq)?, of_states("v", v, n, nv)?);
        let tau = tau.map_or(Ok(Vec::new()), |x| of_states("tau", x, n, nv))?;
        let ctrl = ctrl.map(|x| of_states("ctrl", x, n, nu)).transpose()?;
        let out: Option<[Array; 2]> = out.map(|out| destinations(out, n, [nq, nv])).transpose()?;
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
            Some([q, v]) => (written(fresh.0, q)?, written(fresh.1, v)?),
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
            let nu = if inner.actuated { nu } else { 0 };
            let mut blocks = Blocks::new(&[self.n], None, nv, [nv, nv, nv, nu])?;
            Ok::<_, Failure>((inner.batch.jacobian(blocks.borrow()), blocks))
        })?;
        let result = Bound::new(py, blocks.into_python(py)?)?;
        finish(py, self.n, done, result)
    }

    /// The gradient of numbers, one per environment, with respect to what the last step was made from.
    ///
    /// q, v (n, nv), or (nv,) for all: gradients with respect to q and v at the end; what is left out is zero. Returns a
    /// Gradient: q, v, tau (n, nv), ctrl (n, nu), or None for a step made without ctrl. Raises StaleStep before the first
    /// step, and BatchError, in whose result rows of failed environments are zero.
    #[pyo3(signature = (*, q=None, v=None))]
    fn vjp<'py>(&self, py: Python<'py>, q: Option<Input>, v: Option<Input>) -> Result<Bound<'py, Gradient>, Failure> {
        let (n, nv) = (self.n, self.sizes[1]);
        let weights = |what, x: Option<Input>| x.map_or(Ok(Vec::new()), |x| of_states(what, x, n, nv));
        let (q, v) = (weights("q", q)?, weights("v", v)?);
        self.gradients(py, None, None, |batch, out| batch.vjp(StateGrad { q: &q, v: &v }, out))
    }

    /// Many steps of every environment from (q, v), each under its own input.
    ///
    /// q (n, nq), v (n, nv), or vectors for all environments; steps (int); ctrl (n, steps, nu), (n, nu) held over the steps
    /// or (nu,) for all, without which the actuators are off; tau likewise with nv. The number of dimensions decides: a
    /// matrix has a row for each environment, also where n equals steps; ctrl[None] is the same sequence for all. record:
    /// True, if derivatives are wanted; "recompute" (the same: keep what repeats each step) or "store" (keep its
    /// derivatives). Returns a BatchRollout: run.q, run.v, run.vjp(…), run.jacobian(). Raises BatchError, in whose result
    /// an environment stays in the state before the step that failed.
    #[pyo3(signature = (q, v, steps, *, ctrl=None, tau=None, record=None))]
    fn rollout<'py>(
        slf: &Bound<'py, Self>,
        q: Input,
        v: Input,
        #[pyo3(from_py_with = arg::steps)] steps: i64,
        ctrl: Option<Input>,
        tau: Option<Input>,
        record: Option<&Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, BatchRollout>, Failure> {
        let (py, this) = (slf.py(), slf.get());
        let (n, [nq, nv, nu], steps) = (this.n, this.sizes, count("steps", steps)? as usize);
        let memory = rollout::wanted(record)?;
        let (mut q, v) = (of_states("q", q, n, nq)?, of_states("v", v, n, nv)?);
        let (mut q_out, mut v_out) = (zeros(&[n, steps + 1, nq])?, zeros(&[n, steps + 1, nv])?);
        let ctrl = ctrl.map(|x| of_steps("ctrl", x, [n, steps], nu)).transpose()?;
        let tau = tau.map_or(Ok(Vec::new()), |x| of_steps("tau", x, [n, steps], nv))?;
        let with_ctrl = ctrl.is_some();
        let (done, record) = py.detach(|| {
            let mut inner = this.enter()?;
            let Inner { batch, actuated } = &mut **inner;
            normalize(batch, nq, &mut q);
            *actuated = with_ctrl;
            let input = slipstick::Input { tau: &tau, ctrl: ctrl.as_deref(), wrenches: &[] };
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
        mask: Option<Input>,
        q: Option<Input>,
        v: Option<Input>,
    ) -> Result<(Array<'py>, Array<'py>), Failure> {
        let (n, [nq, nv, _]) = (self.n, self.sizes);
        let mask = rows::mask(mask, n)?;
        let (mut q, mut v) = match (q, v) {
            (Some(q), Some(v)) => (of_states("q", q, n, nq)?, of_states("v", v, n, nv)?),
            (None, None) if mask.iter().all(|m| *m) => (vec![0.0; n * nq], vec![0.0; n * nv]),
            _ => return Err(PyValueError::new_err("q and v: needed unless all environments begin anew").into()),
        };
        self.enter()?.batch.reset(&mask, &mut q, &mut v).map_err(failure::of_all)?;
        Ok((shaped(py, &[n, nq], q)?, shaped(py, &[n, nv], v)?))
    }

    /// Drops the warm starts of some environments, mask (n,) of bool, or of all: for those that begin in a state
    /// of your own.
    #[pyo3(signature = (mask=None))]
    fn clear_warm_start(&self, mask: Option<Input>) -> Result<(), Failure> {
        let mask = rows::mask(mask, self.n)?;
        self.enter()?.batch.clear_warm_start(&mask).map_err(failure::of_all)
    }

    fn __len__(&self) -> usize {
        self.n
    }

    fn __repr__(&self) -> String {
        let rest = match self.enter() {
            Ok(inner) => format!("{}{}", counted(inner.batch.n_threads(), "thread"), reports::troubles(&inner.batch)),
            Err(_) => "at work in another thread".into(),
        };
        format!("<slipstick.Batch of '{}': {}, {rest}>", self.name, counted(self.n, "environment"))
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
        let (mut q, mut v, mut tau) = (zeros(&of_state)?, zeros(&of_state)?, zeros(&of_tau)?);
        let (done, ctrl) = py.detach(|| {
            let mut inner = self.enter()?;
            let mut ctrl = actuated.unwrap_or(inner.actuated).then(|| zeros(&of_ctrl)).transpose()?;
            let out = InputGrad { q: &mut q, v: &mut v, tau: &mut tau, ctrl: ctrl.as_deref_mut().unwrap_or(&mut []) };
            Ok::<_, Failure>((work(&mut inner.batch, out), ctrl))
        })?;
        let states = [(&of_state[..], q), (&of_state, v), (&of_tau, tau)];
        let gradient = Gradient::new(py, states, ctrl.map(|ctrl| (&of_ctrl[..], ctrl)), [])?;
        finish(py, n, done, Bound::new(py, gradient)?)
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

/// A number of things, in words.
fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
