//! Low-rank factor W of the Delassus matrix, `G = W Wᵀ`, with a column per dof that moves an island. It serves islands with
//! more rows than dofs, and those of many bodies each of which touches few others: systems are solved in its columns and
//! velocities computed through them.   (contact-7)
//!
//! A group moves the dofs of its path and no others: its rows of W are stored with those columns only, row by row in whole
//! lanes. Columns of one tree come one after the other and make a *node*; between nodes that share no group nothing couples.
#![allow(non_snake_case)]

use super::islands::Island;
use super::{Problem, RowGroup};
use crate::dynamics::Columns;
use crate::linalg::{dot_lanes, pivoted_cholesky};
use crate::model::Topology;
use crate::spatial::Lane;
use core::ops::Range;

/// A remaining diagonal entry below this fraction of the largest is rounding.
const FACTOR_TOLERANCE: f64 = 1e-13;
/// Rows from which on systems are solved in the columns of several nodes even where there are more columns than rows.
pub(crate) const MANY_ROWS: usize = 64;
/// How many times fewer entries than G the matrix W must have for products through it, which read it twice.
const SPARSER: usize = 4;

impl RowGroup {
    /// Numbers from one of its rows of W to the next.
    #[inline(always)]
    pub fn factor_stride(&self) -> usize {
        self.columns.len().next_multiple_of(4)
    }

    /// Where its entries of W end.
    pub fn factor_end(&self) -> usize {
        self.factor_start + self.xi.len() * self.factor_stride()
    }
}

/// Makes room for W of an island that uses it. `at` is scratch: a number per dof.
pub(crate) fn open_factor(tree: &Topology, at: &mut [usize], problem: &mut Problem, island: usize) {
    let Island { groups, xi, .. } = problem.islands[island].clone();
    // a single path with as many dofs as rows: W would not be smaller than G
    if problem.jacobian.spans[groups.clone()].iter().any(|span| span.len() >= xi.len()) {
        return;
    }
    let (nodes, first, first_dof) = (problem.nodes.len(), problem.columns.len(), problem.column_dofs.len());
    let Problem { jacobian, columns, .. } = &mut *problem;
    collect_dofs(&jacobian.spans[groups.clone()], &jacobian.path, at, columns);
    let columns = problem.columns.len() - first;
    if xi.len() <= columns.min(MANY_ROWS) {
        return problem.columns.truncate(first);
    }
    number_columns(tree, first, at, problem);
    if xi.len() <= columns && problem.nodes.len() == nodes + 1 {
        problem.column_dofs.truncate(first_dof);
        return problem.nodes.truncate(nodes);
    }
    for n in groups {
        let start = problem.columns.len();
        let Problem { jacobian, columns, .. } = &mut *problem;
        columns.extend(jacobian.path[jacobian.spans[n].clone()].iter().map(|j| at[*j] as u32));
        problem.reserve_factor(n, start);
    }
    problem.close_factor(island, columns, nodes, first_dof);
}

/// Adds the dofs of some paths to a list, each once.
#[inline(always)]
fn collect_dofs(spans: &[Range<usize>], path: &[usize], at: &mut [usize], list: &mut Vec<u32>) {
    let dofs = || spans.iter().flat_map(|span| &path[span.clone()]).copied();
    dofs().for_each(|j| at[j] = usize::MAX);
    for j in dofs() {
        if at[j] == usize::MAX {
            at[j] = 0;
            list.push(j as u32);
        }
    }
}

/// Takes the dofs from `first` on off the list of columns and numbers them in `at`, those of a tree one after the other: a node.
fn number_columns(tree: &Topology, first: usize, at: &mut [usize], problem: &mut Problem) {
    let Problem { columns, nodes, column_dofs, .. } = problem;
    columns[first..].sort_unstable();
    let mut last = None;
    for (n, j) in columns.drain(first..).enumerate() {
        let node = tree.nodes[tree.dof_body[j as usize]].tree;
        if last.replace(node) != Some(node) {
            nodes.push(0);
        }
        nodes.last_mut().into_iter().for_each(|count| *count += 1);
        at[j as usize] = n;
        column_dofs.push(j);
    }
}

