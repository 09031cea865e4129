//! The problem that every solver sees: cones, a Delassus matrix, a free velocity. No robot.   (ncp-1, ncp-2)
//!
//! Contacts between the same two bodies depend on six numbers only, the relative twist of the bodies. Such a *group* has
//! six columns in the stored matrix however many points it has: `σ = T ξ + g + R λ`, `ξ = G Tᵀ λ`, with T fixed by the
//! points. Groups of one or two points, limits and other rows are stored as they are (T = 1). `G` has one row per
//! number of ξ; the full Delassus matrix is `T G Tᵀ + R`. Between islands it is zero, and not stored (`islands.rs`).
#![allow(non_snake_case)]

pub(super) mod delassus;
mod dense;
pub(super) mod islands;
pub(super) mod low_rank;
pub(super) mod redundancy;
pub(super) mod residual;
pub(super) mod stiffened;

use super::laws::cone::{Cone, Rows};
use super::problem::delassus::Delassus;
use super::problem::islands::Island;
use super::rows::dofs::{Dofs, write_dof_diagonals};
use super::rows::jacobian::{Jacobian, WIDTH};
use crate::dispatch::dispatch;
use crate::footprint::footprint;
use crate::linalg::dot_lanes;
use core::ops::Range;

/// Inverse inertias below this fraction of the largest in a problem are rounding.
const LEAST_MEAN: f64 = 1e-8;

/// Rows of a group that shares a twist.
pub(crate) const TWIST: usize = 6;

/// Where the rows of a constraint are in the space of G.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum RowSpace {
    /// They are rows of G themselves, from `Block::xi` on.
    Rows,
    /// They are `T ξ`, T (3 × 6) in `Problem::maps`, ξ the twist of its group from `Block::xi` on.
    Twist(u32),
    /// Its one row is the velocity of a dof, times `scale` (`dofs.rs`).
    Dof { dof: u32, scale: f64 },
}

/// One constraint.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    pub cone: Cone,
    /// The island it belongs to.
    pub island: u32,
    /// Its first row among λ, σ, g.
    pub row: usize,
    /// Its first row in the group: where its own ξ begin, or where the twist of its group begins.
    pub xi: usize,
    pub space: RowSpace,
    /// Compliance of its last row (a contact's normal) (1/kg): the sum, its own part, and its relaxation in an infeasible
    /// problem.
    pub compliance: f64,
    pub own_compliance: f64,
    pub relaxation: f64,
    /// Relaxation with which the next step should begin (1/kg).
    pub next_relaxation: f64,
    /// Compliance that is added to it, as a fraction of the inverse mass of its island.
    pub relative_compliance: f64,
    /// Largest eigenvalue of its block of the Delassus matrix, compliance included: the unit that makes velocities
    /// comparable with impulses (1/kg).
    pub max_eigenvalue: f64,
    /// A third of the trace of that block (the diagonal entry, for one row).
    pub mean: f64,
}

impl Block {
    /// Whether it is a redundant contact: the motion does not determine its load.
    pub fn is_redundant(&self) -> bool {
        self.relative_compliance > 0.0
    }

    /// Whether it is a row on a single dof.
    #[inline(always)]
    pub fn is_on_dof(&self) -> bool {
        matches!(self.space, RowSpace::Dof { .. })
    }

    /// Sets its relaxation (1/kg).
    pub fn relax(&mut self, compliance: f64) {
        self.compliance = self.own_compliance + compliance;
        self.relaxation = compliance;
    }
}

/// Constraints that share columns of G.
#[derive(Debug, Clone)]
pub(crate) struct RowGroup {
    /// Rows of G.
    pub xi: Range<usize>,
    pub blocks: Range<usize>,
    /// Its part of W: its columns in `Problem::columns`, and where its entries begin in `Delassus::W`.
    pub columns: Range<usize>,
    pub factor_start: usize,
}

