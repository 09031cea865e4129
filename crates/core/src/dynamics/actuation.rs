//! ctrl → tau: force = gain · ctrl + b₀ + b₁ length + b₂ velocity, clamped, spread by the transmission.   (act-1 … act-3)
//!
//! `ctrl` stands for what drives an actuator: where it has an activation, that is not its control ([`super::activation`]).
//! Transmissions between bodies need the poses and axes of the configuration in `kin`.

use super::body_transmission::Carrier;
use super::curved_transmission::{Curved, nearest_setpoint};
use super::driven_compensation::{compensation_on, felt, for_each_compensation_slope};
use super::kinematics::Kinematics;
use crate::model::{Actuator, Joint, JointKind, Model, ParameterGroup, Transmission};
use crate::spatial::{Quat, Vec3, right_jacobian_inverse};

/// An actuator at one state.
struct Evaluated {
    /// Force after clamping.
    force: f64,
    /// ∂force/∂ctrl, ∂force/∂length, ∂force/∂velocity: zero where a clamp is active.
    slopes: [f64; 3],
    /// Changes of ∂force/∂length and ∂force/∂velocity with ctrl, likewise.
    gain_slopes: [f64; 2],
    /// Whether the force is inside its range.
    inside: bool,
    /// Control within its range, on the turn of the length.
    setpoint: f64,
}

/// Writes the generalized force of all actuators (nv).
pub(crate) fn actuate(model: &Model, kin: &Kinematics, q: &[f64], v: &[f64], ctrl: &[f64], tau: &mut [f64]) {
    tau.fill(0.0);
    for (k, a) in model.actuators().iter().enumerate() {
        let force = evaluate(model, kin, k, a, q, v, ctrl[k]).force;
        for_each_arm(model, kin, a, q, |j, arm, _| tau[j] += arm * force);
    }
    if model.nu() > 0 {
        model.driven_compensation().iter().for_each(|&j| tau[j] += compensation_on(model, kin, j));
    }
    for_each_clamped(model, |j, lo, hi| tau[j] = tau[j].clamp(lo, hi));
}

/// Length and velocity of the transmission of actuator `k`, and its force after clamping.
pub(crate) fn observe(model: &Model, kin: &Kinematics, k: usize, q: &[f64], v: &[f64], ctrl: f64) -> [f64; 3] {
    let a = &model.actuators()[k];
    let mut velocity = 0.0;
    for_each_arm(model, kin, a, q, |j, arm, _| velocity += arm * v[j]);
    [length(model, kin, a, q), velocity, evaluate(model, kin, k, a, q, v, ctrl).force]
}

/// Derivatives of the force of actuator `k` with respect to its control, and to the length and the velocity of its
/// transmission: zero where a clamp is active.
pub(crate) fn force_partials(model: &Model, kin: &Kinematics, k: usize, q: &[f64], v: &[f64], ctrl: f64) -> [f64; 3] {
    evaluate(model, kin, k, &model.actuators()[k], q, v, ctrl).slopes
}

/// Changes of the two last of [`force_partials`] with the control.
pub(crate) fn gain_slopes(model: &Model, kin: &Kinematics, k: usize, q: &[f64], v: &[f64], ctrl: f64) -> [f64; 2] {
    evaluate(model, kin, k, &model.actuators()[k], q, v, ctrl).gain_slopes
}

/// Calls `visit(j, ∂length/∂q_j, ∂velocity/∂q_j, ∂velocity/∂v_j)` for the transmission of actuator `k`.
pub(crate) fn for_each_transmission_partial(
    model: &Model,
    kin: &Kinematics,
    k: usize,
    q: &[f64],
    v: &[f64],
    mut visit: impl FnMut(usize, f64, f64, f64),
) {
    let a = &model.actuators()[k];
    match Curved::of(model, kin, a, q) {
        None => for_each_arm(model, kin, a, q, |j, arm, slope| visit(j, slope, 0.0, arm)),
        Some(t) => t.for_each_arm(|j, arm, slope| {
            let mut rate = 0.0;
            t.for_each_bend(model, kin, j, |i, bend| rate += bend * v[i]);
            visit(j, slope, rate, arm);
        }),
    }
}

