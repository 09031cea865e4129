//! Which sensors can be read.

use crate::model::{FrameId, GeomSet, JointKind, Model, Quantity, Sensor, SensorObject};

/// What a sensor lacks; `None`: nothing.
pub(super) fn missing(model: &Model, s: &Sensor) -> Option<&'static str> {
    match s.object {
        SensorObject::World => match s.quantity {
            Quantity::Clock | Quantity::PotentialEnergy | Quantity::KineticEnergy | Quantity::User(_) => None,
            _ => Some("the world as a whole has a clock and energies only"),
        },
        SensorObject::Geoms(sets) => of_geoms(sets, s.quantity),
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
        SensorObject::Inertial(_) if s.quantity == Quantity::InsideSite => of_site(model, s),
        SensorObject::Inertial(_) => of_inertial(s),
    }
}

fn of_geoms(sets: [GeomSet; 2], what: Quantity) -> Option<&'static str> {
    let given = |set: GeomSet| matches!(set, GeomSet::Geom(_) | GeomSet::Link(_));
    match what {
        Quantity::Distance | Quantity::Normal | Quantity::FromTo => {
            (!sets.into_iter().all(given)).then_some("a distance needs two geoms or links")
        }
        Quantity::Contact(_) if matches!(sets[1], GeomSet::Inside(_)) => Some("a site is the first of the two objects"),
        Quantity::Contact(_) => None,
        _ => Some("geoms have distances and contacts only"),
    }
}

fn of_site(model: &Model, s: &Sensor) -> Option<&'static str> {
    let site = s.reference.map(|id| &model.frames()[id.0]);
    site.is_none_or(|site| site.zone.is_none()).then_some("its reference is no site with a shape")
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
        Quantity::InsideSite => of_site(model, s),
        Quantity::RangeFinder(_)
        | Quantity::Magnetometer
        | Quantity::Accelerometer
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
