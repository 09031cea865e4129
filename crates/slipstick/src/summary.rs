//! A rollout in a few numbers.

use crate::check::audit::AuditReport;
use slipstick_core::constraint::Stage;
use slipstick_core::{Mode, Status, Step};
use std::collections::BTreeMap;

/// Counts and extremes over the steps of a rollout.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Summary {
    /// Steps.
    pub steps: usize,
    /// Contacts in the problems of all steps together, and in the largest.
    pub contacts: usize,
    /// Most contacts of a step.
    pub most_contacts: usize,
    /// How often a contact broke, stuck and slid.
    pub modes: BTreeMap<&'static str, usize>,
    /// Iterations of all steps together.
    pub iterations: usize,
    /// Most iterations of a step.
    pub most_iterations: u32,
    /// How often solves ended in each way.
    pub status: BTreeMap<&'static str, usize>,
    /// How often each solver found the solution.
    pub stage: BTreeMap<&'static str, usize>,
    /// Largest scaled residual of a step.
    pub worst_residual: f64,
    /// Largest velocity by which compliance moved a contact (m/s).
    pub compliance_shift: f64,
    /// Deepest overlap at the beginning of a step (m).
    pub penetration: f64,
    /// How derivatives compared with differences on the way, if they were audited.
    pub audit: Option<AuditReport>,
}

impl Summary {
    /// An empty summary, with a zero for every word that can be counted.
    pub fn new() -> Summary {
        let zero = |words: &[&'static str]| words.iter().map(|w| (*w, 0)).collect();
        Summary {
            modes: zero(&Mode::ALL.map(Mode::name)),
            status: zero(&Status::ALL.map(Status::name)),
            stage: zero(&Stage::ALL.map(Stage::name)),
            ..Summary::default()
        }
    }

    /// Counts a step.
    pub fn add(&mut self, step: &Step) {
        let report = step.report();
        self.steps += 1;
        self.contacts += report.contacts;
        self.most_contacts = self.most_contacts.max(report.contacts);
        self.iterations += report.iterations as usize;
        self.most_iterations = self.most_iterations.max(report.iterations);
        *self.status.entry(report.status.name()).or_default() += 1;
        *self.stage.entry(report.stage.name()).or_default() += 1;
        self.worst_residual = self.worst_residual.max(report.residual);
        self.compliance_shift = self.compliance_shift.max(report.compliance_shift);
        for c in step.contacts() {
            *self.modes.entry(c.mode.name()).or_default() += 1;
            self.penetration = self.penetration.max(-c.distance);
        }
    }

    /// Contacts per step.
    pub fn mean_contacts(&self) -> f64 {
        self.contacts as f64 / self.steps.max(1) as f64
    }

    /// Iterations per step.
    pub fn mean_iterations(&self) -> f64 {
        self.iterations as f64 / self.steps.max(1) as f64
    }
}
