//! How far an impulse is from solving the problem: the one verdict on all solvers.   (ncp-3)
//!
//! Nothing here is shared with a solver. A residual of zero means the unrelaxed problem (with its documented
//! compliance) is solved exactly.

use super::cone::{Cone, length, project_cone};
use super::problem::{Block, Problem, three};
use crate::check;
use crate::error::InputError;
use crate::spatial::Vec3;

/// The scaled residual of impulses `lambda`: the largest violation in units of velocity over the blocks,
/// `‖λ − Π(λ − ρ (σ + Γ(σ)))‖∞ / ρ` with `1/ρ` the largest eigenvalue of the block of the Delassus matrix, divided by
/// `max(1 m/s, ‖g‖∞)`.   (ncp-3)
pub fn residual(problem: &Problem, lambda: &[f64]) -> Result<f64, InputError> {
    check::length("lambda", lambda.len(), problem.rows())?;
    let (mut sigma, mut w, mut xi) = (vec![0.0; problem.rows()], vec![0.0; problem.stride], vec![0.0; problem.stride]);
    problem.velocity(lambda, &mut sigma, &mut w, &mut xi);
    Ok(residual_at(problem, lambda, &sigma))
}

/// The same where the velocity is known.
pub(crate) fn residual_at(problem: &Problem, lambda: &[f64], sigma: &[f64]) -> f64 {
    let largest = problem.blocks.iter().fold(0.0, |m: f64, b| {
        let x = violation(b, three(lambda, b), three(sigma, b)) * b.stiffest;
        if x > m || x.is_nan() { x } else { m }
    });
    largest / unit(problem)
}

/// Velocity that counts as one.
pub(crate) fn unit(problem: &Problem) -> f64 {
    problem.g.iter().fold(1.0, |m: f64, g| m.max(g.abs()))
}

/// By how much an impulse differs from the answer of its cone to its velocity.
fn violation(b: &Block, lambda: [f64; 3], sigma: [f64; 3]) -> f64 {
    let rho = 1.0 / b.stiffest;
    match b.cone {
        Cone::Friction { mu } => {
            let lambda = Vec3::from(lambda);
            let gamma = mu * length(sigma[0], sigma[1]);
            let corrected = Vec3 { x: sigma[0], y: sigma[1], z: sigma[2] + gamma };
            let d = lambda - project_cone(lambda - corrected * rho, mu);
            d.x.abs().max(d.y.abs()).max(d.z.abs())
        }
        cone => (lambda[0] - cone.project_scalar(lambda[0] - rho * sigma[0])).abs(),
    }
}
