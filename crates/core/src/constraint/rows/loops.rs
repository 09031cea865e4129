//! Loops of hinges cannot move in some directions at all: a planar four-bar out of its plane. No impulse takes an error back
//! there, so that part of it is left alone.   (contact-12)
#![allow(non_snake_case)]

use crate::constraint::assembly::{Assembly, Source};
use crate::constraint::laws::stabilization::{Bias, IMMOVABLE};
use crate::constraint::problem::Problem;
use crate::linalg::pivoted_cholesky;
use crate::model::Model;

/// Most rows of an equality constraint: a weld.
const MOST: usize = 6;
/// Rows that are measured by one unit: three of points, three of rotations.
const UNIT: usize = 3;

/// Largest speed of correction that may be left alone (m/s): the derivative takes directions in which nothing moves for
/// constant, and is off by what is left alone there. More is a contradiction, and said to be one.
const SMALL: f64 = 1e-3;

impl Assembly {
    /// Units of the rows of each equality constraint, and its error without what nothing can take back.
    pub(crate) fn settle_equalities(&mut self, model: &Model) {
        let correction = &model.options().correction;
        let limit = SMALL * model.options().dt / correction.beta.max(f64::MIN_POSITIVE);
        for n in 0..self.problem.groups.len() {
            let blocks = self.problem.groups[n].blocks.clone();
            if !matches!(self.sources[blocks.start], Source::Equality(..)) {
                continue;
            }
            for first in blocks.clone().step_by(UNIT) {
                self.problem.share_unit(first..(first + UNIT).min(blocks.end));
            }
            let mut errors = [0.0; MOST];
            for (e, bias) in errors.iter_mut().zip(&self.biases[blocks.clone()]) {
                *e = if let Bias::Error(error) = bias { *error } else { 0.0 };
            }
            let before = errors;
            if keep_movable(&self.problem, n, &mut errors) && left_alone(before, errors) <= limit {
                for (e, bias) in errors.iter().zip(&mut self.biases[blocks]) {
                    *bias = Bias::Error(*e);
                }
            }
        }
    }
}

/// The largest difference.
fn left_alone(before: [f64; MOST], after: [f64; MOST]) -> f64 {
    before.iter().zip(after).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

/// Projects errors of a group on the directions in which it can move: the range of its block of G. Returns whether there
/// are others.
fn keep_movable(problem: &Problem, group: usize, errors: &mut [f64; MOST]) -> bool {
    let rows = problem.groups[group].xi.clone();
    let island = &problem.islands[problem.blocks[problem.groups[group].blocks.start].island as usize];
    let n = rows.len();
    let mut D = [[0.0; MOST]; MOST];
    let own = problem.own_matrix(&problem.groups[group]);
    D.iter_mut().zip(&own).take(n).for_each(|(D, own)| D[..n].copy_from_slice(&own[..n]));
    let (mut L, mut left) = ([[0.0; MOST]; MOST], [0.0; MOST]);
    let least = IMMOVABLE / island.mass;
    let rank = pivoted_cholesky(D.as_flattened(), MOST, least, L.as_flattened_mut(), &mut left[..n]);
    if rank == n {
        return false;
    }
    // e ← L (LᵀL)⁻¹ Lᵀ e: columns of L made orthonormal, one after the other
    let mut basis = [[0.0; MOST]; MOST];
    let mut kept = [0.0; MOST];
    for c in 0..rank {
        let mut x: [f64; MOST] = core::array::from_fn(|i| L[i][c]);
        // twice: columns may be nearly parallel
        for b in basis[..c].iter().chain(&basis[..c]) {
            let along = dot(b, &x);
            (0..MOST).for_each(|i| x[i] -= along * b[i]);
        }
        let length = dot(&x, &x).sqrt();
        basis[c] = x.map(|x| x / length);
        let along = dot(&basis[c], errors);
        (0..MOST).for_each(|i| kept[i] += along * basis[c][i]);
    }
    *errors = kept;
    true
}

fn dot(a: &[f64; MOST], b: &[f64; MOST]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
