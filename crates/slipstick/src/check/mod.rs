//! Derivatives compared with differences: as a function, over many states, while a simulation runs, and column by column at a state.

pub(crate) mod audit;
mod corners;
mod finite_differences;
pub mod grad_check;
pub(crate) mod perturbed;

pub use audit::AuditReport;
pub use corners::Corners;
pub use finite_differences::{
    Difference, ParameterDifferences, StepDifferences, finite_differences, finite_differences_of_parameters,
};
