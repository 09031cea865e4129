//! Poses, velocities and Jacobians of frames.   (kin-5)
#![allow(non_snake_case)]

use super::kinematics::Kinematics;
use crate::model::{FrameId, Model};
use crate::spatial::{Motion, Pose, Vec3};

/// Pose of a frame in the world.
pub(crate) fn frame_pose(model: &Model, kin: &Kinematics, frame: FrameId) -> Pose {
    let frame = &model.frames()[frame.0];
    kin.X_wb[frame.body.0] * frame.pose
}

/// Velocity of a frame's origin and its angular velocity, world axes.
pub(crate) fn frame_velocity(model: &Model, kin: &Kinematics, frame: FrameId) -> Motion {
    let body = model.frames()[frame.0].body.0;
    let V = kin.V[body];
    Motion { lin: V.at(arm(model, kin, frame)), ang: V.ang }
}

/// Writes the Jacobian of that velocity: 6 rows (linear, angular) of nv numbers.
pub(crate) fn frame_jacobian(model: &Model, kin: &Kinematics, frame: FrameId, J: &mut [f64]) {
    let nv = model.nv();
    J.fill(0.0);
    let point = arm(model, kin, frame);
    for &j in model.tree().support(model.frames()[frame.0].body.0) {
        let S = kin.axes[j];
        let linear = S.at(point);
        for k in 0..3 {
            J[k * nv + j] = linear[k];
            J[(k + 3) * nv + j] = S.ang[k];
        }
    }
}

/// A frame's origin from the origin of its tree.
pub(super) fn arm(model: &Model, kin: &Kinematics, frame: FrameId) -> Vec3 {
    let body = model.frames()[frame.0].body.0;
    let position = frame_pose(model, kin, frame).position;
    if body == 0 { position } else { position - kin.origin[model.tree().nodes[body].tree] }
}
