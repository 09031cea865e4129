//! Collision detection: candidate pairs, contact points, normals and distances, and their derivatives.
//!
//! [`detect`](detect()) asks the broad phase for pairs and the narrow phase for their nearest points: closed forms, separating
//! axes, GJK and EPA, then a polish to machine precision. `patch` turns these into up to four contact points. Derivatives follow
//! from the few support features (vertices, rims, surfaces) that touch. Velocities enter only as the distance that a body can
//! travel (`broadphase/lookahead.rs`); friction does not enter.
#![allow(non_snake_case)] // X_wb, X_12, H, K: as in the notation

mod broadphase;
mod contact;
mod contact_set;
mod derivatives;
mod detect;
mod frame;
mod narrow;
mod pair;
mod patch;
mod query;
mod shape;
mod terrain;

pub use crate::model::{CollisionGradient, Order};
pub(crate) use broadphase::lookahead::{Lookahead, ROOM, overlooked};
pub use contact::{Contact, MAX_POINTS};
pub use contact_set::ContactSet;
pub(crate) use contact_set::SearchMemory;
pub use derivatives::contacts::{SizeDerivative, contact_derivatives, size_derivative};
pub use derivatives::{CollisionError, PointDerivatives};
pub use detect::detect;
pub(crate) use detect::detect_ahead;
pub use query::model::{geom_distance, near_pairs};
pub(crate) use query::nearest::{NearestPair, PairSearch, nearest_derivatives, nearest_growth};
pub(crate) use query::rays::{bend, first_hit, growth, turns_with_size};
pub use query::rays::{raycast_model, raycast_model_without};
pub use query::{
    ClosestPoints, ContactPoint, PairQuery, Points, RayHit, Solid, closest_points, contact, distance, raycast,
};
