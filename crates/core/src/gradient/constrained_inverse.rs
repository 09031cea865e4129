//! The constrained inverse inertia of a component of dofs.   (grad-8)
//!
//! With `Y = M̂⁻¹ Jᵀ`, unknowns move the robot by `X = Y C A⁻¹` per unit of their equations: one solve with Aᵀ for each dof. The
//! constrained inverse inertia of the robot is `P = M̂⁻¹ − X B Yᵀ`; all columns are `P S − X (B D)`, and `dt P`
//! is the derivative for torques.
#![allow(non_snake_case)]

use super::record::StepRecord;
use super::rows::linearize::Linearized;
use super::system::active_set::{Active, Unknown};
use super::unconstrained::Unconstrained;
use crate::dynamics::stride;
use crate::footprint::footprint;
use crate::linalg::{Factor, Term, add_product, add_terms};
use crate::spatial::Lane;

/// Matrices between the dofs of a component, rows of G and unknowns: rows of whole lanes.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConstrainedInverse {
    /// J of a group: eight numbers for each dof of its path.
    J: Vec<f64>,
    /// Yᵀ = J M̂⁻¹ (one row per row of G).
    YT: Vec<[f64; 4]>,
    /// Xᵀ = A⁻ᵀ (Y T C)ᵀ, (Y Tᵀ Bᵀ)ᵀ and B D, the change of the equations at fixed velocities: one row per unknown, zero for equations
    /// that repeat others.
    X: Vec<[f64; 4]>,
    YB: Vec<[f64; 4]>,
    BD: Vec<[f64; 4]>,
    /// Prescribed velocities of locked dofs, one row per dof, and S with their effect on the others.
    given: Vec<[f64; 4]>,
    S: Vec<f64>,
    /// `ρ = Nᵀ D`: by how much the right-hand sides of the active rows are infeasible.
    rho: Vec<[f64; 4]>,
    /// Whether they are infeasible along a change of each dof of the component.
    pub contradicts: Vec<bool>,
}

footprint!(ConstrainedInverse: J, YT, X, YB, BD, given, S, rho, contradicts);

/// A component of a step and its linearization.
pub(crate) struct ComponentStep<'a, 'f> {
    pub f: &'a StepRecord<'f>,
    pub linearized: &'a Linearized,
    pub unconstrained: &'a Unconstrained,
    /// Index of each dof in its component.
    pub index: &'a [usize],
    /// Dofs of the component.
    pub size: usize,
    pub island: Option<usize>,
}

impl ConstrainedInverse {
    /// `P = M̂⁻¹ − X B Yᵀ` in place of M̂⁻¹, and `V += P S − X (B D)`.
    #[inline(always)]
    pub fn write(
        &mut self,
        part: &ComponentStep,
        active: &mut Active,
        P: &mut [f64],
        S: &[f64],
        V: &mut [f64],
        terms: &mut Vec<Term>,
    ) {
        let (n, lanes, state_lanes) = (part.size, stride(part.size) / 4, stride(2 * part.size) / 4);
        self.contradicts.clear();
        let (all, unknowns) =
            part.island.map_or((0, 0), |island| (active.of_island(island).len(), active.of_system(island).len()));
        let mut given = false;
        if let (Some(island), true) = (part.island, all > 0) {
            self.begin(part, island, active, P, terms);
            let P = P.as_chunks_mut::<4>().0;
            add_product(n, unknowns, lanes, -1.0, columns(&self.X, lanes), &self.YB, P, terms);
            given = active.locked.any() && self.prescribe(part, island, active, S);
        }
        let factor = Factor { entries: P, row: stride(n), column: 1 };
        let V = V.as_chunks_mut::<4>().0;
        let S = if given { &self.S } else { S };
        add_product(n, n, state_lanes, 1.0, factor, S.as_chunks::<4>().0, V, terms);
        if unknowns > 0 {
            add_product(n, unknowns, state_lanes, -1.0, columns(&self.X, lanes), &self.BD, V, terms);
        }
        if given {
            V.iter_mut().zip(&self.given).for_each(|(v, given)| *v = (Lane(*v) + Lane(*given)).0);
        }
    }

