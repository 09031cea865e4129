//! The derivative of a finished step: mathematics and memory. The entry point is [`Step::jacobian`](crate::Step::jacobian).
//!
//! A constraint keeps its mode along a small change (`system`). Its rows are linearized in the poses of its bodies (`rows`), and
//! free motion is differentiated as inverse dynamics is (`unconstrained`). Forward mode combines them column by column
//! (`forward`), reverse mode by one adjoint solve (`reverse`). `docs/math/gradient.md`, grad-1 … 23.
#![allow(non_snake_case)]

mod bare;
mod central_path;
mod components;
mod constrained_inverse;
mod drive;
mod forward;
mod one_sided;
mod parameters;
mod record;
mod reverse;
mod rotation;
mod rows;
mod system;
mod types;
mod unconstrained;

pub use bare::{ProblemDirection, ProblemGrad, RowDerivatives, SolutionGrad, SolutionGradient, SolutionJacobian};
pub use types::{GradientError, InputDirection, InputGrad, OutputGrad, StepJacobian};

pub(crate) use parameters::placement_axes;
pub(crate) use parameters::surfaces::{sizes_in_group, sizes_of};
pub(crate) use record::{StepInputs, StepRecord};
pub(crate) use rotation::Rotation;
pub(crate) use rows::linearize::contact_error;

use crate::constraint::{Mode, Source};
use crate::footprint::footprint;
use crate::model::{GradientMode, Model, ParameterGroup, PrimitiveKind};
use central_path::Central;
use forward::Forward;
use one_sided::frozen::Frozen;
use parameters::ParameterAdjoint;
use parameters::mocap::TANGENT;
use reverse::Reverse;
use rows::linearize::Linearized;
use system::active_set::{Active, ContactFrame};
use unconstrained::Unconstrained;

/// Which part of the memory belongs to the present step.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Progress {
    /// Nothing.
    Stale,
    /// The factored system and the linearized rows.
    Prepared,
    /// The factored system, the linearized rows and the matrices of forward mode.
    Differentiated,
}

/// Memory of the derivatives of a step.
#[derive(Debug, Clone)]
pub(crate) struct Gradient {
    active: Active,
    linearized: Linearized,
    unconstrained: Unconstrained,
    forward: Forward,
    reverse: Reverse,
    /// The step on the central path, for smoothed derivatives of an exact one.
    central: Option<Box<Central>>,
    progress: Progress,
    /// Cotangents of single outputs.
    unit: Vec<f64>,
    wanted: Vec<f64>,
    /// The frozen contact problem along a change, for one-sided derivatives.
    frozen: Option<Box<Frozen>>,
    /// Over-determined islands.
    redundant: Vec<bool>,
    /// A gradient with respect to the poses of the mocap bodies.
    mocap: Vec<f64>,
}

footprint!(Gradient: active, linearized, unconstrained, forward, reverse, central, unit, wanted, frozen, redundant, mocap);

impl Gradient {
    /// Memory for a model.
    pub fn new(model: &Model) -> Gradient {
        Gradient {
            active: Active::default(),
            linearized: Linearized::default(),
            unconstrained: Unconstrained::new(model),
            forward: Forward::new(model),
            reverse: Reverse::new(model),
            central: None,
            progress: Progress::Stale,
            unit: vec![0.0; model.nv()],
            wanted: Vec::new(),
            frozen: None,
            redundant: Vec::new(),
            mocap: vec![0.0; TANGENT * model.n_mocap()],
        }
    }

    /// Numbers of its dense matrices: they grow with the square of the dofs.
    pub fn dense_numbers(model: &Model) -> usize {
        let nv = model.nv();
        nv.saturating_mul(7 * nv + model.nu())
    }

    /// Invalidates everything, because another step has been made.
    pub fn invalidate(&mut self) {
        self.progress = Progress::Stale;
    }

    /// Calls `go` with the step whose derivative is wanted: the finished one, or its second solution on the central path.
    pub fn with_chosen_step<R>(
        &mut self,
        f: &mut StepRecord,
        go: impl FnOnce(&mut Gradient, &mut StepRecord) -> R,
    ) -> R {
        let GradientMode::ExactForwardCentral { kappa } = f.model.options().gradient else { return go(self, f) };
        let mut central = self.central.take().unwrap_or_else(|| Box::new(Central::new(f.model)));
        if self.progress == Progress::Stale {
            central.solve(f, kappa);
        }
        let result = go(self, &mut central.record(f));
        self.central = Some(central);
        result
    }

