use crate::collision::detect::shape_of;
use crate::collision::{
    CollisionGradient, Contact, ContactSet, contact_derivatives, detect, geom_distance, raycast_model,
};
use crate::error::BuildError;
use crate::model::{
    FieldId, GeomId, GeomSpec, HeightField, JointKind, JointSpec, Mesh, MeshId, Model, ModelBuilder, Shape,
};
use crate::spatial::{BodyInertia, Pose, Quat, Sym3, Vec3, vec3};

fn field(rows: usize, columns: usize, half_size: [f64; 2], height: impl Fn(f64, f64) -> f64) -> HeightField {
    let at = |k: usize, n: usize, half: f64| half * (2.0 * k as f64 / (n - 1) as f64 - 1.0);
    let point = |k: usize| (at(k % columns, columns, half_size[0]), at(k / columns, rows, half_size[1]));
    let heights = (0..rows * columns).map(|k| height(point(k).0, point(k).1)).collect();
    HeightField { name: "ground".into(), half_size, rows, columns, heights, base: 1.0 }
}

/// Steps of 0.2 m length and 0.1 m height that rise along x, closed below.
fn stairs(n: usize) -> Mesh {
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    let mut quad = |corners: [Vec3; 4]| {
        let k = vertices.len() as u32;
        vertices.extend(corners);
        triangles.extend([[k, k + 1, k + 2], [k, k + 2, k + 3]]);
    };
    for k in 0..n {
        let (x, z) = (0.2 * k as f64, 0.1 * k as f64);
        quad([vec3(x, -1.0, z), vec3(x + 0.2, -1.0, z), vec3(x + 0.2, 1.0, z), vec3(x, 1.0, z)]);
        quad([vec3(x, -1.0, z), vec3(x, 1.0, z), vec3(x, 1.0, z - 0.1), vec3(x, -1.0, z - 0.1)]);
    }
    Mesh { name: "stairs".into(), vertices, triangles }
}

enum Soil {
    Field(HeightField),
    Mesh(Mesh),
}

/// The ground is geom 0 and the shape geom 1; the other way round if `swapped`.
fn model(soil: Soil, at: Pose, shape: Shape, swapped: bool) -> Model {
    let mut b = ModelBuilder::new("ground");
    let ground = match soil {
        Soil::Field(field) => Shape::HeightField { field: b.add_field(field) },
        Soil::Mesh(mesh) => Shape::Terrain { mesh: b.add_mesh(mesh) },
    };
    let ground = GeomSpec { pose: at, ..GeomSpec::new("ground", ground) };
    let inertia = BodyInertia { mass: 1.0, com: Vec3::ZERO, about_com: Sym3::diagonal(vec3(0.1, 0.1, 0.1)) };
    let joint = JointSpec::new("joint", JointKind::Free);
    let link = b.add_link(ModelBuilder::WORLD, "body", Pose::IDENTITY, inertia, vec![joint]);
    let mut geoms = [(ModelBuilder::WORLD, ground), (link, GeomSpec::new("shape", shape))];
    if swapped {
        geoms.reverse();
    }
    for (link, geom) in geoms {
        b.add_geom(link, geom);
    }
    b.options.contact_distance = 0.02;
    b.build().expect("sound")
}

fn contacts(model: &Model, X: Pose) -> Vec<Contact> {
    let mut set = ContactSet::new(model);
    detect(model, &[Pose::IDENTITY, X], &mut set).expect("finite poses");
    assert_eq!(set.unconverged(), 0);
    set.contacts().to_vec()
}

fn least(contacts: &[Contact]) -> f64 {
    contacts.iter().map(|c| c.distance).fold(f64::INFINITY, f64::min)
}

fn shapes() -> [Shape; 6] {
    [
        Shape::Sphere { radius: 0.1 },
        Shape::Capsule { radius: 0.05, half_length: 0.2 },
        Shape::Cylinder { radius: 0.1, half_length: 0.15 },
        Shape::Cone { radius: 0.1, half_length: 0.15 },
        Shape::Box { half_size: vec3(0.1, 0.15, 0.2) },
        Shape::Ellipsoid { radii: vec3(0.1, 0.2, 0.15) },
    ]
}

