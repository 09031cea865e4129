//! What goes into a search and comes out of it.

use slipstick_core::InputError;
use std::fmt;

/// In which direction a step goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// To the least residual of the linearized problem; of all such steps the shortest. Few iterations near a solution.
    #[default]
    GaussNewton,
    /// Gauss–Newton with a penalty on the length of the step, which rises until the step is good: robust far from a solution.
    LevenbergMarquardt,
    /// Against the gradient. For comparison.
    GradientDescent,
}

impl Method {
    /// All of them.
    pub const ALL: [Method; 3] = [Method::GaussNewton, Method::LevenbergMarquardt, Method::GradientDescent];

    /// A word for it, the same as in Python.
    pub fn name(self) -> &'static str {
        match self {
            Method::GaussNewton => "gauss_newton",
            Method::LevenbergMarquardt => "levenberg_marquardt",
            Method::GradientDescent => "gradient_descent",
        }
    }
}

/// How [`minimize`](super::minimize) searches and when it ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// In which direction.
    pub method: Method,
    /// Whether a step is halved until the error falls enough. Without it whole steps are taken, wherever they lead.
    /// Levenberg–Marquardt shortens its steps by itself.
    pub line_search: bool,
    /// Ends when ‖r‖ is at most this.
    pub tolerance: f64,
    /// Ends when the cosine between the residual and every column of the Jacobian is at most this: no direction helps.
    pub gradient_tolerance: f64,
    /// Ends when a step was at most so long.
    pub step_tolerance: f64,
    /// Ends after so many iterations.
    pub max_iterations: usize,
    /// Singular values of the Jacobian below this part of the largest count as zero: along their directions nothing is
    /// known, and nothing is changed.
    pub rank_tolerance: f64,
    /// What counts as a step of length one along each unknown (n positive numbers; empty: one each). Decides which of many
    /// good steps is the shortest and which way is steepest; worth giving where unknowns have different units.
    pub units: Vec<f64>,
    /// Levenberg–Marquardt: the first price of a step, over the largest squared norm of a column of the Jacobian.
    pub damping: f64,
    /// Gradient descent: length of a step over that of the gradient of ½‖r‖². `None`: the length that is best for the
    /// linearized problem.
    pub rate: Option<f64>,
}

impl Default for Options {
    /// Gauss–Newton with a line search, at most 100 iterations, down to what doubles can tell.
    fn default() -> Options {
        Options {
            method: Method::GaussNewton,
            line_search: true,
            tolerance: 1e-12,
            gradient_tolerance: 1e-12,
            step_tolerance: 0.0,
            max_iterations: 100,
            rank_tolerance: 1e-10,
            units: Vec::new(),
            damping: 1e-3,
            rate: None,
        }
    }
}

impl Options {
    /// For a problem with n unknowns.
    pub(super) fn check(&self, n: usize) -> Result<(), InputError> {
        if !(self.units.is_empty() || self.units.len() == n) {
            return Err(InputError::Length { what: "units", expected: n, got: self.units.len() });
        }
        if let Some(got) = self.units.iter().copied().find(|u| !(u.is_finite() && *u > 0.0)) {
            return Err(InputError::Value { what: "units".into(), expected: "positive numbers", got });
        }
        let numbers = [
            ("tolerance", self.tolerance),
            ("gradient_tolerance", self.gradient_tolerance),
            ("step_tolerance", self.step_tolerance),
            ("rank_tolerance", self.rank_tolerance),
            ("damping", self.damping),
            ("rate", self.rate.unwrap_or(0.0)),
        ];
        match numbers.into_iter().find(|(_, x)| !(x.is_finite() && *x >= 0.0)) {
            Some((what, got)) => {
                Err(InputError::Value { what: what.into(), expected: "zero or a positive number", got })
            }
            None => Ok(()),
        }
    }
}

/// A line of the log: a point, and the step that led to it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Iteration {
    /// Steps before the point; zero is where the search begins.
    pub iteration: usize,
    /// ‖r‖ at the point.
    pub error: f64,
    /// Norm of the gradient of ½‖r‖² at the point per [`Options::units`], without what bounds forbid.
    pub gradient: f64,
    /// Length of the step, in [`Options::units`].
    pub step: f64,
    /// Part of the proposed step that was taken; below one after a line search.
    pub fraction: f64,
    /// Levenberg–Marquardt: the price that the step paid for its length.
    pub damping: f64,
    /// Points that were tried for the step.
    pub trials: usize,
    /// Time since the search began (s), residuals and derivatives of this point included.
    pub seconds: f64,
}

/// Where a search ended, and how it went.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// The point.
    pub x: Vec<f64>,
    /// The residuals there.
    pub residual: Vec<f64>,
    /// Their norm.
    pub error: f64,
    /// The log, the first point included.
    pub iterations: Vec<Iteration>,
    /// Why it ended.
    pub stop: Stop,
}

/// Why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// The error is as small as was asked for.
    Tolerance,
    /// No direction makes the error smaller.
    Gradient,
    /// The last step was as short as was asked for.
    Step,
    /// No step along the proposed direction makes the error smaller, not even by its last digit.
    Stalled,
    /// There were as many iterations as were asked for.
    MaxIterations,
    /// The next point has residuals that are not finite; the point is the last one before it. Only without a line search.
    NotFinite,
}

impl Stop {
    /// A word for it, the same as in Python.
    pub fn name(self) -> &'static str {
        match self {
            Stop::Tolerance => "tolerance",
            Stop::Gradient => "gradient",
            Stop::Step => "step",
            Stop::Stalled => "stalled",
            Stop::MaxIterations => "max_iterations",
            Stop::NotFinite => "not_finite",
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stop::Tolerance => "the error is within the tolerance",
            Stop::Gradient => "no direction lowers the error",
            Stop::Step => "the last step was within the tolerance",
            Stop::Stalled => "no step along the direction lowers the error",
            Stop::MaxIterations => "no more iterations were allowed",
            Stop::NotFinite => "the next point has residuals that are not finite",
        })
    }
}
