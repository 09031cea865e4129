//! Infeasible targets: the constraints involved are relaxed, which gives the least violation.   (ncp-14)
//!
//! Where there is no solution, impulses of proximal rounds grow by the same self-stress d from round to round: G d = 0, and
//! the targets would have it do work. Compliance on the rows of d alone gives the problem a solution again, an exact one of
//! a slightly compliant problem; all others keep their targets. Solvers see the problem as it is: it is relaxed here.

use super::laws::cone::Cone;
use super::ncp::{self, INFEASIBLE_LOAD, Search, SolveEnd, WEIGHT, WEIGHT_DOWN, Work};
use super::problem::residual::fastest;
use super::problem::{Block, Problem};

/// Fraction of the largest change of velocity in a self-stress above which a constraint is involved in it.
const INVOLVED: f64 = 1e-2;
/// The relaxation of the step before is kept until the one that fits differs by more than this factor: it is a constant of
/// the step's derivative.
const KEEP_WITHIN: f64 = 4.0;

/// Follows a solve that ended with `end`. Relaxes constraints of an infeasible problem and solves it again. Tries whether
/// those that were relaxed in the step before still have to be. Returns whether the problem is infeasible.   (ncp-14)
pub(super) fn relax_infeasible(problem: &mut Problem, search: &mut Search, work: &mut Work, end: SolveEnd) -> bool {
    if end == SolveEnd::Reference {
        return false;
    }
    let relaxed = problem.blocks.iter().any(|b| b.relaxation > 0.0);
    let infeasible = match violation_of_infeasible(problem, work, end) {
        Some(violation) => {
            relax_and_solve(problem, search, work, violation);
            true
        }
        None => relaxed && !is_feasible_again(problem, search, work),
    };
    if infeasible {
        set_next_relaxation(problem, &work.best);
    }
    infeasible
}

/// The violation of infeasible targets (m/s), `None` if they are feasible; the self-stress is then in `work.saved`.
fn violation_of_infeasible(problem: &Problem, work: &mut Work, end: SolveEnd) -> Option<f64> {
    work.saved.clear();
    if end == SolveEnd::Infeasible {
        return Some(work.take_least_violation());
    }
    let violation = wedged_violation(problem, &work.best);
    work.saved.extend_from_slice(&work.best);
    (violation > 0.0).then_some(violation)
}

/// Relaxes the constraints involved in a violation and solves the relaxed problem, from the best iterate. Where that is not
/// enough, all targets are relaxed.
fn relax_and_solve(problem: &mut Problem, search: &mut Search, work: &mut Work, mut violation: f64) {
    for all in [false, true] {
        if search.left == 0 {
            return;
        }
        relax(problem, &work.saved, violation, all);
        let end = ncp::resume(problem, search, work);
        match violation_of_infeasible(problem, work, end) {
            Some(more) => violation = more,
            None => return,
        }
    }
}

/// Whether the targets that were relaxed in the step before, and in the solution at hand, can be met after all: a proximal
/// round without relaxation leaves less of the violation then. If so the problem is solved without relaxation.
fn is_feasible_again(problem: &mut Problem, search: &mut Search, work: &mut Work) -> bool {
    let violation = largest_violation(problem, &work.best);
    let weights = problem.blocks.iter().filter(|b| b.relaxation > 0.0).map(|b| b.relaxation / b.mean);
    let weight = (WEIGHT_DOWN * weights.fold(WEIGHT[1], f64::min)).max(WEIGHT[0]);
    work.saved.clear();
    work.saved.extend_from_slice(&work.best);
    let before = *search;
    problem.blocks.iter_mut().for_each(|b| b.compliance = b.own_compliance);
    let end = ncp::improve(problem, search, work, weight, violation);
    if end == SolveEnd::Solved && wedged_violation(problem, &work.best) == 0.0 {
        problem.blocks.iter_mut().for_each(|b| b.relaxation = 0.0);
        return true;
    }
    problem.blocks.iter_mut().for_each(|b| b.relax(b.relaxation));
    work.best.copy_from_slice(&work.saved);
    (search.residual, search.stage) = (before.residual, before.stage);
    false
}

/// Whether a constraint has a target on its last row: dry friction, which may be pushed to its bound, has none.
fn has_target(b: &Block) -> bool {
    !matches!(b.cone, Cone::Box { .. })
}

fn last_row(b: &Block) -> usize {
    b.row + b.cone.rows() - 1
}

/// The largest violation of relaxed constraints (m/s).
fn largest_violation(problem: &Problem, lambda: &[f64]) -> f64 {
    problem.blocks.iter().map(|b| b.relaxation * lambda[last_row(b)].abs()).fold(0.0, f64::max)
}

/// The weight with which a violation leads to loads that change velocities by no more than the problem's own.
fn weight(problem: &Problem, violation: f64) -> f64 {
    (violation / fastest(problem)).clamp(WEIGHT[0], WEIGHT[1])
}

/// Violation of targets that only wedged bodies meet (m/s): loads a hundred times those that would stop the whole island,
/// carried by the compliance of redundant contacts alone. Zero where there are none.
fn wedged_violation(problem: &Problem, lambda: &[f64]) -> f64 {
    let of = |b: &Block| b.relative_compliance / problem.only_island().mass * lambda[last_row(b)].abs();
    let (relative, shift) = problem.blocks.iter().fold((0.0f64, 0.0f64), |m, b| {
        (m.0.max(b.relative_compliance), if b.is_redundant() { m.1.max(of(b)) } else { m.1 })
    });
    if shift > INFEASIBLE_LOAD * relative * fastest(problem) { shift } else { 0.0 }
}

/// Relaxes the constraints involved in a self-stress, by as much as fits a violation; those of all targets if `all`.
fn relax(problem: &mut Problem, stress: &[f64], violation: f64, all: bool) {
    let stress = |b: &Block| b.mean * stress[last_row(b)].abs();
    let largest = problem.blocks.iter().filter(|b| has_target(b)).map(stress).fold(0.0, f64::max);
    let weight = weight(problem, violation);
    for b in problem.blocks.iter_mut().filter(|b| has_target(b)) {
        if all || stress(b) > INVOLVED * largest {
            let more = nearest_power_of_two(weight * b.mean);
            b.relax(b.relaxation.max(more));
        }
    }
}

/// The relaxation with which the next step should begin: what fits the present violation, on the constraints that have it.
fn set_next_relaxation(problem: &mut Problem, lambda: &[f64]) {
    let violation = largest_violation(problem, lambda);
    let weight = weight(problem, violation);
    for b in &mut problem.blocks {
        let is_involved = b.relaxation * lambda[last_row(b)].abs() > INVOLVED * violation;
        let fits = weight * b.mean;
        let near = fits < KEEP_WITHIN * b.relaxation && b.relaxation < KEEP_WITHIN * fits;
        b.next_relaxation = match (is_involved, near) {
            (false, _) => 0.0,
            (true, true) => b.relaxation,
            (true, false) => nearest_power_of_two(fits),
        };
    }
}

/// The nearest power of two: equal for states that are near each other.
fn nearest_power_of_two(x: f64) -> f64 {
    x.log2().round().exp2()
}
