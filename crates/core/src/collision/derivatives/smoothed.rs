//! Curvatures of smoothed shapes: the Hessian of the softmax over a core's support features (atoms).   (collision-4)

use crate::collision::shape::Core;
use crate::model::Hull;
use crate::spatial::{Sym3, Vec3, vec3};

/// Most vertices of a large hull in the softmax.
const RING: usize = 64;

/// Derivative of the softmax point s(d) = Σ p_a x_a, p = softmax(h / eps), with respect to d, in the shape's own axes,
/// where h_a(d) is the height of atom a and x_a its gradient. It is not homogeneous: H d ≠ 0. `start` is a vertex near
/// the support point of a hull. `None` for a plane, which stays a face.
pub(crate) fn hessian(core: &Core, d: Vec3, start: u32, eps: f64) -> Option<Sym3> {
    let mut sum = Softmax::new(eps);
    each_atom(core, d, start, |atom| {
        let height = atom_height(core, atom, d, eps);
        sum.add(height, atom_point(core, atom, d, eps), atom_hessian(core, atom, d, eps));
    })?;
    Some(sum.hessian())
}

/// Height of an atom in direction d: x · d; softened for rims.
fn atom_height(core: &Core, atom: u32, d: Vec3, eps: f64) -> f64 {
    match *core {
        Core::Cylinder { radius, .. } | Core::Cone { radius, .. } if core.is_curved(atom) => {
            radius * softened(radius, d, eps) + core.atom(atom, d).z * d.z
        }
        _ => core.atom(atom, d).dot(d),
    }
}

/// Gradient of the height, the point of an atom. Rims shrink to the cap's middle where d is along the axis, so that they have
/// a direction there too.
fn atom_point(core: &Core, atom: u32, d: Vec3, eps: f64) -> Vec3 {
    match *core {
        Core::Cylinder { radius, .. } | Core::Cone { radius, .. } if core.is_curved(atom) => {
            let k = radius / softened(radius, d, eps);
            vec3(k * d.x, k * d.y, core.atom(atom, d).z)
        }
        _ => core.atom(atom, d),
    }
}

/// Derivative of [`atom_point`] with respect to d.
pub(crate) fn atom_hessian(core: &Core, atom: u32, d: Vec3, eps: f64) -> Sym3 {
    match *core {
        Core::Cylinder { radius, .. } | Core::Cone { radius, .. } if core.is_curved(atom) => {
            let flat = softened(radius, d, eps);
            let (k, k3) = (radius / flat, radius / (flat * flat * flat));
            Sym3 { xx: k - k3 * d.x * d.x, xy: -k3 * d.x * d.y, yy: k - k3 * d.y * d.y, ..Sym3::ZERO }
        }
        _ => core.hessian(atom, d),
    }
}

/// √(d_x² + d_y² + (2 eps / radius)²): upright, the rim then bends like the softmax over its points, radius² / (2 eps).
fn softened(radius: f64, d: Vec3, eps: f64) -> f64 {
    let floor = 2.0 * eps / radius;
    (d.x * d.x + d.y * d.y + floor * floor).sqrt()
}

/// Weighted sums over the atoms, relative to the highest one so far, so that no exponential overflows.
struct Softmax {
    eps: f64,
    top: f64,
    weight: f64,
    first: Vec3,
    second: Sym3,
    own: Sym3,
}

impl Softmax {
    fn new(eps: f64) -> Softmax {
        let (first, second) = (Vec3::ZERO, Sym3::ZERO);
        Softmax { eps, top: f64::NEG_INFINITY, weight: 0.0, first, second, own: Sym3::ZERO }
    }

    fn add(&mut self, height: f64, x: Vec3, hessian: Sym3) {
        if height > self.top {
            let k = ((self.top - height) / self.eps).exp();
            (self.weight, self.first) = (self.weight * k, self.first * k);
            (self.second, self.own) = (self.second * k, self.own * k);
            self.top = height;
        }
        let p = ((height - self.top) / self.eps).exp();
        let px = x * p;
        self.weight += p;
        self.first += px;
        self.second +=
            Sym3 { xx: px.x * x.x, xy: px.x * x.y, yy: px.y * x.y, xz: px.x * x.z, yz: px.y * x.z, zz: px.z * x.z };
        self.own += hessian * p;
    }

