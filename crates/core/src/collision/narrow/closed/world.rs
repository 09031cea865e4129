//! The closed forms in world axes, for queries that need the nearest points only: balls need no
//! relative rotation at all, capsules one column of it.

use super::{clamp, direction, has_point_form, point, segment, segment_box};
use crate::collision::query::ClosestPoints;
use crate::collision::shape::{Convex, Core};
use crate::spatial::{Mat3, Pose, Vec3};

/// Squares of lengths between these neither underflow nor overflow.
const NOT_SMALL: f64 = 1e-280;
const NOT_LARGE: f64 = 1e280;
/// Squares of the sine between two segments, and of their distance in sizes, above which no digits are lost.
const STEEP: f64 = 1e-2;

/// Writes the nearest points of a pair that has a formula, in world axes; false if it has none.
#[inline(always)]
pub(crate) fn closed_in_world(shapes: &[Convex; 2], X_w: [&Pose; 2], found: &mut ClosestPoints) -> bool {
    let [a, b] = shapes;
    let radii = [a.radius, b.radius];
    let witness = match (&a.core, &b.core) {
        (Core::Plane, Core::Plane) => None,
        (Core::Point, Core::Point) => {
            let apart = X_w[1].position - X_w[0].position;
            let (normal, gap) = direction(apart).unwrap_or((Vec3::UNITS[2], 0.0));
            Some((normal, gap, X_w[0].position))
        }
        (Core::Plane, core) => on_plane(core, X_w),
        (core, Core::Plane) => reversed(on_plane(core, swap(X_w))),
        (core, Core::Point) if has_point_form(core) => ball(core, X_w),
        (Core::Point, core) if has_point_form(core) => reversed(ball(core, swap(X_w))),
        (Core::Segment { half: h }, Core::Segment { half: g }) => capsules([*h, *g], X_w),
        (Core::Box { half }, Core::Segment { half: h }) => boxed(*half, *h, X_w),
        (Core::Segment { half: h }, Core::Box { half }) => reversed(boxed(*half, *h, swap(X_w))),
        _ => None,
    };
    let Some((normal, gap, first)) = witness else { return false };
    found.normal = normal;
    found.distance = gap - radii[0] - radii[1];
    found.points = [first + normal * radii[0], first + normal * (gap - radii[1])];
    found.converged = true;
    true
}

/// Unit normal from core A to core B, their distance along it, and the point of core A.
type WorldWitness = (Vec3, f64, Vec3);

#[inline(always)]
fn swap<T: Copy>([a, b]: [T; 2]) -> [T; 2] {
    [b, a]
}

#[inline(always)]
fn reversed(found: Option<WorldWitness>) -> Option<WorldWitness> {
    found.map(|(normal, gap, first)| (-normal, gap, first + normal * gap))
}

#[inline(always)]
fn ball(core: &Core, [X_wa, X_wb]: [&Pose; 2]) -> Option<WorldWitness> {
    let (R, p) = (&X_wa.rotation, X_wb.position - X_wa.position);
    let quick = match *core {
        Core::Segment { half } => {
            let z = R.c[2].dot(p);
            direction(p - R.c[2] * z.min(half).max(-half))
        }
        Core::Box { half } => outside_box(half, R, p),
        Core::Cylinder { radius, half } => around_cylinder(radius, half, R, p),
        _ => None,
    };
    let (normal, gap) = match quick {
        Some(found) => found,
        None => {
            let found = point::point(core, R.tmul(p), f64::INFINITY)?;
            (*R * found.normal, found.gap)
        }
    };
    Some((normal, gap, X_wb.position - normal * gap))
}

#[inline(always)]
fn outside_box(half: Vec3, R: &Mat3, p: Vec3) -> Option<(Vec3, f64)> {
    let local = R.tmul(p);
    let d = local - clamp(local, half);
    let (turned, square) = (*R * d, d.dot(d));
    if square <= NOT_SMALL || square >= NOT_LARGE {
        return None;
    }
    let length = square.sqrt();
    Some((turned * (1.0 / length), length))
}