impl RowGroup {
    /// A group without a part of W.
    pub fn new(xi: Range<usize>, blocks: Range<usize>) -> RowGroup {
        RowGroup { xi, blocks, columns: 0..0, factor_start: 0 }
    }
}

/// A nonlinear complementarity problem: find λ with `cone ∋ λ ⊥ σ + Γ(σ)`, `σ = (J M⁻¹ Jᵀ + R) λ + g`.
#[derive(Debug, Clone, Default)]
pub struct Problem {
    pub(crate) blocks: Vec<Block>,
    pub(crate) groups: Vec<RowGroup>,
    /// T of the blocks in groups that share a twist: three rows of six.
    pub(crate) maps: Vec<[[f64; TWIST]; 3]>,
    pub(crate) islands: Vec<Island>,
    /// J by groups; a bare problem has none.
    pub(crate) jacobian: Jacobian,
    pub(crate) delassus: Delassus,
    /// Numbers of G and of W.
    pub(crate) entries: [usize; 2],
    /// W of the islands, group by group (`low_rank.rs`): columns, columns of each node, and the dofs of the columns.
    pub(crate) columns: Vec<u32>,
    pub(crate) nodes: Vec<usize>,
    pub(crate) column_dofs: Vec<u32>,
    /// Rows on single dofs, and M̂.
    pub(crate) dofs: Dofs,
    /// Diagonal blocks of the Delassus matrix without compliance, one per constraint; those of one row use the first entry.
    pub(crate) diagonals: Vec<[[f64; 3]; 3]>,
    /// Velocity of the constraints without impulses, position correction included (rows).
    pub(crate) g: Vec<f64>,
}

footprint!(Problem: blocks, groups, maps, islands, jacobian, delassus, columns, nodes, column_dofs, dofs, diagonals, g);

impl Problem {
    /// Empties the problem; memory stays.
    pub(crate) fn begin(&mut self) {
        self.blocks.clear();
        self.groups.clear();
        self.maps.clear();
        self.islands.clear();
        self.jacobian.begin();
        self.entries = [0; 2];
        self.columns.clear();
        self.nodes.clear();
        self.column_dofs.clear();
        self.dofs.trees.clear();
        self.diagonals.clear();
        self.g.clear();
    }

    /// Adds a constraint; its free velocity is zero until written. Compliance: absolute and relative.
    pub(crate) fn push(&mut self, cone: Cone, xi: usize, space: RowSpace, compliance: [f64; 2]) {
        let row = self.g.len();
        let [compliance, relative_compliance] = compliance;
        self.blocks.push(Block {
            cone,
            island: self.islands.len() as u32,
            row,
            xi,
            space,
            compliance,
            own_compliance: compliance,
            relaxation: 0.0,
            next_relaxation: 0.0,
            relative_compliance,
            max_eigenvalue: 0.0,
            mean: 0.0,
        });
        self.g.resize(row + cone.rows(), 0.0);
    }

    /// Adds a contact whose rows are `T ξ`.
    pub(crate) fn push_twist(&mut self, cone: Cone, xi: usize, T: [[f64; TWIST]; 3], compliance: [f64; 2]) {
        let space = RowSpace::Twist(self.maps.len() as u32);
        self.maps.push(T);
        self.push(cone, xi, space, compliance);
    }

    /// Rows of G so far.
    pub(crate) fn size(&self) -> usize {
        self.groups.last().map_or(0, |g| g.xi.end)
    }

    /// Compliance and units of the constraints, once G is known.   (ncp-2)
    pub(crate) fn finish(&mut self) {
        self.place_dofs();
        self.diagonals.resize(self.blocks.len(), [[0.0; 3]; 3]);
        for n in 0..self.groups.len() {
            let RowGroup { xi, blocks, .. } = self.groups[n].clone();
            let own = self.own_matrix(&self.groups[n]);
            for k in blocks {
                self.diagonals[k] = self.rigid_block(&own, xi.start, &self.blocks[k]);
            }
        }
        if !self.dofs.trees.is_empty() {
            write_dof_diagonals(self);
        }
        for k in 0..self.blocks.len() {
            self.blocks[k].mean = self.rigid_mean(k);
        }
        let largest = self.blocks.iter().fold(0.0, |m: f64, b| m.max(b.mean));
        for k in 0..self.blocks.len() {
            self.distribute_load(k);
            self.finish_block(k, LEAST_MEAN * largest);
        }
    }