/// Poses all over the ground at the height where the lowest point is `distance` above the plane n·x = level.
fn resting(model: &Model, shape: GeomId, k: usize, normal: Vec3, distance: f64) -> Pose {
    let t = k as f64;
    let turn = Quat::exp(vec3(1.3 * t, 0.7 * t, 0.3 * t));
    let place = vec3(0.31 * (1.7 * t).sin(), 0.29 * (2.3 * t).cos(), 0.0);
    let X = Pose::new(place, turn);
    let convex = shape_of(model, shape);
    let d = X.rotation.tmul(-normal);
    let lowest = normal.dot(X.position) + normal.dot(X.rotation * convex.core.support(d, 0).0) - convex.radius;
    Pose { position: X.position + vec3(0.0, 0.0, (distance - lowest) / normal.z), ..X }
}

#[test]
fn flat_ground_is_like_a_plane() {
    for shape in shapes() {
        let model = model(Soil::Field(field(21, 31, [1.0, 1.0], |_, _| 0.0)), Pose::IDENTITY, shape, false);
        for k in 0..60 {
            let distance = [-0.03, -1e-3, 0.0, 1e-3, 0.015][k % 5];
            let found = contacts(&model, resting(&model, GeomId(1), k, Vec3::UNITS[2], distance));
            assert!(!found.is_empty() && found.len() <= 4, "{shape:?} {k}: {} points", found.len());
            assert!((least(&found) - distance).abs() < 1e-9, "{shape:?} {k}: {} {distance}", least(&found));
            for c in &found {
                assert!((c.normal() - Vec3::UNITS[2]).norm() < 1e-6, "{shape:?} {k}: {:?}", c.normal());
            }
        }
    }
}

#[test]
fn a_box_that_slides_over_cells_stands_on_its_corners() {
    let shape = Shape::Box { half_size: vec3(0.13, 0.21, 0.1) };
    let ground = || Soil::Field(field(41, 41, [1.0, 1.0], |_, _| 0.05));
    for swapped in [false, true] {
        let model = model(ground(), Pose::IDENTITY, shape, swapped);
        for k in 0..200 {
            let x = -0.5 + 0.005123 * k as f64;
            let X = Pose::new(vec3(x, 0.1 * x, 0.149), Quat::exp(vec3(0.0, 0.0, 0.37)));
            let found = contacts(&model, X);
            assert_eq!(found.len(), 4);
            for c in &found {
                let sign = if swapped { -1.0 } else { 1.0 };
                assert!((c.normal() * sign - Vec3::UNITS[2]).norm() < 1e-9 && (c.distance + 1e-3).abs() < 1e-12);
                let corner = X.rotation.tmul(c.point - X.position);
                assert!((corner.x.abs() - 0.13).abs() < 1e-9 && (corner.y.abs() - 0.21).abs() < 1e-9, "{corner:?}");
            }
        }
    }
}

#[test]
fn slopes_push_along_their_normal() {
    let (sx, sy) = (0.3, -0.2);
    let normal = vec3(-sx, -sy, 1.0).normalized().expect("not zero");
    for shape in shapes() {
        let ground = Soil::Field(field(25, 20, [1.5, 1.5], |x, y| sx * x + sy * y));
        let model = model(ground, Pose::IDENTITY, shape, false);
        for k in 0..40 {
            let distance = [-0.01, 0.0, 0.01][k % 3];
            let found = contacts(&model, resting(&model, GeomId(1), k, normal, distance));
            assert!((least(&found) - distance).abs() < 1e-9, "{shape:?} {k}");
            assert!(found.iter().all(|c| (c.normal() - normal).norm() < 1e-6), "{shape:?} {k}");
        }
    }
}

