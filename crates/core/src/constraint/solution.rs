//! The answer to a problem: impulses, velocities, modes.

use super::cone::Cone;
use super::modes::{Mode, classify};
use super::ncp::{self, Outcome, Work};
use super::problem::Problem;
use super::report::SolveReport;
use crate::check;
use crate::error::InputError;
use crate::footprint::footprint;
use crate::model::Solver;

/// Below this change of velocity a constraint counts as undecided between two modes (m/s).
const UNDECIDED: f64 = 1e-7;

/// Impulses that solve a problem, and the memory of the search for them.
#[derive(Debug, Clone, Default)]
pub struct Solution {
    pub(crate) work: Work,
    /// Mode and margin of each constraint.
    pub(crate) modes: Vec<(Mode, f64)>,
    aside: Vec<f64>,
}

footprint!(Solution: work, modes, aside);

impl Solution {
    /// Impulses (rows).
    pub fn lambda(&self) -> &[f64] {
        &self.work.lambda
    }

    /// Velocities of the constraints, with correction and compliance (rows).
    pub fn sigma(&self) -> &[f64] {
        &self.work.sigma
    }

    /// Mode of each constraint and its margin (m/s).
    pub fn modes(&self) -> &[(Mode, f64)] {
        &self.modes
    }

    /// How constraint `k` of a problem solved on the central path resists a change of its impulse.
    pub(crate) fn resistance(&self, problem: &Problem, k: usize) -> [[f64; 3]; 3] {
        self.work.resistance(problem, k)
    }

    /// Keeps the impulses while another problem is tried.
    pub(crate) fn keep_aside(&mut self) {
        self.aside.clear();
        self.aside.extend_from_slice(&self.work.lambda);
    }

    /// Goes back to them.
    pub(crate) fn take_back(&mut self, problem: &Problem) {
        self.work.lambda.copy_from_slice(&self.aside);
        self.work.evaluate(problem);
    }

    /// How much there is room for.
    pub(crate) fn capacity(&self) -> usize {
        self.work.capacity() + self.modes.capacity() + self.aside.capacity()
    }
}

/// Solves a problem. `warm` are impulses to start from (rows), or nothing.
pub fn solve(
    problem: &Problem,
    solver: Solver,
    tolerance: f64,
    max_iterations: u32,
    warm: Option<&[f64]>,
    solution: &mut Solution,
) -> Result<SolveReport, InputError> {
    if !(tolerance.is_finite() && tolerance > 0.0) {
        let what = "tolerance".to_string();
        return Err(InputError::Value { what, expected: "a positive residual", got: tolerance });
    }
    solution.work.reset(problem);
    if let Some(warm) = warm {
        check::vector("warm", warm, problem.rows())?;
        solution.work.lambda.copy_from_slice(warm);
    }
    let mut problem = problem.clone();
    let outcome = ncp::solve(&mut problem, solver, tolerance, max_iterations, &mut solution.work);
    Ok(report(&problem, outcome, solution))
}

/// Modes and report of a finished solve.
pub(crate) fn report(problem: &Problem, outcome: Outcome, solution: &mut Solution) -> SolveReport {
    classify(problem, &solution.work.lambda, &solution.work.sigma, &mut solution.modes);
    let shift = |b: &super::problem::Block| {
        let normal = b.row + b.cone.rows() - 1;
        (b.compliance * solution.work.lambda[normal]).abs()
    };
    // what single points of a patch do while it holds does not move the bodies
    let decisive = || {
        let blocks = problem.blocks.iter().zip(&solution.modes);
        blocks.filter(|(b, (mode, _))| !b.is_redundant() || *mode == Mode::Slide).map(|(_, (_, margin))| *margin)
    };
    SolveReport {
        status: outcome.status,
        stage: outcome.stage,
        iterations: outcome.iterations,
        residual: outcome.residual,
        compliance_shift: problem.blocks.iter().map(shift).fold(0.0, f64::max),
        contacts: problem.blocks.iter().filter(|b| matches!(b.cone, Cone::Friction { .. })).count(),
        rows: problem.rows(),
        degenerate: decisive().filter(|margin| *margin < UNDECIDED).count(),
        margin: decisive().fold(f64::INFINITY, f64::min),
        growths: 0,
    }
}
