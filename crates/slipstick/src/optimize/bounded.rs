//! Linear least squares between bounds, by an active set: some numbers are held at an end, the others are solved for.

use super::svd::{Svd, dot};
use slipstick_core::linalg::MatRef;

/// Between which numbers each number of a step may lie; zero is always between them.
#[derive(Debug, Clone)]
pub(super) struct StepBounds {
    pub low: Vec<f64>,
    pub high: Vec<f64>,
}

impl StepBounds {
    /// Whether number `j` can take no step with the sign of `way`.
    pub fn forbids(&self, j: usize, way: f64) -> bool {
        (way < 0.0 && self.low[j] >= 0.0) || (way > 0.0 && self.high[j] <= 0.0)
    }

    pub fn clamp(&self, j: usize, d: f64) -> f64 {
        d.max(self.low[j]).min(self.high[j])
    }
}

/// Of a number of the step.
#[derive(Debug, Clone, Copy, PartialEq)]
enum BoundState {
    Free,
    /// At an end of its range.
    Held,
    /// At its bound, to which it returned at once when it was released: not to be tried again before something moves.
    Barred,
}

/// Multipliers below this part of their terms are rounding.
const NOISE: f64 = 1e-13;

/// The step that makes ‖J d + r‖² + damping ‖d‖² least between bounds.                                             (lsq-5)
pub(super) fn solve(J: MatRef, r: &[f64], damping: f64, rank_tolerance: f64, room: &StepBounds) -> Vec<f64> {
    let n = J.cols();
    let mut d = vec![0.0; n];
    let slope = gradient(J, r, damping, &d);
    let mut states: Vec<BoundState> =
        (0..n).map(|j| if room.forbids(j, -slope[j].0) { BoundState::Held } else { BoundState::Free }).collect();
    // each round holds a number or sets one free; the bound is for rounding that runs in circles
    for _ in 0..4 * n + 10 {
        let wanted = free_solution(J, r, damping, rank_tolerance, &states, &d);
        match first_end(&d, &wanted, &states, room) {
            Some((j, part)) => {
                let moved = part > 0.0;
                (0..n).for_each(|k| d[k] = room.clamp(k, d[k] + part * (wanted[k] - d[k])));
                d[j] = if wanted[j] < d[j] { room.low[j] } else { room.high[j] };
                states[j] = if moved { BoundState::Held } else { BoundState::Barred };
                if moved {
                    states.iter_mut().filter(|p| **p == BoundState::Barred).for_each(|p| *p = BoundState::Held);
                }
            }
            None => {
                d = wanted;
                match most_wrong(&gradient(J, r, damping, &d), &d, &states, room) {
                    Some(j) => states[j] = BoundState::Free,
                    None => break,
                }
            }
        }
    }
    d
}

/// The best values of the free numbers while the others stay.
fn free_solution(
    J: MatRef,
    r: &[f64],
    damping: f64,
    rank_tolerance: f64,
    states: &[BoundState],
    d: &[f64],
) -> Vec<f64> {
    let free: Vec<usize> = (0..d.len()).filter(|j| states[*j] == BoundState::Free).collect();
    let held: Vec<f64> = d.iter().zip(states).map(|(d, p)| if *p == BoundState::Free { 0.0 } else { *d }).collect();
    let columns: Vec<f64> = (0..r.len()).flat_map(|i| free.iter().map(move |j| J[(i, *j)])).collect();
    let right: Vec<f64> = (0..r.len()).map(|i| -(r[i] + dot(J.row(i), &held))).collect();
    let mut values = vec![0.0; free.len()];
    Svd::new(MatRef::new(&columns, r.len(), free.len())).solve(&right, damping, rank_tolerance, &mut values);
    let mut wanted = held;
    free.iter().zip(values).for_each(|(j, x)| wanted[*j] = x);
    wanted
}

