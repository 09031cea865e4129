//! Derivatives to one side, and the mean of both.

pub(super) mod frozen;
pub(super) mod mean;
