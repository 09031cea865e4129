//! All pairs of cores against bounds that hold for any engine: the gap along any normal bounds the distance from below,
//! the distance of any two points of the shapes bounds that of separated shapes from above.

use super::*;
use crate::collision::narrow::closed::check::Random;
use crate::collision::shape::Convex;
use crate::model::{Hull, Mesh};
use crate::spatial::{Mat3, Pose, Vec3, vec3};

const KINDS: usize = 8;

/// A hull with triangles: a lattice around an ellipsoid.
fn hull(rings: usize, around: usize) -> Hull {
    let mut vertices = vec![vec3(0.0, 0.0, 0.15)];
    for i in 1..rings {
        let t = std::f64::consts::PI * i as f64 / rings as f64;
        for j in 0..around {
            let p = std::f64::consts::TAU * j as f64 / around as f64;
            vertices.push(vec3(0.2 * t.sin() * p.cos(), 0.17 * t.sin() * p.sin(), 0.15 * t.cos()));
        }
    }
    vertices.push(vec3(0.0, 0.0, -0.15));
    let (last, at) = (vertices.len() as u32 - 1, |i: usize, j: usize| 1 + ((i - 1) * around + j % around) as u32);
    let mut triangles = Vec::new();
    for j in 0..around {
        triangles.extend([[0, at(1, j), at(1, j + 1)], [last, at(rings - 1, j + 1), at(rings - 1, j)]]);
        for i in 1..rings - 1 {
            triangles.extend([[at(i, j), at(i + 1, j), at(i + 1, j + 1)], [at(i, j), at(i + 1, j + 1), at(i, j + 1)]]);
        }
    }
    Hull::new(&Mesh { name: "hull".into(), vertices, triangles })
}

fn shape<'a>(kind: usize, random: &mut Random, hulls: &'a [Hull; 2]) -> Convex<'a> {
    let mut size = |low: f64, high: f64| random.scale(low, high);
    let (core, radius) = match kind {
        0 => (Core::Point, size(0.05, 0.2)),
        1 => (Core::Segment { half: size(0.1, 0.3) }, size(0.03, 0.1)),
        2 => (Core::Box { half: vec3(size(0.05, 0.3), size(0.05, 0.2), size(0.05, 0.2)) }, 0.0),
        3 => (Core::Cylinder { radius: size(0.05, 0.2), half: size(0.05, 0.2) }, 0.0),
        4 => (Core::Cone { radius: size(0.05, 0.2), half: size(0.05, 0.2) }, 0.0),
        5 => (Core::Ellipsoid { radii: vec3(size(0.05, 0.2), size(0.1, 0.2), size(0.1, 0.2)) }, 0.0),
        k => (Core::Hull(&hulls[k - 6]), 0.0),
    };
    Convex { core, radius }
}

/// A rotation with parallel axes: quarter turns, then perhaps any turn about z.
fn parallel(random: &mut Random) -> Mat3 {
    let quarter = |axis: usize| {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut m = Mat3::ZERO;
        m.c[axis] = Vec3::UNITS[axis];
        m.c[u] = Vec3::UNITS[v];
        m.c[v] = -Vec3::UNITS[u];
        m
    };
    let mut turn = Mat3::IDENTITY;
    for _ in 0..random.below(4) {
        turn = turn * quarter(random.below(3) as usize);
    }
    let angle = if random.below(2) == 0 { 0.0 } else { 3.0 * random.signed() };
    let z = crate::spatial::axis_rotation(Vec3::UNITS[2], angle.sin(), angle.cos());
    if random.below(2) == 0 { z * turn } else { turn * z }
}

fn gap(pair: &ShapePair, n: Vec3) -> f64 {
    n.dot(pair.support(n, [0, 0]).y) - pair.radius()
}

/// The largest gap that a search over directions finds, starting from `n` and from anywhere.
fn widest(pair: &ShapePair, n: Vec3, random: &mut Random) -> f64 {
    let (mut best, mut at) = (gap(pair, n), n);
    for _ in 0..200 {
        let d = random.unit();
        if gap(pair, d) > best {
            (best, at) = (gap(pair, d), d);
        }
    }
    let mut h = 0.1;
    while h > 1e-7 {
        let mut better = false;
        for _ in 0..10 {
            let Some(d) = (at + random.cube() * h).normalized() else { continue };
            if gap(pair, d) > best {
                (best, at, better) = (gap(pair, d), d, true);
            }
        }
        h *= if better { 1.0 } else { 0.5 };
    }
    best
}

