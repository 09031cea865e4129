//! Demands that contradict each other get the least violation: those that take part in the contradiction yield.   (ncp-14)
//!
//! Where there is no solution, impulses of proximal rounds grow by the same self-stress d from round to round: G d = 0, and
//! the demands would have it do work. Compliance on the rows of d alone gives the problem a solution again, an exact one of
//! a slightly compliant problem; all others keep their demands.

use super::tuning::{SQUEEZED, WEIGHT};
use crate::constraint::laws::cone::Cone;
use crate::constraint::problem::residual::fastest;
use crate::constraint::problem::{Block, Problem};

/// Share of the largest change of velocity in a self-stress above which a constraint takes part in it.
const TAKES_PART: f64 = 1e-2;
/// The compliance of the step before is kept until the one that fits differs by more than this factor: it is a constant of
/// the step's derivative.
const STEADY: f64 = 4.0;

/// Whether a constraint makes a demand on its last row: what may be pushed to its bound makes none.
fn demands(b: &Block) -> bool {
    !matches!(b.cone, Cone::Box { .. })
}

fn last_row(b: &Block) -> usize {
    b.row + b.cone.rows() - 1
}

/// How far constraints that yield do so (m/s).
pub(super) fn lack(problem: &Problem, lambda: &[f64]) -> f64 {
    problem.blocks.iter().map(|b| b.yields * lambda[last_row(b)].abs()).fold(0.0, f64::max)
}

/// The weight with which a violation of `lack` leads to loads that change velocities by no more than the problem's own.
fn weight(problem: &Problem, lack: f64) -> f64 {
    (lack / fastest(problem)).clamp(WEIGHT[0], WEIGHT[1])
}

/// Violation of demands that are met by squeezing only (m/s): loads a hundred times those that would stop the whole island,
/// borne by nothing but the compliance that shares loads. Zero where there are none.
pub(super) fn squeeze(problem: &Problem, lambda: &[f64]) -> f64 {
    let of = |b: &Block| b.relative_compliance / problem.whole().mass * lambda[last_row(b)].abs();
    let (share, shift) = problem.blocks.iter().fold((0.0f64, 0.0f64), |m, b| {
        (m.0.max(b.relative_compliance), if b.is_redundant() { m.1.max(of(b)) } else { m.1 })
    });
    if shift > SQUEEZED * share * fastest(problem) { shift } else { 0.0 }
}

/// Lets those that take part in a self-stress yield, so that demands which it violates by `lack` are a compromise; all of
/// them if `all`.
pub(super) fn regularize(problem: &mut Problem, stress: &[f64], lack: f64, all: bool) {
    let stress = |b: &Block| b.mean * stress[last_row(b)].abs();
    let largest = problem.blocks.iter().filter(|b| demands(b)).map(stress).fold(0.0, f64::max);
    let weight = weight(problem, lack);
    for b in problem.blocks.iter_mut().filter(|b| demands(b)) {
        if all || stress(b) > TAKES_PART * largest {
            let more = steady(weight * b.mean);
            b.yield_by(b.yields.max(more));
        }
    }
}

/// What the next step should begin with: compliance that fits the violation there is, on those that yield.
pub(super) fn remember(problem: &mut Problem, lambda: &[f64]) {
    let lack = lack(problem, lambda);
    let weight = weight(problem, lack);
    for b in &mut problem.blocks {
        let takes_part = b.yields * lambda[last_row(b)].abs() > TAKES_PART * lack;
        let fits = weight * b.mean;
        let near = fits < STEADY * b.yields && b.yields < STEADY * fits;
        b.remembered = match (takes_part, near) {
            (false, _) => 0.0,
            (true, true) => b.yields,
            (true, false) => steady(fits),
        };
    }
}

/// The nearest power of two: the same for states that are near each other.
fn steady(x: f64) -> f64 {
    x.log2().round().exp2()
}
