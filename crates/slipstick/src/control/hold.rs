//! Holding a pose: position servos get it as their target, other actuators a damped spring made from the inertia that they
//! move; a robot without actuators is held by joint torques of the same kind.
#![allow(non_snake_case)]

use super::Command;
use super::resistance::Resistance;
use slipstick_core::dynamics::Workspace;
use slipstick_core::error::DynamicsError;
use slipstick_core::model::{Actuator, Dynamics, JointKind, ParameterGroup, Transmission};
use slipstick_core::spatial::{Quat, Vec3};
use slipstick_core::{Model, State};

/// How fast a held joint comes back: ω (rad/s), 4 Hz. The spring is m ω², the damper 2 m ω (critical).
const RATE: f64 = 25.0;
/// A damper acts with the velocity at the beginning of a step and must not take more than this share of it.
const SHARE: f64 = 0.5;

/// Holds the pose of a state.
#[derive(Debug, Clone)]
pub struct Hold {
    /// The pose (nq).
    q: Vec<f64>,
    /// One per actuator; without actuators one per dof of the joints that are not free.
    springs: Vec<Spring>,
    /// q ⊖ pose (nv).
    error: Vec<f64>,
}

/// What one actuator or dof does.
#[derive(Debug, Clone)]
enum Spring {
    /// A constant control.
    Constant(f64),
    /// A force −(k r·(q ⊖ pose) + d r·v) of an actuator with moment arms r, a gain and biases of its own.
    Actuator { arms: Vec<(usize, f64)>, k: f64, d: f64, gain: f64, bias: [f64; 3] },
    /// A constant generalized force, within the limits of the joint.
    Dof { dof: usize, k: f64, d: f64, limits: [f64; 2] },
}

impl Hold {
    /// Holds the pose of `x`. An actuator with a position gain gets the control at which it rests there. Any other one
    /// acts as a spring m ω² with a damper 2 m ω, ω = 25 rad/s, where m is the joint-space inertia along it; for a robot
    /// that floats, if larger, the inertia of what is on the other side of the joint, which is what a standing leg
    /// carries; and never so much that the damper could overshoot within a time step. A joint that a position servo
    /// holds is left to it; motors on sites, as of drones, stay off. An actuator with an activation that is no servo, or
    /// integrates its control, gets a control of zero. Without any actuators all joints but free ones get such springs as torques.
    pub fn new(model: &Model, x: &State) -> Result<Hold, DynamicsError> {
        let mut resistance = Resistance::new(model, &x.q)?;
        let mut springs = Vec::new();
        if model.nu() == 0 {
            for joint in model.joints().iter().filter(|j| j.kind != JointKind::Free) {
                for dof in joint.v.clone() {
                    let (k, d) = gains(model, &mut resistance, &[(dof, 1.0)])?;
                    springs.push(Spring::Dof { dof, k, d, limits: joint.effort });
                }
            }
        }
        let (mut work, mut moment) = (Workspace::new(model), vec![0.0; model.nv()]);
        for (n, a) in model.actuators().iter().enumerate() {
            let (gain, bias, arms) = (gain(model, n), bias(model, n), arms(model, a));
            let idle = gain == 0.0 || arms.iter().all(|(_, r)| *r == 0.0);
            let integrates = a.activation.is_some_and(|x| x.dynamics == Dynamics::Integrator);
            let slow = integrates || (a.activation.is_some() && !is_servo(model, n));
            springs.push(if slow {
                Spring::Constant(0.0)
            } else if is_servo(model, n) {
                let length = work.transmission(model, &x.q, a, &mut moment)?;
                Spring::Constant(-(bias[0] + bias[1] * length) / gain)
            } else if idle || is_held(model, a) {
                Spring::Constant(0.0)
            } else {
                let (k, d) = gains(model, &mut resistance, &arms)?;
                Spring::Actuator { arms, k, d, gain, bias }
            });
        }
        Ok(Hold { q: x.q.clone(), springs, error: vec![0.0; model.nv()] })
    }

    pub(super) fn fill(&mut self, model: &Model, x: &State, command: &mut Command) {
        // a state that does not fit is refused by the step that follows
        if model.difference(&self.q, &x.q, &mut self.error).is_err() {
            return;
        }
        for (n, spring) in self.springs.iter().enumerate() {
            match spring {
                Spring::Constant(ctrl) => command.ctrl[n] = *ctrl,
                Spring::Actuator { arms, k, d, gain, bias } => {
                    let along = |y: &[f64]| arms.iter().map(|(j, r)| r * y[*j]).sum::<f64>();
                    let speed = along(&x.v);
                    let own = bias[0] + bias[1] * length(model, &model.actuators()[n], &x.q) + bias[2] * speed;
                    command.ctrl[n] = (-k * along(&self.error) - d * speed - own) / gain;
                }
                Spring::Dof { dof, k, d, limits } => {
                    let force = -k * self.error[*dof] - d * x.v[*dof];
                    command.tau[*dof] = force.clamp(limits[0], limits[1]);
                }
            }
        }
    }
}

