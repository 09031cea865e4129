//! The inertia that acts on a motor.
#![allow(non_snake_case)]

use slipstick_core::dynamics::Workspace;
use slipstick_core::error::DynamicsError;
use slipstick_core::model::{BodyId, Joint, JointKind};
use slipstick_core::spatial::Vec3;
use slipstick_core::{InputError, Model};

/// Inertias of one configuration.
pub(super) struct Resistance {
    work: Workspace,
    /// Inertia that each dof moves while others are locked, of the heavier side for a floating robot (nv).
    carried: Vec<f64>,
    scratch: Vec<f64>,
}

impl Resistance {
    pub fn new(model: &Model, q: &[f64]) -> Result<Resistance, DynamicsError> {
        let (nv, mut work) = (model.nv(), Workspace::new(model));
        let mut M = vec![0.0; nv * nv];
        work.crba(model, q, &mut M)?;
        let mut carried: Vec<f64> = (0..nv).map(|j| M[j * nv + j]).collect();
        let mut J = vec![0.0; 6 * nv];
        for joint in model.joints() {
            if let Some(root) = floating_root(model, joint) {
                work.jacobian(model, q, model.bodies()[joint.body.0].link, &mut J)?;
                for j in joint.v.clone() {
                    let whole =
                        whole_inertia(model, &work, &M, root, joint.body, [0, 1, 2, 3, 4, 5].map(|k| J[k * nv + j]))?;
                    let below = carried[j] - model.armature()[j];
                    carried[j] = carried[j].max(whole - below);
                }
            }
        }
        work.factor(model, q)?;
        Ok(Resistance { work, carried, scratch: vec![0.0; nv] })
    }

    /// Inertia along moment arms while all other dofs are free: 1 / (r M⁻¹ rᵀ).
    pub fn free(&mut self, model: &Model, arms: &[(usize, f64)]) -> Result<f64, InputError> {
        self.scratch.fill(0.0);
        arms.iter().for_each(|(j, r)| self.scratch[*j] += r);
        self.work.solve(model, &mut self.scratch)?;
        Ok(1.0 / arms.iter().map(|(j, r)| r * self.scratch[*j]).sum::<f64>())
    }

    /// Inertia along moment arms of what the dofs carry.
    pub fn carried(&self, arms: &[(usize, f64)]) -> f64 {
        1.0 / arms.iter().map(|(j, r)| r * r / self.carried[*j]).sum::<f64>()
    }
}

/// The free joint on which everything hangs that a joint is part of.
fn floating_root<'m>(model: &'m Model, joint: &Joint) -> Option<&'m Joint> {
    let mut body = joint.body;
    while model.bodies()[body.0].parent != BodyId::WORLD {
        body = model.bodies()[body.0].parent;
    }
    let root = model.joints().iter().find(|j| j.body == body && j.kind == JointKind::Free)?;
    (root.body != joint.body).then_some(root)
}

/// Inertia of the whole robot, stiff, in the motion that takes a body's origin and axes along a twist (world axes):
/// the free root can make it, so that it is in M.
fn whole_inertia(
    model: &Model,
    work: &Workspace,
    M: &[f64],
    root: &Joint,
    body: BodyId,
    twist: [f64; 6],
) -> Result<f64, InputError> {
    let (X_root, X_body) = (work.body_pose(root.body)?, work.body_pose(body)?);
    let (linear, angular) = (Vec3::from_slice(&twist), Vec3::from_slice(&twist[3..]));
    let at_root = linear + angular.cross(X_root.position - X_body.position);
    let turn = X_root.rotation.tmul(angular);
    let v = [at_root.x, at_root.y, at_root.z, turn.x, turn.y, turn.z];
    let (nv, first) = (model.nv(), root.v.start);
    let row = |a: usize| (0..6).map(|b| M[(first + a) * nv + first + b] * v[b]).sum::<f64>();
    Ok((0..6).map(|a| v[a] * row(a)).sum())
}
