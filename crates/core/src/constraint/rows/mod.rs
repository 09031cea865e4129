//! The rows of constraints: which there are, their Jacobian, and rows that act on single dofs.

pub(super) mod dofs;
pub(super) mod frames;
pub(super) mod jacobian;
pub(super) mod joints;
mod loops;
