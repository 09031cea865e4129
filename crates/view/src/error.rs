//! What can go wrong with a replay.

use slipstick::{GradientError, InputError};
use std::{fmt, io};

/// A state that cannot be shown, or a page that cannot be made or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum ViewError {
    /// A state or a setting that does not fit.
    Input(InputError),
    /// A step without the derivative that was asked for.
    Gradient(GradientError),
    /// Two gradients of one name.
    SecondGradient {
        /// The name.
        name: String,
    },
    /// A body so far away that a picture has no numbers for it.
    OutOfSight {
        /// The body.
        body: String,
        /// When it is there (s).
        time: f64,
    },
    /// A replay without frames.
    Empty {
        /// Name of the model.
        model: String,
    },
    /// More frames than a browser opens.
    TooLarge {
        /// Bytes of the frames so far.
        bytes: usize,
        /// Bytes that they may have.
        most: usize,
    },
    /// The file cannot be written.
    Io {
        /// Its name.
        path: String,
        /// Why.
        error: io::Error,
    },
}

impl fmt::Display for ViewError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ViewError::Input(e) => write!(f, "replay: {e}"),
            ViewError::Gradient(e) => write!(f, "replay: {e}"),
            ViewError::SecondGradient { name } => {
                write!(f, "replay: expected gradients of different names, got a second '{name}'")
            }
            ViewError::OutOfSight { body, time } => {
                write!(f, "replay: body '{body}' is too far away to be shown at {time} s")
            }
            ViewError::Empty { model } => write!(f, "replay of '{model}': expected at least one frame, got none"),
            ViewError::TooLarge { bytes, most } => write!(
                f,
                "replay: expected at most {most} bytes of frames, got {bytes}; record a shorter motion or fewer frames \
                 per second"
            ),
            ViewError::Io { path, error } => write!(f, "{path}: cannot be written: {error}"),
        }
    }
}

impl std::error::Error for ViewError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ViewError::Input(e) => Some(e),
            ViewError::Gradient(e) => Some(e),
            ViewError::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl From<InputError> for ViewError {
    fn from(e: InputError) -> ViewError {
        ViewError::Input(e)
    }
}

impl From<GradientError> for ViewError {
    fn from(e: GradientError) -> ViewError {
        ViewError::Gradient(e)
    }
}
