//! Whether torques that hold a robot for one step hold it for a second.

use crate::drives::Drives;
use slipstick::control::Command;
use slipstick::model::{Implicit, JointKind, ParameterGroup};
use slipstick::rollout::RolloutError;
use slipstick::{InputError, Model, Simulator, State, Trajectory};

/// What holds the joints in addition to the found torques: servos that act at the end of each step, as springs and dampers do.
/// Zero: nothing, torques are constant.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Feedback {
    /// Torque per angle (N·m/rad).
    pub stiffness: f64,
    /// Torque per speed (N·m·s/rad).
    pub damping: f64,
}

/// A simulation under the found torques.
#[derive(Debug, Clone, PartialEq)]
pub struct Hold {
    /// What was added to the torques.
    pub feedback: Feedback,
    /// Largest way of the base from where it was (m).
    pub base: f64,
    /// Largest angle of a joint from where it was (rad).
    pub joints: f64,
    /// The motion.
    pub trajectory: Trajectory,
}

/// Simulates `seconds` from rest in `q`.
pub fn hold(
    model: &Model,
    drives: &Drives,
    q: &[f64],
    torques: &[f64],
    feedback: Feedback,
    seconds: f64,
) -> Result<Hold, RolloutError> {
    let refused = |e: InputError| RolloutError { step: 0, error: e.into() };
    let held = with_feedback(model, drives, q, feedback).map_err(refused)?;
    let mut simulator = Simulator::new(&held);
    let start = State::new(&held, q, &vec![0.0; held.nv()]).map_err(refused)?;
    simulator.set_state(start).map_err(refused)?;
    let control = |_: &Model, _: &State, command: &mut Command| {
        command.actuated = false;
        drives.spread(torques, &mut command.tau);
    };
    let steps = (seconds / model.options().dt).round() as usize;
    let trajectory = simulator.rollout(steps, control)?;
    let states = || trajectory.q.chunks_exact(model.nq());
    let coordinates: Vec<usize> = drives.dofs.iter().map(|v| coordinate(model, *v)).collect();
    let away = |x: &[f64]| coordinates.iter().map(|k| (x[*k] - q[*k]).abs()).fold(0.0, f64::max);
    let joints = states().map(away).fold(0.0, f64::max);
    let base = states().map(|x| base_way(model, q, x)).fold(0.0, f64::max);
    Ok(Hold { feedback, base, joints, trajectory })
}

/// The robot with servos at its drives, as springs that rest in `q`, and dampers.
fn with_feedback(model: &Model, drives: &Drives, q: &[f64], feedback: Feedback) -> Result<Model, InputError> {
    let (mut options, mut parameters) = (model.options().clone(), model.parameters().clone());
    if feedback == Feedback::default() {
        return Ok(model.clone());
    }
    options.implicit = Implicit::All;
    for v in &drives.dofs {
        let (k, own) = (coordinate(model, *v), parameters.group(ParameterGroup::Stiffness)[*v]);
        let both = own + feedback.stiffness;
        // two springs are one between them
        let reference = &mut parameters.group_mut(ParameterGroup::SpringReference)[k];
        *reference = if both > 0.0 { (own * *reference + feedback.stiffness * q[k]) / both } else { *reference };
        parameters.group_mut(ParameterGroup::Stiffness)[*v] = both;
        parameters.group_mut(ParameterGroup::Damping)[*v] += feedback.damping;
    }
    model.with_parameters(parameters)?.with_options(options)
}

/// Coordinate of a joint with one dof.
fn coordinate(model: &Model, dof: usize) -> usize {
    model.joints().iter().find(|j| j.v.contains(&dof)).map_or(0, |j| j.q.start)
}

/// Largest way of a free base between two configurations (m).
fn base_way(model: &Model, a: &[f64], b: &[f64]) -> f64 {
    let free = model.joints().iter().filter(|j| j.kind == JointKind::Free).map(|j| j.q.start);
    let way = |k: usize| (0..3).map(|i| (b[k + i] - a[k + i]).powi(2)).sum::<f64>().sqrt();
    free.map(way).fold(0.0, f64::max)
}
