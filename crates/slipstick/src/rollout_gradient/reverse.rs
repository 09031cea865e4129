//! Reverse mode: the gradient of a loss goes back from state to state.

use super::types::{RolloutGrad, RolloutGradientError, StateGrad, vector_or_none};
use super::{Memory, Rollout, RolloutGradient};
use slipstick_core::{InputError, InputGrad, OutputGrad};

impl Rollout<'_> {
    /// Adds to `out` the gradient of a loss whose gradient with respect to the states is `w`. Costs, per step, a
    /// product with a matrix, or one more step and one adjoint solve; steps that nothing comes back to are not visited.
    pub fn vjp(&mut self, w: StateGrad, out: &mut RolloutGrad) -> Result<(), RolloutGradientError> {
        self.check_grads(&w, out)?;
        let (steps, nv) = (self.0.steps, self.0.layout.nv);
        self.0.here.fill(0.0);
        self.0.add_loss(&w, steps);
        for t in (0..steps).rev() {
            if self.0.here.iter().any(|x| *x != 0.0) {
                match self.0.memory {
                    Memory::Store => self.0.back_stored(t, out),
                    Memory::Recompute => self.0.back_again(t, out)?,
                }
            }
            self.0.add_loss(&w, t);
        }
        out.q.iter_mut().zip(&self.0.here[..nv]).for_each(|(out, x)| *out += x);
        out.v.iter_mut().zip(&self.0.here[nv..]).for_each(|(out, x)| *out += x);
        Ok(())
    }

    fn check_grads(&self, w: &StateGrad, out: &RolloutGrad) -> Result<(), RolloutGradientError> {
        let RolloutGradient { steps, layout, .. } = &*self.0;
        for (what, x) in [("gradient of the configurations", w.q), ("gradient of the velocities", w.v)] {
            let last = x.len() == layout.nv;
            vector_or_none(what, x, if last { layout.nv } else { (steps + 1) * layout.nv })?;
        }
        let fits = |what, got: usize, expected: usize| match got == expected {
            true => Ok(()),
            false => Err(InputError::Length { what, expected, got }),
        };
        fits("gradient of q", out.q.len(), layout.nv)?;
        fits("gradient of v", out.v.len(), layout.nv)?;
        fits("gradient of tau", out.tau.len(), steps * layout.nv)?;
        fits("gradient of ctrl", out.ctrl.len(), steps * layout.nu)?;
        fits("groups of the gradient", out.parameters.len(), layout.groups.len())?;
        for ((group, columns), (name, x)) in layout.groups.iter().zip(&out.parameters) {
            if group != name {
                return Err(InputError::UnknownName { what: "group at this place", name: name.name().into() }.into());
            }
            fits("gradient of the parameters", x.len(), columns.len())?;
        }
        Ok(())
    }
}

impl RolloutGradient {
    /// Adds what the loss itself says about state `t`.
    fn add_loss(&mut self, w: &StateGrad, t: usize) {
        let nv = self.layout.nv;
        let (here_q, here_v) = self.here.split_at_mut(nv);
        for (here, w) in [(here_q, w.q), (here_v, w.v)] {
            let row = match w.len() == nv {
                true if t == self.steps => w,
                true => &[],
                false => super::row(w, nv, t),
            };
            here.iter_mut().zip(row).for_each(|(here, w)| *here += w);
        }
    }

    /// One step back, by its stored derivatives.
    fn back_stored(&mut self, t: usize, out: &mut RolloutGrad) {
        let RolloutGradient { layout, tape, here, there, .. } = self;
        let (nv, nu, width) = (layout.nv, layout.nu, layout.width);
        let matrix = &tape.matrices[t * layout.size()..(t + 1) * layout.size()];
        there.fill(0.0);
        let add = |row: &[f64], w: f64, columns: std::ops::Range<usize>, out: &mut [f64]| {
            out.iter_mut().zip(&row[columns]).for_each(|(out, x)| *out += w * x);
        };
        for (row, w) in matrix.chunks_exact(width).zip(&*here).filter(|(_, w)| **w != 0.0) {
            add(row, *w, 0..2 * nv, there);
            add(row, *w, layout.tau(), &mut out.tau[t * nv..(t + 1) * nv]);
            add(row, *w, layout.ctrl(), &mut out.ctrl[t * nu..(t + 1) * nu]);
            for ((_, columns), (_, out)) in layout.groups.iter().zip(&mut out.parameters) {
                add(row, *w, columns.clone(), out);
            }
        }
        std::mem::swap(here, there);
    }

    /// One step back, by making it again.
    fn back_again(&mut self, t: usize, out: &mut RolloutGrad) -> Result<(), RolloutGradientError> {
        let RolloutGradient { layout, machine, tape, here, there, .. } = self;
        let (nv, nu) = (layout.nv, if machine.command.actuated { layout.nu } else { 0 });
        there.fill(0.0);
        let (q, v) = there.split_at_mut(nv);
        let tau = &mut out.tau[t * nv..(t + 1) * nv];
        let grad = InputGrad { q, v, tau, ctrl: &mut out.ctrl[t * nu..(t + 1) * nu] };
        let w = OutputGrad { q: &here[..nv], v: &here[nv..], impulses: &[] };
        let failed = |error| RolloutGradientError::Gradient { step: t, error };
        let mut step = machine.repeat(tape, t)?;
        step.vjp(w, grad).map_err(failed)?;
        for (group, out) in &mut out.parameters {
            step.vjp_parameters(w, *group, out).map_err(failed)?;
        }
        std::mem::swap(here, there);
        Ok(())
    }
}
