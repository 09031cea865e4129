//! Solvers of the nonlinear complementarity problem. They see a [`Problem`] and nothing else.   (ncp-4)
//!
//! By default: Newton from the warm start, then proximal rounds from the best of its iterates, then once more from zero
//! impulses; one budget of factorizations for all of them, and a residual that none of them has computed for itself.

mod active_mode;
mod admm;
mod compromise;
mod interior_point;
mod law;
mod line_search;
mod linear;
mod local_response;
mod newton;
mod pgs;
mod proximal;
#[cfg(test)]
mod tests;
mod tuning;

use super::laws::cone::{Cone, Square};
use super::problem::residual::{fastest, residual_at, unit};
use super::problem::{Block, Problem, rows_of};
use super::report::{Iterations, Stage, Status};
use crate::footprint::footprint;
use crate::model::Solver;
use active_mode::ActiveMode;
use interior_point::InteriorPoint;
use linear::Linear;
use local_response::LocalResponse;
use proximal::{End, Patience, Proximal};
use tuning::{ABSURD, CONTRADICTION, DOWN, FIRST_RUN, MARGIN, RESERVE, SHARED_DIGITS, SLOWEST, WARM_WEIGHT, WEIGHT};

/// Iterate and scratch memory of the solvers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Work {
    /// Impulses (rows) and their velocities.
    pub lambda: Vec<f64>,
    pub sigma: Vec<f64>,
    /// The impulses to which the velocities belong.
    evaluated: Vec<f64>,
    kept: Vec<f64>,
    previous: Vec<f64>,
    change: Vec<f64>,
    answer: Vec<f64>,
    /// The best iterate of all stages.
    best: Vec<f64>,
    /// Impulses of a compromise while it is tried to do without.
    aside: Vec<f64>,
    w: Vec<f64>,
    xi: Vec<f64>,
    branches: Vec<ActiveMode>,
    answers: Vec<LocalResponse>,
    linear: Linear,
    proximal: Proximal,
    interior: InteriorPoint,
    admm: [Vec<f64>; 3],
}

footprint!(Work: lambda, sigma, evaluated, kept, previous, change, answer, best, aside, w, xi, branches, answers, linear, proximal, interior,
    admm);

impl Work {
    /// Room for a problem; impulses start at zero.
    pub fn reset(&mut self, problem: &Problem) {
        let rows = problem.rows();
        let vectors =
            [&mut self.lambda, &mut self.sigma, &mut self.kept, &mut self.previous, &mut self.change, &mut self.answer];
        for v in vectors {
            v.clear();
            v.resize(rows, 0.0);
        }
        for v in [&mut self.w, &mut self.xi] {
            v.clear();
            v.resize(problem.width(), 0.0);
        }
        self.branches.clear();
        self.branches.resize(problem.blocks.len(), ActiveMode::default());
        self.answers.clear();
        self.answers.resize(problem.blocks.len(), LocalResponse::default());
        self.linear.reset(problem);
    }

    /// How much there is room for.
    pub fn capacity(&self) -> usize {
        let vectors = self.admm.iter().chain([&self.lambda, &self.best, &self.w]).map(Vec::capacity).sum::<usize>();
        let systems = self.linear.capacity() + self.interior.capacity() + self.proximal.capacity();
        self.branches.capacity() + self.answers.capacity() + vectors + systems
    }

    /// How block `k` resists a change of its impulse, after [`center`].
    pub fn local_compliance(&self, problem: &Problem, k: usize) -> Square {
        self.interior.local_compliance(problem, k)
    }

    /// Velocity of the present impulses.
    pub fn evaluate(&mut self, problem: &Problem) {
        problem.velocity(&self.lambda, &mut self.sigma, &mut self.w, &mut self.xi);
        self.evaluated.clone_from(&self.lambda);
    }

    /// Change of velocity by `change`, in `answer`.
    fn apply_change(&mut self, problem: &Problem) {
        problem.apply(&self.change, &mut self.answer, &mut self.w, &mut self.xi);
        self.evaluated.clear();
    }

    /// Change of velocity of all dofs by the present impulses, if that is how their velocity was computed; else nothing.
    pub fn velocity_of_dofs(&self, problem: &Problem) -> &[f64] {
        if self.evaluated == self.lambda { &self.xi[problem.dofs.start..][..problem.dofs.width()] } else { &[] }
    }

