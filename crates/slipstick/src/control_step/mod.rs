//! Control steps of many robots, as a function of arrays: some engine steps under one control, from a cold start.
//!
//! Nothing is kept from call to call but memory, so that a call may be repeated, dropped or reordered, as compilers of
//! arrays do. Derivatives are in the numbers of q, quaternions included: a framework that knows arrays only can use
//! them. What fails has a status, a finite state and gradients of zero.   (lie-10, step-4)
//! Environments that an [`interrupt`](crate::interrupt) leaves undone count as failed.

#![allow(non_snake_case)]

mod ambient;
mod report;
mod worker;

pub use ambient::Ambient;
pub(crate) use report::impulse_of_weight;
pub use report::{Outcome, REPORT};

use crate::batch::check_hold;
use crate::interrupt;
use crate::rows::{Rows, RowsMut, Work};
use crate::workers::WorkerPool;
use slipstick_core::{InputError, Model};
use std::sync::{Mutex, MutexGuard, PoisonError};
use worker::{Row, Worker};

/// A control step of a robot: `hold` engine steps under one control.
///
/// ```
/// use slipstick::rollout::{ControlStep, Inputs};
/// let model = slipstick::builtin("hopper")?;
/// let (n, nq, nv, nu) = (64, model.nq(), model.nv(), model.nu());
/// let control_step = ControlStep::new(&model, 4)?;
/// let (q, v, ctrl) = (model.neutral().repeat(n), vec![0.0; n * nv], vec![0.1; n * nu]);
/// let inputs = Inputs { q: &q, v: &v, ctrl: &ctrl, ..Inputs::default() };
/// let (mut q_next, mut v_next, mut outcomes) = (vec![0.0; n * nq], vec![0.0; n * nv], vec![0; n]);
/// control_step.step(&inputs, [&mut q_next, &mut v_next], &mut [], &mut outcomes)?;
/// assert!(outcomes.iter().all(|outcome| *outcome == 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ControlStep {
    model: Model,
    ambient: Ambient,
    hold: usize,
    pool: Mutex<WorkerPool>,
    /// One for each thread: they take turns.
    workers: Mutex<Vec<Worker>>,
}

/// What n control steps are made from: rows one after the other, n of them by the length of v. A single row of parameters or
/// smoothing is for all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Inputs<'a> {
    /// Configurations (n × nq); quaternions of any length.
    pub q: &'a [f64],
    /// Velocities (n × nv).
    pub v: &'a [f64],
    /// Controls (n × nu); empty: actuators off.
    pub ctrl: &'a [f64],
    /// Generalized forces (n × nv), or nothing.
    pub tau: &'a [f64],
    /// Parameters ([`Model::parameters`]; one row or n), or nothing: those of the model.
    pub parameters: &'a [f64],
    /// Smoothing of derivatives as a speed (m/s; one or n): zero or nothing for exact derivatives, else those of the central
    /// path at `kappa_of_speed`. The step is exact in both cases.
    pub smoothing: &'a [f64],
}

/// A gradient, or a change, of [`Inputs`]: rows as those have them, with parameters in n rows. Parts that are not wanted are empty.
#[derive(Debug, Default)]
pub struct InputsGrad<'a> {
    /// In numbers of q (n × nq).
    pub q: &'a mut [f64],
    /// (n × nv).
    pub v: &'a mut [f64],
    /// (n × nu).
    pub ctrl: &'a mut [f64],
    /// (n × nv).
    pub tau: &'a mut [f64],
    /// (n × number of parameters).
    pub parameters: &'a mut [f64],
}

impl ControlStep {
    /// `hold` engine steps of a model.
    pub fn new(model: &Model, hold: usize) -> Result<ControlStep, InputError> {
        check_hold(hold)?;
        model.without_activations("control step")?;
        let (model, ambient) = (model.clone(), Ambient::new(model));
        Ok(ControlStep { model, ambient, hold, pool: Mutex::new(WorkerPool::new(0)), workers: Mutex::default() })
    }

    /// On how many threads it works, the one that calls included; zero: as many as there are cores. Results do not depend on it.
    pub fn threads(self, threads: usize) -> ControlStep {
        ControlStep { pool: Mutex::new(WorkerPool::new(threads)), ..self }
    }

