//! Joints, tendons and actuators: positions, velocities, forces and limits along one coordinate; their derivatives.
//!   (sens-3, sens-11)

use super::Snapshot;
use super::adjoint::SensorAdjoint;
use super::frame::turning;
use crate::dynamics;
use crate::model::{Joint, JointId, JointKind, Quantity, Transmission};
use crate::spatial::{Quat, Vec3, right_jacobian_inverse};

/// The nearer limit of a joint or tendon: its distance and the rate of that (negative: it comes nearer).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Limit {
    distance: f64,
    velocity: f64,
    /// Sign of the coordinate in the distance: +1 at the lower and −1 at the upper end.
    sign: f64,
}

impl Limit {
    /// As in MuJoCo, a limit that is not exceeded reads zero.
    pub fn reading(limit: Option<Limit>, what: Quantity) -> f64 {
        match limit.filter(Limit::is_exceeded) {
            None => 0.0,
            Some(l) if what == Quantity::LimitPosition => l.distance,
            Some(l) => l.velocity,
        }
    }

    fn is_exceeded(&self) -> bool {
        self.distance < 0.0
    }
}

/// The nearer of two limits of a coordinate.
fn nearer([lo, hi]: [f64; 2], x: f64, v: f64) -> Limit {
    if x - lo <= hi - x {
        Limit { distance: x - lo, velocity: v, sign: 1.0 }
    } else {
        Limit { distance: hi - x, velocity: -v, sign: -1.0 }
    }
}

/// The limit of a joint with one dof, or of the angle of a ball.
pub(super) fn joint_limit(m: &Snapshot, joint: &Joint) -> Option<Limit> {
    let (q, v) = (&m.q[joint.q.clone()], &m.v[joint.v.clone()]);
    let range = joint.range?;
    match joint.kind {
        JointKind::Revolute { .. } | JointKind::Prismatic { .. } => Some(nearer(range, q[0], v[0])),
        JointKind::Spherical => {
            let turn = Quat::from_slice(q).log();
            let axis = turn.normalized().map_or([0.0; 3], |u| u.to_array());
            let speed: f64 = axis.iter().zip(v).map(|(u, v)| u * v).sum();
            Some(Limit { distance: range[1] - turn.norm(), velocity: -speed, sign: -1.0 })
        }
        _ => None,
    }
}

/// Length of a tendon and its rate.
pub(super) fn tendon(m: &Snapshot, tendon: usize) -> (f64, f64) {
    let t = &m.model.tendons()[tendon];
    let speed = t.joints.iter().map(|(id, weight)| weight * m.v[m.model.joints()[id.0].v.start]).sum();
    (dynamics::tendon_length(m.model, t, m.q), speed)
}

pub(super) fn tendon_limit(m: &Snapshot, number: usize) -> Option<Limit> {
    let (length, speed) = tendon(m, number);
    m.model.tendons()[number].range.map(|range| nearer(range, length, speed))
}

/// Sum of the forces of the actuators that pull on a tendon, without gears as in MuJoCo.
pub(super) fn tendon_force(m: &Snapshot, tendon: usize) -> f64 {
    let on = |k: &usize| m.model.actuators()[*k].transmission == Transmission::Tendon(tendon);
    (0..m.model.nu()).filter(on).map(|k| actuator(m, k)[2]).sum()
}

/// Length and velocity of an actuator's transmission, and its force: none where the step had no controls.
pub(super) fn actuator(m: &Snapshot, k: usize) -> [f64; 3] {
    let [length, velocity, force] = dynamics::observe(m.model, m.kin, k, m.q, m.v, m.ctrl.map_or(0.0, |c| c[k]));
    [length, velocity, if m.ctrl.is_some() { force } else { 0.0 }]
}

/// Adds the gradient of `weights · reading` of a joint. `saturation` tells which dofs pass changes of their actuators.   (sens-11)
pub(super) fn pull_joint(
    m: &Snapshot,
    id: JointId,
    what: Quantity,
    saturation: &[f64],
    weights: &[f64],
    out: &mut SensorAdjoint,
) {
    let joint = &m.model.joints()[id.0];
    let (first, w) = (joint.v.start, weights[0]);
    match what {
        Quantity::Position => out.q[first] += w,
        Quantity::Velocity => out.v[first] += w,
        Quantity::Quaternion => {
            let by = turning(Quat::from_slice(&m.q[joint.q.clone()]), weights);
            (0..3).for_each(|k| out.q[first + k] += by[k]);
        }
        Quantity::AngularVelocity => (0..3).for_each(|k| out.v[first + k] += weights[k]),
        Quantity::ActuatorForce => pull_actuation(m, first, saturation, w, out),
        what if joint.kind == JointKind::Spherical => pull_ball_limit(m, joint, what, w, out),
        what => pull_limit(joint_limit(m, joint), what, w, [(first, 1.0)], out),
    }
}

