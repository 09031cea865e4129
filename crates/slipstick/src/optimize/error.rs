//! Why there is no outcome.

use slipstick_core::InputError;
use std::error::Error;
use std::fmt;

/// A search that ended without an outcome. `E` is the problem's own error.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum OptimizeError<E> {
    /// The first point, the bounds or the options do not fit.
    Input(InputError),
    /// The residual at the first point, or a derivative at some point, is not a finite number.
    NotFinite {
        /// `residual` or `jacobian`.
        what: &'static str,
        /// Row: which residual.
        row: usize,
        /// Steps before the point.
        iteration: usize,
    },
    /// The problem itself failed.
    Problem {
        /// Steps before it.
        iteration: usize,
        /// What it says.
        error: E,
    },
}

impl<E: fmt::Display> fmt::Display for OptimizeError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptimizeError::Input(e) => e.fmt(f),
            OptimizeError::NotFinite { what, row, iteration } => {
                write!(f, "iteration {iteration}: {what}: row {row} is not a finite number")
            }
            OptimizeError::Problem { iteration, error } => write!(f, "iteration {iteration}: {error}"),
        }
    }
}

impl<E: Error + 'static> Error for OptimizeError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            OptimizeError::Input(e) => Some(e),
            OptimizeError::NotFinite { .. } => None,
            OptimizeError::Problem { error, .. } => Some(error),
        }
    }
}

impl<E> From<InputError> for OptimizeError<E> {
    fn from(e: InputError) -> OptimizeError<E> {
        OptimizeError::Input(e)
    }
}
