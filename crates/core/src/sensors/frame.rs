//! Pose, velocity and acceleration of a frame, and their derivatives.   (sens-1, sens-2, sens-9)
#![allow(non_snake_case)]

use super::Snapshot;
use super::adjoint::SensorAdjoint;
use crate::model::{BodyId, FrameId, Quantity, SensorObject};
use crate::spatial::{Force, Mat3, Motion, Pose, Quat, Vec3};

/// A frame that moves: pose, velocity of its origin and angular velocity, world axes.
#[derive(Clone, Copy)]
struct Moving {
    body: BodyId,
    pose: Pose,
    /// From the origin of the tree.
    arm: Vec3,
    velocity: Motion,
}

/// A vector in the world that is read in the axes of a frame, or of the world.
struct View {
    frame: Moving,
    from: Option<Moving>,
    seen: Vec3,
}

impl View {
    fn axes(&self) -> Mat3 {
        self.from.map_or(Mat3::IDENTITY, |f| f.pose.rotation)
    }
}

/// The reading of a frame, in the axes of a reference frame and as seen from it if there is one.
pub(super) fn read(
    m: &Snapshot,
    A: &[Motion],
    object: SensorObject,
    reference: Option<FrameId>,
    what: Quantity,
) -> Vec3 {
    let view = view(m, A, object, reference, what);
    view.axes().tmul(view.seen)
}

fn view(m: &Snapshot, A: &[Motion], object: SensorObject, reference: Option<FrameId>, what: Quantity) -> View {
    let frame = moving(m, object);
    let from = match what {
        Quantity::Velocimeter | Quantity::Gyro | Quantity::Accelerometer | Quantity::Magnetometer => Some(frame),
        Quantity::LinearAcceleration | Quantity::AngularAcceleration => None,
        _ => reference.map(|f| moving(m, SensorObject::Frame(f))),
    };
    let (origin, carried) = from.map_or((Vec3::ZERO, Motion::ZERO), |f| (f.pose.position, f.velocity));
    let arm = frame.pose.position - origin;
    let seen = match what {
        Quantity::Position => arm,
        Quantity::XAxis => frame.pose.rotation.c[0],
        Quantity::YAxis => frame.pose.rotation.c[1],
        Quantity::ZAxis => frame.pose.rotation.c[2],
        // a point that turns with the reference is at rest in it                                                     (sens-1)
        Quantity::LinearVelocity => frame.velocity.lin - carried.at(arm),
        Quantity::Velocimeter => frame.velocity.lin,
        Quantity::Magnetometer => Vec3::from(m.model.options().magnetic),
        Quantity::Gyro => frame.velocity.ang,
        Quantity::Accelerometer | Quantity::LinearAcceleration => acceleration(A, &frame).lin,
        Quantity::AngularAcceleration => acceleration(A, &frame).ang,
        _ => frame.velocity.ang - carried.ang,
    };
    View { frame, from, seen }
}

/// Orientation of a frame in the world or in a reference frame, with a scalar part that is not negative.
pub(super) fn quaternion(m: &Snapshot, object: SensorObject, reference: Option<FrameId>) -> Quat {
    let R = moving(m, object).pose.rotation;
    let from = reference.map_or(Mat3::IDENTITY, |f| moving(m, SensorObject::Frame(f)).pose.rotation);
    let q = Quat::from_matrix(&(from.transpose() * R));
    if q.w < 0.0 { Quat { w: -q.w, x: -q.x, y: -q.y, z: -q.z } } else { q }
}

/// Origin of a frame, or a center of mass, world axes (m).
pub(super) fn origin(m: &Snapshot, object: SensorObject) -> Vec3 {
    moving(m, object).pose.position
}

fn moving(m: &Snapshot, object: SensorObject) -> Moving {
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
    let (V, arm) = (m.kin.V[frame.body.0], pose.position - m.origin(frame.body));
    Moving { body: frame.body, pose, arm, velocity: Motion { lin: V.at(arm), ang: V.ang } }
}

/// Acceleration of the frame's origin, gravity counted as upward acceleration, and angular acceleration.   (sens-2)
fn acceleration(A: &[Motion], frame: &Moving) -> Motion {
    let A = A[frame.body.0];
    Motion { lin: A.at(frame.arm) + frame.velocity.ang.cross(frame.velocity.lin), ang: A.ang }
}

