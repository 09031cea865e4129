//! Types and algebra of rigid motion: vectors, rotations, poses, twists, wrenches, inertias. Knows no models.

mod inertia;
mod lane;
mod mat3;
mod motion;
mod pose;
mod rotation;
mod trig;
mod vec3;

pub use inertia::{BodyInertia, SpatialInertia, principal_axes, principal_moments};
pub use lane::Lane;
pub use mat3::{Mat3, Sym3};
pub use motion::{Force, Motion};
pub use pose::Pose;
pub use rotation::{Quat, axis_rotation, right_jacobian, right_jacobian_inverse};
pub use trig::sin_cos;
pub use vec3::{Vec3, vec3};