    /// (Σ p x xᵀ − s sᵀ) / eps + Σ p H
    fn hessian(&self) -> Sym3 {
        let (k, s) = (1.0 / self.weight, self.first * (1.0 / self.weight));
        let mean = Sym3 { xx: s.x * s.x, xy: s.x * s.y, yy: s.y * s.y, xz: s.x * s.z, yz: s.y * s.z, zz: s.z * s.z };
        (self.second * k - mean) * (1.0 / self.eps) + self.own * k
    }
}

/// Calls `f` with every atom in the softmax.
fn each_atom(core: &Core, d: Vec3, start: u32, mut f: impl FnMut(u32)) -> Option<()> {
    let count = match core {
        Core::Plane => return None,
        Core::Point | Core::Ellipsoid { .. } => 1,
        Core::Segment { .. } | Core::Cylinder { .. } | Core::Cone { .. } => 2,
        Core::Box { .. } => 8,
        Core::Prism(_) => 6,
        Core::Hull(hull) => {
            ring(hull, d, start, f);
            return Some(());
        }
    };
    (0..count).for_each(&mut f);
    Some(())
}

/// The support vertex of a hull, its neighbors and theirs, at most [`RING`]; all vertices of a small hull.
fn ring(hull: &Hull, d: Vec3, start: u32, mut f: impl FnMut(u32)) {
    if hull.vertices.len() <= RING {
        return (0..hull.vertices.len() as u32).for_each(f);
    }
    let mut seen = [hull.support(d, start).1; RING];
    let (mut count, mut next) = (1, 0);
    for _ in 0..2 {
        let end = count;
        while next < end {
            for &v in hull.neighbors(seen[next]) {
                if count < RING && !seen[..count].contains(&v) {
                    seen[count] = v;
                    count += 1;
                }
            }
            next += 1;
        }
    }
    seen[..count].iter().for_each(|&v| f(v));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::contact::PointKind;
    use crate::collision::derivatives::kernel::Kernel;
    use crate::collision::derivatives::point_motion::{PointMotion, ProjectionPlane};
    use crate::collision::derivatives::tests::deviation_of_the_other_body;
    use crate::collision::derivatives::tests::scene::{Scene, touch, touches};
    use crate::collision::derivatives::{Twist, frozen, smoothed_derivatives};
    use crate::collision::shape::Convex;
    use crate::spatial::{Pose, Quat};

    const EPS: f64 = 0.01;

    /// Softmax point in world axes when a shape is touched in the world direction `d`.
    fn soft_point(shape: &Convex, pose: &Pose, d: Vec3) -> Vec3 {
        let (core, own) = (&shape.core, pose.rotation.tmul(d));
        let (mut sum, mut weight) = (Vec3::ZERO, 0.0);
        each_atom(core, own, 0, |atom| {
            let x = atom_point(core, atom, own, EPS);
            let p = (atom_height(core, atom, own, EPS) / EPS).exp();
            sum += x * p;
            weight += p;
        });
        pose.point(sum * (1.0 / weight))
    }

    /// Normal and middle of the smoothed shapes: Newton's method on P (s2 − s1) = 0, derivatives by differences.
    fn smoothed_witness(shapes: &[Convex; 2], poses: &[Pose; 2], start: Vec3) -> (Vec3, [Vec3; 2]) {
        let points = |n: Vec3| [soft_point(&shapes[0], &poses[0], n), soft_point(&shapes[1], &poses[1], -n)];
        let mut n = start;
        for _ in 0..60 {
            let t = n.cross(if n.x.abs() < 0.6 { Vec3::UNITS[0] } else { Vec3::UNITS[1] }).normalized().unwrap();
            let basis = [t, n.cross(t)];
            let turned = |a: f64, b: f64| (n + basis[0] * a + basis[1] * b).normalized().unwrap();
            let residual = |m: Vec3| {
                let s = points(m);
                let apart = s[1] - s[0];
                let tangent = apart - m * m.dot(apart);
                [basis[0].dot(tangent), basis[1].dot(tangent)]
            };
            let h = 1e-6;
            let slope = |a: f64, b: f64| {
                let (p, m) = (residual(turned(a * h, b * h)), residual(turned(-a * h, -b * h)));
                [(p[0] - m[0]) / (2.0 * h), (p[1] - m[1]) / (2.0 * h)]
            };
            let (r, u, v) = (residual(n), slope(1.0, 0.0), slope(0.0, 1.0));
            let det = u[0] * v[1] - v[0] * u[1];
            let step = [-(r[0] * v[1] - v[0] * r[1]) / det, -(u[0] * r[1] - r[0] * u[1]) / det];
            let length = step[0].hypot(step[1]);
            let k = if length > 0.1 { 0.1 / length } else { 1.0 };
            n = turned(step[0] * k, step[1] * k);
            if length < 1e-14 {
                break;
            }
        }
        (n, points(n))
    }

    /// At the nearest points of the smoothed shapes, the smoothed derivative is that of the smoothed query.
    #[test]
    fn smoothed_derivatives_follow_differences_of_the_smoothed_query() {
        let names = [
            "box face",
            "box edge",
            "box corner",
            "hull edge",
            "cylinder cap",
            "cone side",
            "capsule side",
            "ellipsoid",
            "prism corner",
        ];
        for a in names {
            for b in names {
                let scene = Scene::new([touch(a), touch(b)], 0.03, [0.3, 1.3], PointKind::Nearest);
                let (n, s) = smoothed_witness(&scene.shapes, &scene.poses, scene.n);
                let middle = (s[0] + s[1]) * 0.5;
                let poses = scene.poses.map(|x| Pose { position: x.position - middle, ..x });
                let kernel = Kernel::new(&scene.shapes, &poses, n, &scene.sides, EPS).unwrap();
                let kernel = kernel.touching_at(s.map(|x| x - middle)).unwrap();
                let motion = PointMotion::new(&kernel, &PointKind::Nearest, ProjectionPlane::OfBody).unwrap();
                for body in 0..2 {
                    for k in 0..6 {
                        let (dn, dp) = difference(&scene.shapes, &poses, n, body, k);
                        let radii = (scene.shapes[0].radius - scene.shapes[1].radius) * 0.5;
                        let rate = motion.rate(&Twist::unit(body, k));
                        let scale = 1.0f64.max(dn.norm()).max(dp.norm());
                        assert!((rate.normal - dn).norm() < 1e-7 * scale, "{a} – {b}: {:?} {dn:?}", rate.normal);
                        let got = rate.point - rate.normal * radii;
                        assert!((got - dp).norm() < 1e-7 * scale, "{a} – {b}: {got:?} {dp:?}");
                    }
                }
            }
        }
    }

    /// Difference of normal and middle of the smoothed cores.
    fn difference(shapes: &[Convex; 2], poses: &[Pose; 2], n: Vec3, body: usize, k: usize) -> (Vec3, Vec3) {
        let at = |h: f64| {
            let (mut moved, step) = (*poses, Vec3::UNITS[k % 3] * h);
            let motion = if k < 3 { Pose::translation(step) } else { Pose::new(Vec3::ZERO, Quat::exp(step)) };
            moved[body] = motion * moved[body];
            let (n, s) = smoothed_witness(shapes, &moved, n);
            (n, (s[0] + s[1]) * 0.5)
        };
        let h = 2e-5;
        let [a, b, c, d] = [h, -h, 2.0 * h, -2.0 * h].map(at);
        let k = 1.0 / (12.0 * h);
        (((a.0 - b.0) * 8.0 - (c.0 - d.0)) * k, ((a.1 - b.1) * 8.0 - (c.1 - d.1)) * k)
    }

    #[test]
    fn smoothed_derivatives_are_finite_and_carry_common_motions_along() {
        for a in touches() {
            for b in touches() {
                let s = Scene::new([a, b], 0.02, [0.3, 1.3], PointKind::Nearest);
                let d = smoothed_derivatives(&s.shapes, &s.poses, s.n, &s.sides, &s.kind, EPS).unwrap();
                let deviation = deviation_of_the_other_body(&s, &d, EPS);
                assert!(deviation < 1e-12, "{} – {}: {deviation:e}", a.name, b.name);
                assert_eq!(d.distance, frozen(s.n).distance);
            }
        }
    }

    /// A flat cap stays finite where the exact rim has no curvature to speak of.
    #[test]
    fn an_upright_cylinder_bends_like_a_disc() {
        let core = Core::Cylinder { radius: 0.2, half: 0.3 };
        let h = hessian(&core, vec3(0.0, 0.0, 1.0), 0, EPS).unwrap();
        assert!((h.xx - 0.2 * 0.2 / (2.0 * EPS)).abs() < 1e-12 && h.xx == h.yy && h.xy == 0.0, "{h:?}");
    }
}
