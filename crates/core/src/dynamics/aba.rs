//! Forward dynamics by articulated bodies, dof by dof: a = M⁻¹ (tau − b), in a time linear in the number of bodies.   (aba-1 … aba-6)
//!
//! A joint of several dofs is eliminated one dof after the other, which is Gaussian elimination of its block:
//! no joint needs a matrix inverse, and chains of joints in one body need no massless links.
#![allow(non_snake_case)]

use super::kinematics::{Kinematics, begin, place, weigh};
use super::rnea::{Wrench, accelerate, subtract_wrenches};
use super::tree_matrix::{NOISE, broken};
use crate::dispatch::dispatch;
use crate::model::Model;
use crate::spatial::{Force, Lane, Motion, SpatialInertia, Vec3, vec3};

/// Six numbers, padded to eight.
pub(super) type Six = [Lane; 2];

/// A symmetric 6 × 6 matrix by columns.
pub(super) type Articulated = [Six; 6];

/// Memory of the articulated-body passes.
#[derive(Debug, Clone)]
pub struct ArticulatedBodies {
    /// Inertia that each body and its loose subtree oppose to acceleration.
    inertia: Vec<Articulated>,
    /// Force that keeps each body at zero acceleration.
    force: Vec<Force>,
    /// Force per unit of acceleration of each dof, U = I^A S.
    U: Vec<Six>,
    /// 1 / (Sᵀ U + armature).
    inverse_pivot: Vec<f64>,
    /// Remaining tau of each dof, divided by its pivot.
    u: Vec<f64>,
    /// Acceleration of each body from velocities alone.
    bias: Vec<Motion>,
}

impl ArticulatedBodies {
    /// Memory for a model.
    pub fn new(model: &Model) -> ArticulatedBodies {
        let (n, nv) = (model.n_bodies(), model.nv());
        ArticulatedBodies {
            inertia: vec![[[Lane::ZERO; 2]; 6]; n],
            force: vec![Force::ZERO; n],
            U: vec![[Lane::ZERO; 2]; nv],
            inverse_pivot: vec![0.0; nv],
            u: vec![0.0; nv],
            bias: vec![Motion::ZERO; n],
        }
    }

    /// The first dof whose pivot is not positive: M is singular there.
    pub(crate) fn broken_pivot(&self) -> Option<usize> {
        broken(&self.inverse_pivot)
    }
}

dispatch!(
    /// Accelerations under `tau` and wrenches. Leaves poses, axes and velocities in `kin`.
    pub(crate) fn aba(
        model: &Model,
        q: &[f64],
        v: &[f64],
        tau: &[f64],
        wrenches: &[Wrench],
        kin: &mut Kinematics,
        art: &mut ArticulatedBodies,
        a: &mut [f64],
    ) {
        let tree = model.tree();
        begin(model, q, kin);
        kin.A[0].lin = -Vec3::from(model.options().gravity);
        a.fill(0.0);
        // forward pass: velocities, and what they do without any joint acceleration                       (aba-1)
        for i in 1..tree.n_bodies() {
            let node = place(tree, model.numbers(), i, q, kin);
            weigh(model.numbers(), i, kin.origin[node.tree], kin);
            let (V, A) = accelerate(tree, node, v, a, kin);
            art.bias[i] = A - kin.A[node.parent];
            (kin.V[i], kin.A[i]) = (V, A);
            art.force[i] = V.cross_force(kin.inertia[i] * V);
            art.inertia[i] = full(&kin.inertia[i]);
        }
        subtract_wrenches(model, kin, wrenches, &mut art.force);
        // backward pass: release the joints, leaf to root                                                  (aba-2 … aba-4)
        for i in (1..tree.n_bodies()).rev() {
            let node = &tree.nodes[i];
            let mut inertia = art.inertia[i];
            let mut force = add(six_force(art.force[i]), product(&inertia, art.bias[i]));
            for j in node.dofs.clone().rev() {
                let S = kin.axes[j];
                let U = product(&inertia, S);
                let pivot = dot(&U, S) + model.armature()[j];
                let rigid = S.dot(kin.inertia[i] * S); // of this body alone, as if no dof moved
                let inverse = if pivot > NOISE * rigid { 1.0 / pivot } else { f64::INFINITY };
                let u = (tau[j] - dot(&force, S)) * inverse;
                (art.U[j], art.inverse_pivot[j], art.u[j]) = (U, inverse, u);
                force = add_scaled(force, &U, u);
                release(&mut inertia, &U, inverse);
            }
            if node.parent != 0 {
                let sum = from_six(force);
                art.force[node.parent] += sum;
                accumulate(&mut art.inertia[node.parent], &inertia);
            }
        }
        // forward pass: accelerations                                                                     (aba-5, aba-6)
        for i in 1..tree.n_bodies() {
            let node = &tree.nodes[i];
            let mut A = kin.A[node.parent]; // the bias is in u already
            for j in node.dofs.clone() {
                a[j] = art.u[j] - dot(&art.U[j], A) * art.inverse_pivot[j];
                A += kin.axes[j] * a[j];
            }
            kin.A[i] = A + art.bias[i];
        }
    }
);

