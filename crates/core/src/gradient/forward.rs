//! Forward mode: all columns at once, component by component.   (grad-8)
#![allow(non_snake_case)]

use super::components::Components;
use super::constrained_inverse::{ComponentStep, ConstrainedInverse};
use super::drive::for_each_drive_partial;
use super::record::StepRecord;
use super::rows::linearize::Linearized;
use super::system::active_set::Active;
use super::types::StepJacobian;
use super::unconstrained::Unconstrained;
use crate::dispatch::dispatch;
use crate::dynamics::{Panel, for_each_response, inverse, stride};
use crate::footprint::footprint;
use crate::linalg::{MatRef, Term};
use crate::model::{Model, PrimitiveKind};
use crate::spatial::{Mat3, Quat, Vec3, right_jacobian};

/// Memory and results of forward mode.
#[derive(Debug, Clone)]
pub(crate) struct Forward {
    /// ∂v_next/∂(q, v) and ∂q_next/∂(q, v): rows of `stride(2 nv)` numbers.
    v_state: Vec<f64>,
    q_state: Vec<f64>,
    /// ∂v_next/∂tau and ∂q_next/∂tau: rows of `stride(nv)` numbers.
    v_tau: Vec<f64>,
    q_tau: Vec<f64>,
    /// ∂v_next/∂ctrl and ∂q_next/∂ctrl: rows of nu numbers.
    v_ctrl: Vec<f64>,
    q_ctrl: Vec<f64>,
    /// ∂v_next/∂act and ∂q_next/∂act, ∂act_next/∂act: rows of na numbers; ∂act_next/∂ctrl: rows of nu numbers.
    v_act: Vec<f64>,
    q_act: Vec<f64>,
    act_act: Vec<f64>,
    act_ctrl: Vec<f64>,
    /// Where the matrices above have entries, and memory to find those of the next step.
    components: Components,
    next: Components,
    /// P, S and the result of one of several components.
    parts: [Vec<f64>; 3],
    panel: Panel,
    terms: Vec<Term>,
    constrained: ConstrainedInverse,
    /// Whether the active rows are infeasible along a change of each dof (nv).
    contradicts: Vec<bool>,
}

footprint!(
    Forward: v_state, q_state, v_tau, q_tau, v_ctrl, q_ctrl, v_act, q_act, act_act, act_ctrl, components, next, parts, panel, terms, constrained, contradicts
);

impl Forward {
    /// Memory for a model.
    pub fn new(model: &Model) -> Forward {
        let (nv, nu, na) = (model.nv(), model.nu(), model.na());
        let (state, tau, ctrl) = (vec![0.0; nv * stride(2 * nv)], vec![0.0; nv * stride(nv)], vec![0.0; nv * nu]);
        Forward {
            v_state: state.clone(),
            q_state: state,
            v_tau: tau.clone(),
            q_tau: tau,
            v_ctrl: ctrl.clone(),
            q_ctrl: ctrl,
            v_act: vec![0.0; nv * na],
            q_act: vec![0.0; nv * na],
            act_act: vec![0.0; na * na],
            act_ctrl: vec![0.0; na * nu],
            components: Components::default(),
            next: Components::default(),
            parts: Default::default(),
            panel: Panel::new(model),
            terms: Vec::with_capacity(nv),
            constrained: ConstrainedInverse::default(),
            contradicts: vec![false; nv],
        }
    }

    /// Finds the components and clears the entries of the last step. To be called first.
    pub fn begin(&mut self, f: &StepRecord) -> &Components {
        let Forward { components, next, v_state, v_tau, q_state, q_tau, .. } = self;
        next.find(f);
        components.for_each_piece(1, |piece| v_tau[piece].fill(0.0));
        components.for_each_piece(2, |piece| v_state[piece].fill(0.0));
        // rows of q_next are overwritten wherever those of v_next are
        if !next.join_as(components) {
            components.for_each_piece(1, |piece| q_tau[piece].fill(0.0));
            components.for_each_piece(2, |piece| q_state[piece].fill(0.0));
        }
        core::mem::swap(components, next);
        components
    }

    /// Columns of the drives of actuators, in the place of those of the controls, from those of the torques.
    #[inline(always)]
    fn write_ctrl(&mut self, f: &StepRecord, unconstrained: &Unconstrained) {
        let (model, nu) = (f.model, f.model.nu());
        if f.given.ctrl().is_none() {
            return;
        }
        self.v_ctrl.fill(0.0);
        let (v_ctrl, v_tau, stride) = (&mut self.v_ctrl, &self.v_tau, stride(model.nv()));
        for_each_drive_partial(f, &unconstrained.saturation, |i, k, slope| {
            for (out, tau) in v_ctrl.chunks_exact_mut(nu).zip(v_tau.chunks_exact(stride)) {
                out[k] += tau[i] * slope;
            }
        });
    }

