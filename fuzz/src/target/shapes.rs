//! Distances of two convex shapes in any pose: finite, the same from both sides, and soon.
#![allow(non_snake_case)]

use crate::case::{Answer, Verdict, finite};
use crate::clock::Stopwatch;
use slipstick::collision::{ClosestPoints, Solid, closest_points};
use slipstick::files::convex_hull;
use slipstick::model::Shape;
use slipstick::random::Rng;
use slipstick::spatial::{Pose, Quat, Vec3, vec3};
use std::time::Duration;

/// A query that takes longer is a finding; usual ones take microseconds.
const LONGEST: Duration = Duration::from_secs(2);
/// Agreement of both directions, as a fraction of the size of the shapes: apart, and where they overlap. The direction of
/// least penetration may be one of several that are nearly the same depth.
const APART: f64 = 1e-7;
const OVERLAPPING: f64 = 1e-5;

pub fn pair(seed: u64) -> Verdict {
    let mut rng = Rng(seed);
    let (Some((a, size_a)), Some((b, size_b))) = (solid(&mut rng), solid(&mut rng)) else { return Ok(Answer::Refused) };
    let (X_wa, X_wb) = poses(&mut rng, size_a + size_b);
    let begin = Stopwatch::start();
    let there = closest_points(&a, &X_wa, &b, &X_wb);
    let back = closest_points(&b, &X_wb, &a, &X_wa);
    if begin.elapsed() > LONGEST {
        return Err(format!("two queries took {:.1} s", begin.elapsed().as_secs_f64()));
    }
    match (there, back) {
        (Ok(there), Ok(back)) => agree(&there, &back, size_a + size_b).map(|()| Answer::Accepted),
        (Err(_), Err(_)) => Ok(Answer::Refused),
        (Err(e), Ok(_)) | (Ok(_), Err(e)) => Err(format!("refused from one side only: {e}")),
    }
}

fn agree(there: &ClosestPoints, back: &ClosestPoints, size: f64) -> Result<(), String> {
    for c in [there, back] {
        let [p, q] = c.points;
        finite(
            "distance, normal and points",
            &[&[c.distance][..], &c.normal.to_array(), &p.to_array(), &q.to_array()].concat(),
        )?;
        if (c.normal.norm() - 1.0).abs() > 1e-9 {
            return Err(format!("the normal has length {}", c.normal.norm()));
        }
    }
    let allowed = if there.distance.min(back.distance) > 0.0 { APART } else { OVERLAPPING } * size.max(1e-3);
    let difference = (there.distance - back.distance).abs();
    if there.converged && back.converged && difference > allowed {
        return Err(format!("distances {:e} and {:e} from the two sides", there.distance, back.distance));
    }
    Ok(())
}

/// A shape and its size; flat, thin and tiny ones among them.
fn solid(rng: &mut Rng) -> Option<(Solid, f64)> {
    let extreme = rng.chance(0.3);
    let mut length = || if extreme { 10f64.powf(rng.between(-4.0, 2.0)) } else { rng.between(0.05, 1.0) };
    let (x, y, z) = (length(), length(), length());
    let size = x.max(y).max(z);
    let shape = match rng.below(9) {
        0 => Shape::Sphere { radius: x },
        1 => Shape::Capsule { radius: x, half_length: y },
        2 => Shape::Cylinder { radius: x, half_length: y },
        3 => Shape::Cone { radius: x, half_length: y },
        4 => Shape::Box { half_size: vec3(x, y, z) },
        5 => Shape::Ellipsoid { radii: vec3(x, y, z) },
        6 => Shape::Plane,
        _ => return hull(rng, vec3(x, y, z)),
    };
    Solid::new(shape).ok().map(|solid| (solid, 2.0 * size))
}

/// The hull of points in a box, some of them on a coarse grid: with corners that coincide and faces in one plane.
fn hull(rng: &mut Rng, half: Vec3) -> Option<(Solid, f64)> {
    let coarse = rng.chance(0.3);
    let mut number = |half: f64| {
        let x = rng.sign();
        half * if coarse { (2.0 * x).round() / 2.0 } else { x }
    };
    let points: Vec<Vec3> = (0..40).map(|_| vec3(number(half.x), number(half.y), number(half.z))).collect();
    let n = 4 + rng.below(36);
    let mesh = convex_hull(&points[..n]).ok()?;
    let mesh = slipstick::model::Mesh { name: "hull".into(), vertices: mesh.vertices, triangles: mesh.triangles };
    Some((Solid::hull(&mesh).ok()?, 2.0 * half.norm()))
}

/// Poses that are near each other, far apart, exactly aligned or the same.
fn poses(rng: &mut Rng, reach: f64) -> (Pose, Pose) {
    let turn = |rng: &mut Rng| match rng.below(3) {
        0 => Quat::IDENTITY,
        1 => Quat::exp(Vec3::UNITS[rng.below(3)] * std::f64::consts::FRAC_PI_2),
        _ => rng.orientation(),
    };
    let distance = match rng.below(5) {
        0 => 0.0,
        1 => 1e-9 * reach,
        2 => 1e4 * reach,
        _ => reach * rng.between(0.0, 1.5),
    };
    let direction = if rng.chance(0.3) { Vec3::UNITS[rng.below(3)] } else { rng.direction() };
    (Pose::new(rng.vector(), turn(rng)), Pose::new(direction * distance, turn(rng)))
}
