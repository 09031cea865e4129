//! One state: its exact derivatives beside differences.

use super::exact::{Exact, Impulse, impulse_between};
use super::parameters::{self, ParameterError};
use super::sample::Sample;
use super::scale::Scale;
use super::signature::Signature;
use super::{BLOCKS, GradCheckError};
use crate::probe::{Entry, Place, Probe};
use crate::random::Draw;
use slipstick_core::dynamics::Workspace;
use slipstick_core::spatial::Vec3;
use slipstick_core::{Data, Model, State};

/// Distances of the two evaluations of a difference from the state, in the units of [`Scale`], tried in this order: the
/// best counts. Large ones are for smooth motion, where rounding is all there is; the smallest for slow slip and for
/// contacts about to change.
pub(super) const LADDER: [f64; 7] = [1e-6, 1e-7, 1e-8, 1e-5, 1e-9, 1e-4, 1e-10];
/// A column this good needs no other differences.
const GOOD: f64 = 1e-9;
/// Solves as exact as differences over small distances need them.
pub(crate) const TOLERANCE: f64 = 1e-13;

/// What comparing one state has shown.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StateReport {
    /// What contacts do: free, break, stick, slide, limit, or several of the last three.
    pub mode: String,
    /// Whether a mode or a contact's feature differs between the evaluations of a difference, even of the nearest ones.
    pub left_out: bool,
    /// Whether contacts have other modes in the state itself than on both sides of a difference: it is a corner that
    /// every change leads away from.
    pub at_switch: bool,
    /// Errors of the blocks of q_next and v_next with respect to q, v, tau and ctrl, relative to their largest entries.
    pub errors: [[f64; 4]; 2],
    /// The same for the impulse between the two bodies that press on each other most, with respect to q, v and tau.
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
    pub probe: Probe,
    work: Workspace,
    sides: [State; 2],
    /// On the two sides of a difference, and in the state itself.
    signatures: [Signature; 3],
    impulses: [Vec3; 2],
    dq: Vec<f64>,
}

/// The best difference of a column.
#[derive(Clone, Copy)]
struct Best {
    /// Of q_next and v_next: error, row, difference, step.
    blocks: [(f64, usize, f64, f64); 2],
    impulse: f64,
    /// Whether some difference has the modes of the state itself.
    inside: bool,
}

