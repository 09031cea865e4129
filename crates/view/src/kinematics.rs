//! Velocities of all bodies along a direction of the tangent space: of a torque's dual, and of a change of the configuration.

use slipstick::dynamics::Workspace;
use slipstick::model::{BodyId, FrameId};
use slipstick::spatial::{Motion, Vec3};
use slipstick::{InputError, Model};

/// A link frame of each body.
pub(crate) fn link_frames(model: &Model) -> Vec<FrameId> {
    let of_body = |body: usize| model.frames().iter().position(|f| f.body == BodyId(body));
    (0..model.n_bodies()).map(|body| FrameId(of_body(body).unwrap_or(0))).collect()
}

/// Velocity of a point of each moving body, and its angular velocity, world axes, for a velocity v at q. `point` is in the
/// body's frame.
pub(crate) fn velocities(
    model: &Model,
    work: &mut Workspace,
    frames: &[FrameId],
    (q, v): (&[f64], &[f64]),
    point: impl Fn(BodyId) -> Vec3,
) -> Result<Vec<Motion>, InputError> {
    let moving = frames.iter().enumerate().skip(1);
    let velocity = |(body, frame): (usize, &FrameId)| {
        let of_frame = work.velocity(model, q, v, *frame)?;
        let origin = work.frame_pose(model, *frame)?.position;
        let place = work.body_pose(BodyId(body))?.point(point(BodyId(body)));
        Ok(Motion { lin: of_frame.lin + of_frame.ang.cross(place - origin), ang: of_frame.ang })
    };
    moving.map(velocity).collect()
}
