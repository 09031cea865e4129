//! Joints, tendons and actuators: positions, velocities, forces and limits along one coordinate.   (sens-3)

use super::Moment;
use crate::dynamics;
use crate::model::{Joint, JointKind, Quantity, Transmission};
use crate::spatial::Quat;

/// The nearer limit of a joint or tendon: how far it is and how fast it comes nearer (negative).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Limit {
    distance: f64,
    velocity: f64,
}

impl Limit {
    /// As in MuJoCo, a limit that is not exceeded reads zero.
    pub fn reading(limit: Option<Limit>, what: Quantity) -> f64 {
        match limit.filter(|l| l.distance < 0.0) {
            None => 0.0,
            Some(l) if what == Quantity::LimitPosition => l.distance,
            Some(l) => l.velocity,
        }
    }
}

/// The nearer of two limits of a coordinate.
fn nearer([lo, hi]: [f64; 2], x: f64, v: f64) -> Limit {
    if x - lo <= hi - x { Limit { distance: x - lo, velocity: v } } else { Limit { distance: hi - x, velocity: -v } }
}

/// The limit of a joint with one dof, or of the angle of a ball.
pub(super) fn joint_limit(m: &Moment, joint: &Joint) -> Option<Limit> {
    let (q, v) = (&m.x.q[joint.q.clone()], &m.x.v[joint.v.clone()]);
    let range = joint.range?;
    match joint.kind {
        JointKind::Revolute { .. } | JointKind::Prismatic { .. } => Some(nearer(range, q[0], v[0])),
        JointKind::Spherical => {
            let turn = Quat::from_slice(q).log();
            let axis = turn.normalized().map_or([0.0; 3], |u| u.to_array());
            let speed: f64 = axis.iter().zip(v).map(|(u, v)| u * v).sum();
            Some(Limit { distance: range[1] - turn.norm(), velocity: -speed })
        }
        _ => None,
    }
}

/// Length of a tendon and how fast it grows.
pub(super) fn tendon(m: &Moment, tendon: usize) -> (f64, f64) {
    let t = &m.model.tendons()[tendon];
    let speed = t.joints.iter().map(|(id, weight)| weight * m.x.v[m.model.joints()[id.0].v.start]).sum();
    (dynamics::tendon_length(m.model, t, &m.x.q), speed)
}

pub(super) fn tendon_limit(m: &Moment, number: usize) -> Option<Limit> {
    let (length, speed) = tendon(m, number);
    m.model.tendons()[number].range.map(|range| nearer(range, length, speed))
}

/// Sum of the forces of the actuators that pull on a tendon, gears left out as in MuJoCo.
pub(super) fn tendon_force(m: &Moment, tendon: usize) -> f64 {
    let on = |k: &usize| m.model.actuators()[*k].transmission == Transmission::Tendon(tendon);
    (0..m.model.nu()).filter(on).map(|k| actuator(m, k)[2]).sum()
}

/// Length and velocity of an actuator's transmission, and its force: none where the step had no controls.
pub(super) fn actuator(m: &Moment, k: usize) -> [f64; 3] {
    let [length, velocity, force] = dynamics::observe(m.model, k, &m.x.q, &m.x.v, m.ctrl.map_or(0.0, |c| c[k]));
    [length, velocity, if m.ctrl.is_some() { force } else { 0.0 }]
}
