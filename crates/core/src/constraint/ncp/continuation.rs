//! Paths to solutions that no single attempt finds: from no friction to all of it; by compliance that is lent.
//! (ncp-12)

use super::Work;
use super::newton::newton;
use crate::constraint::cone::Cone;
use crate::constraint::problem::Problem;
use crate::constraint::residual::residual_at;

/// First and smallest step of the share of friction.
const FIRST: f64 = 0.125;
const SMALLEST: f64 = 1e-4;
/// Residual to which the problem without friction is solved before Newton takes it, and iterations for that.
const HANDOVER: f64 = 1e-7;
const INTERIOR: u32 = 60;
/// Iterations of Newton per step.
const LIMIT: u32 = 15;

/// Solves with a growing share of friction, each time from the last solution. Returns iterations and the residual;
/// `work.lambda` is the answer.
pub(crate) fn continuation(problem: &mut Problem, work: &mut Work, tolerance: f64, limit: u32) -> (u32, f64) {
    work.frictions.clear();
    work.frictions.extend(problem.blocks.iter().map(|b| match b.cone {
        Cone::Friction { mu } => mu,
        _ => 0.0,
    }));
    let (mut share, mut step, mut iterations) = (0.0, FIRST, 0);
    work.lambda.fill(0.0);
    set_share(problem, &work.frictions, 0.0);
    let (n, smooth) = newton(problem, work, tolerance, LIMIT.min(limit));
    iterations += n;
    if smooth > tolerance {
        let mut interior = std::mem::take(&mut work.interior);
        interior.begin(problem, 1.0, 0.0);
        iterations += interior.run(problem, work, HANDOVER, INTERIOR.min(limit)).0;
        iterations += newton(problem, work, tolerance, LIMIT.min(limit)).0;
        work.interior = interior;
    }
    while share < 1.0 && step > SMALLEST && iterations < limit {
        let next = f64::min(share + step, 1.0);
        set_share(problem, &work.frictions, next);
        work.answer.copy_from_slice(&work.lambda);
        let (n, residual) = newton(problem, work, tolerance, LIMIT.min(limit));
        iterations += n;
        if residual <= tolerance {
            (share, step) = (next, 1.5 * step);
        } else {
            step *= 0.5;
            work.lambda.copy_from_slice(&work.answer);
        }
    }
    set_share(problem, &work.frictions, 1.0);
    work.evaluate(problem);
    (iterations, residual_at(problem, &work.lambda, &work.sigma))
}

/// Compliance that is lent to pushing constraints at first, as a share of their own inverse inertia; by how much it falls
/// after a round that was solved, and grows after one that was not.
const LENT: f64 = 1e-4;
const LESS: f64 = 0.7;
const MORE: f64 = 2.0;
const ROUNDS: usize = 100;

/// A residual that has not changed by this share in so many rounds never will, if it is larger than what redundant
/// supports may leave.
const CHANGE: f64 = 1e-2;
const PATIENCE: usize = 15;
const LARGE: f64 = 1e-6;

/// What the rounds of lending say about a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outlook {
    /// Nothing: it is solved, or may be by other means.
    Open,
    /// Its demands contradict each other: impulses grow by the same step in each round, and nothing comes of it.
    Contradiction,
}

/// Lends compliance to all that pushes and takes its effect back in the next round: `σ + R (λ − λ_last)` instead of σ.
/// Within a round redundant supports share their load in one way, so that Newton finds it; from round to round the load
/// moves to those who can keep it. Returns iterations, the residual and an outlook; `work.lambda` is the answer.   (ncp-12)
pub(crate) fn lending(problem: &mut Problem, work: &mut Work, tolerance: f64, limit: u32) -> (u32, f64, Outlook) {
    work.compliances.clear();
    work.compliances.extend(problem.blocks.iter().map(|b| b.compliance));
    work.velocities.clear();
    work.velocities.extend_from_slice(&problem.g);
    let (mut iterations, mut residual, mut share) = (0, f64::INFINITY, LENT);
    let mut past = [f64::INFINITY; PATIENCE];
    for round in 0..ROUNDS {
        lend(problem, work, share);
        work.answer.copy_from_slice(&work.lambda);
        let (n, inner) = newton(problem, work, tolerance, LIMIT.min(limit));
        iterations += n;
        for (b, compliance) in problem.blocks.iter_mut().zip(&work.compliances) {
            b.compliance = *compliance;
        }
        problem.g.copy_from_slice(&work.velocities);
        if inner <= tolerance {
            share *= LESS;
        } else {
            share *= MORE;
            work.lambda.copy_from_slice(&work.answer);
        }
        work.evaluate(problem);
        residual = residual_at(problem, &work.lambda, &work.sigma);
        if residual <= tolerance || share > 1.0 || iterations >= limit {
            break;
        }
        let then = std::mem::replace(&mut past[round % PATIENCE], residual);
        if residual > LARGE && (then - residual).abs() < CHANGE * residual {
            return (iterations, residual, Outlook::Contradiction);
        }
    }
    (iterations, residual, Outlook::Open)
}

fn lend(problem: &mut Problem, work: &Work, share: f64) {
    for b in &mut problem.blocks {
        if matches!(b.cone, Cone::Friction { .. } | Cone::Unilateral) {
            let (lent, normal) = (share * b.mean, b.row + b.cone.rows() - 1);
            b.compliance += lent;
            problem.g[normal] -= lent * work.lambda[normal];
        }
    }
}

fn set_share(problem: &mut Problem, frictions: &[f64], share: f64) {
    for (b, friction) in problem.blocks.iter_mut().zip(frictions) {
        if let Cone::Friction { mu } = &mut b.cone {
            *mu = share * friction;
        }
    }
}
