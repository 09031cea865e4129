//! Semismooth Newton on the projections of Alart and Curnier: one or two iterations from a good start.   (ncp-6)
//!
//! `a = λ − ρ σ` determines the active mode of each block (break, stick, slide) and its linear response. A block that
//! sticks has a proximal term ε, so that redundant contacts do no harm; sweeps remove its effect again.
#![allow(non_snake_case)]

use super::active_mode::{
    ActiveMode, ProximalStiffness, boundary_response, frictionless_response, response_in_mode, stick_response,
};
use super::linear::is_frictionless;
use super::local_response::LocalResponse;
use super::tuning::{NEWTON_ITERATIONS, NEWTON_PATIENCE};
use super::{Search, Work};
use crate::constraint::laws::cone::{Cone, Rows, length, to_boundary};
use crate::constraint::problem::residual::residual_at;
use crate::constraint::problem::{Block, Problem, rows_of};
use crate::constraint::report::Stage;

/// Fraction of a block's own inverse inertia that is its proximal term while it sticks: a multiple of the residual, within
/// these bounds. Far from the solution it keeps impulses of conflicting constraints small. Near it, rounding is amplified
/// by its inverse, and what a sweep leaves is multiplied by it: half the digits for each.
const PROXIMAL_RANGE: [f64; 2] = [1e-8, 1e-2];
/// Its ratio to the residual.
const PROXIMAL_PER_RESIDUAL: f64 = 0.1;
/// Their ratio where there are more active rows than dofs. There the term alone determines the load distribution. With a
/// small one, velocities of 1e-10 m/s would move a tenth of the load from point to point. Straight steps of that length
/// leave the round cones of sliding points.
const PROXIMAL_REDUNDANT: f64 = 10.0;
/// A residual that falls at least by this factor keeps the factors for the next sweep.
const REUSE_BELOW: f64 = 1e-2;
/// How many times the residual may grow in the first iteration from impulses of a warm start, and from none. It often grows
/// where a joint begins to slide or to stick: what the active set of the last step gives is then still the best point to
/// change that set from.
const BAD_START: [f64; 2] = [30.0, 0.5];
/// How much larger than the best a residual may become before the iteration goes back to the best, and by how much the
/// proximal term then grows.
const DIVERGED: f64 = 1e3;
const MORE_PROXIMAL: f64 = 10.0;
/// Residual below which, among redundant rows, an iteration that makes it larger ends Newton: proximal rounds are better at
/// that.
const REDUNDANT_EXIT: f64 = 1e-5;

/// Improves `work.lambda` until its residual is at most the tolerance. `work.lambda` is then the best iterate, `work.sigma`
/// its velocity, and the search knows it.
pub(super) fn newton(problem: &Problem, work: &mut Work, search: &mut Search) {
    work.evaluate(problem);
    let mut residual = residual_at(problem, &work.lambda, &work.sigma);
    let mut best = residual;
    let cold = work.lambda.iter().all(|x| *x == 0.0);
    work.save();
    let (mut factored, mut last, mut proximal) = (false, 0.0, PROXIMAL_RANGE[0]);
    let (mut iterations, mut idle) = (0, 0);
    let limit = NEWTON_ITERATIONS.min(search.left);
    // a start that needs no iteration is good enough: what stands still costs next to nothing
    let mut done = residual <= search.tolerance && search.distributes_precisely(problem, &work.lambda, residual);
    while !done && iterations < limit && idle < NEWTON_PATIENCE {
        let same = write_responses(problem, work, proximal, factored && proximal == last, iterations == 0);
        last = proximal;
        if !same {
            work.linear.factor(problem);
        }
        work.linear.solve(problem, &mut work.change);
        iterations += 1;
        search.spend(Stage::Newton);
        let before = residual;
        work.previous.copy_from_slice(&work.lambda);
        residual = move_along(problem, work, 1.0);
        if residual > DIVERGED * best {
            // an inconsistent active set leads to huge impulses: only as far as the first that reaches its bound
            let fraction = fraction_inside(problem, work);
            residual = move_along(problem, work, fraction);
        }
        done = search.is_precise(problem, &work.lambda, residual);
        if before < REDUNDANT_EXIT && residual >= before && iterations > 1 && work.linear.is_redundant() {
            break;
        }
        idle += 1;
        if residual < best {
            (best, idle) = (residual, 0);
            work.save();
        }
        factored = residual < REUSE_BELOW * before;
        let ratio = if work.linear.is_redundant() { PROXIMAL_REDUNDANT } else { PROXIMAL_PER_RESIDUAL };
        if iterations == 1 && residual > BAD_START[usize::from(cold)] * before {
            // the start was not good
            residual = move_along(problem, work, 0.0);
            proximal = proximal_for(ratio, residual);
        } else if residual > DIVERGED * best {
            // too far: from the best again, more carefully
            work.restore();
            work.evaluate(problem);
            residual = best;
            proximal = (proximal * MORE_PROXIMAL).min(1.0);
        } else {
            proximal = proximal_for(ratio, residual);
        }
    }
    if residual != best {
        work.restore();
        work.evaluate(problem);
    }
    search.offer(Stage::Newton, best, work);
}

