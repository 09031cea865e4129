use super::*;
use crate::mesh::solid_exact;
use slipstick_core::random::Rng;
use slipstick_core::spatial::{Quat, vec3};
use std::collections::HashMap;

/// Numbers from −1 to 1.
struct Random(Rng);

impl Random {
    fn next(&mut self) -> f64 {
        self.0.sign()
    }

    fn vec3(&mut self) -> Vec3 {
        vec3(self.next(), self.next(), self.next())
    }
}

/// How far points reach in a direction, seen from `a`.
fn support(points: &[Vec3], d: Vec3, a: Vec3) -> f64 {
    points.iter().map(|p| (*p - a).dot(d)).fold(f64::MIN, f64::max)
}

/// Closed, outward, and with the support of the points.
fn check(points: &[Vec3], hull: &TriangleMesh) {
    let mut edges = HashMap::new();
    for t in &hull.triangles {
        for k in 0..3 {
            assert!(edges.insert((t[k], t[(k + 1) % 3]), ()).is_none(), "an edge twice in one direction");
        }
    }
    assert!(edges.keys().all(|(a, b)| edges.contains_key(&(*b, *a))), "a hole");
    assert_eq!(hull.triangles.len(), 2 * hull.vertices.len() - 4, "not a sphere");
    assert!(hull.vertices.iter().all(|v| points.contains(v)));
    let size = size(points);
    let planes = planes(hull, size);
    assert_eq!(planes.len(), hull.triangles.len());
    for (n, a, trust) in planes {
        assert!(support(&hull.vertices, n, a) <= (1e-11 + trust) * size, "a dent");
    }
    let mut random = Random(Rng(7));
    for _ in 0..1000 {
        let d = random.vec3().normalized().unwrap();
        assert!((support(points, d, points[0]) - support(&hull.vertices, d, points[0])).abs() <= 1e-11 * size);
    }
    assert!(solid_exact(&hull.vertices, &hull.triangles).unwrap().volume > 0.0);
}

fn grid(n: usize, step: f64, turn: impl Fn(Vec3) -> Vec3) -> Vec<Vec3> {
    let all = (0..n * n * n).map(|k| vec3((k % n) as f64, (k / n % n) as f64, (k / n / n) as f64) * step);
    all.map(turn).collect()
}

#[test]
fn a_cube_of_grid_points_has_eight_corners_however_it_is_turned() {
    let turned = |v: Vec3| {
        let (s, c) = 0.7f64.sin_cos();
        let w = vec3(c * v.x - s * v.y, s * v.x + c * v.y, v.z);
        vec3(w.x + 3.1, c * w.y - s * w.z, s * w.y + c * w.z)
    };
    for points in [grid(8, 1.0, |v| v), grid(8, 0.1, |v| v), grid(6, 0.1, turned)] {
        let hull = convex_hull(&points).unwrap();
        assert_eq!((hull.vertices.len(), hull.triangles.len()), (8, 12));
        check(&points, &hull);
    }
}

#[test]
fn points_on_a_sphere_are_all_corners_and_points_inside_are_none() {
    let mut random = Random(Rng(3));
    let outer: Vec<Vec3> = (0..800).map(|_| random.vec3().normalized().unwrap() * 0.05).collect();
    let inner = outer.iter().map(|p| *p * 0.9);
    let points: Vec<Vec3> = inner.chain(outer.iter().copied()).collect();
    let hull = convex_hull(&points).unwrap();
    assert_eq!(hull.vertices, outer);
    check(&points, &hull);
}

#[test]
fn random_clouds_with_ties_and_noise_make_closed_hulls() {
    let mut random = Random(Rng(11));
    for round in 0..200 {
        // coarse grids give many coplanar, collinear and equal points; noise from nothing to rounding to visible
        let noise = [0.0, 1e-17, 1e-16, 1e-14, 1e-12, 1e-9][round % 6];
        let n = 4 + round;
        let coarse = |x: f64| (x * 4.0).round() / 3.0;
        let mut point = || {
            let [x, y, z] = random.vec3().to_array().map(coarse);
            vec3(x, y, z) + random.vec3() * noise
        };
        let points: Vec<Vec3> = (0..n).map(|_| point()).collect();
        match convex_hull(&points) {
            Ok(hull) => check(&points, &hull),
            Err(reason) => assert!(n < 12, "{reason:?} for {n} points"),
        }
    }
}

