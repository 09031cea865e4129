//! The paper's robots as the comparison with peers has them: what every engine models alike, the same for all robots.

use crate::paper::PaperRobot;
use crate::step::robot::Robot;
use slipstick::Model;
use slipstick::model::{JointKind, ParameterGroup};

const DT: f64 = 1e-3; // s
const FRICTION: f64 = 0.8;

/// A robot with friction 0.8, steps of 1 ms, no dry friction, least armature and damping, and the gains that hold it.
/// (`bench/mujoco/step.py` does the same and takes away joint limits.)
pub fn settle(paper: &PaperRobot, model: Model) -> Result<Robot, String> {
    let mut options = model.options().clone();
    options.dt = DT;
    let model = model.with_options(options).map_err(|e| e.to_string())?;
    let mut parameters = model.parameters().clone();
    parameters.group_mut(ParameterGroup::Friction).fill(FRICTION);
    parameters.group_mut(ParameterGroup::DryFriction).fill(0.0);
    let groups = [ParameterGroup::Armature, ParameterGroup::Damping];
    for joint in model.joints().iter().filter(|j| is_single(&j.kind)) {
        for (group, least) in groups.into_iter().zip(paper.least) {
            let value = &mut parameters.group_mut(group)[joint.v.start];
            *value = value.max(least);
        }
    }
    let model = model.with_parameters(parameters).map_err(|e| e.to_string())?;
    let mut robot = Robot::new(paper.name.to_string(), model)?;
    pitch(&mut robot, paper.pitch)?;
    for held in &mut robot.held {
        [held.stiffness, held.damping] = paper.gains;
    }
    Ok(robot)
}

/// Turns a free root at home where its file has no keyframe.
fn pitch(robot: &mut Robot, angle: f64) -> Result<(), String> {
    let model = &robot.model;
    let free = model.joints().first().filter(|j| matches!(j.kind, JointKind::Free));
    let (Some(root), true, Err(_)) = (free, angle != 0.0, model.keyframe("home")) else { return Ok(()) };
    let (sin, cos) = (0.5 * angle).sin_cos();
    let mut home = robot.home.clone();
    home[root.q.start + 3..root.q.end].copy_from_slice(&[cos, 0.0, sin, 0.0]);
    robot.place(&mut home, 0.0)?;
    robot.home = home;
    Ok(())
}

fn is_single(kind: &JointKind) -> bool {
    matches!(kind, JointKind::Revolute { .. } | JointKind::Prismatic { .. })
}
