//! Solvers of the nonlinear complementarity problem. They see a [`Problem`], nothing else, and do not change it.   (ncp-4)
//!
//! By default: Newton from the warm start, then proximal rounds from the best of its iterates, then once more from zero
//! impulses. All have one budget of factorizations, and are graded by a residual that no solver computes for itself.

mod active_mode;
mod admm;
mod interior_point;
mod law;
mod line_search;
mod linear;
mod local_response;
mod newton;
mod pgs;
mod proximal;
mod search;
#[cfg(test)]
mod tests;
mod tuning;
mod work;

pub(super) use proximal::Patience;
pub(crate) use proximal::SolveEnd;
pub(crate) use search::{Outcome, Search};
pub(super) use tuning::{INFEASIBLE_LOAD, INFEASIBLE_RESIDUAL, WEIGHT, WEIGHT_DOWN};
pub(crate) use work::Work;

use super::laws::cone::Cone;
use super::problem::residual::{residual_at, unit};
use super::problem::{Block, Problem};
use super::report::{Stage, Status};
use crate::model::Solver;
use tuning::{FIRST_RUN_FRACTION, OUT_OF_SCALE, RELAXATION_RESERVE, WARM_WEIGHT};

/// Solves from the impulses in `work.lambda` within the budget of `search`. The best iterate is then in `work.best`, its residual
/// in `search`.   (ncp-4)
pub(super) fn solve(problem: &Problem, solver: Solver, search: &mut Search, work: &mut Work) -> SolveEnd {
    if let Solver::Admm | Solver::Pgs = solver {
        return reference(problem, solver, search, work);
    }
    if is_out_of_scale(problem, &work.lambda) {
        work.lambda.fill(0.0);
    }
    // some of the budget is kept for relaxed constraints
    let reserve = (RELAXATION_RESERVE * f64::from(search.left)) as u32;
    search.left -= reserve;
    newton::newton(problem, work, search);
    let end = if search.is_done() { SolveEnd::Solved } else { fall_back(problem, solver, search, work) };
    search.left += reserve;
    end
}

/// Proximal rounds from the best iterate of Newton (unless a cold start is asked for), then from zero impulses.   (ncp-12)
fn fall_back(problem: &Problem, solver: Solver, search: &mut Search, work: &mut Work) -> SolveEnd {
    let first = if solver == Solver::Cold { 0 } else { (FIRST_RUN_FRACTION * f64::from(search.left)) as u32 };
    let mut end = SolveEnd::Spent;
    if first > 0 {
        end = proximal::run(problem, work, search, Stage::Proximal, WARM_WEIGHT, first, Patience::New);
    }
    if end != SolveEnd::Solved && search.left > 0 {
        work.lambda.fill(0.0);
        let (budget, patience) =
            (search.left, if end == SolveEnd::Infeasible { Patience::AfterInfeasible } else { Patience::New });
        end = proximal::run(problem, work, search, Stage::Restart, WEIGHT[1], budget, patience);
    }
    end
}

/// Newton and proximal rounds once more from `work.best`, for a problem whose compliance has changed.
pub(super) fn resume(problem: &Problem, search: &mut Search, work: &mut Work) -> SolveEnd {
    work.lambda.copy_from_slice(&work.best);
    search.residual = f64::INFINITY;
    newton::newton(problem, work, search);
    if search.is_done() {
        return SolveEnd::Solved;
    }
    let budget = search.left;
    proximal::run(problem, work, search, Stage::Proximal, WARM_WEIGHT, budget, Patience::New)
}

/// Proximal rounds from `work.best`, which end as soon as they do not fall below a known violation.   (ncp-14)
pub(super) fn improve(
    problem: &Problem,
    search: &mut Search,
    work: &mut Work,
    weight: f64,
    violation: f64,
) -> SolveEnd {
    work.lambda.copy_from_slice(&work.best);
    search.residual = f64::INFINITY;
    let (budget, patience) = (search.left, Patience::Known { violation });
    proximal::run(problem, work, search, Stage::Proximal, weight, budget, patience)
}

/// A reference method; what it ends with counts as its best iterate.
fn reference(problem: &Problem, solver: Solver, search: &mut Search, work: &mut Work) -> SolveEnd {
    (search.iterations.other, search.stage) = match solver {
        Solver::Pgs => (pgs::pgs(problem, work, search.tolerance, search.left).0, Stage::Pgs),
        _ => (admm::admm(problem, work, search.tolerance, search.left).0, Stage::Admm),
    };
    work.best.clone_from(&work.lambda);
    SolveEnd::Reference
}

/// Velocities and residual of the best iterate, from its impulses alone: they are then in `work`.
pub(super) fn certify(problem: &Problem, search: &Search, work: &mut Work, infeasible: bool) -> Outcome {
    work.lambda.copy_from_slice(&work.best);
    into_cones(problem, &mut work.lambda);
    // where Newton ended the search the velocities are up to date
    if !(search.stage == Stage::Newton && work.evaluated == work.lambda && !infeasible) {
        work.evaluate(problem);
    }
    let residual = target_residual(problem, work);
    let status = if infeasible { Status::Infeasible } else { Status::of_residual(residual, search.tolerance) };
    let total = search.iterations.sum();
    Outcome { stage: search.stage, status, iterations: search.iterations, total, residual }
}

/// Sets impulses to zero that pull by no more than the tolerance allows.
fn into_cones(problem: &Problem, lambda: &mut [f64]) {
    for b in &problem.blocks {
        let last = b.row + b.cone.rows() - 1;
        if lambda[last] < 0.0 && matches!(b.cone, Cone::Friction { .. } | Cone::Unilateral) {
            lambda[b.row..=last].fill(0.0);
        }
    }
}

/// The residual of the constraints as they were posed, without what relaxes them.
fn target_residual(problem: &Problem, work: &mut Work) -> f64 {
    if problem.blocks.iter().all(|b| b.relaxation == 0.0) {
        return residual_at(problem, &work.lambda, &work.sigma);
    }
    work.change.copy_from_slice(&work.sigma);
    for b in problem.blocks.iter().filter(|b| b.relaxation > 0.0) {
        let last = b.row + b.cone.rows() - 1;
        work.change[last] -= b.relaxation * work.lambda[last];
    }
    residual_at(problem, &work.lambda, &work.change)
}

/// The point of the central path with complementarity `kappa` (J); its impulses and velocities are in `work`. Returns iterations
/// and whether it got there.   (ncp-13)
pub(super) fn center(problem: &Problem, kappa: f64, budget: u32, work: &mut Work) -> (u32, bool) {
    let mut interior = core::mem::take(&mut work.interior);
    let end = interior.center(problem, work, kappa, budget);
    work.interior = interior;
    end
}

/// Whether impulses are far larger than those that velocities require.
fn is_out_of_scale(problem: &Problem, lambda: &[f64]) -> bool {
    let change = |b: &Block| b.mean * lambda[b.row + b.cone.rows() - 1].abs();
    problem.blocks.iter().map(change).fold(0.0, f64::max) > OUT_OF_SCALE * unit(problem)
}
