//! Why a robot does not rest in a pose.

use slipstick::{InputError, StepError};
use std::fmt;

/// Why a robot does not rest in a pose.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum BalanceError {
    /// Nothing to stand on.
    NoFloor {
        /// Name of the model.
        model: String,
    },
    /// A body that is to stand on the floor has no corner and no round end.
    NoSupport {
        /// The body.
        body: String,
    },
    /// No pose near the wanted one has its supports on the floor and the center of mass between them.
    NotFound {
        /// Largest height of a support above or below the floor, in the best pose (m).
        gap: f64,
        /// Distance of the center of mass from between the supports, seen along gravity, in the best pose (m).
        offset: f64,
    },
    /// A body that is to stand on the floor does not touch it.
    Aloft {
        /// The body.
        body: String,
    },
    /// Something touches that is not meant to.
    Touches {
        /// Names of the two bodies.
        bodies: [String; 2],
        /// Their distance, negative when they overlap (m).
        distance: f64,
    },
    /// The robot is in the floor: a step would lift it.
    Overlap {
        /// Names of the two bodies.
        bodies: [String; 2],
        /// How deep (m).
        depth: f64,
    },
    /// No contact forces that Coulomb allows keep the robot in place, whatever its actuators do.
    OutOfBalance {
        /// Distance of the center of mass from between the supports, seen along gravity (m). Zero: friction is too
        /// small; infinite: nothing touches.
        distance: f64,
        /// How dofs without actuators accelerate if all others are locked: names and accelerations (m/s² or rad/s²).
        accelerations: Vec<(String, f64)>,
    },
    /// The search for those forces ended without a solution.
    Undecided {
        /// Scaled residual of the contact problem.
        residual: f64,
    },
    /// A pose that does not fit the model.
    Input(InputError),
    /// A step from the pose failed.
    Step(StepError),
}

impl fmt::Display for BalanceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BalanceError::NoFloor { model } => {
                write!(f, "the model '{model}' has no plane fixed to the world: nothing to stand on")
            }
            BalanceError::NoSupport { body } => write!(
                f,
                "the body '{body}' cannot stand: expected a sphere, capsule, box or mesh among its shapes, got none"
            ),
            BalanceError::NotFound { gap, offset } => write!(
                f,
                "no balanced pose near the wanted one: in the best pose found a support is {gap:.2e} m off the floor and \
                 the center of mass {offset:.2e} m outside the supports"
            ),
            BalanceError::Aloft { body } => {
                write!(f, "the body '{body}' was to stand on the floor and does not touch it")
            }
            BalanceError::Touches { bodies: [a, b], distance } => {
                write!(f, "the bodies '{a}' and '{b}' were not to touch; their distance is {distance:.2e} m")
            }
            BalanceError::Overlap { bodies: [a, b], depth } => {
                write!(f, "the bodies '{a}' and '{b}' overlap by {depth:.2e} m: expected them to touch")
            }
            BalanceError::OutOfBalance { distance, accelerations } => {
                let why = match *distance {
                    0.0 => "its center of mass is between its supports, but friction is too small".to_string(),
                    f64::INFINITY => "it touches nothing".to_string(),
                    _ => format!("its center of mass is {distance:.2e} m outside its supports"),
                };
                let list = accelerations.iter().map(|(name, a)| format!("{name} {a:.2e}"));
                let list = list.collect::<Vec<_>>().join(", ");
                write!(
                    f,
                    "the pose is out of balance: {why}; with locked actuators it accelerates by {list} (SI units)"
                )
            }
            BalanceError::Undecided { residual } => {
                write!(
                    f,
                    "no answer on whether the pose can rest: the contact problem has a residual of {residual:.2e}"
                )
            }
            BalanceError::Input(e) => e.fmt(f),
            BalanceError::Step(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for BalanceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            BalanceError::Input(e) => Some(e),
            BalanceError::Step(e) => Some(e),
            _ => None,
        }
    }
}

impl From<InputError> for BalanceError {
    fn from(e: InputError) -> BalanceError {
        BalanceError::Input(e)
    }
}

impl From<StepError> for BalanceError {
    fn from(e: StepError) -> BalanceError {
        BalanceError::Step(e)
    }
}
