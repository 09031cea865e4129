//! One-sided derivatives: the contact problem of the step along a change, with M̂ and J as they are.   (grad-14)
//!
//! Along `x + t dx` the velocities of the constraints at fixed impulses change by `t (J r + D dx)`, r the change of v_next at fixed
//! impulses. The frozen (linearized) contact problem has these changes added to its free velocities. At a corner its solution is
//! the loads λ(t) into which those of the step jump, with the modes on that side. For a finite t its velocities are those of
//! the true step as far as M̂, J and the contacts do not change.
#![allow(non_snake_case)]

use crate::constraint::{Mode, Problem, Solution, solve_island};
use crate::dynamics::{push, stride};
use crate::footprint::footprint;
use crate::gradient::drive::for_each_drive_partial;
use crate::gradient::forward::turns;
use crate::gradient::record::StepRecord;
use crate::gradient::rows::linearize::Linearized;
use crate::gradient::system::active_set::Active;
use crate::gradient::types::{GradientError, InputDirection};
use crate::gradient::unconstrained::Unconstrained;
use crate::model::{Options, PrimitiveKind};
use crate::spatial::{Motion, Vec3};

/// Change of velocity that stands for the limit of small ones: far above rounding, far below the margins of loads (m/s).
const SMALL_CHANGE: f64 = 1e-6;
/// Fraction of the compliance of redundant contacts that is used for small changes: it distributes loads, and must not resist the
/// change.
const COMPLIANCE_FRACTION: f64 = 1e-2;
/// Target residual of the frozen problem, and the fraction of the change above which it counts as unsolved.
const TOLERANCE: f64 = 1e-13;
const UNSOLVED: f64 = 1e-3;
/// Residual that is acceptable for any change.
const ROUNDING: f64 = 1e-11;
/// Fraction of a change of velocity up to which formula and quotient agree, and quotients of two lengths; the ratio of those
/// lengths.
pub(crate) const AGREES: f64 = 1e-3;
pub(crate) const NEARLY_AGREES: f64 = 0.5;
pub(crate) const LENGTH_RATIO: f64 = 10.0;
/// Fraction of the change at fixed impulses below which a constrained change counts as zero.
const NEGLIGIBLE: f64 = 1e-4;
/// Budget of the frozen problem, in units of a step's.
const BUDGET: u32 = 2;

/// Memory of the frozen problem.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frozen {
    /// Every row of every constraint, and its derivatives.
    rows: Active,
    pub linearized: Linearized,
    problem: Problem,
    pub solution: Solution,
    /// Change of v_next at fixed impulses (nv), of the velocities of all rows, and of impulses.
    r: Vec<f64>,
    shift: Vec<f64>,
    change: Vec<f64>,
    /// Impulses from which the change begins, and the change of v_next over t.
    before: Vec<f64>,
    pub quotient: Vec<f64>,
    /// Changes of the drives of actuators (nu).
    drive: Vec<f64>,
    /// Modes on the side of the change.
    pub modes: Vec<Mode>,
}

footprint!(Frozen: rows, linearized, problem, solution, r, shift, change, before, quotient, drive, modes);

impl Frozen {
    /// Linearizes every row in the configuration, at the impulses of the step.
    pub fn linearize(&mut self, f: &mut StepRecord) -> Result<(), GradientError> {
        self.rows.set_every_row(&f.assembly.problem);
        self.linearized.collect(f, &self.rows)
    }

    /// Computes r and the change of the velocities of all rows along `dx`. Needs `unconstrained` at the impulses of the step.
    pub fn set_direction(&mut self, f: &mut StepRecord, unconstrained: &Unconstrained, dx: &InputDirection) {
        self.write_free_change(f, unconstrained, dx);
        let problem = &f.assembly.problem;
        self.shift.clear();
        self.shift.resize(problem.rows(), 0.0);
        problem.write_velocities(&self.r, &mut self.shift);
        let l = &self.linearized;
        for (u, terms) in self.rows.unknowns.iter().zip(&l.terms) {
            let row = problem.blocks[u.block].row + u.b.iter().position(|b| *b != 0.0).unwrap_or(0);
            for term in &l.by_body[terms.by_body.clone()] {
                self.shift[row] += project_motion(f, l, unconstrained, term.body, dx, |moved| {
                    moved[0].dot(term.position)
                        + moved[1].dot(term.velocity)
                        + term.approach * (moved[2].dot(term.velocity) + moved[3].dot(term.velocity))
                });
            }
            for e in &l.by_dof[terms.by_dof.clone()] {
                self.shift[row] += e.value * dx.q.get(e.dof).copied().unwrap_or(0.0);
            }
        }
    }

    /// `r = M̂⁻¹ S dx`.
    fn write_free_change(&mut self, f: &mut StepRecord, unconstrained: &Unconstrained, dx: &InputDirection) {
        let (nv, dt) = (f.model.nv(), f.model.options().dt);
        self.r.clear();
        for row in unconstrained.S.chunks_exact(stride(2 * nv)).take(nv) {
            let product = |part: &[f64], d: &[f64]| part.iter().zip(d).fold(0.0, |s, (a, b)| s + a * b);
            self.r.push(product(row, dx.q) + product(&row[nv..], dx.v));
        }
        self.r.iter_mut().zip(dx.tau).for_each(|(r, tau)| *r += dt * tau);
        if let (Some(ctrl), false) = (f.given.ctrl(), dx.ctrl.is_empty() && dx.act.is_empty()) {
            let Frozen { r, drive, .. } = self;
            drive.resize(f.model.nu(), 0.0);
            push(f.model, &f.given.act, ctrl, [dx.act, dx.ctrl], drive);
            for_each_drive_partial(f, &unconstrained.saturation, |i, k, slope| r[i] += dt * slope * drive[k]);
        }
        f.mass.solve(f.model, &mut self.r);
    }

