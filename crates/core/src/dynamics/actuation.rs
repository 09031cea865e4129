//! ctrl → tau: force = gain · ctrl + b₀ + b₁ length + b₂ velocity, clamped, spread by the transmission.   (act-1 … act-3)

use crate::model::{Actuator, Joint, JointKind, Model, ParameterGroup, Transmission};
use crate::spatial::{Quat, Vec3, right_jacobian_inverse};

/// An actuator at one state.
struct Evaluated {
    /// Force after clamping.
    force: f64,
    /// ∂force/∂ctrl, ∂force/∂length, ∂force/∂velocity: zero where a clamp is active.
    slopes: [f64; 3],
}

/// Writes the generalised force of all actuators (nv).
pub(crate) fn actuate(model: &Model, q: &[f64], v: &[f64], ctrl: &[f64], tau: &mut [f64]) {
    tau.fill(0.0);
    for (k, a) in model.actuators().iter().enumerate() {
        let force = evaluate(model, k, a, q, v, ctrl[k]).force;
        for_each_arm(model, a, q, |j, arm, _| tau[j] += arm * force);
    }
    for_each_clamped(model, |j, lo, hi| tau[j] = tau[j].clamp(lo, hi));
}

/// Length and velocity of the transmission of actuator `k`, and its force after clamping.
pub(crate) fn observe(model: &Model, k: usize, q: &[f64], v: &[f64], ctrl: f64) -> [f64; 3] {
    let a = &model.actuators()[k];
    let mut velocity = 0.0;
    for_each_arm(model, a, q, |j, arm, _| velocity += arm * v[j]);
    [length(model, a, q), velocity, evaluate(model, k, a, q, v, ctrl).force]
}

/// Writes ∂tau/∂q (nv × nv), ∂tau/∂v (nv × nv) and ∂tau/∂ctrl (nv × nu), row by row.   (act-3)
pub(crate) fn actuate_derivatives(
    model: &Model,
    q: &[f64],
    v: &[f64],
    ctrl: &[f64],
    tau: &mut [f64],
    dq: &mut [f64],
    dv: &mut [f64],
    dctrl: &mut [f64],
) {
    let (nv, nu) = (model.nv(), model.nu());
    tau.fill(0.0);
    for m in [&mut *dq, &mut *dv, &mut *dctrl] {
        m.fill(0.0);
    }
    for (k, a) in model.actuators().iter().enumerate() {
        let e = evaluate(model, k, a, q, v, ctrl[k]);
        for_each_arm(model, a, q, |i, arm_i, _| {
            tau[i] += arm_i * e.force;
            dctrl[i * nu + k] += arm_i * e.slopes[0];
            for_each_arm(model, a, q, |j, arm_j, slope_j| {
                dq[i * nv + j] += arm_i * e.slopes[1] * slope_j;
                dv[i * nv + j] += arm_i * e.slopes[2] * arm_j;
            });
        });
    }
    // a joint at its effort limit passes no change
    for_each_clamped(model, |j, lo, hi| {
        if tau[j] <= lo || tau[j] >= hi {
            dq[j * nv..(j + 1) * nv].fill(0.0);
            dv[j * nv..(j + 1) * nv].fill(0.0);
            dctrl[j * nu..(j + 1) * nu].fill(0.0);
            tau[j] = tau[j].clamp(lo, hi);
        }
    });
}

/// Damping and stiffness that unsaturated actuators give to joints with one dof, −gear² b₂ and −gear² b₁, added into `kv`
/// and `kp` (nv each). Gains that drive instead of resist are left out, and so are those of tendons, which couple dofs
/// outside the pattern of the tree: they stay explicit.   (act-3)
/// `tau` are the clamped forces of [`actuate`]: a joint at its effort limit has no gain.
pub(crate) fn add_gains(
    model: &Model,
    q: &[f64],
    v: &[f64],
    ctrl: &[f64],
    tau: &[f64],
    kv: &mut [f64],
    kp: &mut [f64],
) {
    for (k, a) in model.actuators().iter().enumerate() {
        let Transmission::Joint(id) = a.transmission else { continue };
        let joint = &model.joints()[id.0];
        let (j, [lo, hi]) = (joint.v.start, joint.effort);
        if joint.v.len() == 1 && lo < tau[j] && tau[j] < hi {
            let e = evaluate(model, k, a, q, v, ctrl[k]);
            let gear2 = a.gear[0] * a.gear[0];
            kp[j] += gear2 * (-e.slopes[1]).max(0.0);
            kv[j] += gear2 * (-e.slopes[2]).max(0.0);
        }
    }
}

