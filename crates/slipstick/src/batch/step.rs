//! One step of every environment, and its gradient.

use super::error::BatchError;
use super::{Batch, finite};
use crate::rollout_gradient::StateGrad;
use crate::rows::{Rows, RowsMut};
use slipstick_core::gradient::InputGrad;
use slipstick_core::{Input, InputError};

impl Batch {
    /// One step of every environment from `q` (n × nq) and `v` (n × nv) to `q_next` and `v_next`. The input has a row for
    /// each: `tau` (n × nv), `ctrl` (n × nu); wrenches are the same for all. Each begins with its own warm start, as a
    /// [`Simulator`](crate::Simulator) does.
    ///
    /// An environment that fails keeps its state and drops its warm start; the error lists it, the others are done. The
    /// state that it keeps is its row of `q` and `v` or, where that is not finite, the one it was in before.
    pub fn step(
        &mut self,
        q: &[f64],
        v: &[f64],
        input: &Input,
        q_next: &mut [f64],
        v_next: &mut [f64],
    ) -> Result<(), BatchError> {
        let (n, [nq, nv, _]) = (self.len(), self.sizes);
        let [tau, ctrl] = self.rows_of(input, 1)?;
        let given = [Rows::new("q", q, n, nq)?, Rows::new("v", v, n, nv)?, tau, ctrl];
        let out = [RowsMut::new("q_next", q_next, n, nq)?, RowsMut::new("v_next", v_next, n, nv)?];
        (self.actuated, self.recorded) = (input.ctrl.is_some(), None);
        let keep = self.keeps_steps;
        self.run(given, out, |environment, stepper, [q, v, tau, ctrl], out| {
            let input = Input { tau, ctrl: input.ctrl.map(|_| ctrl), ..*input };
            environment.step(stepper, keep, [q, v], &input, out);
        })
    }

    /// Rows of what acts in a number of steps: forces and controls.
    pub(super) fn rows_of<'a>(&self, input: &Input<'a>, steps: usize) -> Result<[Rows<'a>; 2], InputError> {
        let (n, [_, nv, nu]) = (self.len(), self.sizes);
        let (ctrl, nu) = input.ctrl.map_or((&[][..], 0), |ctrl| (ctrl, nu));
        let tau = Rows::optional("tau", input.tau, n, steps.saturating_mul(nv))?;
        Ok([tau, Rows::new("ctrl", ctrl, n, steps.saturating_mul(nu))?])
    }

    /// Adds to `out` the gradient of a number whose gradient with respect to (q_next, v_next) of the last step is `w`
    /// (n × nv each; empty: zero). Parts of `out` (n × nv; `ctrl` n × nu after a step with controls) are empty where
    /// nothing is wanted.
    pub fn vjp(&mut self, w: StateGrad, out: InputGrad) -> Result<(), BatchError> {
        let (n, [_, nv, nu]) = (self.len(), self.sizes);
        finite("gradient of q_next", w.q)?;
        finite("gradient of v_next", w.v)?;
        let given =
            [Rows::optional("gradient of q_next", w.q, n, nv)?, Rows::optional("gradient of v_next", w.v, n, nv)?];
        let out = [
            RowsMut::optional("gradient of q", out.q, n, nv)?,
            RowsMut::optional("gradient of v", out.v, n, nv)?,
            RowsMut::optional("gradient of tau", out.tau, n, nv)?,
            RowsMut::optional("gradient of ctrl", out.ctrl, n, if self.actuated { nu } else { 0 })?,
        ];
        self.keeps_steps = true;
        self.run(given, out, |environment, stepper, w, out| environment.vjp(stepper, w, out))
    }
}
