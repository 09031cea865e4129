//! Where a frame is, how fast it moves and how it accelerates.   (sens-1, sens-2)
#![allow(non_snake_case)]

use super::Moment;
use crate::model::{BodyId, FrameId, Quantity, SensorObject};
use crate::spatial::{Mat3, Motion, Pose, Quat, Vec3};

/// A frame that moves: pose, velocity of its origin and angular velocity, world axes.
struct Moving {
    body: BodyId,
    pose: Pose,
    velocity: Motion,
}

/// The reading of a frame, in the axes of a reference frame and as seen from it if there is one.
pub(super) fn read(m: &Moment, A: &[Motion], object: SensorObject, reference: Option<FrameId>, what: Quantity) -> Vec3 {
    let frame = moving(m, object);
    let (R, spin) = (frame.pose.rotation, frame.velocity.ang);
    match what {
        Quantity::Velocimeter => return R.tmul(frame.velocity.lin),
        Quantity::Gyro => return R.tmul(spin),
        Quantity::Accelerometer => return R.tmul(acceleration(m, A, &frame).lin),
        Quantity::LinearAcceleration => return acceleration(m, A, &frame).lin,
        Quantity::AngularAcceleration => return acceleration(m, A, &frame).ang,
        _ => {}
    }
    let from = reference.map(|f| moving(m, SensorObject::Frame(f)));
    let axes = from.as_ref().map_or(Mat3::IDENTITY, |f| f.pose.rotation);
    let (origin, carried) = from.map_or((Vec3::ZERO, Motion::ZERO), |f| (f.pose.position, f.velocity));
    let arm = frame.pose.position - origin;
    let seen = match what {
        Quantity::Position => arm,
        Quantity::XAxis => R.c[0],
        Quantity::YAxis => R.c[1],
        Quantity::ZAxis => R.c[2],
        // what turns with the reference stands still in it                                                     (sens-1)
        Quantity::LinearVelocity => frame.velocity.lin - carried.at(arm),
        _ => spin - carried.ang,
    };
    axes.tmul(seen)
}

/// Orientation of a frame in the world or in a reference frame, with a scalar part that is not negative.
pub(super) fn quaternion(m: &Moment, object: SensorObject, reference: Option<FrameId>) -> Quat {
    let R = moving(m, object).pose.rotation;
    let from = reference.map_or(Mat3::IDENTITY, |f| moving(m, SensorObject::Frame(f)).pose.rotation);
    let q = Quat::from_matrix(&(from.transpose() * R));
    if q.w < 0.0 { Quat { w: -q.w, x: -q.x, y: -q.y, z: -q.z } } else { q }
}

fn moving(m: &Moment, object: SensorObject) -> Moving {
    let (id, inertial) = match object {
        SensorObject::Frame(id) => (id, false),
        SensorObject::Inertial(id) => (id, true),
        _ => (FrameId(0), false),
    };
    let frame = &m.model.frames()[id.0];
    let mut pose = m.kin.X_wb[frame.body.0] * frame.pose;
    if let (true, Some(inertia)) = (inertial, frame.inertia) {
        pose.position = pose.point(inertia.com);
    }
    let V = m.kin.V[frame.body.0];
    let velocity = Motion { lin: V.at(pose.position - m.origin(frame.body)), ang: V.ang };
    Moving { body: frame.body, pose, velocity }
}

/// Acceleration of the frame's origin, gravity counted as upward acceleration, and angular acceleration.   (sens-2)
fn acceleration(m: &Moment, A: &[Motion], frame: &Moving) -> Motion {
    let A = A[frame.body.0];
    let point = frame.pose.position - m.origin(frame.body);
    Motion { lin: A.at(point) + frame.velocity.ang.cross(frame.velocity.lin), ang: A.ang }
}