    /// Solves the frozen problem at the change `t dx`.
    pub fn solve(&mut self, f: &StepRecord, t: f64, soft: bool) -> Result<(), GradientError> {
        let size = self.size();
        self.problem.clone_from(&f.assembly.problem);
        self.before.clear();
        self.before.extend_from_slice(f.solution.lambda());
        let options = Options { tolerance: TOLERANCE, ..f.model.options().clone() };
        if !soft && self.problem.scale_compliance(COMPLIANCE_FRACTION) {
            // the loads at the start of a small change
            self.solve_islands(&options);
            self.before.copy_from_slice(self.solution.lambda());
        }
        for (g, shift) in self.problem.g.iter_mut().zip(&self.shift) {
            *g += t * shift;
        }
        if self.solve_islands(&options) > (UNSOLVED * t * size).max(ROUNDING) {
            return Err(GradientError::Jammed);
        }
        self.solution.classify(&self.problem);
        self.modes.clear();
        self.modes.extend(self.solution.modes().iter().map(|(mode, _)| *mode));
        Ok(())
    }

    /// The largest change of a velocity at fixed impulses, per unit of the change.
    fn size(&self) -> f64 {
        self.shift.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
    }

    /// Length of the change that moves a dof by one within the step, at fixed impulses.
    pub fn unit(&self, dt: f64) -> f64 {
        let fastest = self.r.iter().fold(0.0, |m: f64, r| m.max(r.abs()));
        if fastest > 0.0 { 1.0 / (dt * fastest) } else { 1.0 }
    }

    /// A length that stands for the limit of small ones.
    pub fn small_length(&self) -> f64 {
        let size = self.size();
        if size > 0.0 { SMALL_CHANGE / size } else { 1.0 }
    }

    /// Solves all islands from the impulses before. Returns the residual.
    fn solve_islands(&mut self, options: &Options) -> f64 {
        self.solution.begin_at(&self.problem, &self.before);
        let budget = BUDGET * options.max_iterations;
        let islands = 0..self.problem.islands.len();
        islands.fold(0.0, |m: f64, n| {
            m.max(solve_island(&mut self.problem, n, options, budget, &mut self.solution).residual)
        })
    }

    /// The change of v_next over that of t: `r + M̂⁻¹ Jᵀ (λ(t) − λ(0))/t`.
    pub fn write_quotient(&mut self, f: &mut StepRecord, t: f64, dv_next: &mut [f64]) {
        self.change.clear();
        self.change.extend(self.solution.lambda().iter().zip(&self.before).map(|(new, old)| (new - old) / t));
        f.assembly.generalized_impulse(&self.change, dv_next);
        f.mass.solve(f.model, dv_next);
        dv_next.iter_mut().zip(&self.r).for_each(|(dv, r)| *dv += r);
    }

    /// Saves a quotient for comparison.
    pub fn save_quotient(&mut self, dv_next: &[f64]) {
        self.quotient.clear();
        self.quotient.extend_from_slice(dv_next);
    }

    /// Whether a derivative agrees with the saved quotient, up to a fraction of the largest change with or without impulses.
    pub fn agrees_with(&self, dv_next: &[f64], fraction: f64) -> bool {
        let sizes = dv_next.iter().chain(&self.quotient).chain(&self.r);
        let largest = sizes.fold(NEGLIGIBLE * self.size(), |m: f64, x| m.max(x.abs()));
        let far = dv_next.iter().zip(&self.quotient).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
        far <= fraction * largest
    }
}

/// Calls `project` with the motion of a body along `dx`: its displacement, the change of its velocity at the end of the step and
/// at its beginning with the configuration, and its change of velocity.
fn project_motion(
    f: &StepRecord,
    l: &Linearized,
    unconstrained: &Unconstrained,
    body: usize,
    dx: &InputDirection,
    project: impl Fn([Motion; 4]) -> f64,
) -> f64 {
    let at = |d: &[f64], j: usize| d.get(j).copied().unwrap_or(0.0);
    let mut moved = [Motion::ZERO; 4];
    for &j in f.model.tree().support(body) {
        let (S, q, v) = (f.kin.axes[j], at(dx.q, j), at(dx.v, j));
        moved[0] += S * q;
        moved[1] += l.psi_next[j] * q;
        moved[2] += unconstrained.dkin.V_before[j].cross(S) * q;
        moved[3] += S * v;
    }
    project(moved)
}

/// `dq_next` of `q_next = q ⊕ dt v_next`.   (grad-9)
pub(crate) fn integrate_change(f: &StepRecord, dx: &InputDirection, dv_next: &[f64], dq_next: &mut [f64]) {
    let dt = f.model.options().dt;
    let at = |j: usize| dx.q.get(j).copied().unwrap_or(0.0);
    for p in &f.model.tree().primitives {
        if p.kind == PrimitiveKind::Ball {
            let (carried, turned) = turns(&f.end.v, dt, p.v);
            let of = |x: &dyn Fn(usize) -> f64| Vec3 { x: x(p.v), y: x(p.v + 1), z: x(p.v + 2) };
            let new = carried * of(&at) + turned * (of(&|j| dv_next[j]) * dt);
            (0..3).for_each(|k| dq_next[p.v + k] = new[k]);
        } else {
            (p.v..p.v + p.kind.nv()).for_each(|j| dq_next[j] = at(j) + dt * dv_next[j]);
        }
    }
}
