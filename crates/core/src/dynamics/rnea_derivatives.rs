//! Closed-form derivatives of inverse dynamics, ∂tau/∂q and ∂tau/∂v, with M on the way.   (drnea-1 … drnea-7)
//!
//! Follows `rnea`: a forward pass that also writes the columns of each dof, a backward pass over composite bodies.
//! For dof j and an ancestor i, with composites of all that j carries (I inertia, B Coriolis, f force):
//!
//! - ∂tau_i/∂q_j = S_iᵀ [2B Ψ̇_j + I Ψ̈_j + S_j ×* f],   ∂tau_i/∂v_j = S_iᵀ [2B S_j + I (Ψ̇_j + Ṡ_j)]
//! - ∂tau_j/∂q_i = (2Bᵀ S_j)·Ψ̇_i + (I S_j)·Ψ̈_i,        ∂tau_j/∂v_i = (2Bᵀ S_j)·S_i + (I S_j)·(Ψ̇_i + Ṡ_i)
//!
//! so that the three vectors in brackets, and the three columns of each dof, are computed side by side in one [`Lane`].
#![allow(non_snake_case)]

use super::kinematics::Kinematics;
use super::kinematics_derivatives::{Columns, KinematicsDerivatives, accelerate_with_columns, sweep_with_inertias};
use super::mass_factor::MassFactor;
use super::rnea::Wrench;
use super::wrench_derivatives::add_world_axes;
use crate::dispatch::dispatch;
use crate::footprint::footprint;
use crate::linalg::MatRef;
use crate::model::{BodyId, Model};
use crate::spatial::{Force, Lane, Mat3, Motion, SpatialInertia, Vec3, vec3};

/// Sums over a body and all that it carries.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
struct Composite {
    inertia: SpatialInertia,
    /// Twice the linear momentum: the upper half of 2B is −2[p]×.                                     (drnea-3)
    momentum: Vec3,
    /// The lower half of 2B, 2 ([ω]× (I − ½ tr I) − v hᵀ + (h·v) 1).
    turn: Mat3,
    force: Force,
}

impl Composite {
    const ZERO: Composite =
        Composite { inertia: SpatialInertia::ZERO, momentum: Vec3::ZERO, turn: Mat3::ZERO, force: Force::ZERO };
}

/// ∂tau/∂q and ∂tau/∂v side by side.
#[derive(Debug, Clone)]
pub struct RneaDerivatives {
    /// Row i: ∂tau_i/∂q (nv numbers), ∂tau_i/∂v (nv numbers), padding. Entries of unrelated dofs stay zero.
    pub(crate) rows: Vec<f64>,
    /// For every dof and its ancestors, laid out like the rows of the mass matrix: (M, ∂tau_i/∂q_j, ∂tau_i/∂v_j) felt by the ancestor i,
    /// and (M, ∂tau_j/∂q_i, ∂tau_j/∂v_i) caused by it.
    pairs: Vec<[Lane; 2]>,
    composite: Vec<Composite>,
    nv: usize,
}

footprint!(RneaDerivatives: rows, pairs, composite);

impl RneaDerivatives {
    /// Memory for a model.
    pub fn new(model: &Model) -> RneaDerivatives {
        let nv = model.nv();
        RneaDerivatives {
            rows: vec![0.0; nv * stride(2 * nv)],
            pairs: vec![[Lane::ZERO; 2]; model.tree().row[nv]],
            composite: vec![Composite::ZERO; model.n_bodies()],
            nv,
        }
    }

    /// ∂tau/∂q (nv × nv).
    pub fn dtau_dq(&self) -> MatRef<'_> {
        MatRef::with_stride(&self.rows, self.nv, self.nv, stride(2 * self.nv))
    }

    /// ∂tau/∂v (nv × nv).
    pub fn dtau_dv(&self) -> MatRef<'_> {
        MatRef::with_stride(&self.rows[self.nv.min(self.rows.len())..], self.nv, self.nv, stride(2 * self.nv))
    }

    /// ∂tau_k/∂q_j and ∂tau_k/∂v_j of two dofs of one primitive.
    #[inline(always)]
    fn rows_in_joint(&mut self, k: usize, j: usize, [_, dq, dv, _]: [f64; 4]) {
        let row = k * stride(2 * self.nv);
        self.rows[row + j] = dq;
        self.rows[row + self.nv + j] = dv;
    }
}

/// Numbers per row: a multiple of four.
pub(crate) fn stride(columns: usize) -> usize {
    columns.next_multiple_of(4)
}

dispatch!(
    /// Derivatives of `rnea`; wrenches are constant in world axes and act at points of their bodies.
    pub(crate) fn rnea_derivatives(
        model: &Model,
        q: &[f64],
        v: &[f64],
        a: &[f64],
        wrenches: &[Wrench],
        kin: &mut Kinematics,
        dkin: &mut KinematicsDerivatives,
        mass: &mut MassFactor,
        out: &mut RneaDerivatives,
    ) {
        // forward pass: poses, inertias, columns, forces                                                  (drnea-1, drnea-2)
        sweep_with_inertias(model, q, v, a, kin, dkin, |i, kin, A| {
            out.composite[i] = of_body(kin.inertia[i], kin.V[i], A);
        });
        finish(model, kin, dkin, wrenches, mass, out);
    }
);

