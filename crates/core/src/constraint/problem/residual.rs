//! How far an impulse is from solving the problem: the one verdict on all solvers.   (ncp-3)
//!
//! Nothing here is shared with a solver. A residual of zero means the unrelaxed problem (with its documented
//! compliance) is solved exactly.

use super::{Block, Problem, rows_of};
use crate::constraint::laws::cone::{Cone, length};
use crate::error::InputError;
use crate::input_check;
use crate::spatial::Vec3;

/// The scaled residual of impulses `lambda`: the largest violation over the blocks, `‖λ − Π(λ − ρ (σ + Γ(σ)))‖∞ / ρ` (m/s),
/// divided by `max(1 m/s, ‖g‖∞)`. `1/ρ` is the largest eigenvalue of the block of the Delassus matrix.   (ncp-3)
pub fn residual(problem: &Problem, lambda: &[f64]) -> Result<f64, InputError> {
    input_check::vector("lambda", lambda, problem.rows())?;
    let (mut sigma, mut w, mut xi) =
        (vec![0.0; problem.rows()], vec![0.0; problem.width()], vec![0.0; problem.width()]);
    problem.velocity(lambda, &mut sigma, &mut w, &mut xi);
    Ok(residual_at(problem, lambda, &sigma))
}

/// The residual where the velocity is known.
pub(crate) fn residual_at(problem: &Problem, lambda: &[f64], sigma: &[f64]) -> f64 {
    // comparisons below would ignore NaN
    if lambda.iter().chain(sigma).fold(0.0, |s, x| s + x * 0.0) != 0.0 {
        return f64::INFINITY;
    }
    let of = |b: &Block| violation(b, rows_of(lambda, b), rows_of(sigma, b)) * b.max_eigenvalue;
    problem.blocks.iter().map(of).fold(0.0, f64::max) / unit(problem)
}

/// Velocity that counts as one.
pub(crate) fn unit(problem: &Problem) -> f64 {
    fastest(problem).max(1.0)
}

/// The largest velocity without impulses (m/s).
pub(crate) fn fastest(problem: &Problem) -> f64 {
    problem.g.iter().fold(0.0, |m: f64, g| m.max(g.abs()))
}

/// `λ − Π(λ − ρ (σ + Γ(σ)))`, largest entry. Written so that a velocity is not lost next to a huge impulse: where Π changes
/// nothing the difference is `ρ σ` itself.
fn violation(b: &Block, lambda: [f64; 3], sigma: [f64; 3]) -> f64 {
    let rho = 1.0 / b.max_eigenvalue;
    match b.cone {
        Cone::Friction { mu } => {
            let d = contact_violation(mu, Vec3::from(lambda), Vec3::from(sigma), rho);
            d.x.abs().max(d.y.abs()).max(d.z.abs())
        }
        Cone::Unilateral => lambda[0].min(rho * sigma[0]).abs(),
        Cone::Box { bound } => (rho * sigma[0]).max(lambda[0] - bound).min(lambda[0] + bound).abs(),
        Cone::Bilateral => (rho * sigma[0]).abs(),
    }
}

fn contact_violation(mu: f64, lambda: Vec3, sigma: Vec3, rho: f64) -> Vec3 {
    let gamma = mu * length(sigma.x, sigma.y);
    let step = Vec3 { x: sigma.x, y: sigma.y, z: sigma.z + gamma } * rho;
    let y = lambda - step;
    let t = length(y.x, y.y);
    if mu * t <= -y.z {
        return lambda;
    }
    if t <= mu * y.z {
        return step;
    }
    // outside: Π moves along the normal of the cone
    let out = (t - mu * y.z) / (1.0 + mu * mu);
    step + Vec3 { x: out * y.x / t, y: out * y.y / t, z: -out * mu }
}
