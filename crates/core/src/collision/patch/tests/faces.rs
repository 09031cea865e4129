//! Shapes on faces of shapes.

use super::*;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

const X: Vec3 = Vec3::UNITS[0];
const Z: Vec3 = Vec3::UNITS[2];

#[test]
fn equal_boxes_share_four_corners() {
    for noise in [0.0, 1e-13, -1e-13] {
        let patch = stacked(cube(0.5), cube(0.5), at(noise, -noise, 0.999));
        assert_eq!(atoms(&patch), [0, 1, 2, 3]);
        assert!(patch.points.iter().all(|p| (p.distance + 1e-3).abs() < 1e-15 && p.point.z == 0.5));
        assert_eq!(patch.normal, Z);
    }
}

#[test]
fn small_on_large_and_large_on_small_touch_with_the_small_box() {
    let small_on_large = stacked(cube(0.5), cube(0.2), at(0.1, 0.0, 0.7));
    assert_eq!(atoms(&small_on_large), [0, 1, 2, 3]);
    let large_on_small = stacked(cube(0.2), cube(0.5), at(0.1, 0.0, 0.7));
    assert_eq!(atoms(&large_on_small), [4, 5, 6, 7]); // the top of the small one
    assert!(large_on_small.points.iter().all(|p| matches!(p.kind, PointKind::Incident { side: 0, .. })));
    assert_eq!((large_on_small.normal, large_on_small.sides[1].count), (Z, 3));
}

#[test]
fn a_turned_box_of_the_same_size_crosses_the_edges() {
    let patch = stacked(cube(0.5), cube(0.5), Pose { rotation: turn(Z, FRAC_PI_4), ..at(0.0, 0.0, 1.0) });
    assert_eq!((patch.count, kinds(&patch)), (4, [0, 4, 0]));
    for p in points(&patch) {
        let (long, short) = (p.x.abs().max(p.y.abs()), p.x.abs().min(p.y.abs()));
        assert!((long - 0.5).abs() < 1e-15 && (short - (0.5f64.sqrt() - 0.5)).abs() < 1e-15, "{p:?}");
    }
}

#[test]
fn an_overhanging_box_has_incident_corners_crossings_and_a_corner_of_the_reference() {
    let over_edge = stacked(cube(0.5), cube(0.4), at(0.5, 0.0, 0.9));
    assert_eq!(kinds(&over_edge), [2, 2, 0]);
    let over_corner = stacked(cube(0.5), cube(0.4), at(0.5, 0.5, 0.9));
    assert_eq!(kinds(&over_corner), [1, 2, 1]);
    let mut corners = points(&over_corner).iter().map(|p| [p.x, p.y]).collect::<Vec<_>>();
    corners.sort_by(|a, b| a.partial_cmp(b).unwrap());
    for (got, expected) in corners.iter().zip([[0.1, 0.1], [0.1, 0.5], [0.5, 0.1], [0.5, 0.5]]) {
        assert!((got[0] - expected[0]).abs() < 1e-15 && (got[1] - expected[1]).abs() < 1e-15, "{corners:?}");
    }
}

#[test]
fn a_wide_plate_across_a_beam_touches_along_the_edges_of_the_beam() {
    // the larger face is the plate's: corners of neither lie over the other, unless the plate is wide enough
    let beam = sharp(Core::Box { half: vec3(2.0, 0.1, 0.1) });
    let plate = sharp(Core::Box { half: vec3(0.5, 1.0, 0.05) });
    let crossed = stacked(beam, plate, at(0.0, 0.0, 0.15));
    assert_eq!(kinds(&crossed), [0, 4, 0]);
    assert!(points(&crossed).iter().all(|p| (p.x.abs() - 0.5).abs() < 1e-15 && (p.y.abs() - 0.1).abs() < 1e-15));
}

#[test]
fn corners_of_the_reference_measure_the_distance_to_a_leaning_face() {
    // a larger reference that lies askew below a leaning box: its corner is under the box
    let lower = sharp(Core::Box { half: vec3(3.0, 0.4, 0.1) });
    let rotation = turn(vec3(0.2, 1.0, 0.0), 0.004);
    let X_12 = Pose { rotation, position: vec3(2.9, 0.3, 0.601) };
    let patch = stacked(lower, cube(0.5), X_12); // distances by `check`
    assert!(kinds(&patch)[2] >= 1, "{patch:?}");
}

