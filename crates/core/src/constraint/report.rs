//! The report of a solve: status, stage, iterations, residual.

/// How a solve ended, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum Status {
    /// The residual is at most the tolerance.
    #[default]
    Converged,
    /// The residual is above the tolerance at the end of the budget, but at most 1e-8.
    Acceptable,
    /// The targets of the constraints are infeasible together, as for a body wedged between walls that overlap. The
    /// solution has the least violation; the residual tells its size.
    Infeasible,
    /// The best iterate found within the budget; its residual tells how good it is.
    NotConverged,
}

/// A residual that is good enough to go on with where the tolerance could not be met within the budget.
const ACCEPTABLE: f64 = 1e-8;

impl Status {
    /// All of them, the better first.
    pub const ALL: [Status; 4] = [Status::Converged, Status::Acceptable, Status::Infeasible, Status::NotConverged];

    /// The word used in Python and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Converged => "converged",
            Status::Acceptable => "acceptable",
            Status::Infeasible => "infeasible",
            Status::NotConverged => "not_converged",
        }
    }

    /// Status of a feasible problem.
    pub(crate) fn of_residual(residual: f64, tolerance: f64) -> Status {
        match residual {
            r if r <= tolerance => Status::Converged,
            r if r <= ACCEPTABLE => Status::Acceptable,
            _ => Status::NotConverged,
        }
    }
}

/// The stage of the solver that found the solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Stage {
    /// There was nothing to solve.
    #[default]
    Empty,
    /// Newton from the warm start.
    Newton,
    /// Proximal rounds from the best iterate of Newton. Where redundant contacts slide the solution may be one of several.
    Proximal,
    /// Proximal rounds from zero impulses.
    Restart,
    /// The interior point, on the central path.
    InteriorPoint,
    /// ADMM.
    Admm,
    /// Projected Gauss–Seidel.
    Pgs,
}

impl Stage {
    /// All of them.
    pub const ALL: [Stage; 7] =
        [Stage::Empty, Stage::Newton, Stage::Proximal, Stage::Restart, Stage::InteriorPoint, Stage::Admm, Stage::Pgs];

    /// The word used in Python and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Empty => "empty",
            Stage::Newton => "newton",
            Stage::Proximal => "proximal",
            Stage::Restart => "restart",
            Stage::InteriorPoint => "interior_point",
            Stage::Admm => "admm",
            Stage::Pgs => "pgs",
        }
    }
}

/// Iterations of each stage: factorizations, or sweeps of projected Gauss–Seidel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Iterations {
    /// Newton from the warm start.
    pub newton: u32,
    /// Proximal rounds from its best iterate.
    pub proximal: u32,
    /// Proximal rounds from zero.
    pub restart: u32,
    /// The interior point, ADMM or projected Gauss–Seidel.
    pub other: u32,
}

impl Iterations {
    /// Iterations of all stages together.
    pub fn sum(&self) -> u32 {
        self.newton + self.proximal + self.restart + self.other
    }

    pub(crate) fn of(&mut self, stage: Stage) -> &mut u32 {
        match stage {
            Stage::Newton => &mut self.newton,
            Stage::Proximal => &mut self.proximal,
            Stage::Restart => &mut self.restart,
            _ => &mut self.other,
        }
    }
}

/// The report of a solve.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct SolveReport {
    /// How it ended.
    pub status: Status,
    /// The stage of the solver that found the solution.
    pub stage: Stage,
    /// Iterations of all stages together, of the island that took most; never more than the budget.
    pub iterations: u32,
    /// Iterations of each stage, in the last problem of that island.
    pub stages: Iterations,
    /// Iterations of all islands together.
    pub total_iterations: u32,
    /// Scaled residual of the solution, from [`residual`](crate::constraint::residual()) and not from the solver.
    pub residual: f64,
    /// `‖R λ‖∞`: how far compliance moves velocities from those of rigid contacts (m/s).
    pub compliance_shift: f64,
    /// Contacts in the problem.
    pub contacts: usize,
    /// Rows of the problem.
    pub rows: usize,
    /// Constraints so near a change of mode (1e-7 m/s) that a derivative there may be one-sided. Points of a patch that
    /// sticks do not count: their load distribution has no effect on the motion. Of the impulses found;
    /// [`Step::margins`](crate::Step::margins) counts at the center of the loads instead.
    pub degenerate: usize,
    /// The smallest margin of these constraints: the change of velocity that would change a mode (m/s).
    pub margin: f64,
    /// The least fraction of its position correction that an island was given: less than 1 where the whole would have added
    /// too much energy.
    pub correction: f64,
    /// How often memory had to grow since it was made.
    pub growths: usize,
}

impl SolveReport {
    /// The worse of each number of two steps: of status, residual, iterations, margin, correction; the larger counts. Stages
    /// are those of the step with more iterations.
    pub fn worst_of(self, other: &SolveReport) -> SolveReport {
        let slower = if other.iterations > self.iterations { other } else { &self };
        SolveReport {
            status: self.status.max(other.status),
            stage: slower.stage,
            iterations: slower.iterations,
            stages: slower.stages,
            total_iterations: self.total_iterations.max(other.total_iterations),
            residual: self.residual.max(other.residual),
            compliance_shift: self.compliance_shift.max(other.compliance_shift),
            contacts: self.contacts.max(other.contacts),
            rows: self.rows.max(other.rows),
            degenerate: self.degenerate.max(other.degenerate),
            margin: self.margin.min(other.margin),
            correction: self.correction.min(other.correction),
            growths: self.growths.max(other.growths),
        }
    }

    /// Whether the step is not what it should be: it did not converge, or less than its whole position correction was given.
    pub fn is_impaired(&self) -> bool {
        self.status == Status::NotConverged || self.correction < 1.0
    }
}
