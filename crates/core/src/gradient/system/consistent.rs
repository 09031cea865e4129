//! Consistent right-hand sides of the active rows.   (grad-18)
//!
//! Where more rows are active than there are dofs, some combinations N of them, the self-stresses, move nothing: `Nᵀ B J = 0`.
//! A change of the configuration with `ρ = Nᵀ D ≠ 0` is infeasible. D is then replaced by the nearest consistent right-hand
//! side, `D − K ρ` with `K = W⁻¹ N (Nᵀ W⁻¹ N)⁻¹`. The weights let friction be violated, not normals, limits and bilateral rows.
//! The map is linear and does not depend on which equations the elimination skips; reverse mode applies its transpose.
#![allow(non_snake_case)]

use super::active_set::Unknown;
use crate::constraint::Problem;
use crate::footprint::footprint;
use crate::linalg::{FullPivotLu, is_zero};
use crate::spatial::Lane;
use core::ops::Range;

/// Ratio of the weights of normals, limits and bilateral rows to those of friction.
const FIRMNESS: f64 = 1e8;
/// Distance between a gap and its consistent value above which a change is infeasible (m per unit of the change).
pub(crate) const INFEASIBLE: f64 = 1e-8;
/// Fraction of the largest diagonal below which a self-stress is dependent on others.
const RANK: f64 = 1e-14;

/// Self-stresses of the active rows of an island: for each a number per unknown of the island.
#[derive(Debug, Clone, Default)]
pub(crate) struct Consistent {
    count: usize,
    /// N and K, row by row: `count` rows.
    N: Vec<f64>,
    K: Vec<f64>,
    /// Nᵀ W⁻¹ N and its Cholesky factor.
    S: Vec<f64>,
    /// Impulses on dofs.
    tau: Vec<f64>,
    multipliers: Vec<f64>,
}

footprint!(Consistent: N, K, S, tau, multipliers);

impl Consistent {
    /// How many equations are redundant.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether all right-hand sides are consistent.
    pub fn is_trivial(&self) -> bool {
        self.count == 0
    }

    /// Finds the self-stresses from the equations that the elimination skipped.
    pub fn find(&mut self, problem: &Problem, groups: Range<usize>, unknowns: &[Unknown], lu: &FullPivotLu) {
        self.count = lu.dependent();
        self.N.clear();
        self.K.clear();
        if self.count == 0 {
            return;
        }
        let rows = unknowns.len();
        self.N.resize(self.count * rows, 0.0);
        for s in 0..self.count {
            let own = &mut self.N[s * rows..(s + 1) * rows];
            lu.dependence(s, &mut self.multipliers, own);
            // equations of the system are scaled
            own.iter_mut().zip(unknowns).for_each(|(x, u)| *x *= u.weight());
        }
        self.balance_dofs(problem, groups, unknowns);
        self.write_projection(problem, unknowns);
    }

    /// The components of each self-stress at locked dofs.
    fn balance_dofs(&mut self, problem: &Problem, groups: Range<usize>, unknowns: &[Unknown]) {
        let Some(tree) = problem.dofs.tree() else { return };
        let rows = unknowns.len();
        for stress in self.N.chunks_exact_mut(rows) {
            self.tau.clear();
            self.tau.resize(tree.nv, 0.0);
            for n in groups.clone() {
                let group = &problem.groups[n];
                let mut eta = [0.0; 8];
                let own = unknowns.iter().zip(&*stress).filter(|(u, _)| group.blocks.contains(&u.block));
                for (u, x) in own {
                    let out = eta[u.xi - group.xi.start..].iter_mut();
                    out.zip(&u.row[..u.width]).for_each(|(e, r)| *e += r * x);
                }
                problem.jacobian.add_transposed(n, &eta[..group.xi.len()], &mut self.tau);
            }
            for (u, x) in unknowns.iter().zip(stress) {
                if let Some(row) = u.on_dof.filter(|row| row.locks() && u.kept) {
                    *x = -self.tau[row.dof] / row.scale;
                }
            }
        }
    }

    /// Writes K.
    fn write_projection(&mut self, problem: &Problem, unknowns: &[Unknown]) {
        let (n, rows) = (self.count, unknowns.len());
        let yields = |u: &Unknown| problem.blocks[u.block].mean * if u.class == 0 { 1.0 / FIRMNESS } else { 1.0 };
        self.K.extend_from_slice(&self.N);
        for stress in self.K.chunks_exact_mut(rows) {
            stress.iter_mut().zip(unknowns).for_each(|(x, u)| *x *= yields(u));
        }
        self.S.clear();
        self.S.resize(n * n, 0.0);
        for (i, j) in (0..n).flat_map(|i| (0..=i).map(move |j| (i, j))) {
            let (a, b) = (&self.N[i * rows..(i + 1) * rows], &self.K[j * rows..(j + 1) * rows]);
            self.S[i * n + j] = a.iter().zip(b).map(|(a, b)| a * b).sum();
        }
        self.factor(n);
        self.solve_rows(n, rows);
    }

