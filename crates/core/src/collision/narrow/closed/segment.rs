//! Two segments (the cores of capsules).

use super::{CoreWitness, direction, segment_side};
use crate::spatial::{Pose, Vec3, vec3};

/// Sine of the angle below which segments count as parallel: the rounding error of a rotation matrix.
const PARALLEL_SEGMENTS: f64 = 1e-15;
/// A normal may lean by this over the end of a segment, or along its interior, before it is corrected.
const LEAN: f64 = 1e-14;
/// Beyond this fraction of the half length a position differs from the end by rounding only.
const AT_END: f64 = 1.0 - 4.0 * f64::EPSILON;

/// Segment of half length `half[0]` along z and segment of half length `half[1]` along the third axis of `X`.
#[inline(always)]
pub(super) fn segments(half: [f64; 2], X: &Pose, reach: f64) -> Option<CoreWitness> {
    let (c, a) = (X.position, X.rotation.c[2]);
    let sin2 = a.x * a.x + a.y * a.y;
    if sin2 <= PARALLEL_SEGMENTS * PARALLEL_SEGMENTS {
        return parallel(half, c, a, reach);
    }
    // nearest points of the lines, seen along z; then whichever end lies beyond
    let mut s = (-(c.x * a.x + c.y * a.y) / sin2).min(half[1]).max(-half[1]);
    let free = c.z + a.z * s;
    let t = free.min(half[0]).max(-half[0]);
    if t != free {
        s = (a.z * t - c.dot(a)).min(half[1]).max(-half[1]);
    }
    let v = vec3(c.x + a.x * s, c.y + a.y * s, (c.z + a.z * s) - t);
    let square = v.dot(v);
    if reach < 0.0 || square > reach * reach {
        return None;
    }
    let normal = normal(v, t, s, half, c, a);
    let sides = [segment_side(t, half[0]), segment_side(s, half[1])];
    Some(CoreWitness { normal, gap: normal.dot(v), point: vec3(0.0, 0.0, t), sides })
}

/// The part of a direction `along` a segment that is inadmissible at the position `x` on it: outward at an end is
/// admissible, anything along the interior is not.
#[inline(always)]
fn lean(along: f64, x: f64, half: f64) -> f64 {
    let end = half * AT_END;
    if x >= end {
        (-along).max(0.0)
    } else if x <= -end {
        along.max(0.0)
    } else {
        along.abs()
    }
}

/// Unit vector along `v`. Where the segments nearly touch, v is mostly rounding and leans over what it should be square
/// to: then the cross product of the axes takes over, step by step.
#[inline(always)]
fn normal(v: Vec3, t: f64, s: f64, half: [f64; 2], c: Vec3, a: Vec3) -> Vec3 {
    let noise = f64::EPSILON * (half[0] + half[1]);
    if let Some((n, length)) = direction(v)
        && length > 4.0 * noise
    {
        let leans = |n: Vec3| [lean(n.z, t, half[0]) > LEAN, lean(-n.dot(a), s, half[1]) > LEAN];
        if leans(n) == [false; 2] {
            return n;
        }
        // what must be square comes first: the interior of a segment before an end
        let axes = [Vec3::UNITS[2], a];
        let order = if s.abs() < half[1] * AT_END { [1, 0] } else { [0, 1] };
        let mut mended = n;
        for k in order.into_iter().filter(|&k| leans(n)[k]) {
            let Some((m, _)) = direction(mended - axes[k] * mended.dot(axes[k])) else { break };
            if leans(m) == [false; 2] {
                return m;
            }
            mended = m;
        }
    }
    let (n, _) = direction(vec3(-a.y, a.x, 0.0)).unwrap_or((Vec3::UNITS[0], 0.0));
    if n.dot(c) < 0.0 { -n } else { n }
}

