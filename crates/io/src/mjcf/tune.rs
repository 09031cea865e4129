//! Numbers that a file gives by their effect on the motion: they take the inertia in the neutral configuration.

use super::body::Link;
use super::flag::Disabled;
use slipstick_core::Model;
use slipstick_core::dynamics::Workspace;
use slipstick_core::model::{Actuator, Joint, ParameterGroup, Transmission};

/// What the time of a spring and damper is divided by at least.
const TINY: f64 = 1e-15;

/// Whether the damping of a servo is given as a ratio, which takes the inertia to become a number.
pub(super) fn is_ratio(a: &Actuator) -> bool {
    a.gain == -a.bias[1] && a.bias[2] > 0.0
}

/// Turns damping ratios into damping: kv = 2 ratio √(kp m), m = 1 / (J M⁻¹ Jᵀ) the inertia that the servo feels.
/// `model` is the robot without its actuators.
pub(super) fn damp<'b>(model: &Model, servos: impl Iterator<Item = &'b mut Actuator>) {
    let nv = model.nv();
    let mut inverse = vec![0.0; nv * nv];
    if Workspace::new(model).mass_inverse(model, model.neutral(), &mut inverse).is_err() {
        return; // a finished model has inertia in every dof
    }
    for servo in servos.filter(|a| is_ratio(a)) {
        let arms = arms(model, servo);
        let pairs = arms.iter().flat_map(|a| arms.iter().map(move |b| (a, b)));
        let mobility: f64 = pairs.map(|((i, a), (j, b))| a * inverse[i * nv + j] * b).sum();
        servo.bias[2] *= -2.0 * (servo.gain / mobility.max(TINY)).max(0.0).sqrt();
    }
}

/// Dofs that an actuator acts on in the neutral configuration, and the force on each per unit of its own.
fn arms(model: &Model, a: &Actuator) -> Vec<(usize, f64)> {
    let dofs = |joint: &Joint| joint.v.clone();
    match a.transmission {
        Transmission::Joint(id) => dofs(&model.joints()[id.0]).zip(a.gear).collect(),
        Transmission::Tendon(number) => {
            let parts = model.tendons()[number].joints.iter();
            parts.map(|(id, weight)| (dofs(&model.joints()[id.0]).start, weight * a.gear[0])).collect()
        }
        _ => {
            let mut moment = vec![0.0; model.nv()];
            match Workspace::new(model).transmission(model, model.neutral(), a, &mut moment) {
                Ok(_) => moment.into_iter().enumerate().filter(|(_, x)| *x != 0.0).collect(),
                Err(_) => Vec::new(), // a finished model has what its actuators refer to
            }
        }
    }
}

/// Gives joints the spring and the damper that let them come to rest in a time and with a damping ratio.
pub(super) fn springs(model: Model, links: &[Link], disabled: &Disabled) -> Model {
    let wanted: Vec<(&str, [f64; 2])> = links.iter().flat_map(|l| &l.tuned).map(|(n, x)| (n.as_str(), *x)).collect();
    let nv = model.nv();
    let mut inverse = vec![0.0; nv * nv];
    if wanted.is_empty() || Workspace::new(&model).mass_inverse(&model, model.neutral(), &mut inverse).is_err() {
        return model;
    }
    let mut numbers = model.parameters().clone();
    for (name, [time, ratio]) in wanted {
        let Some(joint) = model.joints().iter().find(|j| j.name == name) else { continue };
        let mean = joint.v.clone().map(|j| inverse[j * nv + j]).sum::<f64>() / joint.v.len() as f64;
        let inertia = 1.0 / mean.max(TINY);
        let dofs = joint.v.clone();
        if !disabled.springs() {
            numbers.group_mut(ParameterGroup::Stiffness)[dofs.clone()].fill(inertia / (time * ratio).powi(2).max(TINY));
        }
        if !disabled.dampers() {
            numbers.group_mut(ParameterGroup::Damping)[dofs].fill(2.0 * inertia / time.max(TINY));
        }
    }
    model.with_parameters(numbers).unwrap_or(model)
}
