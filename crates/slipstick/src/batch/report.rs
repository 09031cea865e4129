//! What became of an environment in the last call.

use slipstick_core::{SolveReport, Status, Step};

/// What became of an environment in the last call of [`Batch::step`](super::Batch::step) or
/// [`Batch::rollout`](super::Batch::rollout). Before the first call it is that of no steps.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct EnvironmentReport {
    /// Whether a step gave no state. Then numbers other than `steps` are zero, residual and margin are NaN.
    pub failed: bool,
    /// Steps that were made.
    pub steps: usize,
    /// Steps that did not converge.
    pub not_converged: usize,
    /// Contacts of the last step.
    pub contacts: usize,
    /// How many of several recorded steps did something else in their constraints than the one before
    /// ([`Step::mode_key`]); `None` where several steps were not recorded.
    pub mode_changes: Option<usize>,
    /// The largest normal impulse of a contact, over the impulse of the robot's weight in a step.
    pub impulse: f64,
    /// The worst of each number over the steps ([`SolveReport::worst_of`]): the largest residual, the most iterations, the
    /// smallest margin.
    pub worst: SolveReport,
}

impl Default for EnvironmentReport {
    fn default() -> EnvironmentReport {
        let mut worst = SolveReport::default();
        (worst.margin, worst.correction) = (f64::INFINITY, 1.0);
        EnvironmentReport {
            failed: false,
            steps: 0,
            not_converged: 0,
            contacts: 0,
            mode_changes: Some(0),
            impulse: 0.0,
            worst,
        }
    }
}

impl EnvironmentReport {
    /// The word of [`Status::name`] for the worst step, or `failed`.
    pub fn status_name(&self) -> &'static str {
        if self.failed { "failed" } else { self.worst.status.name() }
    }

    /// Whether all steps gave a state, and none did not converge.
    pub fn is_converged(&self) -> bool {
        !self.failed && self.not_converged == 0
    }

    /// Counts a step that was made. Impulses are in N·s until the last step is done.
    pub(super) fn add(&mut self, step: &Step) {
        let solved = step.report();
        self.worst = if self.steps == 0 { *solved } else { self.worst.worst_of(solved) };
        self.steps += 1;
        self.not_converged += usize::from(solved.status == Status::NotConverged);
        self.contacts = solved.contacts;
        self.impulse = self.impulse.max(step.largest_normal_impulse());
    }

    /// Counts one of several steps: its mode key, if it is known, and that of the one before.
    pub(super) fn add_next(&mut self, step: &Step, key: Option<u64>, last: &mut Option<u64>) {
        self.add(step);
        let changed = |key: u64| usize::from(last.is_some_and(|last| last != key));
        self.mode_changes = self.mode_changes.zip(key).map(|(n, key)| n + changed(key));
        *last = key;
    }

    /// A step gave no state.
    pub(super) fn fail(&mut self) {
        *self = EnvironmentReport { failed: true, steps: self.steps, ..EnvironmentReport::default() };
        (self.worst.residual, self.worst.margin) = (f64::NAN, f64::NAN);
    }
}
