//! Which sensors can be read.

use crate::model::{FrameId, JointKind, Model, Quantity, Sensor, SensorObject};

/// What a sensor lacks; `None`: nothing.
pub(super) fn missing(model: &Model, s: &Sensor) -> Option<&'static str> {
    match s.object {
        SensorObject::World if s.quantity == Quantity::Clock => None,
        SensorObject::World => Some("the world as a whole has a clock only"),
        SensorObject::Joint(id) => of_joint(model.joints()[id.0].kind, s.quantity),
        SensorObject::Tendon(_) => match s.quantity {
            Quantity::Position
            | Quantity::Velocity
            | Quantity::ActuatorForce
            | Quantity::LimitPosition
            | Quantity::LimitVelocity
            | Quantity::LimitForce => None,
            _ => Some("a tendon has a length, a velocity and forces only"),
        },
        SensorObject::Actuator(_) => match s.quantity {
            Quantity::Position | Quantity::Velocity | Quantity::ActuatorForce => None,
            _ => Some("an actuator has a length, a velocity and a force only"),
        },
        SensorObject::Frame(id) => of_frame(model, id, s),
        SensorObject::Inertial(_) => of_inertial(s),
    }
}

fn of_joint(kind: JointKind, what: Quantity) -> Option<&'static str> {
    let single = matches!(kind, JointKind::Revolute { .. } | JointKind::Prismatic { .. });
    let ball = kind == JointKind::Spherical;
    match what {
        Quantity::Position | Quantity::Velocity | Quantity::ActuatorForce if single => None,
        Quantity::Quaternion | Quantity::AngularVelocity if ball => None,
        Quantity::LimitPosition | Quantity::LimitVelocity | Quantity::LimitForce if single || ball => None,
        _ => Some("this kind of joint does not have the quantity"),
    }
}

fn of_frame(model: &Model, id: FrameId, s: &Sensor) -> Option<&'static str> {
    match s.quantity {
        Quantity::Position
        | Quantity::Quaternion
        | Quantity::XAxis
        | Quantity::YAxis
        | Quantity::ZAxis
        | Quantity::LinearVelocity
        | Quantity::AngularVelocity => None,
        Quantity::Accelerometer
        | Quantity::Velocimeter
        | Quantity::Gyro
        | Quantity::LinearAcceleration
        | Quantity::AngularAcceleration => {
            s.reference.map(|_| "accelerations and inertial measurements have no reference frame")
        }
        Quantity::Force | Quantity::Torque => None,
        Quantity::SubtreeCenterOfMass | Quantity::SubtreeLinearVelocity | Quantity::SubtreeAngularMomentum => None,
        Quantity::Touch => model.frames()[id.0].zone.is_none().then_some("its site has no shape"),
        _ => Some("a frame does not have the quantity"),
    }
}

fn of_inertial(s: &Sensor) -> Option<&'static str> {
    match s.quantity {
        Quantity::Position | Quantity::LinearVelocity | Quantity::AngularVelocity => None,
        Quantity::LinearAcceleration | Quantity::AngularAcceleration if s.reference.is_none() => None,
        Quantity::Quaternion | Quantity::XAxis | Quantity::YAxis | Quantity::ZAxis => {
            Some("the model does not keep the axes of inertia of a link (objtype xbody has its frame)")
        }
        _ => Some("a center of mass does not have the quantity"),
    }
}
