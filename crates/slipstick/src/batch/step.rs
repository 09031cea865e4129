//! One step of every environment, and its derivatives along directions.

use super::error::BatchError;
use super::input::{BatchDirection, BatchGrad, BatchInput};
use super::{Batch, finite};
use crate::rollout_gradient::StateGrad;
use crate::rows::{Rows, RowsMut};
use slipstick_core::InputError;

/// The largest number of engine steps in a control step: a mistyped one takes memory and time.
const MOST_STEPS: usize = 100_000;

impl Batch {
    /// One step of every environment from `q` (n × nq) and `v` (n × nv) to `q_next` and `v_next`. The input has a row for
    /// each: `tau` (n × nv), `ctrl` (n × nu). Each begins with its own warm start, as a
    /// [`Simulator`](crate::Simulator) does.
    ///
    /// An environment that fails keeps its state and drops its warm start; the error lists it, the others are done. The
    /// state that it keeps is its row of `q` and `v` or, where that is not finite, the one it was in before.
    pub fn step<'a>(
        &mut self,
        q: &[f64],
        v: &[f64],
        input: impl Into<BatchInput<'a>>,
        q_next: &mut [f64],
        v_next: &mut [f64],
    ) -> Result<(), BatchError> {
        self.step_held(1, [q, v], input, [q_next, v_next])
    }

    /// A control step: `hold` engine steps under one input, and the states after the last one. Derivatives are those of all of
    /// them together, reports are those of a rollout. An environment that fails keeps the state before the engine step that failed.
    pub fn step_held<'a>(
        &mut self,
        hold: usize,
        [q, v]: [&[f64]; 2],
        input: impl Into<BatchInput<'a>>,
        [q_next, v_next]: [&mut [f64]; 2],
    ) -> Result<(), BatchError> {
        check_hold(hold)?;
        let (n, [nq, nv, _], input) = (self.len(), self.sizes, input.into());
        let [tau, ctrl, wrenches, mocap] = self.rows_of(&input, 1)?;
        let given = [Rows::new("q", q, n, nq)?, Rows::new("v", v, n, nv)?, tau, ctrl, wrenches, mocap];
        let out = [RowsMut::new("q_next", q_next, n, nq)?, RowsMut::new("v_next", v_next, n, nv)?];
        (self.actuated, self.recorded) = (input.acting.ctrl.is_some(), None);
        let keep = self.keeps_steps;
        let done = self.run(given, out, |environment, stepper, [q, v, tau, ctrl, wrenches, mocap], out| {
            let acting = input.row([tau, ctrl, wrenches, mocap]);
            match hold {
                1 => environment.step(stepper, keep, [q, v], &acting, out),
                _ => environment.hold(stepper, keep, hold, [q, v], &acting, out),
            }
        });
        self.forget_if_interrupted(done)
    }

    /// Adds to `out` the gradient of a number whose gradient with respect to (q_next, v_next) of the last step, or control
    /// step, is `w` (n × nv each; empty: zero). Parts of `out` (n × nv; `ctrl` n × nu after a step with controls) are empty where
    /// nothing is wanted. An environment that fails may have added a part of it.
    pub fn vjp<'a>(&mut self, w: StateGrad, out: impl Into<BatchGrad<'a>>) -> Result<(), BatchError> {
        self.check_differentiable()?;
        let (n, [_, nv, nu]) = (self.len(), self.sizes);
        finite("gradient of q_next", w.q)?;
        finite("gradient of v_next", w.v)?;
        let given =
            [Rows::optional("gradient of q_next", w.q, n, nv)?, Rows::optional("gradient of v_next", w.v, n, nv)?];
        let (groups, out) = self.rows_of_grad(out.into(), [nv, if self.actuated { nu } else { 0 }])?;
        self.keeps_steps = true;
        self.run(given, out, |environment, stepper, w, out| environment.vjp(stepper, w, groups, out))
    }

    /// The changes of (q_next, v_next) of the last step, or control step, along a change of what it was made from (n × nv each):
    /// its Jacobian times that change. Rows of environments that fail are zero.
    pub fn jvp(&mut self, dx: BatchDirection, [dq, dv]: [&mut [f64]; 2]) -> Result<(), BatchError> {
        self.check_differentiable()?;
        let (n, [_, nv, nu]) = (self.len(), self.sizes);
        let nu = if self.actuated { nu } else { 0 };
        let changes = [
            ("change of q", dx.q, nv),
            ("change of v", dx.v, nv),
            ("change of tau", dx.tau, nv),
            ("change of ctrl", dx.ctrl, nu),
        ];
        changes.iter().try_for_each(|(what, x, _)| finite(what, x))?;
        finite("change of parameters", dx.parameters)?;
        let [q, v, tau, ctrl] = changes.map(|(what, x, width)| Rows::optional(what, x, n, width));
        let parameters = Rows::new("change of parameters", dx.parameters, n, self.size_of(dx.groups))?;
        let out = [RowsMut::new("dq_next", dq, n, nv)?, RowsMut::new("dv_next", dv, n, nv)?];
        self.keeps_steps = true;
        self.run([q?, v?, tau?, ctrl?, parameters], out, |environment, stepper, along, out| {
            environment.jvp(stepper, along, dx.groups, out);
        })
    }
}

/// Refuses numbers of engine steps that make no control step.
pub(crate) fn check_hold(hold: usize) -> Result<(), InputError> {
    if (1..=MOST_STEPS).contains(&hold) {
        return Ok(());
    }
    Err(InputError::Value { what: "hold".into(), expected: "from 1 to 100000 engine steps", got: hold as f64 })
}