/// Adds the gradient of the force of all actuators on a dof.
fn pull_actuation(m: &Snapshot, dof: usize, saturation: &[f64], w: f64, out: &mut SensorAdjoint) {
    let Some(ctrl) = m.ctrl else { return };
    dynamics::for_each_ctrl_partial(m.model, m.kin, m.q, m.v, ctrl, saturation, |i, k, slope| {
        out.ctrl[k] += if i == dof { w * slope } else { 0.0 };
    });
    dynamics::for_each_state_partial(m.model, m.kin, m.q, m.v, ctrl, saturation, |i, j, by_q, by_v| {
        if i == dof {
            (out.q[j], out.v[j]) = (out.q[j] + w * by_q, out.v[j] + w * by_v);
        }
    });
    let felt = dynamics::felt(m.model, Some(saturation)).filter(|i| *i == dof);
    dynamics::for_each_compensation_slope(m.model, m.kin, felt, |_, j, slope| out.q[j] += w * slope);
}

/// Adds the gradient of a limit of a coordinate whose velocity is a sum over dofs.
fn pull_limit(
    limit: Option<Limit>,
    what: Quantity,
    w: f64,
    coordinate: impl IntoIterator<Item = (usize, f64)>,
    out: &mut SensorAdjoint,
) {
    let Some(limit) = limit.filter(Limit::is_exceeded) else { return };
    let to = if what == Quantity::LimitPosition { &mut out.q } else { &mut out.v };
    coordinate.into_iter().for_each(|(j, x)| to[j] += w * limit.sign * x);
}

/// Adds the gradient of the limit of the angle of a ball, whose axis turns with it.
fn pull_ball_limit(m: &Snapshot, joint: &Joint, what: Quantity, w: f64, out: &mut SensorAdjoint) {
    let limit = joint_limit(m, joint).filter(Limit::is_exceeded);
    let (first, turn) = (joint.v.start, Quat::from_slice(&m.q[joint.q.clone()]).log());
    let (Some(_), Some(axis)) = (limit, turn.normalized()) else { return };
    pull_limit(limit, what, w, (0..3).map(|k| (first + k, axis[k])), out);
    if what == Quantity::LimitVelocity {
        let v = Vec3::from_slice(&m.v[joint.v.clone()]);
        let by = right_jacobian_inverse(turn).tmul(v - axis * axis.dot(v)) * (1.0 / turn.norm());
        (0..3).for_each(|k| out.q[first + k] -= w * by[k]);
    }
}

/// Adds the gradient of `weight · reading` of a tendon.
pub(super) fn pull_tendon(m: &Snapshot, number: usize, what: Quantity, w: f64, out: &mut SensorAdjoint) {
    let joints = m.model.tendons()[number].joints.iter();
    let coordinate = joints.map(|(id, weight)| (m.model.joints()[id.0].v.start, *weight));
    match what {
        Quantity::Position => coordinate.for_each(|(j, x)| out.q[j] += w * x),
        Quantity::Velocity => coordinate.for_each(|(j, x)| out.v[j] += w * x),
        Quantity::ActuatorForce => {
            let on = |k: &usize| m.model.actuators()[*k].transmission == Transmission::Tendon(number);
            (0..m.model.nu()).filter(on).for_each(|k| pull_actuator(m, k, what, w, out));
        }
        what => pull_limit(tendon_limit(m, number), what, w, coordinate, out),
    }
}

/// Adds the gradient of `weight · reading` of an actuator.
pub(super) fn pull_actuator(m: &Snapshot, k: usize, what: Quantity, w: f64, out: &mut SensorAdjoint) {
    let [by_length, by_velocity] = match (what, m.ctrl) {
        (Quantity::Position, _) => [w, 0.0],
        (Quantity::Velocity, _) => [0.0, w],
        (_, None) => return,
        (_, Some(ctrl)) => {
            let slopes = dynamics::force_partials(m.model, m.kin, k, m.q, m.v, ctrl[k]);
            out.ctrl[k] += w * slopes[0];
            [w * slopes[1], w * slopes[2]]
        }
    };
    dynamics::for_each_transmission_partial(m.model, m.kin, k, m.q, m.v, |j, length, rate, velocity| {
        out.q[j] += by_length * length + by_velocity * rate;
        out.v[j] += by_velocity * velocity;
    });
}
