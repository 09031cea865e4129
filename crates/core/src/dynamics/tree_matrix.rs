//! Symmetric matrices with the sparsity of the joint-space inertia, and their factors M = Lᵀ D L.   (mass-3)
//!
//! Only ancestors couple: row j of M and L is kept for the dofs above j, root first, padded to a multiple of four.
//! The row of an ancestor is then the beginning of the row of its descendants, and every update runs over
//! contiguous numbers. Padding is written but never read into a result.

use crate::dispatch::dispatch;
use crate::footprint::footprint;
use crate::model::Topology;
use crate::spatial::Lane;
use core::ops::Range;

/// Fraction of a diagonal entry below which a pivot counts as rounding.
pub(super) const NOISE: f64 = 1e-13;

/// A matrix that couples each dof with those above and below it only, or its factors.
#[derive(Debug, Clone, Default)]
pub struct TreeMatrix {
    /// Packed rows of M, after factoring of L (ones on the diagonal).
    pub(super) rows: Vec<f64>,
    /// D and 1 / D (nv each). Both are zero for a dof that is locked.
    pivot: Vec<f64>,
    pub(super) inverse_pivot: Vec<f64>,
}

footprint!(TreeMatrix: rows, pivot, inverse_pivot);

impl TreeMatrix {
    /// Memory for a tree.
    pub(crate) fn new(tree: &Topology) -> TreeMatrix {
        let zero = vec![0.0; tree.nv];
        TreeMatrix { rows: vec![0.0; tree.row[tree.nv]], pivot: zero.clone(), inverse_pivot: zero }
    }

    /// Takes the rows of some dofs of another matrix, factored or not; memory grows if it must.
    pub(crate) fn copy_rows(&mut self, tree: &Topology, dofs: Range<usize>, from: &TreeMatrix) {
        self.rows.resize(tree.row[tree.nv], 0.0);
        self.pivot.resize(tree.nv, 0.0);
        self.inverse_pivot.resize(tree.nv, 0.0);
        let rows = tree.row[dofs.start]..tree.row[dofs.end];
        self.rows[rows.clone()].copy_from_slice(&from.rows[rows]);
        self.pivot[dofs.clone()].copy_from_slice(&from.pivot[dofs.clone()]);
        self.inverse_pivot[dofs.clone()].copy_from_slice(&from.inverse_pivot[dofs]);
    }

    /// The first dof whose pivot is not positive: M is singular there. `None` after a regular factorization.
    pub(crate) fn broken_pivot(&self) -> Option<usize> {
        broken(&self.inverse_pivot)
    }

    /// 1 / D (nv).
    pub(crate) fn inverse_pivots(&self) -> &[f64] {
        &self.inverse_pivot
    }

    /// Row j of M, to be written; its padding is cleared.
    #[inline(always)]
    pub(super) fn row_mut(&mut self, tree: &Topology, j: usize) -> &mut [f64] {
        let row = &mut self.rows[tree.row[j]..tree.row[j + 1]];
        row[tree.depth(j) + 1..].fill(0.0);
        row
    }

    /// Row j of M before it is factored: a number for every dof that carries j, and for j itself.
    #[inline(always)]
    pub(crate) fn row(&self, tree: &Topology, j: usize) -> &[f64] {
        &self.rows[tree.row[j]..tree.row[j] + tree.ancestors(j).len()]
    }

    /// Adds to the diagonal of M, before it is factored. Infinity locks the dof: it keeps its velocity whatever acts on it.
    pub(crate) fn add_diagonal(&mut self, tree: &Topology, j: usize, x: f64) {
        self.rows[tree.row[j] + tree.depth(j)] += x;
    }

    /// `out += s M x`, before it is factored.
    pub(crate) fn add_product(&self, tree: &Topology, x: &[f64], s: f64, out: &mut [f64]) {
        for j in 0..tree.nv {
            let (above, row) = (&tree.ancestors(j)[..tree.depth(j)], &self.rows[tree.row[j]..]);
            let mut sum = row[above.len()] * x[j];
            for (m, &i) in row.iter().zip(above) {
                sum += m * x[i];
                out[i] += s * m * x[j];
            }
            out[j] += s * sum;
        }
    }

    /// The dof has no part in the factors: neither it nor what carries it feels the other.
    fn lock(&mut self, tree: &Topology, j: usize) {
        self.rows[tree.row[j]..tree.row[j + 1]].fill(0.0);
        (self.pivot[j], self.inverse_pivot[j]) = (0.0, 0.0);
    }
}

/// The first inverse of a pivot that is not a positive number.
pub(super) fn broken(inverse_pivots: &[f64]) -> Option<usize> {
    let sound = |x: &f64| (*x > 0.0) & (*x < f64::INFINITY);
    // without a branch per number: this runs after every factorization
    if inverse_pivots.iter().fold(true, |ok, x| ok & sound(x)) {
        return None;
    }
    inverse_pivots.iter().position(|x| !sound(x))
}

dispatch!(
    /// M = Lᵀ D L in place, for the dofs of one or more whole trees.   (mass-3)
    ///
    /// Rows from the leaves up: what the dofs below have taken of row i is subtracted in one go, then it is divided by its
    /// pivot.
    pub(crate) fn factor(tree: &Topology, dofs: Range<usize>, mass: &mut TreeMatrix) {
        for i in dofs.rev() {
            let (begin, lanes) = (tree.row[i] / 4, (tree.row[i + 1] - tree.row[i]) / 4);
            let (mut lane, diagonal) = (0, mass.rows[tree.row[i] + tree.depth(i)]);
            while lane < lanes {
                lane += match lanes - lane {
                    1 => eliminate::<1>(tree, mass, i, lane),
                    2 => eliminate::<2>(tree, mass, i, lane),
                    3 => eliminate::<3>(tree, mass, i, lane),
                    _ => eliminate::<4>(tree, mass, i, lane),
                };
            }
            if diagonal == f64::INFINITY {
                mass.lock(tree, i);
                continue;
            }
            let pivot = mass.rows[tree.row[i] + tree.depth(i)];
            // what is left of the diagonal may be rounding only: then the dof has no inertia of its own
            let inverse = if pivot > NOISE * diagonal { 1.0 / pivot } else { f64::INFINITY };
            (mass.pivot[i], mass.inverse_pivot[i]) = (pivot, inverse);
            for four in &mut mass.rows.as_chunks_mut::<4>().0[begin..begin + lanes] {
                *four = (Lane(*four) * inverse).0;
            }
        }
    }
);

/// N lanes of row i of M, less Σ D_k L_ki L_k over the dofs k below. Returns N.   (mass-3)
#[inline(always)]
fn eliminate<const N: usize>(tree: &Topology, mass: &mut TreeMatrix, i: usize, lane: usize) -> usize {
    let (depth, below, own) = (tree.depth(i), i + 1..tree.subtree_end[i], tree.row[i] / 4 + lane);
    let rows = mass.rows.as_chunks::<4>().0;
    let mut sum = [Lane::ZERO; N];
    for (s, four) in sum.iter_mut().zip(&rows[own..own + N]) {
        *s = Lane(*four);
    }
    for (start, pivot) in tree.row[below.clone()].iter().zip(&mass.pivot[below]) {
        let factor = mass.rows[start + depth] * pivot;
        for (s, four) in sum.iter_mut().zip(&rows[start / 4 + lane..start / 4 + lane + N]) {
            *s -= Lane(*four) * factor;
        }
    }
    for (s, four) in sum.iter().zip(&mut mass.rows.as_chunks_mut::<4>().0[own..own + N]) {
        *four = s.0;
    }
    N
}
