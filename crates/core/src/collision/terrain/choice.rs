//! The choice of up to four points among those of many triangles.

use super::TerrainPoint;
use crate::collision::contact::MAX_POINTS;
use crate::spatial::Vec3;

/// Points that are farther than the deepest by this are considered after all nearer ones (fraction of the limit).
const BAND: f64 = 0.1;
/// Depths, lengths and areas that differ by less than this fraction are equal: the first wins, not the rounding.
const EQUAL: f64 = 1e-9;
/// Points nearer to each other than this fraction of the shape are one.
const SAME_PLACE: f64 = 1e-7;

/// Position and normal of a point, the latter scaled by the size of the shape: coincident points with different normals are
/// apart.
#[derive(Clone, Copy)]
struct PointAndNormal([Vec3; 2]);

impl PointAndNormal {
    fn minus(self, b: PointAndNormal) -> PointAndNormal {
        PointAndNormal([self.0[0] - b.0[0], self.0[1] - b.0[1]])
    }

    fn dot(self, b: PointAndNormal) -> f64 {
        self.0[0].dot(b.0[0]) + self.0[1].dot(b.0[1])
    }

    /// Area of a parallelogram with sides `self` and `b`.
    fn area(self, b: PointAndNormal) -> f64 {
        (self.dot(self) * b.dot(b) - self.dot(b) * self.dot(b)).max(0.0).sqrt()
    }
}

/// Keeps the deepest point, the farthest from it, and the two that widen the choice most; first among those nearly as
/// deep as the deepest, then, while there is room, among the others. Equally deep points are the better the farther they
/// are from `middle` of the shape, whose size is `size`.
pub(super) fn choose(points: &mut Vec<TerrainPoint>, limit: f64, middle: Vec3, size: f64) {
    let Some(least) = points.iter().map(|t| t.distance).reduce(f64::min) else { return };
    let scale = if limit.is_finite() { limit.abs().max(EQUAL * size) } else { size };
    let mut count = 0;
    for band in [least + BAND * scale, f64::INFINITY] {
        while count < MAX_POINTS {
            let (chosen, rest) = points.split_at(count);
            let gain = |t: &TerrainPoint| match (t.distance <= band, count) {
                (false, _) => 0.0,
                (_, 0) if t.distance <= least + EQUAL * scale => EQUAL * size + (t.point - middle).norm(),
                (_, 0) => 0.0,
                _ => widening(chosen, t, size),
            };
            let Some(best) = most(rest, gain) else { break };
            // the others stay in their order: it decides between equals
            points[count..=count + best].rotate_right(1);
            count += 1;
        }
    }
    points.truncate(count);
}

/// The first of those with the largest positive gain.
fn most(rest: &[TerrainPoint], gain: impl Fn(&TerrainPoint) -> f64) -> Option<usize> {
    let (mut largest, mut best) = (0.0, None);
    for (k, t) in rest.iter().enumerate() {
        let gain = gain(t);
        if gain > largest * (1.0 + EQUAL) {
            (largest, best) = (gain, Some(k));
        }
    }
    best
}

/// How much a point adds to the length, triangle or quadrangle of the chosen ones; zero if it coincides with one.
fn widening(chosen: &[TerrainPoint], t: &TerrainPoint, size: f64) -> f64 {
    let place = |t: &TerrainPoint| PointAndNormal([t.point, t.normal * size]);
    let p = place(t);
    let square = |c: &TerrainPoint| p.minus(place(c)).dot(p.minus(place(c)));
    let near = SAME_PLACE * size;
    if chosen.iter().any(|c| square(c) <= near * near) {
        return 0.0;
    }
    let corner = |k: usize| place(&chosen[k]);
    let triangle = |a: PointAndNormal, b: PointAndNormal, c: PointAndNormal| b.minus(a).area(c.minus(a));
    let gain = match chosen.len() {
        1 => return square(&chosen[0]).sqrt(),
        2 => triangle(corner(0), corner(1), p),
        _ => {
            let (a, b, c) = (corner(0), corner(1), corner(2));
            // nothing for a point inside the triangle
            triangle(a, b, p) + triangle(b, c, p) + triangle(c, a, p) - triangle(a, b, c)
        }
    };
    if gain > near * size { gain } else { 0.0 }
}
