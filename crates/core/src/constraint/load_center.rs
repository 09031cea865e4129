//! The center of all loads that belong to a motion.   (ncp-15)
//!
//! Where constraints are redundant, many impulses λ give the same velocities: a box on four corners, a robot on four feet
//! whose joints stick. All of them are `λ + N z`, N the self-stresses of the constraints at rest, as far as cones and
//! bounds allow. The center maximizes the sum of the logarithms of all slacks. It does not depend on where a solver began.
//! Its least slack says how far the whole is from slipping, tipping or lifting off; a solution of a solver may lie on a
//! cone although nothing slips.
#![allow(non_snake_case)]

use super::laws::cone::Cone;
use super::modes::AT_REST;
use super::problem::{Block, rows_of};

/// Fraction of a column's inverse inertia below which it depends on the other columns.
const RANK_TOLERANCE: f64 = 1e-10;
/// Newton steps for one shift of the bounds, and the factor by which the shift shrinks.
const NEWTON_STEPS: usize = 12;
const SHRINK: f64 = 0.1;
/// Shifts at the beginning and the end, as fractions of the largest load.
const WIDEST: f64 = 1e-1;
const TIGHTEST: f64 = 1e-13;
/// Number of self-stresses beyond which loads stay as they are: the cost grows with their cube.
const MOST_SELF_STRESSES: usize = 300;

/// A direction in which an impulse may change while the velocities stay.
struct Direction {
    block: usize,
    /// Its components in the rows of the constraint.
    along: [f64; 3],
    /// Unit that scales the entries of its column to about one.
    unit: f64,
}

/// The center of the loads of constraints with the Delassus matrix G (row by row) and the velocities `sigma`; `lambda` itself
/// where it is the only load.
pub(crate) fn center(blocks: &[Block], G: &[f64], lambda: &[f64], sigma: &[f64]) -> Vec<f64> {
    let directions = directions(blocks, lambda, sigma);
    let N = self_stresses(blocks, G, lambda.len(), &directions);
    let count = if directions.is_empty() { 0 } else { N.len() / directions.len() };
    if count == 0 || count > MOST_SELF_STRESSES {
        return lambda.to_vec();
    }
    let mut search =
        CenterSearch { blocks, directions, N, x: vec![0.0; count], loads: lambda.to_vec(), start: lambda, size: 0.0 };
    search.run();
    search.loads
}

/// Directions in which impulses may change: all of a constraint at rest, the normal impulse of a sliding one with its
/// friction, none of one that is open or saturated.
fn directions(blocks: &[Block], lambda: &[f64], sigma: &[f64]) -> Vec<Direction> {
    let mut directions = Vec::new();
    for (k, b) in blocks.iter().enumerate() {
        let (l, s) = (rows_of(lambda, b), rows_of(sigma, b));
        let mut add = |along| directions.push(Direction { block: k, along, unit: b.mean.sqrt() });
        match b.cone {
            Cone::Friction { mu } => {
                let (slip, closed) = (s[0].hypot(s[1]), b.mean * l[2] > s[2].abs() || s[2].abs() < AT_REST);
                if closed && slip >= AT_REST && mu > 0.0 {
                    add([-mu * s[0] / slip, -mu * s[1] / slip, 1.0]);
                } else if closed {
                    let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
                    axes[if mu > 0.0 { 0 } else { 2 }..].iter().for_each(|a| add(*a));
                }
            }
            Cone::Unilateral if b.mean * l[0] > s[0].abs() || s[0].abs() < AT_REST => add([1.0, 0.0, 0.0]),
            Cone::Box { .. } if s[0].abs() < AT_REST => add([1.0, 0.0, 0.0]),
            Cone::Bilateral => add([1.0, 0.0, 0.0]),
            _ => {}
        }
    }
    directions
}

/// Combinations of the directions that move nothing, one after the other: a number per direction, in units of 1/√mean.
fn self_stresses(blocks: &[Block], G: &[f64], rows: usize, directions: &[Direction]) -> Vec<f64> {
    let n = directions.len();
    let entry = |a: &Direction, b: &Direction| {
        let (first, second) = (&blocks[a.block], &blocks[b.block]);
        let product = |i: usize, j: usize| a.along[i] * G[(first.row + i) * rows + second.row + j] * b.along[j];
        let sum: f64 = (0..first.cone.rows())
            .flat_map(|i| (0..second.cone.rows()).map(move |j| (i, j)))
            .map(|(i, j)| product(i, j))
            .sum();
        sum / (a.unit * b.unit)
    };
    let A: Vec<f64> =
        directions.iter().flat_map(|a| directions.iter().map(move |b| (a, b))).map(|(a, b)| entry(a, b)).collect();
    let (L, order, rank) = pivoted_cholesky(&A, n);
    let mut stresses = vec![0.0; (n - rank) * n];
    for (stress, &own) in stresses.chunks_exact_mut(n.max(1)).zip(&order[rank..]) {
        // −L₁₁⁻ᵀ times its row, and one of itself
        let mut x: Vec<f64> = (0..rank).map(|k| -L[own * n + k]).collect();
        for k in (0..rank).rev() {
            x[k] /= L[order[k] * n + k];
            (0..k).for_each(|i| x[i] -= L[order[k] * n + i] * x[k]);
        }
        x.iter().zip(&order).for_each(|(x, i)| stress[*i] = *x);
        stress[own] = 1.0;
    }
    stresses
}