    /// Velocities of locked dofs, forces of compliant ones, and their effect on S and on the right-hand sides of all other
    /// rows. Returns whether there are any.   (grad-17)
    #[inline(always)]
    fn prescribe(&mut self, part: &ComponentStep, island: usize, active: &Active, S: &[f64]) -> bool {
        let ComponentStep { f, index, size, .. } = *part;
        let (tree, lanes, range) = (f.model.tree(), stride(2 * size) / 4, active.of_island(island));
        let ConstrainedInverse { BD, given, S: own, .. } = self;
        let targets = |n: usize| &BD[n * lanes..(n + 1) * lanes];
        let rows =
            || active.unknowns[range.clone()].iter().enumerate().filter_map(|(n, u)| Some((n, u.on_dof?, u.kept)));
        if rows().all(|(n, _, kept)| !kept || targets(n).as_flattened().iter().all(|x| *x == 0.0)) {
            return false;
        }
        reset(given, size * lanes);
        own.clear();
        own.extend_from_slice(S);
        for (n, row, _) in rows().filter(|(_, _, kept)| *kept) {
            let at = index[row.dof];
            let out = if row.locks() {
                &mut given[at * lanes..(at + 1) * lanes]
            } else {
                &mut own.as_chunks_mut::<4>().0[at * lanes..(at + 1) * lanes]
            };
            let factor = if row.locks() { -1.0 / row.scale } else { -row.scale / row.local_compliance };
            add_row(out, targets(n), factor);
        }
        // S − M̂ dv: locked dofs move and accelerate all others
        let matrix = f.mass.matrix();
        let mut subtract = |i: usize, j: usize, m: f64| {
            if active.locked.is_locked(j) && !active.locked.is_locked(i) {
                let moved = &given[index[j] * lanes..(index[j] + 1) * lanes];
                add_row(&mut own.as_chunks_mut::<4>().0[index[i] * lanes..(index[i] + 1) * lanes], moved, -m);
            }
        };
        for j in
            f.assembly.problem.dofs.trees[f.assembly.problem.islands[island].trees.clone()].iter().cloned().flatten()
        {
            for (m, &i) in matrix.row(tree, j).iter().zip(tree.ancestors(j)) {
                subtract(i, j, *m);
                subtract(j, i, *m);
            }
        }
        self.add_locked_velocities(part, island, active);
        true
    }

    /// Right-hand sides of rows that are not on single dofs, with the velocities of locked dofs: `B D + B J dv`.
    #[inline(always)]
    fn add_locked_velocities(&mut self, part: &ComponentStep, island: usize, active: &Active) {
        let (problem, lanes) = (&part.f.assembly.problem, stride(2 * part.size) / 4);
        let ConstrainedInverse { BD, given, .. } = self;
        let unknowns = &active.unknowns[active.of_system(island)];
        for (u, row) in unknowns.iter().zip(BD.chunks_exact_mut(lanes)).filter(|(u, _)| u.kept) {
            let Some(n) = problem.group_of(island, u.block) else { continue };
            let (span, first) = (problem.jacobian.spans[n].clone(), u.xi - problem.groups[n].xi.start);
            for (J, &j) in problem.jacobian.J[span.clone()].iter().zip(&problem.jacobian.path[span]) {
                let entry = |k: usize| J[(first + k) / 4].0[(first + k) % 4];
                let x = u.row[..u.width].iter().enumerate().fold(0.0, |s, (k, r)| s + r * entry(k));
                let at = part.index[j];
                if x != 0.0 {
                    add_row(row, &given[at * lanes..(at + 1) * lanes], x);
                }
            }
        }
    }

    /// X, B Yᵀ and B D of the unknowns of an island.
    #[inline(always)]
    fn begin(
        &mut self,
        part: &ComponentStep,
        island: usize,
        active: &mut Active,
        inverse: &[f64],
        terms: &mut Vec<Term>,
    ) {
        let lanes = stride(part.size) / 4;
        self.write_responses(part, island, inverse.as_chunks::<4>().0, terms);
        let unknowns = active.of_system(island);
        reset(&mut self.X, unknowns.len() * lanes);
        reset(&mut self.YB, unknowns.len() * lanes);
        let first = part.f.assembly.problem.islands[island].xi.start;
        let targets = self.X.chunks_exact_mut(lanes).zip(self.YB.chunks_exact_mut(lanes));
        for (u, (x, yb)) in active.unknowns[unknowns].iter().zip(targets) {
            for (n, y) in self.YT[(u.xi - first) * lanes..].chunks_exact(lanes).enumerate().take(u.width) {
                add_row(x, y, u.column[n]);
                if u.kept {
                    add_row(yb, y, u.row[n]);
                }
            }
        }
        active.solve_island_transposed(island, lanes, &mut self.X);
        self.write_changes(part, island, active);
    }

