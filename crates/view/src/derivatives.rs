//! The derivatives of a replay: gradients of numbers, and changes of the motion.

use crate::error::ViewError;
use crate::gradients::{self, InputGradient, Output};
use crate::perturbation::{self, Ghost, Perturbation};
use crate::replay::Replay;

impl Replay {
    /// Shows the gradient of a number: with respect to forces on bodies, torques and friction, at the frames of steps to come
    /// that [`Replay::record`] is told.
    pub fn with_gradient_of(mut self, output: Output) -> Result<Replay, ViewError> {
        self.channels.add_output(&self.model, &mut self.frames, output)?;
        Ok(self)
    }

    /// Shows how the motion changes along a perturbation, to first order: a ghost whose size of change is set on the page.
    /// Every step to come must be told to [`Replay::record`].
    pub fn with_perturbation(mut self, name: &str, along: Perturbation) -> Result<Replay, ViewError> {
        self.ghosts.push(Ghost::new(&self.model, &mut self.frames, name, Some(along))?);
        Ok(self)
    }

    /// Attaches the gradient of a number, such as a loss over the whole motion, to the last frame. `q` is the configuration at
    /// which the forces of its step act. Numbers of one name and unit are one choice on the page.
    pub fn attach_gradient(
        &mut self,
        name: &str,
        unit: &str,
        q: &[f64],
        gradient: InputGradient,
    ) -> Result<(), ViewError> {
        self.check_begun()?;
        let row = gradients::row(&self.model, &mut self.work, q, gradient)?;
        let channel = self.channels.given(&self.model, &mut self.frames, name, unit)?;
        self.frames.attached[self.channels.rows(channel)].set_last(row);
        Ok(())
    }

    /// Attaches a change of the configuration (nv) to the last frame, which was recorded at `q`: the page shows the ghost of
    /// the motion that is changed so.
    pub fn attach_change(&mut self, name: &str, q: &[f64], dq: &[f64]) -> Result<(), ViewError> {
        self.check_begun()?;
        let twists = perturbation::twists(&self.model, &mut self.work, q, dq)?;
        let ghost = match self.ghosts.iter().find(|ghost| ghost.is_given(name)) {
            Some(ghost) => ghost.rows(),
            None => {
                self.ghosts.push(Ghost::new(&self.model, &mut self.frames, name, None)?);
                self.frames.attached.len() - 1
            }
        };
        self.frames.attached[ghost].set_last(twists);
        Ok(())
    }

    /// Attaches what the ghosts know to the frame at `q`.
    pub(crate) fn attach_ghosts(&mut self, q: &[f64]) -> Result<(), ViewError> {
        for ghost in &self.ghosts {
            if let Some(dq) = ghost.change() {
                let twists = perturbation::twists(&self.model, &mut self.work, q, dq)?;
                self.frames.attached[ghost.rows()].set_last(twists);
            }
        }
        Ok(())
    }
}
