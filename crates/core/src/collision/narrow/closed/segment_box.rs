//! A box and a segment (the core of a capsule).
//!
//! Apart: the squared distance of the box from the point c + a s is convex in s with a piecewise linear derivative, so
//! its minimum is found exactly. Overlapping: the three normals of faces and the three cross products of the edges
//! with the segment are all the normals that their Minkowski difference has.

use super::{CoreWitness, box_side, clamp, direction, non_zero, positive, segment_side};
use crate::spatial::{Pose, Vec3, vec3};

/// Components of the axis below this are rounding errors of a rotation matrix.
const ZERO_COMPONENT: f64 = 1e-15;
/// Cores nearer than this fraction of their size count as touching: the direction between them is rounding.
const CORES_TOUCH: f64 = 1e-13;
/// A normal may lean by this along the segment before it is corrected.
const LEAN: f64 = 1e-13;
/// A cross product must separate better than a face by this fraction of the size: at ties faces are the better normals.
const TIE: f64 = 1e-13;

/// A segment in the frame of a box.
#[derive(Clone, Copy)]
struct BoxSegment {
    c: Vec3,
    a: Vec3,
    half: f64,
}

/// Box and segment of half length `h` along the third axis of `X`.
#[inline(always)]
pub(super) fn segment_box(half: Vec3, h: f64, X: &Pose, reach: f64) -> Option<CoreWitness> {
    let snap = |x: f64| if x.abs() <= ZERO_COMPONENT { 0.0 } else { x };
    let a = X.rotation.c[2];
    let line = BoxSegment { c: X.position, a: vec3(snap(a.x), snap(a.y), snap(a.z)), half: h };
    let (c, a) = (line.c, line.a);
    let beyond = |k: usize| c[k].abs() - h * a[k].abs() - half[k];
    if beyond(0).max(beyond(1)).max(beyond(2)) > reach {
        return None;
    }
    apart(half, &line, reach).unwrap_or_else(|| overlap(half, &line, reach))
}

/// Nearest points of a box and a segment that do not touch; `None` if they do.
#[inline(always)]
fn apart(half: Vec3, line: &BoxSegment, reach: f64) -> Option<Option<CoreWitness>> {
    let (s, flat) = nearest(half, line);
    let x = line.c + line.a * s;
    let q = clamp(x, half);
    let d = x - q;
    let (raw, gap) = direction(d)?;
    if gap <= CORES_TOUCH * (half.x + half.y + half.z + line.half) {
        return None;
    }
    if gap > reach {
        return Some(None);
    }
    let Square { normal, bound } = square_to(half, line, s, raw, non_zero(d))?;
    let mut other = segment_side(s, line.half);
    other.fixed = flat && other.count == 2;
    Some(Some(CoreWitness { normal, gap, point: q, sides: [box_side(half, q, bound, positive(x)), other] }))
}

/// A normal that does not lean along the segment, and the axes across the feature of the box.
struct Square {
    normal: Vec3,
    bound: u32,
}

/// Checks that a normal is square to the interior of the segment or leans outward over its end.
#[inline(always)]
fn square_to(half: Vec3, line: &BoxSegment, s: f64, n: Vec3, bound: u32) -> Option<Square> {
    let along = n.dot(line.a);
    let wrong = if s >= line.half {
        along
    } else if s <= -line.half {
        -along
    } else {
        along.abs()
    };
    if wrong <= LEAN { Some(Square { normal: n, bound }) } else { mend(half, line, s, n, bound) }
}

/// Removes the rounding error of a normal along the segment; `None` if the rest points into the box.
#[cold]
fn mend(half: Vec3, line: &BoxSegment, s: f64, n: Vec3, bound: u32) -> Option<Square> {
    // a position beyond a limit by less than rounding is at the limit: there the normal may turn over that edge, too
    let x = line.c + line.a * s;
    let at_limit = |k: usize| {
        let noise = 8.0 * f64::EPSILON * (line.c[k].abs() + line.half + half[k]);
        bound >> k & 1 == 1 || x[k].abs() >= half[k] - noise
    };
    let bound = (0..3).filter(|&k| at_limit(k)).fold(0, |bits, k| bits | 1 << k);
    let keep = |k: usize| if bound >> k & 1 == 1 { line.a[k] } else { 0.0 };
    let across = vec3(keep(0), keep(1), keep(2));
    let part = n.dot(across) / across.dot(across);
    let (normal, rest) = direction(n - across * part)?;
    let outward = (0..3).all(|k| normal[k] * x[k] >= 0.0);
    (outward && rest > 0.5).then_some(Square { normal, bound })
}

