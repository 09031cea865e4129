//! What a rollout keeps while its steps are made, and the way back through them. Who makes the steps, a rollout of its
//! own or an environment of a batch, hands in the stepper.

use super::Memory;
use super::stepper::Stepper;
use super::tape::{Layout, Tape};
use super::types::RolloutGradientError;
use slipstick_core::model::ParameterGroup;
use slipstick_core::sensors::Sensors;
use slipstick_core::{Input, Model, Step};

/// The record of a rollout of some number of steps.
#[derive(Debug, Clone)]
pub(crate) struct Recorder {
    pub steps: usize,
    pub memory: Memory,
    pub layout: Layout,
    pub tape: Tape,
    /// Gradients or changes of a state (q, v, act) and of the neighboring one.
    pub here: Vec<f64>,
    pub there: Vec<f64>,
    /// Memory for the derivatives of a step with respect to parameters, along a direction.
    pub scratch: Vec<f64>,
    /// Memory to read sensors and to differentiate them, made when it is needed first.
    pub sensors: Option<Box<Sensors>>,
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
            here: vec![0.0; 2 * model.nv() + model.na()],
            there: vec![0.0; 2 * model.nv() + model.na()],
            scratch: Vec::new(),
            sensors: None,
            choices: 0,
        }
    }

    /// Bytes that grow with the number of steps.
    pub fn bytes(&self, model: &Model) -> usize {
        let fixed = Tape::bytes(model, &self.layout, self.steps, self.memory);
        fixed.saturating_add(self.tape.bytes_of_starts())
    }

    /// Makes room and keeps the first state, which is the stepper's.
    pub fn begin(&mut self, stepper: &Stepper) -> Result<(), RolloutGradientError> {
        self.tape.begin(&stepper.model, &self.layout, self.steps, self.memory)?;
        self.tape.record.push_state(&stepper.x);
        self.choices = 0;
        Ok(())
    }

    /// Before steps are repeated: those of a stored rollout were counted when it was made.
    pub fn count_anew(&mut self) {
        if self.memory == Memory::Recompute {
            self.choices = 0;
        }
    }

    /// Step number `t`: makes it, shows it and its mode key to `see`, keeps what its derivative needs, and puts the stepper into the state after it.
    pub fn advance(
        &mut self,
        stepper: &mut Stepper,
        t: usize,
        input: &Input,
        see: impl FnOnce(&Step, u64),
    ) -> Result<(), RolloutGradientError> {
        let Recorder { memory, layout, tape, choices, sensors, .. } = self;
        if *memory == Memory::Recompute {
            stepper.data.copy_warm_start(&mut tape.starts[t]);
        }
        stepper.take(input, t);
        let mut done = stepper.step(t)?;
        let key = done.mode_key();
        see(&done, key);
        tape.keys.push(key);
        tape.record.push_step(&done);
        if layout.readings > 0 {
            let sensors = sensors.get_or_insert_with(|| Box::new(Sensors::new(done.model())));
            done.sensors(sensors)?;
            tape.push_readings(sensors);
        }
        if *memory == Memory::Store {
            let pushed = tape.push_matrix(layout, &mut done).and_then(|()| done.is_choice());
            *choices += usize::from(pushed.map_err(|error| RolloutGradientError::Gradient { step: t, error })?);
        }
        stepper.go_on();
        tape.record.push_state(&stepper.x);
        Ok(())
    }
}
