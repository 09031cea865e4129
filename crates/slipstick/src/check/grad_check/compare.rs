//! One state: its exact derivatives compared with differences.

use super::column::Column;
use super::exact::Exact;
use super::parameters::{self, ParameterError};
use super::sample::Sample;
use super::scale::Scale;
use super::signature::Signature;
use super::{BLOCKS, GradCheckError};
use crate::check::corners::Corners;
use crate::check::perturbed::{PerturbedStep, StepArguments};
use crate::random::Rng;
use slipstick_core::dynamics::Workspace;
use slipstick_core::spatial::Vec3;
use slipstick_core::{Data, Model, State, Status};

/// Solves as exact as differences over small distances need them.
pub(crate) const TOLERANCE: f64 = 1e-13;

/// What comparing one state has shown.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StateReport {
    /// What contacts do: free, break, stick, slide, limit, or several of the last three.
    pub mode: String,
    /// Whether contact could not be solved, in the state or on both sides of it: there is nothing to compare.
    pub left_out: bool,
    /// Columns with respect to q, v, tau and ctrl.
    pub columns: usize,
    /// Columns that [`Corners`] says are not the derivative on both of their sides.
    pub flagged: usize,
    /// Of these, columns that are the derivative on one side.
    pub right_on_one_side: usize,
    /// Columns that are not the derivative on both sides, and not flagged.
    pub wrong_unflagged: usize,
    /// Errors of the blocks of q_next and v_next with respect to q, v, tau and ctrl, relative to their largest entries; of
    /// columns that are not flagged.
    pub errors: [[f64; 4]; 2],
    /// Error of the impulse between the two bodies that press on each other most, with respect to q, v and tau.
    pub impulse_error: Option<f64>,
    /// Largest disagreement of jacobian, jvp and vjp, relative to what is added up.
    pub adjoint_error: f64,
    /// Errors of the derivatives with respect to parameters, by group.
    pub parameters: Vec<ParameterError>,
    /// The entry that is off most.
    pub worst: Option<WorstEntry>,
}

/// An entry of a derivative and its difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorstEntry {
    /// Block it is in.
    pub block: &'static str,
    /// Its row.
    pub row: usize,
    /// Its column.
    pub column: usize,
    /// As [`Step::jacobian`](slipstick_core::Step::jacobian) has it.
    pub exact: f64,
    /// As the best difference has it.
    pub difference: f64,
    /// How far the evaluations of that difference were from the state.
    pub step: f64,
    /// What is between them, as a share of the block's largest entry.
    pub error: f64,
}

/// Memory to compare states of a model.
pub(super) struct Comparison {
    pub model: Model,
    pub data: Data,
    pub perturbed: PerturbedStep,
    work: Workspace,
    /// Where the step itself ends, its velocities ([`PerturbedStep::ends`]), and the ends of the two of a difference.
    here: State,
    pub ends: [Vec<f64>; 2],
    pub sides: [State; 2],
    signatures: [Signature; 2],
    pub impulses: [Vec3; 2],
    pub dq: Vec<f64>,
}

impl Comparison {
    pub fn new(model: &Model) -> Result<Comparison, GradCheckError> {
        let mut options = model.options().clone();
        options.tolerance = TOLERANCE.min(options.tolerance);
        // forward and reverse are compared in every state; differences skip those that are not solved
        options.gradient_of_failed_steps = true;
        let model = model.with_options(options)?;
        let state = State::neutral(&model);
        Ok(Comparison {
            data: Data::new(&model),
            perturbed: PerturbedStep::new(&model),
            work: Workspace::new(&model),
            here: state.clone(),
            ends: Default::default(),
            sides: [state.clone(), state],
            signatures: Default::default(),
            impulses: [Vec3::ZERO; 2],
            dq: vec![0.0; model.nv()],
            model,
        })
    }