fn proximal_for(ratio: f64, residual: f64) -> f64 {
    (ratio * residual).clamp(PROXIMAL_RANGE[0], PROXIMAL_RANGE[1])
}

/// The fraction of the step within which sticking blocks stay inside their cones.
fn fraction_inside(problem: &Problem, work: &Work) -> f64 {
    let mut fraction = 1.0f64;
    for (b, _) in problem.blocks.iter().zip(&work.modes).filter(|(_, mode)| **mode == ActiveMode::Stick) {
        let (l, d) = (rows_of(&work.previous, b), rows_of(&work.change, b));
        let to_end = |end: f64| if d[0] == 0.0 { f64::INFINITY } else { (end - l[0]) / d[0] };
        let reached = match b.cone {
            Cone::Friction { mu } => to_boundary(mu * l[2], [l[0], l[1]], mu * d[2], [d[0], d[1]]),
            Cone::Box { bound } => to_end(bound.copysign(d[0])),
            Cone::Unilateral if d[0] < 0.0 => to_end(0.0),
            _ => f64::INFINITY,
        };
        fraction = fraction.min(reached.max(0.0));
    }
    fraction
}

/// Moves by a fraction of the step and returns the residual there.
fn move_along(problem: &Problem, work: &mut Work, fraction: f64) -> f64 {
    for (l, (p, d)) in work.lambda.iter_mut().zip(work.previous.iter().zip(&work.change)) {
        *l = p + fraction * d;
    }
    work.evaluate(problem);
    residual_at(problem, &work.lambda, &work.sigma)
}

/// Responses of all blocks. The `first` time, modes follow from the impulses of the warm start: its velocities are off by
/// more than joints creep and feet slip, and would misclassify many blocks. With `reuse`, the last factors are kept where
/// no block has changed its mode: then only the right-hand sides are new. Returns whether the factors are still valid.
fn write_responses(problem: &Problem, work: &mut Work, proximal: f64, reuse: bool, first: bool) -> bool {
    let mut same = reuse;
    for (k, b) in problem.blocks.iter().enumerate() {
        let (l, s) = (rows_of(&work.lambda, b), rows_of(&work.sigma, b));
        let from_warm_start =
            if first { mode_of_impulse(b, l, is_idle_in_patch(problem, k, &work.lambda)) } else { None };
        let (mode, response) = match from_warm_start {
            Some(mode) => (mode, response_in_mode(b, mode, proximal, l, s)),
            None => response(b, proximal, l, s),
        };
        // the direction of sliding turns from iteration to iteration, and E with it
        same &= mode == work.modes[k] && !(b.cone.rows() > 1 && mode == ActiveMode::Slide);
        work.modes[k] = mode;
        work.responses[k] = response;
    }
    for (k, a) in work.responses.iter().enumerate() {
        if same {
            work.linear.responses[k].c = a.c;
        } else {
            work.linear.responses[k] = *a;
        }
    }
    same
}

