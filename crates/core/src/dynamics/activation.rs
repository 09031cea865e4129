//! Activations: ctrl → act → force. What an actuator's force depends on is its drive: the control or, with an activation, that one.
//!   (act-9, act-10)

use super::actuation::clamp_to;
use crate::model::{Activation, Actuator, Dynamics, Model};

/// Time constants below it (s) count as this one, as in MuJoCo.
const LEAST_TIME: f64 = 1e-15;

/// An activation over a step, and how it depends on what it is made from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Response {
    /// Its value at the end of the step.
    pub next: f64,
    /// ∂next/∂act, ∂next/∂ctrl.
    pub slopes: [f64; 2],
    /// What the force of the step is made from.
    pub drive: f64,
    /// ∂drive/∂act, ∂drive/∂ctrl.
    pub drive_slopes: [f64; 2],
}

/// Calls `visit(n, k, response)` for the activation number n of each actuator k that has one. `ctrl`: `None` if the actuators are off.
#[inline(always)]
pub(crate) fn for_each_response(
    model: &Model,
    act: &[f64],
    ctrl: Option<&[f64]>,
    mut visit: impl FnMut(usize, usize, Response),
) {
    for (n, id) in model.activated().iter().enumerate() {
        let actuator = &model.actuators()[id.0];
        if let Some(activation) = &actuator.activation {
            visit(n, id.0, respond(model.options().dt, actuator, activation, act[n], ctrl.map(|u| u[id.0])));
        }
    }
}

/// Writes the activations at the end of the step (na).
pub(crate) fn advance(model: &Model, act: &[f64], ctrl: Option<&[f64]>, next: &mut [f64]) {
    for_each_response(model, act, ctrl, |n, _, r| next[n] = r.next);
}

/// Writes what the forces of all actuators are made from (nu).
pub(crate) fn drives(model: &Model, act: &[f64], ctrl: &[f64], out: &mut [f64]) {
    out.copy_from_slice(ctrl);
    for_each_response(model, act, Some(ctrl), |_, k, r| out[k] = r.drive);
}

/// The change of the drives (nu) along a change of activations and controls; what is empty does not change.
pub(crate) fn push(model: &Model, act: &[f64], ctrl: &[f64], [dact, dctrl]: [&[f64]; 2], out: &mut [f64]) {
    out.fill(0.0);
    out.iter_mut().zip(dctrl).for_each(|(o, d)| *o = *d);
    for_each_response(model, act, Some(ctrl), |n, k, r| out[k] = r.along(r.drive_slopes, at(dact, n), at(dctrl, k)));
}

/// The change of the activations at the end of the step, likewise (na).
pub(crate) fn push_next(model: &Model, act: &[f64], ctrl: Option<&[f64]>, [dact, dctrl]: [&[f64]; 2], out: &mut [f64]) {
    for_each_response(model, act, ctrl, |n, k, r| out[n] = r.along(r.slopes, at(dact, n), at(dctrl, k)));
}

/// Adds to gradients with respect to activations and controls what they owe to those with respect to the drives (nu) and to the
/// activations at the end of the step (na). Empty: zero, or not wanted.
pub(crate) fn pull(
    model: &Model,
    act: &[f64],
    ctrl: Option<&[f64]>,
    [by_drive, by_next]: [&[f64]; 2],
    [by_act, by_ctrl]: [&mut [f64]; 2],
) {
    for (k, _) in model.actuators().iter().enumerate().filter(|(_, a)| a.activation.is_none()) {
        add(by_ctrl, k, at(by_drive, k));
    }
    for_each_response(model, act, ctrl, |n, k, r| {
        let (drive, next) = (at(by_drive, k), at(by_next, n));
        add(by_act, n, drive * r.drive_slopes[0] + next * r.slopes[0]);
        add(by_ctrl, k, drive * r.drive_slopes[1] + next * r.slopes[1]);
    });
}

impl Response {
    fn along(&self, [by_act, by_ctrl]: [f64; 2], dact: f64, dctrl: f64) -> f64 {
        by_act * dact + by_ctrl * dctrl
    }
}

/// MuJoCo's `mj_nextActivation`: of an actuator that does not act the activation rests, but is clamped; where all are off, it rests.   (act-9)
fn respond(dt: f64, a: &Actuator, activation: &Activation, act: f64, ctrl: Option<f64>) -> Response {
    let Some(ctrl) = ctrl else {
        return Response { next: act, slopes: [1.0, 0.0], drive: 0.0, drive_slopes: [0.0; 2] };
    };
    let [clamped, heard] = clamp_to(ctrl, a.ctrl_range);
    let (next, slopes) = if a.enabled { follow(dt, activation.dynamics, act, clamped) } else { (act, [1.0, 0.0]) };
    let [next, free] = clamp_to(next, activation.range);
    let slopes = [free * slopes[0], free * heard * slopes[1]];
    match activation.early {
        true => Response { next, slopes, drive: next, drive_slopes: slopes },
        false => Response { next, slopes, drive: act, drive_slopes: [1.0, 0.0] },
    }
}

/// The activation after a step without a range, and its slopes by activation and control.
fn follow(dt: f64, dynamics: Dynamics, act: f64, ctrl: f64) -> (f64, [f64; 2]) {
    match dynamics {
        Dynamics::Integrator => (act + ctrl * dt, [1.0, dt]),
        Dynamics::Filter { time_constant } => {
            let time = time_constant.max(LEAST_TIME);
            (act + (ctrl - act) / time * dt, [1.0 - dt / time, dt / time])
        }
        Dynamics::ExactFilter { time_constant } => {
            let time = time_constant.max(LEAST_TIME);
            let share = 1.0 - (-dt / time).exp();
            (act + (ctrl - act) / time * time * share, [1.0 - share, share])
        }
    }
}

fn at(x: &[f64], k: usize) -> f64 {
    x.get(k).copied().unwrap_or(0.0)
}

fn add(out: &mut [f64], k: usize, x: f64) {
    if let Some(out) = out.get_mut(k) {
        *out += x;
    }
}
