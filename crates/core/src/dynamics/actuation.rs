//! ctrl → tau: force = gain · ctrl + b₀ + b₁ length + b₂ velocity, clamped, spread by the transmission.   (act-1 … act-3)

use crate::model::{Actuator, Joint, JointKind, Model, ParameterGroup, Transmission};
use crate::spatial::{Quat, Vec3, right_jacobian_inverse};

/// An actuator at one state.
struct Evaluated {
    /// Force after clamping.
    force: f64,
    /// ∂force/∂ctrl, ∂force/∂length, ∂force/∂velocity: zero where a clamp is active.
    slopes: [f64; 3],
    /// Whether the force is inside its range.
    inside: bool,
}

/// Writes the generalized force of all actuators (nv).
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

/// Derivatives of the force of actuator `k` with respect to its control, and to the length and the velocity of its
/// transmission: zero where a clamp is active.
pub(crate) fn force_partials(model: &Model, k: usize, q: &[f64], v: &[f64], ctrl: f64) -> [f64; 3] {
    evaluate(model, k, &model.actuators()[k], q, v, ctrl).slopes
}

/// Calls `visit(j, ∂length/∂q_j, ∂velocity/∂v_j)` for the transmission of actuator `k`.
pub(crate) fn for_each_transmission_partial(
    model: &Model,
    k: usize,
    q: &[f64],
    mut visit: impl FnMut(usize, f64, f64),
) {
    for_each_arm(model, &model.actuators()[k], q, |j, arm, slope| visit(j, slope, arm));
}

/// Writes ∂tau/∂q (nv × nv), ∂tau/∂v (nv × nv) and ∂tau/∂ctrl (nv × nu), row by row.   (act-3)
pub(crate) fn actuate_derivatives(
    model: &Model,
    q: &[f64],
    v: &[f64],
    ctrl: &[f64],
    saturation: &mut [f64],
    dq: &mut [f64],
    dv: &mut [f64],
    dctrl: &mut [f64],
) {
    let (nv, nu) = (model.nv(), model.nu());
    actuate(model, q, v, ctrl, &mut dq[..nv]);
    find_saturation(model, &dq[..nv], saturation);
    for m in [&mut *dq, &mut *dv, &mut *dctrl] {
        m.fill(0.0);
    }
    for_each_ctrl_partial(model, q, v, ctrl, saturation, |i, k, slope| dctrl[i * nu + k] += slope);
    for_each_state_partial(model, q, v, ctrl, saturation, |i, j, slope_q, slope_v| {
        dq[i * nv + j] += slope_q;
        dv[i * nv + j] += slope_v;
    });
}

/// One for every dof whose actuators are not saturated, zero where the joint is at its effort limit: no change passes.
/// `tau` is what [`actuate`] has written.
pub(crate) fn find_saturation(model: &Model, tau: &[f64], saturation: &mut [f64]) {
    saturation.fill(1.0);
    for_each_clamped(model, |j, lo, hi| saturation[j] = if tau[j] <= lo || tau[j] >= hi { 0.0 } else { 1.0 });
}

/// Calls `visit(i, k, ∂tau_i/∂ctrl_k)`.
pub(crate) fn for_each_ctrl_partial(
    model: &Model,
    q: &[f64],
    v: &[f64],
    ctrl: &[f64],
    saturation: &[f64],
    mut visit: impl FnMut(usize, usize, f64),
) {
    for (k, a) in model.actuators().iter().enumerate() {
        let slope = evaluate(model, k, a, q, v, ctrl[k]).slopes[0];
        for_each_arm(model, a, q, |i, arm, _| visit(i, k, saturation[i] * arm * slope));
    }
}

/// Calls `visit(i, j, ∂tau_i/∂q_j, ∂tau_i/∂v_j)` for each actuator whose force depends on the state.
pub(crate) fn for_each_state_partial(
    model: &Model,
    q: &[f64],
    v: &[f64],
    ctrl: &[f64],
    saturation: &[f64],
    mut visit: impl FnMut(usize, usize, f64, f64),
) {
    for (k, a) in model.actuators().iter().enumerate() {
        let [_, by_length, by_velocity] = evaluate(model, k, a, q, v, ctrl[k]).slopes;
        if by_length == 0.0 && by_velocity == 0.0 {
            continue;
        }
        for_each_arm(model, a, q, |i, arm_i, _| {
            for_each_arm(model, a, q, |j, arm_j, slope_j| {
                let force = saturation[i] * arm_i;
                visit(i, j, force * by_length * slope_j, force * by_velocity * arm_j);
            });
        });
    }
}

/// Derivatives of the force of actuator `k` with respect to its four numbers (gain, constant, per length, per velocity),
/// zero where it is saturated; and its arms.
pub(crate) fn gain_partials(
    model: &Model,
    k: usize,
    q: &[f64],
    v: &[f64],
    ctrl: f64,
    mut visit: impl FnMut(usize, f64),
) -> [f64; 4] {
    let a = &model.actuators()[k];
    let inside = evaluate(model, k, a, q, v, ctrl).inside;
    let [length, velocity, _] = observe(model, k, q, v, ctrl);
    for_each_arm(model, a, q, |j, arm, _| visit(j, arm));
    let clamped = a.ctrl_range.map_or(ctrl, |[lo, hi]| ctrl.clamp(lo, hi));
    [clamped, 1.0, length, velocity].map(|x| if inside { x } else { 0.0 })
}

/// Damping and stiffness that unsaturated actuators give to joints with one dof, −gear² b₂ and −gear² b₁, added into `kv`
/// and `kp` (nv each). Gains that drive instead of resist are excluded, and so are those of tendons, which couple dofs
/// outside the pattern of the tree: they stay explicit. `tau` are the clamped forces of [`actuate`]: a joint at its effort
/// limit has no gain.   (act-3)
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
    let unclamped = inside(force, a.force_range);
    let free = if unclamped { 1.0 } else { 0.0 };
    let heard = if inside(ctrl, a.ctrl_range) { free } else { 0.0 };
    let slopes = [heard * numbers[0], free * numbers[2], free * numbers[3]];
    Evaluated { force: clamp(force, a.force_range), slopes, inside: unclamped }
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

/// Calls `visit(dof, arm, slope)` for every dof that the actuator moves: generalized force per force of the actuator, and
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
            if joint.v.len() == 1 {
                return visit(joint.v.start, a.gear[0], a.gear[0]);
            }
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
