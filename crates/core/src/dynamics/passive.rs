//! Forces that need no control: joint springs and dampers −K (q ⊖ q_ref) − D v, springs and dampers of tendons, and gravity
//! compensation.   (pas-1 … pas-3)

use super::kinematics::Kinematics;
use super::rnea::Wrench;
use crate::model::{BodyId, Model, ParameterGroup, PrimitiveKind, Tendon};
use crate::spatial::{Force, Quat, Vec3, right_jacobian_inverse};

/// Writes the generalized force of springs, dampers and gravity compensation (nv). Needs poses in `kin`.
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

/// Calls `visit(i, j, ∂tau_i/∂q_j, ∂tau_i/∂v_j)` for springs and dampers; compensated weight is a wrench.   (pas-1, pas-2)
pub(crate) fn for_each_passive_slope(model: &Model, q: &[f64], mut visit: impl FnMut(usize, usize, f64, f64)) {
    for j in 0..model.nv() {
        visit(j, j, 0.0, -model.damping()[j]);
    }
    for p in &model.tree().primitives {
        let dofs = p.v..p.v + p.kind.nv();
        if dofs.clone().all(|j| model.stiffness()[j] == 0.0) {
            continue;
        }
        if p.kind == PrimitiveKind::Ball {
            let reference = model.parameters().group(ParameterGroup::SpringReference);
            let slope = right_jacobian_inverse(turn_between(reference, q, p.q));
            for (n, m) in (0..9).map(|k| (k / 3, k % 3)) {
                visit(p.v + n, p.v + m, -model.stiffness()[p.v + n] * slope.at(n, m), 0.0);
            }
        } else {
            dofs.for_each(|j| visit(j, j, -model.stiffness()[j], 0.0));
        }
    }
    for t in model.tendons().iter().filter(|t| t.stiffness > 0.0 || t.damping > 0.0) {
        let stretched = stretch(t, tendon_length(model, t, q)) != 0.0;
        let stiffness = if stretched { t.stiffness } else { 0.0 };
        let joints = || t.joints.iter().map(|(id, weight)| (model.joints()[id.0].v.start, *weight));
        for (i, a) in joints() {
            joints().for_each(|(j, b)| visit(i, j, -stiffness * a * b, -t.damping * a * b));
        }
    }
}

/// The compensated weights, as wrenches on their bodies.   (pas-3)
pub(crate) fn compensation_wrenches(model: &Model) -> impl Iterator<Item = Wrench> + '_ {
    let gravity = Vec3::from(model.options().gravity);
    let of = move |(i, (mass, com)): (usize, &(f64, Vec3))| Wrench::at(BodyId(i), gravity * -mass, *com);
    model.gravity_compensation().iter().enumerate().skip(1).filter(|(_, c)| c.0 != 0.0).map(of)
}

/// Displacements of the joint springs from their rest (nv).
pub(crate) fn spring_displacements(model: &Model, q: &[f64], out: &mut [f64]) {
    for_each_spring(model, q, |j, x| out[j] = x);
}

/// Whether the passive forces depend on poses of bodies.
pub(crate) fn needs_poses(model: &Model) -> bool {
    model.gravity_compensation().iter().any(|(mass, _)| *mass != 0.0)
}

/// The weight of the compensated mass of each body, upwards, on dofs whose drives do not supply it.   (pas-3)
fn add_compensation(model: &Model, kin: &Kinematics, tau: &mut [f64]) {
    let gravity = Vec3::from(model.options().gravity);
    for (i, (mass, com)) in model.gravity_compensation().iter().enumerate().skip(1).filter(|(_, c)| c.0 != 0.0) {
        let arm = kin.X_wb[i].point(*com) - kin.origin[model.tree().nodes[i].tree];
        let lift = Force::at_point(gravity * -mass, Vec3::ZERO, arm);
        let left = |j: &&usize| !model.driven_compensation().contains(*j);
        for &j in model.tree().support(i).iter().filter(left) {
            tau[j] += kin.axes[j].dot(lift);
        }
    }
}

/// Energy stored in the springs of joints and tendons (J).
pub(crate) fn spring_energy(model: &Model, q: &[f64]) -> f64 {
    let mut energy = 0.0;
    for_each_spring(model, q, |j, x| energy += 0.5 * model.stiffness()[j] * x * x);
    for t in model.tendons() {
        let x = stretch(t, tendon_length(model, t, q));
        energy += 0.5 * t.stiffness * x * x;
    }
    energy
}