fn evaluate(model: &Model, k: usize, a: &Actuator, q: &[f64], v: &[f64], ctrl: f64) -> Evaluated {
    let numbers = &model.parameters().group(ParameterGroup::Actuator)[4 * k..4 * k + 4];
    let (length, mut velocity) = (length(model, a, q), 0.0);
    for_each_arm(model, a, q, |j, arm, _| velocity += arm * v[j]);
    let inside = |x: f64, range: Option<[f64; 2]>| range.is_none_or(|[lo, hi]| lo <= x && x <= hi);
    let clamp = |x: f64, range: Option<[f64; 2]>| range.map_or(x, |[lo, hi]| x.clamp(lo, hi));
    let force = numbers[0] * clamp(ctrl, a.ctrl_range) + numbers[1] + numbers[2] * length + numbers[3] * velocity;
    let free = if inside(force, a.force_range) { 1.0 } else { 0.0 };
    let heard = if inside(ctrl, a.ctrl_range) { free } else { 0.0 };
    Evaluated { force: clamp(force, a.force_range), slopes: [heard * numbers[0], free * numbers[2], free * numbers[3]] }
}

/// Length of the transmission: gear times displacement; a free joint has none, as in MuJoCo.   (act-2)
fn length(model: &Model, a: &Actuator, q: &[f64]) -> f64 {
    match a.transmission {
        Transmission::Tendon(t) => a.gear[0] * super::passive::tendon_length(model, &model.tendons()[t], q),
        Transmission::Joint(id) => {
            let joint = &model.joints()[id.0];
            let q = &q[joint.q.clone()];
            match joint.kind {
                JointKind::Free => 0.0,
                JointKind::Spherical => gear3(a).dot(rotation(q)),
                _ => q.iter().zip(a.gear).map(|(q, g)| q * g).sum(),
            }
        }
    }
}

/// Calls `visit(dof, arm, slope)` for every dof that the actuator moves: generalised force per force of the actuator, and
/// change of the transmission's length per tangent. They differ for rotations only.
fn for_each_arm(model: &Model, a: &Actuator, q: &[f64], mut visit: impl FnMut(usize, f64, f64)) {
    match a.transmission {
        Transmission::Tendon(t) => {
            for (id, weight) in &model.tendons()[t].joints {
                let arm = a.gear[0] * weight;
                visit(model.joints()[id.0].v.start, arm, arm);
            }
        }
        Transmission::Joint(id) => {
            let joint = &model.joints()[id.0];
            let slopes = length_derivative(joint, a, &q[joint.q.clone()]);
            for (n, j) in joint.v.clone().enumerate() {
                visit(j, a.gear[n], slopes[n]);
            }
        }
    }
}

/// Derivative of the length with respect to the joint's tangent.
fn length_derivative(joint: &Joint, a: &Actuator, q: &[f64]) -> [f64; 6] {
    let mut out = [0.0; 6];
    match joint.kind {
        JointKind::Free => {}
        JointKind::Spherical => {
            let row = right_jacobian_inverse(rotation(q)).tmul(gear3(a));
            out[..3].copy_from_slice(&row.to_array());
        }
        _ => out[..q.len()].copy_from_slice(&a.gear[..q.len()]),
    }
    out
}

fn gear3(a: &Actuator) -> Vec3 {
    Vec3::from_slice(&a.gear)
}

fn rotation(q: &[f64]) -> Vec3 {
    Quat::from_slice(q).normalized().unwrap_or(Quat::IDENTITY).log()
}

/// Dofs whose joint limits the effort of actuators.
fn for_each_clamped(model: &Model, mut visit: impl FnMut(usize, f64, f64)) {
    for joint in model.joints() {
        let [lo, hi] = joint.effort;
        if lo > f64::NEG_INFINITY || hi < f64::INFINITY {
            joint.v.clone().for_each(|j| visit(j, lo, hi));
        }
    }
}
