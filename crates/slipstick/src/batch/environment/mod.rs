//! One environment of a batch: a state, a warm start, and the arguments of its last step. The memory for steps belongs to the
//! threads.

mod forward;
mod last_step;
mod record;

pub(super) use forward::Acting;
pub(super) use record::Record;

use super::error::EnvironmentError;
use super::gradient::GradientChoice;
use super::report::EnvironmentReport;
use crate::control::Command;
use crate::control_step::impulse_of_weight;
use crate::rollout_gradient::{Recorder, Stepper};
use crate::simulator::Simulator;
use slipstick_core::step::ContactView;
use slipstick_core::{Data, InputError, Model, State, StepError, WarmStart};
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
    /// Engine steps in the last control step; where they are several, a record of them is kept.
    hold: usize,
    /// Whether the model has another gradient mode than the last steps were made with.
    remade: bool,
    /// Memory that holds the last step and its warm start, where steps are kept for their derivatives; `held` tells whether it
    /// does. Then `warm` is not kept up to date.
    own: Option<Box<Data>>,
    held: bool,
    /// Record of a rollout, made when the first one is wanted; `recorded` tells whether it is that of the last call.
    pub recorder: Option<Box<Recorder>>,
    pub recorded: bool,
    /// Steps of the last derivative that are a choice.
    pub choices: usize,
    /// What became of it in the last step or rollout, and what its constraints did in the last of several steps.
    pub report: EnvironmentReport,
    last_key: Option<u64>,
    /// Contacts of the last step, once they were asked for.
    pub contacts: Vec<ContactView>,
    /// Error of the last call.
    pub failure: Option<EnvironmentError>,
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
            hold: 1,
            remade: false,
            own: None,
            held: false,
            recorder: None,
            recorded: false,
            choices: 0,
            report: EnvironmentReport::default(),
            last_key: None,
            contacts: Vec::new(),
            failure: None,
        }
    }

    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        let recorder = self.recorder.as_ref().map_or(0, |r| size_of::<Recorder>() + r.bytes(&self.model));
        let Command { ctrl, tau, wrenches, mocap, .. } = &self.command;
        let of_state = |x: &State| x.q.capacity() + x.v.capacity() + x.act.capacity();
        let of_command = ctrl.capacity() + tau.capacity() + mocap.capacity();
        let numbers = 8 * (of_state(&self.x) + of_state(&self.before) + of_command) + size_of_val(&wrenches[..]);
        let own = self.own.as_ref().map_or(0, |data| data.bytes());
        let contacts = self.contacts.capacity() * size_of::<ContactView>();
        size_of::<Environment>() + numbers + own + recorder + contacts + self.warm.bytes() + self.warm_before.bytes()
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
        self.clear_records();
        self.x.time = 0.0;
    }

    /// Clears warm start and the records for derivatives.
    pub fn clear_records(&mut self) {
        self.warm.clear();
        (self.stepped, self.held, self.recorded) = (false, false, false);
    }

    /// Whether the last call was asked to end before it was done with this environment.
    pub fn is_interrupted(&self) -> bool {
        self.failure.as_ref().is_some_and(EnvironmentError::is_interruption)
    }

    /// Clears it and resets it to the initial state of a simulator of the model, or to numbers of a state where there are some.
    pub fn reset(&mut self, [q0, v0]: [&[f64]; 2], q: &mut [f64], v: &mut [f64]) {
        self.clear();
        self.x = Simulator::initial_state(&self.model);
        for (own, given) in [(&mut self.x.q, q0), (&mut self.x.v, v0)] {
            if !given.is_empty() {
                own.copy_from_slice(given);
            }
        }
        q.copy_from_slice(&self.x.q);
        v.copy_from_slice(&self.x.v);
    }

    /// Other activations. The last step can no longer be read or differentiated.
    pub fn set_act(&mut self, act: &[f64]) {
        self.x.act.copy_from_slice(act);
        (self.stepped, self.recorded) = (false, false);
    }

    /// A copy of what the next step begins with beside its state.
    pub fn warm_start(&self) -> WarmStart {
        match &self.own {
            Some(own) if self.held => own.warm_start(),
            _ => self.warm.clone(),
        }
    }

    /// Takes another warm start, which fits the model. The last step can no longer be differentiated.
    pub fn set_warm_start(&mut self, warm: &WarmStart) {
        self.warm = warm.clone();
        (self.stepped, self.held, self.recorded) = (false, false, false);
    }

    /// Calls `go` with derivatives in another mode: for those, steps are made again.
    pub fn with_gradient(&mut self, choice: GradientChoice, go: impl FnOnce(&mut Environment)) {
        match choice.model(&self.model) {
            Ok(None) => go(self),
            Ok(Some(mut model)) => {
                swap(&mut self.model, &mut model);
                let recorded = self.recorded;
                self.remade = true;
                go(self);
                // a record that was made meanwhile is one of the other model
                (self.remade, self.recorded) = (false, recorded);
                swap(&mut self.model, &mut model);
            }
            Err(e) => self.failure = Some(EnvironmentError::Gradient(e.into())),
        }
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
        self.report.impulse /= impulse_of_weight(&self.model);
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

    /// Puts the stepper into a state, if it is one.
    pub fn enter(&mut self, stepper: &mut Stepper, q: &[f64], v: &[f64]) -> Result<(), EnvironmentError> {
        (self.stepped, self.recorded, self.hold, self.last_key) = (false, false, 1, None);
        for (what, x) in [("q", q), ("v", v)] {
            if let Some(index) = x.iter().position(|x| !x.is_finite()) {
                return Err(StepError::Input(InputError::NotFinite { what, index }).into());
            }
        }
        stepper.x.q.copy_from_slice(q);
        stepper.x.v.copy_from_slice(v);
        Ok(())
    }
}

/// A state into memory that is there already.
fn copy_state(from: &State, to: &mut State) {
    to.q.copy_from_slice(&from.q);
    to.v.copy_from_slice(&from.v);
    to.act.copy_from_slice(&from.act);
    to.time = from.time;
}

/// Memory for steps without room to spare: a copy of what is empty takes nothing.
#[allow(clippy::redundant_clone)]
fn small_memory(model: &Model) -> Box<Data> {
    Box::new(Data::new(model).clone())
}
