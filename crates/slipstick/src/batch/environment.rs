//! One environment of a batch: a robot with its memory, and what of it can be differentiated.

use super::error::EnvironmentError;
use crate::rollout_gradient::{Machine, Recorder, RolloutInput, fill};
use crate::simulator::initial_state;
use slipstick_core::{InputError, InputGrad, Model, OutputGrad, Step, StepError, WarmStart};

/// A robot. Its machine's `x` is the state it is in: finite, whatever was handed in. Aligned, so that no two threads
/// write to one line of the cache.
#[derive(Debug, Clone)]
#[repr(align(128))]
pub(super) struct Environment {
    pub machine: Machine,
    /// Whether the machine holds a finished step of its present model.
    pub stepped: bool,
    /// Record of a rollout, made when the first one is wanted; `recorded` tells whether it is that of the last call.
    pub recorder: Option<Box<Recorder>>,
    pub recorded: bool,
    /// What the way back through a rollout must not change.
    pub end: WarmStart,
    /// Why it did not do what was asked last.
    pub failure: Option<EnvironmentError>,
}

impl Environment {
    pub fn new(model: &Model) -> Environment {
        let mut machine = Machine::new(model);
        machine.x = initial_state(model);
        let end = WarmStart::default();
        Environment { machine, stepped: false, recorder: None, recorded: false, end, failure: None }
    }

    pub fn model(&self) -> &Model {
        &self.machine.model
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        let recorder = self.recorder.as_ref().map_or(0, |r| size_of::<Recorder>() + r.bytes(&self.machine.model));
        size_of::<Environment>() + self.machine.heap() + recorder + self.end.bytes()
    }

    /// The same with another model of the same structure.
    pub fn with_model(&self, model: &Model) -> Environment {
        let mut other = self.clone();
        other.set_model(model);
        other.machine.x = initial_state(model);
        other
    }

    /// Another model of the same structure. The warm start stays.
    pub fn set_model(&mut self, model: &Model) {
        self.machine.model = model.clone();
        (self.recorder, self.stepped, self.recorded) = (None, false, false);
    }

    /// Drops warm start, clock and what could be differentiated.
    pub fn forget(&mut self) {
        self.machine.data.forget();
        self.machine.x.time = 0.0;
        (self.stepped, self.recorded) = (false, false);
    }

    /// The same, and back to the state in which a simulator of the model begins.
    pub fn reset(&mut self, q: &mut [f64], v: &mut [f64]) {
        self.forget();
        self.machine.x = initial_state(&self.machine.model);
        q.copy_from_slice(&self.machine.x.q);
        v.copy_from_slice(&self.machine.x.v);
    }

    /// One step; without one, the state stays.
    pub fn step(&mut self, [q, v, tau, ctrl]: [&[f64]; 4], actuated: bool, [q_next, v_next]: [&mut [f64]; 2]) {
        let done = self.try_step([q, v, tau, ctrl], actuated);
        self.settle(done);
        q_next.copy_from_slice(&self.machine.x.q);
        v_next.copy_from_slice(&self.machine.x.v);
    }

    fn try_step(&mut self, [q, v, tau, ctrl]: [&[f64]; 4], actuated: bool) -> Result<(), EnvironmentError> {
        self.enter(q, v)?;
        self.machine.expect(&RolloutInput::default());
        fill(tau, 0, &mut self.machine.command.tau);
        fill(ctrl, 0, &mut self.machine.command.ctrl);
        self.machine.command.actuated = actuated;
        self.machine.try_step()?;
        self.machine.go_on();
        self.stepped = true;
        Ok(())
    }

    /// Puts it into a state, if it is one.
    pub fn enter(&mut self, q: &[f64], v: &[f64]) -> Result<(), EnvironmentError> {
        (self.stepped, self.recorded) = (false, false);
        for (what, x) in [("q", q), ("v", v)] {
            if let Some(index) = x.iter().position(|x| !x.is_finite()) {
                return Err(StepError::Input(InputError::NotFinite { what, index }).into());
            }
        }
        self.machine.x.q.copy_from_slice(q);
        self.machine.x.v.copy_from_slice(v);
        Ok(())
    }

    /// Keeps why something failed. A step that broke off may have left a warm start that is no use to the next one.
    pub fn settle(&mut self, done: Result<(), EnvironmentError>) {
        if done.is_err() {
            self.machine.data.forget();
            self.stepped = false;
        }
        self.failure = done.err();
    }

    /// Calls `go` with the last step.
    pub fn differentiate(&mut self, go: impl FnOnce(&mut Step) -> Result<(), EnvironmentError>) {
        let Machine { model, data, .. } = &mut self.machine;
        let last = if self.stepped { Step::last(model, data) } else { None };
        self.failure = last.ok_or(EnvironmentError::NoStep).and_then(|mut step| go(&mut step)).err();
    }

    /// The gradient of the last step, added to `out`.
    pub fn vjp(&mut self, [w_q, w_v]: [&[f64]; 2], [q, v, tau, ctrl]: [&mut [f64]; 4]) {
        let w = OutputGrad { q: w_q, v: w_v, impulses: &[] };
        self.differentiate(|step| Ok(step.vjp(w, InputGrad { q, v, tau, ctrl })?));
    }
}
