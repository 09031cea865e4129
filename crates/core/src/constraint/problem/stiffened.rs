//! M̂ with a stiffened diagonal, where rows on single dofs respond to velocities or stick, and the Delassus matrix of all
//! other rows with it.   (contact-17)
#![allow(non_snake_case)]

use super::Problem;
use super::delassus::{Delassus, delassus};
use crate::dynamics::{TreeMatrix, factor};
use crate::footprint::footprint;
use core::ops::Range;

/// Factors of `M̂ + diag(E)`, and `G̃ = J (M̂ + diag(E))⁻¹ Jᵀ`. Where E is zero they are those of the problem.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stiffened {
    /// E of each dof (nv), and that to which the factors belong.
    diagonal: Vec<f64>,
    present: Vec<f64>,
    /// Whether the factors belong to the problem at hand, and whether E is zero.
    valid: bool,
    plain: bool,
    factor: TreeMatrix,
    delassus: Delassus,
}

footprint!(Stiffened: diagonal, present, factor, delassus);

impl Stiffened {
    /// Invalidates the factors: the next problem is another one.
    pub fn invalidate(&mut self) {
        (self.valid, self.plain) = (false, true);
    }

    /// Begins to collect E; each dof has none so far.
    pub fn begin(&mut self, problem: &Problem) {
        self.diagonal.resize(problem.dofs.width(), 0.0);
        problem.dofs.trees.iter().for_each(|dofs| self.diagonal[dofs.clone()].fill(0.0));
    }

    /// Adds to E of a dof. Infinity locks it.
    #[inline(always)]
    pub fn add(&mut self, dof: usize, x: f64) {
        self.diagonal[dof] += x;
    }

    /// Factors of the E collected, unless they are there. Trees without rows on single dofs keep the factors `others`; solvers
    /// see one island at a time and need none.
    pub fn finish(&mut self, problem: &Problem, others: Option<&TreeMatrix>) {
        let Some(tree) = problem.dofs.tree() else { return };
        let trees = || problem.dofs.trees.iter().cloned();
        let Stiffened { diagonal, present, factor: own, .. } = self;
        self.plain = trees().all(|dofs: Range<usize>| diagonal[dofs].iter().all(|x| *x == 0.0));
        if self.plain || (self.valid && trees().all(|dofs| diagonal[dofs.clone()] == present[dofs])) {
            return;
        }
        if let Some(others) = others {
            own.copy_rows(tree, 0..tree.nv, others);
        }
        for dofs in trees() {
            own.copy_rows(tree, dofs.clone(), &problem.dofs.matrix);
            dofs.clone().for_each(|j| own.add_diagonal(tree, j, diagonal[j]));
            factor(tree, dofs, own);
        }
        present.clone_from(diagonal);
        self.valid = true;
        delassus(tree, own, problem, &mut self.delassus);
    }

    /// Whether E is zero.
    pub fn is_plain(&self) -> bool {
        self.plain
    }

    /// Factors of M̂ + diag(E).
    #[inline(always)]
    pub fn factor<'a>(&'a self, problem: &'a Problem) -> &'a TreeMatrix {
        if self.plain { &problem.dofs.factor } else { &self.factor }
    }

    /// G̃.
    #[inline(always)]
    pub fn delassus<'a>(&'a self, problem: &'a Problem) -> &'a Delassus {
        if self.plain { &problem.delassus } else { &self.delassus }
    }
}