#[inline(always)]
fn around_cylinder(radius: f64, half: f64, R: &Mat3, p: Vec3) -> Option<(Vec3, f64)> {
    let z = R.c[2].dot(p);
    let (u, rho) = direction(p - R.c[2] * z)?;
    let (out, over, cap) = (rho - radius, z.abs() - half, R.c[2] * if z > 0.0 { 1.0 } else { -1.0 });
    if out > 0.0 && over > 0.0 {
        return direction(u * out + cap * over);
    }
    Some(if out > over { (u, out) } else { (cap, over) })
}

#[inline(always)]
fn capsules(half: [f64; 2], X_w: [&Pose; 2]) -> Option<WorldWitness> {
    let p = X_w[1].position - X_w[0].position;
    let (a, b) = (X_w[0].rotation.c[2], X_w[1].rotation.c[2]);
    let (pa, pb, ab) = (p.dot(a), p.dot(b), a.dot(b));
    let sin2 = 1.0 - ab * ab;
    let mut s = ((pa * ab - pb) / sin2).min(half[1]).max(-half[1]);
    let free = pa + ab * s;
    let t = free.min(half[0]).max(-half[0]);
    if t != free {
        s = (ab * t - pb).min(half[1]).max(-half[1]);
    }
    let v = p + b * s - a * t;
    let square = v.dot(v);
    // nearly parallel or nearly touching segments need more care
    if sin2 > STEEP && square > STEEP * (p.dot(p) + half[0] * half[0] + half[1] * half[1]) {
        let gap = square.sqrt();
        return Some((v * (1.0 / gap), gap, X_w[0].position + a * t));
    }
    let found = segment::segments(half, &axis_of(X_w), f64::INFINITY)?;
    Some((X_w[0].rotation * found.normal, found.gap, X_w[0].position + a * found.point.z))
}

#[inline(always)]
fn boxed(half: Vec3, h: f64, X_w: [&Pose; 2]) -> Option<WorldWitness> {
    let found = segment_box::segment_box(half, h, &axis_of(X_w), f64::INFINITY)?;
    Some((X_w[0].rotation * found.normal, found.gap, X_w[0].point(found.point)))
}

#[inline(always)]
fn on_plane(core: &Core, [X_wp, X_wc]: [&Pose; 2]) -> Option<WorldWitness> {
    let normal = X_wp.rotation.c[2];
    let (x, _) = core.support(-X_wc.rotation.tmul(normal), 0);
    let arm = X_wc.rotation * x;
    let gap = normal.dot(arm + (X_wc.position - X_wp.position));
    Some((normal, gap, X_wc.position + arm - normal * gap))
}

/// A point of the world in the frame of a shape.
#[inline(always)]
fn seen(X: &Pose, p: Vec3) -> Vec3 {
    X.rotation.tmul(p - X.position)
}