dispatch!(
    /// Needs poses, axes, inertias and velocities in `kin`. `carried` are forces on bodies that turn
    /// with them, at their tree's origin (one per body, or none).
    pub(crate) fn rnea_derivatives_placed(
        model: &Model,
        v: &[f64],
        a: &[f64],
        wrenches: &[Wrench],
        carried: &[Force],
        kin: &Kinematics,
        dkin: &mut KinematicsDerivatives,
        mass: &mut MassFactor,
        out: &mut RneaDerivatives,
    ) {
        let tree = model.tree();
        dkin.A[0].lin = -Vec3::from(model.options().gravity);
        for i in 1..tree.n_bodies() {
            (_, dkin.A[i]) = accelerate_with_columns(tree, &tree.nodes[i], v, a, kin, dkin);
            out.composite[i] = of_body(kin.inertia[i], kin.V[i], dkin.A[i]);
        }
        for (composite, force) in out.composite.iter_mut().zip(carried) {
            composite.force -= *force;
        }
        finish(model, kin, dkin, wrenches, mass, out);
    }
);

/// The backward pass and the wrenches, once a forward pass has filled `kin`, `dkin` and the terms of each body.
#[inline(always)]
fn finish(
    model: &Model,
    kin: &Kinematics,
    dkin: &KinematicsDerivatives,
    wrenches: &[Wrench],
    mass: &mut MassFactor,
    out: &mut RneaDerivatives,
) {
    // first as forces that turn with their body; the difference to world axes is added at the end
    for w in wrenches.iter().filter(|w| w.body != BodyId::WORLD) {
        out.composite[w.body.0].force -= w.at_origin(model, kin);
    }
    backward(model, dkin, mass, out);
    add_world_axes(model, kin, wrenches, &mut out.rows);
}

/// The terms of one body, before summing.   (drnea-2, drnea-3)
#[inline(always)]
fn of_body(inertia: SpatialInertia, V: Motion, A: Motion) -> Composite {
    let momentum = inertia * V;
    let force = inertia * A + V.cross_force(momentum);
    let mut e = inertia.about_origin;
    let half_trace = 0.5 * e.trace();
    (e.xx, e.yy, e.zz) = (e.xx - half_trace, e.yy - half_trace, e.zz - half_trace);
    let (h, hv) = (inertia.h, inertia.h.dot(V.lin));
    let e = e.to_mat();
    let column = |k: usize| {
        let mut c = V.ang.cross(e.c[k]) - V.lin * h[k];
        c[k] += hv;
        c * 2.0
    };
    Composite { inertia, momentum: momentum.lin * 2.0, turn: Mat3 { c: [column(0), column(1), column(2)] }, force }
}

/// Composite bodies from leaf to root; every dof meets its ancestors. M goes into `mass`.
#[inline(always)]
fn backward(model: &Model, dkin: &KinematicsDerivatives, mass: &mut MassFactor, out: &mut RneaDerivatives) {
    let tree = model.tree();
    let columns = &dkin.columns[..];
    for i in (1..tree.n_bodies()).rev() {
        let (node, body) = (&tree.nodes[i], out.composite[i]);
        for j in node.dofs.clone() {
            let response = DofForces::new(&body, &columns[j]);
            // whole lanes are stored here and taken apart later: that keeps this loop in vector registers
            for (pair, &k) in out.pairs[tree.row[j]..].iter_mut().zip(tree.ancestors(j)) {
                *pair = [response.felt_by(&columns[k]), response.caused_by(&columns[k])];
            }
            // dofs of the same primitive turn together, which cancels the change of direction of f       (drnea-6)
            let group = tree.dof_group[j].clone();
            if group.len() == 1 {
                let own = tree.row[j] + tree.depth(j);
                out.pairs[own][0] = response.felt_in_joint_by(&columns[j]);
            } else {
                for k in group {
                    out.rows_in_joint(k, j, response.felt_in_joint_by(&columns[k]).0);
                }
            }
        }
        add(&mut out.composite[node.parent], &body);
    }
    scatter(model, mass, out);
}

/// Takes the pairs apart: ancestors' rows, descendants' rows, M.
#[inline(always)]
fn scatter(model: &Model, mass: &mut MassFactor, out: &mut RneaDerivatives) {
    let (tree, nv) = (model.tree(), model.nv());
    let stride = stride(2 * nv);
    for j in 0..nv {
        let ancestors = tree.ancestors(j);
        let pairs = &out.pairs[tree.row[j]..tree.row[j] + ancestors.len()];
        let mass_row = mass.row_mut(tree, j);
        for (x, pair) in mass_row.iter_mut().zip(pairs) {
            *x = pair[1].0[0];
        }
        mass_row[ancestors.len() - 1] += model.armature()[j];
        let group = &tree.dof_group[j];
        let n_above = ancestors.len() - 1 - (j - group.start);
        let (row_j, before) = (j * stride, if group.len() == 1 { n_above + 1 } else { n_above });
        for (&k, pair) in ancestors[..n_above].iter().zip(pairs) {
            out.rows[row_j + k] = pair[1].0[1];
            out.rows[row_j + nv + k] = pair[1].0[2];
        }
        for (&k, pair) in ancestors[..before].iter().zip(pairs) {
            out.rows[k * stride + j] = pair[0].0[1];
            out.rows[k * stride + nv + j] = pair[0].0[2];
        }
    }
}

