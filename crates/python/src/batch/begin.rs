//! Where the environments of a `Batch` begin: states and warm starts.

use super::rows::{self, of_states};
use super::step::normalize;
use super::{Array, Batch, failure, shaped};
use crate::arguments::arg;
use crate::arrays::Input;
use crate::errors::Failure;
use crate::simulate::warm_start::WarmStart;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

#[pymethods]
impl Batch {
    /// Begins anew: mask (n,) of bool, without it all; q (n, nq), v (n, nv): the present states, which are needed
    /// unless all begin anew. Returns (q, v), in which rows of the chosen environments hold q0 (n, nq) and v0 (n, nv), or vectors for
    /// all; what is left out is that of the keyframe "home" or, without one, of the neutral configuration at rest. Their warm
    /// starts are forgotten. Rows of q0 and v0 that are not chosen do not matter.
    #[pyo3(signature = (mask=None, q=None, v=None, *, q0=None, v0=None))]
    fn reset<'py>(
        &self,
        py: Python<'py>,
        mask: Option<Input>,
        q: Option<Input>,
        v: Option<Input>,
        q0: Option<Input>,
        v0: Option<Input>,
    ) -> Result<(Array<'py>, Array<'py>), Failure> {
        let (n, [nq, nv, _]) = (self.n, self.sizes);
        let mask = rows::mask(mask, n)?;
        let (mut q, mut v) = match (q, v) {
            (Some(q), Some(v)) => (of_states("q", q, n, nq)?, of_states("v", v, n, nv)?),
            (None, None) if mask.iter().all(|m| *m) => (vec![0.0; n * nq], vec![0.0; n * nv]),
            _ => return Err(PyValueError::new_err("q and v: needed unless all environments begin anew").into()),
        };
        let first = |what, x: Option<Input>, width| x.map_or(Ok(Vec::new()), |x| of_states(what, x, n, width));
        let (mut q0, v0) = (first("q0", q0, nq)?, first("v0", v0, nv)?);
        let mut inner = self.enter()?;
        normalize(&inner.batch, nq, &mut q0);
        inner.batch.reset_to(&mask, [&q0, &v0], &mut q, &mut v).map_err(failure::of_all)?;
        Ok((shaped(py, &[n, nq], q)?, shaped(py, &[n, nv], v)?))
    }

    /// Activations of every environment (n, na), which steps carry on; reset takes those of the keyframe.
    #[getter]
    fn act<'py>(&self, py: Python<'py>) -> Result<Array<'py>, Failure> {
        let act = self.enter()?.batch.act();
        Ok(shaped(py, &[self.n, act.len() / self.n.max(1)], act)?)
    }

    /// Sets the activations: (n, na), or (na,) for all.
    fn set_act(&self, act: Input) -> Result<(), Failure> {
        let mut inner = self.enter()?;
        let na = inner.batch.model(0).map_or(0, slipstick::Model::na);
        let act = of_states("act", act, self.n, na)?;
        inner.batch.set_act(&act).map_err(failure::of_all)
    }

    /// Drops the warm starts of some environments, mask (n,) of bool, or of all: for those that begin in a state
    /// of your own.
    #[pyo3(signature = (mask=None))]
    fn clear_warm_start(&self, mask: Option<Input>) -> Result<(), Failure> {
        let mask = rows::mask(mask, self.n)?;
        self.enter()?.batch.clear_warm_start(&mask).map_err(failure::of_all)
    }

    /// What every environment carries from one step to the next beside its state (list of WarmStart). Saved with q and v, it repeats
    /// the steps that follow bit for bit.
    fn warm_start(&self) -> Result<Vec<WarmStart>, Failure> {
        Ok(self.enter()?.batch.warm_starts().into_iter().map(WarmStart).collect())
    }

    /// Puts warm starts back: a list with a WarmStart for each environment, as warm_start() makes it. The last step can no longer be
    /// differentiated.
    fn set_warm_start(
        &self,
        #[pyo3(from_py_with = arg::warm_starts)] warm_starts: Vec<PyRef<'_, WarmStart>>,
    ) -> Result<(), Failure> {
        let all: Vec<slipstick::WarmStart> = warm_starts.iter().map(|warm| warm.0.clone()).collect();
        self.enter()?.batch.set_warm_starts(&all).map_err(failure::of_all)
    }
}
