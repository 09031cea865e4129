//! Bodies that motion capture moves: their poses are an input of the step.

use super::{BodyId, Model};
use crate::error::InputError;
use crate::input_check;
use crate::spatial::{Pose, Quat, Vec3};

/// Numbers of a pose: position, quaternion.
pub(crate) const POSE: usize = 7;

impl Model {
    /// Mocap bodies, in the order of their poses in [`Input::mocap`](crate::Input::mocap).
    pub fn mocap_bodies(&self) -> impl ExactSizeIterator<Item = BodyId> + Clone + '_ {
        self.tree().mocap.iter().map(|i| BodyId(*i))
    }

    /// Number of mocap bodies.
    pub fn n_mocap(&self) -> usize {
        self.tree().mocap.len()
    }

    /// Index of the mocap body with a name, in [`Model::mocap_bodies`].
    pub fn mocap(&self, name: &str) -> Result<usize, InputError> {
        super::find("mocap body", name, self.mocap_bodies().map(|b| &*self.bodies()[b.0].name))
    }

    /// The poses of all mocap bodies where nothing else is said: those of the file (7 each: position, quaternion).
    pub fn mocap_poses(&self) -> Vec<f64> {
        self.mocap_bodies().flat_map(|b| numbers_of(&self.placements()[b.0])).collect()
    }

    /// Checks poses of mocap bodies: 7 numbers each, or none at all.
    pub fn check_mocap(&self, poses: &[f64]) -> Result<(), InputError> {
        input_check::vector_or_none("mocap", poses, POSE * self.n_mocap())?;
        let mut turns = poses.chunks_exact(POSE).map(|pose| Quat::from_slice(&pose[3..]));
        match turns.position(|turn| !turn.has_direction()) {
            None => Ok(()),
            Some(k) => Err(InputError::ZeroMocapQuaternion { body: self.bodies()[self.tree().mocap[k]].name.clone() }),
        }
    }
}

/// Position and quaternion of a pose.
pub(crate) fn numbers_of(pose: &Pose) -> [f64; POSE] {
    let ([x, y, z], [w, i, j, k]) = (pose.position.to_array(), Quat::from_matrix(&pose.rotation).to_array());
    [x, y, z, w, i, j, k]
}

/// The pose of seven numbers, its quaternion normalized.
pub(crate) fn pose_of(numbers: &[f64]) -> Pose {
    let turn = Quat::from_slice(&numbers[3..]).normalized().unwrap_or(Quat::IDENTITY);
    Pose::new(Vec3::from_slice(numbers), turn)
}
