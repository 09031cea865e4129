//! Semismooth Newton on the projections of Alart and Curnier: one or two iterations from a good start.   (ncp-6)
//!
//! From `a = λ − ρ σ` each block knows its branch (open, held, giving way) and answers linearly on it. A block that
//! holds is solved with a proximal term ε, so that redundant contacts do no harm; sweeps take its effect out again.
#![allow(non_snake_case)]

use super::Work;
use super::linear::{Answer, is_frictionless};
use crate::constraint::cone::{Cone, length, to_boundary};
use crate::constraint::problem::{Block, Problem, three};
use crate::constraint::residual::residual_at;

/// Share of a block's own inverse inertia that is added while it holds: from the residual, within these bounds. Far from
/// the solution it keeps impulses of constraints that contradict each other small; near it rounding is amplified by its
/// inverse, and what a sweep leaves is multiplied by it: half the digits for each.
pub(super) const PROXIMAL: [f64; 2] = [1e-8, 1e-2];
pub(super) const SHARE: f64 = 0.1;
/// The same where more rows answer than there are dofs. There the term alone decides how the load is shared: with a small
/// one, velocities of 1e-10 would move a tenth of the load from point to point, and straight steps of that length leave
/// the round cones of those that slide.
const SHARE_REDUNDANT: f64 = 10.0;
/// A residual that falls at least by this factor keeps the factors for the next sweep.
const FAST: f64 = 1e-2;
/// What is at most left of the residual after the first iteration from a good start.
const GOOD: f64 = 0.5;
/// How much larger than the best a residual may become before the iteration goes back to the best, and by how much the
/// proximal term then grows.
const WORSE: f64 = 1e3;
const CAREFUL: f64 = 10.0;

/// How often a damped step is halved.
const HALVINGS: u32 = 4;

/// Iterations for which a block is taken to be open.
const LIFTED: u32 = 4;
/// Residual below which a step that makes it larger is cut short.
const NEAR: f64 = 1e-5;
/// A step cut shorter than this would lead nowhere.
const SHORT: f64 = 1e-6;
/// How much of the way to a boundary is gone so that it is crossed.
const BEYOND: f64 = 1.0 + 1e-9;

/// Which branch of its law a block is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Branch {
    #[default]
    Open,
    Held,
    GivesWay,
}

/// How Newton goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Whole steps, the first as if the start were good; where one block is taken to be open in the first iterations.
    Bold { open: Option<usize> },
    /// The same, but left as soon as a load that nothing decides begins to move: others are better at that.
    Warm,
    /// Steps that make the residual larger are halved: for starts from which bold steps go in circles.
    Damped,
}

/// Improves `work.lambda` until its residual is at most `tolerance`. `work.lambda` is then the best iterate, `work.sigma`
/// its velocity. Returns iterations and the residual.
pub(crate) fn newton(problem: &Problem, work: &mut Work, tolerance: f64, limit: u32) -> (u32, f64) {
    newton_as(problem, work, Manner::Bold { open: None }, tolerance, limit)
}