    /// Number of threads, the one that calls included.
    pub fn n_threads(&self) -> usize {
        lock(&self.pool).threads()
    }

    /// The robot.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Engine steps in a control step.
    pub fn hold(&self) -> usize {
        self.hold
    }

    /// The control steps: states after them (n × nq, n × nv), their reports (n × [`REPORT`]; empty: not wanted) and their
    /// [`Outcome`]s, as numbers.
    pub fn step(
        &self,
        inputs: &Inputs,
        [q, v]: [&mut [f64]; 2],
        reports: &mut [f64],
        outcomes: &mut [i32],
    ) -> Result<(), InputError> {
        self.step_and_jacobian(inputs, [q, v], reports, [&mut [], &mut []], outcomes)
    }

    /// [`ControlStep::step`] with its derivatives in numbers of q: with respect to (q, v), nq + nv rows of as many
    /// columns, and with respect to ctrl, as many rows of nu columns; n of each. Those of a step that failed or did not converge are zero.
    pub fn step_and_jacobian(
        &self,
        inputs: &Inputs,
        [q, v]: [&mut [f64]; 2],
        reports: &mut [f64],
        [A, B]: [&mut [f64]; 2],
        outcomes: &mut [i32],
    ) -> Result<(), InputError> {
        let (n, given) = self.given(inputs)?;
        let (nq, nv, nu) = (self.model.nq(), self.model.nv(), self.width_of_ctrl(inputs));
        let rows = nq + nv;
        let out = [
            RowsMut::new("q_next", q, n, nq)?,
            RowsMut::new("v_next", v, n, nv)?,
            RowsMut::optional("reports", reports, n, REPORT.len())?,
            RowsMut::optional("A", A, n, rows * rows)?,
            RowsMut::optional("B", B, n, rows * nu)?,
        ];
        self.run(n, given, out, outcomes, |worker, row, out| worker.step(&self.ambient, self.hold, &row, out))
    }

    /// Changes of the states after the control steps along changes of what they are made from, in numbers of q. Those of a
    /// step that has no derivatives are zero.
    pub fn jvp(
        &self,
        inputs: &Inputs,
        changes: &Inputs,
        [q, v]: [&mut [f64]; 2],
        outcomes: &mut [i32],
    ) -> Result<(), InputError> {
        let (n, [a, b, c, d, e, f]) = self.given(inputs)?;
        let (nq, nv, nu, np) = self.sizes();
        let given = [
            [a, b, c, d, e, f],
            [
                Rows::new("change of q", changes.q, n, nq)?,
                Rows::new("change of v", changes.v, n, nv)?,
                Rows::optional("change of ctrl", changes.ctrl, n, nu)?,
                Rows::optional("change of tau", changes.tau, n, nv)?,
                Rows::optional("change of parameters", changes.parameters, n, np)?,
                Rows::new("", &[], n, 0)?,
            ],
        ];
        let out = [RowsMut::new("q_next", q, n, nq)?, RowsMut::new("v_next", v, n, nv)?];
        self.run_with(n, given, out, outcomes, |worker, [row, dx], out| {
            worker.jvp(&self.ambient, self.hold, &row, [dx.q, dx.v, dx.ctrl, dx.tau, dx.parameters], out)
        })
    }

    /// Gradients with respect to what the control steps are made from, in numbers of q, of n numbers whose gradients with respect to the
    /// states after them are `w` (n × nq, n × nv). Those of a step that has no derivatives are zero.
    pub fn vjp(
        &self,
        inputs: &Inputs,
        w: [&[f64]; 2],
        out: InputsGrad,
        outcomes: &mut [i32],
    ) -> Result<(), InputError> {
        let (n, given) = self.given(inputs)?;
        let (nq, nv, nu, np) = self.sizes();
        let weights = Inputs { q: w[0], v: w[1], ..Inputs::default() };
        let empty = Rows::new("", &[], n, 0)?;
        let weights = [
            Rows::new("gradient of q_next", weights.q, n, nq)?,
            Rows::new("gradient of v_next", weights.v, n, nv)?,
            empty,
            empty,
            empty,
            empty,
        ];
        let out = [
            RowsMut::new("gradient of q", out.q, n, nq)?,
            RowsMut::new("gradient of v", out.v, n, nv)?,
            RowsMut::optional("gradient of ctrl", out.ctrl, n, nu)?,
            RowsMut::optional("gradient of tau", out.tau, n, nv)?,
            RowsMut::optional("gradient of parameters", out.parameters, n, np)?,
        ];
        self.run_with(n, [given, weights], out, outcomes, |worker, [row, w], out| {
            worker.vjp(&self.ambient, self.hold, &row, [w.q, w.v], out)
        })
    }

