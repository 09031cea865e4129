//! Quantities that must be computed before the sensors of a model are read one by one.

use crate::model::{Model, Quantity, Sensor};

/// Quantities that several sensors use.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Needs {
    /// Accelerations of bodies.
    pub acceleration: bool,
    /// Sums over links.
    pub loads: bool,
    /// Forces of constraints on links.
    pub forces: bool,
    /// Forces of actuators on dofs.
    pub actuation: bool,
    /// The contacts that are felt.
    pub touching: bool,
    /// Nearest points of geoms.
    pub nearest: bool,
}

impl Needs {
    /// The needs of all sensors of a model.
    pub fn of(model: &Model) -> Needs {
        let mut needs = Needs::default();
        for s in model.sensors() {
            let moving = [Quantity::Accelerometer, Quantity::LinearAcceleration, Quantity::AngularAcceleration];
            needs.acceleration |= moving.contains(&s.quantity) || is_load(s);
            needs.loads |= is_load(s);
            needs.forces |= matches!(s.quantity, Quantity::Force | Quantity::Torque);
            needs.actuation |= s.quantity == Quantity::ActuatorForce;
            needs.touching |= matches!(s.quantity, Quantity::Contact(_));
            needs.nearest |= is_nearest(s);
        }
        needs
    }
}

/// Sensors that add up forces of constraints.
pub(super) fn is_summed(s: &Sensor) -> bool {
    matches!(s.quantity, Quantity::Touch | Quantity::LimitForce)
}

/// Sensors that read sums over links.
pub(super) fn is_load(s: &Sensor) -> bool {
    matches!(
        s.quantity,
        Quantity::Force
            | Quantity::Torque
            | Quantity::SubtreeCenterOfMass
            | Quantity::SubtreeLinearVelocity
            | Quantity::SubtreeAngularMomentum
    )
}

/// Sensors of the nearest points of two sets of geoms.
pub(super) fn is_nearest(s: &Sensor) -> bool {
    matches!(s.quantity, Quantity::Distance | Quantity::Normal | Quantity::FromTo)
}

/// Range finders.
pub(super) fn is_ray(s: &Sensor) -> bool {
    matches!(s.quantity, Quantity::RangeFinder(_))
}
