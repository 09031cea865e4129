//! Why an experiment gave no report.

use std::error::Error;
use std::fmt;

/// An experiment that could not be done. One whose claims do not hold is no error.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExperimentError {
    /// There is none of this name.
    UnknownName {
        /// The name.
        name: String,
    },
    /// Something that it is made of failed.
    Failed {
        /// While what was done.
        what: &'static str,
        /// Why.
        error: Box<dyn Error + Send + Sync>,
    },
}

impl ExperimentError {
    /// For `map_err`: while what was done.
    pub(crate) fn during<E: Error + Send + Sync + 'static>(what: &'static str) -> impl Fn(E) -> ExperimentError {
        move |error| ExperimentError::Failed { what, error: Box::new(error) }
    }
}

impl fmt::Display for ExperimentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExperimentError::UnknownName { name } => {
                let names: Vec<&str> = crate::EXPERIMENTS.iter().map(|e| e.name).collect();
                write!(f, "there is no experiment named '{name}': expected one of {}", names.join(", "))
            }
            ExperimentError::Failed { what, error } => write!(f, "{what}: {error}"),
        }
    }
}

impl Error for ExperimentError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ExperimentError::UnknownName { .. } => None,
            ExperimentError::Failed { error, .. } => Some(error.as_ref()),
        }
    }
}
