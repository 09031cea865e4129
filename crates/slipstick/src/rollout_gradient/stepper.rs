//! Makes and repeats the steps of a rollout.

use super::tape::Tape;
use super::types::RolloutGradientError;
use crate::control::Command;
use crate::interrupt;
use crate::simulator::RolloutError;
use slipstick_core::dynamics::Wrench;
use slipstick_core::sensors::Sensors;
use slipstick_core::{Data, Input, InputError, Model, State, Step, StepError, WarmStart, step};

/// A model, memory for a step, and what the step is made from and leads to.
#[derive(Debug, Clone)]
pub(crate) struct Stepper {
    pub model: Model,
    pub data: Box<Data>,
    pub x: State,
    next: State,
    pub command: Command,
    /// Whether its model is differentiated in another mode than that of a recorded rollout, and so looks for contacts elsewhere.
    pub remade: bool,
    /// Memory to read sensors, made when it is needed first.
    pub sensors: Option<Box<Sensors>>,
}

impl Stepper {
    pub fn new(model: &Model) -> Stepper {
        let (x, command) = (State::neutral(model), Command::new(model));
        Stepper {
            model: model.clone(),
            data: Box::new(Data::new(model)),
            next: x.clone(),
            x,
            command,
            remade: false,
            sensors: None,
        }
    }

    /// Bytes of its heap memory.
    pub fn heap(&self) -> usize {
        let Command { ctrl, tau, wrenches, mocap, .. } = &self.command;
        let State { q, v, act, .. } = &self.x;
        let vectors = [q, v, act, &self.next.q, &self.next.v, &self.next.act, ctrl, tau, mocap].map(Vec::capacity);
        let numbers = 8 * vectors.iter().sum::<usize>();
        self.data.bytes() + numbers + wrenches.capacity() * size_of::<Wrench>()
    }

    /// Ready for the first step.
    pub fn begin(&mut self, x0: &State, start: &WarmStart, input: &Input) -> Result<(), InputError> {
        self.x.clone_from(x0);
        self.expect(input);
        self.data.restore(start)
    }

    /// Ready for steps with this kind of input.
    pub fn expect(&mut self, input: &Input) {
        let command = &mut self.command;
        command.actuated = input.ctrl.is_some();
        command.ctrl.fill(0.0);
        command.tau.fill(0.0);
        command.wrenches.clear();
        command.wrenches.extend_from_slice(input.wrenches);
        command.mocap.clear();
        if !input.mocap.is_empty() {
            command.mocap.resize(7 * self.model.n_mocap(), 0.0);
        }
    }

    /// Takes what acts in step `t`.
    pub fn take(&mut self, input: &Input, t: usize) {
        fill(input.ctrl.unwrap_or_default(), t, &mut self.command.ctrl);
        fill(input.tau, t, &mut self.command.tau);
        fill(input.mocap, t, &mut self.command.mocap);
    }

    /// Makes the step from `x`.
    pub fn try_step(&mut self) -> Result<Step<'_>, StepError> {
        let Stepper { model, data, x, next, command, .. } = self;
        step(model, data, x, &command.input(), next)
    }

    /// Makes the step from `x` as number `t` of a rollout.
    pub fn step(&mut self, t: usize) -> Result<Step<'_>, RolloutGradientError> {
        interrupt::check()?;
        self.try_step().map_err(|error| RolloutGradientError::Rollout(RolloutError { step: t, error }))
    }

    /// The state after the step becomes the one before the next.
    pub fn go_on(&mut self) {
        std::mem::swap(&mut self.x, &mut self.next);
    }

    /// Repeats step `t` of a recorded rollout. It begins with the same warm start as the first time, not with its
    /// own solution: so it takes the same way bit for bit, where the solution might lie on the edge of another mode.
    pub fn repeat(&mut self, tape: &Tape, t: usize) -> Result<Step<'_>, RolloutGradientError> {
        self.data.restore(&tape.starts[t])?;
        let record = &tape.record;
        self.x.time = record.time[t];
        fill(&record.q, t, &mut self.x.q);
        fill(&record.v, t, &mut self.x.v);
        fill(&record.act, t, &mut self.x.act);
        fill(&record.ctrl, t, &mut self.command.ctrl);
        fill(&record.tau, t, &mut self.command.tau);
        if !self.command.mocap.is_empty() {
            fill(&record.mocap, t, &mut self.command.mocap);
        }
        let remade = self.remade;
        let done = self.step(t)?;
        if remade || done.mode_key() == tape.keys[t] { Ok(done) } else { Err(RolloutGradientError::Branch { step: t }) }
    }
}

/// Row `t` of optional rows.
pub(super) fn fill(rows: &[f64], t: usize, out: &mut [f64]) {
    if !rows.is_empty() {
        out.copy_from_slice(&rows[t * out.len()..(t + 1) * out.len()]);
    }
}
