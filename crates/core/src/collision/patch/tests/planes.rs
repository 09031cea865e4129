//! Shapes on a plane.

use super::*;
use std::f64::consts::FRAC_PI_4;

const X: Vec3 = Vec3::UNITS[0];

fn on_plane(shape: Convex, rotation: Mat3, height: f64) -> Patch {
    stacked(PLANE, shape, Pose { rotation, position: vec3(0.3, -0.2, height) })
}

#[test]
fn a_box_lies_on_four_corners() {
    let patch = on_plane(cube(0.5), Mat3::IDENTITY, 0.499);
    assert_eq!(atoms(&patch), [0, 1, 2, 3]);
    assert!(patch.points.iter().all(|p| (p.distance + 1e-3).abs() < 1e-15 && p.point.z == 0.0));
    assert_eq!(patch.normal, Vec3::UNITS[2]);
    assert_eq!((patch.sides[0].count, patch.sides[0].fixed, patch.sides[1].fixed), (3, false, true));
}

#[test]
fn a_box_on_its_edge_has_two_points_and_on_its_corner_one() {
    let edge = on_plane(cube(0.5), turn(X, FRAC_PI_4), 0.5f64.sqrt());
    assert_eq!(atoms(&edge), [0, 1]);
    let tip = turn(vec3(1.0, -1.0, 0.0), (1.0 / 3f64.sqrt()).acos());
    let corner = on_plane(cube(0.5), tip, 0.75f64.sqrt());
    assert_eq!(corner.count, 1);
    assert_eq!(atoms(&corner).len(), 1);
    assert!(corner.points[0].distance.abs() < 1e-12);
}

#[test]
fn a_tilted_box_keeps_the_corners_within_the_limit() {
    // corners 1 m apart: at 0.005 rad the far ones are 5 mm higher, at 0.02 rad 20 mm
    assert_eq!(on_plane(cube(0.5), turn(X, 0.005), 0.5).count, 4);
    assert_eq!(on_plane(cube(0.5), turn(X, 0.02), 0.5 + 0.01).count, 2);
}

#[test]
fn a_small_box_within_the_limit_lies_on_its_bottom() {
    let patch = on_plane(cube(1e-3), Mat3::IDENTITY, 1e-3);
    assert_eq!(atoms(&patch), [0, 1, 2, 3]);
}

#[test]
fn a_capsule_lies_on_two_points_and_stands_on_one() {
    let lying = on_plane(capsule(0.4, 0.1), turn(X, 2.0 * FRAC_PI_4), 0.0995);
    assert_eq!(atoms(&lying), [0, 1]);
    assert!(lying.points[..2].iter().all(|p| (p.distance + 5e-4).abs() < 1e-15));
    assert_eq!(atoms(&on_plane(capsule(0.4, 0.1), Mat3::IDENTITY, 0.5)), [0]);
}

#[test]
fn a_sphere_has_a_single_point() {
    let ball = Convex { core: Core::Point, radius: 0.1 };
    let patch = on_plane(ball, Mat3::IDENTITY, 0.099);
    assert_eq!((patch.count, patch.points[0].kind), (1, PointKind::Nearest));
}

#[test]
fn a_cylinder_stands_on_four_points_of_its_cap_in_any_slight_tilt() {
    let drum = sharp(Core::Cylinder { radius: 0.2, half: 0.3 });
    for tilt in [0.0, 1e-12, 1e-6, 9e-4] {
        let patch = on_plane(drum, turn(vec3(0.3, 1.0, 0.0), tilt), 0.3);
        assert_eq!(atoms(&patch), [0, 2, 4, 6].map(|k| cap_atom(false, k)), "{tilt}");
    }
    let upside_down = on_plane(drum, turn(X, std::f64::consts::PI), 0.3);
    assert_eq!(atoms(&upside_down), [0, 2, 4, 6].map(|k| cap_atom(true, k)));
}

#[test]
fn a_tilted_cylinder_has_its_deepest_rim_point_and_the_far_cap_points() {
    let drum = sharp(Core::Cylinder { radius: 0.2, half: 0.3 });
    let patch = on_plane(drum, turn(vec3(0.1, 1.0, 0.0), 0.01), 0.302);
    assert_eq!(atoms(&patch).len(), 4);
    assert!(matches!(patch.points[0].kind, PointKind::Incident { atom: 0, .. }));
    let rotation = turn(vec3(0.1, 1.0, 0.0), 0.5);
    let leaning = on_plane(drum, rotation, 0.3 * 0.5f64.cos() + 0.2 * 0.5f64.sin());
    assert_eq!(atoms(&leaning), [0]);
    assert!(leaning.points[0].distance.abs() < 1e-15);
}

