//! Proximal rounds: the stage that follows where Newton from the warm start fails.   (ncp-12)
//!
//! In a round every constraint may be violated in proportion to the change of its impulse since the last round. Redundant
//! constraints then have one load distribution, and infeasible ones a least violation. Newton with an exact line search
//! solves the round; the next one allows thirty times less violation. Every iterate is inside its cones.
#![allow(non_snake_case)]

use super::active_mode::{ActiveMode, response_in_mode};
use super::law::{Projection, into_cone, project, slope};
use super::line_search::line_search;
use super::local_response::LocalResponse;
use super::tuning::{
    IDLE_ROUNDS, INEXACT, INFEASIBLE_RESIDUAL, NO_PROGRESS, POLISH, ROUND_ITERATIONS, SELF_STRESS, SHORT_STEP,
    SHORT_STEPS, WEIGHT, WEIGHT_DOWN, WEIGHT_UP,
};
use super::{Search, Work};
use crate::constraint::problem::residual::{residual_at, unit};
use crate::constraint::problem::{Block, Problem, rows_of};
use crate::constraint::report::Stage;
use crate::footprint::footprint;

/// How a run of proximal rounds ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum SolveEnd {
    /// The residual is at most the tolerance.
    Solved,
    /// The budget is used up, or rounds fail however large the weight.
    Spent,
    /// The targets are infeasible: rounds no longer reduce the violation.
    Infeasible,
    /// A reference method ended, which has no such certificates.
    Reference,
}

/// How many rounds without progress certify that a problem is infeasible.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Patience {
    /// Several in a row.
    New,
    /// One less: the run before ended as infeasible.
    AfterInfeasible,
    /// One: the step before was infeasible, and rounds begin at its solution with this violation.
    Known { violation: f64 },
}

/// Memory of the rounds. All vectors have a number per row or an entry per block.
#[derive(Debug, Clone, Default)]
pub(crate) struct Proximal {
    /// Impulses of the last round, λ̂: the center of the proximal term.
    pub(super) hat: Vec<f64>,
    /// Newton's state: impulses l and their velocity s without compliance, moved by increments only.
    pub(super) l: Vec<f64>,
    pub(super) s: Vec<f64>,
    /// The step of s.
    pub(super) ds: Vec<f64>,
    /// λ = P(λ̂, s).
    pub(super) lambda: Vec<f64>,
    projections: Vec<Projection>,
    /// Modes at the end of the last round that was solved.
    last: Vec<ActiveMode>,
    /// Impulses and violation of the last round that made progress: the least violation where the targets are infeasible.
    pub(super) least_violation: Vec<f64>,
    pub(super) violation: f64,
}

footprint!(Proximal: hat, l, s, ds, lambda, projections, last, least_violation);

/// What a round ended with.
#[derive(Debug, Clone, Copy)]
struct RoundResult {
    solved: bool,
    /// Residual of its last iterate.
    residual: f64,
    /// Largest violation, max r‖λ − λ̂‖ (m/s).
    violation: f64,
}

impl Proximal {
    /// Room for a problem; rounds start around the impulses `start`, brought into their cones.
    fn begin(&mut self, problem: &Problem, start: &[f64]) {
        let rows = problem.rows();
        for v in [&mut self.hat, &mut self.l, &mut self.s, &mut self.ds, &mut self.lambda, &mut self.least_violation] {
            v.clear();
            v.resize(rows, 0.0);
        }
        self.projections.clear();
        self.projections.resize(problem.blocks.len(), Projection::default());
        self.last.clear();
        self.last.resize(problem.blocks.len(), ActiveMode::default());
        for b in &problem.blocks {
            let n = b.cone.rows();
            self.hat[b.row..b.row + n].copy_from_slice(&into_cone(b.cone, rows_of(start, b))[..n]);
        }
        self.least_violation.copy_from_slice(&self.hat);
    }

    /// λ at the present s.
    fn evaluate(&mut self, problem: &Problem, weight: f64) {
        for (k, b) in problem.blocks.iter().enumerate() {
            let projection = project(b, weight, rows_of(&self.hat, b), rows_of(&self.s, b));
            let n = b.cone.rows();
            self.lambda[b.row..b.row + n].copy_from_slice(&projection.lambda[..n]);
            self.projections[k] = projection;
        }
    }

    /// Slope of the potential along the step at its beginning.   (ncp-12)
    fn first_slope(&self) -> f64 {
        let terms = self.l.iter().zip(&self.lambda).zip(&self.ds);
        terms.fold(0.0, |sum, ((l, lambda), ds)| sum + (l - lambda) * ds)
    }