#[test]
fn a_ball_in_a_valley_touches_both_sides_and_a_ridge_once() {
    let ball = Shape::Sphere { radius: 0.2 };
    let valley = model(Soil::Field(field(5, 21, [1.0, 1.0], |x, _| x.abs())), Pose::IDENTITY, ball, false);
    let height = 0.2 * 2.0_f64.sqrt();
    let found = contacts(&valley, Pose::translation(vec3(0.0, 0.13, height - 1e-3)));
    assert_eq!(found.len(), 2);
    for c in &found {
        assert!((c.distance + 1e-3 / 2.0_f64.sqrt()).abs() < 1e-9 && (c.normal().x.abs() - c.normal().z).abs() < 1e-9);
    }
    let ridge = model(Soil::Field(field(5, 21, [1.0, 1.0], |x, _| -x.abs() + 1.0)), Pose::IDENTITY, ball, false);
    let found = contacts(&ridge, Pose::translation(vec3(0.01, 0.13, 1.205)));
    assert_eq!(found.len(), 1);
    let wanted = vec3(0.01, 0.0, 0.205);
    assert!((found[0].distance - (wanted.norm() - 0.2)).abs() < 1e-9);
    assert!((found[0].normal() - wanted * (1.0 / wanted.norm())).norm() < 1e-9);
}

#[test]
fn a_box_at_a_step_is_stopped_and_not_lifted() {
    let shape = Shape::Box { half_size: vec3(0.05, 0.05, 0.05) };
    let model = model(Soil::Mesh(stairs(6)), Pose::IDENTITY, shape, false);
    // on the second tread, half a millimeter in the ground and one in the riser before it
    let found = contacts(&model, Pose::translation(vec3(0.351, 0.3, 0.1495)));
    let (floor, wall): (Vec<&Contact>, Vec<&Contact>) = found.iter().partition(|c| c.normal().z > 0.5);
    assert!(!floor.is_empty() && !wall.is_empty() && floor.len() + wall.len() <= 4);
    assert!(floor.iter().all(|c| (c.normal() - Vec3::UNITS[2]).norm() < 1e-9 && (c.distance + 5e-4).abs() < 1e-9));
    assert!(wall.iter().all(|c| (c.normal() + Vec3::UNITS[0]).norm() < 1e-9 && (c.distance + 1e-3).abs() < 1e-9));
    // over the edge of a tread nothing but the tread is felt
    let found = contacts(&model, Pose::translation(vec3(0.19, 0.3, 0.2499)));
    assert!(found.iter().all(|c| (c.normal() - Vec3::UNITS[2]).norm() < 1e-9), "{found:?}");
    // behind the surface nothing is touched
    assert!(contacts(&model, Pose::translation(vec3(0.5, 0.0, 0.1))).is_empty());
}

#[test]
fn ground_may_stand_anywhere_in_the_world() {
    let shape = Shape::Cylinder { radius: 0.1, half_length: 0.15 };
    let hills = |x: f64, y: f64| 0.1 * (3.0 * x).sin() * (2.0 * y).cos();
    let here = model(Soil::Field(field(31, 31, [1.0, 1.0], hills)), Pose::IDENTITY, shape, false);
    let at = Pose::new(vec3(100.0, -20.0, 3.0), Quat::exp(vec3(0.4, 0.3, -1.0)));
    let there = model(Soil::Field(field(31, 31, [1.0, 1.0], hills)), at, shape, false);
    let mut some = 0;
    for k in 0..30 {
        let X = resting(&here, GeomId(1), k, Vec3::UNITS[2], 0.02);
        let (a, b) = (contacts(&here, X), contacts(&there, at * X));
        assert_eq!(a.len(), b.len());
        some += a.len();
        for (p, q) in a.iter().zip(&b) {
            assert!((at.point(p.point) - q.point).norm() < 1e-9 && (p.distance - q.distance).abs() < 1e-11);
            assert!((at.rotation * p.normal() - q.normal()).norm() < 1e-9);
        }
    }
    assert!(some > 20);
}

