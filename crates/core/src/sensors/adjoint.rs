//! The gradient of a weighted sum of readings with respect to the quantities in them, and its propagation to the state.   (sens-7)
#![allow(non_snake_case)]

use super::Snapshot;
use crate::collision::{PointDerivatives, SizeDerivative};
use crate::dynamics::KinematicsDerivatives;
use crate::model::{BodyId, Model};
use crate::spatial::{Force, Motion, Vec3};

/// Gradient with respect to poses, velocities, accelerations, impulses and inputs.
#[derive(Debug, Clone)]
pub(super) struct SensorAdjoint {
    /// With respect to the motion of each body: forces at the origin of its tree.
    pub position: Vec<Force>,
    pub velocity: Vec<Force>,
    pub acceleration: Vec<Force>,
    /// With respect to the impulses, one per row of the contact problem.
    pub lambda: Vec<f64>,
    /// With respect to the inputs (nv, nv, nu); `ctrl` is the gradient with respect to what drives the actuators.
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    pub ctrl: Vec<f64>,
    /// With respect to the velocity at the end of the step (nv).
    pub v_next: Vec<f64>,
    /// With respect to the free-rotation correction of the velocity, u (nv).
    pub turn: Vec<f64>,
}

/// Gradient with respect to the point, the unit normal and the distance of a contact or of a nearest pair.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct PointCotangent {
    pub point: Vec3,
    pub normal: Vec3,
    pub distance: f64,
}

impl PointCotangent {
    /// The gradient with respect to a size that moves the point and turns the normal.
    pub fn of_size(&self, size: &SizeDerivative) -> f64 {
        self.point.dot(size.point) + self.normal.dot(size.normal) + self.distance * size.distance
    }
}

impl SensorAdjoint {
    /// Memory for a model.
    pub fn new(model: &Model) -> SensorAdjoint {
        let (bodies, zero) = (vec![Force::ZERO; model.n_bodies()], vec![0.0; model.nv()]);
        SensorAdjoint {
            position: bodies.clone(),
            velocity: bodies.clone(),
            acceleration: bodies,
            lambda: Vec::new(),
            q: zero.clone(),
            v: zero.clone(),
            ctrl: vec![0.0; model.nu()],
            v_next: zero.clone(),
            turn: zero,
        }
    }

    /// Sets everything to zero, for a contact problem with so many rows.
    pub fn clear(&mut self, rows: usize) {
        for bodies in [&mut self.position, &mut self.velocity, &mut self.acceleration] {
            bodies.fill(Force::ZERO);
        }
        for numbers in [&mut self.q, &mut self.v, &mut self.ctrl, &mut self.v_next, &mut self.turn] {
            numbers.fill(0.0);
        }
        self.lambda.clear();
        self.lambda.resize(rows, 0.0);
    }

    /// Adds the gradient `by` with respect to a point that moves with a body; `arm` leads to it from the tree's origin.
    pub fn add_to_point(&mut self, body: BodyId, arm: Vec3, by: Vec3) {
        self.position[body.0] += Force::at_point(by, Vec3::ZERO, arm);
    }

    /// Adds the gradient `by` with respect to the rotation of a body.
    pub fn add_to_rotation(&mut self, body: BodyId, by: Vec3) {
        self.position[body.0].ang += by;
    }

    /// Adds the gradient `by` with respect to a contact between two bodies; `arms` lead to it from the origins of their trees.
    pub fn add_contact(&mut self, bodies: [BodyId; 2], arms: [Vec3; 2], D: &PointDerivatives, by: &PointCotangent) {
        for i in 0..2 {
            let x: [f64; 6] = core::array::from_fn(|k| {
                by.point.dot(D.point[i][k]) + by.normal.dot(D.normal[i][k]) + by.distance * D.distance[i][k]
            });
            let (lin, ang) = (Vec3::from_slice(&x), Vec3::from_slice(&x[3..]));
            self.position[bodies[i].0] += Force::at_point(lin, ang, arms[i]);
        }
    }

    /// Whether the readings depend on the end of the step: else their derivative needs no solve.
    pub fn depends_on_step_end(&self) -> bool {
        self.depends_on_impulses() || self.v_next.iter().any(|x| *x != 0.0)
    }

    /// Whether the readings depend on impulses.
    pub fn depends_on_impulses(&self) -> bool {
        self.lambda.iter().any(|x| *x != 0.0)
    }

    /// Projects the gradients of the bodies onto the joint axes: gradients with respect to q, v and v_next.   (sens-8)
    pub fn project(&mut self, m: &Snapshot, A: &[Motion], dkin: &KinematicsDerivatives) {
        let (tree, per_step) = (m.model.tree(), 1.0 / m.model.options().dt);
        for i in 1..tree.n_bodies() {
            let (V, by_velocity, by_acceleration) = (m.kin.V[i], self.velocity[i], self.acceleration[i]);
            self.position[i] += V.cross_force(by_velocity) + A[i].cross_force(by_acceleration);
            self.velocity[i] += V.cross_force(by_acceleration);
        }
        for i in (1..tree.n_bodies()).rev() {
            let node = &tree.nodes[i];
            let (position, velocity, acceleration) = (self.position[i], self.velocity[i], self.acceleration[i]);
            for j in node.dofs.clone() {
                let (S, columns) = (m.kin.axes[j], &dkin.columns[j]);
                let psi_dot = dkin.V_before[j].cross(S);
                let end = S.dot(acceleration) * per_step;
                self.q[j] += S.dot(position) + psi_dot.dot(velocity) + columns.psi_ddot().dot(acceleration);
                self.v[j] += S.dot(velocity) + columns.sum().dot(acceleration) - end;
                self.v_next[j] += end;
                self.turn[j] -= end;
            }
            self.position[node.parent] += position;
            self.velocity[node.parent] += velocity;
            self.acceleration[node.parent] += acceleration;
        }
    }
}
