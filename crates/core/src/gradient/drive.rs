//! Controls and activations act through the drives of the actuators.   (act-10, act-11)

use super::record::StepRecord;
use crate::dynamics::{for_each_ctrl_partial, gain_partials, gain_slopes};
use crate::model::{Implicit, ParameterGroup, Transmission};

/// Calls `visit(i, k, slope)`: the change of the generalized force i with the drive of actuator k, gains that are taken at the end of
/// the step included.
#[inline(always)]
pub(super) fn for_each_drive_partial(f: &StepRecord, saturation: &[f64], mut visit: impl FnMut(usize, usize, f64)) {
    let Some(drive) = f.given.drive() else { return };
    let (q, v) = (&f.given.q, &f.given.v);
    for_each_ctrl_partial(f.model, f.kin, q, v, drive, saturation, &mut visit);
    for (k, _) in f.model.actuators().iter().enumerate().filter(|(_, a)| a.gain_slopes != [0.0; 2]) {
        let Some((j, gear, [by_length, by_velocity])) = implicit_gain(f, saturation, k) else { continue };
        let slopes = gain_slopes(f.model, f.kin, k, q, v, drive[k]);
        let length = if by_length { f.model.options().dt * f.end.v[j] } else { 0.0 };
        let velocity = if by_velocity { f.end.v[j] - f.given.v[j] } else { 0.0 };
        visit(j, k, gear * gear * (slopes[0] * length + slopes[1] * velocity));
    }
}

/// Dof and gear of an actuator whose gains enter the mass matrix, and which: by length, by velocity. Gains of zero count
/// as resisting ones.   (act-3)
pub(super) fn implicit_gain(f: &StepRecord, saturation: &[f64], k: usize) -> Option<(usize, f64, [bool; 2])> {
    let (a, drive) = (&f.model.actuators()[k], f.given.drive()?[k]);
    let Transmission::Joint(id) = a.transmission else { return None };
    let (joint, implicit) = (&f.model.joints()[id.0], f.model.options().implicit);
    let slopes = gain_partials(f.model, f.kin, k, &f.given.q, &f.given.v, drive, |_, _| ());
    if joint.v.len() != 1 || slopes[1] == 0.0 || saturation[joint.v.start] == 0.0 {
        return None;
    }
    let numbers = &f.model.parameters().group(ParameterGroup::Actuator)[4 * k..4 * k + 4];
    let by_length = implicit == Implicit::All && numbers[2] + a.gain_slopes[0] * slopes[0] <= 0.0;
    let by_velocity = numbers[3] + a.gain_slopes[1] * slopes[0] <= 0.0;
    let by_velocity = matches!(implicit, Implicit::Velocity | Implicit::All) && by_velocity;
    Some((joint.v.start, a.gear[0], [by_length, by_velocity]))
}