/// `A = L Lᵀ` with the largest remaining pivot each time: L in the rows of A, the order of its columns, and its rank.
fn pivoted_cholesky(A: &[f64], n: usize) -> (Vec<f64>, Vec<usize>, usize) {
    let (mut L, mut order, mut rank) = (vec![0.0; n * n], (0..n).collect::<Vec<usize>>(), 0);
    let mut remaining: Vec<f64> = (0..n).map(|i| A[i * n + i]).collect();
    while rank < n {
        let best = (rank..n).max_by(|a, b| remaining[order[*a]].total_cmp(&remaining[order[*b]])).unwrap_or(rank);
        if remaining[order[best]] <= RANK_TOLERANCE {
            break;
        }
        order.swap(rank, best);
        let pivot = order[rank];
        let root = remaining[pivot].sqrt();
        L[pivot * n + rank] = root;
        for &i in &order[rank + 1..] {
            let sum = (0..rank).fold(A[i * n + pivot], |s, k| s - L[i * n + k] * L[pivot * n + k]);
            L[i * n + rank] = sum / root;
            remaining[i] -= L[i * n + rank] * L[i * n + rank];
        }
        rank += 1;
    }
    (L, order, rank)
}

/// The search for the center.
struct CenterSearch<'a> {
    blocks: &'a [Block],
    directions: Vec<Direction>,
    /// Self-stresses, one after the other, and the coordinates of the loads along them.
    N: Vec<f64>,
    x: Vec<f64>,
    loads: Vec<f64>,
    start: &'a [f64],
    /// The largest load (m/s).
    size: f64,
}

impl CenterSearch<'_> {
    /// Centers with widened bounds, which are tightened step by step.
    fn run(&mut self) {
        let size =
            self.blocks.iter().flat_map(|b| rows_of(self.start, b).map(|l| (b.mean * l).abs())).fold(0.0, f64::max);
        if size == 0.0 {
            return;
        }
        self.size = size;
        let mut shift = WIDEST * size;
        while shift > TIGHTEST * size {
            for _ in 0..NEWTON_STEPS {
                if !self.improve(shift) {
                    break;
                }
            }
            shift *= SHRINK;
        }
    }

    /// One Newton step towards the center of bounds moved by `shift` (m/s). Returns whether it has moved.
    fn improve(&mut self, shift: f64) -> bool {
        let (n, m) = (self.directions.len(), self.x.len());
        let Some((before, gradient, hessian)) = self.value(&self.loads, shift) else { return false };
        let own = |j: usize| &self.N[j * n..(j + 1) * n];
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0, |s, (a, b)| s + a * b);
        let g: Vec<f64> = (0..m).map(|j| dot(own(j), &gradient)).collect();
        let HN: Vec<Vec<f64>> = (0..m).map(|j| self.curve(&hessian, own(j))).collect();
        let mut A: Vec<f64> = (0..m * m).map(|k| dot(own(k / m), &HN[k % m])).collect();
        let Some(step) = solve(&mut A, &g) else { return false };
        let decrement = dot(&g, &step);
        let mut fraction = 1.0;
        while fraction > 1e-6 {
            let x: Vec<f64> = self.x.iter().zip(&step).map(|(x, d)| x + fraction * d).collect();
            let loads = self.at(&x);
            if self.value(&loads, shift).is_some_and(|v| v.0 >= before + 0.1 * fraction * decrement) {
                (self.x, self.loads) = (x, loads);
                return decrement > 1e-12;
            }
            fraction *= 0.5;
        }
        false
    }

    /// Loads at given coordinates.
    fn at(&self, x: &[f64]) -> Vec<f64> {
        let (n, mut loads) = (self.directions.len(), self.start.to_vec());
        for (i, direction) in self.directions.iter().enumerate() {
            let along = x.iter().enumerate().fold(0.0, |s, (j, x)| s + x * self.N[j * n + i]) / direction.unit;
            let b = &self.blocks[direction.block];
            (0..b.cone.rows()).for_each(|k| loads[b.row + k] += along * direction.along[k]);
        }
        loads
    }

    /// Sum of logarithms of slacks, its gradient along the directions and its curvature in the rows; `None` beyond a bound.
    fn value(&self, loads: &[f64], shift: f64) -> Option<(f64, Vec<f64>, Vec<Curvature>)> {
        let (mut sum, mut curvatures) = (0.0, vec![None; self.blocks.len()]);
        let mut hessian = Vec::with_capacity(self.directions.len());
        let mut gradient = Vec::with_capacity(self.directions.len());
        for direction in &self.directions {
            let b = &self.blocks[direction.block];
            if curvatures[direction.block].is_none() {
                let slides = direction.along[2] != 0.0 && direction.along[0].hypot(direction.along[1]) > 0.0;
                let c = barrier(b, rows_of(loads, b), shift, slides, self.size)?;
                sum += c.value;
                curvatures[direction.block] = Some(c);
            }
            let c = curvatures[direction.block]?;
            gradient.push((0..3).fold(0.0, |s, k| s + c.gradient[k] * direction.along[k]) / direction.unit);
            hessian.push(c);
        }
        Some((sum, gradient, hessian))
    }

    /// The (negative) curvature times a change along the directions.
    fn curve(&self, hessian: &[Curvature], x: &[f64]) -> Vec<f64> {
        let mut rows = vec![[0.0; 3]; self.blocks.len()];
        for (direction, x) in self.directions.iter().zip(x) {
            (0..3).for_each(|k| rows[direction.block][k] += direction.along[k] * x / direction.unit);
        }
        let along = |(direction, c): (&Direction, &Curvature)| {
            let r = rows[direction.block];
            let product = |k: usize| (0..3).fold(0.0, |s, j| s + c.hessian[k][j] * r[j]);
            (0..3).fold(0.0, |s, k| s + direction.along[k] * product(k)) / direction.unit
        };
        self.directions.iter().zip(hessian).map(along).collect()
    }
}