    /// Cholesky factor of S; dependent self-stresses get a pivot of infinity.
    fn factor(&mut self, n: usize) {
        let S = &mut self.S;
        let largest = (0..n).fold(0.0, |m: f64, i| m.max(S[i * n + i]));
        for j in 0..n {
            let left = (0..j).fold(S[j * n + j], |s, k| s - S[j * n + k] * S[j * n + k]);
            let root = if left > RANK * largest { left.sqrt() } else { f64::INFINITY };
            S[j * n + j] = root;
            for i in j + 1..n {
                S[i * n + j] = (0..j).fold(S[i * n + j], |s, k| s - S[i * n + k] * S[j * n + k]) / root;
            }
        }
    }

    /// K = S⁻¹ times the rows of W⁻¹ N.
    fn solve_rows(&mut self, n: usize, rows: usize) {
        let Consistent { K, S, .. } = self;
        for i in 0..n {
            (0..i).for_each(|k| subtract_row(K, rows, i, k, S[i * n + k]));
            K[i * rows..(i + 1) * rows].iter_mut().for_each(|x| *x /= S[i * n + i]);
        }
        for i in (0..n).rev() {
            (i + 1..n).for_each(|k| subtract_row(K, rows, i, k, S[k * n + i]));
            K[i * rows..(i + 1) * rows].iter_mut().for_each(|x| *x /= S[i * n + i]);
        }
    }

    /// `D ← D − K Nᵀ D` for the right-hand sides of all unknowns, one row of `lanes` lanes each; `rho` is scratch.
    pub fn project(&self, lanes: usize, D: &mut [[f64; 4]], rho: &mut Vec<[f64; 4]>) {
        let rows = D.len() / lanes.max(1);
        rho.clear();
        rho.resize(self.count * lanes, [0.0; 4]);
        for (stress, rho) in self.N.chunks_exact(rows.max(1)).zip(rho.chunks_exact_mut(lanes.max(1))) {
            for (x, row) in stress.iter().zip(D.chunks_exact(lanes)).filter(|(x, row)| **x != 0.0 && !is_zero(row)) {
                rho.iter_mut().zip(row).for_each(|(r, d)| *r = (Lane(*r) + Lane(*d) * *x).0);
            }
        }
        for (gains, rho) in self.K.chunks_exact(rows.max(1)).zip(rho.chunks_exact(lanes.max(1))) {
            for (x, row) in gains.iter().zip(D.chunks_exact_mut(lanes)).filter(|(x, _)| **x != 0.0) {
                row.iter_mut().zip(rho).for_each(|(d, r)| *d = (Lane(*d) - Lane(*r) * *x).0);
            }
        }
    }

    /// Whether the change of column `j` is infeasible, from the `rho` of [`Consistent::project`].
    pub fn contradicts(&self, lanes: usize, rho: &[[f64; 4]], j: usize, dt: f64) -> bool {
        let rows = self.N.len() / self.count.max(1);
        let mut stresses = self.N.chunks_exact(rows.max(1)).zip(rho.chunks_exact(lanes.max(1)));
        stresses.any(|(stress, rho)| {
            let largest = stress.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            rho[j / 4][j % 4].abs() > INFEASIBLE / dt * largest
        })
    }

    /// Number `i` of a combination of all self-stresses, none of which is lost in it.
    pub fn combined(&self, i: usize) -> f64 {
        let rows = self.N.len() / self.count.max(1);
        // multiples of the golden ratio: no two weights are simple multiples of each other
        let weight = |s: usize| 0.5 + (s as f64 * 0.618_033_988_749_895).fract();
        self.N.chunks_exact(rows.max(1)).enumerate().fold(0.0, |sum, (s, stress)| sum + weight(s) * stress[i])
    }

    /// `y ← y − N Kᵀ y` for the weights of all unknowns, the first of each lane.
    pub fn project_transposed(&self, y: &mut [[f64; 4]]) {
        let rows = y.len().max(1);
        // products with K use the weights as they came
        y.iter_mut().for_each(|y| y[1] = y[0]);
        for (stress, gains) in self.N.chunks_exact(rows).zip(self.K.chunks_exact(rows)) {
            let gain = gains.iter().zip(&*y).fold(0.0, |s, (k, y)| s + k * y[1]);
            y.iter_mut().zip(stress).for_each(|(y, n)| y[0] -= n * gain);
        }
        y.iter_mut().for_each(|y| y[1] = 0.0);
    }
}

/// Row `to` of a matrix less a multiple of row `from`.
fn subtract_row(K: &mut [f64], rows: usize, to: usize, from: usize, factor: f64) {
    let (low, high) = K.split_at_mut(to.max(from) * rows);
    let (to, from) =
        if to > from { (&mut high[..rows], &low[from * rows..]) } else { (&mut low[to * rows..], &high[..rows]) };
    to.iter_mut().zip(from).for_each(|(t, f)| *t -= f * factor);
}
