//! What became of an environment in the last call.

use slipstick_core::{SolveReport, Status};

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
    /// The worst of each number over the steps ([`SolveReport::worst_of`]): the largest residual, the most iterations, the
    /// smallest margin.
    pub worst: SolveReport,
}

impl Default for EnvironmentReport {
    fn default() -> EnvironmentReport {
        let mut worst = SolveReport::default();
        (worst.margin, worst.correction) = (f64::INFINITY, 1.0);
        EnvironmentReport { failed: false, steps: 0, not_converged: 0, contacts: 0, worst }
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

    /// Counts a step that was made.
    pub(super) fn add(&mut self, step: &SolveReport) {
        self.worst = if self.steps == 0 { *step } else { self.worst.worst_of(step) };
        self.steps += 1;
        self.not_converged += usize::from(step.status == Status::NotConverged);
        self.contacts = step.contacts;
    }

    /// A step gave no state.
    pub(super) fn fail(&mut self) {
        *self = EnvironmentReport { failed: true, steps: self.steps, ..EnvironmentReport::default() };
        (self.worst.residual, self.worst.margin) = (f64::NAN, f64::NAN);
    }
}
