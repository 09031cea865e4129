pub(in crate::collision) mod scene;

use super::*;
use crate::collision::derivatives::sizes::shape_derivatives;
use crate::spatial::vec3;
use scene::{Scene, Touch, Value, touch, touches};

/// Largest deviation of columns from differences, relative to the largest entry (at least one).
#[derive(Default)]
struct Deviation {
    n: f64,
    p: f64,
    phi: f64,
    size: [f64; 3],
}

impl Deviation {
    fn add(&mut self, exact: (Vec3, Vec3, f64), fd: Value) {
        let largest = |v: Vec3| v.x.abs().max(v.y.abs()).max(v.z.abs());
        self.n = self.n.max(largest(exact.0 - fd.n));
        self.p = self.p.max(largest(exact.1 - fd.p));
        self.phi = self.phi.max((exact.2 - fd.phi).abs());
        for (size, got) in self.size.iter_mut().zip([largest(fd.n), largest(fd.p), fd.phi.abs()]) {
            *size = size.max(got);
        }
        assert!(exact.0.is_finite() && exact.1.is_finite() && exact.2.is_finite());
    }

    fn relative(&self) -> f64 {
        let [n, p, phi] = self.size.map(|s| s.max(1.0));
        (self.n / n).max(self.p / p).max(self.phi / phi)
    }
}

fn derivatives_of(s: &Scene) -> Result<PointDerivatives, CollisionError> {
    point_derivatives(&s.shapes, &s.poses, s.n, &s.sides, &s.kind)
}

/// Relative deviation of all derivatives of a scene, poses and sizes, from differences. The step shrinks until they agree:
/// nearly parallel edges turn the normal fast.
fn deviation(s: &Scene) -> Result<f64, CollisionError> {
    let mut best = f64::INFINITY;
    for h in [1e-4, 1e-5, 1e-6] {
        best = best.min(deviation_with(s, h)?);
        if best < 1e-9 {
            break;
        }
    }
    Ok(best)
}

fn deviation_with(s: &Scene, h: f64) -> Result<f64, CollisionError> {
    let exact = derivatives_of(s)?;
    let mut poses = Deviation::default();
    for body in 0..2 {
        for k in 0..6 {
            let column = (exact.normal[body][k], exact.point[body][k], exact.distance[body][k]);
            poses.add(column, s.twist_difference(body, k, h));
        }
    }
    let mut sizes = Deviation::default();
    for body in 0..2 {
        for k in 0..3 {
            let r = shape_derivatives(&s.shapes, &s.poses, s.n, &s.sides, &s.kind, body, k)?;
            sizes.add((r.normal, r.point, r.distance), s.size_difference(body, k, h));
        }
    }
    Ok(poses.relative().max(sizes.relative()))
}

#[test]
fn nearest_points_of_all_features_follow_differences() {
    let all = touches();
    let mut compared = 0;
    for (i, a) in all.iter().enumerate() {
        for (j, b) in all.iter().enumerate() {
            for distance in [0.05, -0.01] {
                let spin = [0.3 + 0.7 * i as f64, 1.1 + 1.3 * j as f64];
                let scene = Scene::new([*a, *b], distance, spin, PointKind::Nearest);
                let gap = distance + a.shape.radius + b.shape.radius;
                match deviation(&scene) {
                    Ok(d) => {
                        assert!(d < 1e-7, "{} – {}, {distance}: {d:e}", a.name, b.name);
                        compared += 1;
                    }
                    // overlapping cores that are sharp where they touch have no nearest points of this kind
                    Err(e) => assert!(gap < 0.0, "{} – {}: {e}", a.name, b.name),
                }
            }
        }
    }
    assert!(compared > 2 * all.len() * all.len() * 4 / 5, "{compared}");
}

fn tilted(t: Touch, by: Vec3) -> Touch {
    let side = Side { fixed: t.side.count > 1, ..t.side };
    Touch { d: (t.d + by).normalized().unwrap(), side, ..t }
}

const FACES: [&str; 7] = ["box face", "rounded face", "cylinder cap", "cone base", "hull face", "prism face", "plane"];

/// Every reference face with every incident feature, tilted, in both orders.
fn patches(mut check: impl FnMut(&Touch, &Touch, &dyn Fn(PointKind) -> Scene, u8)) {
    for (i, name) in FACES.iter().enumerate() {
        let reference = touch(name);
        for (j, t) in touches().iter().enumerate().filter(|(_, t)| t.name != "plane") {
            let incident = tilted(*t, vec3(0.11, -0.07, 0.09));
            let spin = [0.2 + 0.9 * i as f64, 0.4 + 1.7 * j as f64];
            for side in [1u8, 0] {
                let pair = if side == 1 { [reference, incident] } else { [incident, reference] };
                check(&reference, &incident, &|kind| Scene::new(pair, -0.004, spin, kind), side);
            }
        }
    }
}

#[test]
fn corners_and_rims_projected_on_a_face_follow_differences() {
    patches(|r, t, scene, side| {
        for k in 0..t.side.count as usize {
            let s = scene(PointKind::Incident { side, atom: t.side.atoms[k] });
            let d = deviation(&s).unwrap();
            assert!(d < 1e-7, "{} on {}: {d:e}", t.name, r.name);
            // dΦ = J_N to the last bit
            assert_eq!(derivatives_of(&s).unwrap().distance, frozen(s.n).distance);
        }
    });
}