    /// Adds a relative compliance to finished blocks that have none.
    pub(crate) fn regularize(&mut self, island: usize, relative_compliance: f64, chosen: impl Fn(usize) -> bool) {
        for k in self.islands[island].blocks.clone().filter(|k| chosen(*k)) {
            let least = self.blocks[k].mean;
            self.blocks[k].relative_compliance = relative_compliance;
            self.distribute_load(k);
            self.finish_block(k, least);
        }
    }

    /// Adds the compliance of a redundant contact, as a fraction of the inverse mass of all that it may have to carry. It
    /// is one number for all of them, so that the load distribution follows from their positions alone.   (contact-14)
    fn distribute_load(&mut self, k: usize) {
        let b = &mut self.blocks[k];
        b.own_compliance += b.relative_compliance / self.islands[b.island as usize].mass;
        b.compliance = b.own_compliance;
    }

    /// Rows of one constraint between two frames are measured by their mean: along single axes nothing may move.
    pub(crate) fn average_unit(&mut self, blocks: Range<usize>) {
        let blocks = &mut self.blocks[blocks];
        let mean = blocks.iter().map(|b| b.mean).sum::<f64>() / blocks.len() as f64;
        blocks.iter_mut().for_each(|b| b.mean = mean);
    }

    /// A third of the trace of a block of the Delassus matrix without compliance.
    fn rigid_mean(&self, k: usize) -> f64 {
        let (rigid, rows) = (&self.diagonals[k], self.blocks[k].cone.rows());
        rigid.iter().enumerate().take(rows).fold(0.0, |s, (i, row)| s + row[i]) / rows as f64
    }

    fn finish_block(&mut self, k: usize, least: f64) {
        let D = self.diagonal_block(k);
        let mean = self.rigid_mean(k);
        let b = &mut self.blocks[k];
        let rows = b.cone.rows();
        b.mean = (mean + b.compliance / rows as f64).max(least);
        b.max_eigenvalue = if rows > 1 { largest_eigenvalue(&D) } else { D[0][0] };
        // a constraint that nothing can move still needs a unit
        if !(b.mean > 0.0 && b.max_eigenvalue > 0.0) {
            (b.max_eigenvalue, b.mean) = (1.0, 1.0);
        }
    }

    /// Scales the compliance of the redundant contacts. Returns whether there are any.
    pub(crate) fn scale_compliance(&mut self, factor: f64) -> bool {
        let mut any = false;
        for b in self.blocks.iter_mut().filter(|b| b.is_redundant()) {
            (b.compliance, b.own_compliance) = (factor * b.compliance, factor * b.own_compliance);
            any = true;
        }
        any
    }

    /// `J v` of all rows.
    pub(crate) fn write_velocities(&self, v: &[f64], out: &mut [f64]) {
        for (n, group) in self.groups.iter().enumerate() {
            let xi = self.jacobian.velocity(n, v);
            for b in &self.blocks[group.blocks.clone()] {
                let local = Block { xi: b.xi - group.xi.start, ..*b };
                out[b.row..b.row + b.cone.rows()].copy_from_slice(&self.spread(&local, &xi)[..b.cone.rows()]);
            }
        }
        for b in &self.blocks {
            if let RowSpace::Dof { dof, scale } = b.space {
                out[b.row] = scale * v[dof as usize];
            }
        }
    }

    /// Rows of λ, σ, g.
    pub fn rows(&self) -> usize {
        self.g.len()
    }

