//! Derivatives of the free-rotation correction of the velocity, u: `M̂ ∂u` in torque space, `wᵀ ∂u` in reverse.   (grad-16)
#![allow(non_snake_case)]

use super::record::StepRecord;
use crate::dynamics::{Gyration, MassFactor, stride};
use crate::footprint::footprint;
use crate::model::Model;
use crate::spatial::{Mat3, Motion, SpatialInertia, Vec3};

/// Composite inertias of the subtrees.
#[derive(Debug, Clone)]
pub(crate) struct Rotation {
    /// Inertia of each body with all that it carries, world axes at the tree's origin.
    composite: Vec<SpatialInertia>,
    /// Derivatives of u of one tree: six rows.
    changes: Vec<f64>,
}

footprint!(Rotation: composite, changes);

impl Rotation {
    /// Memory for a model.
    pub fn new(model: &Model) -> Rotation {
        Rotation { composite: vec![SpatialInertia::ZERO; model.n_bodies()], changes: Vec::new() }
    }

    /// Inertias of a finished step.
    pub fn begin(&mut self, f: &StepRecord) {
        if f.free.gyrations.is_empty() {
            return;
        }
        let nodes = &f.model.tree().nodes;
        self.composite.copy_from_slice(&f.kin.inertia);
        for i in (1..nodes.len()).rev() {
            let part = self.composite[i];
            self.composite[nodes[i].parent] += part;
        }
    }

    /// Calls `visit(j, du)` with the derivative of u of a tree with respect to every coordinate j that changes it.
    fn for_each_position_of(&self, f: &StepRecord, g: &Gyration, mut visit: impl FnMut(usize, [Vec3; 2])) {
        let (tree, dt) = (f.model.tree(), f.model.options().dt);
        for (k, du) in g.by_rotation(dt).into_iter().enumerate() {
            visit(g.ball + k, du);
        }
        let number = tree.nodes[g.root].tree;
        // bodies of a tree come one after the other
        for (i, node) in tree.nodes.iter().enumerate().skip(g.root + 1).take_while(|(_, n)| n.tree == number) {
            for j in node.dofs.clone() {
                visit(j, g.by_inertia(dt, g.moved(&self.composite[i], f.kin.axes[j])));
            }
        }
    }

    /// Adds `M̂ ∂u/∂(q, v)` to S; M is the mass matrix without implicit terms. u has entries at the dofs of the root only.
    #[inline(always)]
    pub fn add_forward(&mut self, f: &StepRecord, M: &MassFactor, S: &mut [f64]) {
        let (tree, nv, dt) = (f.model.tree(), f.model.nv(), f.model.options().dt);
        let width = stride(2 * nv);
        let mut changes = core::mem::take(&mut self.changes);
        for g in &f.free.gyrations {
            let root = Root::new(g);
            let dofs = root.first..tree.subtree_end[root.first];
            // ∂u/∂q of all dofs of the tree, then ∂u/∂v of the rotation of its root: six rows
            let columns = dofs.len() + 3;
            changes.clear();
            changes.resize(6 * columns, 0.0);
            let mut put = |column: usize, du: [Vec3; 2]| {
                root.entries(du).iter().enumerate().for_each(|(k, u)| changes[k * columns + column] = *u);
            };
            self.for_each_position_of(f, g, |j, du| put(j - root.first, du));
            for (k, du) in g.by_velocity(dt).into_iter().enumerate() {
                put(dofs.len() + k, du);
            }
            for i in dofs.clone() {
                let m = root.mass_row(f, M, i);
                let (by_q, by_v) = S[i * width..(i + 1) * width].split_at_mut(nv);
                for (m, changes) in m.iter().zip(changes.chunks_exact(columns)).take(root.count) {
                    let (q, v) = changes.split_at(dofs.len());
                    by_q[dofs.clone()].iter_mut().zip(q).for_each(|(s, u)| *s += m * u);
                    by_v[g.ball..].iter_mut().zip(v).for_each(|(s, u)| *s += m * u);
                }
            }
        }
        self.changes = changes;
    }

    /// Adds `wᵀ ∂u/∂v`, where w is the gradient with respect to v_next at fixed modes.
    pub fn add_velocity(&self, f: &StepRecord, w: &[f64], out: &mut [f64]) {
        for g in &f.free.gyrations {
            for (k, du) in g.by_velocity(f.model.options().dt).into_iter().enumerate() {
                out[g.ball + k] += project(g, w, du);
            }
        }
    }