#[test]
fn a_box_on_its_edge_on_a_face_has_two_points() {
    let rotation = turn(X, FRAC_PI_4);
    let inside = stacked(cube(0.5), cube(0.2), Pose { rotation, ..at(0.0, 0.0, 0.5 + 0.2 * 2f64.sqrt()) });
    assert_eq!(atoms(&inside), [0, 1]);
    let across = stacked(cube(0.1), cube(0.2), Pose { rotation, ..at(0.0, 0.0, 0.1 + 0.2 * 2f64.sqrt()) });
    assert_eq!((across.count, kinds(&across)), (2, [0, 2, 0]));
}

#[test]
fn prisms_of_many_sides_lie_on_four_points_spread_around() {
    for n in [5, 8, 24, 70] {
        let hull = regular_prism(n, 0.3, 0.2);
        let on_box = stacked(cube(0.5), sharp(Core::Hull(&hull)), at(0.0, 0.0, 0.7));
        assert_eq!(kinds(&on_box), [4, 0, 0], "{n}");
        let box_on = stacked(sharp(Core::Hull(&hull)), cube(0.1), at(0.05, 0.0, 0.3));
        assert_eq!(atoms(&box_on), [0, 1, 2, 3], "{n}");
        let other = regular_prism(n, 0.3, 0.2);
        let stack = stacked(sharp(Core::Hull(&hull)), sharp(Core::Hull(&other)), at(0.0, 0.0, 0.4));
        assert_eq!(stack.count, 4, "{n}");
        let spread = points(&stack).iter().fold(0.0, |s: f64, p| s.max((*p - stack.points[0].point).norm()));
        assert!(spread > 0.54, "{n}: {spread}");
    }
}

#[test]
fn a_capsule_on_a_box_is_cut_at_its_edge() {
    let lying = turn(Vec3::UNITS[1], FRAC_PI_2);
    let inside = stacked(cube(0.5), capsule(0.2, 0.1), Pose { rotation: lying, ..at(0.1, 0.0, 0.599) });
    assert_eq!(atoms(&inside), [0, 1]);
    assert!(inside.points[..2].iter().all(|p| (p.distance + 1e-3).abs() < 1e-14));
    let over = stacked(cube(0.5), capsule(0.2, 0.1), Pose { rotation: lying, ..at(0.45, 0.0, 0.599) });
    assert_eq!(kinds(&over), [1, 1, 0]);
    let both = stacked(cube(0.1), capsule(0.2, 0.1), Pose { rotation: lying, ..at(0.0, 0.0, 0.199) });
    assert_eq!((both.count, kinds(&both)), (2, [0, 2, 0]));
}

#[test]
fn a_cylinder_stands_lies_and_leans_on_a_box() {
    let drum = sharp(Core::Cylinder { radius: 0.2, half: 0.3 });
    let standing = stacked(cube(0.5), drum, at(0.0, 0.0, 0.8));
    assert_eq!(atoms(&standing), [0, 2, 4, 6].map(|k| cap_atom(false, k)));
    let overhanging = stacked(cube(0.5), drum, at(0.45, 0.0, 0.8));
    assert_eq!(overhanging.count, 4);
    assert!(kinds(&overhanging)[1] >= 1 && points(&overhanging).iter().all(|p| p.x <= 0.5 + 1e-15));
    let lying = stacked(cube(0.5), drum, Pose { rotation: turn(X, FRAC_PI_2), ..at(0.0, 0.0, 0.7) });
    assert_eq!(atoms(&lying), [0, 1]);
    let height = 0.3 * 0.3f64.cos() + 0.2 * 0.3f64.sin();
    let leaning = stacked(cube(0.5), drum, Pose { rotation: turn(X, 0.3), ..at(0.0, 0.0, 0.5 + height) });
    assert_eq!(atoms(&leaning), [0]);
    assert!(leaning.points[0].distance.abs() < 1e-15);
}

