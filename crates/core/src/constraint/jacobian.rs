//! Rows of J by groups, and the Delassus matrix from them.   (contact-6, contact-7)
//!
//! A group has up to eight rows side by side and the dofs that move any of them, its *path*: rising numbers, with every
//! dof all that carry it. Off its path a group is zero, so nothing else is stored or multiplied.
//! The sign of every contact is decided here: J = J of body 2 − J of body 1.
#![allow(non_snake_case)]

use super::problem::Problem;
use super::root::{Paths, write_root};
use crate::dispatch::dispatch;
use crate::dynamics::{Columns, Kinematics, MassFactor, half_solve};
use crate::footprint::footprint;
use crate::model::{BodyId, Model};
use crate::spatial::{Lane, Vec3};
use core::ops::Range;

/// Most rows of a group.
pub(crate) const WIDTH: usize = 8;

/// J of all groups, and what the Delassus matrix is made of.
#[derive(Debug, Clone, Default)]
pub(crate) struct Jacobian {
    /// Path of each group, in `path`, `J`, `Z`, `Y`.
    pub spans: Vec<Range<usize>>,
    pub path: Vec<usize>,
    /// Rows of J, one entry per dof of the path.
    pub J: Vec<Columns>,
    /// L⁻ᵀ Jᵀ and D⁻¹ L⁻ᵀ Jᵀ.
    Z: Vec<Columns>,
    Y: Vec<Columns>,
    /// Where a dof is in the path of the group at hand.
    at: Vec<usize>,
}

footprint!(Jacobian: spans, path, J, Z, Y, at);

impl Jacobian {
    /// Memory for a model.
    pub fn new(model: &Model) -> Jacobian {
        Jacobian { at: vec![0; model.nv()], ..Jacobian::default() }
    }

    /// Empties; memory stays.
    pub fn begin(&mut self) {
        self.spans.clear();
        self.path.clear();
        self.J.clear();
    }

    /// How much there is room for.
    pub fn capacity(&self) -> usize {
        self.spans.capacity() + self.path.capacity() + self.J.capacity() + self.Z.capacity() + self.Y.capacity()
    }

    /// A new group of zero rows moved by the given dofs and all that carry them.
    pub fn open(&mut self, model: &Model, last_dofs: impl Iterator<Item = usize>) {
        let start = self.path.len();
        for last in last_dofs {
            self.add_chain(model.tree().ancestors(last), start);
        }
        let path = &self.path[start..];
        for (n, &j) in path.iter().enumerate() {
            self.at[j] = n;
        }
        self.J.resize(self.path.len(), [Lane::ZERO; 2]);
        self.spans.push(start..self.path.len());
    }

    /// The group of two bodies.
    pub fn open_bodies(&mut self, model: &Model, bodies: [BodyId; 2]) {
        let last = |b: BodyId| model.tree().support(b.0).last().copied();
        self.open(model, bodies.into_iter().filter_map(last));
    }

    /// Merges a chain, root first, into the path that begins at `start`: both rise.
    fn add_chain(&mut self, chain: &[usize], start: usize) {
        let known = self.path[start..].iter().zip(chain).take_while(|(a, b)| a == b).count();
        let tail = &chain[known..];
        match (self.path[start..].last(), tail.first()) {
            (_, None) => {}
            (Some(last), Some(first)) if last >= first => {
                for &j in tail {
                    if let Err(n) = self.path[start..].binary_search(&j) {
                        self.path.insert(start + n, j);
                    }
                }
            }
            _ => self.path.extend_from_slice(tail),
        }
    }

    /// Rows of the open group from `first`: velocity of a point of a body along some axes, times `sign`.
    pub fn add_point(
        &mut self,
        model: &Model,
        kin: &Kinematics,
        body: BodyId,
        point: Vec3,
        axes: &[Vec3],
        first: usize,
        sign: f64,
    ) {
        if body == BodyId::WORLD {
            return;
        }
        let arm = point - kin.origin[model.tree().nodes[body.0].tree];
        self.add(model, body, first, axes, |j| kin.axes[j].at(arm) * sign);
    }

    /// Rows of the open group from `first`: angular velocity of a body along some axes, times `sign`.
    pub fn add_rotation(
        &mut self,
        model: &Model,
        kin: &Kinematics,
        body: BodyId,
        axes: &[Vec3],
        first: usize,
        sign: f64,
    ) {
        self.add(model, body, first, axes, |j| kin.axes[j].ang * sign);
    }

    fn add(&mut self, model: &Model, body: BodyId, first: usize, axes: &[Vec3], velocity: impl Fn(usize) -> Vec3) {
        let start = self.spans.last().map_or(0, |s| s.start);
        for &j in model.tree().support(body.0) {
            let (v, row) = (velocity(j), &mut self.J[start + self.at[j]]);
            for (k, axis) in axes.iter().enumerate() {
                row[(first + k) / 4].0[(first + k) % 4] += axis.dot(v);
            }
        }
    }