    fn keep(&mut self) {
        self.kept.copy_from_slice(&self.lambda);
    }

    fn restore(&mut self) {
        self.lambda.copy_from_slice(&self.kept);
    }
}

/// What a solve ended with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outcome {
    pub stage: Stage,
    pub status: Status,
    pub iterations: Iterations,
    /// Factorizations of all islands together.
    pub total: u32,
    pub residual: f64,
}

impl Outcome {
    /// Of no constraints.
    pub const EMPTY: Outcome = Outcome {
        stage: Stage::Empty,
        status: Status::Converged,
        iterations: Iterations { newton: 0, proximal: 0, restart: 0, other: 0 },
        total: 0,
        residual: 0.0,
    };

    /// Of two islands: what either failed in, and the effort of the harder one.
    pub fn and(self, other: Outcome) -> Outcome {
        let harder = if other.iterations.sum() >= self.iterations.sum() { other } else { self };
        Outcome {
            stage: harder.stage,
            status: self.status.max(other.status),
            iterations: harder.iterations,
            total: self.total + other.total,
            residual: self.residual.max(other.residual),
        }
    }
}

/// What a search may still spend, and the best that it has seen; the impulses of that are in `Work::best`.
#[derive(Debug, Clone, Copy)]
struct Search {
    /// Residual that is wanted: the tolerance, relative to (ten times) the problem's own speeds where they are below 1 m/s.
    aim: f64,
    /// Whether contacts share a load by their compliance.
    shares: bool,
    /// Residual that is good enough where the aim is not met at once.
    tolerance: f64,
    /// Factorizations that are left.
    left: u32,
    iterations: Iterations,
    stage: Stage,
    residual: f64,
}

impl Search {
    fn new(problem: &Problem, tolerance: f64, budget: u32) -> Search {
        let iterations = Iterations::default();
        let aim = tolerance * (MARGIN * fastest(problem)).clamp(SLOWEST, 1.0);
        let shares = problem.blocks.iter().any(|b| b.is_redundant());
        Search { aim, shares, tolerance, left: budget, iterations, stage: Stage::Newton, residual: f64::INFINITY }
    }

    /// One factorization.
    fn spend(&mut self, stage: Stage) {
        self.left = self.left.saturating_sub(1);
        *self.iterations.of(stage) += 1;
    }

    /// Takes the present iterate if it is better.
    fn offer(&mut self, stage: Stage, residual: f64, work: &mut Work) {
        if residual < self.residual {
            (self.stage, self.residual) = (stage, residual);
            work.best.clear();
            work.best.extend_from_slice(&work.lambda);
        }
    }

    /// Whether nothing more is wanted of impulses: the residual is small beside the problem's own speeds, and beside the
    /// velocities that decide how points which slide share a load (that of points which stick moves nothing).
    fn is_precise(&self, problem: &Problem, lambda: &[f64], residual: f64) -> bool {
        residual <= self.aim && self.shares_precisely(problem, lambda, residual)
    }

    /// Whether the residual is small beside the velocities that decide how points which slide share a load.
    fn shares_precisely(&self, problem: &Problem, lambda: &[f64], residual: f64) -> bool {
        if !self.shares {
            return true;
        }
        let slides = |b: &Block| b.is_redundant() && b.cone.is_at_edge(rows_of(lambda, b));
        let shift = |b: &Block| b.compliance * lambda[b.row + b.cone.rows() - 1].abs();
        let largest = problem.blocks.iter().filter(|b| slides(b)).map(shift).fold(0.0, f64::max);
        largest == 0.0 || residual * unit(problem) <= (SHARED_DIGITS * largest).max(f64::EPSILON)
    }

    fn is_done(&self) -> bool {
        self.residual <= self.tolerance
    }
}

