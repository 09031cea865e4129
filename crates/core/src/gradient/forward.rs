//! Forward mode: all columns at once.   (grad-8)
//!
//! In the space of G, with `Y = M̂⁻¹ Jᵀ`, an impulse answers a change of torque by `dw = −Z Yᵀ S − K (B D)`, where
//! `Z = Tᵀ C A⁻¹ B T` and `K = Tᵀ C A⁻¹` cost one solve with Aᵀ for each row of G. With the inverse inertia of the robot while
//! its constraints hold, `P = M̂⁻¹ − Y Z Yᵀ`, all columns are `P S − Y K (B D)`, and `dt P` is the derivative for torques.
#![allow(non_snake_case)]

use super::active::Active;
use super::given::Finished;
use super::linearise::Linearised;
use super::smooth::Smooth;
use super::types::StepJacobian;
use crate::dispatch::dispatch;
use crate::dynamics::{Panel, for_each_ctrl_slope, inverse, stride};
use crate::linalg::{Factor, MatRef, Term, add_product, add_terms};
use crate::model::{Model, PrimitiveKind};
use crate::spatial::{Lane, Mat3, Quat, Vec3, right_jacobian};

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
    terms: Vec<Term>,
    contact: ContactPart,
}

/// Matrices between dofs, rows of G and unknowns: rows of whole lanes.
#[derive(Debug, Clone, Default)]
pub(crate) struct ContactPart {
    /// J of a group: eight numbers for each dof of its path.
    J: Vec<f64>,
    /// Yᵀ = J M̂⁻¹ (one row per row of G).
    YT: Vec<[f64; 4]>,
    /// Kᵀ (one row per unknown).
    K: Vec<[f64; 4]>,
    /// Zᵀ (one row per row of G).
    Z: Vec<[f64; 4]>,
    /// B D: change of the equations at fixed velocities (one row per unknown).
    BD: Vec<[f64; 4]>,
    /// K (B D) and Z Yᵀ (one row per row of G).
    KBD: Vec<[f64; 4]>,
    ZY: Vec<[f64; 4]>,
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
            terms: Vec::with_capacity(nv),
            contact: ContactPart::default(),
        }
    }

    #[inline(always)]
    fn write_body(&mut self, f: &Finished, linearised: &Linearised, active: &mut Active, smooth: &Smooth) {
        let (model, nv, dt) = (f.model, f.model.nv(), f.model.options().dt);
        let (lanes, tau_lanes) = (stride(2 * nv) / 4, stride(nv) / 4);
        let Forward { v_state, v_tau, panel, terms, contact, .. } = self;
        inverse(model, f.mass, stride(nv), v_tau, panel);
        let acting = !active.unknowns.is_empty();
        if acting {
            contact.begin(f, linearised, active, smooth, v_tau, terms);
            contact.hold(nv, active, v_tau.as_chunks_mut::<4>().0, terms);
        }
        v_state.fill(0.0);
        let P = Factor { entries: v_tau, row: stride(nv), column: 1 };
        let v_state = v_state.as_chunks_mut::<4>().0;
        add_product(nv, nv, lanes, 1.0, P, smooth.S.as_chunks::<4>().0, v_state, terms);
        if acting {
            let size = contact.KBD.len() / lanes;
            add_product(nv, size, lanes, -1.0, columns(&contact.YT, tau_lanes), &contact.KBD, v_state, terms);
        }
        v_tau.iter_mut().for_each(|x| *x *= dt);
        self.write_ctrl(f, smooth);
        self.integrate(f);
    }

    /// Columns of the controls from those of the torques.
    #[inline(always)]
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
    #[inline(always)]
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
    #[inline(always)]
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

dispatch! {
    /// Fills all blocks of `forward` from `smooth.S`.
    pub(crate) fn write(
        forward: &mut Forward, f: &Finished, linearised: &Linearised, active: &mut Active, smooth: &Smooth,
    ) => Forward::write_body
}

/// Derivatives of `q ⊕ dt v` of the rotation whose dofs begin at `first`, with respect to q and dt v.
pub(crate) fn turns(v: &[f64], dt: f64, first: usize) -> (Mat3, Mat3) {
    let turn = Vec3::from_slice(&v[first..]) * dt;
    (Quat::exp(-turn).to_matrix(), right_jacobian(turn))
}

