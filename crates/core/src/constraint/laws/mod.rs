//! The laws of constraints: what an impulse may be, what surfaces do to each other, how position errors are stabilized.

pub(super) mod cone;
mod energy_bound;
pub(super) mod stabilization;
pub(super) mod surface;
