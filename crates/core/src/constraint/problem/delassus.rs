//! The Delassus matrix G = J M⁻¹ Jᵀ of a problem's groups, for M̂ or for M̂ with a stiffened diagonal.   (contact-7)
#![allow(non_snake_case)]

use super::Problem;
use crate::constraint::rows::jacobian::{Jacobian, WIDTH, add_along_path, along_path};
use crate::dispatch::dispatch;
use crate::dynamics::{Columns, TreeMatrix, half_solve, is_chain};
use crate::footprint::footprint;
use crate::model::Topology;
use crate::spatial::Lane;
use core::ops::Range;

/// G of a problem, or W with `G = W Wᵀ` (`low_rank.rs`), and what they are made of. The problem knows where entries are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Delassus {
    /// L⁻ᵀ Jᵀ and D⁻¹ L⁻ᵀ Jᵀ: an entry for each dof of the paths.
    Z: Vec<Columns>,
    Y: Vec<Columns>,
    /// G of the islands, one after the other.
    pub G: Vec<f64>,
    /// W of the islands, group by group.
    pub W: Vec<f64>,
    /// Where a dof is in the path of the group at hand.
    at: Vec<usize>,
}

footprint!(Delassus: Z, Y, G, W, at);

impl Delassus {
    /// Copies the half solves of some paths of another.
    pub fn copy_halves(&mut self, from: &Delassus, spans: &[Range<usize>]) {
        self.Z.clear();
        spans.iter().for_each(|span| self.Z.extend_from_slice(&from.Z[span.clone()]));
    }

    /// `J L⁻¹ y` of a group, up to eight rows.
    #[inline(always)]
    pub fn velocity(&self, jacobian: &Jacobian, group: usize, y: &[f64]) -> [f64; WIDTH] {
        let span = jacobian.spans[group].clone();
        along_path(&self.Z[span.clone()], &jacobian.path[span], y)
    }

    /// `y += L⁻ᵀ Jᵀ w` of a group.
    #[inline(always)]
    pub fn add_transposed(&self, jacobian: &Jacobian, group: usize, w: &[f64], y: &mut [f64]) {
        let span = jacobian.spans[group].clone();
        add_along_path(&self.Z[span.clone()], &jacobian.path[span], w, y);
    }
}

dispatch!(
    /// G and W of all islands of a problem with the factors of M.   (contact-7)
    pub(crate) fn delassus(tree: &Topology, factor: &TreeMatrix, problem: &Problem, out: &mut Delassus) {
        let Jacobian { spans, path, J, .. } = &problem.jacobian;
        let Delassus { Z, Y, G, W, at } = out;
        Z.clear();
        Z.extend_from_slice(J);
        Y.clear();
        Y.resize(J.len(), [Lane::ZERO; 2]);
        at.resize(tree.nv, 0);
        for (span, group) in spans.iter().zip(&problem.groups) {
            let path = &path[span.clone()];
            for (n, &j) in path.iter().enumerate() {
                at[j] = n;
            }
            let Z = &mut Z[span.clone()];
            match group.xi.len() {
                1..=4 => half_solve::<1>(tree, factor, path, at, Z),
                _ => half_solve::<2>(tree, factor, path, at, Z),
            }
            for ((y, z), &j) in Y[span.clone()].iter_mut().zip(Z.iter()).zip(path) {
                *y = [z[0] * factor.inverse_pivots()[j], z[1] * factor.inverse_pivots()[j]];
            }
        }
        let [entries, factor_entries] = problem.entries;
        G.clear();
        G.resize(entries, 0.0);
        W.clear();
        W.resize(factor_entries, 0.0);
        for island in problem.islands.iter() {
            if island.factor_columns > 0 {
                for n in island.groups.clone() {
                    let (path, Z) = (&path[spans[n].clone()], &Z[spans[n].clone()]);
                    problem.write_factor(&problem.groups[n], factor.inverse_pivots(), path, Z, W);
                }
            }
            if !island.has_delassus {
                continue;
            }
            let groups = island.groups.clone();
            for (a, b) in groups.clone().flat_map(|a| (groups.start..=a).map(move |b| (a, b))) {
                let pair = (
                    Half { path: &path[spans[a].clone()], columns: &Y[spans[a].clone()] },
                    Half { path: &path[spans[b].clone()], columns: &Z[spans[b].clone()] },
                );
                let chains = is_chain(tree, pair.0.path) && is_chain(tree, pair.1.path);
                match (problem.groups[a].xi.len(), problem.groups[b].xi.len()) {
                    (1..=3, 1..=4) => block::<3, 1>(pair, chains, problem, a, b, G),
                    (1..=3, _) => block::<3, 2>(pair, chains, problem, a, b, G),
                    (4..=6, 1..=4) => block::<6, 1>(pair, chains, problem, a, b, G),
                    (4..=6, _) => block::<6, 2>(pair, chains, problem, a, b, G),
                    _ => block::<8, 2>(pair, chains, problem, a, b, G),
                }
            }
        }
    }
);

/// A group's half of a product.
#[derive(Clone, Copy)]
struct Half<'a> {
    path: &'a [usize],
    columns: &'a [Columns],
}

/// A block of G, `Σ Y_a Z_bᵀ` over the dofs that two groups share, and its mirror image; N rows and L lanes of columns. Two
/// `chains` share the beginning of their paths and no more.
#[inline(always)]
fn block<const N: usize, const L: usize>(
    (left, right): (Half, Half),
    chains: bool,
    problem: &Problem,
    a: usize,
    b: usize,
    G: &mut [f64],
) {
    let mut sums = [[Lane::ZERO; L]; N];
    let common = left.path.iter().zip(right.path).take_while(|(p, q)| p == q).count();
    for (y, z) in left.columns[..common].iter().zip(&right.columns[..common]) {
        add_outer(&mut sums, y, z);
    }
    let (mut i, mut j, mut any) = (common, common, common > 0);
    while !chains && i < left.path.len() && j < right.path.len() {
        let (p, q) = (left.path[i], right.path[j]);
        if p == q {
            add_outer(&mut sums, &left.columns[i], &right.columns[j]);
            any = true;
        }
        i += usize::from(p <= q);
        j += usize::from(q <= p);
    }
    if any {
        write(problem, a, b, &sums, G);
    }
}

#[inline(always)]
fn add_outer<const N: usize, const L: usize>(sums: &mut [[Lane; L]; N], y: &Columns, z: &Columns) {
    for n in 0..N {
        let y = y[n / 4].0[n % 4];
        for l in 0..L {
            sums[n][l] += z[l] * y;
        }
    }
}

#[inline(always)]
fn write<const N: usize, const L: usize>(problem: &Problem, a: usize, b: usize, sums: &[[Lane; L]; N], G: &mut [f64]) {
    let (rows, columns) = (problem.groups[a].xi.clone(), problem.groups[b].xi.clone());
    let Problem { islands, blocks, groups, .. } = problem;
    let island = &islands[blocks[groups[a].blocks.start].island as usize];
    let first = island.xi.start;
    for (i, sum) in rows.clone().zip(sums) {
        let out = &mut G[island.row(i)][columns.start - first..columns.end - first];
        for (m, x) in out.iter_mut().enumerate() {
            *x = sum[m / 4].0[m % 4];
        }
    }
    if a != b {
        for (m, j) in columns.enumerate() {
            let out = &mut G[island.row(j)][rows.start - first..rows.end - first];
            for (x, sum) in out.iter_mut().zip(sums) {
                *x = sum[m / 4].0[m % 4];
            }
        }
    }
}
