//! The answer to a problem: impulses, velocities, modes.

use super::cone::Cone;
use super::islands::Island;
use super::modes::{Mode, classify};
use super::ncp::{self, Outcome, Work};
use super::problem::Problem;
use super::report::SolveReport;
use crate::check;
use crate::error::InputError;
use crate::footprint::footprint;
use crate::model::{Options, Solver};

/// Below this change of velocity a constraint counts as undecided between two modes (m/s).
const UNDECIDED: f64 = 1e-7;

/// Impulses that solve a problem, and the memory of the search for them.
#[derive(Debug, Clone, Default)]
pub struct Solution {
    pub(crate) work: Work,
    /// Mode and margin of each constraint.
    pub(crate) modes: Vec<(Mode, f64)>,
    /// Impulses to start from (rows).
    pub(crate) start: Vec<f64>,
    /// How each constraint resists a change of its impulse, on the central path.
    resistances: Vec<[[f64; 3]; 3]>,
    aside: Vec<f64>,
    /// One of several islands, and the search for its impulses.
    part: Problem,
    part_work: Work,
}

footprint!(Solution: work, modes, start, resistances, aside, part, part_work);

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
    pub(crate) fn resistance(&self, k: usize) -> [[f64; 3]; 3] {
        self.resistances[k]
    }

    /// Room for a problem; impulses and those to start from are zero.
    pub(crate) fn reset(&mut self, problem: &Problem) {
        if problem.islands.len() != 1 {
            self.work.reset(problem);
        }
        self.start.clear();
        self.start.resize(problem.rows(), 0.0);
        self.resistances.clear();
    }

    /// Solves an island from the impulses of the start.
    pub(crate) fn solve_island(&mut self, problem: &mut Problem, n: usize, options: &Options) -> Outcome {
        self.on_island(problem, n, |part, work| {
            ncp::solve(part, options.solver, options.tolerance, options.max_iterations, work)
        })
    }

    /// The point of the central path of an island.   (ncp-13)
    pub(crate) fn centre_island(&mut self, problem: &mut Problem, n: usize, kappa: f64, limit: u32) -> Outcome {
        let mut resistances = core::mem::take(&mut self.resistances);
        let outcome = self.on_island(problem, n, |part, work| {
            let outcome = ncp::centre(part, kappa, limit, work);
            resistances.extend((0..part.blocks.len()).map(|k| work.resistance(part, k)));
            outcome
        });
        self.resistances = resistances;
        outcome
    }

    /// Calls `go` with an island as a problem of its own, which it is already if there is only one.
    fn on_island<R>(&mut self, problem: &mut Problem, n: usize, go: impl FnOnce(&mut Problem, &mut Work) -> R) -> R {
        if problem.islands.len() == 1 {
            self.work.reset(problem);
            self.work.lambda.copy_from_slice(&self.start);
            return go(problem, &mut self.work);
        }
        let (Solution { work, start, part, part_work, .. }, rows) = (self, problem.islands[n].rows.clone());
        problem.extract(n, part);
        part_work.reset(part);
        part_work.lambda.copy_from_slice(&start[rows.clone()]);
        let result = go(part, part_work);
        work.lambda[rows.clone()].copy_from_slice(&part_work.lambda);
        work.sigma[rows].copy_from_slice(&part_work.sigma);
        result
    }

    /// Keeps the impulses and velocities of an island while another problem is tried.
    pub(crate) fn keep_aside(&mut self, island: &Island) {
        self.aside.clear();
        self.aside.extend_from_slice(&self.work.lambda[island.rows.clone()]);
        self.aside.extend_from_slice(&self.work.sigma[island.rows.clone()]);
    }

    /// Goes back to them.
    pub(crate) fn take_back(&mut self, island: &Island) {
        let (lambda, sigma) = self.aside.split_at(island.rows.len());
        self.work.lambda[island.rows.clone()].copy_from_slice(lambda);
        self.work.sigma[island.rows.clone()].copy_from_slice(sigma);
    }

    /// How much there is room for.
    pub(crate) fn capacity(&self) -> usize {
        let lists = self.modes.capacity() + self.aside.capacity() + self.start.capacity() + self.resistances.capacity();
        self.work.capacity() + self.part_work.capacity() + self.part.capacity() + lists
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
