//! `BatchRollout`: states of a rollout of a batch, and its gradients.

use super::{Array, Batch};
use crate::arrays::{Input, array, wrong_shape};
use crate::errors::{Failure, StaleStep};
use crate::gradient::object::Gradient;
use crate::model::options::unknown;
use numpy::PyArrayDyn;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyIterator, PyTuple};
use slipstick::rollout::{Memory, StateGrad};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A rollout of a Batch: what Batch.rollout returns.
///
/// Attributes: q (n, steps + 1, nq), v (n, steps + 1, nv): all states, the first ones included. `q, v = run` works too.
/// With record=True it keeps what vjp needs, whatever the Batch does meanwhile; several may be alive at once.
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

    /// A gradient with respect to states: of all of them, or of the last ones.
    fn of_states(&self, batch: &Batch, what: &'static str, x: Option<Input>) -> Result<Vec<f64>, Failure> {
        let Some(x) = x else { return Ok(Vec::new()) };
        let (n, nv, states) = (batch.n, batch.sizes[1], self.steps + 1);
        let (numbers, shape) = array(x)?;
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
    /// what is left out is zero. Returns a Gradient: q, v (n, nv) of the first states, tau (n, steps, nv) and ctrl (n,
    /// steps, nu) of what acted, ctrl None without controls. Raises StaleStep if the rollout was not recorded,
    /// and BatchError.
    #[pyo3(signature = (*, q=None, v=None))]
    fn vjp<'py>(&self, py: Python<'py>, q: Option<Input>, v: Option<Input>) -> Result<Bound<'py, Gradient>, Failure> {
        let batch = self.batch.get();
        let (q, v) = (self.of_states(batch, "q", q)?, self.of_states(batch, "v", v)?);
        if !self.recorded {
            return Err(StaleStep::new_err("this rollout was not recorded: Batch.rollout(…, record=True)").into());
        }
        let Some(mut record) = self.record().take() else {
            return Err(PyRuntimeError::new_err("this BatchRollout is at work in another thread").into());
        };
        let gradients = batch.gradients(py, Some(self.steps), Some(self.actuated), |batch, out| {
            batch.vjp_of(&mut record, StateGrad { q: &q, v: &v }, out)
        });
        *self.record() = Some(record);
        gradients
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyTuple::new(py, [self.q.bind(py), self.v.bind(py)])?.try_iter()
    }

    fn __repr__(&self) -> String {
        let (n, recorded) = (self.batch.get().n, if self.recorded { "recorded" } else { "not recorded" });
        format!("<slipstick.types.BatchRollout: {n} environments, {} steps, {recorded}>", self.steps)
    }
}

/// What is kept of every step: nothing, or what `record` asks for.
pub fn wanted(record: Option<&Bound<'_, PyAny>>) -> Result<Option<Memory>, Failure> {
    match record {
        None => Ok(None),
        Some(x) if x.is_instance_of::<PyBool>() => Ok(x.is_truthy()?.then_some(Memory::Recompute)),
        Some(x) => match &*x.extract::<String>()? {
            "recompute" => Ok(Some(Memory::Recompute)),
            "store" => Ok(Some(Memory::Store)),
            other => Err(unknown("record", ["True", "False", "recompute", "store"], other)),
        },
    }
}
