//! Solvers of the nonlinear complementarity problem. They see a [`Problem`] and nothing else.   (ncp-4)
//!
//! The default chain: Newton from the warm start; where it ends near a solution an interior point beside it, elsewhere
//! damped Newton first; an interior point from the middle, Newton on what it found, and slower ways; and a residual that
//! none of them has computed for itself.

mod admm;
mod continuation;
mod identify;
mod interior_point;
mod linear;
mod newton;
mod onto_path;
mod pgs;
#[cfg(test)]
mod tests;

use super::cone::Cone;
use super::problem::{Block, Problem};
use super::report::{Stage, Status};
use super::residual::{residual_at, unit};
use crate::footprint::footprint;
use crate::model::Solver;
use continuation::Outlook;
use identify::identify;
use interior_point::InteriorPoint;
use linear::{Answer, Linear};
use newton::{Branch, Manner};

/// Iterations of Newton from a warm start, of damped Newton from the best of them, and from a solution of the interior
/// point.
const WARM: u32 = 10;
const DAMPED: u32 = 12;
const POLISH: u32 = 8;
/// Iterations of the interior point from the middle, and beside an iterate of Newton.
const INTERIOR: u32 = 60;
const BESIDE: u32 = 20;
/// Residuals at which the interior point lets Newton try where branches have not shown.
const HANDOVER: [f64; 3] = [1e-5, 1e-8, 1e-11];
/// Residual above which Newton's last iterate is no place to start an interior point from: damped steps lead nearer.
const FAR: f64 = 1e-5;
/// Starts of the interior point, one after the other until one leads to a solution: distance from the boundaries, and
/// how much of the complementarity every step keeps at least.
const ATTEMPTS: [(f64, f64); 6] = [(1.0, 0.0), (10.0, 0.1), (1.0, 0.3), (0.1, 0.1), (3.0, 0.05), (30.0, 0.3)];
/// Impulses of a warm start that would change velocities by more than this, in units of the largest there is, come from
/// demands that could not be met: beside them the rest is lost in rounding.
const ABSURD: f64 = 1e4;
/// Residual below which a search without success is taken for one among redundant supports.
const UNDECIDED: f64 = 1e-4;

/// Iterate and scratch memory of the solvers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Work {
    /// Impulses (rows) and their velocities.
    pub lambda: Vec<f64>,
    pub sigma: Vec<f64>,
    best: Vec<f64>,
    previous: Vec<f64>,
    change: Vec<f64>,
    answer: Vec<f64>,
    w: Vec<f64>,
    xi: Vec<f64>,
    branches: Vec<Branch>,
    answers: Vec<Answer>,
    linear: Linear,
    interior: InteriorPoint,
    admm: [Vec<f64>; 3],
    answer_best: Vec<f64>,
    frictions: Vec<f64>,
    compliances: Vec<f64>,
    velocities: Vec<f64>,
}

footprint!(Work: lambda, sigma, best, previous, change, answer, w, xi, branches, answers, linear, interior, admm,
    answer_best, frictions, compliances, velocities);

impl Work {
    /// Room for a problem; impulses start at zero.
    pub fn reset(&mut self, problem: &Problem) {
        let rows = problem.rows();
        let vectors =
            [&mut self.lambda, &mut self.sigma, &mut self.best, &mut self.previous, &mut self.change, &mut self.answer];
        for v in vectors {
            v.clear();
            v.resize(rows, 0.0);
        }
        for v in [&mut self.w, &mut self.xi] {
            v.clear();
            v.resize(problem.width(), 0.0);
        }
        self.branches.clear();
        self.branches.resize(problem.blocks.len(), Branch::default());
        self.answers.clear();
        self.answers.resize(problem.blocks.len(), Answer::default());
        self.linear.reset(problem);
    }

    /// How much there is room for.
    pub fn capacity(&self) -> usize {
        let kept = [&self.frictions, &self.compliances, &self.velocities, &self.answer_best];
        let vectors = kept.into_iter().chain(&self.admm).map(Vec::capacity).sum::<usize>();
        let systems = self.linear.capacity() + self.interior.capacity();
        self.lambda.capacity()
            + self.w.capacity()
            + self.branches.capacity()
            + self.answers.capacity()
            + vectors
            + systems
    }

    /// How block `k` resists a change of its impulse, after [`centre`].
    pub fn resistance(&self, problem: &Problem, k: usize) -> [[f64; 3]; 3] {
        self.interior.resistance(problem, k)
    }

    /// Velocity of the present impulses.
    pub fn evaluate(&mut self, problem: &Problem) {
        problem.velocity(&self.lambda, &mut self.sigma, &mut self.w, &mut self.xi);
    }

    fn keep(&mut self) {
        self.best.copy_from_slice(&self.lambda);
    }

