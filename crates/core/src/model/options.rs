//! Numerical choices of a simulation. Physical numbers are in [`Parameters`](super::Parameters).

use super::gradient_options::{CollisionGradient, GradientMode};
use crate::error::InputError;
use crate::input_check;

/// Numerical choices of a simulation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// Time step (s). MJCF: the file's `timestep`; else 1e-3.
    pub dt: f64,
    /// Gravity in world axes (m/s²). Also the group `Gravity` of the parameters; setting one sets the other.
    pub gravity: [f64; 3],
    /// Magnetic field that magnetometers read, world axes.
    pub magnetic: [f64; 3],
    /// How far [`detect`](crate::collision::detect()) and smoothed derivatives see contacts (m). The exact step looks as far as
    /// bodies can come in it. Zero: only what overlaps is a contact, and fast bodies may pass through thin ones.
    pub contact_distance: f64,
    /// Which velocity-dependent forces are taken at the end of the step.
    pub implicit: Implicit,
    /// How velocities are integrated.
    pub integrator: Integrator,
    /// How contact is solved.
    pub solver: Solver,
    /// Scaled residual at which a solve is finished.
    pub tolerance: f64,
    /// Factorizations that each island of bodies may take in a step, everything included; sweeps, for projected
    /// Gauss–Seidel. At the end of this budget the best iterate is returned, with a status.
    pub max_iterations: u32,
    /// How overlaps are corrected.
    pub correction: Correction,
    /// Approach speed below which nothing bounces (m/s).
    pub restitution_threshold: f64,
    /// Compliance of the normals between two bodies that touch in more than three points, as a fraction of the inverse mass
    /// of all bodies that are joined to them. It determines the load distribution among such points.
    pub patch_compliance: f64,
    /// Speed of a dof above which the motion has diverged (m/s or rad/s).
    pub speed_limit: f64,
    /// Which derivative contact laws have.
    pub gradient: GradientMode,
    /// How contact points and normals are differentiated.
    pub collision_gradient: CollisionGradient,
    /// Whether a step that did not converge has derivatives: those of its best iterate, which are not exact. If not, they are
    /// [`GradientError::FailedStep`](crate::GradientError::FailedStep).
    pub gradient_of_failed_steps: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            dt: 1e-3,
            gravity: [0.0, 0.0, -9.81],
            magnetic: [0.0, -0.5, 0.0], // as in MuJoCo
            contact_distance: 0.01,
            implicit: Implicit::Velocity,
            integrator: Integrator::Midpoint,
            solver: Solver::Auto,
            tolerance: 1e-10,
            max_iterations: 170,
            correction: Correction::default(),
            restitution_threshold: 0.01,
            patch_compliance: 1e-6,
            speed_limit: 1e5,
            gradient: GradientMode::Exact,
            collision_gradient: CollisionGradient::Exact,
            gradient_of_failed_steps: false,
        }
    }
}

impl Options {
    /// Refuses numbers that make no simulation.
    pub(super) fn check(&self) -> Result<(), InputError> {
        input_check::vector("gravity", &self.gravity, 3)?;
        input_check::vector("magnetic", &self.magnetic, 3)?;
        self.gradient.check()?;
        self.collision_gradient.check()?;
        let positive = [
            ("tolerance", "a positive residual", self.tolerance),
            ("correction.max_speed", "a positive speed", self.correction.max_speed),
            ("speed_limit", "a positive speed", self.speed_limit),
        ];
        for (what, expected, got) in positive {
            if !(got.is_finite() && got > 0.0) {
                return Err(InputError::Value { what: what.into(), expected, got });
            }
        }
        if !is_time_step(self.dt) {
            return Err(InputError::Value { what: "dt".into(), expected: TIME_STEP, got: self.dt });
        }
        let others = [
            ("contact_distance", "zero or a positive distance", self.contact_distance),
            ("correction.full_depth", "zero or a positive depth", self.correction.full_depth),
            ("restitution_threshold", "zero or a positive speed", self.restitution_threshold),
            ("patch_compliance", "zero or a small positive number", self.patch_compliance),
        ];
        for (what, expected, got) in others {
            if !(got.is_finite() && got >= 0.0) {
                return Err(InputError::Value { what: what.into(), expected, got });
            }
        }
        let beta = self.correction.beta;
        if !(0.0..=1.0).contains(&beta) {
            return Err(InputError::Value {
                what: "correction.beta".into(),
                expected: "a number from 0 to 1",
                got: beta,
            });
        }
        Ok(())
    }
}

/// What a time step must be.
pub(super) const TIME_STEP: &str = "a time step from 1e-60 to 1e60 s";

/// Lengths over it, and squares of those, are still numbers.
pub(super) fn is_time_step(dt: f64) -> bool {
    (1e-60..=input_check::LARGEST).contains(&dt)
}

/// How overlaps are corrected.   (contact-3)
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correction {
    /// Overlaps up to this depth vanish within one step (m or rad).
    pub full_depth: f64,
    /// Fraction of what is deeper that vanishes within one step.
    pub beta: f64,
    /// Largest speed of the correction (m/s or rad/s).
    pub max_speed: f64,
}

impl Default for Correction {
    fn default() -> Correction {
        Correction { full_depth: 1e-4, beta: 0.2, max_speed: 1.0 }
    }
}

/// How contact is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Solver {
    /// Newton from the warm start; where that fails proximal rounds from the best of its iterates, then from zero.
    #[default]
    Auto,
    /// As `Auto`, but proximal rounds start from zero impulses at once: a step that Newton cannot solve does not depend on
    /// the steps before.
    Cold,
    /// The alternating direction method of multipliers, as in the paper.
    Admm,
    /// Projected Gauss–Seidel.
    Pgs,
}

impl Solver {
    /// All of them.
    pub const ALL: [Solver; 4] = [Solver::Auto, Solver::Cold, Solver::Admm, Solver::Pgs];

    /// The word used in Python, on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Solver::Auto => "auto",
            Solver::Cold => "cold",
            Solver::Admm => "admm",
            Solver::Pgs => "pgs",
        }
    }
}

/// How velocities are integrated.   (step-3)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Integrator {
    /// Semi-implicit Euler, gyroscopic terms of floating bodies by the implicit midpoint rule: free rotation keeps its energy.
    #[default]
    Midpoint,
    /// Semi-implicit Euler, as MuJoCo's.
    Euler,
}

impl Integrator {
    /// All of them.
    pub const ALL: [Integrator; 2] = [Integrator::Midpoint, Integrator::Euler];

    /// The word used in Python, on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Integrator::Midpoint => "midpoint",
            Integrator::Euler => "euler",
        }
    }
}

/// Forces taken at the end of the step instead of its beginning, so that stiff joints stay stable.   (step-2)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Implicit {
    /// None.
    None,
    /// Joint damping, as MuJoCo's Euler integrator.
    Damping,
    /// Joint damping and the velocity gain of actuators on joints with one dof, as MuJoCo's `implicitfast`.
    #[default]
    Velocity,
    /// Also joint springs and the position gain of actuators on joints with one dof.
    All,
}
