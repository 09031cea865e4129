//! `BatchRollout`: states of a rollout of a batch, and its gradients.

use super::failure::{failed, finish};
use super::gradients::in_mode;
use super::jacobian::{BatchJacobian, Blocks};
use super::{Array, Batch, counted};
use crate::arguments::{arg, wrong_type};
use crate::arrays::{Input, array, wrong_shape};
use crate::errors::{Failure, StaleStep};
use crate::gradient::object::Gradient;
use crate::gradient::step::Groups;
use crate::interrupt::interruptible;
use crate::model::gradient_options::Choice;
use crate::model::options::unknown;
use numpy::PyArrayDyn;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyTuple};
use slipstick::rollout::{Memory, StateGrad};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A rollout of a Batch: what Batch.rollout returns.
///
/// Attributes: q (n, steps + 1, nq), v (n, steps + 1, nv): all states, the first ones included. `q, v = run` works too.
/// With record=True it keeps what vjp and jacobian need, whatever the Batch does meanwhile; several may be alive at once.
#[pyclass(frozen, module = "slipstick.types")]
pub struct BatchRollout {
    batch: Py<Batch>,
    #[pyo3(get)]
    q: Py<PyArrayDyn<f64>>,
    #[pyo3(get)]
    v: Py<PyArrayDyn<f64>>,
    /// Number of steps (int).
    #[pyo3(get)]
    steps: usize,
    actuated: bool,
    recorded: bool,
    /// Taken out while it is at work. Boxed: it holds vectors aligned to 32 bytes, and Python aligns what is in its objects to 16.
    record: Mutex<Option<Box<slipstick::rollout::BatchRollout>>>,
}