    /// The linear system of the modes and its linearized rows, which all derivatives use.
    fn prepare(&mut self, f: &mut StepRecord) -> Result<(), GradientError> {
        if self.progress == Progress::Stale {
            match f.model.options().gradient {
                GradientMode::Exact => self.factor_at_rest(f),
                mode => {
                    let surrogate = matches!(mode, GradientMode::ExactForwardCentral { .. });
                    self.active.factor_centrally(&f.assembly.problem, f.solution, f.mass, surrogate);
                }
            }
            self.linearize(f)?;
        }
        Ok(())
    }

    /// Prepares derivatives in other modes than those that the step ended in; derivatives of the step itself are invalidated.
    pub fn prepare_modes(&mut self, f: &mut StepRecord, modes: &[Mode]) -> Result<(), GradientError> {
        self.invalidate();
        factor(&mut self.active, f, &|k| modes[k]);
        self.linearize(f)
    }

    /// The modes of the step, but contacts at rest stick where rows are redundant.   (grad-3)
    fn factor_at_rest(&mut self, f: &StepRecord) {
        let Gradient { active, redundant, .. } = self;
        let factor = |active: &mut Active, mode: &dyn Fn(usize) -> Mode| factor(active, f, mode);
        system::at_rest::factor_at_rest(&f.assembly.problem, f.solution, active, redundant, factor);
    }

    fn linearize(&mut self, f: &mut StepRecord) -> Result<(), GradientError> {
        self.linearized.collect(f, &self.active)?;
        self.unconstrained.begin(f);
        self.progress = Progress::Prepared;
        Ok(())
    }

