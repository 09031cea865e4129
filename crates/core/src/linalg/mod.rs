//! Dense matrices on borrowed memory. Knows no physics, allocates nothing.

mod views;

pub use views::{MatMut, MatRef};
