//! The contact problem of a step on the central path, for smoothed derivatives.   (ncp-13)

use super::assembly::Assembly;
use super::ncp::{self, INFEASIBLE_RESIDUAL, Outcome, Search};
use super::problem::Problem;
use super::problem::residual::residual_at;
use super::report::{Iterations, SolveReport, Stage, Status};
use super::rows::joints;
use super::solution::{self, Solution};
use super::{EndVelocity, Scene, relaxation};
use crate::dynamics::StepMass;
use crate::model::{Model, STANDARD_GRAVITY, Solver};

/// Resolves contact on the central path: everything near is active, since contacts act at a distance there.   (ncp-13)
pub(crate) fn resolve_centrally(
    scene: &Scene,
    kappa: f64,
    mass: &mut StepMass,
    assembly: &mut Assembly,
    solution: &mut Solution,
    end: &mut EndVelocity,
) -> SolveReport {
    assembly.collect(scene, joints::CENTRAL_RANGE, |_, _| true);
    assembly.assemble(scene, mass);
    solution.reset(&assembly.problem);
    let (kappa, budget) = (kappa * unit_of_complementarity(scene.model), scene.model.options().max_iterations);
    let problem = &mut assembly.problem;
    let outcomes = (0..problem.islands.len()).map(|n| center_island(problem, n, kappa, budget, solution));
    let outcome = outcomes.fold(Outcome::EMPTY, Outcome::and);
    end.write(scene, mass, assembly, solution);
    solution::report(&assembly.problem, outcome, solution)
}

/// The robot's weight over a step times the velocity that gravity gives in one: the same for all states, and held fixed
/// when masses are differentiated (J).
fn unit_of_complementarity(model: &Model) -> f64 {
    let speed = model.options().dt * STANDARD_GRAVITY;
    model.total_mass() * speed * speed
}

/// The point of the central path of an island with complementarity `kappa` (J). Infeasible targets have no central path: relaxed
/// ones do.
fn center_island(problem: &mut Problem, n: usize, kappa: f64, budget: u32, solution: &mut Solution) -> Outcome {
    let (part, work) = solution.open_island(problem, n);
    let (mut spent, mut centered) = ncp::center(part, kappa, budget, work);
    let mut status = Status::Converged;
    if !centered {
        let mut search = Search::new(part, INFEASIBLE_RESIDUAL, budget.saturating_sub(spent));
        work.lambda.fill(0.0);
        let end = ncp::solve(part, Solver::Cold, &mut search, work);
        if relaxation::relax_infeasible(part, &mut search, work, end) {
            status = Status::Infeasible;
        }
        let (more, now) = ncp::center(part, kappa, search.left, work);
        (spent, centered) = (spent + search.iterations.sum() + more, now);
    }
    let residual = residual_at(part, &work.lambda, &work.sigma);
    solution.store_local_compliances(problem, n);
    solution.close_island(problem, n);
    // for tiny kappa rounding stops it beside the path: acceptable there is what is acceptable as a solution
    let status = if centered { status } else { status.max(Status::of_residual(residual, 0.0)) };
    let iterations = Iterations { other: spent, ..Iterations::default() };
    Outcome { stage: Stage::InteriorPoint, status, iterations, total: spent, residual }
}
