//! A primal-dual interior point that follows the central path to one of its points, in about ten iterations.   (ncp-7)
//!
//! Each law is split so that its complementarity products equal κ, which goes to zero. For a contact: `γ s = κ`,
//! `μ γ ψ + t·σ_T = κ`, `μ γ σ_T + ψ t = 0`. γ, t is the impulse, s the normal and σ_T the tangential velocity. At κ = 0
//! this is Coulomb's law itself, not a relaxation. Steps are predicted and corrected after Mehrotra. Numbers here are
//! scaled: impulses by `√mean / unit`, velocities by `1 / (√mean · unit)`, block by block.
#![allow(non_snake_case)]

use super::Work;
use super::linear::is_frictionless;
use super::local_response::LocalResponse;
use crate::constraint::laws::cone::{Cone, to_boundary};
use crate::constraint::problem::{Block, Problem, rows_of};
use crate::footprint::footprint;

/// A step so short that the next one would be no longer.
const STALLED: f64 = 1e-12;
/// Iterations at the most.
const CENTERING_ITERATIONS: u32 = 60;

/// Distance from a point of the central path that counts as none, and as small enough.
const CENTERED: f64 = 1e-13;
const NEARLY_CENTERED: f64 = 1e-7;

/// Unknowns of one block (scaled), or a change of them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Interior {
    /// Impulse.
    pub l: [f64; 3],
    /// Contact: tangential velocity and normal slack. One row: slack; for a box, those of its two ends.
    pub s: [f64; 3],
    /// Bound of the tangential velocity.
    pub psi: f64,
}

/// State of the method between two calls.
#[derive(Debug, Clone, Default)]
pub(crate) struct InteriorPoint {
    states: Vec<Interior>,
    changes: Vec<Interior>,
    /// Right-hand sides of the three complementarity conditions.
    targets: Vec<[f64; 4]>,
    /// √mean of each block and the unit of g.
    scales: Vec<f64>,
    unit: f64,
    /// Complementarity at which the path ends (scaled).
    end: f64,
    stalled: bool,
}

footprint!(InteriorPoint: states, changes, targets, scales);

impl InteriorPoint {
    /// The central start.
    fn begin(&mut self, problem: &Problem) {
        self.scales.clear();
        self.scales.extend(problem.blocks.iter().map(|b| b.mean.sqrt()));
        let scaled =
            problem.blocks.iter().zip(&self.scales).flat_map(|(b, s)| rows_of(&problem.g, b).map(|g| g.abs() / s));
        self.unit = scaled.fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        self.stalled = false;
        self.changes.clear();
        self.changes.resize(problem.blocks.len(), Interior::default());
        self.targets.clear();
        self.targets.resize(problem.blocks.len(), [0.0; 4]);
        self.states.clear();
        self.states.extend(problem.blocks.iter().zip(&self.scales).map(|(b, s)| start(b.cone, s / self.unit)));
    }

    /// The point of the central path where all complementarity products equal `kappa` (J), from the central start. Leaves
    /// impulses and velocities in `work`. Returns iterations and whether it got there.   (ncp-13)
    pub fn center(&mut self, problem: &Problem, work: &mut Work, kappa: f64, budget: u32) -> (u32, bool) {
        let limit = CENTERING_ITERATIONS.min(budget);
        self.begin(problem);
        self.end = kappa / (self.unit * self.unit);
        let (mut iterations, mut last) = (0, f64::INFINITY);
        loop {
            self.write(problem, &mut work.lambda);
            work.evaluate(problem);
            let off = self.off_center(problem, work);
            // rounding decides where it ends: when a step that should help no longer does
            let done = off <= CENTERED || (off <= NEARLY_CENTERED && off >= 0.5 * last);
            if done || iterations >= limit || self.stalled || off.is_nan() {
                return (iterations, off <= NEARLY_CENTERED);
            }
            last = off;
            self.iterate(problem, work);
            iterations += 1;
        }
    }

