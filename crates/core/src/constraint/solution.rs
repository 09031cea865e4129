//! The solution of a problem: impulses, velocities, modes.

use super::laws::cone::Cone;
use super::modes::{Mode, classify, undecided};
use super::ncp::{Outcome, Work};
use super::problem::Problem;
use super::problem::islands::Island;
use super::problem::residual::residual_at;
use super::report::SolveReport;
use super::solve_island;
use crate::error::InputError;
use crate::footprint::{Growths, footprint};
use crate::input_check;
use crate::model::{Options, Solver};
use core::ops::Range;

/// Impulses that solve a problem, and the memory of the search for them.
#[derive(Debug, Clone, Default)]
pub struct Solution {
    /// Impulses (rows) and their velocities.
    lambda: Vec<f64>,
    sigma: Vec<f64>,
    /// Mode and margin of each constraint.
    pub(crate) modes: Vec<(Mode, f64)>,
    /// Local compliance of each constraint, on the central path.
    local_compliances: Vec<[[f64; 3]; 3]>,
    /// `M̂⁻¹ Jᵀ λ` (nv) where the search for the impulses has computed it; else empty.
    pub(crate) velocity_change: Vec<f64>,
    /// Scratch memory of a search.
    pub(crate) scratch: Box<SolverScratch>,
}

footprint!(Solution: lambda, sigma, modes, local_compliances, velocity_change, scratch);

/// Memory that a search for impulses needs; it holds nothing between searches.
#[derive(Debug, Clone, Default)]
pub(crate) struct SolverScratch {
    work: Work,
    /// One of several islands.
    part: Problem,
    /// Impulses to start from (rows).
    pub start: Vec<f64>,
    pub growths: Growths,
}

footprint!(SolverScratch: work, part, start);

impl Solution {
    /// Impulses (rows).
    pub fn lambda(&self) -> &[f64] {
        &self.lambda
    }

    /// Velocities of the constraints, with correction and compliance (rows).
    pub fn sigma(&self) -> &[f64] {
        &self.sigma
    }

    /// Mode of each constraint and its margin (m/s).
    pub fn modes(&self) -> &[(Mode, f64)] {
        &self.modes
    }

    /// Local compliance of constraint `k` of a problem solved on the central path.
    pub(crate) fn local_compliance(&self, k: usize) -> [[f64; 3]; 3] {
        self.local_compliances[k]
    }

    /// Room for a problem; impulses and those to start from are zero.
    pub(crate) fn reset(&mut self, problem: &Problem) {
        for x in [&mut self.lambda, &mut self.sigma, &mut self.scratch.start] {
            x.clear();
            x.resize(problem.rows(), 0.0);
        }
        self.local_compliances.clear();
        self.velocity_change.clear();
    }

    /// Room for a problem; the search starts from the given impulses.
    pub(crate) fn begin_at(&mut self, problem: &Problem, lambda: &[f64]) {
        self.reset(problem);
        self.scratch.start.copy_from_slice(lambda);
    }

    /// Modes of the present impulses.
    pub(crate) fn classify(&mut self, problem: &Problem) {
        classify(problem, &self.lambda, &self.sigma, &mut self.modes);
    }

