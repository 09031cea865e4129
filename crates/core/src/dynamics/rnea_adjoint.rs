//! Reverse mode of inverse dynamics: wᵀ ∂tau/∂(q, v, a) in a time linear in the number of bodies, without any matrix.   (adj-1 … adj-4)
//!
//! w gives every body a virtual velocity W = Σ S_j w_j, and w·tau = Σ W_i·f_i. With the sums over all that dof j carries
//! H = Σ I_i W_i, Y = Σ 2B_iᵀ W_i, f = Σ f_i:
//! g_q = Y·Ψ̇ + H·Ψ̈ + (W_λ × S)·f + E·S,   g_v = Y·S + H·(Ψ̇ + Ṡ),   g_a = H·S + armature w,
//! where E sums the terms of wrenches that keep their direction in the world.
#![allow(non_snake_case)]

use super::kinematics::Kinematics;
use super::kinematics_derivatives::{KinematicsDerivatives, accelerate_with_columns, sweep_with_inertias};
use super::rnea::Wrench;
use super::wrench_derivatives::turned;
use crate::dispatch::dispatch;
use crate::footprint::footprint;
use crate::model::{BodyId, Model, Topology};
use crate::spatial::{Force, Motion, SpatialInertia, Vec3};

/// Sums over a body and all that it carries.
#[derive(Debug, Clone, Copy)]
struct Sums {
    /// H = Σ I W.
    H: Force,
    /// Y = Σ 2Bᵀ W.
    Y: Vec3,
    /// Σ f.
    f: Force,
    /// Σ Eᵀ W of wrenches that keep their direction in the world.
    E: Vec3,
}

/// Memory of the adjoint pass.
#[derive(Debug, Clone)]
pub struct RneaAdjoint {
    sums: Vec<Sums>,
    /// Virtual velocity of each body.
    W: Vec<Motion>,
    /// Virtual velocity before each dof's primitive.
    W_before: Vec<Motion>,
}

footprint!(RneaAdjoint: sums, W, W_before);

impl RneaAdjoint {
    const NONE: Sums = Sums { H: Force::ZERO, Y: Vec3::ZERO, f: Force::ZERO, E: Vec3::ZERO };

    /// Memory for a model.
    pub fn new(model: &Model) -> RneaAdjoint {
        let n = model.n_bodies();
        RneaAdjoint {
            sums: vec![RneaAdjoint::NONE; n],
            W: vec![Motion::ZERO; n],
            W_before: vec![Motion::ZERO; model.nv()],
        }
    }

    /// Virtual velocity of each body.
    pub(crate) fn virtual_velocities(&self) -> &[Motion] {
        &self.W
    }

    /// Σ m W of all bodies: how their weight pulls.
    pub(crate) fn momentum(&self) -> Vec3 {
        self.sums[0].H.lin
    }

    /// `g_q` of a further dof with axis S before body `i`, on its parent.   (adj-3)
    pub(crate) fn meet(&self, parent: usize, i: usize, S: Motion, psi_dot: Motion, psi_ddot: Motion) -> f64 {
        let sums = &self.sums[i];
        let carried = self.W[parent].cross(S).dot(sums.f);
        sums.Y.dot(psi_dot.ang) + psi_ddot.dot(sums.H) + carried + sums.E.dot(S.ang)
    }

    /// Virtual velocity and the terms of body `i`, once its velocity and acceleration are known.   (adj-1)
    #[inline(always)]
    fn enter(&mut self, tree: &Topology, i: usize, w: &[f64], kin: &Kinematics, A: Motion) {
        let node = &tree.nodes[i];
        let mut W = self.W[node.parent];
        for p in &tree.primitives[node.primitives.clone()] {
            let before = W;
            for j in p.v..p.v + p.kind.nv() {
                self.W_before[j] = before;
                W += kin.axes[j] * w[j];
            }
        }
        self.W[i] = W;
        self.sums[i] = of_body(kin.inertia[i], kin.V[i], A, W);
    }
}

/// Where the gradients with respect to q, v and a go (nv each).
pub(crate) struct RneaGradient<'a> {
    pub q: &'a mut [f64],
    pub v: &'a mut [f64],
    pub a: &'a mut [f64],
}