    /// Yᵀ, group by group: off the path of a group J is zero.
    #[inline(always)]
    fn write_responses(&mut self, part: &ComponentStep, island: usize, inverse: &[[f64; 4]], terms: &mut Vec<Term>) {
        let (jacobian, problem) = (&part.f.assembly.problem.jacobian, &part.f.assembly.problem);
        let (lanes, island) = (stride(part.size) / 4, &problem.islands[island]);
        reset(&mut self.YT, island.xi.len() * lanes);
        for (span, group) in jacobian.spans[island.groups.clone()].iter().zip(&problem.groups[island.groups.clone()]) {
            self.J.clear();
            jacobian.J[span.clone()].iter().for_each(|J| J.iter().for_each(|lane| self.J.extend_from_slice(&lane.0)));
            terms.clear();
            let path = jacobian.path[span.clone()].iter().map(|j| part.index[*j]).enumerate();
            terms.extend(path.map(|(n, j)| [8 * n, j * lanes]));
            let factor = Factor { entries: &self.J, row: 1, column: 8 };
            let out = &mut self.YT[(group.xi.start - island.xi.start) * lanes..];
            add_terms(group.xi.len(), lanes, factor, terms, inverse, out);
        }
    }

    /// B D: the row derivatives of each unknown, projected onto the axes of all dofs that move their bodies.   (grad-4)
    #[inline(always)]
    fn write_changes(&mut self, part: &ComponentStep, island: usize, active: &Active) {
        let ComponentStep { f, linearized: l, unconstrained, index, size, .. } = *part;
        let (tree, lanes, unknowns) = (f.model.tree(), stride(2 * size) / 4, active.of_island(island));
        reset(&mut self.BD, unknowns.len() * lanes);
        let rows = l.terms[unknowns.clone()].iter().zip(self.BD.chunks_exact_mut(lanes));
        let consistent = active.consistent(island);
        let needed = |u: &Unknown| u.kept || !consistent.is_trivial();
        for ((terms, row), _) in rows.zip(&active.unknowns[unknowns]).filter(|(_, u)| needed(u)) {
            let row = row.as_flattened_mut();
            for term in &l.by_body[terms.by_body.clone()] {
                for &j in tree.support(term.body) {
                    let (S, at) = (f.kin.axes[j], index[j]);
                    row[at] += S.dot(term.position) + l.psi_next[j].dot(term.velocity);
                    if term.approach != 0.0 {
                        row[at] += term.approach * unconstrained.dkin.V_before[j].cross(S).dot(term.velocity);
                        row[size + at] += term.approach * S.dot(term.velocity);
                    }
                }
            }
            for e in &l.by_dof[terms.by_dof.clone()] {
                row[index[e.dof]] += e.value;
            }
        }
        if !consistent.is_trivial() {
            consistent.project(lanes, &mut self.BD, &mut self.rho);
            let dt = f.model.options().dt;
            self.contradicts.extend((0..size).map(|j| consistent.contradicts(lanes, &self.rho, j, dt)));
        }
    }
}

/// A matrix kept by columns: `lanes` lanes each.
#[inline(always)]
fn columns(x: &[[f64; 4]], lanes: usize) -> Factor<'_> {
    Factor { entries: x.as_flattened(), row: 1, column: 4 * lanes }
}

#[inline(always)]
fn add_row(to: &mut [[f64; 4]], row: &[[f64; 4]], factor: f64) {
    to.iter_mut().zip(row).for_each(|(t, r)| *t = (Lane(*t) + Lane(*r) * factor).0);
}

#[inline(always)]
fn reset(x: &mut Vec<[f64; 4]>, size: usize) {
    x.clear();
    x.resize(size, [0.0; 4]);
}
