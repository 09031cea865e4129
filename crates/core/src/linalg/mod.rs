//! Matrices, dense and of blocks. Knows no physics; memory grows only where a system is larger than any before.

mod block_lu;
mod cholesky;
mod elimination;
mod full_pivot;
mod lu;
mod product;
mod views;

pub(crate) use block_lu::BlockLu;
pub(crate) use cholesky::pivoted_cholesky;
pub(crate) use full_pivot::FullPivotLu;
pub(crate) use lu::{Lu, dot_lanes};
pub(crate) use product::{Factor, Term, add_product, add_terms, is_zero};
pub use views::{MatMut, MatRef};
