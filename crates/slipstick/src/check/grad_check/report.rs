//! Errors of many states as distributions, by block and by mode.

use super::compare::{StateReport, WorstEntry};
use super::parameters::ParameterError;
use super::sample::Sample;
use super::{BLOCKS, GradCheckError};
use slipstick_core::model::ParameterGroup;
use std::collections::BTreeMap;

/// How many of the worst states are kept.
const KEPT: usize = 10;

/// What comparing many states has shown.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct GradReport {
    /// States compared, skipped ones included.
    pub states: usize,
    /// States skipped because contact could not be solved.
    pub left_out: usize,
    /// States with a column at a corner.
    pub flagged: usize,
    /// By mode: states, and how many of them are flagged.
    pub modes: BTreeMap<String, [usize; 2]>,
    /// Columns compared, those at a corner, and those of them that are the derivative on one side.
    pub columns: [usize; 3],
    /// Columns that are not the derivative on both sides, and not flagged.
    pub wrong_unflagged: usize,
    /// Errors by block, of states that are not flagged; a block that is empty in all states is not there.
    pub blocks: BTreeMap<&'static str, Errors>,
    /// Errors of the derivatives of the impulse between the two bodies that press on each other most.
    pub impulse: Errors,
    /// Errors by group of parameters.
    pub parameters: BTreeMap<&'static str, Errors>,
    /// Parameter entries skipped, by group.
    pub parameters_left_out: BTreeMap<&'static str, usize>,
    /// Derivatives that do not exist, and how often they were asked for.
    pub unsupported: BTreeMap<String, usize>,
    /// Largest disagreement of jacobian, jvp and vjp.
    pub adjoint_error: f64,
    /// The states with the largest errors, worst first, of columns that are not flagged.
    pub worst: Vec<Worst>,
    /// The states with the largest errors of derivatives with respect to parameters, by group.
    pub worst_parameters: BTreeMap<&'static str, (Sample, ParameterError)>,
    /// States in which a derivative was refused or not finite, with the reason.
    pub failures: Vec<(Sample, GradCheckError)>,
}

/// A state with a large error.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Worst {
    /// The state.
    pub sample: Sample,
    /// What contacts do in it.
    pub mode: String,
    /// Where derivative and difference differ most.
    pub entry: WorstEntry,
}

/// Errors relative to the largest entries of a block, by mode.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Errors(BTreeMap<String, Vec<f64>>);

impl Errors {
    fn add(&mut self, mode: &str, error: f64) {
        self.0.entry(mode.into()).or_default().push(error);
    }

    /// Modes that there are errors of.
    pub fn modes(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// How many errors of a mode, or of all.
    pub fn count(&self, mode: Option<&str>) -> usize {
        self.of(mode).count()
    }

    /// The error that half of the states stay below.
    pub fn median(&self, mode: Option<&str>) -> f64 {
        let mut all: Vec<f64> = self.of(mode).collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or(0.0)
    }

    /// The largest error.
    pub fn worst(&self, mode: Option<&str>) -> f64 {
        self.of(mode).fold(0.0, f64::max)
    }

    fn of<'a>(&'a self, mode: Option<&'a str>) -> impl Iterator<Item = f64> + 'a {
        let chosen = self.0.iter().filter(move |(m, _)| mode.is_none_or(|mode| mode == m.as_str()));
        chosen.flat_map(|(_, errors)| errors.iter().copied())
    }
}

impl GradReport {
    pub(super) fn add(&mut self, sample: Sample, state: StateReport, columns: [usize; 4]) {
        let flagged = state.flagged > 0;
        self.states += 1;
        self.left_out += usize::from(state.left_out);
        self.flagged += usize::from(flagged);
        self.wrong_unflagged += state.wrong_unflagged;
        let counts = self.modes.entry(state.mode.clone()).or_default();
        counts[0] += 1;
        counts[1] += usize::from(flagged);
        if state.left_out {
            return;
        }
        self.adjoint_error = self.adjoint_error.max(state.adjoint_error);
        for (sum, n) in self.columns.iter_mut().zip([state.columns, state.flagged, state.right_on_one_side]) {
            *sum += n;
        }
        self.add_parameters(&sample, &state);
        if !flagged {
            self.add_errors(&sample, &state, columns);
        }
        if let Some(entry) = state.worst {
            self.worst.push(Worst { sample, mode: state.mode, entry });
            self.worst.sort_by(|a, b| b.entry.error.total_cmp(&a.entry.error));
            self.worst.truncate(KEPT);
        }
    }

    fn add_errors(&mut self, sample: &Sample, state: &StateReport, columns: [usize; 4]) {
        for out in 0..2 {
            for k in (0..4).filter(|k| columns[*k] > 0 && (*k < 3 || sample.ctrl.is_some())) {
                self.blocks.entry(BLOCKS[out][k]).or_default().add(&state.mode, state.errors[out][k]);
            }
        }
        if let Some(error) = state.impulse_error {
            self.impulse.add(&state.mode, error);
        }
    }

    fn add_parameters(&mut self, sample: &Sample, state: &StateReport) {
        for p in &state.parameters {
            let name = ParameterGroup::name(p.group);
            if let Some(what) = &p.unsupported {
                *self.unsupported.entry(what.clone()).or_default() += 1;
            }
            if let Some(error) = p.error {
                self.parameters.entry(name).or_default().add(&state.mode, error);
                if self.worst_parameters.get(name).is_none_or(|w| error > w.1.error.unwrap_or(0.0)) {
                    self.worst_parameters.insert(name, (sample.clone(), p.clone()));
                }
            }
            if p.left_out > 0 {
                *self.parameters_left_out.entry(name).or_default() += p.left_out;
            }
        }
    }

    /// Fraction of the states that were skipped.
    pub fn left_out_share(&self) -> f64 {
        self.left_out as f64 / self.states.max(1) as f64
    }

    /// Fraction of the states that have a column at a corner.
    pub fn flagged_share(&self) -> f64 {
        self.flagged as f64 / self.states.max(1) as f64
    }

    /// The state with the largest error of a derivative with respect to parameters.
    pub fn worst_parameter(&self) -> Option<&(Sample, ParameterError)> {
        self.worst_parameters.values().max_by(|a, b| a.1.error.unwrap_or(0.0).total_cmp(&b.1.error.unwrap_or(0.0)))
    }

    /// The largest median of a block.
    pub fn median_error(&self) -> f64 {
        self.blocks.values().map(|e| e.median(None)).fold(0.0, f64::max)
    }

    /// The largest error of a block.
    pub fn worst_error(&self) -> f64 {
        self.blocks.values().map(|e| e.worst(None)).fold(0.0, f64::max)
    }
}
