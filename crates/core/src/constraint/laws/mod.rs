//! The laws of constraints: admissible impulses, contact of two surfaces, stabilization of position errors.

pub(super) mod cone;
mod energy_bound;
pub(super) mod stabilization;
pub(super) mod surface;
