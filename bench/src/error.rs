//! Why a benchmark did not come to an end.

use slipstick::LoadError;
use slipstick::files::BuiltinError;
use std::fmt;
use std::path::PathBuf;

/// Why there are no figures.
#[derive(Debug)]
#[non_exhaustive]
pub enum BenchError {
    /// The models folder is none.
    Folder {
        /// What was given.
        folder: PathBuf,
    },
    /// A robot of the models folder without the folder.
    NoModels {
        /// The robot.
        robot: String,
    },
    /// A robot's file makes no model.
    Load {
        /// The robot.
        robot: String,
        /// Why.
        error: Box<LoadError>,
    },
    /// A list of pairs is not one of its robot.
    Pairs {
        /// The list.
        file: PathBuf,
        /// What is wrong with it.
        got: String,
    },
    /// A built-in robot makes no model.
    Builtin(BuiltinError),
    /// There is nothing to simulate.
    NoDofs {
        /// The robot.
        robot: String,
    },
    /// A measurement stopped.
    Measure {
        /// What was measured.
        what: String,
        /// What went wrong.
        got: String,
    },
    /// A file cannot be written.
    Write {
        /// The file.
        file: PathBuf,
        /// What the system says.
        got: String,
    },
}

impl BenchError {
    /// Whether it was asked for something that makes no sense, rather than tried and failed.
    pub fn is_bad_use(&self) -> bool {
        matches!(self, BenchError::Folder { .. } | BenchError::NoModels { .. } | BenchError::NoDofs { .. })
    }
}

impl fmt::Display for BenchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BenchError::Folder { folder } => {
                let shown = folder.display();
                write!(f, "models folder '{shown}': expected a folder with half_cheetah, humanoid, ur5, go1, h1, atlas")
            }
            BenchError::NoModels { robot } => {
                write!(f, "'{robot}' is a robot of the models folder, which --models gives")
            }
            BenchError::Load { robot, error } => write!(f, "{robot}: {error}"),
            BenchError::Pairs { file, got } => write!(f, "list of pairs {}: {got}", file.display()),
            BenchError::Builtin(error) => error.fmt(f),
            BenchError::NoDofs { robot } => write!(f, "'{robot}' has no degrees of freedom: nothing to time"),
            BenchError::Measure { what, got } => write!(f, "{what}: {got}"),
            BenchError::Write { file, got } => write!(f, "cannot write {}: {got}", file.display()),
        }
    }
}

impl std::error::Error for BenchError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BenchError::Load { error, .. } => Some(error),
            BenchError::Builtin(error) => Some(error),
            _ => None,
        }
    }
}
