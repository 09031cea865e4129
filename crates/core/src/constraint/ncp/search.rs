//! The state of a search for impulses: its budget, its tolerance and the best residual so far; and how it ended.

use super::Work;
use super::tuning::{LEAST_SPEED, LOAD_DIGITS, SPEED_FACTOR};
use crate::constraint::problem::residual::{fastest, unit};
use crate::constraint::problem::{Block, Problem, rows_of};
use crate::constraint::report::{Iterations, Stage, Status};

/// What a search may still spend, and the best that it has seen; the impulses of that are in `Work::best`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search {
    /// Residual that is wanted: the tolerance, relative to (ten times) the problem's own speeds where they are below 1 m/s.
    pub(super) aim: f64,
    /// Whether there are redundant contacts, whose load distribution depends on their compliance.
    redundant: bool,
    /// Residual that is good enough where the aim is not met at once.
    pub(super) tolerance: f64,
    /// Factorizations that are left.
    pub(in crate::constraint) left: u32,
    pub(in crate::constraint) iterations: Iterations,
    pub(in crate::constraint) stage: Stage,
    pub(in crate::constraint) residual: f64,
}

impl Search {
    pub fn new(problem: &Problem, tolerance: f64, budget: u32) -> Search {
        let iterations = Iterations::default();
        let aim = tolerance * (SPEED_FACTOR * fastest(problem)).clamp(LEAST_SPEED, 1.0);
        let redundant = problem.blocks.iter().any(|b| b.is_redundant());
        Search { aim, redundant, tolerance, left: budget, iterations, stage: Stage::Newton, residual: f64::INFINITY }
    }

    /// One factorization.
    pub(super) fn spend(&mut self, stage: Stage) {
        self.left = self.left.saturating_sub(1);
        *self.iterations.of(stage) += 1;
    }

    /// Takes the present iterate if it is better.
    pub(super) fn offer(&mut self, stage: Stage, residual: f64, work: &mut Work) {
        if residual < self.residual {
            (self.stage, self.residual) = (stage, residual);
            work.best.clear();
            work.best.extend_from_slice(&work.lambda);
        }
    }

    /// Whether impulses are precise enough. The residual is small compared with the problem's own speeds, and with the
    /// velocities that determine the load distribution of sliding points (that of sticking points moves nothing).
    pub(super) fn is_precise(&self, problem: &Problem, lambda: &[f64], residual: f64) -> bool {
        residual <= self.aim && self.distributes_precisely(problem, lambda, residual)
    }

    /// Whether the residual is small compared with the velocities that determine the load distribution of sliding points.
    pub(super) fn distributes_precisely(&self, problem: &Problem, lambda: &[f64], residual: f64) -> bool {
        if !self.redundant {
            return true;
        }
        let slides = |b: &Block| b.is_redundant() && b.cone.is_on_boundary(rows_of(lambda, b));
        let shift = |b: &Block| b.compliance * lambda[b.row + b.cone.rows() - 1].abs();
        let largest = problem.blocks.iter().filter(|b| slides(b)).map(shift).fold(0.0, f64::max);
        largest == 0.0 || residual * unit(problem) <= (LOAD_DIGITS * largest).max(f64::EPSILON)
    }

    pub(super) fn is_done(&self) -> bool {
        self.residual <= self.tolerance
    }
}

/// What a solve ended with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outcome {
    pub stage: Stage,
    pub status: Status,
    pub iterations: Iterations,
    /// Factorizations of all islands together.
    pub total: u32,
    pub residual: f64,
}

impl Outcome {
    /// Outcome without constraints.
    pub const EMPTY: Outcome = Outcome {
        stage: Stage::Empty,
        status: Status::Converged,
        iterations: Iterations { newton: 0, proximal: 0, restart: 0, other: 0 },
        total: 0,
        residual: 0.0,
    };

    /// Outcome of two islands: the worse status, and the effort of the harder one.
    pub fn and(self, other: Outcome) -> Outcome {
        let harder = if other.iterations.sum() >= self.iterations.sum() { other } else { self };
        Outcome {
            stage: harder.stage,
            status: self.status.max(other.status),
            iterations: harder.iterations,
            total: self.total + other.total,
            residual: self.residual.max(other.residual),
        }
    }
}