/// Solves from the impulses in `work.lambda` with at most `budget` factorizations (sweeps, for projected Gauss–Seidel); the
/// answer is in `work.lambda` and `work.sigma`. Where the demands contradict each other, constraints of the problem get
/// the compliance with which it has a solution.   (ncp-14)
pub(crate) fn solve(problem: &mut Problem, solver: Solver, tolerance: f64, budget: u32, work: &mut Work) -> Outcome {
    if problem.rows() == 0 {
        return Outcome::EMPTY;
    }
    let mut search = Search::new(problem, tolerance, budget);
    let mut infeasible = false;
    match solver {
        Solver::Auto => infeasible = chain(problem, &mut search, work, false),
        Solver::Cold => infeasible = chain(problem, &mut search, work, true),
        Solver::Admm => {
            search.iterations.other = admm::admm(problem, work, tolerance, budget).0;
            search.stage = Stage::Admm;
        }
        Solver::Pgs => {
            search.iterations.other = pgs::pgs(problem, work, tolerance, budget).0;
            search.stage = Stage::Pgs;
        }
    }
    into_cones(problem, &mut work.lambda);
    // the certificate: velocities and residual from the impulses alone; where Newton ended the chain they are those already
    if !(search.stage == Stage::Newton && work.evaluated == work.lambda && !infeasible) {
        work.evaluate(problem);
    }
    let residual = demanded_residual(problem, work);
    let status = if infeasible { Status::Infeasible } else { Status::of_residual(residual, tolerance) };
    let total = search.iterations.sum();
    Outcome { stage: search.stage, status, iterations: search.iterations, total, residual }
}

/// Impulses that pull, by as much as the tolerance allows, do not.
fn into_cones(problem: &Problem, lambda: &mut [f64]) {
    for b in &problem.blocks {
        let last = b.row + b.cone.rows() - 1;
        if lambda[last] < 0.0 && matches!(b.cone, Cone::Friction { .. } | Cone::Unilateral) {
            lambda[b.row..=last].fill(0.0);
        }
    }
}

/// The residual of what is demanded, whoever yields.
fn demanded_residual(problem: &Problem, work: &mut Work) -> f64 {
    if problem.blocks.iter().all(|b| b.yields == 0.0) {
        return residual_at(problem, &work.lambda, &work.sigma);
    }
    work.change.copy_from_slice(&work.sigma);
    for b in problem.blocks.iter().filter(|b| b.yields > 0.0) {
        let last = b.row + b.cone.rows() - 1;
        work.change[last] -= b.yields * work.lambda[last];
    }
    residual_at(problem, &work.lambda, &work.change)
}

/// The point of the central path with complementarity `kappa` (J); its impulses and velocities are in `work`.   (ncp-13)
pub(crate) fn center(problem: &mut Problem, kappa: f64, budget: u32, work: &mut Work) -> Outcome {
    if problem.rows() == 0 {
        return Outcome::EMPTY;
    }
    let mut interior = core::mem::take(&mut work.interior);
    let (mut spent, mut centered) = interior.center(problem, work, kappa, budget);
    let mut status = Status::Converged;
    if !centered {
        // demands that contradict each other have no central path: where they yield there is one
        let mut search = Search::new(problem, CONTRADICTION, budget.saturating_sub(spent));
        work.lambda.fill(0.0);
        if chain(problem, &mut search, work, true) {
            status = Status::Infeasible;
        }
        let (more, now) = interior.center(problem, work, kappa, search.left);
        (spent, centered) = (spent + search.iterations.sum() + more, now);
    }
    work.interior = interior;
    let residual = residual_at(problem, &work.lambda, &work.sigma);
    let status = if centered { status } else { Status::NotConverged };
    let iterations = Iterations { other: spent, ..Iterations::default() };
    Outcome { stage: Stage::InteriorPoint, status, iterations, total: spent, residual }
}

/// Newton, rounds from its best iterate (unless `cold`), rounds from zero. Leaves the best iterate of all. Returns whether the
/// demands contradict each other.   (ncp-4)
fn chain(problem: &mut Problem, search: &mut Search, work: &mut Work, cold: bool) -> bool {
    if is_absurd(problem, &work.lambda) {
        work.lambda.fill(0.0);
    }
    let yielding = problem.blocks.iter().any(|b| b.yields > 0.0);
    // some of the budget is kept for a compromise
    let reserve = (RESERVE * f64::from(search.left)) as u32;
    search.left -= reserve;
    let end = attempt(problem, search, work, cold);
    search.left += reserve;
    let infeasible = match contradiction(problem, work, end) {
        Some(lack) => {
            find_compromise(problem, search, work, lack);
            true
        }
        None => yielding && !can_be_met(problem, search, work),
    };
    if infeasible {
        compromise::remember(problem, &work.best);
    }
    work.lambda.copy_from_slice(&work.best);
    infeasible
}