    /// Forward mode; computed once per step.
    pub fn jacobian(&mut self, f: &mut StepRecord) -> Result<StepJacobian<'_>, GradientError> {
        if self.progress != Progress::Differentiated {
            self.with_chosen_step(f, Gradient::differentiate)?;
        }
        self.chosen_jacobian(f)
    }

    /// Forward mode for the step that [`Gradient::with_chosen_step`] has chosen.
    pub fn chosen_jacobian(&mut self, f: &mut StepRecord) -> Result<StepJacobian<'_>, GradientError> {
        if self.progress != Progress::Differentiated {
            self.differentiate(f)?;
        }
        Ok(self.forward.jacobian(f.model, f.given.ctrl().is_some()))
    }

    fn differentiate(&mut self, f: &mut StepRecord) -> Result<(), GradientError> {
        self.prepare(f)?;
        let Gradient { active, linearized, unconstrained, forward, .. } = self;
        f.mass.complete(f.model, f.kin);
        unconstrained.write(f, linearized, forward.begin(f));
        forward::write(forward, f, linearized, active, unconstrained);
        if !forward.is_finite() {
            return Err(GradientError::Singular);
        }
        self.progress = Progress::Differentiated;
        Ok(())
    }

    /// Whether the derivative is a choice among several: the active rows are infeasible along some changes of q.
    pub fn is_choice(&mut self, f: &mut StepRecord) -> Result<bool, GradientError> {
        if f.model.options().gradient != GradientMode::Exact {
            return Ok(false);
        }
        self.prepare(f)?;
        Ok(system::choice::is_choice(f, &self.active, &self.linearized, &mut self.unit))
    }

    /// The two vectors of reverse mode and the sweep over the bodies. `lambda`: as in [`Gradient::vjp_rows`], or empty.
    fn adjoint(&mut self, f: &mut StepRecord, w: &OutputGrad, lambda: &[f64]) -> Result<(), GradientError> {
        self.prepare(f)?;
        let Gradient { active, linearized, unconstrained, reverse, .. } = self;
        reverse.solve(f, active, w, lambda);
        reverse.sweep(f, linearized, unconstrained);
        if reverse.is_finite() { Ok(()) } else { Err(GradientError::Singular) }
    }

    /// The change of (q_next, v_next) along `dx` on its own side: of the true step at a finite `length`, or in the limit.   (grad-14)
    pub fn jvp_one_sided(
        &mut self,
        f: &mut StepRecord,
        dx: &InputDirection,
        length: Option<f64>,
        dq_next: &mut [f64],
        dv_next: &mut [f64],
    ) -> Result<(), GradientError> {
        let mut frozen = self.frozen.take().unwrap_or_default();
        let done = self.write_one_sided(f, &mut frozen, dx, length, [dq_next, dv_next]);
        self.frozen = Some(frozen);
        self.invalidate();
        done
    }

    fn write_one_sided(
        &mut self,
        f: &mut StepRecord,
        frozen: &mut Frozen,
        dx: &InputDirection,
        length: Option<f64>,
        [dq_next, dv_next]: [&mut [f64]; 2],
    ) -> Result<(), GradientError> {
        frozen.linearize(f)?;
        self.unconstrained.begin(f);
        f.mass.complete(f.model, f.kin);
        self.unconstrained.write(f, &frozen.linearized, self.forward.begin(f));
        frozen.set_direction(f, &self.unconstrained, dx);
        let t = length.unwrap_or(frozen.small_length());
        frozen.solve(f, t, length.is_some())?;
        frozen.write_quotient(f, t, dv_next);
        if length.is_none() {
            frozen.save_quotient(dv_next);
            self.write_on_side(f, frozen, dx, [&mut *dq_next, &mut *dv_next])?;
            if frozen.agrees_with(dv_next, one_sided::frozen::AGREES) {
                return Ok(());
            }
            // a patch between modes: the quotient itself, unless it falls with the length as at a jump
            let longer = one_sided::frozen::LENGTH_RATIO * t;
            frozen.solve(f, longer, false)?;
            frozen.write_quotient(f, longer, dv_next);
            if !frozen.agrees_with(dv_next, one_sided::frozen::NEARLY_AGREES) {
                return Err(GradientError::Jumps);
            }
            dv_next.copy_from_slice(&frozen.quotient);
        }
        one_sided::frozen::integrate_change(f, dx, dv_next, dq_next);
        Ok(())
    }

    /// The derivative at the impulses and in the modes on the side of a small change.
    fn write_on_side(
        &mut self,
        f: &mut StepRecord,
        frozen: &mut Frozen,
        dx: &InputDirection,
        [dq_next, dv_next]: [&mut [f64]; 2],
    ) -> Result<(), GradientError> {
        self.invalidate();
        let modes = core::mem::take(&mut frozen.modes);
        let J = if modes.iter().zip(f.solution.modes()).all(|(new, (old, _))| new == old) {
            self.chosen_jacobian(f)
        } else {
            let mut there = f.with_solution(&frozen.solution);
            self.prepare_modes(&mut there, &modes).and_then(|()| self.chosen_jacobian(&mut there))
        };
        frozen.modes = modes;
        let J = J?;
        J.write_dq(dx, dq_next);
        J.write_dv(dx, dv_next);
        Ok(())
    }

    /// Reverse mode.
    pub fn vjp(&mut self, f: &mut StepRecord, w: &OutputGrad, out: &mut InputGrad) -> Result<(), GradientError> {
        self.with_chosen_step(f, |g, f| {
            g.adjoint(f, w, &[])?;
            g.reverse.add(f, &g.linearized, &g.unconstrained, w, out)
        })
    }

    /// Reverse mode for a number that depends on v_next and on the impulses `lambda` of all rows of the contact problem, each along
    /// its own axis; for the step that [`Gradient::with_chosen_step`] has chosen.
    pub fn vjp_rows(
        &mut self,
        f: &mut StepRecord,
        v_next: &[f64],
        lambda: &[f64],
        out: &mut InputGrad,
    ) -> Result<(), GradientError> {
        let w = OutputGrad { v: v_next, ..OutputGrad::default() };
        self.adjoint(f, &w, lambda)?;
        self.reverse.add(f, &self.linearized, &self.unconstrained, &w, out)
    }

    /// Reverse mode with respect to a group of parameters.
    pub fn vjp_parameters(
        &mut self,
        f: &mut StepRecord,
        w: &OutputGrad,
        group: ParameterGroup,
        out: &mut [f64],
    ) -> Result<(), GradientError> {
        self.with_chosen_step(f, |g, f| g.add_parameters(f, w, &[], group, out))
    }

    /// Gradient by parameters of a number that depends on v_next and on the impulses of all rows, as in [`Gradient::vjp_rows`].
    pub fn vjp_rows_parameters(
        &mut self,
        f: &mut StepRecord,
        v_next: &[f64],
        lambda: &[f64],
        group: ParameterGroup,
        out: &mut [f64],
    ) -> Result<(), GradientError> {
        self.add_parameters(f, &OutputGrad { v: v_next, ..OutputGrad::default() }, lambda, group, out)
    }

    /// Reverse mode with respect to the poses of the mocap bodies (6 each).
    pub fn vjp_mocap(&mut self, f: &mut StepRecord, w: &OutputGrad, out: &mut [f64]) -> Result<(), GradientError> {
        self.with_chosen_step(f, |g, f| {
            g.adjoint(f, w, &[])?;
            let Gradient { active, linearized, unconstrained, reverse, .. } = g;
            reverse.accumulate(f, linearized, w)?;
            ParameterAdjoint { f, active, linearized, unconstrained, reverse, w, lambda: &[] }.add_mocap(out);
            Ok(())
        })
    }

    /// The change of (q_next, v_next) along a change of the poses of the mocap bodies.
    pub fn jvp_mocap(
        &mut self,
        f: &mut StepRecord,
        dx: &[f64],
        dq_next: &mut [f64],
        dv_next: &mut [f64],
    ) -> Result<(), GradientError> {
        let mut gradient = core::mem::take(&mut self.mocap);
        let done = self.by_rows(f, 1, dq_next, dv_next, |g, f, w, row| {
            gradient.fill(0.0);
            g.vjp_mocap(f, w, &mut gradient)?;
            row[0] = gradient.iter().zip(dx).fold(0.0, |s, (g, dx)| s + g * dx);
            Ok(())
        });
        self.mocap = gradient;
        done
    }

    /// Forward mode with respect to the poses of the mocap bodies.
    pub fn mocap_jacobian(
        &mut self,
        f: &mut StepRecord,
        dq_next: &mut [f64],
        dv_next: &mut [f64],
    ) -> Result<(), GradientError> {
        let n = TANGENT * f.model.n_mocap();
        self.by_rows(f, n, dq_next, dv_next, Gradient::vjp_mocap)
    }

    fn add_parameters(
        &mut self,
        f: &mut StepRecord,
        w: &OutputGrad,
        lambda: &[f64],
        group: ParameterGroup,
        out: &mut [f64],
    ) -> Result<(), GradientError> {
        self.adjoint(f, w, lambda)?;
        let Gradient { active, linearized, unconstrained, reverse, .. } = self;
        reverse.accumulate(f, linearized, w)?;
        ParameterAdjoint { f, active, linearized, unconstrained, reverse, w, lambda }.add(group, out)
    }

    /// Forward mode with respect to a group of n parameters: one row after the other, by reverse mode.
    pub fn parameter_jacobian(
        &mut self,
        f: &mut StepRecord,
        group: ParameterGroup,
        dq_next: &mut [f64],
        dv_next: &mut [f64],
    ) -> Result<(), GradientError> {
        let n = f.model.parameters().group(group).len();
        self.by_rows(f, n, dq_next, dv_next, |g, f, w, row| g.vjp_parameters(f, w, group, row))
    }

    /// Derivatives with respect to n numbers, row by row: `add` adds one of v_next by reverse mode.
    fn by_rows(
        &mut self,
        f: &mut StepRecord,
        n: usize,
        dq_next: &mut [f64],
        dv_next: &mut [f64],
        mut add: impl FnMut(&mut Gradient, &mut StepRecord, &OutputGrad, &mut [f64]) -> Result<(), GradientError>,
    ) -> Result<(), GradientError> {
        dv_next.fill(0.0);
        for i in 0..f.model.nv() {
            self.unit.fill(0.0);
            self.unit[i] = 1.0;
            let unit = core::mem::take(&mut self.unit);
            let row = &mut dv_next[i * n..(i + 1) * n];
            let done = add(self, f, &OutputGrad { v: &unit, ..OutputGrad::default() }, row);
            self.unit = unit;
            done?;
        }
        let dt = f.model.options().dt;
        dq_next.iter_mut().zip(dv_next).for_each(|(q, v)| *q = dt * *v);
        for p in f.model.tree().primitives.iter().filter(|p| p.kind == PrimitiveKind::Ball) {
            forward::rotate_rows(&forward::turns(&f.end.v, dt, p.v).1, &mut dq_next[p.v * n..], n, n);
        }
        Ok(())
    }

    /// Derivatives of the impulse of a contact: three rows by reverse mode.
    pub fn impulse_jacobian(
        &mut self,
        f: &mut StepRecord,
        contact: usize,
        out: [&mut [f64]; 3],
    ) -> Result<(), GradientError> {
        let nv = f.model.nv();
        let [q, v, tau] = out;
        let mut wanted = core::mem::take(&mut self.wanted);
        wanted.clear();
        wanted.resize(3 * f.contacts.contacts().len(), 0.0);
        let mut done = Ok(());
        for k in 0..3 {
            let rows = k * nv..(k + 1) * nv;
            let mut out = InputGrad {
                q: &mut q[rows.clone()],
                v: &mut v[rows.clone()],
                tau: &mut tau[rows.clone()],
                ..InputGrad::default()
            };
            for g in [&mut *out.q, &mut *out.v, &mut *out.tau] {
                g.fill(0.0);
            }
            wanted[3 * contact + k] = 1.0;
            done = done.and_then(|()| self.vjp(f, &OutputGrad { impulses: &wanted, ..Default::default() }, &mut out));
            wanted[3 * contact + k] = 0.0;
        }
        self.wanted = wanted;
        done
    }
}

/// The linear system of a step with its constraints in the modes that `mode` tells.
fn factor(active: &mut Active, f: &StepRecord, mode: &dyn Fn(usize) -> Mode) {
    let contacts = f.contacts.contacts();
    active.factor(&f.assembly.problem, f.solution, f.mass, mode, |k| match f.assembly.sources[k] {
        Source::Contact(n) => Some(ContactFrame { point: contacts[n].point, axes: contacts[n].frame }),
        _ => None,
    });
}