#[test]
fn a_box_stands_on_the_cap_of_a_cylinder_and_one_cap_on_another() {
    let drum = sharp(Core::Cylinder { radius: 0.5, half: 0.3 });
    assert_eq!(atoms(&stacked(drum, cube(0.2), at(0.0, 0.0, 0.5))), [0, 1, 2, 3]);
    // a corner within the disc but outside the octagon counts
    let corner = 0.49;
    let (sine, cosine) = (FRAC_PI_4 / 2.0).sin_cos();
    let near_rim = stacked(drum, cube(0.1), at(corner * cosine - 0.1, corner * sine - 0.1, 0.4));
    assert!(near_rim.points.iter().any(|p| p.kind == PointKind::Incident { side: 1, atom: 3 }));
    let small = sharp(Core::Cylinder { radius: 0.2, half: 0.3 });
    assert_eq!(kinds(&stacked(drum, small, at(0.1, 0.0, 0.6))), [4, 0, 0]);
    let stack = stacked(small, small, at(0.0, 0.0, 0.6));
    assert_eq!(atoms(&stack), [0, 2, 4, 6].map(|k| cap_atom(false, k)));
}

#[test]
fn a_cone_stands_on_a_box_and_a_box_on_the_base_of_a_cone() {
    let cone = sharp(Core::Cone { radius: 0.2, half: 0.3 });
    assert_eq!(atoms(&stacked(cube(0.5), cone, at(0.0, 0.0, 0.8))), [0, 2, 4, 6].map(|k| cap_atom(false, k)));
    let apex_down = Pose { rotation: turn(X, std::f64::consts::PI), ..at(0.0, 0.0, 0.8) };
    assert_eq!(atoms(&stacked(cube(0.5), cone, apex_down)), [0]);
    let pair = ShapePair { shapes: [cone, cube(0.1)], X_12: at(0.0, 0.0, -0.4) };
    let below = patch(&pair, &witness(&pair, -Z), LIMIT);
    check(&pair, &below);
    assert_eq!((atoms(&below).len(), below.normal), (4, -Z));
}

#[test]
fn a_box_lies_on_terrain_of_either_winding() {
    let corners = [[-1.0, -1.0], [1.0, -1.0], [0.0, 1.0]].map(|[x, y]| vec3(x, y, 0.0));
    for order in [[0, 1, 2], [0, 2, 1]] {
        let [a, b, c] = order.map(|k: usize| corners[k]);
        let prism = [a, b, c, a - Z, b - Z, c - Z];
        let inside = stacked(sharp(Core::Prism(&prism)), cube(0.2), at(0.0, -0.4, 0.2));
        assert_eq!(atoms(&inside), [0, 1, 2, 3]);
        let larger = stacked(sharp(Core::Prism(&prism)), cube(5.0), at(0.0, 0.0, 5.0));
        assert_eq!(atoms(&larger), [0, 1, 2]);
    }
}

#[test]
fn without_a_face_there_is_one_point() {
    let rotation = turn(vec3(1.0, 0.3, 0.2), 0.9);
    let X_12 = Pose { rotation, position: vec3(0.0, 0.0, 0.0) };
    let mut pair = ShapePair { shapes: [cube(0.5), cube(0.5)], X_12 };
    let n = X.cross(rotation.c[1]).normalized().unwrap();
    pair.X_12.position = n * 1.3;
    let w = witness(&pair, n);
    assert_eq!((w.sides[0].count, w.sides[1].count), (2, 2));
    let patch = patch(&pair, &w, 1.0);
    assert_eq!((patch.count, patch.points[0].kind, patch.normal), (1, PointKind::Nearest, n));
    assert_eq!(patch.sides, w.sides);
}

#[test]
fn if_nothing_is_near_enough_the_witness_remains() {
    let pair = ShapePair { shapes: [cube(0.5), cube(0.5)], X_12: at(0.0, 0.0, 1.5) };
    let patch = patch(&pair, &witness(&pair, Z), LIMIT);
    assert_eq!((patch.count, patch.points[0].kind), (1, PointKind::Nearest));
    assert_eq!(patch.points[0].distance, 0.5);
}