    fn restore(&mut self) {
        self.lambda.copy_from_slice(&self.best);
    }
}

/// What a solve ended with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outcome {
    pub stage: Stage,
    pub status: Status,
    pub iterations: u32,
    pub residual: f64,
}

impl Outcome {
    /// Of no constraints.
    pub const EMPTY: Outcome = Outcome { stage: Stage::Empty, status: Status::Converged, iterations: 0, residual: 0.0 };

    /// Of two islands: what either failed in, and the effort of the harder one.
    pub fn and(self, other: Outcome) -> Outcome {
        let harder = if other.iterations >= self.iterations { other } else { self };
        Outcome {
            stage: harder.stage,
            status: self.status.max(other.status),
            iterations: harder.iterations,
            residual: self.residual.max(other.residual),
        }
    }
}

/// Solves from the impulses in `work.lambda`; the answer is in `work.lambda` and `work.sigma`.
pub(crate) fn solve(problem: &mut Problem, solver: Solver, tolerance: f64, limit: u32, work: &mut Work) -> Outcome {
    if problem.rows() == 0 {
        return Outcome::EMPTY;
    }
    let (stage, iterations) = match solver {
        Solver::Auto => chain(problem, tolerance, limit, work, true),
        Solver::InteriorPoint => chain(problem, tolerance, limit, work, false),
        Solver::Admm => (Stage::Admm, admm::admm(problem, work, tolerance, limit).0),
        Solver::Pgs => (Stage::Pgs, pgs::pgs(problem, work, tolerance, limit).0),
    };
    // the certificate: velocities and residual from the impulses alone
    work.evaluate(problem);
    let residual = residual_at(problem, &work.lambda, &work.sigma);
    let status = if residual <= tolerance { Status::Converged } else { Status::NotConverged };
    Outcome { stage, status, iterations, residual }
}

/// The point of the central path with complementarity `kappa` (J); its impulses and velocities are in `work`.   (ncp-13)
pub(crate) fn centre(problem: &Problem, kappa: f64, limit: u32, work: &mut Work) -> Outcome {
    let mut interior = std::mem::take(&mut work.interior);
    let (iterations, centred) = match problem.rows() {
        0 => (0, true),
        _ => interior.centre(problem, work, kappa, INTERIOR.min(limit)),
    };
    work.interior = interior;
    let residual = residual_at(problem, &work.lambda, &work.sigma);
    let status = if centred { Status::Converged } else { Status::NotConverged };
    Outcome { stage: Stage::InteriorPoint, status, iterations, residual }
}

/// Newton, interior point, Newton. Leaves the best iterate of all.   (ncp-4)
fn chain(problem: &mut Problem, tolerance: f64, limit: u32, work: &mut Work, warm: bool) -> (Stage, u32) {
    let mut found = Found { stage: Stage::InteriorPoint, residual: f64::INFINITY, iterations: 0 };
    if warm {
        if is_absurd(problem, &work.lambda) {
            work.lambda.fill(0.0);
        }
        let (n, residual) = newton::newton_as(problem, work, Manner::Warm, tolerance, WARM.min(limit));
        if residual <= tolerance {
            return (Stage::Newton, n);
        }
        found = Found { stage: Stage::Newton, residual, iterations: n };
    } else {
        work.lambda.fill(0.0);
    }
    work.answer_best.clear();
    work.answer_best.extend_from_slice(&work.lambda);
    if warm {
        from_the_best(problem, tolerance, limit, work, &mut found);
    }
    if found.residual > tolerance {
        from_anywhere(problem, tolerance, limit, work, &mut found);
    }
    work.lambda.copy_from_slice(&work.answer_best);
    (found.stage, found.iterations)
}

/// Whether impulses are far larger than any that velocities call for.
fn is_absurd(problem: &Problem, lambda: &[f64]) -> bool {
    let change = |b: &Block| b.mean * lambda[b.row + b.cone.rows() - 1].abs();
    problem.blocks.iter().map(change).fold(0.0, f64::max) > ABSURD * unit(problem)
}

/// What is near the best iterate and cheap.
fn from_the_best(problem: &Problem, tolerance: f64, limit: u32, work: &mut Work, found: &mut Found) {
    if found.residual > FAR {
        damped(problem, tolerance, limit, work, found);
    }
    if found.residual > tolerance {
        beside(problem, tolerance, limit, work, found);
    }
    if found.residual > tolerance {
        damped(problem, tolerance, limit, work, found);
    }
}

