//! What shows that torques hold a robot: its contact forces, and the balance of all forces without the contact solver.

use super::torques::Torques;
use crate::drives::Drives;
use slipstick::dynamics::{Workspace, Wrench};
use slipstick::model::BodyId;
use slipstick::spatial::Vec3;
use slipstick::step::ContactView;
use slipstick::{InputError, Model, StepError};

/// A contact force at rest.
#[derive(Debug, Clone, PartialEq)]
pub struct ContactForce {
    /// Name of the body that stands on the floor.
    pub body: String,
    /// Where, world axes (m).
    pub point: Vec3,
    /// On the body, world axes (N).
    pub force: Vec3,
    /// Pressure on the floor (N).
    pub normal: f64,
    /// Coulomb's coefficient.
    pub friction: f64,
    /// Fraction of the largest possible friction: one at the edge of Coulomb's cone.
    pub use_of_friction: f64,
}

/// Impulse over mass and time step below which a contact bears nothing (m/s²).
const BEARS: f64 = 1e-9;

/// What a step under torques shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Proof {
    /// Norm of the velocity after the step (m/s, rad/s).
    pub velocity: f64,
    /// Scaled residual of the contact problem, which no solver has a part in.
    pub residual: f64,
    /// Contact forces.
    pub forces: Vec<ContactForce>,
    /// Largest generalized force that inverse dynamics with these contact forces lacks (N, N·m).
    pub imbalance: f64,
}

impl Proof {
    /// Takes the step and looks at it.
    pub fn of(model: &Model, drives: &Drives, q: &[f64], torques: &[f64]) -> Result<Proof, StepError> {
        let mut problem = Torques::new(model, drives, q)?;
        let step = problem.step(torques)?;
        let dt = model.options().dt;
        let velocity = step.acceleration().iter().map(|a| (a * dt).powi(2)).sum::<f64>().sqrt();
        let bearing = step.contacts().filter(|c| c.impulse.norm() > BEARS * model.total_mass() * dt);
        let forces: Vec<_> = bearing.map(|c| contact_force(model, &c)).collect();
        let residual = step.report().residual;
        let imbalance = imbalance(model, drives, q, torques, &forces)?;
        Ok(Proof { velocity, residual, forces: forces.into_iter().map(|(_, f)| f).collect(), imbalance })
    }

    /// Smallest pressure on the floor (N).
    pub fn least_normal(&self) -> f64 {
        self.forces.iter().map(|f| f.normal).fold(f64::INFINITY, f64::min)
    }

    /// Largest fraction of friction in use.
    pub fn most_friction(&self) -> f64 {
        self.forces.iter().map(|f| f.use_of_friction).fold(0.0, f64::max)
    }
}

/// The body that stands on the floor, and the force on it.
fn contact_force(model: &Model, c: &ContactView) -> (BodyId, ContactForce) {
    let dt = model.options().dt;
    let (body, sign) = if c.bodies[1] == BodyId(0) { (c.bodies[0], -1.0) } else { (c.bodies[1], 1.0) };
    let local = c.frame.tmul(c.impulse) * (1.0 / dt);
    let force = ContactForce {
        body: model.bodies()[body.0].name.clone(),
        point: c.point,
        force: c.impulse * (sign / dt),
        normal: local.z,
        friction: c.friction,
        use_of_friction: local.x.hypot(local.y) / (c.friction * local.z),
    };
    (body, force)
}

/// What inverse dynamics at rest requires in addition to the torques, with the contact forces as wrenches.
fn imbalance(
    model: &Model,
    drives: &Drives,
    q: &[f64],
    torques: &[f64],
    forces: &[(BodyId, ContactForce)],
) -> Result<f64, InputError> {
    let nv = model.nv();
    let mut workspace = Workspace::new(model);
    workspace.kinematics(model, q)?;
    let mut wrenches = Vec::new();
    for (body, f) in forces {
        let point = workspace.body_pose(*body)?.inverse().point(f.point);
        wrenches.push(Wrench::at(*body, f.force, point));
    }
    let (rest, mut wanted, mut given) = (vec![0.0; nv], vec![0.0; nv], vec![0.0; nv]);
    workspace.rnea(model, q, &rest, &rest, &wrenches, &mut wanted)?;
    drives.spread(torques, &mut given);
    Ok(wanted.iter().zip(&given).map(|(w, g)| (w - g).abs()).fold(0.0, f64::max))
}
