//! Joint-space inertia by composite bodies.   (mass-1, mass-2)
#![allow(non_snake_case)]

use super::kinematics::Kinematics;
use super::tree_matrix::TreeMatrix;
use crate::dispatch::dispatch;
use crate::footprint::footprint;
use crate::model::{Model, Topology};
use crate::spatial::{Force, SpatialInertia};
use core::ops::{Deref, DerefMut};

/// M, or its factors.
#[derive(Debug, Clone)]
pub struct MassFactor {
    matrix: TreeMatrix,
    /// Inertia of each body and all that it carries.
    composite: Vec<SpatialInertia>,
    /// Momentum of what each dof carries per unit of its velocity.
    momentum: Vec<Force>,
}

footprint!(MassFactor: matrix, composite, momentum);

impl Deref for MassFactor {
    type Target = TreeMatrix;

    fn deref(&self) -> &TreeMatrix {
        &self.matrix
    }
}

impl DerefMut for MassFactor {
    fn deref_mut(&mut self) -> &mut TreeMatrix {
        &mut self.matrix
    }
}

impl MassFactor {
    /// Memory for a model.
    pub fn new(model: &Model) -> MassFactor {
        let tree = model.tree();
        MassFactor {
            matrix: TreeMatrix::new(tree),
            composite: vec![SpatialInertia::ZERO; tree.n_bodies()],
            momentum: vec![Force::ZERO; tree.nv],
        }
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

dispatch!(
    /// M of a configuration, armature included. Needs axes and inertias in `kin`.   (mass-1)
    pub(crate) fn crba(model: &Model, kin: &Kinematics, mass: &mut MassFactor) {
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
                mass.matrix.rows[start + depth] = S.dot(*momentum);
            }
            let own = tree.row[i] + depth;
            mass.rows[own] += model.armature()[i];
            mass.rows[own + 1..tree.row[i + 1]].fill(0.0); // padding
        }
    }
);