/// Starts that owe nothing to the warm start, until one leads to a solution.
fn from_anywhere(problem: &mut Problem, tolerance: f64, limit: u32, work: &mut Work, found: &mut Found) {
    from_the_middle(problem, tolerance, limit, work, found);
    if found.residual > tolerance {
        let (n, residual, outlook) = continuation::lending(problem, work, tolerance, limit);
        found.take(Stage::Polish, n, residual, work);
        if outlook == Outlook::Contradiction {
            return;
        }
    }
    for (centre, caution) in ATTEMPTS {
        if found.residual > tolerance {
            patiently(problem, tolerance, limit, centre, caution, work, found);
        }
        lift_one(problem, tolerance, limit, work, found);
        if found.residual > tolerance {
            // as if there had been no warm start
            work.lambda.fill(0.0);
            let (n, residual) = newton::newton(problem, work, tolerance, WARM.min(limit));
            found.take(Stage::Polish, n, residual, work);
        }
    }
    if found.residual > tolerance {
        let (n, residual) = continuation::continuation(problem, work, tolerance, limit);
        found.take(Stage::Polish, n, residual, work);
    }
}

/// The best so far; its impulses are in `Work::answer_best`.
struct Found {
    stage: Stage,
    residual: f64,
    iterations: u32,
}

impl Found {
    /// Takes the present iterate if it is better.
    fn take(&mut self, stage: Stage, iterations: u32, residual: f64, work: &mut Work) {
        self.iterations += iterations;
        if residual < self.residual {
            (self.stage, self.residual) = (stage, residual);
            work.answer_best.copy_from_slice(&work.lambda);
        }
    }
}

/// Damped Newton from the best iterate.
fn damped(problem: &Problem, tolerance: f64, limit: u32, work: &mut Work, found: &mut Found) {
    work.lambda.copy_from_slice(&work.answer_best);
    let (n, residual) = newton::newton_as(problem, work, Manner::Damped, tolerance, DAMPED.min(limit));
    found.take(Stage::Newton, n, residual, work);
}

/// The interior point from beside the best iterate.
fn beside(problem: &Problem, tolerance: f64, limit: u32, work: &mut Work, found: &mut Found) {
    work.lambda.copy_from_slice(&work.answer_best);
    work.evaluate(problem);
    let mut interior = std::mem::take(&mut work.interior);
    interior.begin_beside(problem, work, found.residual);
    identify(problem, tolerance, BESIDE.min(limit), &mut interior, work, found);
    work.interior = interior;
}

/// The interior point from the middle, and Newton from where it ends.
fn from_the_middle(problem: &Problem, tolerance: f64, limit: u32, work: &mut Work, found: &mut Found) {
    let mut interior = std::mem::take(&mut work.interior);
    interior.begin(problem, 1.0, 0.0);
    identify(problem, tolerance, INTERIOR.min(limit), &mut interior, work, found);
    work.interior = interior;
    polish(problem, tolerance, limit, work, found);
}

/// The interior point to its end, however short its steps, and Newton from several of its iterates.
fn patiently(
    problem: &Problem,
    tolerance: f64,
    limit: u32,
    centre: f64,
    caution: f64,
    work: &mut Work,
    found: &mut Found,
) {
    let mut interior = std::mem::take(&mut work.interior);
    interior.begin(problem, centre, caution);
    let mut left = INTERIOR.min(limit);
    for handover in HANDOVER {
        let (n, residual) = interior.run(problem, work, handover.max(tolerance), left);
        left -= n;
        found.take(Stage::InteriorPoint, n, residual, work);
        polish(problem, tolerance, limit, work, found);
        if found.residual <= tolerance || left == 0 || residual > handover {
            break;
        }
    }
    work.interior = interior;
}

/// Where the load of redundant supports is nearly undecided, a solution may let go of one that every iterate holds:
/// Newton from the best iterate without each of them in turn.
fn lift_one(problem: &Problem, tolerance: f64, limit: u32, work: &mut Work, found: &mut Found) {
    for k in 0..problem.blocks.len() {
        let b = &problem.blocks[k];
        let pushes = matches!(b.cone, Cone::Friction { .. } | Cone::Unilateral);
        if found.residual <= tolerance || found.residual > UNDECIDED {
            return;
        }
        if pushes && work.answer_best[b.row + b.cone.rows() - 1] > 0.0 {
            work.lambda.copy_from_slice(&work.answer_best);
            let (n, residual) =
                newton::newton_as(problem, work, Manner::Bold { open: Some(k) }, tolerance, POLISH.min(limit));
            found.take(Stage::Polish, n, residual, work);
        }
    }
}

/// Newton from the present iterate.
fn polish(problem: &Problem, tolerance: f64, limit: u32, work: &mut Work, found: &mut Found) {
    if found.residual > tolerance && work.lambda.iter().all(|x| x.is_finite()) {
        let (n, residual) = newton::newton(problem, work, tolerance, POLISH.min(limit));
        found.take(Stage::Polish, n, residual, work);
    }
}