    /// How far the products are from the end of the path, in units of it, and slacks from velocities.
    fn off_center(&self, problem: &Problem, work: &Work) -> f64 {
        let mut worst: f64 = 0.0;
        for (k, b) in problem.blocks.iter().enumerate() {
            let (x, sigma) = (&self.states[k], self.scaled_velocity(b, k, &work.sigma));
            let violation = products(b.cone, self.bound(problem, k), x, self.end);
            let count = if is_frictionless(b.cone) { 1 } else { 4 };
            worst = violation[..count].iter().fold(worst, |m, p| m.max(p.abs() / self.end));
            let slacks: [f64; 3] = match b.cone {
                Cone::Friction { .. } => core::array::from_fn(|i| x.s[i] - sigma[i]),
                Cone::Unilateral => [x.s[0] - sigma[0], 0.0, 0.0],
                Cone::Box { .. } => [x.s[1] - x.s[0] - sigma[0], 0.0, 0.0],
                Cone::Bilateral => [sigma[0], 0.0, 0.0],
            };
            let skip = if is_frictionless(b.cone) { 2 } else { 0 };
            worst = slacks[skip..].iter().fold(worst, |m, s| m.max(s.abs()));
        }
        worst
    }

    /// Local compliance of a block on the central path: `dσ = −D dλ`, in physical units. For a contact friction is
    /// `−μ γ σ_T/ψ` with `ψ = c + √(c² + |σ_T|²)`, `c = σ_N/2μ`; its inverse has no differences.   (ncp-13)
    pub fn local_compliance(&self, problem: &Problem, k: usize) -> [[f64; 3]; 3] {
        let (cone, x) = (problem.blocks[k].cone, &self.states[k]);
        let ([_, _, gamma], [s0, s1, sn]) = (x.l, x.s);
        let mut D = [[0.0; 3]; 3];
        match cone {
            Cone::Bilateral => {}
            Cone::Friction { .. } if is_frictionless(cone) => D[2][2] = sn / gamma,
            Cone::Friction { mu } => {
                let c = sn / (2.0 * mu);
                let psi = c + (c * c + s0 * s0 + s1 * s1).sqrt();
                let (along, turn) = (1.0 / (mu * gamma * c), psi / (mu * gamma));
                D[0] = [turn + along * s0 * s0, along * s0 * s1, psi * s0 / (c * gamma)];
                D[1] = [along * s0 * s1, turn + along * s1 * s1, psi * s1 / (c * gamma)];
                D[2][2] = sn / gamma;
            }
            cone => D[0][0] = 1.0 / response(cone, self.bound(problem, k), x, &[0.0; 3], &[0.0; 4]).E[0][0],
        }
        let scale = self.scales[k] * self.scales[k];
        D.map(|row| row.map(|x| x * scale))
    }

    /// Impulses of the present state.
    fn write(&self, problem: &Problem, lambda: &mut [f64]) {
        for (k, b) in problem.blocks.iter().enumerate() {
            for i in 0..b.cone.rows() {
                lambda[b.row + i] = self.states[k].l[i] * self.unit / self.scales[k];
            }
        }
    }

    fn iterate(&mut self, problem: &Problem, work: &mut Work) {
        let complementarity = self.complementarity(problem);
        // predictor: straight at the solution                                                           (ncp-7)
        for k in 0..self.states.len() {
            self.targets[k] = products(problem.blocks[k].cone, self.bound(problem, k), &self.states[k], 0.0);
        }
        self.direction(problem, work, true);
        let reach = self.reach(problem, 1.0);
        let ratio = (self.complementarity_after(problem, reach) / complementarity).clamp(0.0, 1.0);
        let kappa = (ratio * ratio * ratio * complementarity).max(self.end);
        // corrector: back to the central path, with the predictor's second-order terms
        for k in 0..self.states.len() {
            let (cone, bound) = (problem.blocks[k].cone, self.bound(problem, k));
            let first = products(cone, bound, &self.states[k], kappa);
            // at the end of the path plain Newton: the predictor aims beyond it
            let ends = kappa == self.end;
            let second = if ends { [0.0; 4] } else { second_order(cone, &self.changes[k]) };
            self.targets[k] = core::array::from_fn(|i| first[i] + second[i]);
        }
        self.direction(problem, work, false);
        let fraction = (1.0 - complementarity).clamp(0.95, 0.9999);
        let step = self.reach(problem, fraction);
        self.stalled = step.is_nan() || step <= STALLED || !complementarity.is_finite();
        for (x, d) in self.states.iter_mut().zip(&self.changes) {
            *x = x.moved(d, step);
        }
    }