    /// What Newton leaves of the round, and the violation by the round (m/s).
    fn gap_and_violation(&self, problem: &Problem, sigma: &[f64], weight: f64) -> (f64, f64) {
        let (mut gap, mut violation) = (0.0f64, 0.0f64);
        for b in &problem.blocks {
            let last = b.row + b.cone.rows() - 1;
            for i in b.row..=last {
                let compliant = if i == last { b.compliance * self.lambda[i] } else { 0.0 };
                gap = gap.max((sigma[i] - compliant - self.s[i]).abs());
                violation = violation.max(weight * b.mean * (self.lambda[i] - self.hat[i]).abs());
            }
        }
        (gap, violation)
    }
}

/// Rounds from the impulses in `work.lambda` with at most `budget` factorizations, the first with the given weight.   (ncp-12)
pub(super) fn run(
    problem: &Problem,
    work: &mut Work,
    search: &mut Search,
    stage: Stage,
    weight: f64,
    budget: u32,
    patience: Patience,
) -> SolveEnd {
    let (rounds, violation) = match patience {
        Patience::New => (IDLE_ROUNDS, f64::INFINITY),
        Patience::AfterInfeasible => (IDLE_ROUNDS - 1, f64::INFINITY),
        Patience::Known { violation } => (1, violation),
    };
    let mut p = core::mem::take(&mut work.proximal);
    p.begin(problem, &work.lambda);
    p.violation = 0.0;
    let mut run = Run {
        stage,
        weight,
        left: budget.min(search.left),
        polishing: false,
        has_last_modes: false,
        failures: 0,
        idle: 0,
        last: RoundResult { solved: false, residual: f64::INFINITY, violation },
    };
    let end = loop {
        if run.left == 0 {
            break if run.polishing { SolveEnd::Solved } else { SolveEnd::Spent };
        }
        let round = run.round(problem, work, &mut p, search);
        if search.is_done() && (run.polishing || search.is_precise(problem, &p.lambda, round.residual)) {
            break SolveEnd::Solved;
        }
        let end = if search.is_done() {
            run.polish(&mut p)
        } else if round.solved {
            run.down(problem, work, &mut p, round, rounds)
        } else {
            run.up(&mut p, round)
        };
        if let Some(end) = end {
            break end;
        }
    };
    work.proximal = p;
    end
}

/// A run of rounds.
struct Run {
    stage: Stage,
    weight: f64,
    /// Factorizations that are left.
    left: u32,
    /// Whether the tolerance is met, and what is left is for the last digits.
    polishing: bool,
    /// Whether `Proximal::last` has the modes of the last round.
    has_last_modes: bool,
    /// Rounds in a row that were not solved, and that made no progress.
    failures: u32,
    idle: u32,
    /// The round to whose impulses λ̂ belongs.
    last: RoundResult,
}

impl Run {
    /// One round: Newton from λ̂ until what it leaves is small compared with the violation of the round.
    fn round(&mut self, problem: &Problem, work: &mut Work, p: &mut Proximal, search: &mut Search) -> RoundResult {
        work.lambda.copy_from_slice(&p.hat);
        work.evaluate(problem);
        p.l.copy_from_slice(&p.hat);
        without_compliance(problem, &work.lambda, &work.sigma, &mut p.s);
        p.evaluate(problem, self.weight);
        let mut round = RoundResult { solved: false, residual: f64::INFINITY, violation: 0.0 };
        let (mut steps, mut short) = (0, 0);
        while steps < ROUND_ITERATIONS && self.left > 0 && short < SHORT_STEPS {
            let before = self.left;
            let fraction = self.step(problem, work, p, search, steps == 0 && self.has_last_modes);
            steps += before - self.left;
            short = if fraction < SHORT_STEP { short + 1 } else { 0 };
            work.lambda.copy_from_slice(&p.lambda);
            work.evaluate(problem);
            round.residual = residual_at(problem, &work.lambda, &work.sigma);
            search.offer(self.stage, round.residual, work);
            let wanted = !self.polishing || search.is_precise(problem, &p.lambda, round.residual);
            if round.residual <= search.tolerance && wanted {
                break;
            }
            let (gap, violation) = p.gap_and_violation(problem, &work.sigma, self.weight);
            round.violation = violation;
            if gap <= (INEXACT * violation).max(0.1 * search.aim * unit(problem)) {
                round.solved = true;
                break;
            }
        }
        round
    }

    /// A step of Newton and its line search. The first of a round takes the modes of the last one: with a weight thirty
    /// times smaller λ̂ − s/r points thirty times too far. Returns the fraction of the step that was taken.
    fn step(
        &mut self,
        problem: &Problem,
        work: &mut Work,
        p: &mut Proximal,
        search: &mut Search,
        in_last_modes: bool,
    ) -> f64 {
        for (k, b) in problem.blocks.iter().enumerate() {
            work.linear.responses[k] = if in_last_modes {
                response_in_mode(b, p.last[k], self.weight, rows_of(&p.hat, b), rows_of(&work.sigma, b))
            } else {
                self.response(p, problem, k, false)
            };
        }
        self.direction(problem, work, p, search);
        if p.first_slope() >= 0.0 && self.left > 0 {
            // no descent, as friction follows the normal: with frozen radii there is
            for k in 0..problem.blocks.len() {
                work.linear.responses[k] = self.response(p, problem, k, true);
            }
            self.direction(problem, work, p, search);
        }
        let fraction = line_search(problem, p, &work.change, self.weight);
        if fraction == 0.0 {
            return fraction;
        }
        for (i, change) in work.change.iter().enumerate() {
            p.l[i] += fraction * change;
            p.s[i] += fraction * p.ds[i];
        }
        p.evaluate(problem, self.weight);
        fraction
    }