/// The same in another manner.
pub(crate) fn newton_as(problem: &Problem, work: &mut Work, manner: Manner, tolerance: f64, limit: u32) -> (u32, f64) {
    let open = if let Manner::Bold { open } = manner { open } else { None };
    let damped = manner == Manner::Damped;
    work.evaluate(problem);
    let mut residual = residual_at(problem, &work.lambda, &work.sigma);
    let mut best = residual;
    work.keep();
    let (mut factored, mut last) = (false, 0.0);
    let mut proximal = if damped { proximal_for(SHARE_REDUNDANT, residual) } else { PROXIMAL[0] };
    let mut iterations = 0;
    while residual > tolerance && iterations < limit {
        let same = answer_all(problem, work, proximal, factored && proximal == last);
        last = proximal;
        if let (0..LIFTED, Some(k)) = (iterations, open) {
            let c = three(&work.lambda, &problem.blocks[k]).map(|x| -x);
            work.branches[k] = Branch::Open;
            work.linear.answers[k] = Answer::fixed(c);
        }
        if !same {
            work.linear.factor(problem);
        }
        work.linear.solve(problem, &mut work.change);
        iterations += 1;
        let before = residual;
        work.previous.copy_from_slice(&work.lambda);
        residual = go(problem, work, 1.0);
        let lifted = iterations <= LIFTED && open.is_some();
        if before < NEAR && !lifted && (residual >= before || residual.is_nan()) {
            if manner == Manner::Warm && iterations > 1 && work.linear.is_redundant() {
                break;
            }
            // constraints that contradict each other must give way one at a time: stop where the first one does
            let reach = first_boundary(problem, work);
            if (SHORT..1.0).contains(&reach) {
                let full = residual;
                residual = go(problem, work, reach);
                if full < residual {
                    residual = go(problem, work, 1.0);
                }
            }
        } else if damped {
            residual = halve(problem, work, before, residual);
        }
        if residual < best {
            best = residual;
            work.keep();
        }
        factored = residual < FAST * before;
        let share = if work.linear.is_redundant() { SHARE_REDUNDANT } else { SHARE };
        if iterations == 1 && !lifted && !damped && residual > GOOD * before {
            // the start was not good
            residual = go(problem, work, 0.0);
            proximal = proximal_for(share, residual);
        } else if (residual > WORSE * best && !lifted) || residual.is_nan() {
            // too far: from the best again, more carefully
            work.restore();
            work.evaluate(problem);
            residual = best;
            proximal = (proximal * CAREFUL).min(1.0);
        } else {
            proximal = proximal_for(share, residual);
        }
    }
    if residual != best {
        work.restore();
        work.evaluate(problem);
    }
    (iterations, best)
}

fn proximal_for(share: f64, residual: f64) -> f64 {
    (share * residual).clamp(PROXIMAL[0], PROXIMAL[1])
}

/// Halves a step that has made the residual larger until it no longer does. Goes to the best part and returns the
/// residual there.
fn halve(problem: &Problem, work: &mut Work, before: f64, whole: f64) -> f64 {
    let (mut part, mut best, mut least) = (1.0, 1.0, whole);
    for _ in 0..HALVINGS {
        if least < before {
            break;
        }
        part *= 0.5;
        let residual = go(problem, work, part);
        if residual < least {
            (best, least) = (part, residual);
        }
    }
    if best == part { least } else { go(problem, work, best) }
}

/// Moves by a part of the step and returns the residual there.
pub(super) fn go(problem: &Problem, work: &mut Work, part: f64) -> f64 {
    for (l, (p, d)) in work.lambda.iter_mut().zip(work.previous.iter().zip(&work.change)) {
        *l = p + part * d;
    }
    work.evaluate(problem);
    residual_at(problem, &work.lambda, &work.sigma)
}

/// The part of the step at which the first block that holds reaches the end of what it can bear, and a little more, so
/// that it is seen to give way.
fn first_boundary(problem: &Problem, work: &Work) -> f64 {
    let held = problem.blocks.iter().zip(&work.branches).filter(|(_, branch)| **branch == Branch::Held);
    let part = held.fold(f64::INFINITY, |part: f64, (b, _)| {
        let (l, d) = (three(&work.previous, b), three(&work.change, b));
        part.min(match b.cone {
            Cone::Friction { mu } => to_boundary(mu * l[2], [l[0], l[1]], mu * d[2], [d[0], d[1]]),
            Cone::Unilateral if d[0] < 0.0 => -l[0] / d[0],
            Cone::Box { bound } if d[0] != 0.0 => (bound - l[0] * d[0].signum()) / d[0].abs(),
            _ => f64::INFINITY,
        })
    });
    (part.max(0.0) * BEYOND).max(f64::MIN_POSITIVE)
}

