//! Smoothing around the step: means over random inputs, and contacts that are made softer for a while.
//!
//! The derivative of a step is a one-sided truth where contacts open, close or begin to slip. An optimizer may want to
//! know what happens on average nearby instead: [`Bundled`]. Or it begins with a softer robot and ends with the real one:
//! [`ComplianceSchedule`]. Both leave the step as it is; the central path ([`GradientMode`](crate::model::GradientMode)) and
//! smoothed collision derivatives ([`CollisionGradient`](crate::model::CollisionGradient)) are options of the model.

mod bundle;
mod compliance;
mod estimate;
mod regression;
mod sample;
mod sum;

pub use bundle::{Bundle, Smoothed};
pub use compliance::ComplianceSchedule;
pub use estimate::Estimate;

use crate::interrupt::Interrupted;
use slipstick_core::model::Order;
use slipstick_core::{GradientError, InputError, StepError};
use std::fmt;

/// How the derivative of a step is averaged over random inputs: pairs ±z of normal numbers displace configuration (by
/// ⊕), velocity, forces and controls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bundled {
    /// Standard deviations of the displacements.
    pub sigma: Sigma,
    /// Number of samples; drawn in pairs, so an odd number is rounded up.
    pub samples: u32,
    /// What is averaged. `First`: derivatives at the samples; few samples suffice, but a jump of the step itself is not
    /// seen. `Zeroth`: values of the step only, to which a linear function is fitted; right across jumps too, but needs
    /// more pairs than there are displaced numbers (an error says how many).
    pub order: Order,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// Standard deviations, each in its own unit. What has zero is not displaced; by `Order::Zeroth` no derivative with
/// respect to it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sigma {
    /// Of configurations (m or rad).
    pub q: f64,
    /// Of velocities (m/s or rad/s).
    pub v: f64,
    /// Of generalized forces (N or N m).
    pub tau: f64,
    /// Of controls.
    pub ctrl: f64,
}

impl Sigma {
    /// Nothing is displaced.
    pub const ZERO: Sigma = Sigma { q: 0.0, v: 0.0, tau: 0.0, ctrl: 0.0 };

    /// One number for everything.
    pub const fn all(sigma: f64) -> Sigma {
        Sigma { q: sigma, v: sigma, tau: sigma, ctrl: sigma }
    }

    fn check(&self) -> Result<(), InputError> {
        let named = [("sigma.q", self.q), ("sigma.v", self.v), ("sigma.tau", self.tau), ("sigma.ctrl", self.ctrl)];
        match named.into_iter().find(|(_, x)| !(x.is_finite() && *x >= 0.0)) {
            Some((what, got)) => {
                Err(InputError::Value { what: what.into(), expected: "zero or a positive number", got })
            }
            None => Ok(()),
        }
    }
}

/// A mean that is not there.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SmoothingError {
    /// An input does not fit.
    Input(InputError),
    /// The step in the middle gave no state.
    Step(StepError),
    /// No sample has a derivative; this is what one of them says.
    Gradient(GradientError),
    /// Too few pairs of samples have a value for a fit.
    TooFew {
        /// Samples that a fit with a standard error needs.
        needed: usize,
        /// Samples that can be used.
        used: usize,
    },
    /// The threads could not be started.
    Threads {
        /// How many were wanted.
        wanted: usize,
        /// What the system said.
        reason: String,
    },
    /// It was asked to end ([`interrupt`](crate::interrupt)).
    Interrupted,
}

impl fmt::Display for SmoothingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SmoothingError::Input(e) => e.fmt(f),
            SmoothingError::Step(e) => e.fmt(f),
            SmoothingError::Gradient(e) => write!(f, "no sample has a derivative: {e}"),
            SmoothingError::Threads { wanted, reason } => write!(f, "{wanted} threads could not be started: {reason}"),
            SmoothingError::Interrupted => Interrupted.fmt(f),
            SmoothingError::TooFew { needed, used } => {
                write!(f, "samples: a linear fit to values of the step needs at least {needed}, got {used} that count")
            }
        }
    }
}

impl std::error::Error for SmoothingError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SmoothingError::Input(e) => Some(e),
            SmoothingError::Step(e) => Some(e),
            SmoothingError::Gradient(e) => Some(e),
            SmoothingError::TooFew { .. } | SmoothingError::Threads { .. } | SmoothingError::Interrupted => None,
        }
    }
}

impl From<InputError> for SmoothingError {
    fn from(e: InputError) -> SmoothingError {
        SmoothingError::Input(e)
    }
}
impl From<Interrupted> for SmoothingError {
    fn from(_: Interrupted) -> SmoothingError {
        SmoothingError::Interrupted
    }
}
impl From<StepError> for SmoothingError {
    fn from(e: StepError) -> SmoothingError {
        match e {
            StepError::Input(e) => SmoothingError::Input(e),
            e => SmoothingError::Step(e),
        }
    }
}