    /// Adds `wᵀ ∂u/∂q`.
    pub fn add_position(&self, f: &StepRecord, w: &[f64], out: &mut [f64]) {
        for g in &f.free.gyrations {
            self.for_each_position_of(f, g, |j, du| out[j] += project(g, w, du));
        }
    }

    /// `wᵀ ∂u` for a displacement of body `i` and all that it carries along an axis. Along with its root a tree rotates as a
    /// whole, and its translation with it.
    pub fn project_displacement(&self, f: &StepRecord, w: &[f64], i: usize, axis: Motion) -> f64 {
        let node = &f.model.tree().nodes[i];
        let of_tree = f.free.gyrations.iter().find(|g| f.model.tree().nodes[g.root].tree == node.tree);
        let Some(g) = of_tree.filter(|g| g.root != i) else { return 0.0 };
        project(g, w, g.by_inertia(f.model.options().dt, g.moved(&self.composite[i], axis)))
    }

    /// Adds `wᵀ ∂u` with respect to the ten inertial numbers of every body.
    pub fn add_inertial(&self, f: &StepRecord, w: &[f64], out: &mut [f64]) {
        let (nodes, dt) = (&f.model.tree().nodes, f.model.options().dt);
        for g in &f.free.gyrations {
            let number = nodes[g.root].tree;
            for i in (g.root..nodes.len()).filter(|i| nodes[*i].tree == number) {
                for (k, x) in out[10 * (i - 1)..10 * i].iter_mut().enumerate() {
                    *x += project(g, w, g.by_inertia(dt, inertial_change(f, g, i, k)));
                }
            }
        }
    }
}

/// Change of the inertia of a tree per unit of one of the ten inertial parameters of body `i`.
fn inertial_change(f: &StepRecord, g: &Gyration, i: usize, k: usize) -> (Mat3, Vec3) {
    let X = &f.kin.X_wb[i];
    let p = X.position - f.kin.origin[f.model.tree().nodes[i].tree];
    let moment =
        |h: Vec3| Mat3 { c: core::array::from_fn(|n| Vec3::UNITS[n] * (2.0 * h.dot(p)) - h * p[n] - p * h[n]) };
    match k {
        0 => g.in_root_axes(moment(p) * 0.5, p, 1.0),
        1..=3 => {
            let h = X.rotation.c[k - 1];
            g.in_root_axes(moment(h), h, 0.0)
        }
        _ => {
            // xx, xy, yy, xz, yz, zz
            let (a, b) = [(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)][k - 4];
            let (x, y) = (X.rotation.c[a], X.rotation.c[b]);
            let both = |n: usize| if a == b { x * x[n] } else { x * y[n] + y * x[n] };
            g.in_root_axes(Mat3 { c: core::array::from_fn(both) }, Vec3::ZERO, 0.0)
        }
    }
}

/// The scalar product `w · du`.
fn project(g: &Gyration, w: &[f64], [turned, moved]: [Vec3; 2]) -> f64 {
    let of = |dof: usize, x: Vec3| x.dot(Vec3::from_slice(&w[dof..]));
    of(g.ball, turned) + g.translation.map_or(0.0, |t| of(t, moved))
}

/// The dofs of a root that rotates: the first that carry any dof of its tree.
struct Root {
    first: usize,
    count: usize,
    translates: bool,
}

impl Root {
    fn new(g: &Gyration) -> Root {
        let first = g.translation.unwrap_or(g.ball);
        Root { first, count: g.ball + 3 - first, translates: g.translation.is_some() }
    }

    /// Numbers of u at its dofs.
    fn entries(&self, [turned, moved]: [Vec3; 2]) -> [f64; 6] {
        core::array::from_fn(|k| match k {
            0..3 if self.translates => moved[k],
            3..6 if self.translates => turned[k - 3],
            0..3 => turned[k],
            _ => 0.0,
        })
    }

    /// Entries of M̂ between dof `i` of the tree and its dofs.
    #[inline(always)]
    fn mass_row(&self, f: &StepRecord, M: &MassFactor, i: usize) -> [f64; 6] {
        let (tree, dt, own) = (f.model.tree(), f.model.options().dt, i - self.first);
        let row = M.row(tree, i);
        let mut m: [f64; 6] = core::array::from_fn(|k| if k < self.count && k < row.len() { row[k] } else { 0.0 });
        if own < self.count {
            m[own] += dt * (f.free.damping[i] + dt * f.free.stiffness[i]);
            // the upper half of a symmetric block
            (own + 1..self.count).for_each(|k| m[k] = M.row(tree, self.first + k)[own]);
        }
        m
    }
}
