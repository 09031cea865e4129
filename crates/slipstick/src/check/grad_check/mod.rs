//! Exact derivatives of the step compared with finite differences, over many states of a model with contacts.
//!
//! States come from motions and from random poses ([`check`] says how many). In each of them every column of
//! [`Step::jacobian`](slipstick_core::Step::jacobian) is compared with differences of several widths on both sides, of which
//! the best counts. Solves are as exact as they can be, and all evaluations have the warm start of the state's own solution.
//! Columns that [`Corners`](crate::check::Corners) flags are counted, and whether they are right on one side; all others must be
//! right on both. States in which contact is not solved are skipped. Errors are relative to the largest entry of a block
//! (at least that of free motion).

mod column;
mod compare;
mod exact;
mod parameters;
mod poses;
mod report;
mod sample;
mod scale;
mod signature;
mod states;

pub use compare::{StateReport, WorstEntry};
pub use parameters::ParameterError;
pub use report::{Errors, GradReport, Worst};
pub use sample::{Sample, SampleError};

pub(crate) use compare::TOLERANCE;
pub(crate) use scale::Scale;
pub(crate) use signature::Signature;

use crate::interrupt::Interrupted;
use crate::random::Rng;
use compare::Comparison;
use slipstick_core::error::DynamicsError;
use slipstick_core::{GradientError, InputError, Model, StepError};
use states::States;
use std::fmt;
use std::ops::ControlFlow;

/// Names of the blocks: of q_next and v_next with respect to q, v, tau, ctrl.
const BLOCKS: [[&str; 4]; 2] = [["dq_dq", "dq_dv", "dq_dtau", "dq_dctrl"], ["dv_dq", "dv_dv", "dv_dtau", "dv_dctrl"]];

/// Names of the blocks in the order of [`StateReport::errors`].
pub const fn block_names() -> [[&'static str; 4]; 2] {
    BLOCKS
}

/// What is checked.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GradCheck {
    /// Number of states.
    pub states: usize,
    /// Seed of the states.
    pub seed: u64,
    /// Interval of states in which derivatives with respect to parameters are checked too; zero: never.
    pub parameters_every: usize,
}

impl Default for GradCheck {
    fn default() -> GradCheck {
        GradCheck { states: 200, seed: 0, parameters_every: 0 }
    }
}

/// Why a state could not be compared.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum GradCheckError {
    /// Something does not fit the model.
    Input(InputError),
    /// The dynamics of the model cannot be computed.
    Dynamics(DynamicsError),
    /// A step gave no state.
    Step(StepError),
    /// A derivative was refused.
    Gradient(GradientError),
    /// A derivative is not finite.
    NotFinite {
        /// Which.
        what: &'static str,
    },
    /// It was asked to end ([`interrupt`](crate::interrupt)).
    Interrupted,
}

impl fmt::Display for GradCheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GradCheckError::Input(e) => e.fmt(f),
            GradCheckError::Dynamics(e) => e.fmt(f),
            GradCheckError::Step(e) => e.fmt(f),
            GradCheckError::Gradient(e) => e.fmt(f),
            GradCheckError::Interrupted => Interrupted.fmt(f),
            GradCheckError::NotFinite { what } => write!(f, "{what} is not finite"),
        }
    }
}

impl std::error::Error for GradCheckError {}

impl From<Interrupted> for GradCheckError {
    fn from(_: Interrupted) -> GradCheckError {
        GradCheckError::Interrupted
    }
}

macro_rules! from {
    ($($kind:ident => $error:ty),*) => {
        $(impl From<$error> for GradCheckError {
            fn from(e: $error) -> GradCheckError {
                GradCheckError::$kind(e)
            }
        })*
    };
}
from!(Input => InputError, Dynamics => DynamicsError, Step => StepError, Gradient => GradientError);

/// Checks derivatives in many states of a model. `progress` is told how many are done and may end it there: the report is
/// about the states so far.
///
/// ```
/// use slipstick::check::grad_check::{GradCheck, check};
/// use std::ops::ControlFlow;
/// let mut options = GradCheck::default();
/// options.states = 4;
/// let report = check(&slipstick::builtin("cube")?, &options, |_| ControlFlow::Continue(()))?;
/// assert!(report.failures.is_empty() && report.worst_error() < 1e-5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn check(
    model: &Model,
    options: &GradCheck,
    mut progress: impl FnMut(usize) -> ControlFlow<()>,
) -> Result<GradReport, GradCheckError> {
    let mut states = States::new(model, options.seed);
    let mut comparison = Comparison::new(model)?;
    let (mut report, mut draw) = (GradReport::default(), Rng(options.seed));
    let columns = [model.nv(), model.nv(), model.nv(), model.nu()];
    for k in 0..options.states {
        let sample = states.next()?;
        let with_parameters = options.parameters_every > 0 && k.is_multiple_of(options.parameters_every);
        match comparison.check(&sample, with_parameters, &mut draw) {
            Ok(state) => report.add(sample, state, columns),
            Err(error) => report.failures.push((sample, error)),
        }
        if progress(k + 1).is_break() {
            break;
        }
    }
    Ok(report)
}

/// Checks derivatives in one state, with respect to parameters too if asked to.
pub fn check_state(
    model: &Model,
    sample: &Sample,
    with_parameters: bool,
    seed: u64,
) -> Result<StateReport, GradCheckError> {
    Comparison::new(model)?.check(sample, with_parameters, &mut Rng(seed))
}
