//! Sticking joints: their dofs are removed from M̂ instead of adding rows to the system.   (grad-17)
//!
//! A row `s dv + b = 0` on a single dof prescribes the velocity of the dof, `dv = −b/s`, which adds the force `−M̂ dv` on the
//! others. With a compliance R of its own, `s dv + b + R dλ = 0`, it adds `s²/R` to the diagonal of M̂ and the force `−s b/R`.
//! In reverse mode the force that remains at a locked dof is the adjoint y of its row.
#![allow(non_snake_case)]

use super::active_set::Unknown;
use crate::constraint::{Delassus, Problem, Stiffened};
use crate::dynamics::{StepMass, TreeMatrix};
use crate::footprint::footprint;

/// A row on a single dof that acts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowOnDof {
    pub dof: usize,
    /// Its entry of J.
    pub scale: f64,
    /// Its addition to its own block of G (1/kg): zero locks the dof.
    pub local_compliance: f64,
}

impl RowOnDof {
    pub fn new(dof: usize, scale: f64) -> RowOnDof {
        RowOnDof { dof, scale, local_compliance: 0.0 }
    }

    /// Whether it prescribes the velocity of its dof.
    pub fn locks(&self) -> bool {
        self.local_compliance == 0.0
    }
}

/// M̂ with locked dofs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Locked {
    stiffened: Stiffened,
    /// Whether any dof is locked or compliant.
    any: bool,
    /// Which row locks a dof, by the number of the unknown.
    by: Vec<Option<usize>>,
}

footprint!(Locked: stiffened, by);

impl Locked {
    /// No dof is locked.
    pub fn unlock(&mut self) {
        self.stiffened.invalidate();
        self.any = false;
    }

    /// Locks the dofs of all rows on single dofs among the unknowns. `local` is the addition of a constraint to its own block of G.
    pub fn lock(
        &mut self,
        problem: &Problem,
        mass: &StepMass,
        unknowns: &mut [Unknown],
        local: &dyn Fn(usize) -> [[f64; 3]; 3],
    ) {
        self.unlock();
        let Some(tree) = problem.dofs.tree() else { return };
        self.by.clear();
        self.by.resize(tree.nv, None);
        self.stiffened.begin(problem);
        for n in 0..unknowns.len() {
            let Unknown { block, class, on_dof: Some(row), .. } = &mut unknowns[n] else { continue };
            (self.any, row.local_compliance) = (true, local(*block)[0][0]);
            let (dof, scale, class) = (row.dof, row.scale, *class);
            if !row.locks() {
                self.stiffened.add(dof, scale * scale / row.local_compliance);
                unknowns[n].kept = true;
                continue;
            }
            self.stiffened.add(dof, f64::INFINITY);
            // of two rows on one dof, the one of the lower class
            match self.by[dof] {
                Some(other) if unknowns[other].class <= class => continue,
                Some(other) => unknowns[other].kept = false,
                None => {}
            }
            (unknowns[n].kept, self.by[dof]) = (true, Some(n));
        }
        if self.any {
            self.stiffened.finish(problem, Some(mass.factor()));
            self.any = !self.stiffened.is_plain();
        }
    }

    /// Whether any dof is locked or compliant.
    pub fn any(&self) -> bool {
        self.any
    }

    /// Whether the velocity of a dof is prescribed.
    pub fn is_locked(&self, dof: usize) -> bool {
        self.any && self.by.get(dof).is_some_and(Option::is_some)
    }

    /// The Delassus matrix of all other rows.
    pub fn delassus<'a>(&'a self, problem: &'a Problem) -> &'a Delassus {
        self.stiffened.delassus(problem)
    }

    /// Factors of M̂ with locked dofs, if there are any.
    pub fn factor<'a>(&'a self, problem: &'a Problem) -> Option<&'a TreeMatrix> {
        self.any.then(|| self.stiffened.factor(problem))
    }
}
