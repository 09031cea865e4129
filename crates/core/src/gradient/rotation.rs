//! Derivatives of what free rotation adds to the velocity, u: `M̂ ∂u` in torque space, `wᵀ ∂u` in reverse.   (grad-16)
#![allow(non_snake_case)]

use super::given::Finished;
use crate::dynamics::{Gyration, MassFactor, stride};
use crate::footprint::footprint;
use crate::model::Model;
use crate::spatial::{Mat3, Motion, SpatialInertia, Vec3};

/// Inertias of the parts of the trees.
#[derive(Debug, Clone)]
pub(crate) struct Rotation {
    /// Of each body with all that it carries, world axes at the tree's origin.
    carried: Vec<SpatialInertia>,
}

footprint!(Rotation: carried);

impl Rotation {
    /// Memory for a model.
    pub fn new(model: &Model) -> Rotation {
        Rotation { carried: vec![SpatialInertia::ZERO; model.n_bodies()] }
    }

    /// Inertias of a finished step.
    pub fn begin(&mut self, f: &Finished) {
        if f.free.gyrations.is_empty() {
            return;
        }
        let nodes = &f.model.tree().nodes;
        self.carried.copy_from_slice(&f.kin.inertia);
        for i in (1..nodes.len()).rev() {
            let part = self.carried[i];
            self.carried[nodes[i].parent] += part;
        }
    }

    /// Calls `visit(g, j, du)` with the derivative of u with respect to every coordinate j that changes it.
    fn for_each_position(&self, f: &Finished, mut visit: impl FnMut(&Gyration, usize, [Vec3; 2])) {
        let (tree, dt) = (f.model.tree(), f.model.options().dt);
        for g in &f.free.gyrations {
            for (k, du) in g.by_rotation(dt).into_iter().enumerate() {
                visit(g, g.ball + k, du);
            }
            let number = tree.nodes[g.root].tree;
            for (i, node) in tree.nodes.iter().enumerate().skip(g.root + 1).filter(|(_, n)| n.tree == number) {
                for j in node.dofs.clone() {
                    visit(g, j, g.by_inertia(dt, g.moved(&self.carried[i], f.kin.axes[j])));
                }
            }
        }
    }

    /// Adds `M̂ ∂u/∂(q, v)` to S; M is the mass matrix without implicit terms.
    pub fn add_forward(&self, f: &Finished, M: &MassFactor, S: &mut [f64]) {
        let (nv, dt) = (f.model.nv(), f.model.options().dt);
        let width = stride(2 * nv);
        let mut add = |g: &Gyration, column: usize, du: [Vec3; 2]| {
            times_mass(f, g, M, du, |i, x| S[i * width + column] += x);
        };
        self.for_each_position(f, |g, j, du| add(g, j, du));
        for g in &f.free.gyrations {
            for (k, du) in g.by_velocity(dt).into_iter().enumerate() {
                add(g, nv + g.ball + k, du);
            }
        }
    }

    /// Adds `wᵀ ∂u/∂v`, where w is the gradient with respect to v_next at fixed modes.
    pub fn add_velocity(&self, f: &Finished, w: &[f64], out: &mut [f64]) {
        for g in &f.free.gyrations {
            for (k, du) in g.by_velocity(f.model.options().dt).into_iter().enumerate() {
                out[g.ball + k] += met(g, w, du);
            }
        }
    }

    /// Adds `wᵀ ∂u/∂q`.
    pub fn add_position(&self, f: &Finished, w: &[f64], out: &mut [f64]) {
        self.for_each_position(f, |g, j, du| out[j] += met(g, w, du));
    }

    /// `wᵀ ∂u` for a displacement of body `i` and all that it carries along an axis. Along with its root a tree rotates as a
    /// whole, and its translation with it.
    pub fn meet_displacement(&self, f: &Finished, w: &[f64], i: usize, axis: Motion) -> f64 {
        let node = &f.model.tree().nodes[i];
        let of_tree = f.free.gyrations.iter().find(|g| f.model.tree().nodes[g.root].tree == node.tree);
        let Some(g) = of_tree.filter(|g| g.root != i) else { return 0.0 };
        met(g, w, g.by_inertia(f.model.options().dt, g.moved(&self.carried[i], axis)))
    }

    /// Adds `wᵀ ∂u` with respect to the ten inertial numbers of every body.
    pub fn add_inertial(&self, f: &Finished, w: &[f64], out: &mut [f64]) {
        let (nodes, dt) = (&f.model.tree().nodes, f.model.options().dt);
        for g in &f.free.gyrations {
            let number = nodes[g.root].tree;
            for i in (g.root..nodes.len()).filter(|i| nodes[*i].tree == number) {
                for (k, x) in out[10 * (i - 1)..10 * i].iter_mut().enumerate() {
                    *x += met(g, w, g.by_inertia(dt, inertial_change(f, g, i, k)));
                }
            }
        }
    }
}

/// What one of the ten numbers of body `i` adds to the inertia of its tree, per unit.
fn inertial_change(f: &Finished, g: &Gyration, i: usize, k: usize) -> (Mat3, Vec3) {
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

/// `w · du`.
fn met(g: &Gyration, w: &[f64], [turned, moved]: [Vec3; 2]) -> f64 {
    let of = |dof: usize, x: Vec3| x.dot(Vec3::from_slice(&w[dof..]));
    of(g.ball, turned) + g.translation.map_or(0.0, |t| of(t, moved))
}

/// Calls `visit(i, x_i)` with the numbers of `x = M̂ du`.
fn times_mass(f: &Finished, g: &Gyration, M: &MassFactor, du: [Vec3; 2], mut visit: impl FnMut(usize, f64)) {
    let (tree, dt) = (f.model.tree(), f.model.options().dt);
    let [turned, moved] = du;
    // the dofs of the root are the first that carry any dof of its tree
    let first = g.translation.unwrap_or(g.ball);
    let root = g.ball + 3 - first;
    let u: [f64; 6] = core::array::from_fn(|k| match g.translation {
        Some(_) if k < 3 => moved[k],
        Some(_) => turned[k - 3],
        None if k < 3 => turned[k],
        None => 0.0,
    });
    let mut own = [0.0; 6];
    for j in first..tree.nv {
        let carriers = tree.ancestors(j);
        if carriers.first() != Some(&first) {
            continue;
        }
        let row = &M.row(tree, j)[..root.min(carriers.len())];
        let x = row.iter().zip(&u).fold(0.0, |s, (m, u)| s + m * u);
        if j - first >= root {
            visit(j, x);
            continue;
        }
        own[j - first] += x + dt * (f.free.damping[j] + dt * f.free.stiffness[j]) * u[j - first];
        // the upper half of a symmetric block
        row[..j - first].iter().enumerate().for_each(|(k, m)| own[k] += m * u[j - first]);
    }
    own[..root].iter().enumerate().for_each(|(k, x)| visit(first + k, *x));
}