/// Writes ∂tau/∂q (nv × nv), ∂tau/∂v (nv × nv) and ∂tau/∂ctrl (nv × nu), row by row.   (act-3)
pub(crate) fn actuate_derivatives(
    model: &Model,
    kin: &Kinematics,
    q: &[f64],
    v: &[f64],
    ctrl: &[f64],
    saturation: &mut [f64],
    dq: &mut [f64],
    dv: &mut [f64],
    dctrl: &mut [f64],
) {
    let (nv, nu) = (model.nv(), model.nu());
    actuate(model, kin, q, v, ctrl, &mut dq[..nv]);
    find_saturation(model, &dq[..nv], saturation);
    for m in [&mut *dq, &mut *dv, &mut *dctrl] {
        m.fill(0.0);
    }
    for_each_ctrl_partial(model, kin, q, v, ctrl, saturation, |i, k, slope| dctrl[i * nu + k] += slope);
    for_each_state_partial(model, kin, q, v, ctrl, saturation, |i, j, slope_q, slope_v| {
        dq[i * nv + j] += slope_q;
        dv[i * nv + j] += slope_v;
    });
    for_each_compensation_slope(model, kin, felt(model, Some(saturation)), |i, j, slope| dq[i * nv + j] += slope);
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
    kin: &Kinematics,
    q: &[f64],
    v: &[f64],
    ctrl: &[f64],
    saturation: &[f64],
    mut visit: impl FnMut(usize, usize, f64),
) {
    for (k, a) in model.actuators().iter().enumerate() {
        let slope = evaluate(model, kin, k, a, q, v, ctrl[k]).slopes[0];
        for_each_arm(model, kin, a, q, |i, arm, _| visit(i, k, saturation[i] * arm * slope));
    }
}

/// Calls `visit(i, j, ∂tau_i/∂q_j, ∂tau_i/∂v_j)` for each actuator whose force depends on the state.
pub(crate) fn for_each_state_partial(
    model: &Model,
    kin: &Kinematics,
    q: &[f64],
    v: &[f64],
    ctrl: &[f64],
    saturation: &[f64],
    mut visit: impl FnMut(usize, usize, f64, f64),
) {
    for (k, a) in model.actuators().iter().enumerate() {
        let e = evaluate(model, kin, k, a, q, v, ctrl[k]);
        if let Some(t) = Curved::of(model, kin, a, q) {
            for_each_curved_partial(model, kin, &t, v, &e, saturation, &mut visit);
            continue;
        }
        let [_, by_length, by_velocity] = e.slopes;
        if by_length == 0.0 && by_velocity == 0.0 {
            continue;
        }
        for_each_arm(model, kin, a, q, |i, arm_i, _| {
            for_each_arm(model, kin, a, q, |j, arm_j, slope_j| {
                let force = saturation[i] * arm_i;
                visit(i, j, force * by_length * slope_j, force * by_velocity * arm_j);
            });
        });
    }
}

/// The terms of one actuator whose arms change with the configuration.   (act-5)
fn for_each_curved_partial(
    model: &Model,
    kin: &Kinematics,
    t: &Curved,
    v: &[f64],
    e: &Evaluated,
    saturation: &[f64],
    visit: &mut impl FnMut(usize, usize, f64, f64),
) {
    let [_, by_length, by_velocity] = e.slopes;
    t.for_each_arm(|j, arm_j, slope_j| {
        let mut rate = 0.0;
        t.for_each_bend(model, kin, j, |i, bend| {
            rate += bend * v[i];
            visit(i, j, saturation[i] * bend * e.force, 0.0);
        });
        let by_q = by_length * slope_j + by_velocity * rate;
        t.for_each_arm(|i, arm_i, _| {
            let force = saturation[i] * arm_i;
            visit(i, j, force * by_q, force * by_velocity * arm_j);
        });
    });
}

/// Changes of length and velocity of actuator `k` when a placement of bodies changes.
pub(crate) fn placement_partials(
    model: &Model,
    kin: &Kinematics,
    k: usize,
    q: &[f64],
    v: &[f64],
    c: &Carrier,
) -> [f64; 2] {
    let Some(Curved::Bodies(t)) = Curved::of(model, kin, &model.actuators()[k], q) else { return [0.0; 2] };
    let mut rate = 0.0;
    t.for_each_bend(c, |i, bend| rate += bend * v[i]);
    [t.length_along(c), rate]
}

/// Calls `visit(i, ∂tau_i)` for a change of a placement of bodies.
pub(crate) fn for_each_placement_partial(
    model: &Model,
    kin: &Kinematics,
    q: &[f64],
    v: &[f64],
    ctrl: &[f64],
    saturation: &[f64],
    c: &Carrier,
    mut visit: impl FnMut(usize, f64),
) {
    for (k, a) in model.actuators().iter().enumerate() {
        let Some(Curved::Bodies(t)) = Curved::of(model, kin, a, q) else { continue };
        let e = evaluate(model, kin, k, a, q, v, ctrl[k]);
        let [by_length, by_velocity] = placement_partials(model, kin, k, q, v, c);
        let force = e.slopes[1] * by_length + e.slopes[2] * by_velocity;
        t.for_each_bend(c, |i, bend| visit(i, saturation[i] * bend * e.force));
        t.for_each_arm(|i, arm, _| visit(i, saturation[i] * arm * force));
    }
}