/// Which free number meets its end first on the way from `d` to `wanted`, and after which part of the way.
fn first_end(d: &[f64], wanted: &[f64], states: &[BoundState], room: &StepBounds) -> Option<(usize, f64)> {
    let outside = |j: &usize| states[*j] == BoundState::Free && room.clamp(*j, wanted[*j]) != wanted[*j];
    let part = |j: usize| (j, (room.clamp(j, wanted[j]) - d[j]) / (wanted[j] - d[j]));
    (0..d.len()).filter(outside).map(part).min_by(|a, b| a.1.total_cmp(&b.1))
}

/// Gradient of half the sum, and the size of the terms that make it up.
fn gradient(J: MatRef, r: &[f64], damping: f64, d: &[f64]) -> Vec<(f64, f64)> {
    let mut slope: Vec<(f64, f64)> = d.iter().map(|d| (damping * d, damping * d.abs())).collect();
    for (i, r) in r.iter().enumerate() {
        let left = r + dot(J.row(i), d);
        for (sum, a) in slope.iter_mut().zip(J.row(i)) {
            *sum = (sum.0 + a * left, sum.1 + (a * r).abs());
        }
    }
    slope
}

/// The held number that would lower the sum most if it could leave its end.
fn most_wrong(slope: &[(f64, f64)], d: &[f64], states: &[BoundState], room: &StepBounds) -> Option<usize> {
    let leaves = |j: &usize| {
        let inwards = if d[*j] <= room.low[*j] { -slope[*j].0 } else { slope[*j].0 };
        // a range of no width has nowhere to go
        states[*j] == BoundState::Held && room.low[*j] < room.high[*j] && inwards > NOISE * slope[*j].1
    };
    (0..slope.len()).filter(leaves).max_by(|a, b| slope[*a].0.abs().total_cmp(&slope[*b].0.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;

    /// Conditions of a least sum between bounds: the gradient is zero inside and points outwards at the ends.
    fn assert_best(J: MatRef, r: &[f64], damping: f64, room: &StepBounds, d: &[f64]) {
        for (j, (slope, size)) in gradient(J, r, damping, d).into_iter().enumerate() {
            assert!(room.low[j] <= d[j] && d[j] <= room.high[j]);
            let allowed = 1e-10 * (1.0 + size);
            assert!(slope < allowed || d[j] == room.low[j], "{j}: {slope} at {} of {room:?}", d[j]);
            assert!(slope > -allowed || d[j] == room.high[j], "{j}: {slope} at {} of {room:?}", d[j]);
        }
    }

    #[test]
    fn random_problems_meet_the_conditions_of_a_least_sum() {
        let mut draw = Rng(3);
        for case in 0..300 {
            let (m, n) = (1 + draw.below(9), 1 + draw.below(9));
            let mut J: Vec<f64> = (0..m * n).map(|_| draw.sign()).collect();
            if case % 3 == 0 && n > 1 {
                J.chunks_mut(n).for_each(|row| row[0] = row[n - 1]); // without full rank
            }
            let r: Vec<f64> = (0..m).map(|_| draw.sign()).collect();
            let ends = |draw: &mut Rng| if draw.chance(0.2) { 0.0 } else { draw.between(0.0, 0.7) };
            let low = (0..n).map(|_| -ends(&mut draw)).collect();
            let room = StepBounds { low, high: (0..n).map(|_| ends(&mut draw)).collect() };
            let (J, damping) = (MatRef::new(&J, m, n), if case % 2 == 0 { 0.0 } else { 0.1 });
            assert_best(J, &r, damping, &room, &solve(J, &r, damping, 1e-12, &room));
        }
    }

    #[test]
    fn far_bounds_change_nothing() {
        let J = [1.0, 2.0, 0.5, -1.0, 3.0, 1.0];
        let (J, r) = (MatRef::new(&J, 2, 3), [1.0, -2.0]);
        let room = StepBounds { low: vec![f64::NEG_INFINITY; 3], high: vec![1e9; 3] };
        let mut d = [0.0; 3];
        Svd::new(J).solve(&[-r[0], -r[1]], 0.0, 1e-10, &mut d);
        assert_eq!(solve(J, &r, 0.0, 1e-10, &room), d);
    }
}