/// The pose of the second shape in the frame of the first, as far as segments are concerned: only the third axis counts.
#[inline(always)]
fn axis_of([X_wa, X_wb]: [&Pose; 2]) -> Pose {
    let mut X = Pose::translation(seen(X_wa, X_wb.position));
    X.rotation.c[2] = X_wa.rotation.tmul(X_wb.rotation.c[2]);
    X
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::narrow::closed::check::{Random, near};
    use crate::collision::pair::shape_pair;
    use crate::collision::query::{PairQuery, Solid, closest_points};
    use crate::error::InputError;
    use crate::model::Shape;
    use crate::spatial::vec3;

    fn shapes() -> [Shape; 7] {
        [
            Shape::Plane,
            Shape::Sphere { radius: 0.2 },
            Shape::Capsule { radius: 0.1, half_length: 0.3 },
            Shape::Cylinder { radius: 0.2, half_length: 0.3 },
            Shape::Cone { radius: 0.2, half_length: 0.3 },
            Shape::Box { half_size: vec3(0.1, 0.2, 0.3) },
            Shape::Ellipsoid { radii: vec3(0.1, 0.2, 0.3) },
        ]
    }

    fn pose(random: &mut Random, size: f64) -> Pose {
        Pose::new(random.cube() * size, random.rotation())
    }

    /// Inside, outside and far away, in both orders, against the formulas in the frame of the first shape.
    #[test]
    fn answers_in_the_world_are_those_in_the_frame_of_a_shape() {
        let random = &mut Random::new(51);
        let mut compared = 0;
        for (a, b) in shapes().iter().flat_map(|a| shapes().map(|b| (*a, b))) {
            let solids = [Solid::new(a).unwrap(), Solid::new(b).unwrap()];
            let cores = solids.each_ref().map(|s| s.convex());
            for _ in 0..500 {
                let size = random.scale(1e-3, 1.0);
                let X_w = [pose(random, size), pose(random, size)];
                let mut found =
                    ClosestPoints { distance: 0.0, normal: Vec3::ZERO, points: [Vec3::ZERO; 2], converged: false };
                if !closed_in_world(&cores, [&X_w[0], &X_w[1]], &mut found) {
                    continue;
                }
                let w = near(&shape_pair(cores[0], &X_w[0], cores[1], &X_w[1]));
                assert!((found.distance - w.distance).abs() < 1e-14, "{a:?} {b:?} {X_w:?}");
                assert!((found.normal - X_w[0].rotation * w.normal).norm() < 1e-9, "{a:?} {b:?} {X_w:?}");
                for k in 0..2 {
                    assert!((found.points[k] - X_w[0].point(w.points[k])).norm() < 1e-9, "{a:?} {b:?} {X_w:?}");
                }
                compared += 1;
            }
        }
        assert_eq!(compared, 500 * (2 * 6 + 2 * 5 + 1 + 1 + 2));
    }

    #[test]
    fn a_prepared_pair_answers_as_a_single_question_whatever_was_asked_before() {
        let random = &mut Random::new(52);
        for (a, b) in shapes().iter().flat_map(|a| shapes().map(|b| (*a, b))) {
            let solids = [Solid::new(a).unwrap(), Solid::new(b).unwrap()];
            let Ok(mut query) = PairQuery::new(&solids[0], &solids[1]) else {
                assert_eq!((a, b), (Shape::Plane, Shape::Plane));
                continue;
            };
            for _ in 0..20 {
                let X_w = [pose(random, 0.3), pose(random, 0.3)];
                let single = closest_points(&solids[0], &X_w[0], &solids[1], &X_w[1]);
                assert_eq!(query.closest_points(&X_w[0], &X_w[1]).copied(), single);
                assert_eq!(query.distance(&X_w[0], &X_w[1]), single.map(|c| c.distance));
            }
        }
    }

    #[test]
    fn a_position_that_is_not_finite_is_refused_by_every_prepared_pair() {
        let random = &mut Random::new(53);
        for (a, b) in shapes().iter().flat_map(|a| shapes().map(|b| (*a, b))) {
            let solids = [Solid::new(a).unwrap(), Solid::new(b).unwrap()];
            let Ok(mut query) = PairQuery::new(&solids[0], &solids[1]) else { continue };
            for (bad, k) in [f64::NAN, f64::INFINITY].iter().flat_map(|x| (0..6).map(move |k| (*x, k))) {
                let mut X_w = [pose(random, 0.3), pose(random, 0.3)];
                X_w[k / 3].position[k % 3] = bad;
                let what = ["first pose", "second pose"][k / 3];
                let refused = InputError::NotFinite { what, index: 9 + k % 3 };
                assert_eq!(query.closest_points(&X_w[0], &X_w[1]).copied(), Err(refused), "{a:?} {b:?}");
            }
        }
    }
}