#[inline(always)]
fn add(a: &mut Composite, b: &Composite) {
    a.inertia += b.inertia;
    a.momentum += b.momentum;
    a.turn += b.turn;
    a.force += b.force;
}

/// The forces on a composite body that belong to dof j.
struct DofForces {
    /// Component k of (I S, 2B Ψ̇ + I Ψ̈ + S ×* f, 2B S + I (Ψ̇ + Ṡ), 0).
    wrench: [Lane; 6],
    /// These components without S ×* f.
    wrench_in_joint: [Lane; 6],
    /// I S.
    momentum: [f64; 6],
    /// 2Bᵀ S.
    turn: [f64; 3],
}

impl DofForces {
    #[inline(always)]
    fn new(body: &Composite, c: &Columns) -> DofForces {
        let mut wrench = inertia_times(&body.inertia, &c.motion);
        let [px, py, pz] = body.momentum.to_array();
        let (t, n) = (&c.turn, &body.turn.c);
        // 2B turn: upper half −2p × turn, lower half N turn                                           (drnea-4)
        wrench[0] += t[1] * pz - t[2] * py;
        wrench[1] += t[2] * px - t[0] * pz;
        wrench[2] += t[0] * py - t[1] * px;
        wrench[3] += t[0] * n[0].x + t[1] * n[1].x + t[2] * n[2].x;
        wrench[4] += t[0] * n[0].y + t[1] * n[1].y + t[2] * n[2].y;
        wrench[5] += t[0] * n[0].z + t[1] * n[1].z + t[2] * n[2].z;
        let m = &c.motion;
        let S = Motion { lin: vec3(m[0].0[0], m[1].0[0], m[2].0[0]), ang: vec3(m[3].0[0], m[4].0[0], m[5].0[0]) };
        let turned = S.cross_force(body.force).to_array();
        let turn = body.momentum.cross(S.lin) + body.turn.tmul(S.ang);
        let mut response = DofForces { wrench, wrench_in_joint: wrench, momentum: [0.0; 6], turn: turn.to_array() };
        for k in 0..6 {
            response.momentum[k] = wrench[k].0[0];
            response.wrench[k] += Lane([0.0, turned[k], 0.0, 0.0]);
        }
        response
    }

    /// (M, ∂tau/∂q_j, ∂tau/∂v_j, 0) of a dof above.
    #[inline(always)]
    fn felt_by(&self, above: &Columns) -> Lane {
        project(&self.wrench, above)
    }

    /// (M, ∂tau/∂q_j, ∂tau/∂v_j, 0) of a dof of the same primitive.
    #[inline(always)]
    fn felt_in_joint_by(&self, same: &Columns) -> Lane {
        project(&self.wrench_in_joint, same)
    }

    /// (M, ∂tau_j/∂q, ∂tau_j/∂v, 0) with respect to a dof above.   (drnea-5)
    #[inline(always)]
    fn caused_by(&self, above: &Columns) -> Lane {
        let (u, m) = (&self.momentum, &above.motion);
        let (w, t) = (&self.turn, &above.turn);
        let linear = m[0] * u[0] + m[1] * u[1] + m[2] * u[2];
        let angular = m[3] * u[3] + m[4] * u[4] + m[5] * u[5];
        let turn = t[0] * w[0] + t[1] * w[1] + t[2] * w[2];
        (linear + angular) + turn
    }
}

#[inline(always)]
fn project(wrench: &[Lane; 6], c: &Columns) -> Lane {
    let s = |k: usize| c.motion[k].0[0];
    let linear = wrench[0] * s(0) + wrench[1] * s(1) + wrench[2] * s(2);
    let angular = wrench[3] * s(3) + wrench[4] * s(4) + wrench[5] * s(5);
    linear + angular
}

/// I V for four motions side by side.
#[inline(always)]
fn inertia_times(i: &SpatialInertia, v: &[Lane; 6]) -> [Lane; 6] {
    let (m, h, r) = (i.mass, i.h, i.about_origin);
    [
        v[0] * m + (v[4] * h.z - v[5] * h.y),
        v[1] * m + (v[5] * h.x - v[3] * h.z),
        v[2] * m + (v[3] * h.y - v[4] * h.x),
        (v[2] * h.y - v[1] * h.z) + (v[3] * r.xx + v[4] * r.xy + v[5] * r.xz),
        (v[0] * h.z - v[2] * h.x) + (v[3] * r.xy + v[4] * r.yy + v[5] * r.yz),
        (v[1] * h.x - v[0] * h.y) + (v[3] * r.xz + v[4] * r.yz + v[5] * r.zz),
    ]
}
