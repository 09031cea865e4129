//! Dense matrices on borrowed memory. Knows no physics, allocates nothing.

mod lu;
mod views;

pub(crate) use lu::{Lu, dot_lanes};
pub use views::{MatMut, MatRef};
