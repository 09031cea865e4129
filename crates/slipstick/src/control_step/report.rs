//! What became of an environment in a control step.

use slipstick_core::{Mode, Model, SolveReport, Status, Step};

/// How a control step of an environment ended, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[repr(i32)]
pub enum Outcome {
    /// All steps were solved.
    #[default]
    Solved = 0,
    /// A step was given less than its position correction: all of it would have added energy.
    Reduced = 1,
    /// A step did not converge. The state is that of its best iterate; it has no derivatives, its gradients are zero.
    NotConverged = 2,
    /// A step gave no state: the state is that before it. Gradients are zero.
    Failed = 3,
}

impl Outcome {
    /// All of them, in the order of their numbers.
    pub const ALL: [Outcome; 4] = [Outcome::Solved, Outcome::Reduced, Outcome::NotConverged, Outcome::Failed];

    /// The word used in Python.
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Solved => "solved",
            Outcome::Reduced => "reduced",
            Outcome::NotConverged => "not_converged",
            Outcome::Failed => "failed",
        }
    }

    /// Whether its derivatives exist.
    pub const fn is_differentiable(self) -> bool {
        matches!(self, Outcome::Solved | Outcome::Reduced)
    }
}

/// Names of the columns of a report.
pub const REPORT: [&str; 7] = ["contacts", "mode_changes", "impulse", "margin", "iterations", "residual", "degenerate"];

/// A report that is being made, as a row of numbers.
pub(super) struct Report<'a> {
    row: &'a mut [f64],
    last: Option<u64>,
    weight: f64,
}

impl<'a> Report<'a> {
    /// `weight`: impulse of the robot's weight in a step (N·s).
    pub fn new(row: &'a mut [f64], weight: f64) -> Report<'a> {
        row.fill(0.0);
        if let Some(margin) = row.get_mut(3) {
            *margin = f64::INFINITY;
        }
        Report { row, last: None, weight }
    }

    /// Counts a step; nothing is computed where no report is wanted.
    pub fn add(&mut self, step: &Step) {
        let [contacts, changes, impulse, margin, iterations, residual, degenerate] = self.row else { return };
        let report: &SolveReport = step.report();
        let key = step.mode_key();
        *contacts = step.contacts().filter(|c| c.mode != Mode::Break).count() as f64;
        *impulse = impulse.max(step.largest_normal_impulse() / self.weight);
        *changes += f64::from(u8::from(self.last.is_some_and(|last| last != key)));
        *margin = margin.min(report.margin);
        *iterations += f64::from(report.total_iterations);
        *residual = residual.max(report.residual);
        *degenerate = degenerate.max(report.degenerate as f64);
        self.last = Some(key);
    }
}

/// Impulse of a robot's weight in a step (N·s).
pub(crate) fn impulse_of_weight(model: &Model) -> f64 {
    (model.total_mass() * 9.81 * model.options().dt).max(f64::MIN_POSITIVE)
}

/// How a step ended.
pub(super) fn outcome_of(report: &SolveReport) -> Outcome {
    match report.status {
        Status::NotConverged => Outcome::NotConverged,
        _ if report.correction < 1.0 => Outcome::Reduced,
        _ => Outcome::Solved,
    }
}
