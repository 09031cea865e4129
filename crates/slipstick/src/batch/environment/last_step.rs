//! The last step of an environment: its derivatives, readings and contacts.

use super::super::error::EnvironmentError;
use super::super::jacobian::{wanted, write, write_state};
use super::Environment;
use crate::rollout_gradient::{Recorder, RolloutDirection, StateGrad, Stepper, push_along};
use slipstick_core::gradient::{InputDirection, InputGrad, OutputGrad};
use slipstick_core::model::ParameterGroup;
use slipstick_core::sensors::Sensors;
use slipstick_core::{GradientError, Model, Step};
use std::mem::swap;

impl Environment {
    /// Calls `go` with the last engine step, and counts it if its derivative is a choice.
    fn differentiate(&mut self, stepper: &mut Stepper, go: impl FnOnce(&mut Step) -> Result<(), EnvironmentError>) {
        let mut choice = false;
        self.with_step(stepper, |step| {
            go(step)?;
            choice = step.is_choice()?;
            Ok(())
        });
        self.choices = usize::from(choice);
    }

    /// Calls `go` with the last engine step: the stored one, or one that is repeated bit for bit from its arguments.
    fn with_step(&mut self, stepper: &mut Stepper, go: impl FnOnce(&mut Step) -> Result<(), EnvironmentError>) {
        if self.hold > 1 && (self.remade || !self.held) {
            let last = self.hold - 1;
            return self.with_held(stepper, |recorder, stepper| go(&mut stepper.repeat(&recorder.tape, last)?));
        }
        self.failure = match (self.stepped, self.own.take()) {
            (false, own) => {
                self.own = own;
                Some(EnvironmentError::NoStep)
            }
            (true, Some(mut own)) if self.held && !self.remade => {
                own.exchange_scratch(&mut stepper.data);
                let last = Step::last(&self.model, &mut own).ok_or(EnvironmentError::NoStep);
                let failure = last.and_then(|mut step| go(&mut step)).err();
                own.exchange_scratch(&mut stepper.data);
                self.own = Some(own);
                failure
            }
            (true, own) => {
                self.own = own;
                self.repeat(stepper, go).err()
            }
        };
    }

    /// Repeats the last step. Its end is known: state and warm start stay.
    fn repeat(
        &mut self,
        stepper: &mut Stepper,
        go: impl FnOnce(&mut Step) -> Result<(), EnvironmentError>,
    ) -> Result<(), EnvironmentError> {
        swap(&mut self.x, &mut self.before);
        self.exchange(stepper);
        let restored = stepper.data.restore(&self.warm_before).map_err(|e| EnvironmentError::Step(e.into()));
        let done = restored.and_then(|()| {
            let mut step = stepper.try_step()?;
            go(&mut step)
        });
        self.exchange(stepper);
        swap(&mut self.x, &mut self.before);
        done
    }

    /// Calls `go` with the record of the last control step, which has several engine steps.
    fn with_held(
        &mut self,
        stepper: &mut Stepper,
        go: impl FnOnce(&mut Recorder, &mut Stepper) -> Result<(), EnvironmentError>,
    ) {
        let recorded = if self.stepped { self.record_hold(stepper) } else { Err(EnvironmentError::NoStep) };
        match recorded {
            Ok(()) => self.with_record(stepper, go),
            Err(e) => self.failure = Some(e),
        }
    }

    /// The gradient of the last control step, added to `out`; that with respect to groups of parameters lies one group after the
    /// other.
    pub fn vjp(
        &mut self,
        stepper: &mut Stepper,
        [w_q, w_v]: [&[f64]; 2],
        groups: &[ParameterGroup],
        [q, v, tau, ctrl, parameters]: [&mut [f64]; 5],
    ) {
        let mut parameters = by_group(&self.model, groups, parameters);
        let out = InputGrad { q, v, tau, ctrl, act: &mut [] };
        if self.hold > 1 {
            let w = StateGrad { q: w_q, v: w_v, ..StateGrad::default() };
            return self
                .with_held(stepper, |recorder, stepper| Ok(recorder.back(stepper, &w, &[], out, &mut parameters)?));
        }
        let w = OutputGrad { q: w_q, v: w_v, ..OutputGrad::default() };
        self.differentiate(stepper, |step| {
            step.vjp(w, out)?;
            parameters.iter_mut().try_for_each(|(group, out)| step.vjp_parameters(w, *group, out))?;
            Ok(())
        });
    }