/// Whether a point has no load although others of its patch have.
fn is_idle_in_patch(problem: &Problem, k: usize, lambda: &[f64]) -> bool {
    let b = &problem.blocks[k];
    let is_loaded = |b: &Block| lambda[b.row + b.cone.rows() - 1] > 0.0;
    let patch = || problem.groups.iter().find(|g| g.blocks.contains(&k));
    b.is_redundant() && !is_loaded(b) && patch().is_some_and(|g| problem.blocks[g.blocks.clone()].iter().any(is_loaded))
}

/// The mode that an impulse of the warm start had: stick inside its cone, slide on its boundary. An impulse of zero
/// determines only the mode of a point that is `idle` in a loaded patch.
fn mode_of_impulse(b: &Block, lambda: Rows, idle: bool) -> Option<ActiveMode> {
    match b.cone {
        Cone::Friction { .. } if idle => Some(ActiveMode::Break),
        Cone::Friction { .. } if !is_frictionless(b.cone) && lambda[2] > 0.0 => {
            Some(if b.cone.is_on_boundary(lambda) { ActiveMode::Slide } else { ActiveMode::Stick })
        }
        Cone::Box { bound } if lambda[0] != 0.0 => Some(match lambda[0] {
            x if x >= bound => ActiveMode::Slide,
            x if x <= -bound => ActiveMode::Break,
            _ => ActiveMode::Stick,
        }),
        _ => None,
    }
}

fn response(b: &Block, proximal: f64, lambda: Rows, sigma: Rows) -> (ActiveMode, LocalResponse) {
    let (rho, stiffness) = (1.0 / b.max_eigenvalue, ProximalStiffness::new(b, proximal));
    let (mode, response) = match b.cone {
        Cone::Friction { .. } if is_frictionless(b.cone) => {
            if lambda[2] - rho * sigma[2] <= 0.0 {
                (ActiveMode::Break, LocalResponse::fixed(lambda.map(|x| -x)))
            } else {
                (ActiveMode::Slide, frictionless_response(stiffness, lambda, sigma))
            }
        }
        Cone::Friction { mu } => contact(mu, rho, stiffness, lambda, sigma),
        cone => {
            let a = lambda[0] - rho * sigma[0];
            let nearest = cone.project_scalar(a);
            if nearest == a {
                (ActiveMode::Stick, LocalResponse::scalar(stiffness.normal, -stiffness.normal * sigma[0]))
            } else {
                // the mode tells the two ends of a box apart
                let mode = if nearest > a { ActiveMode::Break } else { ActiveMode::Slide };
                (mode, LocalResponse::scalar(0.0, nearest - lambda[0]))
            }
        }
    };
    (mode, response.without_compliance(b))
}

/// The response of a contact with friction.   (ncp-6)
fn contact(mu: f64, rho: f64, stiffness: ProximalStiffness, lambda: Rows, sigma: Rows) -> (ActiveMode, LocalResponse) {
    let a = [lambda[0] - rho * sigma[0], lambda[1] - rho * sigma[1], lambda[2] - rho * sigma[2]];
    if a[2] <= 0.0 {
        return (ActiveMode::Break, LocalResponse::fixed(lambda.map(|x| -x)));
    }
    let (t, radius) = (length(a[0], a[1]), mu * a[2]);
    if t <= radius {
        return (ActiveMode::Stick, stick_response(stiffness, sigma));
    }
    let turn = (radius * rho / (t - radius)).min(stiffness.tangent);
    (ActiveMode::Slide, boundary_response(mu, [a[0] / t, a[1] / t], turn, stiffness, lambda, sigma))
}