#[test]
fn distances_move_as_their_derivatives_say() {
    let hills = |x: f64, y: f64| 0.1 * (3.0 * x).sin() * (2.0 * y).cos();
    for (shape, swapped) in shapes().into_iter().flat_map(|s| [(s, false), (s, true)]) {
        let model = model(Soil::Field(field(11, 11, [1.0, 1.0], hills)), Pose::IDENTITY, shape, swapped);
        let body = usize::from(!swapped);
        let X = resting(&model, GeomId(body), 5, Vec3::UNITS[2], 0.05);
        let X = Pose { position: X.position - vec3(0.0, 0.0, 0.04), ..X };
        let mut set = ContactSet::new(&model);
        detect(&model, &[Pose::IDENTITY, X], &mut set).expect("finite poses");
        for k in 0..set.contacts().len() {
            let c = set.contacts()[k];
            let d = contact_derivatives(&model, &[Pose::IDENTITY, X], &mut set, k, &CollisionGradient::Exact);
            let d = d.expect("smooth here");
            for j in 0..6 {
                let (h, unit) = (1e-6, Vec3::UNITS[j % 3]);
                let moved = |h: f64| {
                    let (shift, turn) = if j < 3 { (unit * h, Vec3::ZERO) } else { (Vec3::ZERO, unit * h) };
                    let R = Quat::exp(turn).to_matrix();
                    let position = c.point + shift + R * (X.position - c.point);
                    let found = contacts(&model, Pose { rotation: R * X.rotation, position });
                    found.into_iter().find(|f| f.feature == c.feature).expect("the same feature")
                };
                let (a, b) = (moved(h), moved(-h));
                let slope = (a.distance - b.distance) / (2.0 * h);
                assert!((slope - d.distance[body][j]).abs() < 1e-6, "{shape:?} {j}: {slope} {}", d.distance[body][j]);
                let turn = (a.normal() - b.normal()) * (0.5 / h);
                assert!((turn - d.normal[body][j]).norm() < 1e-5, "{shape:?} {j}: {turn:?} {:?}", d.normal[body][j]);
            }
        }
        assert!(!set.contacts().is_empty(), "{shape:?}");
    }
}

#[test]
fn rays_meet_the_first_triangle() {
    let hills = |x: f64, y: f64| 0.2 * (5.0 * x).sin() * (4.0 * y).cos();
    let f = field(17, 23, [1.0, 0.8], hills);
    let triangles: Vec<[Vec3; 3]> = (0..f.n_triangles() as u32).map(|t| f.triangle(t)).collect();
    let vertices: Vec<Vec3> = triangles.iter().flatten().copied().collect();
    let numbers = (0..triangles.len() as u32).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
    let mesh = Mesh { name: "same".into(), vertices, triangles: numbers };
    let ball = Shape::Sphere { radius: 0.01 };
    let models =
        [Soil::Field(f), Soil::Mesh(mesh)].map(|soil| model(soil, Pose::translation(vec3(0.1, 0.0, 0.5)), ball, false));
    let far = Pose::translation(vec3(0.0, 0.0, 50.0));
    let mut hits = 0;
    for k in 0..300 {
        let t = k as f64;
        let origin = vec3(1.5 * t.sin(), 1.5 * (1.3 * t).cos(), 1.0 + 0.5 * (0.7 * t).sin());
        let aim = vec3(0.5 * (2.1 * t).sin(), 0.5 * (3.1 * t).cos(), 0.5);
        let brute = triangles.iter().filter_map(|corners| {
            let [a, b, c] = corners.map(|p| p + vec3(0.1, 0.0, 0.5));
            let (n, d) = ((b - a).cross(c - a), (aim - origin).normalized().expect("not zero"));
            let at = n.dot(a - origin) / n.dot(d);
            let p = origin + d * at;
            let inside = [(a, b), (b, c), (c, a)].iter().all(|(u, v)| (*v - *u).cross(p - *u).dot(n) >= 0.0);
            (n.dot(d) < 0.0 && at >= 0.0 && inside).then_some(at)
        });
        let wanted = brute.reduce(f64::min);
        for model in &models {
            let hit = raycast_model(model, &[Pose::IDENTITY, far], origin, aim - origin, 100.0).expect("a ray");
            let distance = hit.map(|(_, h)| h.distance);
            assert_eq!(distance.is_some(), wanted.is_some(), "ray {k}");
            if let (Some(a), Some(b)) = (distance, wanted) {
                assert!((a - b).abs() < 1e-12, "ray {k}: {a} {b}");
                hits += 1;
            }
        }
    }
    assert!(hits > 300);
}

