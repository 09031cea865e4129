//! How velocities and accelerations of bodies change with the state: one column per dof.   (dkin-1 … dkin-4)
//!
//! For a dof j whose parent side moves with (V_λ, A_λ) and whose own body moves with V:
//! Ψ̇ = V_λ × S, Ψ̈ = A_λ × S + V_λ × Ψ̇, Ṡ = V × S. All derivatives of kinematics and dynamics are products of these.
#![allow(non_snake_case)]

use super::kinematics::{Kinematics, begin, place, weigh};
use crate::dispatch::dispatch;
use crate::footprint::footprint;
use crate::model::{FrameId, Model, Node, PrimitiveKind, Topology};
use crate::spatial::{Lane, Motion, Vec3, vec3};

/// The columns of one dof, side by side so that each product with them gives several derivatives at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns {
    /// Component k of (S, Ψ̈, Ψ̇ + Ṡ, 0).
    pub motion: [Lane; 6],
    /// Angular component k of (0, Ψ̇, S, 0).
    pub turn: [Lane; 3],
}

impl Columns {
    const ZERO: Columns = Columns { motion: [Lane::ZERO; 6], turn: [Lane::ZERO; 3] };

    #[inline(always)]
    fn new(S: Motion, psi_dot: Motion, psi_ddot: Motion, sum: Motion) -> Columns {
        let (s, p, m) = (S.to_array(), psi_ddot.to_array(), sum.to_array());
        let (r, w) = (psi_dot.ang.to_array(), S.ang.to_array());
        let mut columns = Columns::ZERO;
        for k in 0..6 {
            columns.motion[k] = Lane([s[k], p[k], m[k], 0.0]);
        }
        for k in 0..3 {
            columns.turn[k] = Lane([0.0, r[k], w[k], 0.0]);
        }
        columns
    }

    fn lane(&self, n: usize) -> Motion {
        let x = |k: usize| self.motion[k].0[n];
        Motion { lin: vec3(x(0), x(1), x(2)), ang: vec3(x(3), x(4), x(5)) }
    }

    /// Ψ̈.
    pub fn psi_ddot(&self) -> Motion {
        self.lane(1)
    }

    /// Ψ̇ + Ṡ.
    pub fn sum(&self) -> Motion {
        self.lane(2)
    }

    /// Angular part of Ψ̇.
    pub fn psi_dot_ang(&self) -> Vec3 {
        vec3(self.turn[0].0[1], self.turn[1].0[1], self.turn[2].0[1])
    }
}

/// Columns of all dofs, velocities before each of them, and the accelerations of the bodies that they belong to.
#[derive(Debug, Clone)]
pub struct KinematicsDerivatives {
    pub(crate) columns: Vec<Columns>,
    /// Velocity of the frame before each dof's primitive, V_λ (nv).
    pub(crate) V_before: Vec<Motion>,
    /// Accelerations of the bodies, gravity included; those in `Kinematics` stay what they are.
    pub(crate) A: Vec<Motion>,
}

footprint!(KinematicsDerivatives: columns, V_before, A);

impl KinematicsDerivatives {
    /// Memory for a model.
    pub fn new(model: &Model) -> KinematicsDerivatives {
        KinematicsDerivatives {
            columns: vec![Columns::ZERO; model.nv()],
            V_before: vec![Motion::ZERO; model.nv()],
            A: vec![Motion::ZERO; model.n_bodies()],
        }
    }
}

dispatch!(
    /// Poses, axes, velocities, accelerations and the columns of their derivatives.
    pub(crate) fn kinematics_derivatives(
        model: &Model,
        q: &[f64],
        v: &[f64],
        a: &[f64],
        kin: &mut Kinematics,
        dkin: &mut KinematicsDerivatives,
    ) {
        let tree = model.tree();
        begin(model, q, kin);
        dkin.A[0].lin = -Vec3::from(model.options().gravity);
        for i in 1..tree.n_bodies() {
            let node = place(tree, model.numbers(), i, q, kin);
            (kin.V[i], dkin.A[i]) = accelerate_with_columns(tree, node, v, a, kin, dkin);
        }
    }
);

