//! Forward mode: all columns at once.   (grad-8)
//!
//! In the space of G, with `Y = M̂⁻¹ Jᵀ`, an impulse answers a change of torque by `dw = −Z Yᵀ S − K (B D)`, where
//! `Z = Tᵀ C A⁻¹ B T` and `K = Tᵀ C A⁻¹` cost one solve with Aᵀ for each row of G. Then `M̂⁻¹ (S + Jᵀ dw)` is one solve for
//! all columns together.
#![allow(non_snake_case)]

use super::active::Active;
use super::given::Finished;
use super::linearise::Linearised;
use super::smooth::Smooth;
use super::types::StepJacobian;
use crate::dispatch::dispatch;
use crate::dynamics::{MassFactor, Panel, for_each_ctrl_slope, inverse, solve_columns, stride};
use crate::linalg::{MatRef, add_product};
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
    panel: Panel,
    contact: ContactPart,
}

/// Matrices between dofs, rows of G and unknowns: rows of whole lanes.
#[derive(Debug, Clone, Default)]
pub(crate) struct ContactPart {
    /// Jᵀ and Y (nv rows).
    JT: Vec<f64>,
    Y: Vec<f64>,
    /// Kᵀ (one row per unknown).
    K: Vec<[f64; 4]>,
    /// Z (one row per row of G).
    Z: Vec<[f64; 4]>,
    /// B D: change of the equations at fixed velocities (one row per unknown).
    BD: Vec<[f64; 4]>,
    /// Yᵀ S, later dw; Z Yᵀ (one row per row of G).
    U: Vec<[f64; 4]>,
    W: Vec<[f64; 4]>,
}

impl Forward {
    /// Memory for a model.
    pub fn new(model: &Model) -> Forward {
        let (nv, nu) = (model.nv(), model.nu());
        let (state, tau, ctrl) = (vec![0.0; nv * stride(2 * nv)], vec![0.0; nv * stride(nv)], vec![0.0; nv * nu]);
        Forward {
            v_state: state.clone(),
            q_state: state,
            v_tau: tau.clone(),
            q_tau: tau,
            v_ctrl: ctrl.clone(),
            q_ctrl: ctrl,
            panel: Panel::new(model),
            contact: ContactPart::default(),
        }
    }

    /// Fills all blocks; `smooth` holds S, which is used up.
    pub fn write(&mut self, f: &Finished, linearised: &Linearised, active: &mut Active, smooth: &mut Smooth) {
        let (model, dt) = (f.model, f.model.options().dt);
        let Forward { v_state, v_tau, panel, contact, .. } = self;
        inverse(model, f.mass, stride(model.nv()), v_tau, panel);
        if !active.unknowns.is_empty() {
            contact.begin(f, linearised, active, smooth, panel);
            let S = smooth.S.as_chunks_mut::<4>().0;
            apply(model, f.assembly.problem.size, active, contact, S, v_tau.as_chunks_mut::<4>().0);
            contact.add_impulses(f, S);
        }
        v_tau.iter_mut().for_each(|x| *x *= dt);
        solve_columns(model, f.mass, 1.0, stride(2 * model.nv()), &smooth.S, v_state, panel);
        self.write_ctrl(f, smooth);
        self.integrate(f);
    }

    /// Columns of the controls from those of the torques.
    fn write_ctrl(&mut self, f: &Finished, smooth: &Smooth) {
        let (model, nu) = (f.model, f.model.nu());
        let Some(ctrl) = f.given.ctrl() else { return };
        self.v_ctrl.fill(0.0);
        let (v_ctrl, v_tau, stride) = (&mut self.v_ctrl, &self.v_tau, stride(model.nv()));
        for_each_ctrl_slope(model, &f.given.q, &f.given.v, ctrl, &smooth.gates, |i, k, slope| {
            for (out, tau) in v_ctrl.chunks_exact_mut(nu).zip(v_tau.chunks_exact(stride)) {
                out[k] += tau[i] * slope;
            }
        });
    }