    /// Rows of q_next = q ⊕ dt v_next.   (grad-9)
    #[inline(always)]
    fn integrate(&mut self, f: &StepRecord) {
        let (model, dt) = (f.model, f.model.options().dt);
        let (state, tau, nu) = (stride(2 * model.nv()), stride(model.nv()), model.nu());
        let Forward { q_state, v_state, q_tau, v_tau, q_ctrl, v_ctrl, components, .. } = self;
        let copy = |q: &mut [f64], v: &[f64]| q.iter_mut().zip(v).for_each(|(q, v)| *q = dt * v);
        components.for_each_piece(1, |piece| copy(&mut q_tau[piece.clone()], &v_tau[piece]));
        components.for_each_piece(2, |piece| copy(&mut q_state[piece.clone()], &v_state[piece]));
        copy(q_ctrl, v_ctrl);
        for p in &model.tree().primitives {
            if p.kind != PrimitiveKind::Ball {
                (p.v..p.v + p.kind.nv()).for_each(|j| q_state[j * state + j] += 1.0);
                continue;
            }
            let (carried, turned) = turns(&f.end.v, dt, p.v);
            let of = components.of_dof(p.v);
            for columns in components.columns(of, 2) {
                rotate_rows(&turned, &mut q_state[p.v * state + columns.start..], state, columns.len());
            }
            for columns in components.columns(of, 1) {
                rotate_rows(&turned, &mut q_tau[p.v * tau + columns.start..], tau, columns.len());
            }
            rotate_rows(&turned, &mut q_ctrl[p.v * nu..], nu, nu);
            for (i, j) in (0..9).map(|k| (k / 3, k % 3)) {
                q_state[(p.v + i) * state + p.v + j] += carried.at(i, j);
            }
        }
    }

    /// Columns of controls and activations from those of the drives.   (act-10)
    fn split_drives(&mut self, f: &StepRecord) {
        let (nu, na) = (f.model.nu(), f.model.na());
        let Forward { v_ctrl, q_ctrl, v_act, q_act, .. } = self;
        v_act.fill(0.0);
        q_act.fill(0.0);
        for_each_response(f.model, &f.given.act, f.given.ctrl(), |n, k, r| {
            for (ctrl, act) in [(&mut *v_ctrl, &mut *v_act), (&mut *q_ctrl, &mut *q_act)] {
                for (ctrl, act) in ctrl.chunks_exact_mut(nu).zip(act.chunks_exact_mut(na)) {
                    act[n] = if r.drive_slopes[0] == 0.0 { 0.0 } else { ctrl[k] * r.drive_slopes[0] };
                    ctrl[k] *= r.drive_slopes[1];
                }
            }
        });
    }

    /// Rows of the activations at the end of the step.   (act-9)
    pub fn write_activations(&mut self, f: &StepRecord) {
        let (nu, na) = (f.model.nu(), f.model.na());
        self.act_act.fill(0.0);
        self.act_ctrl.fill(0.0);
        for_each_response(f.model, &f.given.act, f.given.ctrl(), |n, k, r| {
            (self.act_act[n * na + n], self.act_ctrl[n * nu + k]) = (r.slopes[0], r.slopes[1]);
        });
    }

    /// Writes column `j` of the blocks with respect to q, v, tau, ctrl or act.
    pub fn write_column(&mut self, input: usize, j: usize, dq: &[f64], dv: &[f64]) {
        let nv = dv.len();
        let Forward { q_state, v_state, q_tau, v_tau, q_ctrl, v_ctrl, q_act, v_act, .. } = self;
        let (of_q, of_v, row, at) = match input {
            0 | 1 => (q_state, v_state, stride(2 * nv), input * nv + j),
            2 => (q_tau, v_tau, stride(nv), j),
            3 => {
                let nu = v_ctrl.len() / nv.max(1);
                (q_ctrl, v_ctrl, nu, j)
            }
            _ => {
                let na = v_act.len() / nv.max(1);
                (q_act, v_act, na, j)
            }
        };
        for i in 0..nv {
            (of_q[i * row + at], of_v[i * row + at]) = (dq[i], dv[i]);
        }
    }

    /// Whether all numbers are finite.
    #[inline(always)]
    pub fn is_finite(&self) -> bool {
        // four sums side by side: a single one would wait for itself
        let mut sums = [0.0; 4];
        let mut add = |x: &[f64]| {
            let (fours, rest) = x.as_chunks::<4>();
            for four in fours {
                (0..4).for_each(|k| sums[k] += four[k] * 0.0);
            }
            rest.iter().for_each(|x| sums[0] += x * 0.0);
        };
        self.components.for_each_piece(1, |piece| add(&self.v_tau[piece]));
        self.components.for_each_piece(2, |piece| add(&self.v_state[piece]));
        sums == [0.0; 4]
    }

