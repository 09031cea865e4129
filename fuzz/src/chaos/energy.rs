//! Whether a step has gained more kinetic energy than anything may have given it.
//!
//! With the mass matrix M of the pose in which the step begins, `½ v⁺ᵀ M v⁺ − ½ vᵀ M v = v̄ · p` is exact, where `v̄ = (v + v⁺)/2`
//! and p is the sum of all generalized impulses. What may give energy: applied forces, actuators, springs and dampers,
//! gravity, velocity-dependent inertial forces, and the correction of overlaps. The first five are computed here from the
//! dynamics of one state, which share no code with the contact solver; a correction may give each island the energy
//! `½ m c²` of its mass at the largest correction speed (contact-16), and all islands together have the robot's mass.
//! At many radians per step the pose in which the velocity is weighed decides: a step that rotates freely keeps the energy of its end,
//! not that in the pose of its beginning. The smaller of the two counts.
//! Steps that begin with more than a radian or a meter per step are not judged.
//! Constraints without correction give none: impacts, friction and limits only take. Restitution is left out: Newton's law of
//! several simultaneous impacts may gain energy, and where it acts nothing is judged.
#![allow(non_snake_case)]

use slipstick::dynamics::Workspace;
use slipstick::model::ParameterGroup;
use slipstick::{Model, State, WarmStart};

/// A gain up to so many times the allowed one is no finding: forces are taken at the end of a step where that is more
/// stable, and here at its beginning.
const FACTOR: f64 = 4.0;
/// Beyond it inertial forces at the beginning of a step say nothing about those within it (rad or m).
const LARGEST_MOVE: f64 = 1.0;
/// Part of the kinetic energy that the solver's tolerance and rounding may move.
const ROUNDING: f64 = 1e-6;

/// Memory and state for the balance of steps.
#[derive(Debug)]
pub struct Balance {
    workspace: Workspace,
    mass: f64,
    bounces: bool,
    forces: [Vec<f64>; 4],
}

/// A step's gain, and what was allowed (J).
#[derive(Debug, Clone, Copy)]
pub struct Gain {
    pub gained: f64,
    pub allowed: f64,
}

impl Gain {
    pub fn is_too_much(&self) -> bool {
        self.gained > self.allowed
    }
}

impl Balance {
    pub fn new(model: &Model) -> Balance {
        let n = model.nv();
        let bounces = model.parameters().group(ParameterGroup::Restitution).iter().any(|r| *r > 0.0);
        Balance {
            workspace: Workspace::new(model),
            mass: model.total_mass(),
            bounces,
            forces: [(); 4].map(|()| vec![0.0; n]),
        }
    }

    /// The balance of a step; `None` where it says nothing.
    pub fn of(
        &mut self,
        model: &Model,
        x: &State,
        [q_next, v_next]: [&[f64]; 2],
        tau: &[f64],
        ctrl: Option<&[f64]>,
    ) -> Option<Gain> {
        let dt = model.options().dt;
        let is_resolved = x.v.iter().all(|v| v.abs() * dt <= LARGEST_MOVE);
        if self.bounces || model.n_mocap() > 0 || !is_resolved {
            return None;
        }
        let w = &mut self.workspace;
        let (before, _) = w.energy(model, &x.q, &x.v).ok()?;
        let [after, moved] = [&x.q[..], q_next].map(|q| w.energy(model, q, v_next).ok().map(|(kinetic, _)| kinetic));
        let after = after?.min(moved?);
        let [drive, passive, bias, gravity] = &mut self.forces;
        drive.fill(0.0);
        if let Some(ctrl) = ctrl {
            let mut drives = vec![0.0; model.nu()];
            w.drives(model, &x.act, ctrl, &mut drives).ok()?;
            w.actuate(model, &x.q, &x.v, &drives, drive).ok()?;
        }
        w.passive(model, &x.q, &x.v, passive).ok()?;
        w.bias(model, &x.q, &x.v, bias).ok()?;
        w.bias(model, &x.q, &vec![0.0; model.nv()], gravity).ok()?;
        let mut work = 0.0;
        for j in 0..model.nv() {
            let mean = (0.5 * (x.v[j] + v_next[j])).abs();
            let tau = tau.get(j).copied().unwrap_or(0.0);
            let inertial = bias[j] - gravity[j];
            work += dt * mean * (tau.abs() + drive[j].abs() + passive[j].abs() + gravity[j].abs() + inertial.abs());
        }
        let fastest = model.options().correction.max_speed;
        let correction = 0.5 * self.mass * fastest * fastest;
        Some(Gain { gained: after - before, allowed: FACTOR * (work + correction) + ROUNDING * before })
    }
}

/// Energy as it was, and the warm start: what a saved step needs.
#[derive(Debug, Clone)]
pub struct Before {
    pub state: State,
    pub warm: WarmStart,
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstick::builtin;

    #[test]
    fn a_step_that_falls_is_allowed_and_one_that_jumps_is_not() {
        let model = builtin("cube").unwrap();
        let (mut balance, x) = (Balance::new(&model), State::neutral(&model));
        let mut falls = x.v.clone();
        falls[2] = -9.81 * model.options().dt;
        assert!(!balance.of(&model, &x, [&x.q, &falls], &[], None).unwrap().is_too_much());
        // the correction of an overlap moves it by up to 1 m/s
        falls[2] = 1.0;
        assert!(!balance.of(&model, &x, [&x.q, &falls], &[], None).unwrap().is_too_much());
        falls[2] = 50.0;
        assert!(balance.of(&model, &x, [&x.q, &falls], &[], None).unwrap().is_too_much());
    }
}
