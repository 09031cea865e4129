//! How points and the center of mass move with the dofs of a robot.
#![allow(non_snake_case)]

use slipstick::dynamics::Workspace;
use slipstick::model::BodyId;
use slipstick::spatial::{Pose, Vec3};
use slipstick::{InputError, Model};

/// A model in one configuration.
pub(super) struct Posture<'m> {
    model: &'m Model,
    workspace: Workspace,
    /// Configuration (nq).
    q: Vec<f64>,
    /// Of one body: velocity of its origin and angular velocity, world axes (6 × nv).
    J: Vec<f64>,
}

/// How a point moves: three rows of nv numbers, world axes.
pub(super) type Rows = [Vec<f64>; 3];

impl<'m> Posture<'m> {
    /// Memory for a model; the configuration is the neutral one.
    pub fn new(model: &'m Model) -> Posture<'m> {
        let J = vec![0.0; 6 * model.nv()];
        Posture { model, workspace: Workspace::new(model), q: model.neutral().to_vec(), J }
    }

    /// Takes another configuration.
    pub fn set(&mut self, q: &[f64]) -> Result<(), InputError> {
        self.workspace.kinematics(self.model, q)?;
        self.q.copy_from_slice(q);
        Ok(())
    }

    /// Pose of a body in the world.
    pub fn pose(&self, body: BodyId) -> Result<Pose, InputError> {
        self.workspace.body_pose(body)
    }

    /// How the point `p` (world axes) moves with a body.
    pub fn point(&mut self, body: BodyId, p: Vec3) -> Result<Rows, InputError> {
        let nv = self.model.nv();
        let mut rows = [0, 1, 2].map(|_| vec![0.0; nv]);
        if body == BodyId(0) {
            return Ok(rows);
        }
        let link = self.model.bodies()[body.0].link;
        self.workspace.jacobian(self.model, &self.q, link, &mut self.J)?;
        let arm = p - self.workspace.frame_pose(self.model, link)?.position;
        for j in 0..nv {
            let column = |first: usize| {
                Vec3::new(self.J[first * nv + j], self.J[(first + 1) * nv + j], self.J[(first + 2) * nv + j])
            };
            let v = column(0) + column(3).cross(arm);
            (0..3).for_each(|k| rows[k][j] = v[k]);
        }
        Ok(rows)
    }

    /// The center of mass, world axes (m), and how it moves.
    pub fn center_of_mass(&mut self) -> Result<(Vec3, Rows), InputError> {
        let (model, total) = (self.model, self.model.total_mass());
        let mut rows = [0, 1, 2].map(|_| vec![0.0; model.nv()]);
        for body in 1..model.n_bodies() {
            let inertia = model.inertias()[body];
            let p = self.pose(BodyId(body))?.point(inertia.com);
            let own = self.point(BodyId(body), p)?;
            for (sum, own) in rows.iter_mut().zip(own) {
                sum.iter_mut().zip(own).for_each(|(s, o)| *s += o * inertia.mass / total);
            }
        }
        Ok((self.workspace.center_of_mass(model, &self.q)?, rows))
    }

    /// Joint-space inertia (nv × nv) and the forces that gravity puts on the dofs, as what holds against them (nv).
    pub fn inertia_and_load(&mut self) -> Result<(Vec<f64>, Vec<f64>), InputError> {
        let nv = self.model.nv();
        let (mut M, mut b) = (vec![0.0; nv * nv], vec![0.0; nv]);
        self.workspace.crba(self.model, &self.q, &mut M)?;
        self.workspace.bias(self.model, &self.q, &vec![0.0; nv], &mut b)?;
        Ok((M, b))
    }
}
