//! What a rollout keeps while its steps are made, and the way back through them. Who makes the steps, a rollout of its
//! own or an environment of a batch, hands in the machine.

use super::Memory;
use super::machine::{Machine, fill};
use super::tape::{Layout, Tape};
use super::types::{RolloutGradientError, RolloutInput};
use slipstick_core::{Model, ParameterGroup};

/// The record of a rollout of some number of steps.
#[derive(Debug, Clone)]
pub(crate) struct Recorder {
    pub steps: usize,
    pub memory: Memory,
    pub layout: Layout,
    pub tape: Tape,
    /// Gradients or changes of a state (q, v) and of the one beside it.
    pub here: Vec<f64>,
    pub there: Vec<f64>,
    /// Steps, of those that were differentiated last, whose derivative is a choice.
    pub choices: usize,
}

impl Recorder {
    pub fn new(model: &Model, steps: usize, memory: Memory, groups: &[ParameterGroup]) -> Recorder {
        Recorder {
            steps,
            memory,
            layout: Layout::new(model, groups),
            tape: Tape::new(model),
            here: vec![0.0; 2 * model.nv()],
            there: vec![0.0; 2 * model.nv()],
            choices: 0,
        }
    }

    /// Bytes that grow with the number of steps.
    pub fn bytes(&self, model: &Model) -> usize {
        let fixed = Tape::bytes(model, &self.layout, self.steps, self.memory);
        fixed.saturating_add(self.tape.bytes_of_starts())
    }

    /// Makes room and keeps the first state, which is the machine's.
    pub fn begin(&mut self, machine: &Machine) -> Result<(), RolloutGradientError> {
        self.tape.begin(&machine.model, &self.layout, self.steps, self.memory)?;
        self.tape.record.push_state(&machine.x);
        self.choices = 0;
        Ok(())
    }

    /// Before steps are made again: those of a stored rollout were counted when it was made.
    pub fn count_anew(&mut self) {
        if self.memory == Memory::Recompute {
            self.choices = 0;
        }
    }

    /// Step number `t`: makes it, keeps what its derivative needs, and puts the machine into the state after it.
    pub fn advance(
        &mut self,
        machine: &mut Machine,
        t: usize,
        input: &RolloutInput,
    ) -> Result<(), RolloutGradientError> {
        let Recorder { memory, layout, tape, choices, .. } = self;
        if *memory == Memory::Recompute {
            machine.data.copy_warm_start(&mut tape.starts[t]);
        }
        fill(input.ctrl, t, &mut machine.command.ctrl);
        fill(input.tau, t, &mut machine.command.tau);
        let (mut done, command) = machine.step(t)?;
        tape.keys.push(done.mode_key());
        tape.record.push_step(command, &done);
        if *memory == Memory::Store {
            let pushed = tape.push_matrix(layout, &mut done).and_then(|()| done.is_choice());
            *choices += usize::from(pushed.map_err(|error| RolloutGradientError::Gradient { step: t, error })?);
        }
        machine.go_on();
        tape.record.push_state(&machine.x);
        Ok(())
    }

    /// Puts the machine into the last state of the rollout.
    pub fn leave(&self, machine: &mut Machine) {
        let record = &self.tape.record;
        if let Some((last, time)) = record.time.iter().enumerate().next_back() {
            machine.x.time = *time;
            fill(&record.q, last, &mut machine.x.q);
            fill(&record.v, last, &mut machine.x.v);
        }
    }
}