    /// Bound of a box, scaled.
    fn bound(&self, problem: &Problem, k: usize) -> f64 {
        match problem.blocks[k].cone {
            Cone::Box { bound } => bound * self.scales[k] / self.unit,
            _ => 0.0,
        }
    }

    /// Mean complementarity product.
    fn complementarity(&self, problem: &Problem) -> f64 {
        self.complementarity_after(problem, 0.0)
    }

    /// Mean complementarity product after a step along `changes`.
    fn complementarity_after(&self, problem: &Problem, step: f64) -> f64 {
        let (mut sum, mut count) = (0.0, 0.0);
        for k in 0..self.states.len() {
            let x = self.states[k].moved(&self.changes[k], step);
            let (s, n) = product_sum(problem.blocks[k].cone, self.bound(problem, k), &x);
            (sum, count) = (sum + s, count + n);
        }
        if count == 0.0 { 0.0 } else { sum / count }
    }

    /// Solves for `changes` with the present targets.
    fn direction(&mut self, problem: &Problem, work: &mut Work, factor: bool) {
        for (k, b) in problem.blocks.iter().enumerate() {
            let (scale, sigma) = (self.scales[k], self.scaled_velocity(b, k, &work.sigma));
            let a = response(b.cone, self.bound(problem, k), &self.states[k], &sigma, &self.targets[k]);
            let physical = LocalResponse {
                E: a.E.map(|row| row.map(|x| x / (scale * scale))),
                c: a.c.map(|x| x * self.unit / scale),
                ..a
            };
            work.linear.responses[k] = physical.without_compliance(b);
        }
        if factor {
            work.linear.factor(problem);
        }
        work.linear.solve(problem, &mut work.change);
        work.apply_change(problem);
        for (k, b) in problem.blocks.iter().enumerate() {
            let sigma = self.scaled_velocity(b, k, &work.sigma);
            let dsigma = self.scaled_velocity(b, k, &work.velocity_change);
            let dl = rows_of(&work.change, b).map(|x| x * self.scales[k] / self.unit);
            self.changes[k] =
                unpack(b.cone, self.bound(problem, k), &self.states[k], &sigma, &self.targets[k], dl, dsigma);
        }
    }

    fn scaled_velocity(&self, b: &Block, k: usize, sigma: &[f64]) -> [f64; 3] {
        rows_of(sigma, b).map(|x| x / (self.scales[k] * self.unit))
    }

    /// The longest step, at most one, that keeps every block inside its cones.
    fn reach(&self, problem: &Problem, fraction: f64) -> f64 {
        let mut step: f64 = 1.0;
        for k in 0..self.states.len() {
            let (cone, bound) = (problem.blocks[k].cone, self.bound(problem, k));
            step = step.min(fraction * longest(cone, bound, &self.states[k], &self.changes[k]));
        }
        step
    }
}

impl Interior {
    fn moved(&self, d: &Interior, step: f64) -> Interior {
        if step == 0.0 {
            return *self;
        }
        let add = |x: [f64; 3], d: [f64; 3]| [x[0] + step * d[0], x[1] + step * d[1], x[2] + step * d[2]];
        Interior { l: add(self.l, d.l), s: add(self.s, d.s), psi: self.psi + step * d.psi }
    }
}

/// Where a block starts; `scale` turns a bound into scaled units.
fn start(cone: Cone, scale: f64) -> Interior {
    match cone {
        Cone::Friction { .. } => Interior { l: [0.0, 0.0, 1.0], s: [0.0, 0.0, 1.0], psi: 1.0 },
        Cone::Unilateral => Interior { l: [1.0, 0.0, 0.0], s: [1.0, 0.0, 0.0], psi: 0.0 },
        Cone::Box { bound } => {
            let slack = (1.0 / (bound * scale).max(f64::MIN_POSITIVE)).min(1.0);
            Interior { l: [0.0; 3], s: [slack, slack, 0.0], psi: 0.0 }
        }
        Cone::Bilateral => Interior::default(),
    }
}