/// Where along the segment the box is nearest, and whether a whole piece of it is equally near (then its middle).
#[inline(always)]
fn nearest(half: Vec3, line: &BoxSegment) -> (f64, bool) {
    let offset = |s: f64| {
        let x = line.c + line.a * s;
        x - clamp(x, half)
    };
    let steepness = |d: Vec3| {
        let one = |d: f64, a: f64| if d != 0.0 { a * a } else { 0.0 };
        one(d.x, line.a.x) + one(d.y, line.a.y) + one(d.z, line.a.z)
    };
    let (mut low, mut high) = (-line.half, line.half);
    // a first guess between the ends, by the slopes there
    let (d_low, d_high) = (offset(low), offset(high));
    let (g_low, g_high) = (line.a.dot(d_low), line.a.dot(d_high));
    let mut s = if g_low >= 0.0 {
        high = low;
        low
    } else if g_high <= 0.0 {
        low = high;
        high
    } else {
        low - g_low * (high - low) / (g_high - g_low)
    };
    // the slope is piecewise linear with at most seven pieces: Newton's step is exact from the right one, and every
    // step narrows the bracket
    let mut d = offset(s);
    while low < high {
        let slope = line.a.dot(d);
        if slope > 0.0 {
            high = s;
        } else if slope < 0.0 {
            low = s;
        } else {
            break;
        }
        let steep = steepness(d);
        let next = s - slope / steep;
        let next = if next > low && next < high { next } else { 0.5 * (low + high) };
        if next <= low || next >= high {
            break;
        }
        let d_next = offset(next);
        let same_piece = non_zero(d) == non_zero(d_next) && positive(d) == positive(d_next);
        let exact = same_piece && next == s - slope / steep;
        (s, d) = (next, d_next);
        if exact {
            break;
        }
    }
    if steepness(d) > 0.0 {
        return (s, false);
    }
    (piece(half, line, non_zero(d)).map_or(s, |[low, high]| 0.5 * (low + high)), true)
}

/// The piece of the segment that lies above the feature of the box across the axes `bound`, or less than rounding beside
/// it; `None` if it is empty.
#[inline(always)]
fn piece(half: Vec3, line: &BoxSegment, bound: u32) -> Option<[f64; 2]> {
    let (mut low, mut high) = (-line.half, line.half);
    for k in 0..3 {
        let (c, a) = (line.c[k], line.a[k]);
        if bound >> k & 1 == 0 && a != 0.0 {
            let limit = half[k] + CORES_TOUCH * (half.x + half.y + half.z + line.half);
            let (one, two) = ((-limit - c) / a, (limit - c) / a);
            low = low.max(one.min(two));
            high = high.min(one.max(two));
        }
    }
    (low <= high).then_some([low, high])
}

/// The direction in which a box and a segment overlap least.
fn overlap(half: Vec3, line: &BoxSegment, reach: f64) -> Option<CoreWitness> {
    let (c, a, h) = (line.c, line.a, line.half);
    let beyond = |k: usize| c[k].abs() - h * a[k].abs() - half[k];
    let mut face = 0;
    for k in 1..3 {
        if beyond(k) > beyond(face) {
            face = k;
        }
    }
    let floor = beyond(face) + TIE * (half.x + half.y + half.z + h);
    let mut best: Option<(usize, Vec3, f64)> = None;
    for k in 0..3 {
        let Some((n, _)) = direction(Vec3::UNITS[k].cross(a)) else { continue };
        let n = if n.dot(c) < 0.0 { -n } else { n };
        let gap = n.dot(c) - half.x * n.x.abs() - half.y * n.y.abs() - half.z * n.z.abs();
        if gap > best.map_or(floor, |(_, _, gap)| gap) {
            best = Some((k, n, gap));
        }
    }
    let found = match best {
        Some((k, normal, gap)) => on_edge(half, line, k, normal, gap),
        None => on_face(half, line, face, beyond(face)),
    };
    (found.gap <= reach).then_some(found)
}