    /// An entry of the open group.
    pub fn add_dof(&mut self, dof: usize, row: usize, value: f64) {
        let start = self.spans.last().map_or(0, |s| s.start);
        self.J[start + self.at[dof]][row / 4].0[row % 4] += value;
    }

    /// `J v` of a group, up to eight rows.
    pub fn velocity(&self, group: usize, v: &[f64]) -> [f64; WIDTH] {
        let span = self.spans[group].clone();
        let mut sum = [Lane::ZERO; 2];
        for (J, &j) in self.J[span.clone()].iter().zip(&self.path[span]) {
            sum[0] += J[0] * v[j];
            sum[1] += J[1] * v[j];
        }
        core::array::from_fn(|k| sum[k / 4].0[k % 4])
    }

    /// `out += Jᵀ w` of a group.
    pub fn add_transposed(&self, group: usize, w: &[f64], out: &mut [f64]) {
        let span = self.spans[group].clone();
        for (J, &j) in self.J[span.clone()].iter().zip(&self.path[span]) {
            out[j] += w.iter().enumerate().fold(0.0, |s, (k, w)| s + J[k / 4].0[k % 4] * w);
        }
    }
}

dispatch! {
    /// G = J M̂⁻¹ Jᵀ into the problem, group by group.   (contact-7)
    pub(crate) fn delassus(model: &Model, mass: &MassFactor, jacobian: &mut Jacobian, problem: &mut Problem) => delassus_body
}

#[inline(always)]
fn delassus_body(model: &Model, mass: &MassFactor, jacobian: &mut Jacobian, problem: &mut Problem) {
    let Jacobian { spans, path, J, Z, Y, at } = jacobian;
    Z.clear();
    Z.extend_from_slice(J);
    Y.clear();
    Y.resize(J.len(), [Lane::ZERO; 2]);
    for span in spans.iter() {
        let path = &path[span.clone()];
        for (n, &j) in path.iter().enumerate() {
            at[j] = n;
        }
        let Z = &mut Z[span.clone()];
        half_solve(model, mass, path, at, Z);
        for ((y, z), &j) in Y[span.clone()].iter_mut().zip(Z.iter()).zip(path) {
            *y = [z[0] * mass.inverse_pivots()[j], z[1] * mass.inverse_pivots()[j]];
        }
    }
    for island in 0..problem.islands.len() {
        write_root(model, mass, Paths { spans, path, Z }, at, problem, island);
        if !problem.islands[island].has_delassus {
            continue;
        }
        problem.open_delassus(island);
        let groups = problem.islands[island].groups.clone();
        for (a, b) in groups.clone().flat_map(|a| (groups.start..=a).map(move |b| (a, b))) {
            let pair = (
                Half { path: &path[spans[a].clone()], columns: &Y[spans[a].clone()] },
                Half { path: &path[spans[b].clone()], columns: &Z[spans[b].clone()] },
            );
            match (problem.groups[a].xi.len(), problem.groups[b].xi.len()) {
                (1..=3, 1..=4) => block::<3, 1>(pair, problem, a, b),
                (1..=3, _) => block::<3, 2>(pair, problem, a, b),
                (4..=6, 1..=4) => block::<6, 1>(pair, problem, a, b),
                (4..=6, _) => block::<6, 2>(pair, problem, a, b),
                _ => block::<8, 2>(pair, problem, a, b),
            }
        }
    }
}

/// A group's half of a product.
#[derive(Clone, Copy)]
struct Half<'a> {
    path: &'a [usize],
    columns: &'a [Columns],
}

/// A block of G, `Σ Y_a Z_bᵀ` over the dofs that two groups share, and its mirror image; N rows and L lanes of columns.
#[inline(always)]
fn block<const N: usize, const L: usize>((left, right): (Half, Half), problem: &mut Problem, a: usize, b: usize) {
    let mut sums = [[Lane::ZERO; L]; N];
    let (mut i, mut j, mut any) = (0, 0, false);
    while i < left.path.len() && j < right.path.len() {
        let (p, q) = (left.path[i], right.path[j]);
        if p == q {
            let (y, z) = (&left.columns[i], &right.columns[j]);
            for n in 0..N {
                let y = y[n / 4].0[n % 4];
                for l in 0..L {
                    sums[n][l] += z[l] * y;
                }
            }
            any = true;
        }
        i += usize::from(p <= q);
        j += usize::from(q <= p);
    }
    if any {
        write(problem, a, b, &sums);
    }
}

#[inline(always)]
fn write<const N: usize, const L: usize>(problem: &mut Problem, a: usize, b: usize, sums: &[[Lane; L]; N]) {
    let (rows, columns) = (problem.groups[a].xi.clone(), problem.groups[b].xi.clone());
    let Problem { islands, blocks, groups, G, .. } = problem;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_that_branch_are_merged_without_repeats() {
        let mut jacobian = Jacobian::default();
        for chain in [&[0, 1, 2, 3][..], &[0, 1, 4], &[0, 1, 4, 5], &[0, 1, 2, 6], &[7]] {
            jacobian.add_chain(chain, 0);
        }
        assert_eq!(jacobian.path, [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}