/// The violation of demands that contradict each other (m/s), if they do; the self-stress is in `work.aside`.   (ncp-14)
fn contradiction(problem: &Problem, work: &mut Work, end: End) -> Option<f64> {
    let Work { aside, proximal, best, .. } = work;
    aside.clear();
    if end == End::Infeasible {
        aside.extend(proximal.lambda.iter().zip(&proximal.hat).map(|(new, old)| new - old));
        best.copy_from_slice(&proximal.compromise);
        return Some(proximal.compromise_lack);
    }
    let squeeze = compromise::squeeze(problem, best);
    aside.extend_from_slice(best);
    (squeeze > 0.0).then_some(squeeze)
}

/// Newton and both runs of rounds, until one is successful.
fn attempt(problem: &Problem, search: &mut Search, work: &mut Work, cold: bool) -> End {
    newton::newton(problem, work, search);
    if search.is_done() {
        return End::Solved;
    }
    let first = if cold { 0 } else { (FIRST_RUN * f64::from(search.left)) as u32 };
    let mut end = End::Spent;
    if first > 0 {
        end = proximal::run(problem, work, search, Stage::Proximal, WARM_WEIGHT, first, Patience::New);
    }
    if end != End::Solved && search.left > 0 {
        work.lambda.fill(0.0);
        let (budget, patience) = (search.left, if end == End::Infeasible { Patience::Second } else { Patience::New });
        end = proximal::run(problem, work, search, Stage::Restart, WEIGHT[1], budget, patience);
    }
    end
}

/// Lets demands that contradict each other by `lack` yield and solves the problem that this makes, from the best iterate. Where
/// that does not do, all of them yield.   (ncp-14)
fn find_compromise(problem: &mut Problem, search: &mut Search, work: &mut Work, mut lack: f64) {
    for all in [false, true] {
        if search.left == 0 {
            return;
        }
        compromise::regularize(problem, &work.aside, lack, all);
        work.lambda.copy_from_slice(&work.best);
        search.residual = f64::INFINITY;
        newton::newton(problem, work, search);
        let mut end = End::Solved;
        if !search.is_done() {
            let budget = search.left;
            end = proximal::run(problem, work, search, Stage::Proximal, WARM_WEIGHT, budget, Patience::New);
        }
        match contradiction(problem, work, end) {
            Some(more) => lack = more,
            None => return,
        }
    }
}

/// Whether the demands that yielded in the step before, and in the answer at hand, can be met after all: a round in which they
/// do not yield leaves less of the violation then. If so the problem is solved without.   (ncp-14)
fn can_be_met(problem: &mut Problem, search: &mut Search, work: &mut Work) -> bool {
    let lack = compromise::lack(problem, &work.best);
    let weights = problem.blocks.iter().filter(|b| b.yields > 0.0).map(|b| b.yields / b.mean);
    let weight = DOWN * weights.fold(WEIGHT[1], f64::min);
    work.aside.clear();
    work.aside.extend_from_slice(&work.best);
    let before = *search;
    problem.blocks.iter_mut().for_each(|b| b.compliance = b.own_compliance);
    search.residual = f64::INFINITY;
    work.lambda.copy_from_slice(&work.aside);
    let (budget, weight) = (search.left, weight.max(WEIGHT[0]));
    let end = proximal::run(problem, work, search, Stage::Proximal, weight, budget, Patience::Remembered { lack });
    if end == End::Solved && compromise::squeeze(problem, &work.best) == 0.0 {
        problem.blocks.iter_mut().for_each(|b| b.yields = 0.0);
        return true;
    }
    problem.blocks.iter_mut().for_each(|b| b.yield_by(b.yields));
    work.best.copy_from_slice(&work.aside);
    (search.residual, search.stage) = (before.residual, before.stage);
    false
}

/// Whether impulses are far larger than any that velocities call for.
fn is_absurd(problem: &Problem, lambda: &[f64]) -> bool {
    let change = |b: &Block| b.mean * lambda[b.row + b.cone.rows() - 1].abs();
    problem.blocks.iter().map(change).fold(0.0, f64::max) > ABSURD * unit(problem)
}
