//! Rigid placements.

use super::mat3::Mat3;
use super::rotation::Quat;
use super::vec3::Vec3;
use core::ops::Mul;

/// A pose `X_ab`: takes b-coordinates to a-coordinates. Adjacent letters cancel: `X_ac = X_ab * X_bc`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Pose {
    /// Axes of b in a, as columns.
    pub rotation: Mat3,
    /// Origin of b in a (m).
    pub position: Vec3,
}

impl Default for Pose {
    fn default() -> Pose {
        Pose::IDENTITY
    }
}

impl Pose {
    /// No displacement.
    pub const IDENTITY: Pose = Pose { rotation: Mat3::IDENTITY, position: Vec3::ZERO };

    /// A pose from a position and a unit quaternion.
    pub fn new(position: Vec3, q: Quat) -> Pose {
        Pose { rotation: q.to_matrix(), position }
    }

    /// A pure translation.
    pub const fn translation(position: Vec3) -> Pose {
        Pose { rotation: Mat3::IDENTITY, position }
    }

    /// The point `p` of b in a-coordinates.
    #[inline(always)]
    pub fn point(&self, p: Vec3) -> Vec3 {
        self.rotation * p + self.position
    }

    /// `X_ba`.
    pub fn inverse(&self) -> Pose {
        let rotation = self.rotation.transpose();
        Pose { rotation, position: -(rotation * self.position) }
    }
}

impl Mul for Pose {
    type Output = Pose;
    #[inline(always)]
    fn mul(self, b: Pose) -> Pose {
        Pose { rotation: self.rotation * b.rotation, position: self.point(b.position) }
    }
}
