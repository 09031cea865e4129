//! `Simulator`: a model that moves in time.

use crate::arrays::{Input, optional_vector, vector};
use crate::errors::Failure;
use crate::model::Model;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use slipstick::{Data, InputError, State};
use std::sync::{Mutex, TryLockError};

/// Steps of a model in time. Bodies move freely: contact, joint limits and dry friction are not part of a step yet.
///
/// model: Model; dt: time step (s), the model's own if left out.
/// Holds memory for one step: two threads in one Simulator get a RuntimeError.
#[pyclass(frozen, module = "slipstick")]
pub struct Simulator {
    model: slipstick::Model,
    data: Mutex<Data>,
}

/// A finished step: q (nq,) and v (nv,) at its end.
#[pyclass(frozen, get_all, module = "slipstick")]
pub struct Step {
    q: Py<PyArray1<f64>>,
    v: Py<PyArray1<f64>>,
}

#[pymethods]
impl Simulator {
    #[new]
    #[pyo3(signature = (model, dt=None))]
    fn new(model: &Model, dt: Option<f64>) -> Result<Simulator, Failure> {
        let mut options = model.inner.options().clone();
        options.dt = dt.unwrap_or(options.dt);
        let model = model.inner.with_options(options)?;
        Ok(Simulator { data: Mutex::new(Data::new(&model)), model })
    }

    /// Time step (s).
    #[getter]
    fn dt(&self) -> f64 {
        self.model.options().dt
    }

    /// One step of semi-implicit Euler under generalised forces and controls, both zero if left out.
    ///
    /// q (nq,), v (nv,), tau (nv,), ctrl (nu,). Joint springs and dampers act as well.
    /// Returns a Step with q and v. Raises DivergenceError if they are not finite.
    #[pyo3(signature = (q, v, tau=None, ctrl=None))]
    fn step(
        &self,
        py: Python<'_>,
        q: Input,
        v: Input,
        tau: Option<Input>,
        ctrl: Option<Input>,
    ) -> Result<Step, Failure> {
        let x = State::new(&self.model, &vector("q", q)?, &vector("v", v)?)?;
        let (tau, ctrl) = (optional_vector("tau", tau)?, optional_vector("ctrl", ctrl)?);
        let next = py.detach(|| self.advance(&x, tau, ctrl))?;
        Ok(Step { q: next.q.into_pyarray(py).unbind(), v: next.v.into_pyarray(py).unbind() })
    }

    fn __repr__(&self) -> String {
        format!("<slipstick.Simulator of '{}': dt={}>", self.model.name(), self.dt())
    }
}

impl Simulator {
    fn advance(&self, x: &State, tau: Option<Vec<f64>>, ctrl: Option<Vec<f64>>) -> Result<State, Failure> {
        let mut data = match self.data.try_lock() {
            Ok(data) => data,
            Err(TryLockError::Poisoned(data)) => data.into_inner(), // carries no meaning between steps
            Err(TryLockError::WouldBlock) => return Err(Failure::Busy),
        };
        let (expected, tau) = (self.model.nv(), tau.unwrap_or_else(|| vec![0.0; self.model.nv()]));
        if tau.len() != expected {
            // checked here: to the step an empty tau means none
            return Err(InputError::Length { what: "tau", expected, got: tau.len() }.into());
        }
        let (input, mut next) = (slipstick::Input::tau(&tau), x.clone());
        match ctrl {
            Some(ctrl) => slipstick::step_ctrl(&self.model, &mut data, x, &ctrl, &input, &mut next)?,
            None => slipstick::step(&self.model, &mut data, x, &input, &mut next)?,
        };
        Ok(next)
    }
}
