//! How a step is differentiated.

use crate::error::InputError;

/// Which derivative contact laws have.   (grad-13)
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum GradientMode {
    /// The derivative of the step as it is: exact inside a contact mode, one-sided at a change of modes.
    #[default]
    Exact,
    /// Step and derivative on the central path: every complementarity product equals kappa instead of zero, so that
    /// contacts act at a distance and friction has no corner.
    Central {
        /// Complementarity in units of the step's own velocities and inertias, without dimension.
        kappa: f64,
    },
    /// The exact step with the derivative of the central path.
    ExactForwardCentral {
        /// As for `Central`.
        kappa: f64,
    },
}

/// How contact points and normals are differentiated. The distance is always that of the exact geometry, dΦ = J_N.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum CollisionGradient {
    /// Features of polytopes and curvatures as they are.
    #[default]
    Exact,
    /// Corners and edges rounded by a softmax over the vertices.
    Smoothed {
        /// Temperature (m): one or two hundredths of the size of the shapes.
        eps: f64,
    },
    /// Mean over random relative poses.
    Randomized {
        /// Standard deviation of the displacements (m) and rotations (rad).
        sigma: f64,
        /// Number of samples.
        samples: u32,
        /// A seed gives its numbers again.
        seed: u64,
        /// The averaged quantity.
        order: Order,
    },
    /// Point and normal stay where they are in the world.
    Frozen,
}

/// What randomized smoothing averages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Differences: needs no derivative anywhere, but many samples.
    Zeroth,
    /// Exact derivatives at the random places.
    #[default]
    First,
}

/// Gravity of the earth, independent of the model's (m/s²).
pub(crate) const STANDARD_GRAVITY: f64 = 9.81;

impl GradientMode {
    /// The kappa of a speed (m/s): complementarity products equal the energy `m w²` of the robot's mass at that speed, whatever the
    /// time step. Contacts then act at a distance of about `w dt`.   (grad-13)
    pub fn kappa_of_speed(speed: f64, dt: f64) -> f64 {
        let unit = STANDARD_GRAVITY * dt;
        (speed / unit) * (speed / unit)
    }

    /// Refuses numbers that make no smoothing.
    pub(super) fn check(self) -> Result<(), InputError> {
        match self {
            GradientMode::Exact => Ok(()),
            GradientMode::Central { kappa } | GradientMode::ExactForwardCentral { kappa } => {
                positive("gradient.kappa", kappa)
            }
        }
    }
}

impl CollisionGradient {
    /// Refuses numbers that make no smoothing.
    pub(crate) fn check(self) -> Result<(), InputError> {
        match self {
            CollisionGradient::Exact | CollisionGradient::Frozen => Ok(()),
            CollisionGradient::Smoothed { eps } => positive("eps", eps),
            CollisionGradient::Randomized { sigma, samples, .. } => {
                positive("sigma", sigma)?;
                positive("samples", samples as f64)
            }
        }
    }
}

fn positive(what: &'static str, got: f64) -> Result<(), InputError> {
    if got.is_finite() && got > 0.0 {
        return Ok(());
    }
    Err(InputError::Value { what: what.into(), expected: "a positive number", got })
}
