//! From no friction to all of it: a path to solutions that no single attempt finds, for very rough contacts.   (ncp-12)

use super::Work;
use super::newton::newton;
use crate::constraint::cone::Cone;
use crate::constraint::problem::Problem;
use crate::constraint::residual::residual_at;

/// First and smallest step of the share of friction.
const FIRST: f64 = 0.125;
const SMALLEST: f64 = 1e-3;
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
    iterations += newton(problem, work, tolerance, LIMIT).0;
    while share < 1.0 && step > SMALLEST && iterations < limit {
        let next = f64::min(share + step, 1.0);
        set_share(problem, &work.frictions, next);
        work.answer.copy_from_slice(&work.lambda);
        let (n, residual) = newton(problem, work, tolerance, LIMIT);
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

fn set_share(problem: &mut Problem, frictions: &[f64], share: f64) {
    for (b, friction) in problem.blocks.iter_mut().zip(frictions) {
        if let Cone::Friction { mu } = &mut b.cone {
            *mu = share * friction;
        }
    }
}