impl Problem {
    /// Room for a group's rows of W, with the columns from `first` on.
    fn reserve_factor(&mut self, group: usize, first: usize) {
        let group = &mut self.groups[group];
        (group.columns, group.factor_start) = (first..self.columns.len(), self.entries[1]);
        self.entries[1] = group.factor_end();
    }

    /// Rows of W = Zᵀ D^(−1/2) of a group from its part of Z.
    #[inline(always)]
    pub(crate) fn write_factor(
        &self,
        group: &RowGroup,
        inverse_pivots: &[f64],
        path: &[usize],
        Z: &[Columns],
        W: &mut [f64],
    ) {
        let stride = group.factor_stride();
        for (c, (z, &j)) in Z.iter().zip(path).enumerate() {
            let scale = inverse_pivots[j].sqrt();
            for i in 0..group.xi.len() {
                W[group.factor_start + i * stride + c] = z[i / 4].0[i % 4] * scale;
            }
        }
    }

    /// There is room for W of an island; its nodes are those from `nodes` on, the dofs of its columns those from `dofs` on.
    fn close_factor(&mut self, island: usize, columns: usize, nodes: usize, dofs: usize) {
        let island = &mut self.islands[island];
        let entries: usize = self.groups[island.groups.clone()].iter().map(|g| g.xi.len() * g.factor_stride()).sum();
        (island.factor_columns, island.nodes) = (columns, nodes..self.nodes.len());
        island.column_dofs = dofs..self.column_dofs.len();
        island.through_factor = SPARSER * entries < island.xi.len() * island.stride;
        island.has_delassus = !(island.through_factor && island.nodes.len() > 1 && island.xi.len() > MANY_ROWS);
    }

    /// W of a bare problem where G has less than full rank, by a Cholesky factor with pivots.
    pub(crate) fn find_factor(&mut self, G: &[f64], rows: usize) {
        let (mut L, mut left) = (vec![0.0; rows * rows], vec![0.0; rows]);
        let least = FACTOR_TOLERANCE * (0..rows).fold(0.0, |m: f64, i| m.max(G[i * rows + i]));
        let rank = pivoted_cholesky(G, rows, least, &mut L, &mut left);
        if rank == 0 || rank == rows {
            return;
        }
        self.nodes.push(rank);
        for n in 0..self.groups.len() {
            let start = self.columns.len();
            self.columns.extend(0..rank as u32);
            self.reserve_factor(n, start);
            let (group, stride) = (&self.groups[n], self.groups[n].factor_stride());
            self.delassus.W.resize(self.entries[1], 0.0);
            for (i, row) in group.xi.clone().enumerate() {
                let out = &mut self.delassus.W[group.factor_start + i * stride..];
                out[..rank].copy_from_slice(&L[row * rows..][..rank]);
            }
        }
        self.close_factor(0, rank, 0, 0);
        (self.islands[0].through_factor, self.islands[0].has_delassus) = (false, true);
    }

    /// A row of W of a group.
    #[inline(always)]
    pub(crate) fn factor_row(&self, group: &RowGroup, row: usize) -> &[f64] {
        factor_row(&self.delassus.W, group, row)
    }

    /// `x = Wᵀ w` of an island; `local` is scratch.
    #[inline(always)]
    pub(crate) fn gather_columns(&self, W: &[f64], island: &Island, w: &[f64], x: &mut [f64], local: &mut [f64]) {
        x[..island.factor_columns].fill(0.0);
        for group in &self.groups[island.groups.clone()] {
            self.gather_group(W, group, w, x, local);
        }
    }