#[test]
fn edges_cut_by_the_side_of_a_face_follow_differences() {
    let mut slides = 0.0f64;
    patches(|r, t, scene, side| {
        for k in 1..t.side.count as usize {
            let edge = [t.side.atoms[0], t.side.atoms[k]];
            let reference = [r.side.atoms[2], r.side.atoms[1]];
            let s = scene(PointKind::Crossing { side, edge, reference });
            let d = deviation(&s).unwrap();
            assert!(d < 1e-7, "{} on {}: {d:e}", t.name, r.name);
            let (got, rigid) = (derivatives_of(&s).unwrap().distance, frozen(s.n).distance);
            slides = slides.max((got[0][0] - rigid[0][0]).abs());
        }
    });
    assert!(slides > 1e-2, "tilted faces glide: {slides}");
}

#[test]
fn corners_of_the_reference_follow_differences() {
    patches(|r, t, scene, side| {
        if t.side.count == 3 {
            for atom in r.side.atoms {
                let d = deviation(&scene(PointKind::Reference { side, atom, face: t.side.atoms })).unwrap();
                assert!(d < 1e-7, "{} on {}: {d:e}", t.name, r.name);
            }
        }
    });
}

#[test]
fn ends_of_parallel_capsules_and_cylinders_follow_differences() {
    for (a, b) in [("capsule side", "capsule side"), ("cylinder side", "capsule side"), ("box edge", "cylinder side")] {
        let (a, b) = (touch(a), tilted(touch(b), Vec3::ZERO));
        // turned until the two edges are parallel but for 5e-4 rad
        let along = |spin: f64| {
            let s = Scene::new([a, b], 0.01, [0.0, spin], PointKind::Nearest);
            s.poses[0].rotation.c[2].cross(s.poses[1].rotation.c[2]).dot(s.n)
        };
        let (mut lo, mut hi) = (0.0, 0.0);
        for k in 0..64 {
            let (u, v) = (k as f64 * 0.1, (k + 1) as f64 * 0.1);
            if along(u) * along(v) < 0.0 {
                (lo, hi) = (u, v);
            }
        }
        for _ in 0..60 {
            let m = 0.5 * (lo + hi);
            if along(lo) * along(m) <= 0.0 { hi = m } else { lo = m }
        }
        for atom in [0, 1] {
            let kind = PointKind::Incident { side: 1, atom };
            let d = deviation(&Scene::new([a, b], 0.01, [0.0, lo + 5e-4], kind)).unwrap();
            assert!(d < 1e-7, "{} – {}: {d:e}", a.name, b.name);
        }
        let mut parallel = Scene::new([a, b], 0.01, [0.0, lo], PointKind::Nearest);
        parallel.sides[1].fixed = false;
        assert!(matches!(derivatives_of(&parallel), Err(CollisionError::NoDerivative { .. })));
    }
}

/// Columns of the body that [`columns`] leaves to the invariance under common motions, from the kernel itself; relative
/// to the largest.
pub(in crate::collision) fn deviation_of_the_other_body(s: &Scene, d: &PointDerivatives, eps: f64) -> f64 {
    let kernel = Kernel::new(&s.shapes, &s.poses, s.n, &s.sides, eps).unwrap();
    let plane = if eps > 0.0 { ProjectionPlane::OfBody } else { ProjectionPlane::OfReference };
    let motion = PointMotion::new(&kernel, &s.kind, plane).unwrap();
    let other = 1 - kernel.follower();
    let (mut worst, mut size) = (0.0f64, 1.0f64);
    for k in 0..6 {
        let rate = motion.rate(&Twist::unit(other, k));
        worst = worst.max((rate.normal - d.normal[other][k]).norm()).max((rate.point - d.point[other][k]).norm());
        size = size.max(rate.normal.norm()).max(rate.point.norm());
    }
    worst / size
}

#[test]
fn moving_both_bodies_together_carries_the_contact_along() {
    for a in touches() {
        for b in touches() {
            let s = Scene::new([a, b], 0.03, [0.4, 1.9], PointKind::Nearest);
            let deviation = deviation_of_the_other_body(&s, &derivatives_of(&s).unwrap(), 0.0);
            assert!(deviation < 1e-12, "{} – {}: {deviation:e}", a.name, b.name);
        }
    }
}

#[test]
fn coinciding_points_and_overlaps_as_deep_as_the_curvature_have_no_derivative() {
    let refused = |a: &str, b: &str, distance: f64| {
        let (a, b) = (touch(a), touch(b));
        // the scene is built apart and pushed together afterwards: the slow solver needs a regular system as well
        let mut s = Scene::new([a, b], 0.1, [0.3, 0.8], PointKind::Nearest);
        s.poses[1].position += s.n * (distance - 0.1);
        let error = derivatives_of(&s).unwrap_err();
        assert!(error.to_string().contains("no derivative"), "{error}");
    };
    refused("sphere", "sphere", -0.24);
    refused("sphere", "sphere", -0.3);
    refused("box corner", "hull corner", 0.0);
    refused("box corner", "capsule side", -0.08);
    refused("ellipsoid", "ellipsoid", -0.5);
    refused("cylinder rim", "box corner", -0.1);
}
