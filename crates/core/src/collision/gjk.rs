//! Distance of two convex cores by Gilbert, Johnson and Keerthi's walk through the Minkowski difference.   (collision-8)
//!
//! The set Y = { x2 − x1 } has its nearest point to the origin at v = Φ n. A simplex of up to four of its points closes
//! in on v; every support point along −v also bounds Φ from below, which ends the walk early for pairs too far apart.

use super::simplex::Simplex;
use super::witness::ShapePair;
use crate::spatial::Vec3;

/// Most support points of one walk. Polytopes end after some ten, curved shapes after some twenty.
const MAX_ITERATIONS: usize = 64;
/// Below this distance, relative to the size of the smaller shape, the direction of v has lost its digits; on curved
/// shapes the walk makes its last steps slowly, and loses them sooner. Rounding is relative to the larger shape.
const TOUCHING: f64 = 1e-8;
const TOUCHING_CURVED: f64 = 1e-6;
const ROUNDING: f64 = 1e-12;

/// A point x2 − x1 of the difference of two cores, and the atoms that made it. In the frame of shape 1.
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

    /// Whether an atom of either core is curved: the walk then converges, but does not end.
    #[inline(always)]
    pub fn has_curves(&self) -> bool {
        self.shapes[0].core.has_curves() || self.shapes[1].core.has_curves()
    }
}

/// How a walk ended.
pub(crate) enum Walk {
    /// The distance exceeds the limit, as the axis shows.
    Far { axis: Vec3, atoms: [u32; 2] },
    /// The cores are apart; the simplex holds their nearest points.
    Apart { simplex: Simplex, v: Vec3, converged: bool },
    /// The cores touch or overlap.
    Overlap { simplex: Simplex },
}

/// Walks from the direction `axis` until the gap between the bounds is below `tolerance` times the distance.
#[inline(always)]
pub(crate) fn walk(pair: &ShapePair, axis: Vec3, start: [u32; 2], limit: f64, tolerance: f64, scale: f64) -> Walk {
    let mut newest = pair.support(axis, start);
    // most pairs are still apart along the axis along which they were
    let along = axis.dot(newest.y);
    if along > 0.0 && along * along > limit * limit * axis.dot(axis) {
        return Walk::Far { axis, atoms: newest.atoms };
    }
    let mut simplex = Simplex::new(newest);
    let mut v = newest.y;
    let share = if pair.has_curves() { TOUCHING_CURVED } else { TOUCHING };
    let touching = share * pair.smaller() + ROUNDING * scale;
    for _ in 0..MAX_ITERATIONS {
        let square = v.dot(v);
        if square <= touching * touching {
            return Walk::Overlap { simplex };
        }
        newest = pair.support(v, newest.atoms);
        let bound = v.dot(newest.y);
        if bound > 0.0 && bound * bound > limit * limit * square {
            return Walk::Far { axis: v, atoms: newest.atoms };
        }
        if square - bound <= tolerance * square || simplex.contains(&newest) {
            return Walk::Apart { simplex, v, converged: true };
        }
        let (before, old) = (simplex, v);
        simplex.push(newest);
        match simplex.nearest() {
            None => return Walk::Overlap { simplex },
            Some(next) if next.dot(next) >= square => {
                // no digits left to gain
                return Walk::Apart { simplex: before, v: old, converged: square - bound <= 1e-9 * square };
            }
            Some(next) => v = next,
        }
    }
    Walk::Apart { simplex, v, converged: false }
}
