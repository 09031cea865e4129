//! The searches for torques: from several starts, with exact derivatives or finite differences, over the central path
//! or not.

use super::torques::{Torques, TorquesError};
use crate::drives::Drives;
use slipstick::check::Difference;
use slipstick::model::GradientMode;
use slipstick::optimize::{ByDifferences, LeastSquares, OptimizeError, Options, Outcome, Stop, minimize};
use slipstick::random::Rng;
use slipstick::{InputError, Model};
use std::fmt;

/// Where a search begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// Without torques: the robot folds.
    Zero,
    /// With torques drawn evenly from a fifth of what the drives can give, by a seed.
    Random(u64),
}

/// Share of the limits that random torques are drawn from.
const SHARE: f64 = 0.2;

/// Largest random torque of a drive without limits (N·m).
const UNLIMITED: f64 = 20.0;

impl Start {
    /// The torques.
    pub fn torques(self, drives: &Drives) -> Vec<f64> {
        let largest = |l: &[f64; 2]| if l[1].is_finite() { SHARE * l[1] } else { UNLIMITED };
        match self {
            Start::Zero => vec![0.0; drives.dofs.len()],
            Start::Random(seed) => {
                let mut draw = Rng(seed);
                drives.limits.iter().map(|l| largest(l) * draw.sign()).collect()
            }
        }
    }
}

/// How torques are looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Way {
    /// Gauss–Newton with exact derivatives.
    Exact,
    /// First on the central path, where contacts have no modes to get stuck between, then exactly. It ends
    /// with contact forces well inside their cones.
    Central,
    /// Gauss–Newton with forward differences of this step (N·m).
    Differences(f64),
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Way::Exact => f.write_str("exact"),
            Way::Central => f.write_str("central path, then exact"),
            Way::Differences(step) => write!(f, "differences {step:.0e}"),
        }
    }
}

/// Complementarity on the central path, as [`GradientMode::Central`] counts it.
const KAPPA: f64 = 1e-4;

/// Error at which the central path is left (m/s, rad/s). The longer a search stays there, the further inside their
/// cones contact forces end; with 1e-3 it needs half as many iterations, and friction is used up.
const LEAVE: f64 = 1e-5;

/// Error at which a search ends (m/s, rad/s).
const TOLERANCE: f64 = 1e-11;

/// Singular values of a Jacobian by differences that count as zero, as a part of the largest: torques that press feet against
/// each other move nothing, and differences are not as sure of that as exact derivatives are.
const NOISE: f64 = 1e-6;

/// Singular values of an exact Jacobian that count as zero.
const EXACT: f64 = 1e-10;

/// A finished search.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// How.
    pub way: Way,
    /// From where.
    pub start: Start,
    /// ‖v⁺‖ of the exact step after each iteration, the start included (m/s, rad/s).
    pub errors: Vec<f64>,
    /// When these were reached (s).
    pub seconds: Vec<f64>,
    /// Where it ended (N·m).
    pub torques: Vec<f64>,
    /// Why it ended.
    pub stop: Stop,
}

impl Search {
    /// The last error.
    pub fn error(&self) -> f64 {
        self.errors.last().copied().unwrap_or(f64::NAN)
    }

    /// Iterations until the error was at most this.
    pub fn iterations_to(&self, error: f64) -> Option<usize> {
        self.errors.iter().position(|e| *e <= error)
    }
}

/// A robot at rest for which torques are looked for.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The robot.
    pub model: &'a Model,
    /// Its drives.
    pub drives: &'a Drives,
    /// Its configuration (nq).
    pub q: &'a [f64],
    /// Whether torques must be within what the drives can give.
    pub limited: bool,
}

impl Task<'_> {
    /// Searches for torques.
    pub fn search(&self, way: Way, start: Start) -> Result<Search, OptimizeError<TorquesError>> {
        let x0 = start.torques(self.drives);
        let mut log = Vec::new();
        let done = match way {
            Way::Exact => minimize_to(TOLERANCE, EXACT, &mut self.problem(self.model)?, &x0)?,
            Way::Differences(step) => {
                let problem = self.problem(self.model)?;
                minimize_to(TOLERANCE, NOISE, &mut ByDifferences::new(problem, Difference::Forward { step })?, &x0)?
            }
            Way::Central => {
                let soft = on_central_path(self.model)?;
                let mut problem = self.problem(&soft)?;
                let near = minimize_to(LEAVE, EXACT, &mut problem, &x0)?;
                log = self.exact_log(&near, problem.visited())?;
                minimize_to(TOLERANCE, EXACT, &mut self.problem(self.model)?, &near.x)?
            }
        };
        // a second search begins where the first has ended
        let before = log.pop().map_or(0.0, |(_, seconds)| seconds);
        log.extend(done.iterations.iter().map(|i| (i.error, before + i.seconds)));
        let (errors, seconds) = log.into_iter().unzip();
        Ok(Search { way, start, errors, seconds, torques: done.x, stop: done.stop })
    }

    fn problem<'m>(&'m self, model: &'m Model) -> Result<Torques<'m>, InputError> {
        let problem = Torques::new(model, self.drives, self.q)?;
        Ok(if self.limited { problem.within_limits() } else { problem })
    }

    /// Errors of the exact step where a search on the central path has been, and when.
    fn exact_log(&self, near: &Outcome, visited: &[Vec<f64>]) -> Result<Vec<(f64, f64)>, OptimizeError<TorquesError>> {
        let (mut exact, mut v) = (self.problem(self.model)?, vec![0.0; self.model.nv()]);
        let mut log = Vec::new();
        for (line, torques) in near.iterations.iter().zip(visited) {
            let failed = |error| OptimizeError::Problem { iteration: line.iteration, error };
            exact.residual(torques, &mut v).map_err(failed)?;
            log.push((v.iter().map(|v| v * v).sum::<f64>().sqrt(), line.seconds));
        }
        Ok(log)
    }
}

/// Gauss–Newton with a line search, until the error is at most `tolerance`.
fn minimize_to<P: LeastSquares>(
    tolerance: f64,
    rank_tolerance: f64,
    problem: &mut P,
    x0: &[f64],
) -> Result<Outcome, OptimizeError<P::Error>> {
    let options = Options { tolerance, rank_tolerance, max_iterations: 60, ..Options::default() };
    minimize(problem, x0, &options, |_| ())
}

/// The robot with steps on the central path.
fn on_central_path(model: &Model) -> Result<Model, InputError> {
    let mut options = model.options().clone();
    options.gradient = GradientMode::Central { kappa: KAPPA };
    model.with_options(options)
}
