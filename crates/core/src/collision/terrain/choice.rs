//! The choice of up to four points among those of many triangles.

use super::Touch;
use crate::collision::contact::MAX_POINTS;
use crate::spatial::Vec3;

/// Points so much farther than the deepest wait until all nearer ones have had their turn (share of the limit).
const BAND: f64 = 0.1;
/// Depths, lengths and areas that differ by less than this share are equal: the first wins, not the rounding.
const SAME: f64 = 1e-9;
/// Points nearer to each other than this share of the shape are one.
const SAME_PLACE: f64 = 1e-7;

/// Where a point is and which way its normal points, the latter as long as the shape is large: points at one place with
/// different normals are apart.
#[derive(Clone, Copy)]
struct Place([Vec3; 2]);

impl Place {
    fn minus(self, b: Place) -> Place {
        Place([self.0[0] - b.0[0], self.0[1] - b.0[1]])
    }

    fn dot(self, b: Place) -> f64 {
        self.0[0].dot(b.0[0]) + self.0[1].dot(b.0[1])
    }

    /// Area of a parallelogram with sides `self` and `b`.
    fn area(self, b: Place) -> f64 {
        (self.dot(self) * b.dot(b) - self.dot(b) * self.dot(b)).max(0.0).sqrt()
    }
}

/// Leaves the deepest point, the farthest from it, and the two that widen what is chosen most; first among those nearly as
/// deep as the deepest, then, while there is room, among the others. Equally deep points are the better the farther they
/// are from `middle` of the shape, whose size is `size`.
pub(super) fn choose(touches: &mut Vec<Touch>, limit: f64, middle: Vec3, size: f64) {
    let Some(least) = touches.iter().map(|t| t.distance).reduce(f64::min) else { return };
    let scale = if limit.is_finite() { limit.abs().max(SAME * size) } else { size };
    let mut count = 0;
    for band in [least + BAND * scale, f64::INFINITY] {
        while count < MAX_POINTS {
            let (chosen, rest) = touches.split_at(count);
            let gain = |t: &Touch| match (t.distance <= band, count) {
                (false, _) => 0.0,
                (_, 0) if t.distance <= least + SAME * scale => SAME * size + (t.point - middle).norm(),
                (_, 0) => 0.0,
                _ => widening(chosen, t, size),
            };
            let Some(best) = most(rest, gain) else { break };
            // the others stay in their order: it decides between equals
            touches[count..=count + best].rotate_right(1);
            count += 1;
        }
    }
    touches.truncate(count);
}

/// The first of those with the largest positive gain.
fn most(rest: &[Touch], gain: impl Fn(&Touch) -> f64) -> Option<usize> {
    let (mut largest, mut best) = (0.0, None);
    for (k, t) in rest.iter().enumerate() {
        let gain = gain(t);
        if gain > largest * (1.0 + SAME) {
            (largest, best) = (gain, Some(k));
        }
    }
    best
}

/// How much a point adds to the length, triangle or square of the chosen ones; zero if it is at the place of one.
fn widening(chosen: &[Touch], t: &Touch, size: f64) -> f64 {
    let place = |t: &Touch| Place([t.point, t.normal * size]);
    let p = place(t);
    let square = |c: &Touch| p.minus(place(c)).dot(p.minus(place(c)));
    let near = SAME_PLACE * size;
    if chosen.iter().any(|c| square(c) <= near * near) {
        return 0.0;
    }
    let corner = |k: usize| place(&chosen[k]);
    let triangle = |a: Place, b: Place, c: Place| b.minus(a).area(c.minus(a));
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
