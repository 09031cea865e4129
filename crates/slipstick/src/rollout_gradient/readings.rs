//! Sensors along a rollout: what they read in every step, and the gradient of a loss on that.

use super::types::{RolloutGrad, RolloutGradientError, StateGrad};
use super::{Memory, Rollout, RolloutGradient};
use slipstick_core::gradient::InputGrad;
use slipstick_core::input_check::vector_or_none;
use slipstick_core::model::ParameterGroup;
use slipstick_core::sensors::{SensorError, Sensors};
use slipstick_core::{Model, Step};

impl RolloutGradient {
    /// Runs also read all sensors in every step, for [`Rollout::readings`].
    pub fn with_sensors(mut self) -> RolloutGradient {
        self.recorder.layout.readings = size(&self.stepper.model);
        self.finished = false;
        self
    }
}

impl Rollout<'_> {
    /// What the sensors of step `t` have read, in the order of [`Sensors::values`] (zeros for those that cannot be read): empty
    /// past the last step, and without [`RolloutGradient::with_sensors`].
    pub fn readings(&self, t: usize) -> &[f64] {
        super::row(&self.0.recorder.tape.readings, self.0.recorder.layout.readings, t)
    }

    /// Adds to `out` the gradient of a loss on states and readings: `w` as in [`Rollout::vjp`], `readings` its derivatives with
    /// respect to the readings of every step (steps × numbers of a step). Needs [`Memory::Recompute`]. Costs one more
    /// adjoint solve for every step whose readings count and, for every group of parameters, another one.   (sens-7, sens-13)
    pub fn vjp_sensors(
        &mut self,
        w: StateGrad,
        readings: &[f64],
        out: &mut RolloutGrad,
    ) -> Result<(), RolloutGradientError> {
        let (model, steps) = (&self.0.stepper.model, self.0.recorder.steps);
        vector_or_none("gradient of the readings", readings, steps * size(model))?;
        if !readings.is_empty() && self.0.recorder.memory == Memory::Store {
            return Err(RolloutGradientError::Stored);
        }
        let sensors = self.0.recorder.sensors.get_or_insert_with(|| Box::new(Sensors::new(model)));
        check(sensors, readings).map_err(RolloutGradientError::Sensor)?;
        self.vjp_of(w, readings, out)
    }
}

/// How many numbers the sensors of a model read in a step.
pub(super) fn size(model: &Model) -> usize {
    model.sensors().iter().map(|s| s.quantity.size(s.object)).sum()
}

/// Sensors that cannot be read must have weights of zero.
fn check(sensors: &Sensors, readings: &[f64]) -> Result<(), SensorError> {
    let ranges = sensors.ranges();
    let Some(size) = ranges.last().map(|r| r.end).filter(|n| *n > 0) else { return Ok(()) };
    let weighted = |k: &usize| readings.chunks_exact(size).any(|row| row[ranges[*k].clone()].iter().any(|w| *w != 0.0));
    (0..ranges.len()).filter(weighted).try_for_each(|k| sensors.get(k).map(|_| ()))
}

/// Adds what the readings of a step owe to what it was made from and to parameters.
pub(super) fn add_readings<P: AsMut<[f64]>>(
    step: &mut Step,
    weights: &[f64],
    out: &mut InputGrad,
    parameters: &mut [(ParameterGroup, P)],
    sensors: &mut Sensors,
) -> Result<(), SensorError> {
    let InputGrad { q, v, tau, ctrl, act } = out;
    step.sensor_vjp(weights, InputGrad { q, v, tau, ctrl, act }, sensors)?;
    for (group, out) in parameters {
        step.sensor_vjp_parameters(weights, *group, sensors, out.as_mut())?;
    }
    Ok(())
}