    /// `dλ = λ − l − E ds`.
    fn response(&self, p: &Proximal, problem: &Problem, k: usize, frozen: bool) -> LocalResponse {
        let b = &problem.blocks[k];
        let E = slope(b, self.weight, &p.projections[k], frozen);
        let (lambda, l) = (p.projections[k].lambda, rows_of(&p.l, b));
        let inactive = E.iter().flatten().all(|x| *x == 0.0);
        LocalResponse { E, c: core::array::from_fn(|i| lambda[i] - l[i]), inactive }
    }

    /// Solves for the step of l (in `work.change`) and of s.
    fn direction(&mut self, problem: &Problem, work: &mut Work, p: &mut Proximal, search: &mut Search) {
        work.linear.factor(problem);
        work.linear.solve(problem, &mut work.change);
        work.apply_change(problem);
        without_compliance(problem, &work.change, &work.velocity_change, &mut p.ds);
        self.left -= 1;
        search.spend(self.stage);
    }

    /// Once the tolerance is met: the least weight at once, for the last digits and for the load distribution.
    fn polish(&mut self, p: &mut Proximal) -> Option<SolveEnd> {
        (self.polishing, self.has_last_modes, self.left) = (true, true, self.left.min(POLISH));
        self.begin_around(p);
        self.weight = WEIGHT[0];
        None
    }

    /// The next round is around the impulses of the last one.
    fn begin_around(&mut self, p: &mut Proximal) {
        p.hat.copy_from_slice(&p.lambda);
        for (last, projection) in p.last.iter_mut().zip(&p.projections) {
            *last = projection.mode;
        }
    }

    /// After a round that was solved: a smaller weight around its impulses, or the end.
    fn down(
        &mut self,
        problem: &Problem,
        work: &mut Work,
        p: &mut Proximal,
        round: RoundResult,
        patience: u32,
    ) -> Option<SolveEnd> {
        self.idle = if round.violation > NO_PROGRESS * self.last.violation { self.idle + 1 } else { 0 };
        if self.idle >= patience && round.residual > INFEASIBLE_RESIDUAL && is_self_stress(problem, work, p) {
            return Some(SolveEnd::Infeasible);
        }
        if self.idle == 0 {
            p.least_violation.copy_from_slice(&p.lambda);
            p.violation = round.violation;
        }
        (self.failures, self.has_last_modes, self.last) = (0, true, round);
        self.begin_around(p);
        self.weight = (self.weight * WEIGHT_DOWN).max(WEIGHT[0]);
        None
    }

    /// After one that was not: half a level back, around its impulses only if they are better.
    fn up(&mut self, p: &mut Proximal, round: RoundResult) -> Option<SolveEnd> {
        self.failures += 1;
        self.has_last_modes = false;
        if self.weight >= WEIGHT[1] && self.failures > 1 {
            return Some(SolveEnd::Spent);
        }
        if round.residual < self.last.residual {
            p.hat.copy_from_slice(&p.lambda);
            self.last.residual = round.residual;
        }
        self.weight = (self.weight * WEIGHT_UP).min(WEIGHT[1]);
        None
    }
}

/// Whether the impulses of a round differ from those of the last by a self-stress d, G d = 0, with d·g < 0: the certificate
/// that the targets are infeasible.   (ncp-14)
fn is_self_stress(problem: &Problem, work: &mut Work, p: &Proximal) -> bool {
    for (d, (new, old)) in work.change.iter_mut().zip(p.lambda.iter().zip(&p.hat)) {
        *d = new - old;
    }
    work.apply_change(problem);
    let own = |b: &Block| rows_of(&work.change, b).iter().fold(0.0, |m: f64, x| m.max(b.mean * x.abs()));
    let size = problem.blocks.iter().map(own).fold(0.0, f64::max);
    let moved = work.velocity_change.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let asked = work.change.iter().zip(&problem.g).fold(0.0, |s, (d, g)| s + d * g);
    moved <= SELF_STRESS * size && asked < 0.0
}

/// Velocities less those of the blocks' own compliance.
fn without_compliance(problem: &Problem, lambda: &[f64], sigma: &[f64], out: &mut [f64]) {
    out.copy_from_slice(sigma);
    for b in &problem.blocks {
        let last = b.row + b.cone.rows() - 1;
        out[last] -= b.compliance * lambda[last];
    }
}