/// Accelerations and columns where poses, axes and velocities are in `kin` already.
pub(crate) fn accelerations_placed(
    model: &Model,
    v: &[f64],
    a: &[f64],
    kin: &Kinematics,
    dkin: &mut KinematicsDerivatives,
) {
    let tree = model.tree();
    dkin.A[0].lin = -Vec3::from(model.options().gravity);
    for i in 1..tree.n_bodies() {
        (_, dkin.A[i]) = accelerate_with_columns(tree, &tree.nodes[i], v, a, kin, dkin);
    }
}

/// All of a state with body inertias; `visit` sees each body once its inertia, velocity and acceleration are known.
#[inline(always)]
pub(super) fn sweep_with_inertias(
    model: &Model,
    q: &[f64],
    v: &[f64],
    a: &[f64],
    kin: &mut Kinematics,
    dkin: &mut KinematicsDerivatives,
    mut visit: impl FnMut(usize, &Kinematics, Motion),
) {
    let tree = model.tree();
    begin(model, q, kin);
    dkin.A[0].lin = -Vec3::from(model.options().gravity);
    for i in 1..tree.n_bodies() {
        let node = place(tree, model.numbers(), i, q, kin);
        weigh(model.numbers(), i, kin.origin[node.tree], kin);
        (kin.V[i], dkin.A[i]) = accelerate_with_columns(tree, node, v, a, kin, dkin);
        visit(i, kin, dkin.A[i]);
    }
}

/// Like `rnea::accelerate`, writing the columns on the way.   (dkin-1)
#[inline(always)]
pub(super) fn accelerate_with_columns(
    tree: &Topology,
    node: &Node,
    v: &[f64],
    a: &[f64],
    kin: &Kinematics,
    dkin: &mut KinematicsDerivatives,
) -> (Motion, Motion) {
    let (mut V, mut A) = (kin.V[node.parent], dkin.A[node.parent]);
    for p in &tree.primitives[node.primitives.clone()] {
        let (V_before, A_before) = (V, A);
        let (mut joint_V, mut joint_A) = (Motion::ZERO, Motion::ZERO);
        for j in p.v..p.v + p.kind.nv() {
            joint_V += kin.axes[j] * v[j];
            joint_A += kin.axes[j] * a[j];
        }
        A += joint_A + V.cross(joint_V);
        V += joint_V;
        for j in p.v..p.v + p.kind.nv() {
            let S = kin.axes[j];
            let psi_dot = V_before.cross(S);
            let psi_ddot = A_before.cross(S) + V_before.cross(psi_dot);
            // only the axes of a ball move with its own velocity: elsewhere V × S = V_λ × S
            let S_dot = if p.kind == PrimitiveKind::Ball { V.cross(S) } else { psi_dot };
            dkin.columns[j] = Columns::new(S, psi_dot, psi_ddot, psi_dot + S_dot);
            dkin.V_before[j] = V_before;
        }
    }
    (V, A)
}

/// Derivatives of the velocity of a frame's origin (rows linear, angular; world axes) with respect to q and v.   (dkin-3)
/// `dq` and `dv` have 6 rows of nv numbers. Needs `kinematics_derivatives` before.
pub(crate) fn velocity_derivatives(
    model: &Model,
    kin: &Kinematics,
    dkin: &KinematicsDerivatives,
    frame: FrameId,
    dq: &mut [f64],
    dv: &mut [f64],
) {
    let (tree, frame) = (model.tree(), &model.frames()[frame.0]);
    let (body, nv) = (frame.body.0, model.nv());
    dq.fill(0.0);
    dv.fill(0.0);
    if body == 0 {
        return;
    }
    let point = kin.X_wb[body].point(frame.pose.position) - kin.origin[tree.nodes[body].tree];
    let V = kin.V[body];
    for &j in tree.support(body) {
        let S = kin.axes[j];
        let dV = S.cross(V - dkin.V_before[j]); // ∂V/∂q_j at the fixed origin (dkin-2)
        let moved = S.at(point); // the point itself moves
        let linear = dV.at(point) + V.ang.cross(moved);
        for k in 0..3 {
            dq[k * nv + j] = linear[k];
            dq[(k + 3) * nv + j] = dV.ang[k];
            dv[k * nv + j] = moved[k];
            dv[(k + 3) * nv + j] = S.ang[k];
        }
    }
}
