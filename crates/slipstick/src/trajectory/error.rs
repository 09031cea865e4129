//! Why a trajectory was not saved or loaded.

use std::{fmt, io};

/// A trajectory that could not be saved.
#[derive(Debug)]
#[non_exhaustive]
pub enum SaveError {
    /// The name of the file does not say how to write it.
    UnknownFormat {
        /// The name.
        path: String,
    },
    /// The file cannot be written.
    Io {
        /// The name.
        path: String,
        /// Why.
        error: io::Error,
    },
}

impl fmt::Display for SaveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SaveError::UnknownFormat { path } => write!(f, "{path}: expected a name that ends in .npz, .csv or .json"),
            SaveError::Io { path, error } => write!(f, "{path}: cannot be written: {error}"),
        }
    }
}

impl std::error::Error for SaveError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SaveError::UnknownFormat { .. } => None,
            SaveError::Io { error, .. } => Some(error),
        }
    }
}

/// A trajectory that could not be loaded.
#[derive(Debug)]
#[non_exhaustive]
pub enum LoadTrajectoryError {
    /// A format that is for other programs.
    UnknownFormat {
        /// The name of the file.
        path: String,
    },
    /// The file cannot be read.
    Io {
        /// Its name.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// The file is damaged, or is no trajectory.
    Damaged {
        /// The name of the file.
        path: String,
        /// The entry of the archive; empty: all of it.
        entry: String,
        /// What a trajectory has there.
        expected: String,
        /// What is there.
        got: String,
    },
    /// The trajectory is one of another model.
    WrongModel {
        /// The name of the file.
        path: String,
        /// The entry that does not fit.
        entry: String,
        /// What the model has.
        expected: String,
        /// What the trajectory has.
        got: String,
    },
}

impl fmt::Display for LoadTrajectoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = |entry: &str| if entry.is_empty() { String::new() } else { format!("{entry}: ") };
        match self {
            LoadTrajectoryError::UnknownFormat { path } => {
                write!(f, "{path}: expected a name that ends in .npz; .csv and .json are for other programs")
            }
            LoadTrajectoryError::Io { path, error } => write!(f, "{path}: cannot be read: {error}"),
            LoadTrajectoryError::Damaged { path, entry, expected, got } => {
                write!(f, "{path}: {}expected {expected}, got {got}", place(entry))
            }
            LoadTrajectoryError::WrongModel { path, entry, expected, got } => write!(
                f,
                "{path}: {}expected {expected} as the model has, got {got}; load it with the model it was recorded with",
                place(entry)
            ),
        }
    }
}

impl std::error::Error for LoadTrajectoryError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LoadTrajectoryError::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// What is wrong in an archive, before the name of its file is known.
#[derive(Debug)]
pub(super) struct Fault {
    pub entry: String,
    pub expected: String,
    pub got: String,
    /// Whether the file is sound and belongs to another model.
    pub of_model: bool,
}

impl Fault {
    pub fn new(entry: &str, expected: impl Into<String>, got: impl Into<String>) -> Fault {
        Fault { entry: entry.into(), expected: expected.into(), got: got.into(), of_model: false }
    }

    pub fn of_model(entry: &str, expected: impl Into<String>, got: impl Into<String>) -> Fault {
        Fault { of_model: true, ..Fault::new(entry, expected, got) }
    }

    pub fn in_file(self, path: String) -> LoadTrajectoryError {
        let Fault { entry, expected, got, of_model } = self;
        match of_model {
            true => LoadTrajectoryError::WrongModel { path, entry, expected, got },
            false => LoadTrajectoryError::Damaged { path, entry, expected, got },
        }
    }
}