#[test]
fn the_distance_from_ground_is_that_of_the_nearest_triangle() {
    let hills = |x: f64, y: f64| 0.1 * (3.0 * x).sin() * (2.0 * y).cos();
    let ball = Shape::Sphere { radius: 0.1 };
    let model = model(Soil::Field(field(15, 15, [1.0, 1.0], hills)), Pose::IDENTITY, ball, true);
    let X = [Pose::IDENTITY, Pose::translation(vec3(0.2, -0.3, 0.9))];
    let found = geom_distance(&model, &X, GeomId(0), GeomId(1)).expect("over the ground");
    assert!(
        found.normal.z < -0.5 && (found.points[1] - found.points[0] - found.normal * found.distance).norm() < 1e-12
    );
    // no point of a fine grid over the ground is nearer
    let f = &model.fields()[0];
    let mut nearest = f64::INFINITY;
    for t in 0..f.n_triangles() as u32 {
        let [a, b, c] = f.triangle(t);
        for (i, j) in (0..=20).flat_map(|i| (0..=20 - i).map(move |j| (i, j))) {
            let p = a + (b - a) * (i as f64 / 20.0) + (c - a) * (j as f64 / 20.0);
            nearest = f64::min(nearest, (p - X[1].position).norm() - 0.1);
        }
    }
    assert!(found.distance <= nearest + 1e-12 && found.distance > nearest - 1e-3);
}

#[test]
fn ground_that_moves_or_does_not_exist_is_refused() {
    let mut b = ModelBuilder::new("ship");
    let inertia = BodyInertia { mass: 1.0, com: Vec3::ZERO, about_com: Sym3::diagonal(vec3(0.1, 0.1, 0.1)) };
    let joint = JointSpec::new("joint", JointKind::Free);
    let link = b.add_link(ModelBuilder::WORLD, "deck", Pose::IDENTITY, inertia, vec![joint]);
    let field = b.add_field(field(3, 3, [1.0, 1.0], |_, _| 0.0));
    let mut fixed = b.clone();
    b.add_geom(link, GeomSpec::new("planks", Shape::HeightField { field }));
    let wanted = BuildError::MovingTerrain { geom: "planks".into(), body: "deck".into() };
    assert_eq!(b.build().map(|m| m.nv()), Err(wanted));
    fixed.add_geom(ModelBuilder::WORLD, GeomSpec::new("sea", Shape::HeightField { field: FieldId(1) }));
    assert!(matches!(fixed.clone().build(), Err(BuildError::Unknown { .. })));
    fixed.add_geom(ModelBuilder::WORLD, GeomSpec::new("bed", Shape::Terrain { mesh: MeshId(0) }));
    assert!(matches!(fixed.build(), Err(BuildError::Unknown { .. })));
}

#[test]
fn searches_on_ground_stop_growing_and_repeat_themselves() {
    let hills = |x: f64, y: f64| 0.1 * (3.0 * x).sin() * (2.0 * y).cos();
    let shape = Shape::Box { half_size: vec3(0.2, 0.2, 0.1) };
    let model = model(Soil::Field(field(41, 41, [1.0, 1.0], hills)), Pose::IDENTITY, shape, false);
    let states: Vec<_> =
        (0..20).map(|k| [Pose::IDENTITY, resting(&model, GeomId(1), k, Vec3::UNITS[2], 0.0)]).collect();
    let mut set = ContactSet::new(&model);
    let search = |set: &mut ContactSet| -> Vec<Vec<Contact>> {
        let mut once = |X: &[Pose; 2]| {
            detect(&model, X, set).expect("finite poses");
            set.contacts().to_vec()
        };
        states.iter().map(&mut once).collect()
    };
    let first = search(&mut set);
    let grown = set.growths();
    assert_eq!(search(&mut set), first);
    assert_eq!(set.growths(), grown);
    assert!(first.iter().map(Vec::len).sum::<usize>() > 20 && first.iter().all(|contacts| contacts.len() <= 4));
}