    /// Rows of q_next = q ⊕ dt v_next.   (grad-9)
    fn integrate(&mut self, f: &Finished) {
        let (model, dt, nv) = (f.model, f.model.options().dt, f.model.nv());
        let sizes = [stride(2 * nv), stride(nv), model.nu()];
        let pairs = [
            (&mut self.q_state, &self.v_state, sizes[0]),
            (&mut self.q_tau, &self.v_tau, sizes[1]),
            (&mut self.q_ctrl, &self.v_ctrl, sizes[2]),
        ];
        for (q, v, size) in pairs {
            q.iter_mut().zip(v).for_each(|(q, v)| *q = dt * v);
            for p in model.tree().primitives.iter().filter(|p| p.kind == PrimitiveKind::Ball) {
                rotate_rows(&turns(f.v_next, dt, p.v).1, &mut q[p.v * size..], size);
            }
        }
        for p in &model.tree().primitives {
            if p.kind == PrimitiveKind::Ball {
                let carried = turns(f.v_next, dt, p.v).0;
                for (i, j) in (0..9).map(|k| (k / 3, k % 3)) {
                    self.q_state[(p.v + i) * sizes[0] + p.v + j] += carried.at(i, j);
                }
            } else {
                (p.v..p.v + p.kind.nv()).for_each(|j| self.q_state[j * sizes[0] + j] += 1.0);
            }
        }
    }

    /// Whether all numbers are finite.
    pub fn is_finite(&self) -> bool {
        // four sums side by side: a single one would wait for itself
        let mut sums = [0.0; 4];
        for four in self.v_state.as_chunks::<4>().0.iter().chain(self.v_tau.as_chunks::<4>().0) {
            (0..4).for_each(|k| sums[k] += four[k] * 0.0);
        }
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
        StepJacobian {
            dq_dq: view(&self.q_state, 0),
            dq_dv: view(&self.q_state, nv),
            dq_dtau: tau(&self.q_tau),
            dq_dctrl: ctrl(&self.q_ctrl),
            dv_dq: view(&self.v_state, 0),
            dv_dv: view(&self.v_state, nv),
            dv_dtau: tau(&self.v_tau),
            dv_dctrl: ctrl(&self.v_ctrl),
        }
    }
}

/// Derivatives of `q ⊕ dt v` of the rotation whose dofs begin at `first`, with respect to q and dt v.
pub(crate) fn turns(v: &[f64], dt: f64, first: usize) -> (Mat3, Mat3) {
    let turn = Vec3::from_slice(&v[first..]) * dt;
    (Quat::exp(-turn).to_matrix(), right_jacobian(turn))
}

/// Three rows of `size` numbers multiplied by R.
pub(crate) fn rotate_rows(R: &Mat3, rows: &mut [f64], size: usize) {
    for c in 0..size {
        let x = *R * Vec3 { x: rows[c], y: rows[size + c], z: rows[2 * size + c] };
        (rows[c], rows[size + c], rows[2 * size + c]) = (x.x, x.y, x.z);
    }
}

impl ContactPart {
    /// Jᵀ, Y, K and B D.
    fn begin(&mut self, f: &Finished, l: &Linearised, active: &mut Active, smooth: &Smooth, panel: &mut Panel) {
        let (model, problem) = (f.model, &f.assembly.problem);
        let size = problem.stride;
        self.write_transposed_jacobian(f);
        self.Y.resize(self.JT.len(), 0.0);
        solve(model, f.mass, size, &self.JT, &mut self.Y, panel);
        self.K.clear();
        self.K.resize(active.unknowns.len() * (size / 4), [0.0; 4]);
        for (u, row) in active.unknowns.iter().zip(self.K.chunks_exact_mut(size / 4)) {
            row.as_flattened_mut()[u.xi..u.xi + u.width].copy_from_slice(&u.column[..u.width]);
        }
        active.solve_transposed(size / 4, &mut self.K);
        self.write_changes(f, l, smooth);
    }

    fn write_transposed_jacobian(&mut self, f: &Finished) {
        let (jacobian, problem) = (&f.assembly.jacobian, &f.assembly.problem);
        self.JT.clear();
        self.JT.resize(f.model.nv() * problem.stride, 0.0);
        for (span, group) in jacobian.spans.iter().zip(&problem.groups) {
            for (J, &j) in jacobian.J[span.clone()].iter().zip(&jacobian.path[span.clone()]) {
                for (k, xi) in group.xi.clone().enumerate() {
                    self.JT[j * problem.stride + xi] = J[k / 4].0[k % 4];
                }
            }
        }
    }

    /// The forms of each unknown, met by all dofs that move their bodies.   (grad-4)
    fn write_changes(&mut self, f: &Finished, l: &Linearised, smooth: &Smooth) {
        let (tree, nv) = (f.model.tree(), f.model.nv());
        let lanes = stride(2 * nv) / 4;
        self.BD.clear();
        self.BD.resize(l.terms.len() * lanes, [0.0; 4]);
        for (terms, row) in l.terms.iter().zip(self.BD.chunks_exact_mut(lanes)) {
            let row = row.as_flattened_mut();
            for form in &l.forms[terms.forms.clone()] {
                for &j in tree.support(form.body) {
                    let S = f.kin.axes[j];
                    row[j] += S.dot(form.position) + l.psi_next[j].dot(form.velocity);
                    if form.approach != 0.0 {
                        row[j] += form.approach * smooth.dkin.V_before[j].cross(S).dot(form.velocity);
                        row[nv + j] += form.approach * S.dot(form.velocity);
                    }
                }
            }
            for e in &l.entries[terms.entries.clone()] {
                row[e.dof] += e.value;
            }
        }
    }