/// Sum of the complementarity products of a block and their number.
fn product_sum(cone: Cone, bound: f64, x: &Interior) -> (f64, f64) {
    match cone {
        Cone::Friction { .. } if is_frictionless(cone) => (x.l[2] * x.s[2], 1.0),
        Cone::Friction { mu } => (x.l[2] * x.s[2] + mu * x.l[2] * x.psi + x.l[0] * x.s[0] + x.l[1] * x.s[1], 2.0),
        Cone::Unilateral => (x.l[0] * x.s[0], 1.0),
        Cone::Box { .. } if bound > 0.0 => ((bound - x.l[0]) * x.s[0] + (bound + x.l[0]) * x.s[1], 2.0),
        _ => (0.0, 0.0),
    }
}

/// Violation of the complementarity conditions of a block: its products less κ.
fn products(cone: Cone, bound: f64, x: &Interior, kappa: f64) -> [f64; 4] {
    match cone {
        Cone::Friction { mu } => {
            let mg = mu * x.l[2];
            [
                x.l[2] * x.s[2] - kappa,
                mg * x.psi + x.l[0] * x.s[0] + x.l[1] * x.s[1] - kappa,
                mg * x.s[0] + x.psi * x.l[0],
                mg * x.s[1] + x.psi * x.l[1],
            ]
        }
        Cone::Unilateral => [x.l[0] * x.s[0] - kappa, 0.0, 0.0, 0.0],
        Cone::Box { .. } => [(bound - x.l[0]) * x.s[0] - kappa, (bound + x.l[0]) * x.s[1] - kappa, 0.0, 0.0],
        Cone::Bilateral => [0.0; 4],
    }
}

/// Products of the changes among themselves.
fn second_order(cone: Cone, d: &Interior) -> [f64; 4] {
    match cone {
        Cone::Friction { mu } => [
            d.l[2] * d.s[2],
            mu * d.l[2] * d.psi + d.l[0] * d.s[0] + d.l[1] * d.s[1],
            mu * d.l[2] * d.s[0] + d.psi * d.l[0],
            mu * d.l[2] * d.s[1] + d.psi * d.l[1],
        ],
        Cone::Unilateral => [d.l[0] * d.s[0], 0.0, 0.0, 0.0],
        Cone::Box { .. } => [-d.l[0] * d.s[0], d.l[0] * d.s[1], 0.0, 0.0],
        Cone::Bilateral => [0.0; 4],
    }
}

/// Largest stiffness with which a bilateral row is solved; what it leaves is removed by the iterations.
const BILATERAL_STIFFNESS: f64 = 1e8;

/// The linearized law: `dl = c − E dσ`.   (ncp-8)
fn response(cone: Cone, bound: f64, x: &Interior, sigma: &[f64; 3], target: &[f64; 4]) -> LocalResponse {
    match cone {
        Cone::Friction { .. } if is_frictionless(cone) => {
            let E = x.l[2] / x.s[2];
            let c = (-target[0] + x.l[2] * (x.s[2] - sigma[2])) / x.s[2];
            LocalResponse::new([[0.0; 3], [0.0; 3], [0.0, 0.0, E]], [-x.l[0], -x.l[1], c])
        }
        Cone::Friction { mu } => friction(mu, x, sigma, target),
        Cone::Unilateral => {
            let c = (-target[0] + x.l[0] * (x.s[0] - sigma[0])) / x.s[0];
            LocalResponse::scalar(x.l[0] / x.s[0], c)
        }
        Cone::Box { .. } if bound > 0.0 => {
            let (upper, lower) = (bound - x.l[0], bound + x.l[0]);
            let E = 1.0 / (x.s[0] / upper + x.s[1] / lower);
            let violation = (x.s[1] - x.s[0]) - sigma[0];
            LocalResponse::scalar(E, E * (target[0] / upper - target[1] / lower + violation))
        }
        Cone::Box { .. } => LocalResponse::scalar(0.0, -x.l[0]),
        Cone::Bilateral => LocalResponse::scalar(BILATERAL_STIFFNESS, -BILATERAL_STIFFNESS * sigma[0]),
    }
}

