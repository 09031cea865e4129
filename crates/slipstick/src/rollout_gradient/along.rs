//! Changes along single directions that steps pass on, parameters included.

use super::recorder::Recorder;
use super::stepper::Stepper;
use super::types::{RolloutDirection, RolloutGradientError};
use slipstick_core::gradient::InputDirection;
use slipstick_core::model::ParameterGroup;
use slipstick_core::{GradientError, Step};

impl Recorder {
    /// The change of the last state along a change of the first one and of what acts, held over all steps. Steps are made again,
    /// so that groups of parameters need not be known beforehand.
    pub fn along_held(
        &mut self,
        stepper: &mut Stepper,
        dx: &RolloutDirection,
        [dq, dv]: [&mut [f64]; 2],
    ) -> Result<(), RolloutGradientError> {
        let Recorder { tape, here, there, choices, layout, steps, scratch, .. } = self;
        let nv = layout.nv;
        *choices = 0;
        here.fill(0.0);
        here[..nv].iter_mut().zip(dx.q).for_each(|(x, d)| *x = *d);
        here[nv..2 * nv].iter_mut().zip(dx.v).for_each(|(x, d)| *x = *d);
        here[2 * nv..].iter_mut().zip(dx.act).for_each(|(x, d)| *x = *d);
        for t in 0..*steps {
            let failed = |error| RolloutGradientError::Gradient { step: t, error };
            let mut step = stepper.repeat(tape, t)?;
            let ((q, rest), (q_next, rest_next)) = (here.split_at(nv), there.split_at_mut(nv));
            let ((v, act), (v_next, act_next)) = (rest.split_at(nv), rest_next.split_at_mut(nv));
            let along = InputDirection { q, v, tau: dx.tau, ctrl: dx.ctrl, act };
            step.jvp_act(along, act_next).map_err(failed)?;
            push_along(&mut step, along, dx.parameters, scratch, [q_next, v_next]).map_err(failed)?;
            *choices += usize::from(step.is_choice().map_err(failed)?);
            std::mem::swap(here, there);
        }
        dq.copy_from_slice(&here[..nv]);
        dv.copy_from_slice(&here[nv..2 * nv]);
        Ok(())
    }
}

/// The change of the end of a step along a change of what it is made from, parameters included; `memory` is for their Jacobians.
pub(crate) fn push_along(
    step: &mut Step,
    along: InputDirection,
    parameters: &[(ParameterGroup, &[f64])],
    memory: &mut Vec<f64>,
    [dq, dv]: [&mut [f64]; 2],
) -> Result<(), GradientError> {
    step.jvp(along, dq, dv)?;
    for (group, along) in parameters.iter().filter(|(_, along)| along.iter().any(|x| *x != 0.0)) {
        let size = dq.len() * along.len();
        memory.clear();
        memory.resize(2 * size, 0.0);
        let (of_q, of_v) = memory.split_at_mut(size);
        step.parameter_jacobian(*group, of_q, of_v)?;
        for (matrix, out) in [(of_q, &mut *dq), (of_v, &mut *dv)] {
            for (row, out) in matrix.chunks_exact(along.len()).zip(out) {
                *out += row.iter().zip(*along).map(|(m, x)| m * x).sum::<f64>();
            }
        }
    }
    Ok(())
}