    /// `S += Jᵀ dw`, group by group: off the path of a group nothing changes.
    fn add_impulses(&self, f: &Finished, S: &mut [[f64; 4]]) {
        let (jacobian, problem) = (&f.assembly.jacobian, &f.assembly.problem);
        let lanes = stride(2 * f.model.nv()) / 4;
        for (span, group) in jacobian.spans.iter().zip(&problem.groups) {
            let rows = &self.W[group.xi.start * lanes..group.xi.end * lanes];
            add_group(&jacobian.path[span.clone()], &jacobian.J[span.clone()], lanes, rows, S);
        }
    }
}

fn solve(model: &Model, mass: &MassFactor, size: usize, b: &[f64], x: &mut [f64], panel: &mut Panel) {
    solve_columns(model, mass, 1.0, size, b, x, panel);
}

dispatch! {
    /// Adds Jᵀ dw of one group.
    pub(crate) fn add_group(
        path: &[usize], J: &[crate::dynamics::Columns], lanes: usize, rows: &[[f64; 4]], S: &mut [[f64; 4]],
    ) => add_group_body
}

#[inline(always)]
fn add_group_body(path: &[usize], J: &[crate::dynamics::Columns], lanes: usize, rows: &[[f64; 4]], S: &mut [[f64; 4]]) {
    let inner = rows.len() / lanes.max(1);
    for (J, &j) in J.iter().zip(path) {
        let out = &mut S[j * lanes..(j + 1) * lanes];
        add_product(1, inner, lanes, |_, k| J[k / 4].0[k % 4], rows, out);
    }
}

dispatch! {
    /// dw of the states into `contact.W`, and `M̂⁻¹ − Y Z Yᵀ` for the torques.
    pub(crate) fn apply(
        model: &Model, size: usize, active: &Active, contact: &mut ContactPart, S: &[[f64; 4]], inverse: &mut [[f64; 4]],
    ) => apply_body
}

#[inline(always)]
fn apply_body(
    model: &Model,
    size: usize,
    active: &Active,
    contact: &mut ContactPart,
    S: &[[f64; 4]],
    inverse: &mut [[f64; 4]],
) {
    let nv = model.nv();
    let (xi_lanes, lanes, tau_lanes) = (size.div_ceil(4), stride(2 * nv) / 4, stride(nv) / 4);
    let ContactPart { JT, Y, K, Z, BD, U, W } = contact;
    let y = |i: usize, k: usize| Y[i * 4 * xi_lanes + k];
    // Zᵀ = (B T)ᵀ K, then Z: one row per row of G
    reset(Z, size * xi_lanes);
    for (u, k) in active.unknowns.iter().zip(K.chunks_exact(xi_lanes)) {
        for (n, factor) in u.row[..u.width].iter().enumerate() {
            add_product(1, 1, xi_lanes, |_, _| *factor, k, &mut Z[(u.xi + n) * xi_lanes..]);
        }
    }
    let z = |i: usize, k: usize| Z[k * xi_lanes + i / 4][i % 4];
    // states: dw = −Z Yᵀ S − K B D
    reset(U, size * lanes);
    add_product(size, nv, lanes, |r, i| y(i, r), S, U);
    reset(W, size * lanes);
    add_product(size, size, lanes, |r, k| -z(r, k), U, W);
    let unknowns = active.unknowns.len();
    add_product(size, unknowns, lanes, |r, a| -K[a * xi_lanes + r / 4][r % 4], BD, W);
    // torques: M̂⁻¹ − Y Z Yᵀ, with Yᵀ in place of JT and Z Yᵀ in place of U
    reset(U, size * tau_lanes);
    for i in 0..nv {
        for k in 0..size {
            U[k * tau_lanes + i / 4][i % 4] = y(i, k);
        }
    }
    let transposed = JT;
    transposed.clear();
    transposed.resize(size * tau_lanes * 4, 0.0);
    let ZY = transposed.as_chunks_mut::<4>().0;
    add_product(size, size, tau_lanes, z, U, ZY);
    add_product(nv, size, tau_lanes, |i, k| -y(i, k), ZY, inverse);
}

#[inline(always)]
fn reset(x: &mut Vec<[f64; 4]>, size: usize) {
    x.clear();
    x.resize(size, [0.0; 4]);
}