    /// `x += Wᵀ w` of a group.
    #[inline(always)]
    pub(crate) fn gather_group(&self, W: &[f64], group: &RowGroup, w: &[f64], x: &mut [f64], local: &mut [f64]) {
        // a constraint between bodies that cannot move has no columns
        if group.columns.is_empty() || w[group.xi.clone()].iter().all(|w| *w == 0.0) {
            return;
        }
        let stride = group.factor_stride();
        let local = &mut local[..stride];
        local.fill(0.0);
        for (row, w) in W[group.factor_start..].chunks_exact(stride).zip(&w[group.xi.clone()]) {
            add_scaled(local, row, *w);
        }
        for (c, value) in self.columns[group.columns.clone()].iter().zip(local) {
            x[*c as usize] += *value;
        }
    }

    /// `ξ = W x` of an island; `local` is scratch.
    #[inline(always)]
    pub(crate) fn spread_columns(&self, W: &[f64], island: &Island, x: &[f64], xi: &mut [f64], local: &mut [f64]) {
        for group in &self.groups[island.groups.clone()] {
            self.spread_group(W, group, x, xi, local);
        }
    }

    /// `ξ = W x` of a group.
    #[inline(always)]
    pub(crate) fn spread_group(&self, W: &[f64], group: &RowGroup, x: &[f64], xi: &mut [f64], local: &mut [f64]) {
        if group.columns.is_empty() {
            return xi[group.xi.clone()].fill(0.0);
        }
        let stride = group.factor_stride();
        let local = &mut local[..stride];
        local[group.columns.len()..].fill(0.0);
        for (c, value) in self.columns[group.columns.clone()].iter().zip(local.iter_mut()) {
            *value = x[*c as usize];
        }
        for (row, xi) in W[group.factor_start..].chunks_exact(stride).zip(&mut xi[group.xi.clone()]) {
            *xi = dot_lanes(row, local);
        }
    }

    /// `out += G c` of an island for several columns side by side, `lanes` of four numbers per row; `x` is scratch.
    #[inline(always)]
    pub(crate) fn multiply_through(
        &self,
        W: &[f64],
        island: &Island,
        lanes: usize,
        c: &[[f64; 4]],
        x: &mut Vec<[f64; 4]>,
        out: &mut [[f64; 4]],
    ) {
        x.clear();
        x.resize(island.factor_columns * lanes, [0.0; 4]);
        let groups = || self.groups[island.groups.clone()].iter();
        let rows = |group: &RowGroup| group.xi.clone().map(|i| (i - island.xi.start) * lanes).enumerate();
        for group in groups() {
            for (i, at) in rows(group) {
                for (w, column) in factor_row(W, group, i).iter().zip(&self.columns[group.columns.clone()]) {
                    add_scaled(
                        x[*column as usize * lanes..][..lanes].as_flattened_mut(),
                        c[at..at + lanes].as_flattened(),
                        *w,
                    );
                }
            }
        }
        for group in groups() {
            for (i, at) in rows(group) {
                for (w, column) in factor_row(W, group, i).iter().zip(&self.columns[group.columns.clone()]) {
                    add_scaled(
                        out[at..at + lanes].as_flattened_mut(),
                        x[*column as usize * lanes..][..lanes].as_flattened(),
                        *w,
                    );
                }
            }
        }
    }
}

/// `out += s x`, whole lanes.
#[inline(always)]
fn add_scaled(out: &mut [f64], x: &[f64], s: f64) {
    for (o, x) in out.as_chunks_mut::<4>().0.iter_mut().zip(x.as_chunks::<4>().0) {
        *o = (Lane(*o) + Lane(*x) * s).0;
    }
}

/// A row of W of a group.
#[inline(always)]
fn factor_row<'a>(W: &'a [f64], group: &RowGroup, row: usize) -> &'a [f64] {
    let stride = group.factor_stride();
    &W[group.factor_start + row * stride..][..stride]
}
