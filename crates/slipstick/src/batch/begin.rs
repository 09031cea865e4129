//! Where environments begin: reset states and warm starts.

use super::environment::Environment;
use super::error::BatchError;
use super::{Batch, finite};
use crate::rows::{Rows, RowsMut};
use slipstick_core::{Data, InputError, WarmStart};

impl Batch {
    /// Resets the environments in `mask` (n): writes the state in which a [`Simulator`](crate::Simulator) of the
    /// environment's model begins into its rows of `q` (n × nq) and `v` (n × nv), and clears warm start and last step. Other
    /// rows stay as they are.
    pub fn reset(&mut self, mask: &[bool], q: &mut [f64], v: &mut [f64]) -> Result<(), BatchError> {
        self.reset_to(mask, [&[], &[]], q, v)
    }

    /// [`Batch::reset`] to states of the caller: configurations `q0` (n × nq, or one for all) and velocities `v0` (n × nv, or one
    /// for all). What is empty is that of [`Batch::reset`]. Rows that are not in `mask` do not matter.
    pub fn reset_to(
        &mut self,
        mask: &[bool],
        [q0, v0]: [&[f64]; 2],
        q: &mut [f64],
        v: &mut [f64],
    ) -> Result<(), BatchError> {
        let (n, [nq, nv, _]) = (self.len(), self.sizes);
        self.check_mask(mask)?;
        let given = [Rows::shared("q0", q0, n, nq)?, Rows::shared("v0", v0, n, nv)?];
        RowsMut::new("q", q, n, nq)?;
        RowsMut::new("v", v, n, nv)?;
        let model = self.environments[0].model();
        let chosen = || mask.iter().enumerate().filter(|(_, chosen)| **chosen).map(|(i, _)| i);
        for i in chosen() {
            let [q0, v0] = given.map(|rows| rows.row(i));
            finite("v0", v0)?;
            if !q0.is_empty() {
                finite("q0", q0)?;
                model.check_q(q0)?;
            }
        }
        for i in chosen() {
            let (q, v) = (&mut q[i * nq..(i + 1) * nq], &mut v[i * nv..(i + 1) * nv]);
            self.environments[i].reset(given.map(|rows| rows.row(i)), q, v);
        }
        Ok(())
    }

    /// Activations of every environment (n × na). Steps carry them on, as they do warm starts; a reset takes those of the keyframe.
    pub fn act(&self) -> Vec<f64> {
        self.environments.iter().flat_map(|environment| &environment.x.act).copied().collect()
    }

    /// Sets the activations of every environment (n × na). The last steps can no longer be read.
    pub fn set_act(&mut self, act: &[f64]) -> Result<(), BatchError> {
        let rows = Rows::new("act", act, self.len(), self.environments[0].model().na())?;
        finite("act", act)?;
        self.recorded = None;
        let environments = self.environments.iter_mut().enumerate();
        environments.for_each(|(i, environment)| environment.set_act(rows.row(i)));
        Ok(())
    }

    /// Clears warm start, clock and last step of the environments in `mask` (n): the following steps depend on their states only.
    /// For environments that are reset to a state of the caller, and for steps that are to be functions of their arguments.
    pub fn clear_warm_start(&mut self, mask: &[bool]) -> Result<(), BatchError> {
        self.check_mask(mask)?;
        let chosen = self.environments.iter_mut().zip(mask).filter(|(_, chosen)| **chosen);
        chosen.for_each(|(environment, _)| environment.clear());
        Ok(())
    }

    /// What each environment carries from one step to the next beside its state, to be saved: states and warm starts repeat the
    /// steps that follow bit for bit.
    pub fn warm_starts(&self) -> Vec<WarmStart> {
        self.environments.iter().map(Environment::warm_start).collect()
    }

    /// Puts warm starts back, one for each environment. The last steps can no longer be differentiated.
    pub fn set_warm_starts(&mut self, warm_starts: &[WarmStart]) -> Result<(), BatchError> {
        if warm_starts.len() != self.len() {
            let (what, expected) = ("warm starts".into(), "one for each environment");
            return Err(InputError::Value { what, expected, got: warm_starts.len() as f64 }.into());
        }
        // whether they fit the model is for memory of it to say
        let mut data = Data::new(self.environments[0].model());
        warm_starts.iter().try_for_each(|warm| data.restore(warm))?;
        self.recorded = None;
        self.environments.iter_mut().zip(warm_starts).for_each(|(environment, warm)| environment.set_warm_start(warm));
        Ok(())
    }

    fn check_mask(&self, mask: &[bool]) -> Result<(), InputError> {
        match mask.len() == self.len() {
            true => Ok(()),
            false => Err(InputError::Length { what: "mask", expected: self.len(), got: mask.len() }),
        }
    }
}
