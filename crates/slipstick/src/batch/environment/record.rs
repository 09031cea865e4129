//! The record of a rollout, or of the engine steps of a control step, and the way back through it.

use super::super::error::EnvironmentError;
use super::Environment;
use super::last_step::by_group;
use crate::control::Command;
use crate::rollout_gradient::{Memory, Recorder, RolloutGradientError, StateGrad, Stepper};
use slipstick_core::Model;
use slipstick_core::gradient::InputGrad;
use slipstick_core::model::ParameterGroup;
use std::mem::swap;

/// The record of a rollout of an environment, and what repeats its steps; `recorded` tells whether it came to its end.
#[derive(Debug, Clone)]
pub(in super::super) struct Record {
    model: Model,
    command: Command,
    recorder: Option<Box<Recorder>>,
    recorded: bool,
}

impl Record {
    pub fn model(&self) -> &Model {
        &self.model
    }
}

impl Environment {
    /// Calls `go` with a stepper of its model and its record.
    pub fn with_record(
        &mut self,
        stepper: &mut Stepper,
        go: impl FnOnce(&mut Recorder, &mut Stepper) -> Result<(), EnvironmentError>,
    ) {
        if !self.recorded {
            self.failure = Some(EnvironmentError::NoRollout);
            return;
        }
        let Some(mut recorder) = self.recorder.take() else { return };
        // the stepper's own state is scratch: the environment stays where it is
        self.exchange_model(stepper);
        stepper.remade = self.remade;
        self.failure = match self.remade && recorder.memory == Memory::Store {
            true => Some(RolloutGradientError::Stored.into()),
            false => go(&mut recorder, stepper).err(),
        };
        self.choices = recorder.choices;
        stepper.remade = false;
        self.exchange_model(stepper);
        self.recorder = Some(recorder);
    }

    /// Exchanges model and input with a stepper, but not the state.
    pub(super) fn exchange_model(&mut self, stepper: &mut Stepper) {
        swap(&mut self.model, &mut stepper.model);
        swap(&mut self.command, &mut stepper.command);
    }

    /// Back through the recorded rollout; state and warm start stay those of its end.
    pub fn rollout_vjp(
        &mut self,
        stepper: &mut Stepper,
        w: StateGrad,
        groups: &[ParameterGroup],
        [q, v, tau, ctrl, parameters]: [&mut [f64]; 5],
    ) {
        let mut parameters = by_group(&self.model, groups, parameters);
        self.with_record(stepper, |recorder, stepper| {
            if recorder.memory == Memory::Store && !parameters.is_empty() {
                return Err(RolloutGradientError::Stored.into());
            }
            Ok(recorder.back(stepper, &w, &[], InputGrad { q, v, tau, ctrl, act: &mut [] }, &mut parameters)?)
        });
    }

    /// Takes the record of the last rollout out, with what repeats its steps.
    pub fn take_record(&mut self) -> Record {
        let recorded = std::mem::take(&mut self.recorded);
        Record { model: self.model.clone(), command: self.command.clone(), recorder: self.recorder.take(), recorded }
    }

    /// Exchanges the record of a rollout with another.
    pub fn exchange_record(&mut self, record: &mut Record) {
        swap(&mut self.model, &mut record.model);
        swap(&mut self.command, &mut record.command);
        swap(&mut self.recorder, &mut record.recorder);
        swap(&mut self.recorded, &mut record.recorded);
    }
}
