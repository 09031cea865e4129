//! `Batch`: many environments at once.

mod begin;
mod contacts;
mod failure;
mod gradients;
mod jacobian;
mod reports;
mod rollout;
mod rows;
mod step;

pub use contacts::BatchContacts;
pub use jacobian::BatchJacobian;
pub use rollout::BatchRollout;

use crate::arguments::arg;
use crate::errors::Failure;
use crate::fork::Owner;
use crate::gradient::rollout::shaped;
use crate::model::Model;
use crate::model::options::count;
use numpy::PyArrayDyn;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
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
///     q, v = batch.step(q, v, ctrl=ctrl)         # hold=4: four engine steps under one control
///     gq, gv, gtau, gctrl = batch.vjp(v=v)       # of the sum of v**2 / 2, one row per environment
///     fallen = q[:, 2] < 0.1
///     q, v = batch.reset(fallen, q, v)
///
/// If environments fail, the others are done all the same: a BatchError has their numbers, their exceptions and the
/// result, in which rows of failed steps hold the state before. Two threads in one Batch get a RuntimeError. Threads do
/// not survive os.fork: a Batch with more than one raises ForkError in the child; make a Batch in each process.
#[pyclass(frozen, module = "slipstick")]
pub struct Batch {
    n: usize,
    /// Name of the model.
    name: String,
    /// Numbers of a configuration, a velocity and the controls.
    sizes: [usize; 3],
    /// Its threads do not survive os.fork.
    owner: Owner,
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
        let (n, owner) = (batch.len(), Owner::of(batch.n_threads()));
        let inner = Inner { batch, actuated: false };
        Ok(Batch { n, name, sizes, owner, inner: Mutex::new(Box::new(inner)) })
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

    /// Gives an environment (int) other parameters or options: a Model of the same structure. Its warm start stays.
    fn set_model(
        &self,
        #[pyo3(from_py_with = arg::environment)] environment: i64,
        #[pyo3(from_py_with = arg::model)] model: &Model,
    ) -> Result<(), Failure> {
        let environment = count("environment", environment)? as usize;
        self.enter()?.batch.set_model(environment, &model.inner).map_err(failure::of_all)
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
        self.owner.check("Batch")?;
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
}

/// A number of things, in words.
fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
