//! What goes into the derivative of a rollout and comes out of it.

use crate::interrupt::Interrupted;
use crate::simulator::RolloutError;
use slipstick_core::model::ParameterGroup;
use slipstick_core::sensors::SensorError;
use slipstick_core::{GradientError, InputError, Model};
use std::fmt;

/// What is kept of every step until its derivative is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Memory {
    /// Its derivatives: 2 nv + na rows of 3 nv + na + nu numbers, and a column for every parameter of the chosen groups. A
    /// gradient is then a product of matrices; the run itself costs the Jacobians.
    Store,
    /// Only what repeats the step bit for bit: its state, its input and the warm start it began with. Derivatives make
    /// it once more.
    #[default]
    Recompute,
}

/// The gradient of a loss with respect to the states of a rollout. Either part may be given for all states
/// ((steps + 1) × nv, the first state included), for the last one only (nv), or not at all (empty: zero).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StateGrad<'a> {
    /// With respect to the configurations, as tangents.
    pub q: &'a [f64],
    /// With respect to the velocities.
    pub v: &'a [f64],
    /// With respect to the activations ((steps + 1) × na, or na, or empty).
    pub act: &'a [f64],
}

/// The gradient of a loss with respect to everything a rollout is made from.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RolloutGrad {
    /// With respect to the first configuration, as a tangent (nv).
    pub q: Vec<f64>,
    /// With respect to the first velocity (nv).
    pub v: Vec<f64>,
    /// With respect to the first activations (na).
    pub act: Vec<f64>,
    /// With respect to the generalized forces of every step (steps × nv).
    pub tau: Vec<f64>,
    /// With respect to the controls of every step (steps × nu); zero if the actuators are off.
    pub ctrl: Vec<f64>,
    /// With respect to the chosen groups of parameters, summed over the steps.
    pub parameters: Vec<(ParameterGroup, Vec<f64>)>,
}

impl RolloutGrad {
    /// Zeros for a number of steps and some groups of parameters.
    pub fn new(model: &Model, steps: usize, groups: &[ParameterGroup]) -> RolloutGrad {
        let (nv, nu) = (model.nv(), model.nu());
        let zeros = |g: &ParameterGroup| (*g, vec![0.0; model.parameters().group(*g).len()]);
        RolloutGrad {
            q: vec![0.0; nv],
            v: vec![0.0; nv],
            act: vec![0.0; model.na()],
            tau: vec![0.0; steps * nv],
            ctrl: vec![0.0; steps * nu],
            parameters: groups.iter().map(zeros).collect(),
        }
    }

    /// The part of a group of parameters; `None` if it was not chosen.
    pub fn group(&self, group: ParameterGroup) -> Option<&[f64]> {
        self.parameters.iter().find(|(g, _)| *g == group).map(|(_, x)| &x[..])
    }

    /// Sets everything to zero.
    pub fn clear(&mut self) {
        let RolloutGrad { q, v, act, tau, ctrl, parameters } = self;
        [q, v, act, tau, ctrl].into_iter().chain(parameters.iter_mut().map(|(_, x)| x)).for_each(|x| x.fill(0.0));
    }
}

/// A change of what a rollout is made from. Empty slices stand for zeros.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RolloutDirection<'a> {
    /// Of the first configuration, as a tangent (nv).
    pub q: &'a [f64],
    /// Of the first velocity (nv).
    pub v: &'a [f64],
    /// Of the first activations (na).
    pub act: &'a [f64],
    /// Of the generalized forces of every step (steps × nv).
    pub tau: &'a [f64],
    /// Of the controls of every step (steps × nu); without effect if the actuators are off.
    pub ctrl: &'a [f64],
    /// Of parameters, each in the layout of its group; the group must be one of the chosen ones.
    pub parameters: &'a [(ParameterGroup, &'a [f64])],
}

/// A rollout or a derivative of it that is not there.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RolloutGradientError {
    /// An input does not fit the rollout.
    Input(InputError),
    /// A step gave no state.
    Rollout(RolloutError),
    /// A step has no derivative.
    Gradient {
        /// Steps before it.
        step: usize,
        /// Why.
        error: GradientError,
    },
    /// A sensor that has a weight cannot be read.
    Sensor(SensorError),
    /// Derivatives of readings, with respect to parameters that were not chosen before the run, or in another mode, need
    /// [`Memory::Recompute`]: a stored rollout keeps those of its states only.
    Stored,
    /// A repeated step differs from the first one.
    Branch {
        /// Steps before it.
        step: usize,
    },
    /// There is no room for what is to be kept.
    Memory {
        /// Bytes needed, at most what fits a `usize`.
        bytes: usize,
    },
    /// It was asked to end ([`interrupt`](crate::interrupt)). After a run there is no rollout; a derivative may have been
    /// added in part, and the rollout stays.
    Interrupted,
}

impl fmt::Display for RolloutGradientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RolloutGradientError::Input(e) => e.fmt(f),
            RolloutGradientError::Rollout(e) => e.fmt(f),
            RolloutGradientError::Gradient { step, error } => write!(f, "step {step}: {error}"),
            RolloutGradientError::Sensor(e) => e.fmt(f),
            RolloutGradientError::Stored => f.write_str(
                "a stored rollout has no derivatives of readings, with respect to further parameters or in another mode: recompute its \
                 steps instead of storing them",
            ),
            RolloutGradientError::Branch { step } => {
                write!(f, "step {step}: made again, its constraints were in other modes than the first time")
            }
            RolloutGradientError::Interrupted => Interrupted.fmt(f),
            RolloutGradientError::Memory { bytes } => {
                write!(f, "there is no room for {bytes} bytes: take fewer steps, or recompute instead of storing")
            }
        }
    }
}

impl std::error::Error for RolloutGradientError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RolloutGradientError::Input(e) => Some(e),
            RolloutGradientError::Rollout(e) => Some(e),
            RolloutGradientError::Gradient { error, .. } => Some(error),
            RolloutGradientError::Sensor(e) => Some(e),
            RolloutGradientError::Stored
            | RolloutGradientError::Branch { .. }
            | RolloutGradientError::Memory { .. }
            | RolloutGradientError::Interrupted => None,
        }
    }
}

impl From<InputError> for RolloutGradientError {
    fn from(e: InputError) -> RolloutGradientError {
        RolloutGradientError::Input(e)
    }
}

impl From<Interrupted> for RolloutGradientError {
    fn from(_: Interrupted) -> RolloutGradientError {
        RolloutGradientError::Interrupted
    }
}

impl RolloutGradientError {
    /// What went wrong with the readings of a step.
    pub(super) fn of_readings(step: usize, error: SensorError) -> RolloutGradientError {
        match error {
            SensorError::Input(e) => RolloutGradientError::Input(e),
            SensorError::Gradient(error) => RolloutGradientError::Gradient { step, error },
            error => RolloutGradientError::Sensor(error),
        }
    }
}
