//! Many steps of every environment, and the way back through them.

use super::environment::{Environment, Record};
use super::error::{BatchError, EnvironmentError};
use super::input::{BatchGrad, BatchInput};
use super::{Batch, finite, same_structure};
use crate::rollout_gradient::{Memory, StateGrad};
use crate::rows::{Rows, RowsMut};
use slipstick_core::InputError;

/// The record of a rollout of a batch, for its gradients. Several may be alive at once, whatever the batch does meanwhile.
#[derive(Debug, Clone)]
pub struct BatchRollout {
    records: Vec<Record>,
    steps: usize,
    actuated: bool,
}

impl BatchRollout {
    /// Number of steps.
    pub fn steps(&self) -> usize {
        self.steps
    }
}

impl Batch {
    /// Steps from the states `q` (n × nq), `v` (n × nv), each environment with its own rows of the input: `tau` (n ×
    /// steps × nv), `ctrl` (n × steps × nu); wrenches act in all steps. Writes all states, the first ones included:
    /// `q_out` (n × (steps + 1) × nq), `v_out` (n × (steps + 1) × nv). Results are those of as many calls of
    /// [`Batch::step`], but faster: the memory of an environment stays in the cache until its last step.
    ///
    /// `memory` is what is kept for [`Batch::rollout_vjp`]; `None`: nothing. Where a step fails, the state before it
    /// stays to the end, and the environment is in the list of the error.
    pub fn rollout<'a>(
        &mut self,
        steps: usize,
        memory: Option<Memory>,
        [q, v]: [&[f64]; 2],
        input: impl Into<BatchInput<'a>>,
        [q_out, v_out]: [&mut [f64]; 2],
    ) -> Result<(), BatchError> {
        let (n, [nq, nv, _]) = (self.len(), self.sizes);
        let (states, input) = (steps.saturating_add(1), input.into());
        let [tau, ctrl, wrenches, mocap] = self.rows_of(&input, steps)?;
        let given = [Rows::new("q", q, n, nq)?, Rows::new("v", v, n, nv)?, tau, ctrl, wrenches, mocap];
        let out = [
            RowsMut::new("q_out", q_out, n, states.saturating_mul(nq))?,
            RowsMut::new("v_out", v_out, n, states.saturating_mul(nv))?,
        ];
        self.actuated = input.acting.ctrl.is_some();
        self.recorded = memory.map(|_| steps);
        let keep = self.keeps_steps;
        let done = self.run(given, out, |environment, stepper, [q, v, tau, ctrl, wrenches, mocap], [q_out, v_out]| {
            let mut rows = q_out.chunks_exact_mut(nq.max(1)).zip(v_out.chunks_exact_mut(nv.max(1)));
            let acting = input.row([tau, ctrl, wrenches, mocap]);
            environment.rollout(stepper, keep, steps, memory, [q, v], &acting, |x| {
                if let Some((q, v)) = rows.next() {
                    q.copy_from_slice(&x.q);
                    v.copy_from_slice(&x.v);
                }
            });
        });
        self.forget_if_interrupted(done)
    }

    /// Takes the record of the last rollout out of the batch, so that other calls do not end it. `None` if it was not recorded or
    /// if something else was done since.
    pub fn take_rollout(&mut self) -> Option<BatchRollout> {
        let steps = self.recorded.take()?;
        let records = self.environments.iter_mut().map(Environment::take_record).collect();
        Some(BatchRollout { records, steps, actuated: self.actuated })
    }

    /// [`Batch::rollout_vjp`] of a rollout that was taken out of this batch, or of one of as many environments of the same robot.
    /// States, warm starts and the last rollout stay.
    pub fn vjp_of<'a>(
        &mut self,
        rollout: &mut BatchRollout,
        w: StateGrad,
        out: impl Into<BatchGrad<'a>>,
    ) -> Result<(), BatchError> {
        self.with_rollout(rollout, |batch, _| batch.rollout_vjp(w, out))
    }

    /// Calls `go` with the record of a rollout, and its number of steps, in place of the last one.
    pub(super) fn with_rollout(
        &mut self,
        rollout: &mut BatchRollout,
        go: impl FnOnce(&mut Batch, usize) -> Result<(), BatchError>,
    ) -> Result<(), BatchError> {
        self.check_rollout(rollout)?;
        let own = (self.recorded, self.actuated);
        self.exchange_records(rollout);
        (self.recorded, self.actuated) = (Some(rollout.steps), rollout.actuated);
        let done = go(self, rollout.steps);
        (self.recorded, self.actuated) = own;
        self.exchange_records(rollout);
        done
    }

    /// Whether a rollout is one of as many environments of this robot.
    fn check_rollout(&self, rollout: &BatchRollout) -> Result<(), InputError> {
        let got = rollout.records.len();
        if got != self.len() {
            let (what, expected) = ("environments of the rollout".into(), "as many as the batch has");
            return Err(InputError::Value { what, expected, got: got as f64 });
        }
        rollout.records.iter().try_for_each(|record| same_structure(self.environments[0].model(), record.model()))
    }

    fn exchange_records(&mut self, rollout: &mut BatchRollout) {
        let pairs = self.environments.iter_mut().zip(&mut rollout.records);
        pairs.for_each(|(environment, record)| environment.exchange_record(record));
    }

    /// Adds to `out` the gradient of a loss whose gradient with respect to the states of the last recorded rollout is
    /// `w`. The parts of `w` are for all states (n × (steps + 1) × nv, the first ones included), for the last ones (n
    /// × nv), or empty; those of `out` are empty where nothing is wanted, else have room for the first states (n × nv
    /// each), `tau` (n × steps × nv) and `ctrl` (n × steps × nu; only if there were controls).
    ///
    /// An environment that fails may have added the part of its last steps before it did. A stored rollout has no gradients with
    /// respect to parameters.
    pub fn rollout_vjp<'a>(&mut self, w: StateGrad, out: impl Into<BatchGrad<'a>>) -> Result<(), BatchError> {
        self.check_differentiable()?;
        let Some(steps) = self.recorded else { return self.all_failed(EnvironmentError::NoRollout) };
        let (n, [_, nv, nu]) = (self.len(), self.sizes);
        let nu = if self.actuated { nu } else { 0 };
        let states = |x: &[f64]| if x.len() == n * nv { nv } else { (steps + 1) * nv };
        finite("gradient of the configurations", w.q)?;
        finite("gradient of the velocities", w.v)?;
        let given = [
            Rows::optional("gradient of the configurations", w.q, n, states(w.q))?,
            Rows::optional("gradient of the velocities", w.v, n, states(w.v))?,
        ];
        let (groups, out) = self.rows_of_grad(out.into(), [steps * nv, steps * nu])?;
        self.run(given, out, |environment, stepper, [q, v], out| {
            environment.rollout_vjp(stepper, StateGrad { q, v, ..StateGrad::default() }, groups, out);
        })
    }
}
