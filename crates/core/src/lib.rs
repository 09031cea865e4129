//! The step of slipstick and its derivative: rigid-body dynamics in `f64`, without dependencies, files, threads or clocks.
//!
//! The stages of a step: [`model`] has the robot, [`dynamics`] moves it, [`collision`] finds what touches, [`constraint`]
//! solves for the impulses, [`step()`] puts the stages in order. [`spatial`] and [`linalg`] are the vocabulary.
//! `docs/math/notation.md` lists the symbols.

#[doc(hidden)]
pub mod bytes;
pub mod collision;
pub mod constraint;
mod dispatch;
pub mod dynamics;
pub mod error;
mod footprint;
pub mod gradient;
#[doc(hidden)]
pub mod input_check;
pub mod linalg;
pub mod model;
mod names;
#[doc(hidden)]
pub mod random;
pub mod sensors;
pub mod spatial;
pub mod step;

pub use constraint::{Mode, SolveReport, Status, WarmStart};
pub use error::{InputError, StepError};
pub use gradient::GradientError;
pub use model::{Model, ModelBuilder, Options};
pub use step::{Data, Input, State, Step, step};