/// Calls `visit(j, ∂energy/∂q_j)` for the springs of joints and tendons; a dof may come several times.   (sens-19)
pub(crate) fn for_each_spring_energy_partial(model: &Model, q: &[f64], mut visit: impl FnMut(usize, f64)) {
    let (stiffness, reference) = (model.stiffness(), model.parameters().group(ParameterGroup::SpringReference));
    for p in &model.tree().primitives {
        if p.kind == PrimitiveKind::Ball {
            let turn = turn_between(reference, q, p.q);
            let force = |k: usize| stiffness[p.v + k] * turn[k];
            let slope = right_jacobian_inverse(turn).tmul(Vec3::new(force(0), force(1), force(2)));
            (0..3).for_each(|k| visit(p.v + k, slope[k]));
        } else {
            (0..p.kind.nv()).for_each(|k| visit(p.v + k, stiffness[p.v + k] * (q[p.q + k] - reference[p.q + k])));
        }
    }
    for t in model.tendons().iter().filter(|t| t.stiffness > 0.0) {
        let force = t.stiffness * stretch(t, tendon_length(model, t, q));
        t.joints.iter().for_each(|(id, weight)| visit(model.joints()[id.0].v.start, weight * force));
    }
}

/// Adds to `out` (nq) the gradient with respect to the references of springs of what has the gradient `−pull(j, x)` with respect
/// to the displacement x of dof j.
pub(crate) fn add_spring_reference_gradient(
    model: &Model,
    q: &[f64],
    pull: impl Fn(usize, f64) -> f64,
    out: &mut [f64],
) {
    let reference = model.parameters().group(ParameterGroup::SpringReference);
    for p in &model.tree().primitives {
        if p.kind != PrimitiveKind::Ball {
            (0..p.kind.nv()).for_each(|k| out[p.q + k] += pull(p.v + k, q[p.q + k] - reference[p.q + k]));
            continue;
        }
        // the turn from the reference changes by −J_l⁻¹ δ when the reference turns by δ
        let turn = turn_between(reference, q, p.q);
        let [x, y, z] = core::array::from_fn(|k| pull(p.v + k, turn[k]));
        let g = right_jacobian_inverse(turn) * Vec3::new(x, y, z);
        let unit = Quat::from_slice(&reference[p.q..]);
        let norm = unit.to_array().iter().fold(0.0, |s, x| s + x * x).sqrt();
        for c in 0..4 {
            let mut axis = [0.0; 4];
            axis[c] = 2.0 / (norm * norm);
            let delta = unit.conjugate().compose(Quat::from_slice(&axis));
            out[p.q + c] += g.dot(Vec3::new(delta.x, delta.y, delta.z));
        }
    }
}

/// Length of a fixed tendon.
pub(crate) fn tendon_length(model: &Model, t: &Tendon, q: &[f64]) -> f64 {
    t.joints.iter().map(|(id, weight)| weight * q[model.joints()[id.0].q.start]).sum()
}

/// By how much a tendon is longer or shorter than its spring's rest interval.   (pas-2)
fn stretch(t: &Tendon, length: f64) -> f64 {
    length - length.clamp(t.rest[0], t.rest[1])
}

/// Calls `visit` with each dof and the displacement of its spring from its rest.
pub(crate) fn for_each_spring(model: &Model, q: &[f64], mut visit: impl FnMut(usize, f64)) {
    let reference = model.parameters().group(ParameterGroup::SpringReference);
    for p in &model.tree().primitives {
        if p.kind == PrimitiveKind::Ball {
            let turn = turn_between(reference, q, p.q);
            (0..3).for_each(|k| visit(p.v + k, turn[k]));
        } else {
            (0..p.kind.nv()).for_each(|k| visit(p.v + k, q[p.q + k] - reference[p.q + k]));
        }
    }
}

/// Rotation vector from the quaternion of a reference to that of q, both beginning at `p`.
pub(crate) fn turn_between(reference: &[f64], q: &[f64], p: usize) -> Vec3 {
    let unit = |q: &[f64]| Quat::from_slice(&q[p..]).normalized().unwrap_or(Quat::IDENTITY);
    unit(reference).conjugate().compose(unit(q)).log()
}