    /// Velocity of the constraints without impulses (rows).
    pub fn free_velocity(&self) -> &[f64] {
        &self.g
    }

    /// A block of the Delassus matrix, compliance included; one-row constraints use its first entry.
    pub(crate) fn diagonal_block(&self, k: usize) -> [[f64; 3]; 3] {
        with_compliance(&self.blocks[k], self.diagonals[k])
    }

    /// G between the rows of a group.
    #[inline(always)]
    pub(crate) fn own_matrix(&self, group: &RowGroup) -> [[f64; WIDTH]; WIDTH] {
        let island = &self.islands[self.blocks[group.blocks.start].island as usize];
        let (n, first) = (group.xi.len(), group.xi.start - island.xi.start);
        let mut own = [[0.0; WIDTH]; WIDTH];
        for (i, own) in own.iter_mut().enumerate().take(n) {
            if island.has_delassus {
                own[..n].copy_from_slice(&self.delassus.G[island.row(group.xi.start + i)][first..first + n]);
            } else {
                (0..n).for_each(|j| own[j] = dot_lanes(self.factor_row(group, i), self.factor_row(group, j)));
            }
        }
        own
    }

    /// A block of the Delassus matrix without compliance, from G between the rows of its group.
    #[inline(always)]
    fn rigid_block(&self, own: &[[f64; WIDTH]; WIDTH], first: usize, b: &Block) -> [[f64; 3]; 3] {
        let mut D = [[0.0; 3]; 3];
        match b.space {
            RowSpace::Twist(map) => {
                let T = &self.maps[map as usize];
                for i in 0..3 {
                    let mut row = [0.0; TWIST];
                    for (t, G) in T[i].iter().zip(own) {
                        (0..TWIST).for_each(|c| row[c] += t * G[c]);
                    }
                    for (d, T) in D[i].iter_mut().zip(T) {
                        *d = (0..TWIST).fold(0.0, |s, c| s + row[c] * T[c]);
                    }
                }
            }
            RowSpace::Dof { .. } => {}
            RowSpace::Rows => {
                let (rows, first) = (b.cone.rows(), b.xi - first);
                for (D, G) in D.iter_mut().zip(&own[first..]).take(rows) {
                    D[..rows].copy_from_slice(&G[first..first + rows]);
                }
            }
        }
        D
    }

    /// `out += Tᵀ x` for the rows of one block.
    #[inline(always)]
    pub(crate) fn gather(&self, b: &Block, x: &[f64; 3], out: &mut [f64]) {
        match b.space {
            RowSpace::Dof { dof, scale } => out[self.dofs.start + dof as usize] += scale * x[0],
            RowSpace::Twist(map) => {
                let (T, out) = (&self.maps[map as usize], &mut out[b.xi..b.xi + TWIST]);
                for c in 0..TWIST {
                    out[c] += T[0][c] * x[0] + T[1][c] * x[1] + T[2][c] * x[2];
                }
            }
            RowSpace::Rows => {
                for (o, x) in out[b.xi..b.xi + b.cone.rows()].iter_mut().zip(x) {
                    *o += x;
                }
            }
        }
    }

    /// `T ξ` for the rows of one block.
    #[inline(always)]
    pub(crate) fn spread(&self, b: &Block, xi: &[f64]) -> [f64; 3] {
        let mut out = [0.0; 3];
        match b.space {
            RowSpace::Dof { dof, scale } => out[0] = scale * xi[self.dofs.start + dof as usize],
            RowSpace::Twist(map) => {
                let (T, xi) = (&self.maps[map as usize], &xi[b.xi..b.xi + TWIST]);
                for (o, T) in out.iter_mut().zip(T) {
                    *o = (0..TWIST).fold(0.0, |s, c| s + T[c] * xi[c]);
                }
            }
            RowSpace::Rows => {
                let rows = b.cone.rows();
                out[..rows].copy_from_slice(&xi[b.xi..b.xi + rows]);
            }
        }
        out
    }

