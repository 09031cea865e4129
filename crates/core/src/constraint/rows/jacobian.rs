//! Rows of J by groups.   (contact-6)
//!
//! A group has up to eight rows side by side and the dofs that move any of them, its *path* of supporting dofs: rising
//! numbers, with every dof all that carry it. Off its path a group is zero, so nothing else is stored or multiplied. The
//! sign of every contact is decided here: J = J of body 2 − J of body 1.
#![allow(non_snake_case)]

use crate::dynamics::{Columns, Kinematics};
use crate::footprint::footprint;
use crate::model::{BodyId, Model};
use crate::spatial::{Lane, Vec3};
use core::ops::Range;

/// Most rows of a group.
pub(crate) const WIDTH: usize = 8;

/// J of all groups.
#[derive(Debug, Clone, Default)]
pub(crate) struct Jacobian {
    /// Path of each group, in `path` and `J`.
    pub spans: Vec<Range<usize>>,
    pub path: Vec<usize>,
    /// Rows of J, one entry per dof of the path.
    pub J: Vec<Columns>,
    /// Where a dof is in the path of the group at hand.
    at: Vec<usize>,
}

footprint!(Jacobian: spans, path, J, at);

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

    /// Takes some groups of another, with all of their paths.
    pub fn copy_groups(&mut self, from: &Jacobian, groups: Range<usize>) {
        self.begin();
        self.at.resize(from.at.len(), 0);
        for span in &from.spans[groups] {
            let start = self.path.len();
            self.path.extend_from_slice(&from.path[span.clone()]);
            self.J.extend_from_slice(&from.J[span.clone()]);
            self.spans.push(start..self.path.len());
        }
    }

    /// The group of two bodies.
    pub fn open_bodies(&mut self, model: &Model, bodies: [BodyId; 2]) {
        let last = |b: BodyId| model.tree().support(b.0).last().copied();
        self.open(model, bodies.into_iter().filter_map(last));
    }

    /// Merges a chain, root first, into the path that begins at `start`: both rise.
    fn add_chain(&mut self, chain: &[usize], start: usize) {
        let common = self.path[start..].iter().zip(chain).take_while(|(a, b)| a == b).count();
        let tail = &chain[common..];
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
    #[inline(always)]
    pub fn velocity(&self, group: usize, v: &[f64]) -> [f64; WIDTH] {
        let span = self.spans[group].clone();
        along_path(&self.J[span.clone()], &self.path[span], v)
    }

    /// `out += Jᵀ w` of a group.
    #[inline(always)]
    pub fn add_transposed(&self, group: usize, w: &[f64], out: &mut [f64]) {
        let span = self.spans[group].clone();
        add_along_path(&self.J[span.clone()], &self.path[span], w, out);
    }
}

/// `Σ X_j v_j` over the dofs of a path: up to eight numbers.
#[inline(always)]
pub(crate) fn along_path(X: &[Columns], path: &[usize], v: &[f64]) -> [f64; WIDTH] {
    let mut sum = [Lane::ZERO; 2];
    for (X, &j) in X.iter().zip(path) {
        sum[0] += X[0] * v[j];
        sum[1] += X[1] * v[j];
    }
    core::array::from_fn(|k| sum[k / 4].0[k % 4])
}

/// `out += X w` over the dofs of a path.
#[inline(always)]
pub(crate) fn add_along_path(X: &[Columns], path: &[usize], w: &[f64], out: &mut [f64]) {
    for (X, &j) in X.iter().zip(path) {
        out[j] += w.iter().enumerate().fold(0.0, |s, (k, w)| s + X[k / 4].0[k % 4] * w);
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