/// Parallel segments touch half-way along their overlap, or with their ends.
#[cold]
fn parallel(half: [f64; 2], c: Vec3, a: Vec3, reach: f64) -> Option<CoreWitness> {
    let (low, high) = ((c.z - half[1]).max(-half[0]), (c.z + half[1]).min(half[0]));
    let up = if c.z < 0.0 { -1.0 } else { 1.0 };
    let (t, v) = if low <= high {
        (0.5 * (low + high), vec3(c.x, c.y, 0.0))
    } else {
        (up * half[0], vec3(c.x, c.y, up * (c.z.abs() - half[0] - half[1])))
    };
    let along = if a.z < 0.0 { c.z - t } else { t - c.z };
    let s = along.min(half[1]).max(-half[1]);
    // segments of one line: past each other along it, or inside each other
    let fallback = if low < high { Vec3::UNITS[0] } else { vec3(0.0, 0.0, up) };
    let (normal, gap) = direction(v).unwrap_or((fallback, 0.0));
    if gap > reach {
        return None;
    }
    let mut sides = [segment_side(t, half[0]), segment_side(s, half[1])];
    // two free slides along one line would leave the position undetermined
    sides[1].fixed = sides[0].count == 2 && sides[1].count == 2;
    Some(CoreWitness { normal, gap, point: vec3(0.0, 0.0, t), sides })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::narrow::closed::check::{Random, near, verify, verify_everywhere};
    use crate::collision::pair::ShapePair;
    use crate::collision::shape::{Convex, Core};
    use crate::spatial::Quat;

    fn pair(half: [f64; 2], position: Vec3, turn: Vec3) -> ShapePair<'static> {
        let shapes = half.map(|half| Convex { core: Core::Segment { half }, radius: 0.1 });
        ShapePair { shapes, X_12: Pose::new(position, Quat::exp(turn)) }
    }

    #[test]
    fn capsules_agree_with_the_widest_gap() {
        verify_everywhere(41, |r| [1, 2].map(|_| Core::Segment { half: r.scale(1e-3, 3.0) }));
        verify_everywhere(42, |_| [1, 2].map(|_| Core::Segment { half: 1.0 }));
        verify_everywhere(43, |r| [Core::Segment { half: 1e-9 }, Core::Segment { half: r.scale(1e-3, 1e3) }]);
    }

    #[test]
    fn segments_that_cross_get_the_cross_product_of_their_axes() {
        let w = near(&pair([1.0, 2.0], vec3(0.0, 0.3, 0.2), vec3(std::f64::consts::FRAC_PI_2, 0.0, 0.0)));
        assert!((w.normal.x.abs() - 1.0).abs() < 1e-15 && (w.distance + 0.2).abs() < 1e-15, "{w:?}");
        assert_eq!(w.sides.map(|s| s.count), [2, 2]);
    }

    #[test]
    fn segments_of_one_line_push_along_it_when_their_ends_touch_and_across_it_when_they_overlap() {
        let ends = near(&pair([1.0, 2.0], vec3(0.0, 0.0, -3.0), Vec3::ZERO));
        assert_eq!((ends.normal, ends.sides.map(|s| s.atoms[0])), (vec3(0.0, 0.0, -1.0), [0, 1]));
        let inside = near(&pair([1.0, 2.0], vec3(0.0, 0.0, 0.5), Vec3::ZERO));
        assert_eq!((inside.normal, inside.sides[1].fixed), (Vec3::UNITS[0], true));
    }

    #[test]
    fn parallel_segments_touch_half_way_along_their_overlap() {
        let w = near(&pair([1.0, 2.0], vec3(1.0, 0.0, 2.0), vec3(std::f64::consts::PI, 0.0, 0.0)));
        assert!((w.points[0] - vec3(0.1, 0.0, 0.5)).norm() < 1e-15 && (w.distance - 0.8).abs() < 1e-15, "{w:?}");
        assert!(w.sides[1].fixed && !w.sides[0].fixed);
    }

    #[test]
    fn nearly_parallel_and_nearly_touching_segments_keep_a_separating_normal() {
        let random = &mut Random::new(44);
        for _ in 0..5000 {
            let turn = random.unit() * random.scale(1e-18, 1e-3);
            let aside = random.cube() * random.scale(1e-18, 1.0);
            verify(&pair([1.0, 0.7], aside + vec3(0.0, 0.0, 1.8 * random.signed()), turn), 1e-12, random);
        }
    }
}
