//! Sensors: quantities that a file wants measured. Read from a finished step; the list is kept with the model.

use super::ids::{ActuatorId, FrameId, JointId};

/// A quantity to be measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensor {
    /// Name; may be empty.
    pub name: String,
    /// The measured quantity.
    pub quantity: Quantity,
    /// The object it is attached to.
    pub object: SensorObject,
    /// Frame in which it is expressed; `None`: the world, or the object's own frame where the quantity implies it.
    pub reference: Option<FrameId>,
}

/// What a sensor is attached to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SensorObject {
    /// Nothing: the whole simulation.
    World,
    /// A joint.
    Joint(JointId),
    /// A link or site.
    Frame(FrameId),
    /// The center of mass of a link and its axes of inertia.
    Inertial(FrameId),
    /// An actuator.
    Actuator(ActuatorId),
    /// A tendon, by number.
    Tendon(usize),
}

/// A measurable quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)] // the names are those of the quantities
pub enum Quantity {
    Clock,
    Position,
    Velocity,
    ActuatorForce,
    Quaternion,
    XAxis,
    YAxis,
    ZAxis,
    LinearVelocity,
    AngularVelocity,
    LinearAcceleration,
    AngularAcceleration,
    /// Acceleration with gravity, in the frame itself.
    Accelerometer,
    /// Linear velocity in the frame itself.
    Velocimeter,
    /// Angular velocity in the frame itself.
    Gyro,
    /// Force between a link and its parent, in the frame itself.
    Force,
    /// Torque between a link and its parent, in the frame itself.
    Torque,
    /// Normal contact force on the shape of a site.
    Touch,
    /// Center of mass of a link and all that it carries.
    SubtreeCenterOfMass,
    SubtreeLinearVelocity,
    SubtreeAngularMomentum,
    /// Signed distance to the nearer limit.
    LimitPosition,
    LimitVelocity,
    LimitForce,
}

impl Quantity {
    /// How many numbers a reading has.
    pub const fn size(self, object: SensorObject) -> usize {
        match self {
            Quantity::Quaternion => 4,
            Quantity::Position | Quantity::Velocity => match object {
                SensorObject::Frame(_) | SensorObject::Inertial(_) => 3,
                _ => 1,
            },
            Quantity::Clock
            | Quantity::ActuatorForce
            | Quantity::Touch
            | Quantity::LimitPosition
            | Quantity::LimitVelocity
            | Quantity::LimitForce => 1,
            _ => 3,
        }
    }
}
