//! Steps of an environment: one, several under one control, or a rollout with all its states.

use super::super::error::EnvironmentError;
use super::{Environment, copy_state};
use crate::rollout_gradient::{Memory, Recorder, Stepper};
use slipstick_core::dynamics::Wrench;
use slipstick_core::model::BodyId;
use slipstick_core::spatial::Vec3;
use slipstick_core::{Input, Model, State};
use std::mem::swap;

/// What acts on an environment: rows of forces and controls, and wrenches in all steps.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Acting<'a> {
    pub input: Input<'a>,
    /// Force and torque on every body, in addition to those of the input, or nothing.
    pub wrenches: &'a [f64],
}

impl Acting<'_> {
    /// Prepares the stepper for steps under it.
    fn expect(&self, stepper: &mut Stepper) {
        stepper.expect(&self.input);
        let rows = self.wrenches.as_chunks::<6>().0.iter().enumerate();
        let wrench =
            |(i, w): (usize, &[f64; 6])| Wrench::new(BodyId(i), Vec3::from_slice(w), Vec3::from_slice(&w[3..]));
        stepper.command.wrenches.extend(rows.map(wrench));
    }
}

impl Environment {
    /// One step; without one, the state stays.
    pub fn step(
        &mut self,
        stepper: &mut Stepper,
        keep: bool,
        [q, v]: [&[f64]; 2],
        acting: &Acting,
        [q_next, v_next]: [&mut [f64]; 2],
    ) {
        self.advance_in(stepper, keep, |own, stepper| {
            own.enter(stepper, q, v)?;
            acting.expect(stepper);
            stepper.take(&acting.input, 0);
            if keep {
                own.mark(stepper);
            } else {
                copy_state(&stepper.x, &mut own.before);
                // the warm start that it was put back to
                swap(&mut own.warm, &mut own.warm_before);
            }
            own.report.add(&stepper.try_step()?);
            stepper.go_on();
            own.stepped = true;
            Ok(())
        });
        q_next.copy_from_slice(&self.x.q);
        v_next.copy_from_slice(&self.x.v);
    }

    /// Several engine steps under one control; where one fails, the state before it stays. Recorded, if steps are kept; else a
    /// derivative makes them again.
    pub fn hold(
        &mut self,
        stepper: &mut Stepper,
        keep: bool,
        steps: usize,
        [q, v]: [&[f64]; 2],
        acting: &Acting,
        [q_next, v_next]: [&mut [f64]; 2],
    ) {
        let memory = keep.then_some(Memory::Recompute);
        self.advance_in(stepper, keep, |own, stepper| {
            own.begin(stepper, steps, memory, [q, v], acting)?;
            stepper.take(&acting.input, 0);
            own.mark(stepper);
            for t in 0..steps {
                // nothing to take: what acts stays
                own.advance(stepper, memory, t, &Input::default())?;
            }
            (own.recorded, own.hold) = (memory.is_some(), steps);
            Ok(())
        });
        q_next.copy_from_slice(&self.x.q);
        v_next.copy_from_slice(&self.x.v);
    }

    /// Makes the engine steps of the last control step again and records them, unless that was done.
    pub(super) fn record_hold(&mut self, stepper: &mut Stepper) -> Result<(), EnvironmentError> {
        if self.recorded {
            return Ok(());
        }
        let mut recorder = recorder(self.recorder.take(), &self.model, self.hold, Memory::Recompute);
        self.exchange_model(stepper);
        copy_state(&self.before, &mut stepper.x);
        let restored = stepper.data.restore(&self.warm_before).map_err(|e| EnvironmentError::Step(e.into()));
        let mut record = || {
            recorder.begin(stepper)?;
            (0..self.hold).try_for_each(|t| recorder.advance(stepper, t, &Input::default(), |_, _| ()))
        };
        let done = restored.and_then(|()| Ok(record()?));
        self.exchange_model(stepper);
        self.recorder = Some(recorder);
        self.recorded = done.is_ok();
        done
    }

    /// Steps from a state; `see` is shown all states. Where a step fails, its state stays to the end.
    pub fn rollout(
        &mut self,
        stepper: &mut Stepper,
        keep: bool,
        steps: usize,
        memory: Option<Memory>,
        x: [&[f64]; 2],
        acting: &Acting,
        mut see: impl FnMut(&State),
    ) {
        self.advance_in(stepper, keep, |own, stepper| {
            let mut done = own.begin(stepper, steps, memory, x, acting);
            see(&stepper.x);
            for t in 0..steps {
                if t + 1 == steps && done.is_ok() {
                    own.mark(stepper);
                }
                done = done.and_then(|()| own.advance(stepper, memory, t, &acting.input));
                if done.as_ref().is_err_and(EnvironmentError::is_interruption) {
                    break; // nobody looks at the states that are left
                }
                see(&stepper.x);
            }
            own.recorded = done.is_ok() && memory.is_some();
            done
        });
    }

    fn begin(
        &mut self,
        stepper: &mut Stepper,
        steps: usize,
        memory: Option<Memory>,
        [q, v]: [&[f64]; 2],
        acting: &Acting,
    ) -> Result<(), EnvironmentError> {
        self.enter(stepper, q, v)?;
        acting.expect(stepper);
        let Some(memory) = memory else { return Ok(()) };
        let recorder = recorder(self.recorder.take(), &stepper.model, steps, memory);
        Ok(self.recorder.insert(recorder).begin(stepper)?)
    }

    /// Step number `t`.
    fn advance(
        &mut self,
        stepper: &mut Stepper,
        memory: Option<Memory>,
        t: usize,
        input: &Input,
    ) -> Result<(), EnvironmentError> {
        let Environment { recorder, report, last_key, .. } = self;
        match recorder.as_mut().filter(|_| memory.is_some()) {
            Some(recorder) => {
                recorder.advance(stepper, t, input, |step, key| report.add_next(step, Some(key), last_key))?;
            }
            None => {
                stepper.take(input, t);
                report.add_next(&stepper.step(t)?, None, last_key);
                stepper.go_on();
            }
        }
        self.stepped = true;
        Ok(())
    }
}

/// The recorder of the call before, if it fits, or a new one.
fn recorder(before: Option<Box<Recorder>>, model: &Model, steps: usize, memory: Memory) -> Box<Recorder> {
    let kept = before.filter(|r| r.steps == steps && r.memory == memory);
    kept.unwrap_or_else(|| Box::new(Recorder::new(model, steps, memory, &[])))
}
