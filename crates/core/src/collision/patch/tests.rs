mod faces;
mod planes;
mod properties;
mod segments;

use super::*;
use crate::collision::shape::{Convex, cap_atom};
use crate::model::{Hull, Mesh};
use crate::random::Rng;
use crate::spatial::Quat;

/// Reach of a contact in these tests (m).
const LIMIT: f64 = 0.01;

/// Numbers in [−1, 1), vectors and rotations of them.
struct Random(Rng);

impl Random {
    fn new(seed: u64) -> Random {
        Random(Rng(seed))
    }

    fn next(&mut self) -> f64 {
        self.0.sign()
    }

    fn vector(&mut self) -> Vec3 {
        vec3(self.next(), self.next(), self.next())
    }

    fn rotation(&mut self) -> Mat3 {
        turn(self.vector(), 3.0 * self.next())
    }
}

fn turn(axis: Vec3, angle: f64) -> Mat3 {
    let u = axis.normalized().unwrap() * (0.5 * angle).sin();
    Quat { w: (0.5 * angle).cos(), x: u.x, y: u.y, z: u.z }.to_matrix()
}

fn sharp(core: Core) -> Convex {
    Convex { core, radius: 0.0 }
}

fn cube(half: f64) -> Convex<'static> {
    sharp(Core::Box { half: vec3(half, half, half) })
}

fn capsule(half: f64, radius: f64) -> Convex<'static> {
    Convex { core: Core::Segment { half }, radius }
}

const PLANE: Convex<'static> = Convex { core: Core::Plane, radius: 0.0 };

/// A right prism over a regular polygon; vertex k of the bottom is k, of the top n + k.
fn regular_prism(n: usize, radius: f64, half: f64) -> Hull {
    let turn = |k: usize| std::f64::consts::TAU * k as f64 / n as f64;
    let ring = |z: f64| (0..n).map(move |k| vec3(radius * turn(k).cos(), radius * turn(k).sin(), z));
    let vertices = ring(-half).chain(ring(half)).collect();
    Hull::new(&Mesh { name: "prism".into(), vertices, triangles: triangles_of(n) })
}

fn triangles_of(n: usize) -> Vec<[u32; 3]> {
    let at = |k: usize| (k % n) as u32;
    let m = n as u32;
    let mut triangles = Vec::new();
    for k in 0..n {
        triangles.extend([[at(k), at(k + 1), m + at(k + 1)], [at(k), m + at(k + 1), m + at(k)]]);
    }
    for k in 2..n {
        triangles.extend([[0, at(k), at(k - 1)], [m, m + at(k - 1), m + at(k)]]);
    }
    triangles
}

/// The atoms that are farthest in direction `d`, as a side.
fn touching(core: &Core, d: Vec3) -> Side {
    let n_atoms = match core {
        Core::Plane => return Side::face([0, 1, 2], [1.0, 0.0, 0.0]),
        Core::Segment { .. } => 2,
        Core::Box { .. } => 8,
        Core::Prism(_) => 6,
        Core::Hull(hull) => hull.vertices.len() as u32,
        Core::Cylinder { .. } | Core::Cone { .. } => {
            let third = 1.0 / 3.0;
            return match core.support(d, 0).1 {
                _ if d.z.abs() > 1.0 - 1e-14 && (d.z < 0.0 || matches!(core, Core::Cylinder { .. })) => {
                    Side::face([0, 3, 6].map(|k| cap_atom(d.z > 0.0, k)), [third; 3])
                }
                _ if matches!(core, Core::Cylinder { .. }) && d.z.abs() < 1e-12 => Side::edge([0, 1], 0.5),
                atom => Side::point(atom),
            };
        }
        Core::Point | Core::Ellipsoid { .. } => return Side::point(0),
    };
    let height = core.support(d, 0).0.dot(d);
    let top: Vec<u32> = (0..n_atoms).filter(|&a| core.atom(a, d).dot(d) > height - 1e-12).collect();
    match top[..] {
        [a] => Side::point(a),
        [a, b] => Side::edge([a, b], 0.5),
        [a, b, c, ..] => Side::face([a, b, c], [1.0 / 3.0; 3]),
        [] => unreachable!(),
    }
}

