//! Projected Gauss–Seidel: one constraint after the other, over and over.   (ncp-11)
//!
//! Cheap per sweep and good where constraints are weakly coupled; for comparison.
#![allow(non_snake_case)]

use super::Work;
use crate::constraint::laws::cone::{Cone, length};
use crate::constraint::problem::residual::residual_at;
use crate::constraint::problem::{Block, Problem, RowGroup, rows_of};

/// Sweeps between two evaluations of the residual.
const RESIDUAL_PERIOD: u32 = 5;

/// Solves from `work.lambda`. Returns sweeps and the residual; `work` holds the best iterate.
pub(crate) fn pgs(problem: &Problem, work: &mut Work, tolerance: f64, limit: u32) -> (u32, f64) {
    work.evaluate(problem);
    let mut best = residual_at(problem, &work.lambda, &work.sigma);
    work.save();
    let mut sweeps = 0;
    while best > tolerance && sweeps < limit {
        // ξ of the present impulses is in `work.xi`; every sweep keeps it up to date
        for group in &problem.groups {
            sweep_group(problem, work, group);
        }
        sweeps += 1;
        if sweeps % RESIDUAL_PERIOD == 0 || sweeps == limit {
            work.evaluate(problem);
            let residual = residual_at(problem, &work.lambda, &work.sigma);
            if residual < best {
                best = residual;
                work.save();
            } else if !residual.is_finite() {
                break;
            }
        }
    }
    work.restore();
    work.evaluate(problem);
    (sweeps, best)
}

/// Where W is stored instead of G, `x = Wᵀ w` of all impulses, in the scratch part of `work.w`, is kept up to date instead of ξ.
fn sweep_group(problem: &Problem, work: &mut Work, group: &RowGroup) {
    let (size, through_factor) = (problem.size(), problem.only_island().through_factor);
    for k in group.blocks.clone() {
        if through_factor {
            let (xi, local) = work.xi.split_at_mut(size);
            problem.spread_group(&problem.delassus.W, group, &work.w[size..], xi, local);
        }
        work.w[group.xi.clone()].fill(0.0);
        sweep_block(problem, work, k, &problem.blocks[k]);
        if through_factor {
            let ((w, x), local) = (work.w.split_at_mut(size), &mut work.xi[size..]);
            problem.gather_group(&problem.delassus.W, group, w, x, local);
        } else {
            for i in group.xi.clone().filter(|i| work.w[*i] != 0.0) {
                let (w, G) = (work.w[i], problem.row(i));
                work.xi.iter_mut().zip(G).for_each(|(x, g)| *x += g * w);
            }
        }
    }
}

/// The new impulse of a block; `work.w` gets its change.
fn sweep_block(problem: &Problem, work: &mut Work, k: usize, b: &Block) {
    let lambda = rows_of(&work.lambda, b);
    let (rows, spread, g) = (b.cone.rows(), problem.spread(b, &work.xi), rows_of(&problem.g, b));
    let mut sigma: [f64; 3] = core::array::from_fn(|i| spread[i] + g[i]);
    sigma[rows - 1] += b.compliance * lambda[rows - 1];
    let D = problem.diagonal_block(k);
    let new = match b.cone {
        Cone::Friction { mu } => contact(mu, &D, lambda, sigma),
        Cone::Bilateral if D[0][0] <= 0.0 => [0.0; 3],
        cone => [cone.project_scalar(lambda[0] - sigma[0] / D[0][0].max(f64::MIN_POSITIVE)), 0.0, 0.0],
    };
    let change = core::array::from_fn(|i| new[i] - lambda[i]);
    work.lambda[b.row..b.row + rows].copy_from_slice(&new[..rows]);
    problem.gather(b, &change, &mut work.w);
}

/// Normal first, then the tangent within the cone that the normal leaves.
fn contact(mu: f64, D: &[[f64; 3]; 3], lambda: [f64; 3], sigma: [f64; 3]) -> [f64; 3] {
    if D[2][2] <= 0.0 {
        return [0.0; 3];
    }
    let push = (lambda[2] - sigma[2] / D[2][2]).max(0.0);
    let change = push - lambda[2];
    // largest eigenvalue of the tangential block
    let (mean, half) = (0.5 * (D[0][0] + D[1][1]), 0.5 * (D[0][0] - D[1][1]));
    let max_eigenvalue = (mean + length(half, D[0][1])).max(f64::MIN_POSITIVE);
    let t = [
        lambda[0] - (sigma[0] + D[0][2] * change) / max_eigenvalue,
        lambda[1] - (sigma[1] + D[1][2] * change) / max_eigenvalue,
    ];
    let (size, radius) = (length(t[0], t[1]), mu * push);
    let shrink = if size > radius { radius / size } else { 1.0 };
    [shrink * t[0], shrink * t[1], push]
}