impl BatchRollout {
    pub fn new(
        batch: &Bound<'_, Batch>,
        [q, v]: [Array<'_>; 2],
        steps: usize,
        actuated: bool,
        record: Option<slipstick::rollout::BatchRollout>,
    ) -> BatchRollout {
        let (recorded, record) = (record.is_some(), Mutex::new(record.map(Box::new)));
        let (q, v) = (q.unbind(), v.unbind());
        BatchRollout { batch: batch.clone().unbind(), q, v, steps, actuated, recorded, record }
    }

    fn record(&self) -> MutexGuard<'_, Option<Box<slipstick::rollout::BatchRollout>>> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works with the record.
    fn with_record<T>(
        &self,
        work: impl FnOnce(&mut slipstick::rollout::BatchRollout) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if !self.recorded {
            return Err(StaleStep::new_err("this rollout was not recorded: Batch.rollout(…, record=True)").into());
        }
        let Some(mut record) = self.record().take() else {
            return Err(PyRuntimeError::new_err("this BatchRollout is at work in another thread").into());
        };
        let done = work(&mut record);
        *self.record() = Some(record);
        done
    }

    /// A gradient with respect to states: of all of them, or of the last ones.
    fn of_states(&self, batch: &Batch, what: &'static str, x: Option<Input>) -> Result<Vec<f64>, Failure> {
        let Some(x) = x else { return Ok(Vec::new()) };
        let (n, nv, states) = (batch.n, batch.sizes[1], self.steps + 1);
        let (numbers, shape) = array(what, x)?;
        if shape == [n, nv] || shape == [n, states, nv] {
            return Ok(numbers);
        }
        Err(wrong_shape(what, &format!("({n}, {nv}) or ({n}, {states}, {nv})"), &shape).into())
    }
}

#[pymethods]
impl BatchRollout {
    /// The gradient of losses, one per environment, with respect to what the rollout was made from.
    ///
    /// q, v: gradients with respect to the states, (n, steps + 1, nv) or (n, nv) for the last ones only; q as tangents;
    /// what is left out is zero. parameters: groups of Model.parameters to differentiate by, a name, several names or "all"; gradient
    /// ("exact" or options.ExactForwardCentral): how derivatives are taken, in place of the models' option. Both need a
    /// rollout with record=True. Returns a Gradient: q, v (n, nv) of the first states, tau (n, steps, nv) and ctrl (n,
    /// steps, nu) of what acted, ctrl None without controls, parameters, a dict of arrays (n, size). Raises StaleStep if the
    /// rollout was not recorded, and BatchError, in whose result rows of failed environments are zero.
    #[pyo3(signature = (*, q=None, v=None, parameters=None, gradient=None))]
    fn vjp<'py>(
        &self,
        py: Python<'py>,
        q: Option<Input>,
        v: Option<Input>,
        #[pyo3(from_py_with = arg::parameters)] parameters: Option<Groups>,
        gradient: Option<Choice>,
    ) -> Result<Bound<'py, Gradient>, Failure> {
        let groups = parameters.map_or(Ok(Vec::new()), Groups::all)?;
        let batch = self.batch.get();
        let (q, v) = (self.of_states(batch, "q", q)?, self.of_states(batch, "v", v)?);
        self.with_record(|record| {
            batch.gradients(py, Some(self.steps), Some(self.actuated), &groups, |batch, out| {
                in_mode(batch, gradient, |batch| {
                    batch.vjp_of(record, StateGrad { q: &q, v: &v, ..StateGrad::default() }, out)
                })
            })
        })
    }

    /// Derivatives of the last states with respect to the first ones and to what acted in every step (BatchJacobian), with
    /// axes of n environments and, of tau and ctrl, of steps: what RolloutGradient.sensitivities has for one.
    ///
    /// initial, tau, ctrl: whether they are wanted; without controls there are none for ctrl. every: of all states, the
    /// first ones included, along a second axis. Takes steps² nv numbers for tau, and steps³ with every. Raises StaleStep if
    /// the rollout was not recorded, and BatchError, in whose result rows of failed environments are zero. gradient: as of vjp.
    #[pyo3(signature = (*, initial=true, tau=true, ctrl=true, every=false, gradient=None))]
    fn jacobian<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = arg::initial)] initial: bool,
        #[pyo3(from_py_with = arg::tau)] tau: bool,
        #[pyo3(from_py_with = arg::ctrl)] ctrl: bool,
        #[pyo3(from_py_with = arg::every)] every: bool,
        gradient: Option<Choice>,
    ) -> Result<Bound<'py, BatchJacobian>, Failure> {
        let batch = self.batch.get();
        let (n, [_, nv, nu]) = (batch.n, batch.sizes);
        let states = if every { vec![n, self.steps + 1] } else { vec![n] };
        let initial = if initial { nv } else { 0 };
        let columns = [initial, initial, if tau { nv } else { 0 }, if ctrl && self.actuated { nu } else { 0 }];
        let (done, blocks) = self.with_record(|record| {
            let mut blocks = Blocks::new(&states, Some(self.steps), nv, columns)?;
            let done = interruptible(py, || {
                let go = |batch: &mut slipstick::Batch| batch.jacobian_of(record, every, blocks.borrow());
                in_mode(&mut batch.enter()?.batch, gradient, go)
            })?;
            blocks.clear(&failed(&done), n);
            Ok((done, blocks))
        })?;
        finish(py, n, done, Bound::new(py, blocks.into_python(py)?)?)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyTuple::new(py, [self.q.bind(py), self.v.bind(py)])?.try_iter()
    }

    fn __repr__(&self) -> String {
        let (batch, recorded) = (self.batch.get(), if self.recorded { "recorded" } else { "not recorded" });
        let (environments, steps) = (counted(batch.n, "environment"), counted(self.steps, "step"));
        format!("<slipstick.types.BatchRollout of '{}': {environments}, {steps}, {recorded}>", batch.name)
    }
}

/// What is kept of every step: nothing, or what `record` asks for.
pub fn wanted(record: Option<&Bound<'_, PyAny>>) -> Result<Option<Memory>, Failure> {
    match record {
        None => Ok(None),
        Some(x) => match (x.extract::<bool>(), x.extract::<String>()) {
            (Ok(record), _) => Ok(record.then_some(Memory::Recompute)),
            (_, Ok(word)) => named(&word).map(Some),
            _ => Err(wrong_type("record", "a bool, 'recompute' or 'store'", x).into()),
        },
    }
}

fn named(word: &str) -> Result<Memory, Failure> {
    match word {
        "recompute" => Ok(Memory::Recompute),
        "store" => Ok(Memory::Store),
        other => Err(unknown("record", ["True", "False", "recompute", "store"], other)),
    }
}