/// Answers of all blocks. With `reuse`, factors of the last iteration are kept where no block has changed its branch:
/// then only the right-hand sides are new. Returns whether the factors still hold.
fn answer_all(problem: &Problem, work: &mut Work, proximal: f64, reuse: bool) -> bool {
    let mut same = reuse;
    for (k, b) in problem.blocks.iter().enumerate() {
        let (branch, answer) = answer(b, proximal, three(&work.lambda, b), three(&work.sigma, b));
        // the direction of sliding turns from iteration to iteration, and E with it
        same &= branch == work.branches[k] && !(b.cone.rows() == 3 && branch == Branch::GivesWay);
        work.branches[k] = branch;
        work.answers[k] = answer;
    }
    for (k, a) in work.answers.iter().enumerate() {
        if same {
            work.linear.answers[k].c = a.c;
        } else {
            work.linear.answers[k] = *a;
        }
    }
    same
}

fn answer(b: &Block, proximal: f64, lambda: [f64; 3], sigma: [f64; 3]) -> (Branch, Answer) {
    let (rho, hold) = (1.0 / b.stiffest, 1.0 / (proximal * b.mean));
    let (branch, answer) = match b.cone {
        Cone::Friction { .. } if is_frictionless(b.cone) => {
            let open = lambda[2] - rho * sigma[2] <= 0.0;
            let n = if open { (0.0, -lambda[2]) } else { (hold, -hold * sigma[2]) };
            let E = [[0.0; 3], [0.0; 3], [0.0, 0.0, n.0]];
            let branch = if open { Branch::Open } else { Branch::GivesWay };
            (branch, Answer::new(E, [-lambda[0], -lambda[1], n.1]))
        }
        Cone::Friction { mu } => contact(mu, rho, hold, lambda, sigma),
        cone => {
            let a = lambda[0] - rho * sigma[0];
            let nearest = cone.project_scalar(a);
            if nearest == a {
                (Branch::Held, Answer::scalar(hold, -hold * sigma[0]))
            } else {
                // the branch tells the two ends of a box apart
                let branch = if nearest > a { Branch::Open } else { Branch::GivesWay };
                (branch, Answer::scalar(0.0, nearest - lambda[0]))
            }
        }
    };
    (branch, answer.without_compliance(b))
}

/// The answer of a contact with friction.   (ncp-6)
fn contact(mu: f64, rho: f64, hold: f64, lambda: [f64; 3], sigma: [f64; 3]) -> (Branch, Answer) {
    let a = [lambda[0] - rho * sigma[0], lambda[1] - rho * sigma[1], lambda[2] - rho * sigma[2]];
    if a[2] <= 0.0 {
        return (Branch::Open, Answer::fixed([-lambda[0], -lambda[1], -lambda[2]]));
    }
    let (t, radius) = (length(a[0], a[1]), mu * a[2]);
    if t <= radius {
        let E = [[hold, 0.0, 0.0], [0.0, hold, 0.0], [0.0, 0.0, hold]];
        return (Branch::Held, Answer::new(E, [-hold * sigma[0], -hold * sigma[1], -hold * sigma[2]]));
    }
    let turn = (radius * rho / (t - radius)).min(hold);
    (Branch::GivesWay, on_the_edge(mu, [a[0] / t, a[1] / t], turn, hold, lambda, sigma))
}

/// `λ_T = μ λ_N u`, and what happens across u follows the turning of u: `λ_⊥ = −turn σ_⊥`.
pub(super) fn on_the_edge(mu: f64, u: [f64; 2], turn: f64, hold: f64, lambda: [f64; 3], sigma: [f64; 3]) -> Answer {
    let across = [-u[1], u[0]];
    let slip = across[0] * sigma[0] + across[1] * sigma[1];
    let push = -hold * sigma[2];
    let mut E = [[0.0; 3], [0.0; 3], [0.0, 0.0, hold]];
    let mut c = [0.0, 0.0, push];
    for i in 0..2 {
        for j in 0..2 {
            E[i][j] = turn * across[i] * across[j];
        }
        E[i][2] = mu * u[i] * hold;
        c[i] = mu * u[i] * (lambda[2] + push) - lambda[i] - turn * slip * across[i];
    }
    Answer::new(E, c)
}
