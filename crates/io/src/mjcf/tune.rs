//! Numbers that a file gives by their effect on the motion: they take the inertia in the neutral configuration.

use super::body::Link;
use super::flag::Disabled;
use slipstick_core::Model;
use slipstick_core::dynamics::Workspace;
use slipstick_core::model::{Actuator, Joint, ParameterGroup, Transmission};
use std::collections::HashMap;

/// What the time of a spring and damper is divided by at least.
const TINY: f64 = 1e-15;

/// Whether the damping of a servo is given as a ratio, which takes the inertia to become a number.
pub(super) fn is_ratio(a: &Actuator) -> bool {
    a.gain == -a.bias[1] && a.bias[2] > 0.0
}

/// M⁻¹ in the neutral configuration, of which single numbers are asked for: the whole of it may be too large.
struct Mobility<'a> {
    model: &'a Model,
    work: Workspace,
    x: Vec<f64>,
}

impl Mobility<'_> {
    /// `None` for a model with a dof without inertia, which no finished model has.
    fn new(model: &Model) -> Option<Mobility<'_>> {
        let mut work = Workspace::new(model);
        work.factor(model, model.neutral()).ok()?;
        Some(Mobility { model, work, x: vec![0.0; model.nv()] })
    }

    /// J M⁻¹ Jᵀ of a row J that is given by its dofs and numbers.
    fn along(&mut self, row: &[(usize, f64)]) -> f64 {
        self.x.fill(0.0);
        row.iter().for_each(|(i, a)| self.x[*i] += a);
        let solved = self.work.solve(self.model, &mut self.x);
        if solved.is_ok() { row.iter().map(|(i, a)| a * self.x[*i]).sum() } else { 0.0 }
    }

    /// Dofs that an actuator acts on, and the force on each per unit of its own.
    fn arms(&mut self, a: &Actuator) -> Vec<(usize, f64)> {
        let model = self.model;
        let dofs = |joint: &Joint| joint.v.clone();
        match a.transmission {
            Transmission::Joint(id) => dofs(&model.joints()[id.0]).zip(a.gear).collect(),
            Transmission::Tendon(number) => {
                let parts = model.tendons()[number].joints.iter();
                parts.map(|(id, weight)| (dofs(&model.joints()[id.0]).start, weight * a.gear[0])).collect()
            }
            _ => match self.work.transmission(model, model.neutral(), a, &mut self.x) {
                Ok(_) => self.x.iter().copied().enumerate().filter(|(_, x)| *x != 0.0).collect(),
                Err(_) => Vec::new(), // a finished model has what its actuators refer to
            },
        }
    }
}

/// Turns damping ratios into damping: kv = 2 ratio √(kp m), m = 1 / (J M⁻¹ Jᵀ) the inertia that the servo feels.
/// `model` is the robot without its actuators.
pub(super) fn damp<'b>(model: &Model, servos: impl Iterator<Item = &'b mut Actuator>) {
    let Some(mut mobility) = Mobility::new(model) else { return };
    for servo in servos.filter(|a| is_ratio(a)) {
        let arms = mobility.arms(servo);
        servo.bias[2] *= -2.0 * (servo.gain / mobility.along(&arms).max(TINY)).max(0.0).sqrt();
    }
}

/// Gives joints the spring and the damper that let them come to rest in a time and with a damping ratio.
pub(super) fn springs(model: Model, links: &[Link], disabled: &Disabled) -> Model {
    let wanted: HashMap<&str, [f64; 2]> =
        links.iter().flat_map(|l| &l.tuned).map(|(name, x)| (name.as_str(), *x)).collect();
    let mobility = if wanted.is_empty() { None } else { Mobility::new(&model) };
    let Some(mut mobility) = mobility else { return model };
    let mut numbers = model.parameters().clone();
    for joint in model.joints() {
        let Some([time, ratio]) = wanted.get(joint.name.as_str()) else { continue };
        let mean = joint.v.clone().map(|j| mobility.along(&[(j, 1.0)])).sum::<f64>() / joint.v.len() as f64;
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
