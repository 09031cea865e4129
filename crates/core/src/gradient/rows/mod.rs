//! The rows of constraints, linearized in the poses of their bodies.

pub(super) mod linearize;
pub(super) mod row_derivative;
