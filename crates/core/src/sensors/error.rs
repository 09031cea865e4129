//! Sensors without a reading.

use crate::error::InputError;
use crate::gradient::GradientError;
use core::fmt;

/// A reading, or a derivative of one, that does not exist.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SensorError {
    /// The sensor, or its number, does not exist, or the memory belongs to another model.
    Input(InputError),
    /// The model does not hold what the sensor would need.
    Unsupported {
        /// Name of the sensor, or its number.
        sensor: String,
        /// What is missing.
        why: &'static str,
    },
    /// The step that the reading belongs to has no derivative.
    Gradient(GradientError),
}

impl fmt::Display for SensorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SensorError::Input(e) => e.fmt(f),
            SensorError::Gradient(e) => e.fmt(f),
            SensorError::Unsupported { sensor, why } => write!(f, "sensor '{sensor}' cannot be read: {why}"),
        }
    }
}

impl std::error::Error for SensorError {}

impl From<InputError> for SensorError {
    fn from(e: InputError) -> SensorError {
        SensorError::Input(e)
    }
}

impl From<GradientError> for SensorError {
    fn from(e: GradientError) -> SensorError {
        match e {
            GradientError::Input(e) => SensorError::Input(e),
            e => SensorError::Gradient(e),
        }
    }
}
