//! Candidates for the points of a patch, and the choice of up to four of them.

use crate::collision::contact::{MAX_POINTS, PointKind};

/// Candidates that are farther than the deepest by this are considered after all nearer ones (fraction of the limit).
pub(super) const BAND: f64 = 0.1;
/// Depths that differ by less than this fraction of the limit are equal: the lower number wins, not the rounding.
const SAME_DEPTH: f64 = 1e-9;
/// Lengths and areas that differ by less than this fraction are equal.
const SAME_SIZE: f64 = 1e-9;
/// Points nearer to each other than this fraction of the patch are one.
const SAME_PLACE: f64 = 1e-7;
/// A point must widen the patch by this fraction of its length, squared.
const WIDENS: f64 = 1e-6;

/// A possible point of a patch, in the frame of the reference face.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    /// Position in the reference plane (m).
    pub x: f64,
    pub y: f64,
    /// Signed distance of the surfaces along the normal (m).
    pub distance: f64,
    pub kind: PointKind,
}

/// A bounded list of candidates.
pub(super) struct Candidates<const M: usize> {
    list: [Candidate; M],
    count: usize,
    /// Only candidates with a lower distance are taken (m).
    limit: f64,
}

impl<const M: usize> Candidates<M> {
    #[inline(always)]
    pub fn new(limit: f64) -> Candidates<M> {
        Candidates { list: [Candidate { x: 0.0, y: 0.0, distance: 0.0, kind: PointKind::Nearest }; M], count: 0, limit }
    }

    /// Takes a candidate if it is near enough and there is room.
    #[inline(always)]
    pub fn push(&mut self, x: f64, y: f64, distance: f64, kind: PointKind) {
        if distance < self.limit && self.count < M {
            self.list[self.count] = Candidate { x, y, distance, kind };
            self.count += 1;
        }
    }

    #[inline(always)]
    pub fn as_slice(&self) -> &[Candidate] {
        &self.list[..self.count]
    }
}

/// The chosen candidates, deepest first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    pub index: [usize; MAX_POINTS],
    pub count: usize,
}

/// Chooses up to four: the deepest, the farthest from it, the two that widen the patch most; first among those nearly as
/// deep as the deepest, then, while there is room, among the others. Equals go to the lower atom number.
#[inline(always)]
pub(super) fn reduce(candidates: &[Candidate], limit: f64) -> Choice {
    let mut choice = Choice { index: [0; MAX_POINTS], count: 0 };
    if candidates.is_empty() {
        return choice;
    }
    let first = deepest(candidates, limit);
    choice.push(first);
    if candidates.len() == 1 {
        return choice;
    }
    if candidates.len() <= MAX_POINTS {
        take_all(candidates, &mut choice);
    } else {
        let band = candidates[first].distance + BAND * limit.abs();
        widen(candidates, |c| c.distance <= band, &mut choice);
        if choice.count < MAX_POINTS {
            widen(candidates, |c| c.distance > band, &mut choice);
        }
    }
    choice
}

impl Choice {
    #[inline(always)]
    fn push(&mut self, k: usize) {
        self.index[self.count] = k;
        self.count += 1;
    }

    #[inline(always)]
    fn add(&mut self, k: Option<usize>) {
        if let Some(k) = k {
            self.push(k);
        }
    }
}

#[inline(always)]
fn deepest(candidates: &[Candidate], limit: f64) -> usize {
    let least = candidates.iter().fold(f64::INFINITY, |d, c| d.min(c.distance));
    let bound = least + SAME_DEPTH * if limit.is_finite() { limit.abs() } else { 0.0 };
    let mut best = usize::MAX;
    for (k, c) in candidates.iter().enumerate() {
        if c.distance <= bound && (best == usize::MAX || number(c) < number(&candidates[best])) {
            best = k;
        }
    }
    best
}

/// All candidates that do not coincide with another.
#[inline(always)]
fn take_all(candidates: &[Candidate], choice: &mut Choice) {
    let first = choice.index[0];
    let mut extent = 0.0;
    for c in candidates {
        extent = f64::max(extent, square(c, &candidates[first]));
    }
    for k in (0..candidates.len()).filter(|&k| k != first) {
        let taken = &choice.index[..choice.count];
        let apart = |&j: &usize| square(&candidates[k], &candidates[j]) > SAME_PLACE * SAME_PLACE * extent;
        if taken.iter().all(apart) {
            choice.push(k);
        }
    }
}

/// Adds candidates that pass `eligible` as long as they widen what is chosen.
#[inline(always)]
fn widen(candidates: &[Candidate], eligible: impl Fn(&Candidate) -> bool, choice: &mut Choice) {
    let chosen = |choice: &Choice, k: usize| candidates[choice.index[k]];
    if choice.count == 1 {
        let a = chosen(choice, 0);
        choice.add(most(candidates, &eligible, |p| square(&a, p)));
    }
    if choice.count == 2 {
        let (a, b) = (chosen(choice, 0), chosen(choice, 1));
        let least = WIDENS * square(&a, &b);
        choice.add(most(candidates, &eligible, |p| area(&a, &b, p).abs() - least));
    }
    if choice.count == 3 {
        let (a, b, c) = (chosen(choice, 0), chosen(choice, 1), chosen(choice, 2));
        let (least, turn) = (WIDENS * square(&a, &b), area(&a, &b, &c).signum());
        // the triangle grows beyond one of its sides
        let beyond =
            |p: &Candidate| (-turn * area(&a, &b, p)).max(-turn * area(&b, &c, p)).max(-turn * area(&c, &a, p));
        choice.add(most(candidates, &eligible, |p| beyond(p) - least));
    }
}

