//! The rows of constraints, linearized in the poses of their bodies.

pub(super) mod forms;
pub(super) mod linearize;
