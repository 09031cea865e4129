//! What can go wrong in a batch: all of it, or single environments of it.

use crate::interrupt::Interrupted;
use crate::rollout_gradient::RolloutGradientError;
use slipstick_core::{GradientError, InputError, StepError};
use std::fmt;

/// A call of a batch that failed for some or all environments.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum BatchError {
    /// An input does not fit the batch. Nothing was done.
    Input(InputError),
    /// Some environments have no result, by rising numbers. All others have theirs, independently of these.
    Environments(Vec<FailedEnvironment>),
    /// There is no room for so many environments.
    Memory {
        /// Bytes needed, at most what fits a `usize`.
        bytes: usize,
    },
    /// The threads could not be started. Nothing was done.
    Threads {
        /// How many were wanted.
        wanted: usize,
        /// What the system said.
        reason: String,
    },
    /// It was asked to end ([`interrupt`](crate::interrupt)); outputs hold a part. After steps warm starts are cleared and
    /// there is no step or rollout to differentiate; after derivatives all is as before.
    Interrupted,
}

/// An environment without a result.
#[derive(Debug, Clone, PartialEq)]
pub struct FailedEnvironment {
    /// Its number.
    pub environment: usize,
    /// Why.
    pub error: EnvironmentError,
}

/// Why an environment has no result.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum EnvironmentError {
    /// Its step gave no state.
    Step(StepError),
    /// Its step has no derivative.
    Gradient(GradientError),
    /// A step of its rollout failed, or has no derivative.
    Rollout(RolloutGradientError),
    /// There is no step to differentiate: none was made yet, the last one failed, or the environment was reset or given
    /// another model.
    NoStep,
    /// There is no recorded rollout to differentiate: none was made yet, the last one failed or kept nothing, or
    /// something else was done since.
    NoRollout,
    /// The call was asked to end ([`interrupt`](crate::interrupt)).
    Interrupted,
}

impl EnvironmentError {
    /// Whether it says no more than that the call was to end.
    pub(super) fn is_interruption(&self) -> bool {
        matches!(self, EnvironmentError::Interrupted | EnvironmentError::Rollout(RolloutGradientError::Interrupted))
    }
}

/// Failures that a message spells out.
const SPELLED_OUT: usize = 3;

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BatchError::Input(e) => e.fmt(f),
            BatchError::Memory { bytes } => write!(f, "there is no room for {bytes} bytes: take fewer environments"),
            BatchError::Threads { wanted, reason } => write!(f, "{wanted} threads could not be started: {reason}"),
            BatchError::Interrupted => Interrupted.fmt(f),
            BatchError::Environments(failed) => {
                for (k, e) in failed.iter().take(SPELLED_OUT).enumerate() {
                    write!(f, "{}{e}", if k > 0 { "; " } else { "" })?;
                }
                match failed.len().saturating_sub(SPELLED_OUT) {
                    0 => Ok(()),
                    more => write!(f, "; and {more} more environments"),
                }
            }
        }
    }
}

impl fmt::Display for FailedEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "environment {}: {}", self.environment, self.error)
    }
}

impl fmt::Display for EnvironmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EnvironmentError::Step(e) => e.fmt(f),
            EnvironmentError::Gradient(e) => e.fmt(f),
            EnvironmentError::Rollout(e) => e.fmt(f),
            EnvironmentError::NoStep => f.write_str("there is no finished step to differentiate"),
            EnvironmentError::Interrupted => Interrupted.fmt(f),
            EnvironmentError::NoRollout => f.write_str("there is no recorded rollout to differentiate"),
        }
    }
}

impl std::error::Error for EnvironmentError {}
impl std::error::Error for FailedEnvironment {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}
impl std::error::Error for BatchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BatchError::Input(e) => Some(e),
            BatchError::Environments(failed) => failed.first().map(|e| e as _),
            BatchError::Memory { .. } | BatchError::Threads { .. } | BatchError::Interrupted => None,
        }
    }
}

impl From<InputError> for BatchError {
    fn from(e: InputError) -> BatchError {
        BatchError::Input(e)
    }
}
impl From<StepError> for EnvironmentError {
    fn from(e: StepError) -> EnvironmentError {
        EnvironmentError::Step(e)
    }
}
impl From<GradientError> for EnvironmentError {
    fn from(e: GradientError) -> EnvironmentError {
        EnvironmentError::Gradient(e)
    }
}
impl From<RolloutGradientError> for EnvironmentError {
    fn from(e: RolloutGradientError) -> EnvironmentError {
        EnvironmentError::Rollout(e)
    }
}