    /// Compares the derivatives at a state; with respect to parameters too if asked to.
    pub fn check(
        &mut self,
        sample: &Sample,
        with_parameters: bool,
        draw: &mut Rng,
    ) -> Result<StateReport, GradCheckError> {
        let arguments = sample.arguments();
        let scale = Scale::new(&self.model, &mut self.work, &arguments)?;
        self.data.restore(&sample.warm)?;
        self.perturbed.begin(&self.model, &mut self.data, &arguments, &mut self.here)?;
        self.data.restore(&self.perturbed.warm)?;
        let mut step = arguments.step(&self.model, &mut self.data, &mut self.here)?;
        let exact = Exact::new(&self.model, &mut step, &scale, draw)?;
        let mut report = StateReport {
            mode: Signature::label(&mut step),
            left_out: step.report().status == Status::NotConverged,
            columns: exact.columns.iter().sum(),
            flagged: 0,
            right_on_one_side: 0,
            wrong_unflagged: 0,
            errors: [[0.0; 4]; 2],
            impulse_error: exact.impulse.as_ref().map(|_| 0.0),
            adjoint_error: exact.adjoint_error,
            parameters: Vec::new(),
            worst: None,
        };
        if report.left_out {
            return Ok(report);
        }
        let corners = Corners::of(&mut step)?;
        let groups = if with_parameters { parameters::exact(&self.model, &mut step)? } else { Vec::new() };
        let Comparison { model, data, perturbed, here, .. } = self;
        self.ends = perturbed.ends(model, data, &arguments, here)?;
        self.columns(&arguments, &exact, &scale, &corners, &mut report)?;
        for group in groups {
            report.parameters.push(parameters::compare(self, &arguments, group, draw)?);
        }
        Ok(report)
    }

    fn columns(
        &mut self,
        arguments: &StepArguments,
        exact: &Exact,
        scale: &Scale,
        corners: &Corners,
        report: &mut StateReport,
    ) -> Result<(), GradCheckError> {
        let flags = [&corners.q, &corners.v, &corners.tau, &corners.ctrl];
        for k in 0..4 {
            let largest = |x: &[f64]| x.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            let sizes = [0, 1].map(|out| largest(&exact.blocks[out][k]).max(scale.floors[out][k]));
            let pressing = exact.impulse.as_ref().and_then(|i| i.derivatives.get(k)).map_or(1.0, |d| largest(d));
            for j in 0..exact.columns[k] {
                let column = Column { exact, scale, at: [k, j], sizes, pressing };
                let judged = self.judge(arguments, &column)?;
                if !judged.is_known() {
                    report.left_out = true;
                    continue;
                }
                if flags[k][j] {
                    report.flagged += 1;
                    report.right_on_one_side += usize::from(judged.sides.iter().any(|e| *e <= super::column::WRONG));
                    continue;
                }
                report.wrong_unflagged += usize::from(!judged.is_right());
                if let Some(error) = &mut report.impulse_error {
                    *error = error.max(judged.impulse);
                }
                for (out, off) in judged.central.into_iter().enumerate() {
                    report.errors[out][k] = report.errors[out][k].max(off.error);
                    if report.worst.is_none_or(|w| off.error > w.error) {
                        let value = exact.blocks[out][k][off.row * exact.columns[k] + j];
                        report.worst = Some(WorstEntry {
                            block: BLOCKS[out][k],
                            row: off.row,
                            column: j,
                            exact: value,
                            difference: off.difference,
                            step: off.step,
                            error: off.error,
                        });
                    }
                }
            }
        }
        Ok(())
    }

    /// The step of a model with other numbers, from the place itself.
    pub fn with_model(&mut self, model: &Model, arguments: &StepArguments, side: usize) -> Result<(), GradCheckError> {
        self.data.restore(&self.perturbed.warm)?;
        let step = arguments.step(model, &mut self.data, &mut self.sides[side])?;
        self.signatures[side].read(&step);
        Ok(())
    }

    /// Whether the last two steps did the same.
    pub fn same_modes(&self) -> bool {
        self.signatures[0] == self.signatures[1]
    }

    /// The change from the first to the second of the last two steps, of q_next and v_next.
    pub fn change(&mut self) -> Result<[Vec<f64>; 2], GradCheckError> {
        self.model.difference(&self.sides[0].q, &self.sides[1].q, &mut self.dq)?;
        let dv = self.sides[1].v.iter().zip(&self.sides[0].v).map(|(a, b)| a - b).collect();
        Ok([self.dq.clone(), dv])
    }
}
