//! Distance of two convex cores by the algorithm of Gilbert, Johnson and Keerthi (GJK) on the Minkowski difference.   (collision-8)
//!
//! The set Y = { x2 − x1 } has its nearest point to the origin at v = Φ n. A simplex of up to four of its points closes
//! in on v; every support point along −v also bounds Φ from below, which ends GJK early for pairs too far apart.

use super::simplex::Simplex;
use crate::collision::pair::ShapePair;
use crate::spatial::Vec3;

/// Most support points of one run. Polytopes end after some ten, curved shapes after some twenty.
const MAX_ITERATIONS: usize = 64;
/// Below this distance, relative to the size of the smaller shape, the direction of v has lost its digits; on curved
/// shapes the last iterations converge slowly, and lose digits sooner. Rounding is relative to the larger shape.
const TOUCHING: f64 = 1e-8;
const TOUCHING_CURVED: f64 = 1e-6;
const ROUNDING: f64 = 1e-12;

/// A point x2 − x1 of the difference of two cores, and its support features (atoms). In the frame of shape 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Vertex {
    pub y: Vec3,
    /// The point of core 1.
    pub x1: Vec3,
    pub atoms: [u32; 2],
}

impl ShapePair<'_> {
    /// The point of Y that lies farthest back along `n`: `n·y` bounds the distance of the cores from below.
    #[inline(always)]
    pub fn support(&self, n: Vec3, start: [u32; 2]) -> Vertex {
        let (x1, a1) = self.shapes[0].core.support(n, start[0]);
        let (x2, a2) = self.shapes[1].core.support(-self.X_12.rotation.tmul(n), start[1]);
        Vertex { y: self.X_12.point(x2) - x1, x1, atoms: [a1, a2] }
    }

    /// Both radii.
    #[inline(always)]
    pub fn radius(&self) -> f64 {
        self.shapes[0].radius + self.shapes[1].radius
    }

    /// Length to which rounding errors of points are relative.
    pub fn scale(&self) -> f64 {
        self.shapes[0].core.size() + self.shapes[1].core.size()
    }

    /// Size of the smaller core that is not just a point.
    fn smaller(&self) -> f64 {
        let [a, b] = self.shapes.map(|s| s.core.size());
        if a == 0.0 || b == 0.0 { a.max(b) } else { a.min(b) }
    }

    /// Whether an atom of either core is curved: GJK then converges, but not in finitely many steps.
    #[inline(always)]
    pub fn has_curves(&self) -> bool {
        self.shapes[0].core.has_curves() || self.shapes[1].core.has_curves()
    }
}

/// Result of GJK.
pub(crate) enum GjkEnd {
    /// The distance exceeds the limit, as the axis `v` shows.
    Far,
    /// The cores are apart; the simplex holds their nearest points.
    Apart { converged: bool },
    /// The cores touch or overlap.
    Overlap,
}

/// Gaps between the bounds, as fractions of the distance, at which GJK ends.
#[derive(Clone, Copy)]
pub(crate) struct GjkTolerance {
    /// Gap at which it ends in any case.
    pub end: f64,
    /// Gap at which it ends if the newest support point consists of known atoms.
    pub settled: f64,
}

/// State of GJK: it may stop at a rough result and continue from there.
pub(crate) struct Gjk {
    pub simplex: Simplex,
    /// The point of Y found so far that is nearest to the origin.
    pub v: Vec3,
    newest: Vertex,
}

impl Gjk {
    /// Begins in the direction `axis`.
    #[inline(always)]
    pub fn new(pair: &ShapePair, axis: Vec3, start: [u32; 2]) -> Gjk {
        let newest = pair.support(axis, start);
        Gjk { simplex: Simplex::new(newest), v: newest.y, newest }
    }

    /// Whether the first support point along `axis` shows a distance beyond the limit: most pairs are still apart along
    /// the axis along which they were.
    #[inline(always)]
    pub fn is_far(&self, axis: Vec3, limit: f64) -> bool {
        let along = axis.dot(self.newest.y);
        along > 0.0 && along * along > limit * limit * axis.dot(axis)
    }

    /// The atoms of the newest support point.
    pub fn atoms(&self) -> [u32; 2] {
        self.newest.atoms
    }

    /// Iterates until the gap between the bounds is small enough.
    #[inline(always)]
    pub fn run(&mut self, pair: &ShapePair, limit: f64, gap: GjkTolerance, scale: f64) -> GjkEnd {
        let end = self.iterate(pair, limit, gap, scale);
        if !matches!(end, GjkEnd::Far) {
            self.simplex.weigh();
        }
        end
    }

    #[inline(always)]
    fn iterate(&mut self, pair: &ShapePair, limit: f64, gap: GjkTolerance, scale: f64) -> GjkEnd {
        let fraction = if pair.has_curves() { TOUCHING_CURVED } else { TOUCHING };
        let touching = fraction * pair.smaller() + ROUNDING * scale;
        for _ in 0..MAX_ITERATIONS {
            let square = self.v.dot(self.v);
            if square <= touching * touching {
                return GjkEnd::Overlap;
            }
            self.newest = pair.support(self.v, self.newest.atoms);
            let bound = self.v.dot(self.newest.y);
            if bound > 0.0 && bound * bound > limit * limit * square {
                return GjkEnd::Far;
            }
            let left = square - bound;
            let close = left <= gap.end * square || (left <= gap.settled * square && self.simplex.knows(&self.newest));
            if close || self.simplex.contains(&self.newest) {
                return GjkEnd::Apart { converged: true };
            }
            self.simplex.push(self.newest);
            let Some(nearest) = self.simplex.nearest() else { return GjkEnd::Overlap };
            if nearest.point.dot(nearest.point) >= square {
                self.simplex.pop(); // no digits left to gain
                return GjkEnd::Apart { converged: square - bound <= 1e-9 * square };
            }
            self.simplex.keep(&nearest);
            self.v = nearest.point;
        }
        GjkEnd::Apart { converged: false }
    }
}