/// The logarithm of a slack, its gradient and its negative second derivative with respect to the impulse.
#[derive(Clone, Copy)]
struct Curvature {
    value: f64,
    gradient: [f64; 3],
    hessian: [[f64; 3]; 3],
}

/// `log` of the slack of a constraint whose bounds are moved out by `shift` (m/s); `size`: the largest load (m/s).
fn barrier(b: &Block, l: [f64; 3], shift: f64, slides: bool, size: f64) -> Option<Curvature> {
    let widening = shift / b.mean;
    let linear = |slacks: &[(f64, f64)], row: usize| {
        let mut c = Curvature { value: 0.0, gradient: [0.0; 3], hessian: [[0.0; 3]; 3] };
        for (slack, sign) in slacks {
            if *slack <= 0.0 {
                return None;
            }
            c.value += slack.ln();
            c.gradient[row] += sign / slack;
            c.hessian[row][row] += 1.0 / (slack * slack);
        }
        Some(c)
    };
    match b.cone {
        Cone::Bilateral => {
            // no bound: as little as possible
            let (mut c, weight) = (linear(&[], 0)?, (b.mean / size) * (b.mean / size));
            (c.value, c.gradient[0], c.hessian[0][0]) = (-0.5 * weight * l[0] * l[0], -weight * l[0], weight);
            Some(c)
        }
        Cone::Unilateral => linear(&[(l[0] + widening, 1.0)], 0),
        Cone::Box { bound } => linear(&[(bound + widening - l[0], -1.0), (bound + widening + l[0], 1.0)], 0),
        Cone::Friction { mu } if mu == 0.0 || slides => linear(&[(l[2] + widening, 1.0)], 2),
        Cone::Friction { mu } => {
            // log(a² − ‖λ_T‖²), a = μ λ_N + room
            let a = mu * l[2] + widening;
            let s = a * a - l[0] * l[0] - l[1] * l[1];
            if a <= 0.0 || s <= 0.0 {
                return None;
            }
            let d = [-2.0 * l[0], -2.0 * l[1], 2.0 * mu * a];
            let mut hessian = [[0.0; 3]; 3];
            for (i, j) in (0..9).map(|k| (k / 3, k % 3)) {
                hessian[i][j] = d[i] * d[j] / (s * s);
            }
            hessian[0][0] += 2.0 / s;
            hessian[1][1] += 2.0 / s;
            hessian[2][2] -= 2.0 * mu * mu / s;
            Some(Curvature { value: s.ln(), gradient: d.map(|x| x / s), hessian })
        }
    }
}

/// Solves a symmetric positive definite system in place; `None` if it is not.
fn solve(A: &mut [f64], b: &[f64]) -> Option<Vec<f64>> {
    let n = b.len();
    let mut x = b.to_vec();
    for j in 0..n {
        let pivot = (0..j).fold(A[j * n + j], |s, k| s - A[j * n + k] * A[j * n + k]);
        if pivot.is_nan() || pivot <= 0.0 {
            return None;
        }
        A[j * n + j] = pivot.sqrt();
        for i in j + 1..n {
            A[i * n + j] = (0..j).fold(A[i * n + j], |s, k| s - A[i * n + k] * A[j * n + k]) / A[j * n + j];
        }
        x[j] = (0..j).fold(x[j], |s, k| s - A[j * n + k] * x[k]) / A[j * n + j];
    }
    for j in (0..n).rev() {
        x[j] = (j + 1..n).fold(x[j], |s, k| s - A[k * n + j] * x[k]) / A[j * n + j];
    }
    Some(x)
}
