//! Audits of derivatives while a simulation runs: along one random direction, compared with one difference.

use crate::check::grad_check::{Scale, Signature, TOLERANCE};
use crate::check::perturbed::{PerturbedStep, StepArguments};
use crate::random::Rng;
use slipstick_core::dynamics::Workspace;
use slipstick_core::gradient::InputDirection;
use slipstick_core::{Data, Input, InputError, Model, State};

/// Distances of the evaluations from the state, each dof moved by about this much within the step (m or rad).
const STEPS: [f64; 3] = [1e-6, 1e-7, 1e-8];
/// Motion along a direction of unit size that counts as one at least.
const SMALL: f64 = 1e-3;

/// What audits of a simulation have shown.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct AuditReport {
    /// Derivatives compared with a difference.
    pub checks: usize,
    /// Differences without meaning, because contacts have different modes on their two sides.
    pub left_out: usize,
    /// Derivatives or steps with an error.
    pub failed: usize,
    /// Largest error, relative to the largest change along the direction.
    pub worst_error: f64,
    /// Steps done before that one.
    pub worst_step: usize,
}

/// Memory of audits.
#[derive(Debug, Clone)]
pub(crate) struct Audit {
    every: usize,
    draw: Rng,
    /// The robot, solved more exactly.
    model: Model,
    data: Data,
    perturbed: PerturbedStep,
    work: Workspace,
    sides: [State; 2],
    signatures: [Signature; 2],
    report: AuditReport,
}

impl Audit {
    pub fn new(model: &Model, every: usize, seed: u64) -> Result<Audit, InputError> {
        let mut options = model.options().clone();
        options.tolerance = TOLERANCE.min(options.tolerance);
        let model = model.with_options(options)?;
        Ok(Audit {
            every,
            draw: Rng(seed),
            data: Data::new(&model),
            perturbed: PerturbedStep::new(&model),
            work: Workspace::new(&model),
            sides: [State::neutral(&model), State::neutral(&model)],
            signatures: Default::default(),
            report: AuditReport::default(),
            model,
        })
    }

    pub fn report(&self) -> &AuditReport {
        &self.report
    }

    /// Compares the derivative of the step that is about to be taken, if it is its turn.
    pub fn look(&mut self, step: usize, data: &Data, x: &State, input: &Input) {
        if !step.is_multiple_of(self.every) {
            return;
        }
        data.copy_warm_start(&mut self.perturbed.warm);
        match self.compare(&StepArguments { x, input: *input }) {
            Some(Some(error)) => {
                self.report.checks += 1;
                if error > self.report.worst_error {
                    (self.report.worst_error, self.report.worst_step) = (error, step);
                }
            }
            Some(None) => self.report.left_out += 1,
            None => self.report.failed += 1,
        }
    }

    /// The error of the best difference; `Some(None)` if none of them stays on one side of all switches.
    fn compare(&mut self, arguments: &StepArguments) -> Option<Option<f64>> {
        let Audit { draw, model, data, perturbed, work, sides, signatures, .. } = self;
        let scale = Scale::new(model, work, arguments).ok()?;
        let mut random = |k: usize| -> Vec<f64> { scale.units[k].iter().map(|u| u * draw.sign()).collect() };
        let (q, v, tau) = (random(0), random(1), random(2));
        let ctrl = if arguments.input.ctrl.is_some() { random(3) } else { Vec::new() };
        let act = random(4);
        let direction = InputDirection { q: &q, v: &v, tau: &tau, ctrl: &ctrl, act: &act };
        data.restore(&perturbed.warm).ok()?;
        perturbed.begin(model, data, arguments, &mut sides[0]).ok()?;
        data.restore(&perturbed.warm).ok()?;
        let (mut dq, mut dv) = (vec![0.0; model.nv()], vec![0.0; model.nv()]);
        arguments.step(model, data, &mut sides[0]).ok()?.jvp(direction, &mut dq, &mut dv).ok()?;
        if dq.iter().chain(&dv).any(|x| !x.is_finite()) {
            return None;
        }
        let mut best = None;
        let mut change = vec![0.0; model.nv()];
        for h in STEPS {
            for (side, h) in [-h, h].into_iter().enumerate() {
                let step = perturbed.along(model, data, arguments, direction, h, &mut sides[side]).ok()?;
                signatures[side].read(&step);
            }
            if signatures[0] == signatures[1] {
                model.difference(&sides[0].q, &sides[1].q, &mut change).ok()?;
                let error = error(model.options().dt, h, [&dq, &dv], &change, sides);
                best = Some(best.map_or(error, |b: f64| b.min(error)));
            }
        }
        Some(best)
    }
}

/// Error of a derivative compared with a difference, velocities counted as motion within the step.
fn error(dt: f64, h: f64, [dq, dv]: [&[f64]; 2], change: &[f64], [behind, ahead]: &[State; 2]) -> f64 {
    let (mut off, mut size) = (0.0_f64, SMALL);
    for i in 0..dq.len() {
        let differences = [change[i], ahead.v[i] - behind.v[i]].map(|d| 0.5 * d / h);
        for (exact, difference, unit) in [(dq[i], differences[0], 1.0), (dv[i], differences[1], dt)] {
            off = off.max(unit * (exact - difference).abs());
            size = size.max(unit * difference.abs());
        }
    }
    off / size
}