#[test]
fn needles_plates_caps_and_far_clouds_make_closed_hulls() {
    let mut random = Random(Rng(99));
    for round in 0..600 {
        let (kind, noise) = (round % 10, [0.0, 1e-16, 1e-13, 1e-10, 1e-7][round / 10 % 5]);
        let n = 20 + (round * 37) % 400;
        let turn = Quat::exp(random.vec3() * 2.0).to_matrix();
        let mut point = |i: usize| {
            let (r, a) = (random.vec3(), i as f64 / n as f64 * std::f64::consts::TAU);
            let p = match kind {
                0 => vec3((r.x * 2.0).round(), (r.y * 2.0).round(), (r.z * 2.0).round()),
                1 => vec3(a.cos(), a.sin(), r.z.signum() * 0.3),
                2 => vec3(a.cos(), a.sin(), r.z.signum() * 1e-6),
                3 => vec3(r.x, r.y, r.z * 1e-7),
                4 => vec3(r.x * 1e-5, r.y * 1e-5, r.z),
                5 => r.normalized().unwrap(),
                6 => r * 1e-3 + vec3(1e3, 1e3, 1e3),
                7 => vec3(r.x.signum(), r.y, (r.z * 3.0).round()),
                8 => vec3(r.x, r.y, r.x * r.x * 1e-9 + r.z.max(0.0) * 1e-8),
                _ => vec3(r.x.powi(5), r.y.powi(5), r.z.powi(5)),
            };
            turn * p + random.vec3() * noise
        };
        let points: Vec<Vec3> = (0..n).map(&mut point).collect();
        let hull = convex_hull(&points).unwrap();
        check(&points, &hull);
    }
}

#[test]
fn scale_and_distance_from_the_origin_do_not_matter() {
    let mut random = Random(Rng(5));
    let cloud: Vec<Vec3> = (0..300).map(|_| random.vec3()).collect();
    let corners = convex_hull(&cloud).unwrap().vertices.len();
    for scale in [1e-30, 1e-6, 1e6, 1e30] {
        let scaled: Vec<Vec3> = cloud.iter().map(|p| *p * scale).collect();
        assert_eq!(convex_hull(&scaled).unwrap().vertices.len(), corners, "{scale}");
    }
    let far: Vec<Vec3> = cloud.iter().map(|p| *p + vec3(1e6, -1e6, 1e6)).collect();
    assert_eq!(convex_hull(&far).unwrap().vertices.len(), corners);
}

#[test]
fn what_has_no_volume_is_refused() {
    let flat = [vec3(0.0, 0.0, 1.0), vec3(1.0, 0.0, 1.0), vec3(0.0, 1.0, 1.0), vec3(1.0, 1.0, 1.0)];
    assert_eq!(convex_hull(&flat), Err(NoHull::Flat));
    assert_eq!(convex_hull(&[0.0, 1.0, 2.0, 3.0].map(|x| vec3(x, 2.0 * x, x))), Err(NoHull::Flat));
    assert_eq!(convex_hull(&[vec3(1.0, 2.0, 3.0); 9]), Err(NoHull::Few));
    assert_eq!(convex_hull(&flat[..3]), Err(NoHull::Few));
    let thin = [flat[0], flat[1], flat[2], vec3(0.0, 0.0, 1.0 + 1e-12)];
    assert_eq!(convex_hull(&thin), Err(NoHull::Flat));
    for bad in [f64::NAN, f64::INFINITY, 1e308] {
        let points = [flat[0], flat[1], vec3(bad, 0.0, 0.0), vec3(-bad, 1.0, 0.0)];
        assert_eq!(convex_hull(&points), Err(NoHull::NotFinite), "{bad}");
    }
}
