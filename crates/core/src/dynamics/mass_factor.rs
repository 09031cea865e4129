//! Joint-space inertia by composite bodies and its sparse factor M = Lᵀ D L.   (mass-1 … mass-3)
//!
//! Only ancestors couple: row j of M and L is kept for the dofs above j, root first, padded to a multiple of four.
//! The row of an ancestor is then the beginning of the row of its descendants, and every update runs over
//! contiguous numbers. Padding is written but never read into a result.
#![allow(non_snake_case)]

use super::kinematics::Kinematics;
use crate::dispatch::dispatch;
use crate::footprint::footprint;
use crate::model::{Model, Topology};
use crate::spatial::{Force, Lane, SpatialInertia};

/// Share of a diagonal entry below which a pivot is taken for rounding.
pub(super) const NOISE: f64 = 1e-13;

/// M, or after `factor` its factors.
#[derive(Debug, Clone)]
pub struct MassFactor {
    /// Packed rows of M, after factoring of L (ones on the diagonal).
    pub(super) rows: Vec<f64>,
    /// D and 1 / D (nv each).
    pivot: Vec<f64>,
    pub(super) inverse_pivot: Vec<f64>,
    /// Inertia of each body and all that it carries.
    composite: Vec<SpatialInertia>,
    /// Momentum of what each dof carries per unit of its velocity.
    momentum: Vec<Force>,
}

footprint!(MassFactor: rows, pivot, inverse_pivot, composite, momentum);

impl MassFactor {
    /// Memory for a model.
    pub fn new(model: &Model) -> MassFactor {
        let tree = model.tree();
        MassFactor {
            rows: vec![0.0; tree.row[tree.nv]],
            pivot: vec![0.0; tree.nv],
            inverse_pivot: vec![0.0; tree.nv],
            composite: vec![SpatialInertia::ZERO; tree.n_bodies()],
            momentum: vec![Force::ZERO; tree.nv],
        }
    }

    /// The first dof whose pivot is not positive: M is singular there. `None` after a sound factorisation.
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
    pub(crate) fn row(&self, tree: &Topology, j: usize) -> &[f64] {
        &self.rows[tree.row[j]..tree.row[j] + tree.ancestors(j).len()]
    }

    /// Adds to the diagonal of M, before it is factored.
    pub(crate) fn add_diagonal(&mut self, tree: &Topology, j: usize, x: f64) {
        self.rows[tree.row[j] + tree.depth(j)] += x;
    }

    /// Adds M to a full matrix with rows of `stride` numbers, from column `first` on.
    #[inline(always)]
    pub(crate) fn add_full(&self, tree: &Topology, stride: usize, first: usize, out: &mut [f64]) {
        for j in 0..tree.nv {
            let row = &self.rows[tree.row[j]..];
            for (x, &i) in row.iter().zip(tree.ancestors(j)) {
                out[i * stride + first + j] += *x;
                if i != j {
                    out[j * stride + first + i] += *x;
                }
            }
        }
    }

    /// Writes M as a full symmetric matrix (nv × nv).
    pub(crate) fn write_full(&self, tree: &Topology, out: &mut [f64]) {
        out.fill(0.0);
        for j in 0..tree.nv {
            for (x, &i) in self.rows[tree.row[j]..].iter().zip(tree.ancestors(j)) {
                out[i * tree.nv + j] = *x;
                out[j * tree.nv + i] = *x;
            }
        }
    }
}

dispatch! {
    /// M of a configuration, armature included. Needs axes and inertias in `kin`.   (mass-1)
    pub(crate) fn crba(model: &Model, kin: &Kinematics, mass: &mut MassFactor) => crba_body
}

dispatch! {
    /// M = Lᵀ D L in place.   (mass-3)
    pub(crate) fn factor(model: &Model, mass: &mut MassFactor) => factor_body
}

/// The first inverse of a pivot that is not a positive number.
pub(super) fn broken(inverse_pivots: &[f64]) -> Option<usize> {
    let sound = |x: &f64| (*x > 0.0) & (*x < f64::INFINITY);
    // without a branch per number: this runs after every factorisation
    if inverse_pivots.iter().fold(true, |ok, x| ok & sound(x)) {
        return None;
    }
    inverse_pivots.iter().position(|x| !sound(x))
}

#[inline(always)]
pub(super) fn crba_body(model: &Model, kin: &Kinematics, mass: &mut MassFactor) {
    let tree = model.tree();
    // momentum of each composite body per unit of v_j                                                 (mass-1)
    mass.composite.fill(SpatialInertia::ZERO);
    for i in (1..tree.n_bodies()).rev() {
        let node = &tree.nodes[i];
        let inertia = kin.inertia[i] + mass.composite[i];
        let dofs = node.dofs.clone();
        for (momentum, S) in mass.momentum[dofs.clone()].iter_mut().zip(&kin.axes[dofs]) {
            *momentum = inertia * *S;
        }
        mass.composite[node.parent] += inertia;
    }
    // seen by every dof i above: what it carries is contiguous                                        (mass-2)
    for (i, S) in kin.axes.iter().enumerate() {
        let (S, depth, carried) = (*S, tree.depth(i), i..tree.subtree_end[i]);
        for (momentum, start) in mass.momentum[carried.clone()].iter().zip(&tree.row[carried]) {
            mass.rows[start + depth] = S.dot(*momentum);
        }
        let own = tree.row[i] + depth;
        mass.rows[own] += model.armature()[i];
        mass.rows[own + 1..tree.row[i + 1]].fill(0.0); // padding
    }
}

/// Rows from the leaves up: what the dofs below have taken of row i is subtracted in one go, then it is divided by its pivot.
#[inline(always)]
pub(super) fn factor_body(model: &Model, mass: &mut MassFactor) {
    let tree = model.tree();
    for i in (0..tree.nv).rev() {
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
        let pivot = mass.rows[tree.row[i] + tree.depth(i)];
        // what is left of the diagonal may be rounding only: then the dof has no inertia of its own
        let inverse = if pivot > NOISE * diagonal { 1.0 / pivot } else { f64::INFINITY };
        (mass.pivot[i], mass.inverse_pivot[i]) = (pivot, inverse);
        for four in &mut mass.rows.as_chunks_mut::<4>().0[begin..begin + lanes] {
            *four = (Lane(*four) * inverse).0;
        }
    }
}

/// N lanes of row i of M, less Σ D_k L_ki L_k over the dofs k below. Returns N.   (mass-3)
#[inline(always)]
fn eliminate<const N: usize>(tree: &Topology, mass: &mut MassFactor, i: usize, lane: usize) -> usize {
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