/// Adds the gradient of `weights · reading`.   (sens-9)
pub(super) fn pull(
    m: &Snapshot,
    A: &[Motion],
    object: SensorObject,
    reference: Option<FrameId>,
    what: Quantity,
    weights: Vec3,
    out: &mut SensorAdjoint,
) {
    let view = view(m, A, object, reference, what);
    let (frame, w) = (&view.frame, view.axes() * weights);
    if let Some(from) = view.from {
        out.add_to_rotation(from.body, w.cross(view.seen)); // the axes turn with their frame
    }
    match what {
        Quantity::Position => {
            out.add_to_point(frame.body, frame.arm, w);
            view.from.iter().for_each(|f| out.add_to_point(f.body, f.arm, -w));
        }
        Quantity::XAxis => out.add_to_rotation(frame.body, frame.pose.rotation.c[0].cross(w)),
        Quantity::YAxis => out.add_to_rotation(frame.body, frame.pose.rotation.c[1].cross(w)),
        Quantity::ZAxis => out.add_to_rotation(frame.body, frame.pose.rotation.c[2].cross(w)),
        Quantity::LinearVelocity => {
            pull_velocity(frame, w, out);
            view.from.iter().for_each(|f| pull_reference_velocity(frame, f, w, out));
        }
        Quantity::Velocimeter => pull_velocity(frame, w, out),
        Quantity::Accelerometer | Quantity::LinearAcceleration => pull_acceleration(A, frame, w, out),
        Quantity::AngularAcceleration => out.acceleration[frame.body.0].ang += w,
        Quantity::Gyro => out.velocity[frame.body.0].ang += w,
        Quantity::Magnetometer => {} // the field is constant
        _ => {
            out.velocity[frame.body.0].ang += w;
            view.from.iter().for_each(|f| out.velocity[f.body.0].ang -= w);
        }
    }
}

/// Adds the gradient of the velocity of the frame's origin.
fn pull_velocity(frame: &Moving, w: Vec3, out: &mut SensorAdjoint) {
    out.velocity[frame.body.0] += Force::at_point(w, Vec3::ZERO, frame.arm);
    out.add_to_point(frame.body, frame.arm, w.cross(frame.velocity.ang));
}

/// Subtracts the gradient of the velocity of the frame's origin as a point of the reference.
fn pull_reference_velocity(frame: &Moving, from: &Moving, w: Vec3, out: &mut SensorAdjoint) {
    let turned = w.cross(from.velocity.ang);
    pull_velocity(from, -w, out);
    out.velocity[from.body.0].ang -= (frame.pose.position - from.pose.position).cross(w);
    out.add_to_point(frame.body, frame.arm, -turned);
    out.add_to_point(from.body, from.arm, turned);
}

/// Adds the gradient of the acceleration of the frame's origin.
fn pull_acceleration(A: &[Motion], frame: &Moving, w: Vec3, out: &mut SensorAdjoint) {
    out.acceleration[frame.body.0] += Force::at_point(w, Vec3::ZERO, frame.arm);
    out.add_to_point(frame.body, frame.arm, w.cross(A[frame.body.0].ang));
    out.velocity[frame.body.0].ang += frame.velocity.lin.cross(w);
    pull_velocity(frame, w.cross(frame.velocity.ang), out);
}

/// Adds the gradient of `weights · quaternion`.
pub(super) fn pull_quaternion(
    m: &Snapshot,
    object: SensorObject,
    reference: Option<FrameId>,
    weights: &[f64],
    out: &mut SensorAdjoint,
) {
    let frame = moving(m, object);
    let by = frame.pose.rotation * turning(quaternion(m, object, reference), weights);
    out.add_to_rotation(frame.body, by);
    if let Some(from) = reference.map(|f| moving(m, SensorObject::Frame(f))) {
        out.add_to_rotation(from.body, -by);
    }
}

/// Gradient of `weights · q` with respect to rotations of q in its own axes: dq = ½ q (0, dφ).
pub(super) fn turning(q: Quat, weights: &[f64]) -> Vec3 {
    let (axis, w) = (Vec3 { x: q.x, y: q.y, z: q.z }, Vec3::from_slice(&weights[1..]));
    (w * q.w - axis * weights[0] + w.cross(axis)) * 0.5
}
