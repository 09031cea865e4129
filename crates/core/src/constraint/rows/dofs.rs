//! Rows that act on single dofs: limits and dry friction of joints.   (contact-17)
//!
//! Such a row has no place in G. The space of G gets a number for every dof behind its rows, a *tree part*: impulses on
//! dofs and velocities of dofs. Products with the Delassus matrix go through M̂, whose factors have the sparsity of the
//! tree. A row that responds to a velocity adds to the diagonal of M̂, which keeps that sparsity.
#![allow(non_snake_case)]

use crate::constraint::problem::islands::Island;
use crate::constraint::problem::{Problem, RowSpace};
use crate::dispatch::dispatch;
use crate::dynamics::{StepMass, TreeMatrix, inverse_entry, solve_down, solve_up};
use crate::footprint::footprint;
use crate::model::{Model, StructureId, Topology};
use core::ops::Range;

/// M̂ of the trees whose islands have rows on single dofs. Dofs have the numbers of the model.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dofs {
    structure: Option<StructureId>,
    /// Dofs of those trees.
    pub trees: Vec<Range<usize>>,
    /// M̂ and its factors.
    pub matrix: TreeMatrix,
    pub factor: TreeMatrix,
    /// Where the dofs begin in vectors of the space of G.
    pub start: usize,
    /// Columns of unit impulses.
    scratch: Vec<[f64; 4]>,
}

footprint!(Dofs: trees, matrix, factor, scratch);

impl Dofs {
    /// Memory for a model.
    pub fn new(model: &Model) -> Dofs {
        Dofs { structure: Some(model.structure_id()), ..Dofs::default() }
    }

    /// The tree that the dofs belong to. `None`: there are no rows on dofs.
    #[inline(always)]
    pub fn tree(&self) -> Option<&Topology> {
        self.structure.as_ref().filter(|_| !self.trees.is_empty()).map(StructureId::tree)
    }

    /// Numbers of the tree part.
    pub fn width(&self) -> usize {
        self.tree().map_or(0, |tree| tree.nv)
    }

    /// Takes M̂ and its factors.
    pub fn take_mass(&mut self, mass: &StepMass) {
        let Dofs { structure, trees, matrix, factor, .. } = self;
        let Some(structure) = structure else { return };
        for dofs in trees.iter() {
            matrix.copy_rows(structure.tree(), dofs.clone(), mass.matrix());
            factor.copy_rows(structure.tree(), dofs.clone(), mass.factor());
        }
    }

    /// Takes M̂ and its factors of some trees of another.
    pub fn copy_trees(&mut self, from: &Dofs, trees: Range<usize>) {
        self.structure.clone_from(&from.structure);
        self.trees.clear();
        self.trees.extend_from_slice(&from.trees[trees]);
        let Some(structure) = &self.structure else { return };
        for dofs in &self.trees {
            self.matrix.copy_rows(structure.tree(), dofs.clone(), &from.matrix);
            self.factor.copy_rows(structure.tree(), dofs.clone(), &from.factor);
        }
    }
}

dispatch!(
    /// Diagonal entries of the Delassus matrix of rows on dofs.
    pub(crate) fn write_dof_diagonals(problem: &mut Problem) {
        let Problem { dofs: Dofs { structure: Some(structure), factor, scratch, .. }, blocks, diagonals, .. } = problem
        else {
            return;
        };
        for (b, out) in blocks.iter().zip(diagonals) {
            if let RowSpace::Dof { dof, scale } = b.space {
                out[0][0] = scale * scale * inverse_entry(structure.tree(), factor, dof as usize, scratch);
            }
        }
    }
);

impl Problem {
    /// `ξ = G w` of an island with rows on dofs, those included: impulses to dofs, M̂⁻¹, velocities of rows.   (contact-17)
    #[inline(always)]
    pub(crate) fn multiply_by_dofs(&self, tree: &Topology, island: &Island, w: &[f64], xi: &mut [f64]) {
        let (w, impulse) = w.split_at(self.dofs.start);
        let (xi, v) = xi.split_at_mut(self.dofs.start);
        let trees = || self.dofs.trees[island.trees.clone()].iter().cloned();
        trees().for_each(|dofs| v[dofs.clone()].copy_from_slice(&impulse[dofs]));
        for n in island.groups.clone() {
            self.jacobian.add_transposed(n, &w[self.groups[n].xi.clone()], v);
        }
        for dofs in trees() {
            solve_up(tree, dofs.clone(), &self.dofs.factor, v);
            solve_down(tree, dofs, &self.dofs.factor, v);
        }
        for n in island.groups.clone() {
            let rows = self.groups[n].xi.clone();
            let count = rows.len();
            xi[rows].copy_from_slice(&self.jacobian.velocity(n, v)[..count]);
        }
    }
}