    /// The blocks.
    pub fn jacobian(&self, model: &Model, actuated: bool) -> StepJacobian<'_> {
        let (nv, nu) = (model.nv(), if actuated { model.nu() } else { 0 });
        let state = |x: &'_ [f64], first: usize| -> (usize, usize) { (first.min(x.len()), stride(2 * nv)) };
        let view = |x, first| {
            let (start, size) = state(x, first);
            MatRef::with_stride(&x[start..], nv, nv, size)
        };
        let tau = |x| MatRef::with_stride(x, nv, nv, stride(nv));
        let ctrl = |x| MatRef::with_stride(x, nv, nu, model.nu());
        let na = model.na();
        StepJacobian {
            dq_dq: view(&self.q_state, 0),
            dq_dv: view(&self.q_state, nv),
            dq_dtau: tau(&self.q_tau),
            dq_dctrl: ctrl(&self.q_ctrl),
            dv_dq: view(&self.v_state, 0),
            dv_dv: view(&self.v_state, nv),
            dv_dtau: tau(&self.v_tau),
            dv_dctrl: ctrl(&self.v_ctrl),
            dq_dact: MatRef::new(&self.q_act, nv, na),
            dv_dact: MatRef::new(&self.v_act, nv, na),
            dact_dact: MatRef::new(&self.act_act, na, na),
            dact_dctrl: MatRef::with_stride(&self.act_ctrl, na, nu, model.nu()),
            contradicts: &self.contradicts,
        }
    }
}

dispatch!(
    /// Fills all blocks of `forward` from `unconstrained.S`.
    pub(crate) fn write(
        forward: &mut Forward,
        f: &StepRecord,
        linearized: &Linearized,
        active: &mut Active,
        unconstrained: &Unconstrained,
    ) {
        let (model, nv, dt) = (f.model, f.model.nv(), f.model.options().dt);
        let (state, tau) = (stride(2 * nv), stride(nv));
        let Forward { v_state, v_tau, components, parts, panel, terms, constrained, contradicts, .. } = forward;
        contradicts.fill(false);
        inverse(model, active.locked.factor(&f.assembly.problem).unwrap_or(f.mass.factor()), tau, v_tau, panel);
        for c in &components.all {
            let part = ComponentStep {
                f,
                linearized,
                unconstrained,
                index: &components.index,
                size: c.size(),
                island: c.island,
            };
            let dofs = components.dofs(c);
            if components.all.len() == 1 {
                constrained.write(&part, active, v_tau, &unconstrained.S, v_state, terms);
                dofs.iter().zip(&constrained.contradicts).for_each(|(j, flag)| contradicts[*j] = *flag);
                continue;
            }
            let (size, [P, S, V]) = (c.size(), &mut *parts);
            for (x, blocks) in [(&mut *P, 1), (&mut *S, 2), (&mut *V, 2)] {
                x.clear();
                x.resize(size * stride(blocks * size), 0.0);
            }
            let (of_tau, of_state) =
                (Copying { dofs, blocks: 1, nv, stride: tau }, Copying { dofs, blocks: 2, nv, stride: state });
            of_tau.visit(|whole, part| P[part] = v_tau[whole]);
            of_state.visit(|whole, part| S[part] = unconstrained.S[whole]);
            constrained.write(&part, active, P, S, V, terms);
            of_tau.visit(|whole, part| v_tau[whole] = P[part]);
            of_state.visit(|whole, part| v_state[whole] = V[part]);
            dofs.iter().zip(&constrained.contradicts).for_each(|(j, flag)| contradicts[*j] = *flag);
        }
        components.for_each_piece(1, |piece| v_tau[piece].iter_mut().for_each(|x| *x *= dt));
        forward.write_ctrl(f, unconstrained);
        forward.integrate(f);
        if model.na() > 0 {
            forward.split_drives(f);
            forward.write_activations(f);
        }
    }
);

/// Derivatives of `q ⊕ dt v` of the rotation whose dofs begin at `first`, with respect to q and dt v.
pub(crate) fn turns(v: &[f64], dt: f64, first: usize) -> (Mat3, Mat3) {
    let turn = Vec3::from_slice(&v[first..]) * dt;
    (Quat::exp(-turn).to_matrix(), right_jacobian(turn))
}

/// Three rows multiplied by R: `columns` numbers each, `stride` numbers apart.
#[inline(always)]
pub(crate) fn rotate_rows(R: &Mat3, rows: &mut [f64], stride: usize, columns: usize) {
    for c in 0..columns {
        let x = *R * Vec3 { x: rows[c], y: rows[stride + c], z: rows[2 * stride + c] };
        (rows[c], rows[stride + c], rows[2 * stride + c]) = (x.x, x.y, x.z);
    }
}

/// Where the entries of a component are in the matrices of all dofs: rows of one or two blocks of nv numbers.
struct Copying<'a> {
    dofs: &'a [usize],
    blocks: usize,
    nv: usize,
    stride: usize,
}

impl Copying<'_> {
    /// Calls `visit(whole, part)` for each entry: its index among all dofs and in the component.
    #[inline(always)]
    fn visit(&self, mut visit: impl FnMut(usize, usize)) {
        let (size, own) = (self.dofs.len(), stride(self.blocks * self.dofs.len()));
        for (n, i) in self.dofs.iter().enumerate() {
            for block in 0..self.blocks {
                let (at, here) = (i * self.stride + block * self.nv, n * own + block * size);
                self.dofs.iter().enumerate().for_each(|(m, j)| visit(at + j, here + m));
            }
        }
    }
}
