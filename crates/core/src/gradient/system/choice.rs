//! Whether the derivative of a step is a choice among several, without forming a matrix.   (grad-18)
#![allow(non_snake_case)]

use super::active_set::Active;
use crate::gradient::record::StepRecord;
use crate::gradient::rows::linearize::Linearized;

/// Whether some change of the configuration asks for what held constraints cannot all do. One random combination of the
/// self-stresses of an island stands for all: what contradicts one of them contradicts it.
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
        for form in l.forms[terms.forms.clone()].iter().filter(|_| stress != 0.0) {
            for &j in tree.support(form.body) {
                rho[j] += stress * (f.kin.axes[j].dot(form.position) + l.psi_next[j].dot(form.velocity));
            }
        }
        l.entries[terms.entries.clone()].iter().for_each(|e| rho[e.dof] += stress * e.value);
    }
    rho.iter().any(|x| x.abs() > super::consistent::CONTRADICTION / f.model.options().dt * largest)
}
