//! What holds for every patch.

use super::*;

/// The witness of two boxes by all their separating axes.
fn boxes(pair: &ShapePair) -> Witness {
    let R = pair.X_12.rotation;
    let faces = Vec3::UNITS.into_iter().chain(R.c);
    let edges = Vec3::UNITS.into_iter().flat_map(|a| R.c.map(|b| a.cross(b).normalized().unwrap_or(a)));
    let axes = faces.map(|n| (n, 1e-12)).chain(edges.map(|n| (n, 0.0)));
    let signed = axes.flat_map(|(n, bonus)| [(n, bonus), (-n, bonus)]);
    let gap = |n: Vec3| {
        let far = |k: usize| pair.shapes[k].core.support(outward(pair, n, k), 0).0;
        n.dot(pair.X_12.point(far(1)) - far(0))
    };
    let best =
        signed.fold((f64::NEG_INFINITY, X), |b, (n, bonus)| if gap(n) + bonus > b.0 { (gap(n) + bonus, n) } else { b });
    witness(pair, best.1)
}

const X: Vec3 = Vec3::UNITS[0];

/// Two boxes that overlap a little, one nearly flat on the other or anyhow.
fn random_pair(random: &mut Random) -> ShapePair<'static> {
    let size = |random: &mut Random| random.vector() * 0.2 + vec3(0.4, 0.4, 0.4);
    let (a, b) = (size(random), size(random));
    let flat = random.next() > -0.5;
    let tilt = if flat { turn(random.vector(), 1e-2 * random.next()) } else { random.rotation() };
    let rotation = tilt * turn(Vec3::UNITS[2], 3.0 * random.next());
    let lowest = Core::Box { half: b }.support(rotation.tmul(-Vec3::UNITS[2]), 0).0;
    let height = a.z - (rotation * lowest).z - 1e-3 * random.next().abs();
    let position = vec3(0.5 * random.next(), 0.5 * random.next(), height);
    let shapes = [sharp(Core::Box { half: a }), sharp(Core::Box { half: b })];
    ShapePair { shapes, X_12: Pose { rotation, position } }
}

#[test]
fn small_tilts_never_lose_the_deepest_point() {
    let mut random = Random::new(1);
    let mut faces = 0;
    for _ in 0..20_000 {
        let pair = random_pair(&mut random);
        let w = boxes(&pair);
        let patch = patch(&pair, &w, LIMIT);
        check(&pair, &patch);
        let deepest = patch.points[0].distance;
        assert!((deepest - w.distance).abs() < 1e-11, "{deepest} {w:?}");
        faces += (patch.count > 1) as usize;
    }
    assert!(faces > 5_000, "{faces}");
}

#[test]
fn exchanging_the_shapes_mirrors_the_patch() {
    let mut random = Random::new(2);
    for _ in 0..5_000 {
        let pair = random_pair(&mut random);
        let w = boxes(&pair);
        let there = patch(&pair, &w, LIMIT);
        let X_21 = pair.X_12.inverse();
        let swapped = ShapePair { shapes: [pair.shapes[1], pair.shapes[0]], X_12: X_21 };
        let turned = Witness {
            normal: X_21.rotation * -w.normal,
            points: [X_21.point(w.points[1]), X_21.point(w.points[0])],
            sides: [w.sides[1], w.sides[0]],
            ..w
        };
        let back = patch(&swapped, &turned, LIMIT);
        assert_eq!(there.count, back.count);
        assert!((pair.X_12.rotation * back.normal + there.normal).norm() < 1e-14);
        for p in &there.points[..there.count] {
            let same = |q: &PatchPoint| (pair.X_12.point(q.point) - p.point).norm() + (q.distance - p.distance).abs();
            assert!(back.points[..back.count].iter().any(|q| same(q) < 1e-13), "{there:?} {back:?}");
        }
    }
}