/// The eligible candidate with the largest positive gain.
#[inline(always)]
fn most(
    candidates: &[Candidate],
    eligible: impl Fn(&Candidate) -> bool,
    gain: impl Fn(&Candidate) -> f64,
) -> Option<usize> {
    let (mut largest, mut best) = (0.0, None);
    for (k, c) in candidates.iter().enumerate() {
        if !eligible(c) {
            continue;
        }
        let gain = gain(c);
        if gain <= largest * (1.0 - SAME_SIZE) {
            continue;
        }
        let equal = gain <= largest * (1.0 + SAME_SIZE);
        if best.is_none_or(|j: usize| !equal || number(c) < number(&candidates[j])) {
            (largest, best) = (gain, Some(k));
        }
    }
    best
}

#[inline(always)]
fn square(a: &Candidate, b: &Candidate) -> f64 {
    let (x, y) = (b.x - a.x, b.y - a.y);
    x * x + y * y
}

/// Twice the signed area of a triangle.
#[inline(always)]
fn area(a: &Candidate, b: &Candidate, c: &Candidate) -> f64 {
    (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
}

/// Tie-break: incident support features (atoms) before crossings before corners of the reference, then lower numbers.
#[inline(always)]
fn number(c: &Candidate) -> (u32, u32, u32) {
    match c.kind {
        PointKind::Nearest => (0, 0, 0),
        PointKind::Incident { atom, .. } => (1, atom, 0),
        PointKind::Crossing { edge, reference, .. } => (2, edge[0].min(edge[1]), reference[0].min(reference[1])),
        PointKind::Reference { atom, .. } => (3, atom, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(x: f64, y: f64, distance: f64, atom: u32) -> Candidate {
        Candidate { x, y, distance, kind: PointKind::Incident { side: 1, atom } }
    }

    fn chosen(candidates: &[Candidate], limit: f64) -> Vec<usize> {
        let choice = reduce(candidates, limit);
        choice.index[..choice.count].to_vec()
    }

    #[test]
    fn four_corners_are_chosen_out_of_a_grid() {
        let grid: Vec<_> = (0..25).map(|k| candidate((k % 5) as f64, (k / 5) as f64, 0.0, k)).collect();
        let mut corners = chosen(&grid, 0.01);
        assert_eq!(corners[0], 0); // all equally deep: the lowest number comes first
        corners.sort_unstable();
        assert_eq!(corners, [0, 4, 20, 24]);
    }

    #[test]
    fn the_deepest_is_kept_even_in_the_middle() {
        let mut grid: Vec<_> = (0..25).map(|k| candidate((k % 5) as f64, (k / 5) as f64, 0.0, k)).collect();
        grid[12].distance = -1e-6;
        let points = chosen(&grid, 0.01);
        assert_eq!((points[0], points.len()), (12, 4));
    }

    #[test]
    fn rounding_does_not_decide_between_equals() {
        let square = |noise: [f64; 6]| -> Vec<Candidate> {
            let xy = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.5, 0.0], [0.5, 1.0]];
            (0..6).map(|k| candidate(xy[k][0] + noise[k], xy[k][1], noise[k], k as u32)).collect()
        };
        let calm = chosen(&square([0.0; 6]), 0.01);
        let noisy = chosen(&square([1e-15, -1e-15, 2e-15, -3e-15, -4e-15, 1e-15]), 0.01);
        assert_eq!(calm, noisy);
    }

    #[test]
    fn nearly_as_deep_comes_before_wider() {
        let mut points: Vec<_> = (0..4).map(|k| candidate((k & 1) as f64, (k >> 1) as f64, 0.0, k)).collect();
        points.extend((0..4).map(|k| candidate(9.0 * (k & 1) as f64, 9.0 * (k >> 1) as f64, 5e-3, 4 + k)));
        let mut four = chosen(&points, 0.01);
        four.sort_unstable();
        assert_eq!(four, [0, 1, 2, 3]);
    }

    #[test]
    fn points_on_a_line_and_points_at_one_place_are_two() {
        let line: Vec<_> = (0..7).map(|k| candidate(k as f64, 2.0 * k as f64, 0.0, k)).collect();
        assert_eq!(chosen(&line, 0.01), [0, 6]);
        let twice = [0.0, 1.0, 1e-12, 1.0].map(|x| candidate(x, 0.0, 0.0, (10.0 * x) as u32));
        assert_eq!(chosen(&twice, 0.01).len(), 2);
        assert_eq!(chosen(&[], 0.01).len(), 0);
        assert_eq!(chosen(&[candidate(1.0, 1.0, 2.0, 3)], 0.01), [0]);
    }
}