/// All entries of a rigid body's inertia: [[m 1, −h×], [h×, I]].
#[inline(always)]
pub(super) fn full(i: &SpatialInertia) -> Articulated {
    let (m, h, r) = (i.mass, i.h, i.about_origin);
    let column = |a: [f64; 3], b: [f64; 3]| [Lane([a[0], a[1], a[2], b[0]]), Lane([b[1], b[2], 0.0, 0.0])];
    [
        column([m, 0.0, 0.0], [0.0, h.z, -h.y]),
        column([0.0, m, 0.0], [-h.z, 0.0, h.x]),
        column([0.0, 0.0, m], [h.y, -h.x, 0.0]),
        column([0.0, -h.z, h.y], [r.xx, r.xy, r.xz]),
        column([h.z, 0.0, -h.x], [r.xy, r.yy, r.yz]),
        column([-h.y, h.x, 0.0], [r.xz, r.yz, r.zz]),
    ]
}

#[inline(always)]
pub(super) fn product(m: &Articulated, v: Motion) -> Six {
    let v = v.to_array();
    let mut sum = [m[0][0] * v[0], m[0][1] * v[0]];
    for k in 1..6 {
        sum = [sum[0] + m[k][0] * v[k], sum[1] + m[k][1] * v[k]];
    }
    sum
}

/// I^A − U Uᵀ / D: the dof moves freely, so the body opposes nothing along it.   (aba-4)
#[inline(always)]
pub(super) fn release(m: &mut Articulated, U: &Six, inverse: f64) {
    let components = [U[0].0[0], U[0].0[1], U[0].0[2], U[0].0[3], U[1].0[0], U[1].0[1]];
    for (column, c) in m.iter_mut().zip(components) {
        let s = c * inverse;
        *column = [column[0] - U[0] * s, column[1] - U[1] * s];
    }
}

#[inline(always)]
pub(super) fn accumulate(m: &mut Articulated, b: &Articulated) {
    for (x, y) in m.iter_mut().zip(b) {
        *x = [x[0] + y[0], x[1] + y[1]];
    }
}

#[inline(always)]
pub(super) fn dot(a: &Six, v: Motion) -> f64 {
    let (x, y) = (a[0].0, a[1].0);
    (x[0] * v.lin.x + x[1] * v.lin.y + x[2] * v.lin.z) + (x[3] * v.ang.x + y[0] * v.ang.y + y[1] * v.ang.z)
}

#[inline(always)]
pub(super) fn add(a: Six, b: Six) -> Six {
    [a[0] + b[0], a[1] + b[1]]
}

#[inline(always)]
pub(super) fn add_scaled(a: Six, b: &Six, s: f64) -> Six {
    [a[0] + b[0] * s, a[1] + b[1] * s]
}

#[inline(always)]
fn six_force(f: Force) -> Six {
    [Lane([f.lin.x, f.lin.y, f.lin.z, f.ang.x]), Lane([f.ang.y, f.ang.z, 0.0, 0.0])]
}

#[inline(always)]
fn from_six(f: Six) -> Force {
    let (x, y) = (f[0].0, f[1].0);
    Force { lin: vec3(x[0], x[1], x[2]), ang: vec3(x[3], y[0], y[1]) }
}