/// A face of the box and the deeper end of the segment, or the middle of a segment that lies along the face.
fn on_face(half: Vec3, line: &BoxSegment, axis: usize, gap: f64) -> CoreWitness {
    let sign = if line.c[axis] < 0.0 { -1.0 } else { 1.0 };
    let fall = -sign * line.a[axis];
    // the deeper end lies above the face, but for segments that are nearly flat and win over an edge by a tie
    let [low, high] = piece(half, line, 1 << axis).unwrap_or([-line.half, line.half]);
    let s = if fall > 0.0 {
        high
    } else if fall < 0.0 {
        low
    } else {
        0.5 * (low + high)
    };
    let mut q = clamp(line.c + line.a * s, half);
    q[axis] = sign * half[axis];
    let high = if sign > 0.0 { 1 << axis } else { 0 };
    let mut other = segment_side(s, line.half);
    other.fixed = other.count == 2;
    CoreWitness { normal: Vec3::UNITS[axis] * sign, gap, point: q, sides: [box_side(half, q, 1 << axis, high), other] }
}

/// The edge of the box along `axis` and the interior of the segment.
fn on_edge(half: Vec3, line: &BoxSegment, axis: usize, normal: Vec3, gap: f64) -> CoreWitness {
    let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
    let (c, a) = (line.c, line.a);
    let mut q = vec3(half.x.copysign(normal.x), half.y.copysign(normal.y), half.z.copysign(normal.z));
    let s = -((c[i] - q[i]) * a[i] + (c[j] - q[j]) * a[j]) / (a[i] * a[i] + a[j] * a[j]);
    let s = s.min(line.half).max(-line.half);
    q[axis] = (c[axis] + a[axis] * s).min(half[axis]).max(-half[axis]);
    // nearly parallel: s has few digits, but must be the position next to q
    let s = a.dot(q - c).min(line.half).max(-line.half);
    let edge = box_side(half, q, 7 ^ 1 << axis, positive(q));
    CoreWitness { normal, gap, point: q, sides: [edge, segment_side(s, line.half)] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::narrow::closed::check::{Random, near, verify, verify_everywhere};
    use crate::collision::pair::{ShapePair, Side};
    use crate::collision::shape::{Convex, Core};
    use crate::spatial::Quat;

    fn pair(half: Vec3, length: f64, position: Vec3, turn: Vec3) -> ShapePair<'static> {
        let cores = [Core::Box { half }, Core::Segment { half: length }];
        ShapePair { shapes: cores.map(|core| Convex { core, radius: 0.0 }), X_12: Pose::new(position, Quat::exp(turn)) }
    }

    #[test]
    fn capsules_and_boxes_agree_with_the_widest_gap() {
        verify_everywhere(51, |r| {
            let half = vec3(r.scale(1e-3, 3.0), r.scale(1e-3, 3.0), r.scale(1e-3, 3.0));
            [Core::Box { half }, Core::Segment { half: r.scale(1e-3, 3.0) }]
        });
        verify_everywhere(52, |_| [Core::Box { half: vec3(1.0, 1.0, 1.0) }, Core::Segment { half: 1.0 }]);
    }

    #[test]
    fn a_segment_along_a_face_touches_with_its_middle_above_the_face() {
        let quarter = vec3(0.0, std::f64::consts::FRAC_PI_2, 0.0);
        for (height, normal) in [(1.5, 1.0), (0.5, 1.0), (-0.75, -1.0)] {
            let w = near(&pair(vec3(1.0, 1.0, 1.0), 2.0, vec3(1.5, 0.2, height), quarter));
            assert!((w.points[1] - vec3(0.25, 0.2, height)).norm() < 1e-12, "{w:?}");
            assert!((w.normal - vec3(0.0, 0.0, normal)).norm() < 1e-15 && w.sides[1].fixed, "{w:?}");
        }
    }

    #[test]
    fn a_segment_through_an_edge_is_pushed_out_across_the_edge() {
        let turn = vec3(std::f64::consts::FRAC_PI_4, 0.0, 0.0);
        let w = near(&pair(vec3(1.0, 1.0, 1.0), 1.0, vec3(0.3, 0.9, 0.9), turn));
        let h = std::f64::consts::FRAC_1_SQRT_2;
        assert!((w.normal - vec3(0.0, h, h)).norm() < 1e-15 && (w.distance + 0.2 * h).abs() < 1e-15, "{w:?}");
        assert_eq!(w.sides[0], Side::edge([6, 7], 0.65));
    }

    #[test]
    fn nearly_parallel_and_nearly_touching_capsules_keep_a_separating_normal() {
        let random = &mut Random::new(53);
        for _ in 0..5000 {
            let half = vec3(1.0, 0.5, 0.8);
            let turn = random.unit() * random.scale(1e-18, 1e-3);
            let edge = vec3(if random.below(2) == 0 { 1.0 } else { 0.3 }, 0.5, 1.5 * random.signed());
            verify(&pair(half, 0.7, edge + random.cube() * random.scale(1e-18, 0.1), turn), 1e-12, random);
        }
    }
}
