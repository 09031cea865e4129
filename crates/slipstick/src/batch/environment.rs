//! One environment of a batch: a state, a warm start, and the arguments of its last step. The memory for steps belongs to the
//! threads.

use super::error::EnvironmentError;
use super::report::EnvironmentReport;
use crate::control::Command;
use crate::rollout_gradient::{Recorder, Stepper};
use crate::simulator::Simulator;
use slipstick_core::gradient::{InputGrad, OutputGrad};
use slipstick_core::{Data, Input, InputError, Model, State, Step, StepError, WarmStart};
use std::mem::swap;

/// A robot. Its state is finite for any input. Aligned, so that no two threads write to one line of the cache.
#[derive(Debug, Clone)]
#[repr(align(128))]
pub(super) struct Environment {
    model: Model,
    pub x: State,
    warm: WarmStart,
    /// The last step: state and warm start that it began with, and its input.
    before: State,
    warm_before: WarmStart,
    command: Command,
    /// Whether there is such a step of the present model.
    pub stepped: bool,
    /// Memory that holds the last step and its warm start, where steps are kept for their derivatives; `held` tells whether it
    /// does. Then `warm` is not kept up to date.
    own: Option<Box<Data>>,
    held: bool,
    /// Record of a rollout, made when the first one is wanted; `recorded` tells whether it is that of the last call.
    pub recorder: Option<Box<Recorder>>,
    pub recorded: bool,
    /// Steps of the last derivative that are a choice.
    pub choices: usize,
    /// What became of it in the last step or rollout.
    pub report: EnvironmentReport,
    /// Error of the last call.
    pub failure: Option<EnvironmentError>,
}

