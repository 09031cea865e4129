//! Whether the derivative of a step is a choice among several, without forming a matrix.   (grad-18)
#![allow(non_snake_case)]

use super::active_set::Active;
use crate::gradient::record::StepRecord;
use crate::gradient::rows::linearize::Linearized;

/// Whether the active rows are infeasible along some change of the configuration. One random combination of the
/// self-stresses of an island is tested for all of them: a change that is infeasible for one is infeasible for it.
pub(crate) fn is_choice(f: &StepRecord, active: &Active, linearized: &Linearized, rho: &mut Vec<f64>) -> bool {
    (0..f.assembly.problem.islands.len()).any(|n| contradicts(f, active, linearized, n, rho))
}

fn contradicts(f: &StepRecord, active: &Active, l: &Linearized, island: usize, rho: &mut Vec<f64>) -> bool {
    let (consistent, unknowns) = (active.consistent(island), active.of_island(island));
    if consistent.is_trivial() {
        return false;
    }
    let tree = f.model.tree();
    rho.clear();
    rho.resize(f.model.nv(), 0.0);
    let mut largest = 0.0_f64;
    for (i, terms) in l.terms[unknowns].iter().enumerate() {
        let stress = consistent.combined(i);
        largest = largest.max(stress.abs());
        for term in l.by_body[terms.by_body.clone()].iter().filter(|_| stress != 0.0) {
            for &j in tree.support(term.body) {
                rho[j] += stress * (f.kin.axes[j].dot(term.position) + l.psi_next[j].dot(term.velocity));
            }
        }
        l.by_dof[terms.by_dof.clone()].iter().for_each(|e| rho[e.dof] += stress * e.value);
    }
    rho.iter().any(|x| x.abs() > super::consistent::INFEASIBLE / f.model.options().dt * largest)
}
