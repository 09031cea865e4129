//! Edges along edges.

use super::*;
use std::f64::consts::FRAC_PI_4;

const X: Vec3 = Vec3::UNITS[0];
const Z: Vec3 = Vec3::UNITS[2];

fn side_by_side<'a>(a: Convex<'a>, b: Convex<'a>, X_12: Pose, sides: [Side; 2]) -> Patch {
    let pair = ShapePair { shapes: [a, b], X_12 };
    let w = Witness { sides, ..witness(&pair, X) };
    let d = [outward(&pair, X, 0), outward(&pair, X, 1)];
    let x1 = sides[0].point_of(&a.core, d[0]) + X * a.radius;
    let x2 = X_12.point(sides[1].point_of(&b.core, d[1])) - X * b.radius;
    let patch = patch(&pair, &Witness { points: [x1, x2], distance: X.dot(x2 - x1), ..w }, LIMIT);
    assert!(patch.points[..patch.count].iter().all(|p| p.distance < LIMIT));
    patch
}

#[test]
fn a_short_capsule_along_a_long_one_touches_with_both_ends() {
    let sides = [Side::edge([0, 1], 0.5), Side::edge([0, 1], 0.5)];
    let patch = side_by_side(capsule(1.0, 0.1), capsule(0.3, 0.2), at(0.299, 0.0, 0.2), sides);
    assert_eq!(atoms(&patch), [0, 1]);
    assert!(patch.points[..2].iter().all(|p| (p.distance + 1e-3).abs() < 1e-15 && (p.point.x - 0.1).abs() < 1e-15));
    assert!(patch.points[..2].iter().all(|p| matches!(p.kind, PointKind::Incident { side: 1, .. })));
    assert_eq!(patch.sides.map(|s| s.fixed), [false, true]);
    let swapped = side_by_side(capsule(0.3, 0.2), capsule(1.0, 0.1), at(0.299, 0.0, 0.2), sides);
    assert!(swapped.points[..2].iter().all(|p| matches!(p.kind, PointKind::Incident { side: 0, .. })));
    assert!(swapped.points[..2].iter().all(|p| (p.point.x - (0.299 - 0.1)).abs() < 1e-15));
    assert_eq!(swapped.sides.map(|s| s.fixed), [true, false]);
}

#[test]
fn staggered_capsules_touch_with_an_end_of_each() {
    let sides = [Side::edge([0, 1], 0.8), Side::edge([0, 1], 0.2)];
    let patch = side_by_side(capsule(0.5, 0.1), capsule(0.5, 0.1), at(0.2, 0.0, 0.6), sides);
    assert_eq!(patch.count, 2);
    let mut ends: Vec<_> = patch.points[..2].iter().map(|p| p.point.z).collect();
    ends.sort_by(f64::total_cmp);
    assert!((ends[0] - 0.1).abs() < 1e-15 && (ends[1] - 0.5).abs() < 1e-15);
    let beyond = side_by_side(capsule(0.5, 0.1), capsule(0.5, 0.1), at(0.2, 0.0, 1.0), sides);
    assert_eq!((beyond.count, beyond.points[0].kind), (1, PointKind::Nearest));
}

#[test]
fn a_slight_angle_still_gives_two_points_with_their_own_distances() {
    // the lower end of the second is nearest
    let rotation = turn(Vec3::UNITS[1], 5e-4);
    let sides = [Side::edge([0, 1], 0.35), Side::point(0)];
    let X_12 = Pose { rotation, position: vec3(0.2 + 0.3 * 5e-4f64.sin(), 0.0, 0.0) };
    let patch = side_by_side(capsule(1.0, 0.1), capsule(0.3, 0.1), X_12, sides);
    assert_eq!(patch.count, 2);
    assert!(patch.points[0].distance.abs() < 1e-15);
    assert!((patch.points[1].distance - 0.6 * 5e-4f64.sin()).abs() < 1e-15);
    assert!((patch.points[0].point.x - patch.points[1].point.x).abs() < 1e-15);
    let crossed = Pose { rotation: turn(X, 0.01), position: vec3(0.2, 0.0, 0.0) };
    let sides = [Side::edge([0, 1], 0.5), Side::edge([0, 1], 0.5)];
    assert_eq!(side_by_side(capsule(1.0, 0.1), capsule(0.3, 0.1), crossed, sides).count, 1);
}

#[test]
fn cylinders_and_edges_of_boxes_lie_along_each_other() {
    let drum = sharp(Core::Cylinder { radius: 0.1, half: 0.5 });
    let sides = [Side::edge([0, 1], 0.5), Side::edge([0, 1], 0.5)];
    let patch = side_by_side(drum, capsule(0.3, 0.2), at(0.3, 0.0, 0.0), sides);
    assert_eq!((atoms(&patch), patch.points[0].point.x), (vec![0, 1], 0.1));
    // an edge of a box, standing on its edge, against the drum: its touching edge is from corner 0 to corner 4
    let rotation = turn(Z, FRAC_PI_4);
    let X_12 = Pose { rotation, position: vec3(0.1 + 0.2 * 2f64.sqrt(), 0.0, 0.1) };
    let touched = touching(&Core::Box { half: vec3(0.2, 0.2, 0.2) }, rotation.tmul(-X));
    assert_eq!(touched.count, 2);
    let patch = side_by_side(drum, cube(0.2), X_12, [Side::edge([0, 1], 0.5), touched]);
    assert_eq!(patch.count, 2);
    let corner = Side::point(touched.atoms[0]);
    let by_corner = side_by_side(drum, cube(0.2), X_12, [Side::edge([0, 1], 0.4), corner]);
    assert_eq!(by_corner.count, 2);
}

#[test]
fn points_and_ends_alone_stay_one_point() {
    let ends = side_by_side(capsule(0.5, 0.1), capsule(0.5, 0.1), at(0.2, 0.0, 0.0), [Side::point(1), Side::point(1)]);
    assert_eq!(ends.count, 1);
    let ball = Convex { core: Core::Point, radius: 0.1 };
    let sides = [Side::edge([0, 1], 0.5), Side::point(0)];
    assert_eq!(side_by_side(capsule(0.5, 0.1), ball, at(0.2, 0.0, 0.0), sides).count, 1);
}
