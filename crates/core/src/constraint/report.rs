//! What a solve says about itself.

/// How a solve ended, the better way first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Status {
    /// The residual is at most the tolerance.
    #[default]
    Converged,
    /// So it is, after position correction and restitution were left out: with them the constraints contradict each
    /// other, as for a body wedged between walls that overlap.
    CorrectionDropped,
    /// The best iterate found; its residual tells how good it is.
    NotConverged,
}

impl Status {
    /// The word used in Python and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Converged => "converged",
            Status::CorrectionDropped => "correction_dropped",
            Status::NotConverged => "not_converged",
        }
    }
}

/// Which solver found the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Stage {
    /// There was nothing to solve.
    #[default]
    Empty,
    /// Newton from the warm start.
    Newton,
    /// The interior point.
    InteriorPoint,
    /// Newton from the answer of the interior point.
    Polish,
    /// ADMM.
    Admm,
    /// Projected Gauss–Seidel.
    Pgs,
}

impl Stage {
    /// The word used in Python and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Empty => "empty",
            Stage::Newton => "newton",
            Stage::InteriorPoint => "interior_point",
            Stage::Polish => "polish",
            Stage::Admm => "admm",
            Stage::Pgs => "pgs",
        }
    }
}

/// The report of a solve.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct SolveReport {
    /// How it ended.
    pub status: Status,
    /// Which solver found the answer.
    pub stage: Stage,
    /// Iterations of all stages together.
    pub iterations: u32,
    /// Scaled residual of the answer, from [`residual`](super::residual()) and not from the solver.
    pub residual: f64,
    /// `‖R λ‖∞`: how far compliance moves velocities from those of rigid contacts [m/s].
    pub compliance_shift: f64,
    /// Contacts in the problem.
    pub contacts: usize,
    /// Rows of the problem.
    pub rows: usize,
    /// Constraints so near a change of mode (1e-7 m/s) that a derivative there may be one-sided. Points of a patch that
    /// holds are left out: what they do among themselves has no effect on the motion.
    pub degenerate: usize,
    /// The smallest margin of these constraints: the change of velocity that would change a mode [m/s].
    pub margin: f64,
    /// How often memory had to grow since it was made.
    pub growths: usize,
}