/// Blocks S and W of a contact, ψ eliminated, and with them `E = S⁻¹ W`, `c = S⁻¹ (rhs + W violation)`.   (ncp-8)
fn friction(mu: f64, x: &Interior, sigma: &[f64; 3], target: &[f64; 4]) -> LocalResponse {
    let ([t0, t1, gamma], [s0, s1, sn]) = (x.l, x.s);
    let mg = mu * gamma;
    let A = [[x.psi - t0 * s0 / mg, -t0 * s1 / mg], [-t1 * s0 / mg, x.psi - t1 * s1 / mg]];
    let det = A[0][0] * A[1][1] - A[0][1] * A[1][0];
    let inverse = [[A[1][1] / det, -A[0][1] / det], [-A[1][0] / det, A[0][0] / det]];
    let times =
        |v: [f64; 2]| [inverse[0][0] * v[0] + inverse[0][1] * v[1], inverse[1][0] * v[0] + inverse[1][1] * v[1]];
    let b = [mu * s0 - t0 * x.psi / gamma, mu * s1 - t1 * x.psi / gamma];
    let W = [[mg - t0 * t0 / mg, -t0 * t1 / mg], [-t0 * t1 / mg, mg - t1 * t1 / mg]];
    let violation = [s0 - sigma[0], s1 - sigma[1], sn - sigma[2]];
    let first = times([W[0][0], W[1][0]]);
    let second = times([W[0][1], W[1][1]]);
    let normal = gamma / sn;
    let coupling = times([-b[0] * normal, -b[1] * normal]);
    let push = (-target[0] + gamma * violation[2]) / sn;
    let rhs = |i: usize, t: f64| -target[2 + i] + t * target[1] / mg + W[i][0] * violation[0] + W[i][1] * violation[1];
    let tangential = times([rhs(0, t0) - b[0] * push, rhs(1, t1) - b[1] * push]);
    let E = [[first[0], second[0], coupling[0]], [first[1], second[1], coupling[1]], [0.0, 0.0, normal]];
    LocalResponse::new(E, [tangential[0], tangential[1], push])
}

/// Changes of all unknowns of a block from those of impulse and velocity.
fn unpack(
    cone: Cone,
    bound: f64,
    x: &Interior,
    sigma: &[f64; 3],
    target: &[f64; 4],
    dl: [f64; 3],
    dsigma: [f64; 3],
) -> Interior {
    match cone {
        Cone::Friction { mu } => {
            let s = core::array::from_fn(|i| sigma[i] + dsigma[i] - x.s[i]);
            if is_frictionless(cone) {
                return Interior { l: dl, s, psi: 0.0 };
            }
            let along = x.s[0] * dl[0] + x.s[1] * dl[1] + x.l[0] * s[0] + x.l[1] * s[1];
            let psi = (-target[1] - mu * x.psi * dl[2] - along) / (mu * x.l[2]);
            Interior { l: dl, s, psi }
        }
        Cone::Unilateral => Interior { l: dl, s: [sigma[0] + dsigma[0] - x.s[0], 0.0, 0.0], psi: 0.0 },
        Cone::Box { .. } if bound > 0.0 => {
            let upper = (-target[0] + x.s[0] * dl[0]) / (bound - x.l[0]);
            let lower = (-target[1] - x.s[1] * dl[0]) / (bound + x.l[0]);
            Interior { l: dl, s: [upper, lower, 0.0], psi: 0.0 }
        }
        _ => Interior { l: dl, ..Interior::default() },
    }
}

/// How far a block can go along `d` before it leaves its cones.
fn longest(cone: Cone, bound: f64, x: &Interior, d: &Interior) -> f64 {
    let ratio = |x: f64, d: f64| if d < 0.0 { -x / d } else { f64::INFINITY };
    match cone {
        Cone::Friction { .. } if is_frictionless(cone) => ratio(x.l[2], d.l[2]).min(ratio(x.s[2], d.s[2])),
        Cone::Friction { mu } => {
            let straight = ratio(x.l[2], d.l[2]).min(ratio(x.s[2], d.s[2]));
            let impulse = to_boundary(mu * x.l[2], [x.l[0], x.l[1]], mu * d.l[2], [d.l[0], d.l[1]]);
            straight.min(impulse).min(to_boundary(x.psi, [x.s[0], x.s[1]], d.psi, [d.s[0], d.s[1]]))
        }
        Cone::Unilateral => ratio(x.l[0], d.l[0]).min(ratio(x.s[0], d.s[0])),
        Cone::Box { .. } if bound > 0.0 => {
            let ends = ratio(bound - x.l[0], -d.l[0]).min(ratio(bound + x.l[0], d.l[0]));
            ends.min(ratio(x.s[0], d.s[0])).min(ratio(x.s[1], d.s[1]))
        }
        _ => f64::INFINITY,
    }
}
