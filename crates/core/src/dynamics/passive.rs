//! Forces that need no control: joint springs and dampers −K (q ⊖ q_ref) − D v, springs and dampers of tendons, and
//! weight that is taken off.   (pas-1 … pas-3)

use super::kinematics::Kinematics;
use crate::model::{Model, ParameterGroup, PrimitiveKind, Tendon};
use crate::spatial::{Force, Quat, Vec3};

/// Writes the generalised force of springs, dampers and gravity compensation (nv). Needs poses in `kin`.
pub(crate) fn passive(model: &Model, kin: &Kinematics, q: &[f64], v: &[f64], tau: &mut [f64]) {
    for_each_spring(model, q, |j, x| tau[j] = x);
    for j in 0..model.nv() {
        tau[j] = -model.stiffness()[j] * tau[j] - model.damping()[j] * v[j];
    }
    for t in model.tendons().iter().filter(|t| t.stiffness > 0.0 || t.damping > 0.0) {
        let joints = t.joints.iter().map(|(id, weight)| (model.joints()[id.0].v.start, *weight));
        let velocity: f64 = joints.clone().map(|(j, weight)| weight * v[j]).sum();
        let force = -t.stiffness * stretch(t, tendon_length(model, t, q)) - t.damping * velocity;
        joints.for_each(|(j, weight)| tau[j] += weight * force);
    }
    add_compensation(model, kin, tau);
}

/// Whether the passive forces depend on poses of bodies.
pub(crate) fn needs_poses(model: &Model) -> bool {
    model.gravity_compensation().iter().any(|(mass, _)| *mass != 0.0)
}

/// The weight of the compensated mass of each body, upwards.   (pas-3)
fn add_compensation(model: &Model, kin: &Kinematics, tau: &mut [f64]) {
    let gravity = Vec3::from(model.options().gravity);
    for (i, (mass, com)) in model.gravity_compensation().iter().enumerate().skip(1).filter(|(_, c)| c.0 != 0.0) {
        let arm = kin.X_wb[i].point(*com) - kin.origin[model.tree().nodes[i].tree];
        let lift = Force::at_point(gravity * -mass, Vec3::ZERO, arm);
        for &j in model.tree().support(i) {
            tau[j] += kin.axes[j].dot(lift);
        }
    }
}

/// Energy stored in the springs of joints and tendons [J].
pub(crate) fn spring_energy(model: &Model, q: &[f64]) -> f64 {
    let mut energy = 0.0;
    for_each_spring(model, q, |j, x| energy += 0.5 * model.stiffness()[j] * x * x);
    for t in model.tendons() {
        let x = stretch(t, tendon_length(model, t, q));
        energy += 0.5 * t.stiffness * x * x;
    }
    energy
}

/// Length of a fixed tendon.
pub(crate) fn tendon_length(model: &Model, t: &Tendon, q: &[f64]) -> f64 {
    t.joints.iter().map(|(id, weight)| weight * q[model.joints()[id.0].q.start]).sum()
}

/// By how much a tendon is longer or shorter than its spring's rest interval.   (pas-2)
fn stretch(t: &Tendon, length: f64) -> f64 {
    length - length.clamp(t.rest[0], t.rest[1])
}

fn for_each_spring(model: &Model, q: &[f64], mut visit: impl FnMut(usize, f64)) {
    let reference = model.parameters().group(ParameterGroup::SpringReference);
    for p in &model.tree().primitives {
        if p.kind == PrimitiveKind::Ball {
            let unit = |q: &[f64]| Quat::from_slice(&q[p.q..]).normalized().unwrap_or(Quat::IDENTITY);
            let turn: Vec3 = unit(reference).conjugate().compose(unit(q)).log();
            (0..3).for_each(|k| visit(p.v + k, turn[k]));
        } else {
            (0..p.kind.nv()).for_each(|k| visit(p.v + k, q[p.q + k] - reference[p.q + k]));
        }
    }
}