    fn sizes(&self) -> (usize, usize, usize, usize) {
        let m = &self.model;
        (m.nq(), m.nv(), m.nu(), m.parameters().values().len())
    }

    fn width_of_ctrl(&self, inputs: &Inputs) -> usize {
        if inputs.ctrl.is_empty() { 0 } else { self.model.nu() }
    }

    /// Number of environments and their rows.
    fn given<'a>(&self, inputs: &Inputs<'a>) -> Result<(usize, [Rows<'a>; 6]), InputError> {
        let (nq, nv, nu, np) = self.sizes();
        let n = inputs.v.len().checked_div(nv).unwrap_or(0);
        let rows = [
            Rows::new("q", inputs.q, n, nq)?,
            Rows::new("v", inputs.v, n, nv)?,
            Rows::optional("ctrl", inputs.ctrl, n, nu)?,
            Rows::optional("tau", inputs.tau, n, nv)?,
            Rows::shared("parameters", inputs.parameters, n, np)?,
            Rows::shared("smoothing", inputs.smoothing, n, 1)?,
        ];
        Ok((n, rows))
    }

    fn run<const O: usize>(
        &self,
        n: usize,
        given: [Rows; 6],
        out: [RowsMut; O],
        outcomes: &mut [i32],
        go: impl Fn(&mut Worker, Row, [&mut [f64]; O]) -> Outcome + Sync,
    ) -> Result<(), InputError> {
        let empty = Rows::new("", &[], n, 0)?;
        self.run_with(n, [given, [empty; 6]], out, outcomes, |worker, [row, _], out| go(worker, row, out))
    }

    /// Calls `go` for every environment, on all threads.
    fn run_with<const O: usize>(
        &self,
        n: usize,
        [a, b]: [[Rows; 6]; 2],
        out: [RowsMut; O],
        outcomes: &mut [i32],
        go: impl Fn(&mut Worker, [Row; 2], [&mut [f64]; O]) -> Outcome + Sync,
    ) -> Result<(), InputError> {
        if outcomes.len() != n {
            return Err(InputError::Length { what: "outcomes", expected: n, got: outcomes.len() });
        }
        let [a0, a1, a2, a3, a4, a5] = a;
        let [b0, b1, b2, b3, b4, b5] = b;
        let given = [a0, a1, a2, a3, a4, a5, b0, b1, b2, b3, b4, b5];
        let work = Work { environments: outcomes, given, out };
        let each = |work: Work<i32, 12, O>| {
            let worker = lock(&self.workers).pop();
            let mut worker = worker.unwrap_or_else(|| Worker::new(&self.model));
            work.each(|outcome, given, out| {
                let [a0, a1, a2, a3, a4, a5, b0, b1, b2, b3, b4, b5] = given;
                let rows = [row([a0, a1, a2, a3, a4, a5]), row([b0, b1, b2, b3, b4, b5])];
                *outcome = match interrupt::check() {
                    Ok(()) => go(&mut worker, rows, out) as i32,
                    Err(_) => Outcome::Failed as i32,
                };
            });
            lock(&self.workers).push(worker);
        };
        let started = lock(&self.pool).run(work, each);
        started.map_err(|_| InputError::Value {
            what: "threads".into(),
            expected: "as many as the system starts",
            got: 0.0,
        })
    }
}

fn row([q, v, ctrl, tau, parameters, smoothing]: [&[f64]; 6]) -> Row<'_> {
    Row { q, v, ctrl, tau, parameters, smoothing }
}

/// What a thread that panicked left is memory for the next step, which overwrites it.
fn lock<T>(x: &Mutex<T>) -> MutexGuard<'_, T> {
    x.lock().unwrap_or_else(PoisonError::into_inner)
}
