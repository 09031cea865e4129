//! Reverse mode: the gradient of a loss goes back from state to state.

use super::readings::add_readings;
use super::recorder::Recorder;
use super::stepper::Stepper;
use super::types::{RolloutGrad, RolloutGradientError, StateGrad};
use super::{Memory, Rollout};
use crate::interrupt;
use slipstick_core::InputError;
use slipstick_core::gradient::{InputGrad, OutputGrad};
use slipstick_core::input_check::vector_or_none;
use slipstick_core::model::ParameterGroup;
use slipstick_core::sensors::Sensors;

impl Rollout<'_> {
    /// Adds to `out` the gradient of a loss whose gradient with respect to the states is `w`. Costs, per step, a
    /// product with a matrix, or one more step and one adjoint solve; steps that nothing comes back to are not visited.
    pub fn vjp(&mut self, w: StateGrad, out: &mut RolloutGrad) -> Result<(), RolloutGradientError> {
        self.vjp_of(w, &[], out)
    }

    /// Reverse mode of a loss on states and readings; `readings` are its derivatives with respect to these, or none.
    pub(super) fn vjp_of(
        &mut self,
        w: StateGrad,
        readings: &[f64],
        out: &mut RolloutGrad,
    ) -> Result<(), RolloutGradientError> {
        self.check_grads(&w, out)?;
        let RolloutGrad { q, v, act, tau, ctrl, parameters } = out;
        self.0.recorder.back(&mut self.0.stepper, &w, readings, InputGrad { q, v, tau, ctrl, act }, parameters)
    }

    fn check_grads(&self, w: &StateGrad, out: &RolloutGrad) -> Result<(), RolloutGradientError> {
        let Recorder { steps, layout, .. } = &self.0.recorder;
        for (what, x) in [("gradient of the configurations", w.q), ("gradient of the velocities", w.v)] {
            let last = x.len() == layout.nv;
            vector_or_none(what, x, if last { layout.nv } else { (steps + 1) * layout.nv })?;
        }
        let last = w.act.len() == layout.na;
        vector_or_none("gradient of the activations", w.act, if last { layout.na } else { (steps + 1) * layout.na })?;
        let fits = |what, got: usize, expected: usize| match got == expected {
            true => Ok(()),
            false => Err(InputError::Length { what, expected, got }),
        };
        fits("gradient of q", out.q.len(), layout.nv)?;
        fits("gradient of v", out.v.len(), layout.nv)?;
        fits("gradient of act", out.act.len(), layout.na)?;
        fits("gradient of tau", out.tau.len(), steps * layout.nv)?;
        fits("gradient of ctrl", out.ctrl.len(), steps * layout.nu)?;
        fits("groups of the gradient", out.parameters.len(), layout.groups.len())?;
        for ((group, columns), (name, x)) in layout.groups.iter().zip(&out.parameters) {
            if group != name {
                return Err(InputError::unknown_name("group at this place", name.name(), [group.name()]).into());
            }
            fits("gradient of the parameters", x.len(), columns.len())?;
        }
        Ok(())
    }
}

impl Recorder {
    /// All the way back. `readings` has a row for every step, or none; rows need repeated steps. `out` has room
    /// for the first state (nv each) and for every step (tau, ctrl), for one (what acts is held over all steps), or for none.
    /// What does not fit the rollout was refused at the public boundary.
    pub fn back<P: AsMut<[f64]>>(
        &mut self,
        stepper: &mut Stepper,
        w: &StateGrad,
        readings: &[f64],
        mut out: InputGrad,
        parameters: &mut [(ParameterGroup, P)],
    ) -> Result<(), RolloutGradientError> {
        self.here.fill(0.0);
        self.count_anew();
        self.add_loss(w, self.steps);
        let size = readings.len().checked_div(self.steps).unwrap_or(0);
        for t in (0..self.steps).rev() {
            interrupt::check()?;
            let seen = super::row(readings, size, t);
            if self.here.iter().chain(seen).any(|x| *x != 0.0) {
                match self.memory {
                    Memory::Store => self.back_stored(t, &mut out, parameters),
                    Memory::Recompute => self.back_again(stepper, t, seen, &mut out, parameters)?,
                }
            }
            self.add_loss(w, t);
        }
        let (here_q, rest) = self.here.split_at(self.layout.nv);
        let (here_v, here_act) = rest.split_at(self.layout.nv);
        for (out, here) in [(out.q, here_q), (out.v, here_v), (out.act, here_act)] {
            out.iter_mut().zip(here).for_each(|(out, x)| *out += x);
        }
        Ok(())
    }