/// Three rows of `size` numbers multiplied by R.
#[inline(always)]
pub(crate) fn rotate_rows(R: &Mat3, rows: &mut [f64], size: usize) {
    for c in 0..size {
        let x = *R * Vec3 { x: rows[c], y: rows[size + c], z: rows[2 * size + c] };
        (rows[c], rows[size + c], rows[2 * size + c]) = (x.x, x.y, x.z);
    }
}

impl ContactPart {
    /// Yᵀ, Kᵀ, Zᵀ and B D.
    #[inline(always)]
    fn begin(
        &mut self,
        f: &Finished,
        l: &Linearised,
        active: &mut Active,
        smooth: &Smooth,
        inverse: &[f64],
        terms: &mut Vec<Term>,
    ) {
        let xi_lanes = f.assembly.problem.stride / 4;
        self.write_responses(f, inverse.as_chunks::<4>().0, terms);
        reset(&mut self.K, active.unknowns.len() * xi_lanes);
        for (u, row) in active.unknowns.iter().zip(self.K.chunks_exact_mut(xi_lanes)) {
            row.as_flattened_mut()[u.xi..u.xi + u.width].copy_from_slice(&u.column[..u.width]);
        }
        active.solve_transposed(xi_lanes, &mut self.K);
        reset(&mut self.Z, f.assembly.problem.size * xi_lanes);
        for (u, k) in active.unknowns.iter().zip(self.K.chunks_exact(xi_lanes)) {
            for (n, factor) in u.row[..u.width].iter().enumerate() {
                let row = &mut self.Z[(u.xi + n) * xi_lanes..(u.xi + n + 1) * xi_lanes];
                row.iter_mut().zip(k).for_each(|(z, k)| *z = (Lane(*z) + Lane(*k) * *factor).0);
            }
        }
        self.write_changes(f, l, smooth);
    }

    /// Yᵀ, group by group: off the path of a group J is zero.
    #[inline(always)]
    fn write_responses(&mut self, f: &Finished, inverse: &[[f64; 4]], terms: &mut Vec<Term>) {
        let (jacobian, problem) = (&f.assembly.jacobian, &f.assembly.problem);
        let lanes = stride(f.model.nv()) / 4;
        reset(&mut self.YT, problem.size * lanes);
        for (span, group) in jacobian.spans.iter().zip(&problem.groups) {
            self.J.clear();
            jacobian.J[span.clone()].iter().for_each(|J| J.iter().for_each(|lane| self.J.extend_from_slice(&lane.0)));
            terms.clear();
            terms.extend(jacobian.path[span.clone()].iter().enumerate().map(|(n, j)| [8 * n, j * lanes]));
            let factor = Factor { entries: &self.J, row: 1, column: 8 };
            add_terms(group.xi.len(), lanes, factor, terms, inverse, &mut self.YT[group.xi.start * lanes..]);
        }
    }

    /// K (B D), and the inverse inertia of the robot while its constraints hold, `M̂⁻¹ − Y Z Yᵀ`.
    #[inline(always)]
    fn hold(&mut self, nv: usize, active: &Active, inverse: &mut [[f64; 4]], terms: &mut Vec<Term>) {
        let (lanes, tau_lanes) = (stride(2 * nv) / 4, stride(nv) / 4);
        let size = self.YT.len() / tau_lanes;
        let xi_lanes = size.div_ceil(4);
        let ContactPart { YT, K, Z, BD, KBD, ZY, .. } = self;
        reset(KBD, size * lanes);
        add_product(size, active.unknowns.len(), lanes, 1.0, columns(K, xi_lanes), BD, KBD, terms);
        reset(ZY, size * tau_lanes);
        add_product(size, size, tau_lanes, 1.0, columns(Z, xi_lanes), YT, ZY, terms);
        add_product(nv, size, tau_lanes, -1.0, columns(YT, tau_lanes), ZY, inverse, terms);
    }

    /// The forms of each unknown, met by all dofs that move their bodies.   (grad-4)
    #[inline(always)]
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
}

/// A matrix kept by columns: `lanes` lanes each.
#[inline(always)]
fn columns(x: &[[f64; 4]], lanes: usize) -> Factor<'_> {
    Factor { entries: x.as_flattened(), row: 1, column: 4 * lanes }
}

#[inline(always)]
fn reset(x: &mut Vec<[f64; 4]>, size: usize) {
    x.clear();
    x.resize(size, [0.0; 4]);
}