#[test]
fn a_mesh_of_the_same_triangles_is_the_same_ground() {
    let rocks = |x: f64, y: f64| 0.15 * (7.0 * x).sin() * (9.0 * y).cos() + 0.1 * (23.0 * x + 17.0 * y).sin();
    let f = field(21, 21, [1.0, 1.0], rocks);
    let triangles: Vec<[Vec3; 3]> = (0..f.n_triangles() as u32).map(|t| f.triangle(t)).collect();
    let vertices = triangles.iter().flatten().copied().collect();
    let numbers = (0..triangles.len() as u32).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
    let mesh = Mesh { name: "same".into(), vertices, triangles: numbers };
    for shape in shapes() {
        let one = model(Soil::Field(f.clone()), Pose::IDENTITY, shape, false);
        let other = model(Soil::Mesh(mesh.clone()), Pose::IDENTITY, shape, false);
        let mut compared = 0;
        for k in 0..40 {
            let mut X = resting(&one, GeomId(1), k, Vec3::UNITS[2], 0.3);
            for _ in 0..12 {
                let far = geom_distance(&one, &[Pose::IDENTITY, X], GeomId(0), GeomId(1)).expect("over the ground");
                X.position.z -= far.distance - [0.01, -0.002][k % 2];
            }
            let (a, b) = (contacts(&one, X), contacts(&other, X));
            assert_eq!(a.is_empty(), b.is_empty(), "{shape:?} {k}");
            if !a.is_empty() {
                assert!((least(&a) - least(&b)).abs() < 1e-9, "{shape:?} {k}: {} {}", least(&a), least(&b));
                compared += 1;
            }
        }
        assert!(compared > 30, "{shape:?}: {compared}");
    }
}

#[test]
fn a_pointed_stone_stands_on_a_mesh_although_the_middle_of_its_box_is_outside() {
    let mut b = ModelBuilder::new("stone");
    let corners = [Vec3::ZERO, vec3(0.1, 0.0, 0.0), vec3(0.0, 0.1, 0.0), vec3(0.0, 0.0, 0.1)];
    let triangles = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let stone = b.add_mesh(Mesh { name: "stone".into(), vertices: corners.to_vec(), triangles });
    // a slope with the face of the stone on it
    let n = vec3(1.0, 1.0, 1.0) * (1.0 / 3.0_f64.sqrt());
    let (u, v) = (vec3(1.0, -1.0, 0.0), vec3(1.0, 1.0, -2.0));
    let foot = n * (0.1 / 3.0_f64.sqrt() - 1e-3);
    let slope = [foot - u - v, foot - u + v, foot + u + v, foot + u - v].to_vec();
    let slope = b.add_mesh(Mesh { name: "slope".into(), vertices: slope, triangles: vec![[0, 1, 2], [0, 2, 3]] });
    b.add_geom(ModelBuilder::WORLD, GeomSpec::new("slope", Shape::Terrain { mesh: slope }));
    let inertia = BodyInertia { mass: 1.0, com: Vec3::ZERO, about_com: Sym3::diagonal(vec3(0.1, 0.1, 0.1)) };
    let joint = JointSpec::new("joint", JointKind::Free);
    let link = b.add_link(ModelBuilder::WORLD, "stone", Pose::IDENTITY, inertia, vec![joint]);
    b.add_geom(link, GeomSpec::new("stone", Shape::Mesh { mesh: stone }));
    let model = b.build().expect("sound");
    let found = contacts(&model, Pose::IDENTITY);
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|c| (c.normal() + n).norm() < 1e-9 && (c.distance + 1e-3).abs() < 1e-9), "{found:?}");
}
