//! The linear system of the derivative: the active set, and the treatment of redundant constraints.

pub(super) mod active_set;
pub(super) mod at_rest;
pub(super) mod choice;
mod consistent;
mod locked;
