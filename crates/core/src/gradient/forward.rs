//! Forward mode: all columns at once.   (grad-8)
//!
//! With `Y = M̂⁻¹ Jᵀ`, unknowns move the robot by `X = Y C A⁻¹` per unit of their equations: one solve with Aᵀ for each dof. The
//! inverse inertia of the robot while its constraints hold is `P = M̂⁻¹ − X B Yᵀ`; all columns are `P S − X (B D)`, and `dt P`
//! is the derivative for torques.
#![allow(non_snake_case)]

use super::active::Active;
use super::given::Finished;
use super::linearise::Linearised;
use super::smooth::Smooth;
use super::types::StepJacobian;
use crate::dispatch::dispatch;
use crate::dynamics::{Panel, for_each_ctrl_slope, inverse, stride};
use crate::footprint::footprint;
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

footprint!(Forward: v_state, q_state, v_tau, q_tau, v_ctrl, q_ctrl, panel, terms, contact);

/// Matrices between dofs, rows of G and unknowns: rows of whole lanes.
#[derive(Debug, Clone, Default)]
pub(crate) struct ContactPart {
    /// J of a group: eight numbers for each dof of its path.
    J: Vec<f64>,
    /// Yᵀ = J M̂⁻¹ (one row per row of G).
    YT: Vec<[f64; 4]>,
    /// Xᵀ = A⁻ᵀ (Y T C)ᵀ, (Y Tᵀ Bᵀ)ᵀ and B D, the change of the equations at fixed velocities: one row per unknown, zero for equations
    /// that repeat others.
    X: Vec<[f64; 4]>,
    YB: Vec<[f64; 4]>,
    BD: Vec<[f64; 4]>,
}

footprint!(ContactPart: J, YT, X, YB, BD);

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
            let (unknowns, P) = (active.unknowns.len(), v_tau.as_chunks_mut::<4>().0);
            add_product(nv, unknowns, tau_lanes, -1.0, columns(&contact.X, tau_lanes), &contact.YB, P, terms);
        }
        v_state.fill(0.0);
        let P = Factor { entries: v_tau, row: stride(nv), column: 1 };
        let v_state = v_state.as_chunks_mut::<4>().0;
        add_product(nv, nv, lanes, 1.0, P, smooth.S.as_chunks::<4>().0, v_state, terms);
        if acting {
            let unknowns = active.unknowns.len();
            add_product(nv, unknowns, lanes, -1.0, columns(&contact.X, tau_lanes), &contact.BD, v_state, terms);
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
    /// All of it.
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
        let lanes = stride(f.model.nv()) / 4;
        self.write_responses(f, inverse.as_chunks::<4>().0, terms);
        let size = active.unknowns.len() * lanes;
        reset(&mut self.X, size);
        reset(&mut self.YB, size);
        let targets = self.X.chunks_exact_mut(lanes).zip(self.YB.chunks_exact_mut(lanes));
        for (u, (x, yb)) in active.unknowns.iter().zip(targets) {
            for (n, y) in self.YT[u.xi * lanes..].chunks_exact(lanes).enumerate().take(u.width) {
                add_row(x, y, u.column[n]);
                if u.kept {
                    add_row(yb, y, u.row[n]);
                }
            }
        }
        active.solve_transposed(lanes, &mut self.X);
        self.write_changes(f, l, active, smooth);
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

    /// The forms of each unknown, met by all dofs that move their bodies.   (grad-4)
    #[inline(always)]
    fn write_changes(&mut self, f: &Finished, l: &Linearised, active: &Active, smooth: &Smooth) {
        let (tree, nv) = (f.model.tree(), f.model.nv());
        let lanes = stride(2 * nv) / 4;
        self.BD.clear();
        self.BD.resize(l.terms.len() * lanes, [0.0; 4]);
        let rows = l.terms.iter().zip(self.BD.chunks_exact_mut(lanes)).zip(&active.unknowns);
        for ((terms, row), _) in rows.filter(|(_, u)| u.kept) {
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
fn add_row(to: &mut [[f64; 4]], row: &[[f64; 4]], factor: f64) {
    to.iter_mut().zip(row).for_each(|(t, r)| *t = (Lane(*t) + Lane(*r) * factor).0);
}

#[inline(always)]
fn reset(x: &mut Vec<[f64; 4]>, size: usize) {
    x.clear();
    x.resize(size, [0.0; 4]);
}