#[test]
fn the_patch_moves_along_when_both_shapes_do() {
    // hulls may be described in any frame, and the frame of the pair is that of shape 1: so this moves everything
    let mut random = Random::new(4);
    let prisms = [regular_prism(6, 0.5, 0.3), regular_prism(5, 0.4, 0.2)];
    for _ in 0..500 {
        let rotation = turn(random.vector(), 5e-3 * random.next()) * turn(Vec3::UNITS[2], 3.0 * random.next());
        let lowest = Core::Hull(&prisms[1]).support(rotation.tmul(-Vec3::UNITS[2]), 0).0;
        let position = vec3(0.4 * random.next(), 0.4 * random.next(), 0.3 - (rotation * lowest).z);
        let X_12 = Pose { rotation, position };
        let pair = ShapePair { shapes: [0, 1].map(|k| sharp(Core::Hull(&prisms[k]))), X_12 };
        let w = witness(&pair, Vec3::UNITS[2]);
        if !(0..6).all(|k| regular_side(k, w.sides[1].point_of(&pair.shapes[1].core, X), &X_12)) {
            continue; // the lowest corner is beside the face, so z is not the normal
        }
        let here = patch(&pair, &w, LIMIT);
        check(&pair, &here);
        let motion = Pose { rotation: random.rotation(), position: random.vector() };
        let moved = moved_hull(&prisms[0], &motion);
        let shapes = [sharp(Core::Hull(&moved)), sharp(Core::Hull(&prisms[1]))];
        let moved_pair = ShapePair { shapes, X_12: motion * X_12 };
        let moved_witness =
            Witness { normal: motion.rotation * w.normal, points: w.points.map(|p| motion.point(p)), ..w };
        let there = patch(&moved_pair, &moved_witness, LIMIT);
        check(&moved_pair, &there);
        assert_eq!(here.count, there.count);
        for (p, q) in here.points[..here.count].iter().zip(&there.points) {
            assert!((motion.point(p.point) - q.point).norm() < 1e-13 && (p.distance - q.distance).abs() < 1e-13);
            assert_eq!(p.kind, q.kind);
        }
    }
}

/// Whether a point of shape 2 is on the inner side of wall `k` of the hexagonal prism.
fn regular_side(k: usize, p: Vec3, X_12: &Pose) -> bool {
    let turn = std::f64::consts::TAU * (k as f64 + 0.5) / 6.0;
    let p = X_12.point(p);
    turn.cos() * p.x + turn.sin() * p.y < 0.5 * (std::f64::consts::TAU / 12.0).cos()
}

fn moved_hull(hull: &Hull, motion: &Pose) -> Hull {
    let vertices = hull.vertices.iter().map(|v| motion.point(*v)).collect();
    let n = hull.vertices.len() / 2;
    let triangles = triangles_of(n);
    Hull::new(&Mesh { name: "moved".into(), vertices, triangles })
}

#[test]
fn the_same_arguments_give_the_same_bits() {
    let mut random = Random::new(5);
    for _ in 0..1_000 {
        let pair = random_pair(&mut random);
        let w = boxes(&pair);
        assert_eq!(patch(&pair, &w, LIMIT), patch(&pair, &w, LIMIT));
    }
}

#[test]
fn names_of_features_tell_them_apart_and_ignore_the_order_of_atoms() {
    let sides = [Side::edge([3, 5], 0.2), Side::face([1, 2, 7], [0.2, 0.3, 0.5])];
    let turned = [Side::edge([5, 3], 0.8), Side::face([7, 1, 2], [0.5, 0.2, 0.3])];
    let name = |kind: PointKind| feature_key(&kind, &sides);
    assert_eq!(name(PointKind::Nearest), feature_key(&PointKind::Nearest, &turned));
    let crossing = |edge, reference| name(PointKind::Crossing { side: 0, edge, reference });
    assert_eq!(crossing([1, 2], [3, 4]), crossing([2, 1], [4, 3]));
    let mut names = vec![name(PointKind::Nearest), feature_key(&PointKind::Nearest, &[sides[1], sides[0]])];
    for side in 0..2 {
        for atom in 0..1000 {
            names.push(name(PointKind::Incident { side, atom }));
            names.push(name(PointKind::Reference { side, atom, face: [0, 1, 2] }));
        }
        for k in 0..30 {
            for l in 0..30 {
                names.push(name(PointKind::Crossing { side, edge: [k, k + 1], reference: [l, l + 1] }));
            }
        }
    }
    let n = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), n);
}

#[test]
fn an_infinite_limit_is_no_trouble() {
    let mut random = Random::new(6);
    for _ in 0..200 {
        let pair = random_pair(&mut random);
        let w = boxes(&pair);
        let patch = patch(&pair, &w, f64::INFINITY);
        assert!((patch.points[0].distance - w.distance).abs() < 1e-11);
        assert!(points(&patch).iter().all(|p| p.is_finite()));
    }
}