/// Spring and damper along moment arms.
fn gains(model: &Model, resistance: &mut Resistance, arms: &[(usize, f64)]) -> Result<(f64, f64), DynamicsError> {
    let most = SHARE * resistance.free(model, arms)? / (2.0 * RATE * model.options().dt);
    let m = resistance.carried(arms).min(most);
    Ok((m * RATE * RATE, 2.0 * m * RATE))
}

fn gain(model: &Model, actuator: usize) -> f64 {
    model.parameters().group(ParameterGroup::Actuator)[4 * actuator]
}

fn bias(model: &Model, actuator: usize) -> [f64; 3] {
    let n = &model.parameters().group(ParameterGroup::Actuator)[4 * actuator + 1..4 * actuator + 4];
    [n[0], n[1], n[2]]
}

/// Whether an actuator has a place where it rests.
fn is_servo(model: &Model, actuator: usize) -> bool {
    gain(model, actuator) != 0.0 && bias(model, actuator)[1] < 0.0
}

/// Whether a position servo pulls on the same joint or tendon.
fn is_held(model: &Model, a: &Actuator) -> bool {
    let same = |n: &usize| model.actuators()[*n].transmission == a.transmission;
    (0..model.nu()).filter(same).any(|n| is_servo(model, n))
}

/// Dofs that an actuator moves and its moment arms; none where they turn with the pose: such a motor is left alone.
fn arms(model: &Model, a: &Actuator) -> Vec<(usize, f64)> {
    match a.transmission {
        Transmission::Joint(id) => model.joints()[id.0].v.clone().zip(a.gear).collect(),
        Transmission::Tendon(t) => {
            let joints = &model.tendons()[t].joints;
            joints.iter().map(|(id, weight)| (model.joints()[id.0].v.start, a.gear[0] * weight)).collect()
        }
        _ => Vec::new(),
    }
}

/// Length of an actuator's transmission, as its bias counts it.
fn length(model: &Model, a: &Actuator, q: &[f64]) -> f64 {
    match a.transmission {
        Transmission::Joint(id) => {
            let joint = &model.joints()[id.0];
            let q = &q[joint.q.clone()];
            match joint.kind {
                JointKind::Free => 0.0,
                JointKind::Spherical => Vec3::from_slice(&a.gear).dot(Quat::from_slice(q).log()),
                _ => q.iter().zip(a.gear).map(|(q, g)| q * g).sum(),
            }
        }
        Transmission::Tendon(t) => {
            let joints = &model.tendons()[t].joints;
            a.gear[0] * joints.iter().map(|(id, w)| w * q[model.joints()[id.0].q.start]).sum::<f64>()
        }
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Controller;
    use crate::{Simulator, builtin};

    /// How far joints are from the start after two seconds (rad).
    fn drift(name: &str, keyframe: &str) -> (f64, Simulator) {
        let model = builtin(name).unwrap();
        let mut sim = Simulator::at_keyframe(&model, keyframe).unwrap();
        let start = sim.state().clone();
        let mut hold = Controller::Hold(Hold::new(&model, &start).unwrap());
        let steps = (2.0 / model.options().dt).round() as usize;
        sim.rollout(steps, &mut hold).unwrap();
        let moved = model.joints().iter().filter(|j| j.kind.nq() == 1).map(|j| j.q.start);
        (moved.map(|k| (sim.state().q[k] - start.q[k]).abs()).fold(0.0, f64::max), sim)
    }

    #[test]
    fn position_servos_get_the_pose_as_their_target() {
        let model = builtin("quadruped").unwrap();
        let home = State::keyframe(&model, "home").unwrap();
        let mut command = Command::new(&model);
        Hold::new(&model, &home).unwrap().fill(&model, &home, &mut command);
        let wanted = &model.keyframe("home").unwrap().ctrl;
        assert!(command.ctrl.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-12), "{:?}", command.ctrl);
    }

    #[test]
    fn a_quadruped_stands() {
        let (drift, sim) = drift("quadruped", "home");
        let q = &sim.state().q;
        assert!(drift < 0.2 && q[2] > 0.25 && q[3] > 0.99, "{drift} {q:?}");
    }

    #[test]
    fn motors_hold_an_arm_up() {
        let (drift, _) = drift("double_pendulum", "released");
        assert!(drift < 0.2, "{drift}");
    }
}