#[test]
fn a_lying_cylinder_has_the_two_ends_of_a_generator() {
    let drum = sharp(Core::Cylinder { radius: 0.2, half: 0.3 });
    let patch = on_plane(drum, turn(X, 2.0 * FRAC_PI_4), 0.2);
    assert_eq!(atoms(&patch), [0, 1]);
    // also a thin one, whose other points are within the limit
    let needle = sharp(Core::Cylinder { radius: 0.001, half: 0.3 });
    assert_eq!(atoms(&on_plane(needle, turn(X, 2.0 * FRAC_PI_4), 0.001)), [0, 1]);
}

#[test]
fn a_cone_stands_on_its_base_lies_on_a_generator_and_balances_on_its_apex() {
    let cone = sharp(Core::Cone { radius: 0.2, half: 0.3 });
    assert_eq!(atoms(&on_plane(cone, Mat3::IDENTITY, 0.3)), [0, 2, 4, 6].map(|k| cap_atom(false, k)));
    let slope = (0.2f64 / 0.6).atan();
    let rotation = turn(X, 2.0 * FRAC_PI_4 + slope);
    let apex = (rotation * vec3(0.0, 0.0, 0.3)).z;
    assert_eq!(atoms(&on_plane(cone, rotation, -apex)), [0, 1]);
    assert_eq!(atoms(&on_plane(cone, turn(X, 4.0 * FRAC_PI_4), 0.3)), [0]);
    assert_eq!(atoms(&on_plane(cone, turn(X, 3.5 * FRAC_PI_4), 0.28)), [0]);
}

#[test]
fn hulls_small_and_large_lie_on_their_bottom() {
    let eight = regular_prism(8, 0.3, 0.2);
    assert_eq!(atoms(&on_plane(sharp(Core::Hull(&eight)), Mat3::IDENTITY, 0.2)), [0, 2, 4, 6]);
    // the outermost in eight directions
    for n in [40, 200] {
        let many = regular_prism(n, 0.3, 0.2);
        let patch = on_plane(sharp(Core::Hull(&many)), Mat3::IDENTITY, 0.2);
        assert_eq!(atoms(&patch), [0, 1, 2, 3].map(|k| (k * n / 4) as u32), "{n}");
    }
}

#[test]
fn the_search_over_a_hull_finds_the_outermost_low_vertices() {
    let mut random = Random::new(3);
    let hull = regular_prism(30, 0.3, 0.2);
    for _ in 0..200 {
        let rotation = turn(random.vector(), 0.015 * random.next());
        let pair = ShapePair {
            shapes: [PLANE, sharp(Core::Hull(&hull))],
            X_12: Pose { rotation, position: at(0.0, 0.0, 0.2).position },
        };
        let w = witness(&pair, Vec3::UNITS[2]);
        let incident = Incident { side: 1, radii: 0.0 };
        let found = on_plane::hull_vertices(&hull, &pair.X_12, w.sides[1].atoms[0], incident, LIMIT);
        let below: Vec<Vec3> = hull.vertices.iter().map(|v| pair.X_12.point(*v)).filter(|p| p.z < LIMIT).collect();
        let deepest = below.iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
        let found = found.as_slice();
        assert!(found.iter().any(|c| c.distance == deepest));
        assert!(found.iter().all(|c| c.distance < LIMIT));
        for [x, y] in [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0], [0.7, 0.7], [-0.7, 0.7]] {
            let reach = below.iter().map(|p| x * p.x + y * p.y).fold(0.0, f64::max);
            let reached = found.iter().map(|c| x * c.x + y * c.y).fold(0.0, f64::max);
            assert!(reached > 0.9 * reach, "{reached} of {reach}");
        }
    }
}

#[test]
fn a_piece_of_terrain_on_a_plane_below_has_three_points() {
    let corners = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]].map(|[x, y]| vec3(x, y, 0.0));
    let below = corners.map(|c| c - Vec3::UNITS[2]);
    let prism = [corners[0], corners[1], corners[2], below[0], below[1], below[2]];
    assert_eq!(atoms(&on_plane(sharp(Core::Prism(&prism)), Mat3::IDENTITY, 1.0)), [3, 4, 5]);
}

#[test]
fn the_plane_may_be_the_second_shape() {
    let X_12 = Pose { rotation: turn(vec3(1.0, 2.0, 3.0), 0.7), position: vec3(0.1, 0.2, -0.3) };
    let n_plane = X_12.rotation.c[2];
    // a box whose face lies along that plane would be no test: this one has a corner on it
    let shapes = [cube(0.2), PLANE];
    let reach = n_plane.x.abs() + n_plane.y.abs() + n_plane.z.abs();
    let pair = ShapePair { shapes, X_12: Pose { position: n_plane * (-0.2 * reach), ..X_12 } };
    let patch = patch(&pair, &witness(&pair, -n_plane), LIMIT);
    check(&pair, &patch);
    assert_eq!(patch.normal, -n_plane);
    assert!(matches!(patch.points[0].kind, PointKind::Incident { side: 0, .. }));
    assert!(patch.points[0].distance.abs() < 1e-15);
}
