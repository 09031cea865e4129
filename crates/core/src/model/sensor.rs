//! Sensors: quantities that a file wants measured. Read from a finished step; the list is kept with the model.

use super::ids::{ActuatorId, FrameId, JointId};
use super::sensor_data::{ContactReport, GeomSet, RayData};

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
    /// Bound of the reading (its unit): numbers beyond it are clamped; of distances, how far to look. Zero: no bound.
    pub cutoff: f64,
}

impl Sensor {
    /// A sensor without reference frame and bound.
    pub fn new(name: impl Into<String>, quantity: Quantity, object: SensorObject) -> Sensor {
        Sensor { name: name.into(), quantity, object, reference: None, cutoff: 0.0 }
    }

    /// How many numbers a reading has.
    pub const fn size(&self) -> usize {
        self.quantity.size(self.object)
    }

    /// The interval to which each number of a reading is clamped.
    pub(crate) fn bounds(&self) -> [f64; 2] {
        let c = self.cutoff;
        match self.quantity {
            _ if c == 0.0 => [f64::NEG_INFINITY, f64::INFINITY],
            // directions, rotations, and lists of different things
            Quantity::Quaternion | Quantity::XAxis | Quantity::YAxis | Quantity::ZAxis | Quantity::Normal => {
                [f64::NEG_INFINITY, f64::INFINITY]
            }
            Quantity::FromTo | Quantity::Contact(_) => [f64::NEG_INFINITY, f64::INFINITY],
            Quantity::Touch | Quantity::InsideSite => [f64::NEG_INFINITY, c],
            _ => [-c, c],
        }
    }
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
    /// Two sets of geoms.
    Geoms([GeomSet; 2]),
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
    /// The magnetic field of the options, in the frame itself.
    Magnetometer,
    /// What a ray along the frame's z axis meets first; geoms of the frame's own link are left out.
    RangeFinder(RayData),
    /// One if the object's origin is inside the shape of the site that is the reference, else zero.
    InsideSite,
    /// Signed distance of two sets of geoms, at most the sensor's `cutoff`.
    Distance,
    /// Unit vector between their nearest points, from the first to the second; zeros beyond the cutoff.
    Normal,
    /// Their nearest points, the first's and the second's; zeros beyond the cutoff.
    FromTo,
    /// Contacts between two sets of geoms.
    Contact(ContactReport),
    PotentialEnergy,
    KineticEnergy,
    /// So many zeros, in place of what a program would write.
    User(usize),
}

impl Quantity {
    /// How many numbers a reading has.
    pub const fn size(self, object: SensorObject) -> usize {
        match self {
            Quantity::Quaternion => 4,
            Quantity::FromTo => 6,
            Quantity::User(size) => size,
            Quantity::RangeFinder(data) => data.size(),
            Quantity::Contact(report) => report.data.size().saturating_mul(report.slots),
            Quantity::Position | Quantity::Velocity => match object {
                SensorObject::Frame(_) | SensorObject::Inertial(_) => 3,
                _ => 1,
            },
            Quantity::Clock
            | Quantity::ActuatorForce
            | Quantity::Touch
            | Quantity::LimitPosition
            | Quantity::LimitVelocity
            | Quantity::LimitForce
            | Quantity::InsideSite
            | Quantity::Distance
            | Quantity::PotentialEnergy
            | Quantity::KineticEnergy => 1,
            _ => 3,
        }
    }
}