    /// Adds what the loss itself says about state `t`.
    fn add_loss(&mut self, w: &StateGrad, t: usize) {
        let (here_q, rest) = self.here.split_at_mut(self.layout.nv);
        let (here_v, here_act) = rest.split_at_mut(self.layout.nv);
        for (here, w) in [(here_q, w.q), (here_v, w.v), (here_act, w.act)] {
            let row = match w.len() == here.len() {
                true if t == self.steps => w,
                true => &[],
                false => super::row(w, here.len(), t),
            };
            here.iter_mut().zip(row).for_each(|(here, w)| *here += w);
        }
    }

    /// One step back, by its stored derivatives.
    fn back_stored<P: AsMut<[f64]>>(&mut self, t: usize, out: &mut InputGrad, parameters: &mut [(ParameterGroup, P)]) {
        let Recorder { layout, tape, here, there, .. } = self;
        let (nv, nu, width) = (layout.nv, layout.nu, layout.width);
        let matrix = &tape.matrices[t * layout.size()..(t + 1) * layout.size()];
        there.fill(0.0);
        let add = |row: &[f64], w: f64, columns: std::ops::Range<usize>, out: &mut [f64]| {
            out.iter_mut().zip(&row[columns]).for_each(|(out, x)| *out += w * x);
        };
        for (row, w) in matrix.chunks_exact(width).zip(&*here).filter(|(_, w)| **w != 0.0) {
            add(row, *w, 0..layout.state(), there);
            add(row, *w, layout.tau(), of_step(out.tau, t, nv));
            add(row, *w, layout.ctrl(), of_step(out.ctrl, t, nu));
            for ((_, columns), (_, out)) in layout.groups.iter().zip(&mut *parameters) {
                add(row, *w, columns.clone(), out.as_mut());
            }
        }
        std::mem::swap(here, there);
    }

    /// One step back, by repeating it.
    fn back_again<P: AsMut<[f64]>>(
        &mut self,
        stepper: &mut Stepper,
        t: usize,
        seen: &[f64],
        out: &mut InputGrad,
        parameters: &mut [(ParameterGroup, P)],
    ) -> Result<(), RolloutGradientError> {
        let Recorder { layout, tape, here, there, choices, sensors, .. } = self;
        let (nv, nu) = (layout.nv, if stepper.command.actuated { layout.nu } else { 0 });
        there.fill(0.0);
        let (q, rest) = there.split_at_mut(nv);
        let (v, act) = rest.split_at_mut(nv);
        let mut grad = InputGrad { q, v, tau: of_step(out.tau, t, nv), ctrl: of_step(out.ctrl, t, nu), act };
        let w = OutputGrad { q: &here[..nv], v: &here[nv..2 * nv], impulses: &[], act: &here[2 * nv..] };
        let failed = |error| RolloutGradientError::Gradient { step: t, error };
        let mut step = stepper.repeat(tape, t)?;
        if seen.iter().any(|x| *x != 0.0) {
            let sensors = sensors.get_or_insert_with(|| Box::new(Sensors::new(step.model())));
            add_readings(&mut step, seen, &mut grad, parameters, sensors)
                .map_err(|error| RolloutGradientError::of_readings(t, error))?;
        }
        step.vjp(w, grad).map_err(failed)?;
        *choices += usize::from(step.is_choice().map_err(failed)?);
        for (group, out) in parameters {
            step.vjp_parameters(w, *group, out.as_mut()).map_err(failed)?;
        }
        std::mem::swap(here, there);
        Ok(())
    }
}

/// Row of step `t` of optional rows; a single one is that of all steps.
fn of_step(rows: &mut [f64], t: usize, width: usize) -> &mut [f64] {
    if rows.len() <= width { rows } else { &mut rows[t * width..(t + 1) * width] }
}
