//! Bilateral constraints between two frames: points that stay together, frames that stay together.   (contact-12)

use super::jacobian::Jacobian;
use crate::dynamics::{Kinematics, frame_pose};
use crate::model::{BodyId, EqualityKind, Model};
use crate::spatial::{Quat, Vec3};

/// Rows between two bodies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FrameRows {
    pub bodies: [BodyId; 2],
    /// The points that are to coincide, world axes (m).
    pub points: [Vec3; 2],
    /// Length by which rotations are multiplied; `None`: rotations are free (m).
    pub torque_scale: Option<f64>,
    errors: [f64; 6],
}

impl FrameRows {
    /// Errors to be corrected, row by row (m).
    pub fn errors(&self) -> &[f64] {
        if self.torque_scale.is_some() { &self.errors } else { &self.errors[..3] }
    }

    /// Rotation of body 2 from its target in body 1 (rad).
    pub fn turn(&self) -> Vec3 {
        self.torque_scale.map_or(Vec3::ZERO, |s| Vec3::from_slice(&self.errors[3..]) * (1.0 / s))
    }

    /// Points, impulses and angular impulses on the two bodies, world axes.
    pub fn split(&self, lambda: [f64; 6]) -> [[Vec3; 2]; 3] {
        let (impulse, scale) = (Vec3::from_slice(&lambda), self.torque_scale.unwrap_or(0.0));
        let turning = Vec3::from_slice(&lambda[3..]) * scale;
        [self.points, [-impulse, impulse], [-turning, turning]]
    }

    /// Opens their group: velocity of body 2 relative to body 1, at each body's own point, along the world's axes.
    pub fn open(&self, model: &Model, kin: &Kinematics, jacobian: &mut Jacobian) {
        jacobian.open_bodies(model, self.bodies);
        for k in 0..2 {
            let sign = [-1.0, 1.0][k];
            jacobian.add_point(model, kin, self.bodies[k], self.points[k], &Vec3::UNITS, 0, sign);
            if let Some(scale) = self.torque_scale {
                jacobian.add_rotation(model, kin, self.bodies[k], &Vec3::UNITS, 3, sign * scale);
            }
        }
    }
}

/// Rows of all active constraints between frames.
pub(crate) fn collect(model: &Model, kin: &Kinematics, rows: &mut Vec<FrameRows>) {
    for e in model.equalities().iter().filter(|e| e.active) {
        match &e.kind {
            EqualityKind::Connect { frames, points } => {
                let poses = frames.map(|f| frame_pose(model, kin, f));
                let points = [poses[0].point(points[0]), poses[1].point(points[1])];
                let error = points[1] - points[0];
                let errors = [error.x, error.y, error.z, 0.0, 0.0, 0.0];
                let bodies = frames.map(|f| model.frames()[f.0].body);
                rows.push(FrameRows { bodies, points, torque_scale: None, errors });
            }
            EqualityKind::Weld { frames, pose, anchor, torque_scale } => {
                let poses = frames.map(|f| frame_pose(model, kin, f));
                let wanted = poses[0] * *pose;
                let points = [wanted.point(*anchor), poses[1].point(*anchor)];
                let turn = Quat::from_matrix(&(poses[1].rotation * wanted.rotation.transpose())).log() * *torque_scale;
                let error = points[1] - points[0];
                let errors = [error.x, error.y, error.z, turn.x, turn.y, turn.z];
                let bodies = frames.map(|f| model.frames()[f.0].body);
                let torque_scale = (*torque_scale > 0.0).then_some(*torque_scale);
                rows.push(FrameRows { bodies, points, torque_scale, errors });
            }
            _ => {}
        }
    }
}
