//! Pairs whose nearest points have a formula: planes with everything, balls with primitives, capsules with capsules and
//! boxes. Each is written for one order of the shapes, in the frame of the first; [`CoreWitness::reversed`] swaps them.
//!
//! All of them look at cores only: radii shift the surfaces along the normal and change nothing else, since the support
//! function of a rounded shape is that of its core plus the radius.

#[cfg(test)]
pub(crate) mod check;
mod ellipsoid;
mod plane;
mod point;
mod revolved;
mod segment;
mod segment_box;
mod world;

pub(crate) use world::closed_in_world;

use crate::collision::pair::{ShapePair, Side, Witness};
use crate::collision::shape::Core;
use crate::spatial::{Pose, Vec3};

/// Result of a closed form for a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ClosedForm {
    /// The distance exceeds the limit.
    Far,
    /// Where the shapes are nearest or overlap least.
    Near(Witness),
}

/// Where two cores A and B are nearest or overlap least, in the frame of A.
#[derive(Debug, Clone, Copy)]
struct CoreWitness {
    /// Unit normal, from A to B.
    normal: Vec3,
    /// Signed distance of the cores (m).
    gap: f64,
    /// Point of core A (m).
    point: Vec3,
    /// Touching features of A and B.
    sides: [Side; 2],
}

impl CoreWitness {
    /// The contact seen from B; `X` is the frame of A in the frame of B.
    #[inline(always)]
    fn reversed(&self, X: &Pose) -> CoreWitness {
        CoreWitness {
            normal: -(X.rotation * self.normal),
            gap: self.gap,
            point: X.point(self.point + self.normal * self.gap),
            sides: [self.sides[1], self.sides[0]],
        }
    }
}

/// The nearest points of a pair by a formula; `None` if the pair has none.
#[inline]
pub(crate) fn closed(pair: &ShapePair, limit: f64) -> Option<ClosedForm> {
    let [a, b] = &pair.shapes;
    let reach = limit + a.radius + b.radius;
    let X = &pair.X_12;
    let found = match (&a.core, &b.core) {
        // two half-spaces overlap without end unless they face each other: models cannot hold such a pair
        (Core::Plane, Core::Plane) => None,
        (Core::Plane, core) => plane::plane(core, X, reach),
        (core, Core::Plane) => reverse(X, |X_21| plane::plane(core, X_21, reach)),
        (core, Core::Point) if has_point_form(core) => point::point(core, X.position, reach),
        (Core::Point, core) if has_point_form(core) => reverse(X, |X_21| point::point(core, X_21.position, reach)),
        (Core::Segment { half: h }, Core::Segment { half: g }) => segment::segments([*h, *g], X, reach),
        (Core::Box { half }, Core::Segment { half: h }) => segment_box::segment_box(*half, *h, X, reach),
        (Core::Segment { half: h }, Core::Box { half }) => {
            reverse(X, |X_21| segment_box::segment_box(*half, *h, X_21, reach))
        }
        _ => return None,
    };
    let Some(CoreWitness { normal, gap, point, sides }) = found else { return Some(ClosedForm::Far) };
    let distance = gap - a.radius - b.radius;
    let near = point + normal * a.radius;
    Some(ClosedForm::Near(Witness {
        normal,
        distance,
        points: [near, near + normal * distance],
        sides,
        converged: true,
    }))
}

#[inline(always)]
fn has_point_form(core: &Core) -> bool {
    !matches!(core, Core::Hull(_) | Core::Prism(_) | Core::Plane)
}

/// Solves a pair from the side of shape 2.
#[inline(always)]
fn reverse(X_12: &Pose, solve: impl FnOnce(&Pose) -> Option<CoreWitness>) -> Option<CoreWitness> {
    // parts of the inverse that `solve` does not read cost nothing once this is inlined
    let rotation = X_12.rotation.transpose();
    let X_21 = Pose { rotation, position: -X_12.rotation.tmul(X_12.position) };
    solve(&X_21).map(|found| found.reversed(X_12))
}

/// Unit vector and length of `v`; `None` for zero. Right also where squares underflow or overflow.
#[inline(always)]
fn direction(v: Vec3) -> Option<(Vec3, f64)> {
    let square = v.dot(v);
    if square > 1e-280 && square < 1e280 {
        let length = square.sqrt();
        return Some((v * (1.0 / length), length));
    }
    extreme_direction(v)
}

#[cold]
fn extreme_direction(v: Vec3) -> Option<(Vec3, f64)> {
    let scale = if v.dot(v) < 1.0 { 1e200 } else { 1e-200 };
    let scaled = v * scale;
    let length = scaled.norm();
    if length > 0.0 { Some((scaled * (1.0 / length), length / scale)) } else { None }
}

/// Fraction of the way from −half (0) to half (1) at which `x` lies.
#[inline(always)]
fn fraction(x: f64, half: f64) -> f64 {
    if half > 0.0 { 0.5 + 0.5 * (x / half) } else { 0.5 }
}

/// The end or interior of a segment along z at height `z`, |z| ≤ half.
#[inline(always)]
fn segment_side(z: f64, half: f64) -> Side {
    if z >= half {
        Side::point(1)
    } else if z <= -half {
        Side::point(0)
    } else {
        Side::edge([0, 1], fraction(z, half))
    }
}

/// The corner, edge or face of a box at the point `q` of its surface. Bits of `bound` name the axes that are at their
/// limit there, bits of `high` those on the positive side.
#[inline(always)]
fn box_side(half: Vec3, q: Vec3, bound: u32, high: u32) -> Side {
    let base = bound & high;
    let edge = |k: usize| Side::edge([base, base | 1 << k], fraction(q[k], half[k]));
    let face = |i: usize, j: usize| {
        let (u, v) = (fraction(q[i], half[i]), fraction(q[j], half[j]));
        Side::face([base, base | 1 << i, base | 1 << j], [1.0 - u - v, u, v])
    };
    match bound {
        1 => face(1, 2),
        2 => face(0, 2),
        4 => face(0, 1),
        3 => edge(2),
        5 => edge(1),
        6 => edge(0),
        _ => Side::point(base),
    }
}

/// Bit k is set where component k of `d` is not zero.
#[inline(always)]
fn non_zero(d: Vec3) -> u32 {
    (d.x != 0.0) as u32 | ((d.y != 0.0) as u32) << 1 | ((d.z != 0.0) as u32) << 2
}

/// Bit k is set where component k of `x` is positive.
#[inline(always)]
fn positive(x: Vec3) -> u32 {
    (x.x > 0.0) as u32 | ((x.y > 0.0) as u32) << 1 | ((x.z > 0.0) as u32) << 2
}

/// `x` with |component| ≤ half: the nearest point of a box.
#[inline(always)]
fn clamp(x: Vec3, half: Vec3) -> Vec3 {
    let one = |x: f64, h: f64| x.min(h).max(-h);
    Vec3::new(one(x.x, half.x), one(x.y, half.y), one(x.z, half.z))
}