    /// The change of the state after the last control step along a change of what it was made from; zero where there is none.
    pub fn jvp(
        &mut self,
        stepper: &mut Stepper,
        [q, v, tau, ctrl, parameters]: [&[f64]; 5],
        groups: &[ParameterGroup],
        [dq, dv]: [&mut [f64]; 2],
    ) {
        let mut rest = parameters;
        let parameters = groups.iter().map(|group| {
            let (taken, left) = rest.split_at(self.model.parameters().group(*group).len());
            rest = left;
            (*group, taken)
        });
        let parameters: Vec<_> = parameters.collect();
        let out = [&mut *dq, &mut *dv];
        if self.hold > 1 {
            let dx = RolloutDirection { q, v, tau, ctrl, parameters: &parameters, ..RolloutDirection::default() };
            self.with_held(stepper, |recorder, stepper| Ok(recorder.along_held(stepper, &dx, out)?));
        } else {
            let (along, mut memory) = (InputDirection { q, v, tau, ctrl, act: &[] }, Vec::new());
            self.differentiate(stepper, |step| Ok(push_along(step, along, &parameters, &mut memory, out)?));
        }
        if self.failure.is_some() {
            [dq, dv].into_iter().for_each(|x| x.fill(0.0));
        }
    }

    /// All derivatives of the last control step, as [`BatchJacobian`](super::super::BatchJacobian) has them.
    pub fn jacobian(&mut self, stepper: &mut Stepper, mut out: [&mut [f64]; 8]) {
        if self.hold > 1 {
            let (nv, wanted) = (self.x.v.len(), wanted(&out));
            return self.with_held(stepper, |recorder, stepper| {
                let last = recorder.forward(stepper, 1, wanted, |_, _| ())?;
                write_state(&last, nv, 1, &mut out);
                Ok(())
            });
        }
        self.differentiate(stepper, |step| {
            let J = step.jacobian()?;
            let blocks = [J.dq_dq, J.dq_dv, J.dq_dtau, J.dq_dctrl, J.dv_dq, J.dv_dv, J.dv_dtau, J.dv_dctrl];
            out.into_iter().zip(blocks).for_each(|(out, block)| write(block, out));
            Ok(())
        });
    }

    /// What the sensors have read in the last engine step; zeros for those that cannot be read.
    pub fn sensors(&mut self, stepper: &mut Stepper, out: &mut [f64]) {
        let mut sensors = stepper.sensors.take();
        self.with_step(stepper, |step| {
            let sensors = sensors.get_or_insert_with(|| Box::new(Sensors::new(step.model())));
            step.sensors(sensors).map_err(GradientError::from)?;
            for (k, range) in sensors.ranges().iter().enumerate() {
                if let Ok(numbers) = sensors.get(k) {
                    out[range.clone()].copy_from_slice(numbers);
                }
            }
            Ok(())
        });
        stepper.sensors = sensors;
    }

    /// Reads the contacts of the last engine step; none where there is no step.
    pub fn read_contacts(&mut self, stepper: &mut Stepper) {
        let mut contacts = std::mem::take(&mut self.contacts);
        contacts.clear();
        self.with_step(stepper, |step| {
            contacts.extend(step.contacts());
            Ok(())
        });
        self.contacts = contacts;
    }
}

/// Parts of a row of numbers that belong to groups of parameters.
pub(super) fn by_group<'a>(
    model: &Model,
    groups: &[ParameterGroup],
    mut numbers: &'a mut [f64],
) -> Vec<(ParameterGroup, &'a mut [f64])> {
    let part = |group: &ParameterGroup| {
        let (taken, left) = std::mem::take(&mut numbers).split_at_mut(model.parameters().group(*group).len());
        numbers = left;
        (*group, taken)
    };
    groups.iter().map(part).collect()
}
