//! What the last step of every environment shows: sensors and contacts.

use super::Batch;
use super::error::BatchError;
use crate::rows::RowsMut;
use slipstick_core::step::ContactView;

impl Batch {
    /// Numbers that the sensors of an environment read, in the order of [`Sensors::values`](crate::sensors::Sensors::values).
    pub fn readings_per_environment(&self) -> usize {
        let sensors = self.environments[0].model().sensors();
        sensors.iter().map(|sensor| sensor.quantity.size(sensor.object)).sum()
    }

    /// Writes what all sensors have read in the last step of every environment, a row of
    /// [`Batch::readings_per_environment`] each. Sensors that cannot be read, and environments without a step, leave theirs as
    /// they are. Free from the second step on; of a control step or a rollout those of the last engine step.
    pub fn sensors(&mut self, out: &mut [f64]) -> Result<(), BatchError> {
        let out = [RowsMut::new("readings", out, self.len(), self.readings_per_environment())?];
        self.keeps_steps = true;
        self.run([], out, |environment, stepper, [], [out]| environment.sensors(stepper, out))
    }

    /// The contacts of the last step of every environment, as [`Step::contacts`](crate::Step::contacts) has them, in the order of the
    /// environments; none for those without a step, which the error lists.
    pub fn read_contacts(&mut self) -> Result<(), BatchError> {
        self.keeps_steps = true;
        self.run([], [], |environment, stepper, [], []| environment.read_contacts(stepper))
    }

    /// What [`Batch::read_contacts`] has found.
    pub fn contacts(&self) -> impl ExactSizeIterator<Item = &[ContactView]> + '_ {
        self.environments.iter().map(|environment| &environment.contacts[..])
    }
}
