//! The mean of both one-sided difference quotients of every column, from the contact problem along each change.   (grad-21)
#![allow(non_snake_case)]

use super::frozen::{Frozen, integrate_change};
use crate::gradient::record::StepRecord;
use crate::gradient::types::{GradientError, InputDirection};
use crate::gradient::{Gradient, StepJacobian};

/// Inputs of a step.
const INPUTS: usize = 5;

impl Gradient {
    /// All columns as means of the quotients ahead and behind, over changes that move a dof by `length` within the step. The
    /// derivative of the step itself is invalidated.
    pub fn jacobian_of_sides(&mut self, f: &mut StepRecord, length: f64) -> Result<StepJacobian<'_>, GradientError> {
        let mut frozen = self.frozen.take().unwrap_or_default();
        let done = self.write_sides(f, &mut frozen, length);
        self.frozen = Some(frozen);
        self.invalidate();
        done?;
        Ok(self.forward.jacobian(f.model, f.given.ctrl().is_some()))
    }

    fn write_sides(&mut self, f: &mut StepRecord, frozen: &mut Frozen, length: f64) -> Result<(), GradientError> {
        frozen.linearize(f)?;
        self.unconstrained.begin(f);
        f.mass.complete(f.model, f.kin);
        self.unconstrained.write(f, &frozen.linearized, self.forward.begin(f));
        self.forward.write_activations(f);
        let (nv, nu) = (f.model.nv(), f.given.ctrl().map_or(0, <[f64]>::len));
        let (mut dq, mut mean, mut side) = (vec![0.0; nv], vec![0.0; nv], vec![0.0; nv]);
        for (input, columns) in [nv, nv, nv, nu, f.model.na()].into_iter().enumerate() {
            let mut unit = vec![0.0; columns];
            for j in 0..columns {
                mean.fill(0.0);
                for sign in [1.0, -1.0] {
                    unit[j] = sign;
                    frozen.set_direction(f, &self.unconstrained, &direction(input, &unit));
                    let t = length * if input == 0 { 1.0 } else { frozen.unit(f.model.options().dt) };
                    frozen.solve(f, t, true)?;
                    frozen.write_quotient(f, t, &mut side);
                    mean.iter_mut().zip(&side).for_each(|(m, s)| *m += 0.5 * sign * s);
                }
                unit[j] = 1.0;
                integrate_change(f, &direction(input, &unit), &mean, &mut dq);
                unit[j] = 0.0;
                self.forward.write_column(input, j, &dq, &mean);
            }
        }
        Ok(())
    }
}

/// A change of a single input.
fn direction(input: usize, change: &[f64]) -> InputDirection<'_> {
    let of: [&[f64]; INPUTS] = core::array::from_fn(|k| if k == input { change } else { &[] });
    InputDirection { q: of[0], v: of[1], tau: of[2], ctrl: of[3], act: of[4] }
}