    /// An island as a problem of its own, which it is already if there is only one, and memory with the impulses that its search
    /// starts from.
    pub(crate) fn open_island<'a>(&'a mut self, problem: &'a mut Problem, n: usize) -> (&'a mut Problem, &'a mut Work) {
        let SolverScratch { work, part, start, .. } = &mut *self.scratch;
        let rows = problem.islands[n].rows.clone();
        let several = problem.islands.len() > 1;
        if several {
            problem.extract(n, part);
        }
        let part = if several { part } else { problem };
        work.reset(part);
        work.lambda.copy_from_slice(&start[rows]);
        (part, work)
    }

    /// Takes impulses, velocities and relaxation of an island from the search that has ended.
    pub(crate) fn close_island(&mut self, problem: &mut Problem, n: usize) {
        let SolverScratch { work, part, .. } = &mut *self.scratch;
        let Island { rows, blocks, .. } = problem.islands[n].clone();
        let several = problem.islands.len() > 1;
        if several {
            for (b, of) in problem.blocks[blocks].iter_mut().zip(&part.blocks) {
                (b.compliance, b.relaxation, b.next_relaxation) = (of.compliance, of.relaxation, of.next_relaxation);
            }
        }
        self.velocity_change.clear();
        if !several {
            self.velocity_change.extend_from_slice(work.velocity_of_dofs(problem));
        }
        self.lambda[rows.clone()].copy_from_slice(&work.lambda);
        self.sigma[rows].copy_from_slice(&work.sigma);
    }

    /// Stores the local compliances of an island that was solved on the central path.
    pub(crate) fn store_local_compliances(&mut self, problem: &Problem, n: usize) {
        let SolverScratch { work, part, .. } = &*self.scratch;
        let part = if problem.islands.len() > 1 { part } else { problem };
        self.local_compliances.extend((0..problem.islands[n].blocks.len()).map(|k| work.local_compliance(part, k)));
    }

    /// The next search starts some rows from their present impulses.
    pub(crate) fn restart_rows(&mut self, rows: Range<usize>) {
        self.scratch.start[rows.clone()].copy_from_slice(&self.lambda[rows]);
    }

    /// Scales the impulses of an island. Returns the residual of the whole problem.
    pub(crate) fn scale_impulses(&mut self, problem: &Problem, n: usize, fraction: f64) -> f64 {
        self.velocity_change.clear();
        for i in problem.islands[n].rows.clone() {
            self.lambda[i] *= fraction;
            self.sigma[i] = problem.g[i] + fraction * (self.sigma[i] - problem.g[i]);
        }
        residual_at(problem, &self.lambda, &self.sigma)
    }
}

/// Solves a problem with at most `max_iterations` factorizations per island. `warm` are impulses to start from (rows), or
/// nothing.
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
    solution.reset(problem);
    if let Some(warm) = warm {
        input_check::vector("warm", warm, problem.rows())?;
        solution.scratch.start.copy_from_slice(warm);
    }
    let options = Options { solver, tolerance, ..Options::default() };
    let mut relaxed = problem.clone(); // its constraints, where they are infeasible
    let islands = 0..problem.islands.len();
    let solve = |n| solve_island(&mut relaxed, n, &options, max_iterations, solution);
    let outcome = islands.map(solve).fold(Outcome::EMPTY, Outcome::and);
    let report = report(&relaxed, outcome, solution);
    // velocities of the problem as it was posed
    let (mut w, mut xi) = (vec![0.0; problem.width()], vec![0.0; problem.width()]);
    problem.velocity(&solution.lambda, &mut solution.sigma, &mut w, &mut xi);
    Ok(report)
}

/// Modes and report of a finished solve.
pub(crate) fn report(problem: &Problem, outcome: Outcome, solution: &mut Solution) -> SolveReport {
    classify(problem, &solution.lambda, &solution.sigma, &mut solution.modes);
    let shift = |b: &super::problem::Block| {
        let normal = b.row + b.cone.rows() - 1;
        (b.compliance * solution.lambda[normal]).abs()
    };
    // the load distribution of a patch that sticks does not move the bodies
    let decisive = problem.blocks.iter().zip(&solution.modes);
    let decisive = decisive.filter(|(b, (mode, _))| !b.is_redundant() || *mode == Mode::Slide);
    let (degenerate, margin) = undecided(decisive.map(|(_, (_, margin))| *margin));
    SolveReport {
        status: outcome.status,
        stage: outcome.stage,
        iterations: outcome.iterations.sum(),
        stages: outcome.iterations,
        total_iterations: outcome.total,
        residual: outcome.residual,
        compliance_shift: problem.blocks.iter().map(shift).fold(0.0, f64::max),
        contacts: problem.blocks.iter().filter(|b| matches!(b.cone, Cone::Friction { .. })).count(),
        rows: problem.rows(),
        degenerate,
        margin,
        correction: 1.0,
        growths: 0,
    }
}