impl Comparison {
    pub fn new(model: &Model) -> Result<Comparison, GradCheckError> {
        let mut options = model.options().clone();
        options.tolerance = TOLERANCE.min(options.tolerance);
        let model = model.with_options(options)?;
        Ok(Comparison {
            data: Data::new(&model),
            probe: Probe::new(&model),
            work: Workspace::new(&model),
            sides: [State::neutral(&model), State::neutral(&model)],
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
        draw: &mut Draw,
    ) -> Result<StateReport, GradCheckError> {
        let place = sample.place();
        let scale = Scale::new(&self.model, &mut self.work, &place)?;
        self.data.restore(&sample.warm)?;
        self.probe.begin(&self.model, &mut self.data, &place, &mut self.sides[0])?;
        self.data.restore(&self.probe.warm)?;
        let mut step = place.step(&self.model, &mut self.data, &mut self.sides[0])?;
        let exact = Exact::new(&self.model, &mut step, &scale, draw)?;
        let mut report = StateReport {
            mode: Signature::label(&step),
            left_out: false,
            at_switch: false,
            errors: [[0.0; 4]; 2],
            impulse_error: exact.impulse.as_ref().map(|_| 0.0),
            adjoint_error: exact.adjoint_error,
            parameters: Vec::new(),
            worst: None,
        };
        self.signatures[2].read(&step);
        let groups = if with_parameters { parameters::exact(&self.model, &mut step)? } else { Vec::new() };
        self.columns(&place, &exact, &scale, &mut report)?;
        for group in groups {
            report.parameters.push(parameters::compare(self, &place, group, draw)?);
        }
        Ok(report)
    }

    fn columns(
        &mut self,
        place: &Place,
        exact: &Exact,
        scale: &Scale,
        report: &mut StateReport,
    ) -> Result<(), GradCheckError> {
        let entries: [fn(usize) -> Entry; 4] = [Entry::Q, Entry::V, Entry::Tau, Entry::Ctrl];
        for (k, entry) in entries.into_iter().enumerate() {
            let largest = |x: &[f64]| x.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            let sizes = [0, 1].map(|out| largest(&exact.blocks[out][k]).max(scale.floors[out][k]));
            let pressing = exact.impulse.as_ref().and_then(|i| i.derivatives.get(k)).map_or(1.0, |d| largest(d));
            for j in 0..exact.columns[k] {
                let unit = scale.units[k][j];
                let Some(best) = self.best(place, exact, [k, j], entry(j), unit, sizes, pressing)? else {
                    report.left_out = true;
                    continue;
                };
                report.at_switch |= !best.inside;
                if let Some(error) = &mut report.impulse_error {
                    *error = error.max(best.impulse);
                }
                for (out, (error, row, difference, step)) in best.blocks.into_iter().enumerate() {
                    report.errors[out][k] = report.errors[out][k].max(error);
                    if report.worst.is_none_or(|w| error > w.error) {
                        let value = exact.blocks[out][k][row * exact.columns[k] + j];
                        let block = BLOCKS[out][k];
                        report.worst =
                            Some(WorstEntry { block, row, column: j, exact: value, difference, step, error });
                    }
                }
            }
        }
        Ok(())
    }

    /// The best of all differences of a column whose evaluations have the same modes; `None` if there is none.
    fn best(
        &mut self,
        place: &Place,
        exact: &Exact,
        [k, j]: [usize; 2],
        entry: Entry,
        unit: f64,
        sizes: [f64; 2],
        pressing: f64,
    ) -> Result<Option<Best>, GradCheckError> {
        let mut best: Option<Best> = None;
        for h in LADDER {
            // a mode that begins further on says nothing about the state
            if h > LADDER[0] && best.is_none() {
                continue;
            }
            let h = h * unit;
            self.evaluate(place, entry, h, exact.impulse.as_ref())?;
            if self.signatures[0] != self.signatures[1] {
                continue;
            }
            self.model.difference(&self.sides[0].q, &self.sides[1].q, &mut self.dq)?;
            let n = exact.columns[k];
            let mut blocks = [(0.0, 0, 0.0, h); 2];
            for i in 0..self.model.nv() {
                let differences = [self.dq[i], self.sides[1].v[i] - self.sides[0].v[i]].map(|d| d / (2.0 * h));
                for out in 0..2 {
                    let error = (exact.blocks[out][k][i * n + j] - differences[out]).abs() / sizes[out];
                    if error >= blocks[out].0 {
                        blocks[out] = (error, i, differences[out], h);
                    }
                }
            }
            let impulse = exact.impulse.as_ref().and_then(|i| i.derivatives.get(k));
            let impulse = impulse.map_or(0.0, |d| self.impulse_error(d, j, h) / pressing.max(f64::MIN_POSITIVE));
            let inside = self.signatures[0] == self.signatures[2];
            best = Some(match best {
                None => Best { blocks, impulse, inside },
                Some(b) => Best {
                    inside: inside || b.inside,
                    blocks: [0, 1].map(|out| if blocks[out].0 < b.blocks[out].0 { blocks[out] } else { b.blocks[out] }),
                    impulse: b.impulse.min(impulse),
                },
            });
            if best.is_some_and(|b| b.blocks.iter().all(|b| b.0 <= GOOD)) {
                break;
            }
        }
        Ok(best)
    }

    fn impulse_error(&self, derivatives: &[f64], j: usize, h: f64) -> f64 {
        let difference = ((self.impulses[1] - self.impulses[0]) * (0.5 / h)).to_array();
        let nv = self.model.nv();
        (0..3).map(|i| (derivatives[i * nv + j] - difference[i]).abs()).fold(0.0, f64::max)
    }

    /// The two steps of a difference.
    fn evaluate(
        &mut self,
        place: &Place,
        entry: Entry,
        h: f64,
        impulse: Option<&Impulse>,
    ) -> Result<(), GradCheckError> {
        for (side, h) in [-h, h].into_iter().enumerate() {
            let next = &mut self.sides[side];
            let step = self.probe.beside(&self.model, &mut self.data, place, entry, h, next)?;
            self.signatures[side].read(&step);
            if let Some(impulse) = impulse {
                self.impulses[side] = impulse_between(&step, impulse.bodies);
            }
        }
        Ok(())
    }

    /// The step of a model with other numbers, from the place itself.
    pub fn with_model(&mut self, model: &Model, place: &Place, side: usize) -> Result<(), GradCheckError> {
        self.data.restore(&self.probe.warm)?;
        let step = place.step(model, &mut self.data, &mut self.sides[side])?;
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
