//! The interior point until it shows how every block ends, and Newton on just those branches.   (ncp-15)
//!
//! Where many contacts share a load, some slip at 1e-9 m/s beside others that hold. Residuals then stay at that slip until
//! the last impulse is at the very edge of its cone: complementarity of 1e-18, which rounding does not allow. But long
//! before, each block shows which of its two sides goes to zero; one step of Newton on these branches does the rest.
#![allow(non_snake_case)]

use super::interior_point::InteriorPoint;
use super::linear::{Answer, is_frictionless};
use super::newton::{Branch, PROXIMAL, SHARE, go, on_the_edge};
use super::{Found, Work};
use crate::constraint::cone::{Cone, length};
use crate::constraint::problem::{Block, Problem, three};
use crate::constraint::report::Stage;
use crate::constraint::residual::residual_at;

/// Residual below which branches are looked at.
const NEAR: f64 = 1e-5;
/// Branches that did not lead to the solution are tried again when complementarity has fallen to this share.
const AGAIN: f64 = 0.03;
/// Iterations of Newton on them, and a growth of the residual that says that they are wrong.
const ITERATIONS: u32 = 3;
const WRONG: f64 = 1e3;
/// Short steps in a row after which the interior point is left: it would creep along a boundary.
const CREEPING: u32 = 4;

/// Follows the interior point from where it is.
pub(super) fn identify(
    problem: &Problem,
    tolerance: f64,
    limit: u32,
    interior: &mut InteriorPoint,
    work: &mut Work,
    found: &mut Found,
) {
    let mut tried = f64::INFINITY;
    interior.show(problem, work);
    for _ in 0..limit {
        let residual = interior.advance(problem, work);
        found.take(Stage::InteriorPoint, 1, residual, work);
        if residual <= tolerance || !residual.is_finite() || interior.short_steps() >= CREEPING {
            return;
        }
        if residual > NEAR {
            continue;
        }
        if !settled(problem, interior, residual, &mut work.branches) {
            tried = f64::INFINITY;
        } else if interior.complementarity(problem) < AGAIN * tried {
            tried = interior.complementarity(problem);
            let (n, residual) = newton_on_branches(problem, work, tolerance, limit.min(ITERATIONS));
            found.take(Stage::Polish, n, residual, work);
            if residual <= tolerance {
                return;
            }
            interior.show(problem, work);
        }
    }
}

/// Writes the branch on which each block seems to end. Returns whether all of them are as they were.
///
/// Of two numbers with product κ the one that is small in its own units goes to zero: impulses in units of a typical one,
/// velocities in units of what is left of the residual.
fn settled(problem: &Problem, interior: &InteriorPoint, residual: f64, branches: &mut [Branch]) -> bool {
    let rho = interior.typical_impulse(problem) / interior.scaled_residual(problem, residual);
    let mut same = true;
    for (k, b) in problem.blocks.iter().enumerate() {
        let (x, bound) = (&interior.states[k], interior.bound(problem, k));
        let branch = match b.cone {
            Cone::Friction { .. } if x.l[2] < rho * x.s[2] => Branch::Open,
            Cone::Friction { mu } => {
                let gap = mu * x.l[2] - length(x.l[0], x.l[1]);
                let gives_way = is_frictionless(b.cone) || gap < rho * length(x.s[0], x.s[1]);
                if gives_way { Branch::GivesWay } else { Branch::Held }
            }
            Cone::Unilateral if x.l[0] < rho * x.s[0] => Branch::Open,
            Cone::Box { .. } if bound - x.l[0] < rho * x.s[0] => Branch::GivesWay,
            Cone::Box { .. } if bound + x.l[0] < rho * x.s[1] => Branch::Open,
            _ => Branch::Held,
        };
        same &= branch == branches[k];
        branches[k] = branch;
    }
    same
}

/// Newton on the branches in `work`, whatever impulses and velocities say. `work.lambda` is then the best iterate,
/// `work.sigma` its velocity. Returns iterations and the residual.
fn newton_on_branches(problem: &Problem, work: &mut Work, tolerance: f64, limit: u32) -> (u32, f64) {
    let mut residual = residual_at(problem, &work.lambda, &work.sigma);
    let (mut best, mut iterations) = (residual, 0);
    work.keep();
    while residual > tolerance && iterations < limit {
        let proximal = (SHARE * residual).clamp(PROXIMAL[0], PROXIMAL[1]);
        for (k, b) in problem.blocks.iter().enumerate() {
            work.linear.answers[k] =
                answer(b, work.branches[k], proximal, three(&work.lambda, b), three(&work.sigma, b));
        }
        work.linear.factor(problem);
        work.linear.solve(problem, &mut work.change);
        work.previous.copy_from_slice(&work.lambda);
        let before = residual;
        residual = go(problem, work, 1.0);
        iterations += 1;
        if residual < best {
            best = residual;
            work.keep();
        } else if residual.is_nan() || residual > WRONG * before {
            break;
        }
    }
    if residual != best {
        work.restore();
        work.evaluate(problem);
    }
    (iterations, best)
}

/// The answer of a block on a given branch.   (ncp-6)
fn answer(b: &Block, branch: Branch, proximal: f64, lambda: [f64; 3], sigma: [f64; 3]) -> Answer {
    let hold = 1.0 / (proximal * b.mean);
    let answer = match (b.cone, branch) {
        (Cone::Friction { .. }, Branch::Open) => Answer::fixed(lambda.map(|x| -x)),
        (Cone::Friction { .. }, Branch::Held) => {
            let E = [[hold, 0.0, 0.0], [0.0, hold, 0.0], [0.0, 0.0, hold]];
            Answer::new(E, sigma.map(|x| -hold * x))
        }
        (Cone::Friction { .. }, Branch::GivesWay) if is_frictionless(b.cone) => {
            Answer::new([[0.0; 3], [0.0; 3], [0.0, 0.0, hold]], [-lambda[0], -lambda[1], -hold * sigma[2]])
        }
        (Cone::Friction { mu }, Branch::GivesWay) => slides(b, mu, hold, lambda, sigma),
        (Cone::Box { bound }, Branch::GivesWay) => Answer::scalar(0.0, bound - lambda[0]),
        (Cone::Box { bound }, Branch::Open) => Answer::scalar(0.0, -bound - lambda[0]),
        (_, Branch::Open) => Answer::scalar(0.0, -lambda[0]),
        _ => Answer::scalar(hold, -hold * sigma[0]),
    };
    answer.without_compliance(b)
}

/// Friction turns with the slip it opposes: `λ_⊥ = −μ λ_N σ_⊥/‖σ_T‖`, however short the slip is.
fn slides(b: &Block, mu: f64, hold: f64, lambda: [f64; 3], sigma: [f64; 3]) -> Answer {
    let a = [lambda[0] - sigma[0] / b.stiffest, lambda[1] - sigma[1] / b.stiffest];
    let t = length(a[0], a[1]).max(f64::MIN_POSITIVE);
    let u = [a[0] / t, a[1] / t];
    let along = -(u[0] * sigma[0] + u[1] * sigma[1]);
    let turn = if along > 0.0 { (mu * lambda[2].abs() / along).min(hold) } else { hold };
    on_the_edge(mu, u, turn, hold, lambda, sigma)
}
