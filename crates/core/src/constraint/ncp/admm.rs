//! The alternating direction method of multipliers, as the paper's reference solves the same problem.   (ncp-10)
//!
//! An impulse x that obeys the dynamics and one, y, inside the cones are pulled together; z is the velocity. For
//! comparison and as a second opinion: hundreds of iterations where Newton takes one.
#![allow(non_snake_case)]

use super::Work;
use super::local_response::LocalResponse;
use crate::constraint::laws::cone::{Cone, length, project_cone};
use crate::constraint::problem::residual::residual_at;
use crate::constraint::problem::{Block, Problem, rows_of};
use crate::spatial::Vec3;

/// Proximal weight, in units of a block's own inverse inertia.
const PROXIMAL_WEIGHT: f64 = 1e-6;
/// By how much the residuals of impulse and velocity may differ before the penalty is changed, and by how much it is.
const UNBALANCED: f64 = 10.0;
const PENALTY_FACTOR: f64 = 3.0;
/// The penalty is adapted every so many iterations.
const PENALTY_PERIOD: u32 = 10;

/// Solves from `work.lambda`. Returns iterations and the residual; `work` holds the best iterate.
pub(crate) fn admm(problem: &Problem, work: &mut Work, tolerance: f64, limit: u32) -> (u32, f64) {
    let rows = problem.rows();
    let (mut penalty, mut stale) = (0.1, true);
    // x and y start at the impulse, z at the velocity that belongs to it
    work.evaluate(problem);
    let mut best = residual_at(problem, &work.lambda, &work.sigma);
    work.save();
    let [x, y, z] = &mut work.admm;
    for v in [&mut *x, &mut *y, &mut *z] {
        v.resize(rows, 0.0);
    }
    x.copy_from_slice(&work.lambda);
    y.copy_from_slice(&work.lambda);
    for b in &problem.blocks {
        let s = rows_of(&work.sigma, b);
        put(z, b, [s[0], s[1], s[2] + gamma(b.cone, s)]);
    }
    let mut iterations = 0;
    while best > tolerance && iterations < limit {
        let [x, y, z] = &mut work.admm;
        for (k, b) in problem.blocks.iter().enumerate() {
            work.linear.responses[k] = response(b, penalty, &problem.g, x, y, z);
        }
        if stale {
            work.linear.factor(problem);
            stale = false;
        }
        work.linear.solve(problem, &mut work.change);
        let (mut primal, mut dual) = (0.0f64, 0.0f64);
        for b in &problem.blocks {
            let (weight, new, old, velocity) =
                (penalty * b.mean, rows_of(&work.change, b), rows_of(y, b), rows_of(z, b));
            let nearest = project(b.cone, core::array::from_fn(|i| new[i] - velocity[i] / weight));
            let violation: [f64; 3] = core::array::from_fn(|i| new[i] - nearest[i]);
            put(x, b, new);
            put(y, b, nearest);
            put(z, b, core::array::from_fn(|i| velocity[i] - weight * violation[i]));
            for i in 0..b.cone.rows() {
                primal = primal.max(b.mean * violation[i].abs());
                dual = dual.max(weight * (nearest[i] - old[i]).abs());
            }
        }
        iterations += 1;
        work.lambda.copy_from_slice(y);
        work.evaluate(problem);
        let residual = residual_at(problem, &work.lambda, &work.sigma);
        if residual < best {
            best = residual;
            work.save();
        }
        if iterations % PENALTY_PERIOD == 0 && (primal > UNBALANCED * dual || dual > UNBALANCED * primal) {
            penalty =
                (if primal > dual { penalty * PENALTY_FACTOR } else { penalty / PENALTY_FACTOR }).clamp(1e-8, 1e4);
            stale = true;
        }
    }
    work.restore();
    work.evaluate(problem);
    (iterations, best)
}

/// x-update as a response: `(G + R + (weight + prox) 1) x = −g − Γ + z + weight y + prox x`.   (ncp-10)
fn response(b: &Block, penalty: f64, g: &[f64], x: &[f64], y: &[f64], z: &[f64]) -> LocalResponse {
    let (weight, prox) = (penalty * b.mean, PROXIMAL_WEIGHT * b.mean);
    let (x, y, z, g) = (rows_of(x, b), rows_of(y, b), rows_of(z, b), rows_of(g, b));
    let E = 1.0 / (weight + prox);
    let shift = gamma(b.cone, z);
    let c = core::array::from_fn(|i| {
        let shift = if i == 2 { shift } else { 0.0 };
        E * (weight * y[i] + prox * x[i] + z[i] - shift - g[i])
    });
    let response = match b.cone {
        Cone::Friction { .. } => LocalResponse::new([[E, 0.0, 0.0], [0.0, E, 0.0], [0.0, 0.0, E]], c),
        _ => LocalResponse::scalar(E, c[0]),
    };
    response.without_compliance(b)
}

/// De Saxcé's correction of the normal velocity.
fn gamma(cone: Cone, sigma: [f64; 3]) -> f64 {
    match cone {
        Cone::Friction { mu } => mu * length(sigma[0], sigma[1]),
        _ => 0.0,
    }
}

fn project(cone: Cone, x: [f64; 3]) -> [f64; 3] {
    match cone {
        Cone::Friction { mu } => project_cone(Vec3::from(x), mu).to_array(),
        cone => [cone.project_scalar(x[0]), 0.0, 0.0],
    }
}

fn put(x: &mut [f64], b: &Block, value: [f64; 3]) {
    x[b.row..b.row + b.cone.rows()].copy_from_slice(&value[..b.cone.rows()]);
}
