//! Dense matrices on borrowed memory. Knows no physics, allocates nothing.

mod full_pivot;
mod lu;
mod product;
mod views;

pub(crate) use full_pivot::FullPivotLu;
pub(crate) use lu::{Lu, dot_lanes};
pub(crate) use product::{Factor, Term, add_product, add_terms};
pub use views::{MatMut, MatRef};
