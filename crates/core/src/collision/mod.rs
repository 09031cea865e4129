//! Where shapes touch: pairs that may, points where they do, normals and distances, and their derivatives.
//!
//! A walk through a search: [`detect`](detect()) asks the broad phase for pairs, the narrow phase (closed forms, separating axes, walk
//! and expansion, polish) for their nearest points, and makes patches of up to four points of them. Derivatives follow
//! from the few atoms (vertices, rims, surfaces) that touch. Of velocities it knows how far they can carry a body
//! (`lookahead`), of friction nothing.
#![allow(non_snake_case)] // X_wb, X_12, H, K: as in the notation

mod bounds;
mod boxes;
mod broadphase;
mod certificate;
mod closed;
mod contact;
mod derivatives;
mod detect;
mod epa;
mod frame;
mod gjk;
mod kernel;
mod lookahead;
mod memory;
mod narrow;
mod patch;
mod point_motion;
mod polish;
mod query;
mod randomized;
mod raycast;
mod sensitivity;
mod shape;
mod shape_derivatives;
mod simplex;
mod smoothed;
mod terrain;
mod witness;

pub use crate::model::{CollisionGradient, Order};
pub use contact::{Contact, MAX_POINTS};
pub use derivatives::{CollisionError, PointDerivatives};
pub(crate) use detect::detect_ahead;
pub use detect::{ContactSet, detect, geom_distance, near_pairs, raycast_model};
pub(crate) use lookahead::{Lookahead, ROOM, overlooked};
pub(crate) use memory::SearchMemory;
pub use query::{
    ClosestPoints, ContactPoint, PairQuery, Points, RayHit, Solid, closest_points, contact, distance, raycast,
};
pub use sensitivity::{SizeDerivative, contact_derivatives, size_derivative};
