//! Loops of hinges cannot move in some directions at all: a planar four-bar out of its plane. No impulse corrects an error
//! there, so that part of it is ignored.   (contact-12)
#![allow(non_snake_case)]

use crate::constraint::assembly::{Assembly, Source};
use crate::constraint::laws::stabilization::{Bias, IMMOVABLE};
use crate::constraint::problem::Problem;
use crate::linalg::pivoted_cholesky;
use crate::model::Model;

/// Most rows of an equality constraint: a weld.
const MAX_ROWS: usize = 6;
/// Rows that are measured by one unit: three of points, three of rotations.
const ROWS_PER_UNIT: usize = 3;

/// Largest speed of correction that may be ignored (m/s): the derivative takes directions in which nothing moves for
/// constant, and is off by what is ignored there. More makes the problem infeasible.
const UNCORRECTED_SPEED: f64 = 1e-3;

impl Assembly {
    /// Units of the rows of each equality constraint, and its error without what no impulse can correct.
    pub(crate) fn settle_equalities(&mut self, model: &Model) {
        let correction = &model.options().correction;
        let limit = UNCORRECTED_SPEED * model.options().dt / correction.beta.max(f64::MIN_POSITIVE);
        for n in 0..self.problem.groups.len() {
            let blocks = self.problem.groups[n].blocks.clone();
            if !matches!(self.sources[blocks.start], Source::Equality(..)) {
                continue;
            }
            for first in blocks.clone().step_by(ROWS_PER_UNIT) {
                self.problem.average_unit(first..(first + ROWS_PER_UNIT).min(blocks.end));
            }
            let mut errors = [0.0; MAX_ROWS];
            for (e, bias) in errors.iter_mut().zip(&self.biases[blocks.clone()]) {
                *e = if let Bias::Error(error) = bias { *error } else { 0.0 };
            }
            let before = errors;
            if project_on_movable(&self.problem, n, &mut errors) && largest_difference(before, errors) <= limit {
                for (e, bias) in errors.iter().zip(&mut self.biases[blocks]) {
                    *bias = Bias::Error(*e);
                }
            }
        }
    }
}

/// The largest difference.
fn largest_difference(before: [f64; MAX_ROWS], after: [f64; MAX_ROWS]) -> f64 {
    before.iter().zip(after).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

/// Projects errors of a group on the directions in which it can move: the range of its block of G. Returns whether there
/// are others.
fn project_on_movable(problem: &Problem, group: usize, errors: &mut [f64; MAX_ROWS]) -> bool {
    let rows = problem.groups[group].xi.clone();
    let island = &problem.islands[problem.blocks[problem.groups[group].blocks.start].island as usize];
    let n = rows.len();
    let mut D = [[0.0; MAX_ROWS]; MAX_ROWS];
    let own = problem.own_matrix(&problem.groups[group]);
    D.iter_mut().zip(&own).take(n).for_each(|(D, own)| D[..n].copy_from_slice(&own[..n]));
    let (mut L, mut left) = ([[0.0; MAX_ROWS]; MAX_ROWS], [0.0; MAX_ROWS]);
    let least = IMMOVABLE / island.mass;
    let rank = pivoted_cholesky(D.as_flattened(), MAX_ROWS, least, L.as_flattened_mut(), &mut left[..n]);
    if rank == n {
        return false;
    }
    // e ← L (LᵀL)⁻¹ Lᵀ e: columns of L made orthonormal, one after the other
    let mut basis = [[0.0; MAX_ROWS]; MAX_ROWS];
    let mut projected = [0.0; MAX_ROWS];
    for c in 0..rank {
        let mut x: [f64; MAX_ROWS] = core::array::from_fn(|i| L[i][c]);
        // twice: columns may be nearly parallel
        for b in basis[..c].iter().chain(&basis[..c]) {
            let along = dot(b, &x);
            (0..MAX_ROWS).for_each(|i| x[i] -= along * b[i]);
        }
        let length = dot(&x, &x).sqrt();
        basis[c] = x.map(|x| x / length);
        let along = dot(&basis[c], errors);
        (0..MAX_ROWS).for_each(|i| projected[i] += along * basis[c][i]);
    }
    *errors = projected;
    true
}

fn dot(a: &[f64; MAX_ROWS], b: &[f64; MAX_ROWS]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