/// The witness for a known normal (in the frame of shape 1).
fn witness(pair: &ShapePair, normal: Vec3) -> Witness {
    let d = [outward(pair, normal, 0), outward(pair, normal, 1)];
    let sides = [0, 1].map(|k| touching(&pair.shapes[k].core, d[k]));
    let x1 = sides[0].point_of(&pair.shapes[0].core, d[0]) + normal * pair.shapes[0].radius;
    let x2 = pair.X_12.point(sides[1].point_of(&pair.shapes[1].core, d[1])) - normal * pair.shapes[1].radius;
    let distance = normal.dot(x2 - x1);
    // where faces or edges touch, either point will do
    let points =
        if sides[0].count < sides[1].count { [x1, x1 + normal * distance] } else { [x2 - normal * distance, x2] };
    Witness { normal, distance, points, sides, converged: true }
}

/// The patch of two shapes that touch along z.
fn stacked<'a>(lower: Convex<'a>, upper: Convex<'a>, X_12: Pose) -> Patch {
    let pair = ShapePair { shapes: [lower, upper], X_12 };
    let patch = patch(&pair, &witness(&pair, Vec3::UNITS[2]), LIMIT);
    check(&pair, &patch);
    patch
}

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::translation(vec3(x, y, z))
}

fn points(patch: &Patch) -> Vec<Vec3> {
    patch.points[..patch.count].iter().map(|p| p.point).collect()
}

/// Atoms of the points, which must all be incident.
fn atoms(patch: &Patch) -> Vec<u32> {
    let atom = |p: &PatchPoint| match p.kind {
        PointKind::Incident { atom, .. } => atom,
        kind => panic!("{kind:?} is not incident"),
    };
    let mut atoms: Vec<u32> = patch.points[..patch.count].iter().map(atom).collect();
    atoms.sort_unstable();
    atoms
}

/// Number of points of each kind: incident, crossing, reference.
fn kinds(patch: &Patch) -> [usize; 3] {
    let mut count = [0; 3];
    for p in &patch.points[..patch.count] {
        match p.kind {
            PointKind::Incident { .. } => count[0] += 1,
            PointKind::Crossing { .. } => count[1] += 1,
            PointKind::Reference { .. } => count[2] += 1,
            PointKind::Nearest => panic!("a single point"),
        }
    }
    count
}

/// What holds for every patch: unit normal, one plane, all points nearer than the limit and apart, and distances that
/// follow from where the two surfaces are on the line through the point along the normal.
fn check(pair: &ShapePair, patch: &Patch) {
    let n = patch.normal;
    assert!((n.norm() - 1.0).abs() < 1e-14);
    assert!((1..=MAX_POINTS).contains(&patch.count));
    let list = &patch.points[..patch.count];
    let size = list.iter().fold(1.0, |s: f64, p| s.max(p.point.norm()));
    for (k, p) in list.iter().enumerate() {
        assert!(n.dot(p.point - list[0].point).abs() <= 1e-15 * size, "not in one plane: {patch:?}");
        assert!(list[..k].iter().all(|q| (q.point - p.point).norm() > 1e-9), "twice the same: {patch:?}");
        assert!(list[0].distance <= p.distance + 1e-9 * LIMIT, "the deepest comes first");
        if patch.count > 1 || p.kind != PointKind::Nearest {
            assert!(p.distance < LIMIT);
            if let (Some(below), Some(above)) = (surface(pair, 0, p.point, n), surface(pair, 1, p.point, -n)) {
                assert!((p.distance + above + below).abs() < 1e-9, "{p:?}: {}", -above - below);
            }
        }
    }
}

/// How far from `p` along the outward direction `d` (frame of shape 1) the surface of a polytope or half-space is: by its
/// faces, which the patch never looks at in this way. `None` for shapes without.
fn surface(pair: &ShapePair, k: usize, p: Vec3, d: Vec3) -> Option<f64> {
    let X = other_in(pair, 1);
    let (p, d) = if k == 0 { (p, d) } else { (X.point(p), X.rotation * d) };
    let planes: Vec<(Vec3, f64)> = match pair.shapes[k].core {
        Core::Plane => vec![(Vec3::UNITS[2], 0.0)],
        Core::Box { half } => {
            (0..6).map(|i| (Vec3::UNITS[i / 2] * (1.0 - 2.0 * (i % 2) as f64), half[i / 2])).collect()
        }
        Core::Hull(hull) => {
            let height = |f: usize| hull.vertices[hull.face_corners(f as u32)[0] as usize].dot(hull.faces[f].normal);
            hull.faces.iter().enumerate().map(|(i, f)| (f.normal, height(i))).collect()
        }
        _ => return None,
    };
    // the line leaves the shape where it first leaves a half-space; sides along the line do not count
    let exits = planes.iter().filter(|(m, _)| m.dot(d) > 1e-6).map(|(m, h)| (h - m.dot(p)) / m.dot(d));
    Some(exits.fold(f64::INFINITY, f64::min))
}