    /// `ξ = G w`; vectors of this space have `width` numbers, of which those beyond `size` are scratch.
    #[inline(always)]
    pub(crate) fn multiply(&self, w: &mut [f64], xi: &mut [f64]) {
        let size = self.size();
        for island in &self.islands {
            if let (Some(tree), false) = (self.dofs.tree(), island.trees.is_empty()) {
                self.multiply_by_dofs(tree, island, w, xi);
                continue;
            }
            if island.through_factor {
                let (w, x) = w.split_at_mut(size);
                let (xi, local) = xi.split_at_mut(size);
                self.gather_columns(&self.delassus.W, island, w, x, local);
                self.spread_columns(&self.delassus.W, island, x, xi, local);
                continue;
            }
            let (w, xi) = (&w[island.xi.start..][..island.stride], &mut xi[island.xi.clone()]);
            for (x, row) in xi.iter_mut().zip(self.delassus.G[island.entries..].chunks_exact(island.stride)) {
                *x = dot_lanes(row, w);
            }
        }
    }

    /// `out = (T G Tᵀ + R) λ`; `w` and `xi` are scratch (width).   (ncp-2)
    pub(crate) fn apply(&self, lambda: &[f64], out: &mut [f64], w: &mut [f64], xi: &mut [f64]) {
        apply(self, lambda, out, w, xi);
    }

    /// `σ = (T G Tᵀ + R) λ + g`.   (ncp-2)
    pub(crate) fn velocity(&self, lambda: &[f64], sigma: &mut [f64], w: &mut [f64], xi: &mut [f64]) {
        self.apply(lambda, sigma, w, xi);
        for (s, g) in sigma.iter_mut().zip(&self.g) {
            *s += g;
        }
    }
}

dispatch!(
    /// See [`Problem::apply`].
    pub(crate) fn apply(problem: &Problem, lambda: &[f64], out: &mut [f64], w: &mut [f64], xi: &mut [f64]) {
        w.fill(0.0);
        for b in &problem.blocks {
            problem.gather(b, &rows_of(lambda, b), w);
        }
        problem.multiply(w, xi);
        for b in &problem.blocks {
            let (rows, x) = (b.cone.rows(), problem.spread(b, xi));
            out[b.row..b.row + rows].copy_from_slice(&x[..rows]);
            out[b.row + rows - 1] += b.compliance * lambda[b.row + rows - 1];
        }
    }
);

fn with_compliance(b: &Block, mut D: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let last = b.cone.rows() - 1;
    D[last][last] += b.compliance;
    D
}

/// The rows of a block, filled up with zeros.
#[inline(always)]
pub(crate) fn rows_of(x: &[f64], b: &Block) -> Rows {
    match b.cone {
        Cone::Friction { .. } => [x[b.row], x[b.row + 1], x[b.row + 2]],
        _ => [x[b.row], 0.0, 0.0],
    }
}

/// Largest eigenvalue of a symmetric 3 × 3 matrix, by the closed form of its characteristic polynomial.
fn largest_eigenvalue(D: &[[f64; 3]; 3]) -> f64 {
    let mean = (D[0][0] + D[1][1] + D[2][2]) / 3.0;
    let off = D[0][1] * D[0][1] + D[0][2] * D[0][2] + D[1][2] * D[1][2];
    let (a, b, c) = (D[0][0] - mean, D[1][1] - mean, D[2][2] - mean);
    let p = ((a * a + b * b + c * c + 2.0 * off) / 6.0).sqrt();
    if p == 0.0 {
        return mean;
    }
    let det = a * (b * c - D[1][2] * D[1][2]) - D[0][1] * (D[0][1] * c - D[1][2] * D[0][2])
        + D[0][2] * (D[0][1] * D[1][2] - b * D[0][2]);
    let r = (det / (2.0 * p * p * p)).clamp(-1.0, 1.0);
    mean + 2.0 * p * (r.acos() / 3.0).cos()
}