/// How far a point sticks out of a shape, in its own frame.
fn outside(shape: &Convex, x: Vec3, random: &mut Random) -> f64 {
    let mut directions: Vec<Vec3> = (0..60).map(|_| random.unit()).collect();
    directions.extend(Vec3::UNITS.iter().flat_map(|u| [*u, -*u]));
    directions.extend(vec3(x.x, x.y, 0.0).normalized());
    let sticks = |d: &Vec3| d.dot(x) - d.dot(shape.core.support(*d, 0).0) - shape.radius;
    directions.iter().map(sticks).fold(f64::NEG_INFINITY, f64::max)
}

/// Worst errors of one kind of pair.
#[derive(Default, Debug)]
struct Worst {
    gap: f64,
    deficit: f64,
    points: f64,
    unconverged: usize,
}

fn examine(pair: &ShapePair, w: &Witness, random: &mut Random, worst: &mut Worst) {
    assert!((w.normal.norm() - 1.0).abs() < 1e-12, "{w:?}");
    worst.gap = worst.gap.max((gap(pair, w.normal) - w.distance).abs());
    worst.deficit = worst.deficit.max(widest(pair, w.normal, random) - w.distance);
    let joined = (w.points[1] - w.points[0] - w.normal * w.distance).norm();
    let x2 = pair.X_12.rotation.tmul(w.points[1] - pair.X_12.position);
    let out = outside(&pair.shapes[0], w.points[0], random).max(outside(&pair.shapes[1], x2, random));
    worst.points = worst.points.max(joined).max(out);
    worst.unconverged += !w.converged as usize;
}

fn sweep(seed: u64, trials: usize, aside: f64, rotation: impl Fn(&mut Random) -> Mat3) -> Vec<String> {
    let (mut random, mut memory) = (Random::new(seed), Polytope::new());
    let hulls = [hull(4, 5), hull(12, 13)];
    let mut wrong = Vec::new();
    for i in 0..KINDS {
        for j in 0..KINDS {
            for class in 0..5 {
                let mut worst = Worst::default();
                for _ in 0..trials {
                    let shapes = [shape(i, &mut random, &hulls), shape(j, &mut random, &hulls)];
                    let mut X_12 = Pose { rotation: rotation(&mut random), position: random.cube() * 0.5 };
                    let far = ShapePair { shapes, X_12 };
                    let w = witness(&far, f64::INFINITY, &mut Warm::default(), &mut memory).expect("no limit");
                    let u = random.scale(0.01, 1.0);
                    let target = [0.3 * u, 0.0, -1e-3 * u, -2e-2 * u, -0.1 * u][class];
                    X_12.position += w.normal * (target - w.distance);
                    let pair = ShapePair { shapes, X_12 };
                    let w = witness(&pair, f64::INFINITY, &mut Warm::default(), &mut memory).expect("no limit");
                    let w = Witness { points: crate::collision::query::shared_points(&pair, &w), ..w };
                    examine(&pair, &w, &mut random, &mut worst);
                }
                let curved = 3..=5;
                let allowed = if curved.contains(&i) || curved.contains(&j) { 1e-7 } else { 1e-9 };
                if worst.gap > 1e-12 || worst.deficit > allowed || worst.points > aside || worst.unconverged > 0 {
                    wrong.push(format!("{i}-{j} class {class}: {worst:?}"));
                }
            }
        }
    }
    wrong
}

#[test]
fn distances_and_points_of_random_pairs_hold_their_bounds() {
    // faces tilted by 1e-11 leave the touching point undetermined
    let wrong = sweep(1, 6, 1e-3, |random| random.rotation().to_matrix());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn distances_and_points_of_pairs_with_parallel_axes_hold_their_bounds() {
    let wrong = sweep(2, 12, 1e-6, parallel);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