/// The record of a rollout of an environment, and what repeats its steps; `recorded` tells whether it came to its end.
#[derive(Debug, Clone)]
pub(super) struct Record {
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
    pub fn new(model: &Model) -> Environment {
        let x = Simulator::initial_state(model);
        Environment {
            model: model.clone(),
            before: x.clone(),
            x,
            warm: WarmStart::default(),
            warm_before: WarmStart::default(),
            command: Command::new(model),
            stepped: false,
            own: None,
            held: false,
            recorder: None,
            recorded: false,
            choices: 0,
            report: EnvironmentReport::default(),
            failure: None,
        }
    }

    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        let recorder = self.recorder.as_ref().map_or(0, |r| size_of::<Recorder>() + r.bytes(&self.model));
        let Command { ctrl, tau, wrenches, .. } = &self.command;
        let vectors = [&self.x.q, &self.x.v, &self.before.q, &self.before.v, ctrl, tau].map(Vec::capacity);
        let numbers = 8 * vectors.iter().sum::<usize>() + size_of_val(&wrenches[..]);
        let own = self.own.as_ref().map_or(0, |data| data.bytes());
        size_of::<Environment>() + numbers + own + recorder + self.warm.bytes() + self.warm_before.bytes()
    }

    /// A copy with another model of the same structure.
    pub fn with_model(&self, model: &Model) -> Environment {
        let mut other = self.clone();
        other.set_model(model);
        other.x = Simulator::initial_state(model);
        other
    }

    /// Another model of the same structure. The warm start stays.
    pub fn set_model(&mut self, model: &Model) {
        self.model = model.clone();
        (self.recorder, self.stepped, self.recorded) = (None, false, false);
    }

    /// Clears warm start, clock and the records for derivatives.
    pub fn clear(&mut self) {
        self.warm.clear();
        self.x.time = 0.0;
        (self.stepped, self.held, self.recorded) = (false, false, false);
    }

    /// Clears it and resets it to the initial state of a simulator of the model.
    pub fn reset(&mut self, q: &mut [f64], v: &mut [f64]) {
        self.clear();
        self.x = Simulator::initial_state(&self.model);
        q.copy_from_slice(&self.x.q);
        v.copy_from_slice(&self.x.v);
    }

    /// Takes its model, state and input into a stepper, or back out of it.
    fn exchange(&mut self, stepper: &mut Stepper) {
        swap(&mut self.model, &mut stepper.model);
        swap(&mut self.x, &mut stepper.x);
        swap(&mut self.command, &mut stepper.command);
    }

    /// Calls `go` with a stepper that is in its state, with its warm start and, to `keep` the step, its own memory. The state and
    /// the warm start that come out are its next ones.
    pub fn advance_in(
        &mut self,
        stepper: &mut Stepper,
        keep: bool,
        go: impl FnOnce(&mut Environment, &mut Stepper) -> Result<(), EnvironmentError>,
    ) {
        let mut own = keep.then(|| self.own.take().unwrap_or_else(|| small_memory(&self.model)));
        if let Some(own) = &mut own {
            swap(own, &mut stepper.data);
            stepper.data.exchange_scratch(own);
        }
        self.exchange(stepper);
        self.report = EnvironmentReport::default();
        // memory that holds the last step has its warm start
        let restored = if keep && self.held { Ok(()) } else { stepper.data.restore(&self.warm) };
        let done = restored.map_err(|e| EnvironmentError::Step(e.into())).and_then(|()| go(self, stepper));
        self.exchange(stepper);
        if done.is_ok() && !keep {
            stepper.data.copy_warm_start(&mut self.warm);
        }
        if done.is_err() {
            // a step that broke off may have left a warm start that is no use to the next one
            self.warm.clear();
            self.stepped = false;
            self.report.fail();
        }
        if let Some(own) = &mut own {
            stepper.data.exchange_scratch(own);
            swap(own, &mut stepper.data);
        }
        self.held = keep && done.is_ok();
        self.own = own.or(self.own.take());
        self.failure = done.err();
    }

    /// Saves the arguments of the next step, so that it can be repeated. The stepper is in the environment's state.
    pub fn mark(&mut self, stepper: &Stepper) {
        copy_state(&stepper.x, &mut self.before);
        stepper.data.copy_warm_start(&mut self.warm_before);
    }

    /// One step; without one, the state stays.
    pub fn step(
        &mut self,
        stepper: &mut Stepper,
        keep: bool,
        [q, v]: [&[f64]; 2],
        input: &Input,
        [q_next, v_next]: [&mut [f64]; 2],
    ) {
        self.advance_in(stepper, keep, |own, stepper| {
            own.enter(stepper, q, v)?;
            stepper.expect(input);
            stepper.take(input, 0);
            copy_state(&stepper.x, &mut own.before);
            // the warm start that it was put back to
            swap(&mut own.warm, &mut own.warm_before);
            own.report.add(stepper.try_step()?.report());
            stepper.go_on();
            own.stepped = true;
            Ok(())
        });
        q_next.copy_from_slice(&self.x.q);
        v_next.copy_from_slice(&self.x.v);
    }

    /// Puts the stepper into a state, if it is one.
    pub fn enter(&mut self, stepper: &mut Stepper, q: &[f64], v: &[f64]) -> Result<(), EnvironmentError> {
        (self.stepped, self.recorded) = (false, false);
        for (what, x) in [("q", q), ("v", v)] {
            if let Some(index) = x.iter().position(|x| !x.is_finite()) {
                return Err(StepError::Input(InputError::NotFinite { what, index }).into());
            }
        }
        stepper.x.q.copy_from_slice(q);
        stepper.x.v.copy_from_slice(v);
        Ok(())
    }

    /// Calls `go` with the last step: the stored one, or one that is repeated bit for bit from its arguments.
    pub fn differentiate(&mut self, stepper: &mut Stepper, go: impl FnOnce(&mut Step) -> Result<(), EnvironmentError>) {
        let mut choice = false;
        let go = |step: &mut Step| {
            go(step)?;
            choice = step.is_choice()?;
            Ok(())
        };
        self.failure = match (self.stepped, self.own.take()) {
            (false, own) => {
                self.own = own;
                Some(EnvironmentError::NoStep)
            }
            (true, Some(mut own)) if self.held => {
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
        self.choices = usize::from(choice);
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

    /// The gradient of the last step, added to `out`.
    pub fn vjp(&mut self, stepper: &mut Stepper, [w_q, w_v]: [&[f64]; 2], [q, v, tau, ctrl]: [&mut [f64]; 4]) {
        let w = OutputGrad { q: w_q, v: w_v, impulses: &[] };
        self.differentiate(stepper, |step| Ok(step.vjp(w, InputGrad { q, v, tau, ctrl })?));
    }

    /// Calls `go` with a stepper of its model and its record.
    pub fn with_record(
        &mut self,
        stepper: &mut Stepper,
        go: impl FnOnce(&mut Recorder, &mut Stepper) -> Result<(), EnvironmentError>,
    ) {
        let Some(mut recorder) = self.recorder.take().filter(|_| self.recorded) else {
            self.failure = Some(EnvironmentError::NoRollout);
            return;
        };
        // the stepper's own state is scratch: the environment stays where it is
        swap(&mut self.model, &mut stepper.model);
        swap(&mut self.command, &mut stepper.command);
        self.failure = go(&mut recorder, stepper).err();
        self.choices = recorder.choices;
        swap(&mut self.model, &mut stepper.model);
        swap(&mut self.command, &mut stepper.command);
        self.recorder = Some(recorder);
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

/// A state into memory that is there already.
fn copy_state(from: &State, to: &mut State) {
    to.q.copy_from_slice(&from.q);
    to.v.copy_from_slice(&from.v);
    to.time = from.time;
}

/// Memory for steps without room to spare: a copy of what is empty takes nothing.
#[allow(clippy::redundant_clone)]
fn small_memory(model: &Model) -> Box<Data> {
    Box::new(Data::new(model).clone())
}
