//! Jacobians of every environment: of its last step, or of a recorded rollout.

use super::Batch;
use super::environment::Environment;
use super::error::BatchError;
use super::rollout::BatchRollout;
use crate::rollout_gradient::{Sensitivities, Stepper, Wanted};
use crate::rows::RowsMut;
use slipstick_core::InputError;
use slipstick_core::linalg::MatRef;
use std::ops::Range;

/// Where derivatives are written, rows of the environments one after the other. Names and meaning are those of
/// [`StepJacobian`](crate::gradient::StepJacobian); empty: not wanted. Sizes are those of a step; for those of a rollout see
/// [`Batch::jacobian_of`].
#[derive(Debug, Default)]
pub struct BatchJacobian<'a> {
    /// ∂q_next/∂q (n × nv × nv).
    pub dq_dq: &'a mut [f64],
    /// ∂q_next/∂v (n × nv × nv).
    pub dq_dv: &'a mut [f64],
    /// ∂q_next/∂tau (n × nv × nv).
    pub dq_dtau: &'a mut [f64],
    /// ∂q_next/∂ctrl (n × nv × nu), after a step with controls.
    pub dq_dctrl: &'a mut [f64],
    /// ∂v_next/∂q (n × nv × nv).
    pub dv_dq: &'a mut [f64],
    /// ∂v_next/∂v (n × nv × nv).
    pub dv_dv: &'a mut [f64],
    /// ∂v_next/∂tau (n × nv × nv).
    pub dv_dtau: &'a mut [f64],
    /// ∂v_next/∂ctrl (n × nv × nu), after a step with controls.
    pub dv_dctrl: &'a mut [f64],
}

impl<'a> BatchJacobian<'a> {
    /// The blocks: those of q, then those of v, each with respect to q, v, tau and ctrl, which have so many numbers.
    fn rows(self, n: usize, widths: [usize; 4]) -> Result<[RowsMut<'a>; 8], InputError> {
        let [of_q, of_v, of_tau, of_ctrl] = widths;
        Ok([
            RowsMut::optional("dq_dq", self.dq_dq, n, of_q)?,
            RowsMut::optional("dq_dv", self.dq_dv, n, of_v)?,
            RowsMut::optional("dq_dtau", self.dq_dtau, n, of_tau)?,
            RowsMut::optional("dq_dctrl", self.dq_dctrl, n, of_ctrl)?,
            RowsMut::optional("dv_dq", self.dv_dq, n, of_q)?,
            RowsMut::optional("dv_dv", self.dv_dv, n, of_v)?,
            RowsMut::optional("dv_dtau", self.dv_dtau, n, of_tau)?,
            RowsMut::optional("dv_dctrl", self.dv_dctrl, n, of_ctrl)?,
        ])
    }
}

/// What a rollout has to be differentiated by for these blocks.
pub(super) fn wanted(blocks: &[&mut [f64]; 8]) -> Wanted {
    let any = |of: &[usize]| of.iter().any(|k| !blocks[*k].is_empty() || !blocks[*k + 4].is_empty());
    Wanted { initial: any(&[0, 1]), tau: any(&[2]), ctrl: any(&[3]) }
}

impl Batch {
    /// Derivatives of the last step, or control step. Rows of environments that fail stay as they are.
    pub fn jacobian(&mut self, out: BatchJacobian) -> Result<(), BatchError> {
        self.check_differentiable()?;
        let (n, [_, nv, nu]) = (self.len(), self.sizes);
        let nu = if self.actuated { nu } else { 0 };
        let out = out.rows(n, [nv, nv, nv, nu].map(|width| nv * width))?;
        self.keeps_steps = true;
        self.run([], out, |environment, stepper, [], out| {
            environment.jacobian(stepper, out);
        })
    }

    /// Derivatives of the last states of a recorded rollout with respect to the first states (n × nv × nv) and to `tau` (n × steps
    /// × nv × nv) and `ctrl` (n × steps × nv × nu; only if there were controls) of every step. With `every`, of all states,
    /// the first ones included: n × (steps + 1) × … numbers. Each is what
    /// [`Rollout::sensitivities`](crate::rollout::Rollout::sensitivities) would be, and takes as long and as much memory.
    ///
    /// Rows of environments that fail are of no use. States, warm starts and the last rollout stay.
    pub fn jacobian_of(
        &mut self,
        rollout: &mut BatchRollout,
        every: bool,
        out: BatchJacobian,
    ) -> Result<(), BatchError> {
        self.check_differentiable()?;
        self.with_rollout(rollout, |batch, steps| {
            let [_, nv, nu] = batch.sizes;
            let nu = if batch.actuated { nu } else { 0 };
            let states = if every { steps.saturating_add(1) } else { 1 };
            let widths = [nv, nv, steps.saturating_mul(nv), steps.saturating_mul(nu)];
            let out = out.rows(batch.len(), widths.map(|width| states.saturating_mul(nv).saturating_mul(width)))?;
            batch.run([], out, |environment, stepper, [], out| {
                environment.rollout_jacobian(stepper, every, nv, out);
            })
        })
    }
}

impl Environment {
    /// Derivatives of the last state of the recorded rollout, or of every one.
    fn rollout_jacobian(&mut self, stepper: &mut Stepper, every: bool, nv: usize, mut out: [&mut [f64]; 8]) {
        let wanted = wanted(&out);
        self.with_record(stepper, |recorder, stepper| {
            let (steps, states) = (recorder.steps, if every { recorder.steps + 1 } else { 1 });
            let mut write = |k: usize, s: &Sensitivities| {
                let mut blocks = out.each_mut().map(|block| {
                    let size = block.len() / states;
                    &mut block[k * size..(k + 1) * size]
                });
                write_state(s, nv, steps, &mut blocks);
            };
            let last = recorder.forward(stepper, steps, wanted, |k, s| {
                if every {
                    write(k, s);
                }
            })?;
            if !every {
                write(0, &last);
            }
            Ok(())
        });
    }
}

/// Derivatives of one state: blocks of q, then those of v.
pub(super) fn write_state(s: &Sensitivities, nv: usize, steps: usize, out: &mut [&mut [f64]; 8]) {
    for (first, [q, v, tau, ctrl]) in [0, nv].into_iter().zip(out.as_chunks_mut().0) {
        let half = |m: Option<MatRef>, columns: Range<usize>, out: &mut [f64]| {
            let (width, rows) = (columns.len().max(1), m.iter().flat_map(|m| (first..first + nv).map(|i| m.row(i))));
            out.chunks_exact_mut(width).zip(rows).for_each(|(out, row)| out.copy_from_slice(&row[columns.clone()]));
        };
        half(s.initial(), 0..nv, q);
        half(s.initial(), nv..2 * nv, v);
        for t in 0..steps {
            half(s.tau(t), 0..nv, of_step(tau, t, steps));
            half(s.ctrl(t), 0..ctrl.len() / (steps * nv).max(1), of_step(ctrl, t, steps));
        }
    }
}

/// The part of step `t`.
fn of_step(out: &mut [f64], t: usize, steps: usize) -> &mut [f64] {
    let size = out.len() / steps;
    &mut out[t * size..(t + 1) * size]
}

/// Row by row; nothing if it is not wanted.
pub(super) fn write(block: MatRef, out: &mut [f64]) {
    let rows = out.chunks_exact_mut(block.cols().max(1)).enumerate();
    rows.for_each(|(i, row)| row.copy_from_slice(block.row(i)));
}