/// Derivatives of the force of actuator `k` with respect to its four numbers (gain, constant, per length, per velocity),
/// zero where it is saturated; and its arms.
pub(crate) fn gain_partials(
    model: &Model,
    kin: &Kinematics,
    k: usize,
    q: &[f64],
    v: &[f64],
    ctrl: f64,
    mut visit: impl FnMut(usize, f64),
) -> [f64; 4] {
    let a = &model.actuators()[k];
    let Evaluated { inside, setpoint, .. } = evaluate(model, kin, k, a, q, v, ctrl);
    let [length, velocity, _] = observe(model, kin, k, q, v, ctrl);
    for_each_arm(model, kin, a, q, |j, arm, _| visit(j, arm));
    [setpoint, 1.0, length, velocity].map(|x| if inside { x } else { 0.0 })
}

/// Damping and stiffness that unsaturated actuators give to joints with one dof, −gear² b₂ and −gear² b₁, added into `kv`
/// and `kp` (nv each). Gains that drive instead of resist are excluded, and so are those of tendons, which couple dofs
/// outside the pattern of the tree: they stay explicit. `tau` are the clamped forces of [`actuate`]: a joint at its effort
/// limit has no gain.   (act-3)
pub(crate) fn add_gains(
    model: &Model,
    kin: &Kinematics,
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
            let e = evaluate(model, kin, k, a, q, v, ctrl[k]);
            let gear2 = a.gear[0] * a.gear[0];
            kp[j] += gear2 * (-e.slopes[1]).max(0.0);
            kv[j] += gear2 * (-e.slopes[2]).max(0.0);
        }
    }
}

fn evaluate(model: &Model, kin: &Kinematics, k: usize, a: &Actuator, q: &[f64], v: &[f64], ctrl: f64) -> Evaluated {
    let numbers = &model.parameters().group(ParameterGroup::Actuator)[4 * k..4 * k + 4];
    if !a.enabled {
        return Evaluated { force: 0.0, slopes: [0.0; 3], gain_slopes: [0.0; 2], inside: false, setpoint: 0.0 };
    }
    let (length, mut velocity) = (length(model, kin, a, q), 0.0);
    for_each_arm(model, kin, a, q, |j, arm, _| velocity += arm * v[j]);
    let [ctrl, heard] = clamp_to(ctrl, range_of_drive(a));
    let setpoint = nearest_setpoint(model, a, ctrl, length);
    let [by_length, by_velocity] = a.gain_slopes;
    let gain = numbers[0] + (by_length * length + by_velocity * velocity);
    let force = gain * setpoint + numbers[1] + numbers[2] * length + numbers[3] * velocity;
    let [force, free] = clamp_to(force, a.force_range);
    let heard = heard * free;
    let slopes =
        [heard * gain, free * (numbers[2] + by_length * setpoint), free * (numbers[3] + by_velocity * setpoint)];
    let gain_slopes = [heard * by_length, heard * by_velocity];
    Evaluated { force, slopes, gain_slopes, inside: free != 0.0, setpoint }
}

/// The range of what drives an actuator: activations have their own, at the end of the step.
fn range_of_drive(a: &Actuator) -> Option<[f64; 2]> {
    if a.activation.is_some() { None } else { a.ctrl_range }
}

/// A number clamped to a range, and one where it is inside, else zero.
pub(super) fn clamp_to(x: f64, range: Option<[f64; 2]>) -> [f64; 2] {
    match range {
        Some([lo, hi]) => [x.clamp(lo, hi), if lo <= x && x <= hi { 1.0 } else { 0.0 }],
        None => [x, 1.0],
    }
}

/// Length of the transmission: gear times displacement; a free joint has none, as in MuJoCo.   (act-2)
pub(super) fn length(model: &Model, kin: &Kinematics, a: &Actuator, q: &[f64]) -> f64 {
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
        _ => Curved::of(model, kin, a, q).map_or(0.0, |t| t.length()),
    }
}

/// Calls `visit(dof, arm, slope)` for every dof that the actuator moves: generalized force per force of the actuator, and
/// change of the transmission's length per tangent. They differ for rotations only.
pub(super) fn for_each_arm(
    model: &Model,
    kin: &Kinematics,
    a: &Actuator,
    q: &[f64],
    mut visit: impl FnMut(usize, f64, f64),
) {
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
        _ => {
            if let Some(t) = Curved::of(model, kin, a, q) {
                t.for_each_arm(visit);
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