dispatch!(
    /// wᵀ ∂tau/∂q, wᵀ ∂tau/∂v, wᵀ ∂tau/∂a.
    pub(crate) fn rnea_vjp(
        model: &Model,
        q: &[f64],
        v: &[f64],
        a: &[f64],
        wrenches: &[Wrench],
        w: &[f64],
        kin: &mut Kinematics,
        dkin: &mut KinematicsDerivatives,
        adj: &mut RneaAdjoint,
        out: RneaGradient<'_>,
    ) {
        // forward pass: columns, virtual velocities and the terms of each body                            (adj-1)
        sweep_with_inertias(model, q, v, a, kin, dkin, |i, kin, A| adj.enter(model.tree(), i, w, kin, A));
        backward(model, wrenches, w, kin, dkin, adj, out);
    }
);

dispatch!(
    /// Needs poses, axes, inertias and velocities in `kin`. `carried` are forces on bodies that turn
    /// with them, at their tree's origin (one per body, or none).
    pub(crate) fn rnea_vjp_placed(
        model: &Model,
        v: &[f64],
        a: &[f64],
        wrenches: &[Wrench],
        carried: &[Force],
        w: &[f64],
        kin: &Kinematics,
        dkin: &mut KinematicsDerivatives,
        adj: &mut RneaAdjoint,
        out: RneaGradient<'_>,
    ) {
        let tree = model.tree();
        dkin.A[0].lin = -Vec3::from(model.options().gravity);
        for i in 1..tree.n_bodies() {
            (_, dkin.A[i]) = accelerate_with_columns(tree, &tree.nodes[i], v, a, kin, dkin);
            adj.enter(tree, i, w, kin, dkin.A[i]);
        }
        for (sums, force) in adj.sums.iter_mut().zip(carried) {
            sums.f -= *force;
        }
        backward(model, wrenches, w, kin, dkin, adj, out);
    }
);

/// Backward pass: sums, met by the columns of each dof.   (adj-3, adj-4)
#[inline(always)]
fn backward(
    model: &Model,
    wrenches: &[Wrench],
    w: &[f64],
    kin: &Kinematics,
    dkin: &KinematicsDerivatives,
    adj: &mut RneaAdjoint,
    out: RneaGradient<'_>,
) {
    let tree = model.tree();
    for wrench in wrenches.iter().filter(|x| x.body != BodyId::WORLD) {
        subtract(model, kin, wrench, adj);
    }
    adj.sums[0] = RneaAdjoint::NONE;
    for i in (1..tree.n_bodies()).rev() {
        let (node, sums) = (&tree.nodes[i], adj.sums[i]);
        for j in node.dofs.clone() {
            let (S, c) = (kin.axes[j], &dkin.columns[j]);
            let carried = adj.W_before[j].cross(S).dot(sums.f);
            out.q[j] = sums.Y.dot(c.psi_dot_ang()) + c.psi_ddot().dot(sums.H) + carried + sums.E.dot(S.ang);
            out.v[j] = sums.Y.dot(S.ang) + c.sum().dot(sums.H);
            out.a[j] = S.dot(sums.H) + model.armature()[j] * w[j];
        }
        let parent = &mut adj.sums[node.parent];
        (parent.H, parent.Y) = (parent.H + sums.H, parent.Y + sums.Y);
        (parent.f, parent.E) = (parent.f + sums.f, parent.E + sums.E);
    }
}

/// I W, 2Bᵀ W and f of one body.   (adj-2)
#[inline(always)]
fn of_body(inertia: SpatialInertia, V: Motion, A: Motion, W: Motion) -> Sums {
    let momentum = inertia * V;
    let i = inertia.about_origin;
    // Nᵀ W_ω with N = 2 ([ω]× (I − ½ tr I) − v hᵀ + (h·v) 1)
    let turned = W.ang.cross(V.ang);
    let lower = i * turned - turned * (0.5 * i.trace()) - inertia.h * V.lin.dot(W.ang) + W.ang * inertia.h.dot(V.lin);
    Sums {
        H: inertia * W,
        Y: (momentum.lin.cross(W.lin) + lower) * 2.0,
        f: inertia * A + V.cross_force(momentum),
        E: Vec3::ZERO,
    }
}

/// A wrench acts against the joints, and keeps its direction in the world.
fn subtract(model: &Model, kin: &Kinematics, wrench: &Wrench, adj: &mut RneaAdjoint) {
    let b = wrench.body.0;
    let (arm, W) = (wrench.arm(model, kin), adj.W[b]);
    adj.sums[b].f -= wrench.at_origin(model, kin);
    for k in 0..3 {
        adj.sums[b].E[k] += W.dot(turned(wrench, arm, Vec3::UNITS[k]));
    }
}
