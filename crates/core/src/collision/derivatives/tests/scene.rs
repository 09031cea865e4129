//! Two features in contact, solved slowly: Newton's method with differences instead of Hessians.

use crate::collision::contact::PointKind;
use crate::collision::pair::Side;
use crate::collision::shape::{Convex, Core, cap_atom};
use crate::model::{Hull, Mesh};
use crate::spatial::{Mat3, Pose, Quat, Vec3, axis_rotation, vec3};
use std::sync::OnceLock;

/// A feature of a shape and the outward direction, in the shape's axes, in which it is touched.
#[derive(Clone, Copy)]
pub struct Touch {
    pub name: &'static str,
    pub shape: Convex<'static>,
    pub side: Side,
    pub d: Vec3,
}

/// An irregular tetrahedron.
pub fn tetrahedron() -> &'static Hull {
    static HULL: OnceLock<Hull> = OnceLock::new();
    HULL.get_or_init(|| {
        let vertices =
            vec![vec3(0.3, 0.02, -0.1), vec3(-0.2, 0.25, -0.12), vec3(-0.15, -0.3, -0.08), vec3(0.03, 0.01, 0.35)];
        let triangles = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
        Hull::new(&Mesh { name: "tetrahedron".into(), vertices, triangles })
    })
}

static PRISM: [Vec3; 6] = [
    vec3(0.4, 0.0, 0.05),
    vec3(-0.2, 0.35, 0.0),
    vec3(-0.25, -0.3, 0.1),
    vec3(0.4, 0.0, -1.0),
    vec3(-0.2, 0.35, -1.0),
    vec3(-0.25, -0.3, -1.0),
];

pub fn touches() -> Vec<Touch> {
    let with = |core, radius| Convex { core, radius };
    let sphere = with(Core::Point, 0.12);
    let capsule = with(Core::Segment { half: 0.3 }, 0.08);
    let cuboid = with(Core::Box { half: vec3(0.2, 0.3, 0.15) }, 0.0);
    let rounded = with(Core::Box { half: vec3(0.25, 0.1, 0.2) }, 0.03);
    let cylinder = with(Core::Cylinder { radius: 0.2, half: 0.3 }, 0.0);
    let cone = with(Core::Cone { radius: 0.25, half: 0.2 }, 0.0);
    let ellipsoid = with(Core::Ellipsoid { radii: vec3(0.3, 0.2, 0.1) }, 0.0);
    let hull = with(Core::Hull(tetrahedron()), 0.0);
    let prism = with(Core::Prism(&PRISM), 0.0);
    let cap = |top, k: [u32; 3]| Side::face(k.map(|e| cap_atom(top, e)), [0.3, 0.5, 0.2]);
    let v = &tetrahedron().vertices;
    let f = (v[0] - v[1]).cross(v[3] - v[1]) * -1.0;
    let p = (PRISM[1] - PRISM[0]).cross(PRISM[2] - PRISM[0]);
    let of = |name, shape, side, d: Vec3| Touch { name, shape, side, d: d.normalized().unwrap() };
    let edge_of_prism = (PRISM[1] - PRISM[0]).cross(vec3(0.05, 0.02, -1.0));
    let edge_of_hull = f + (v[0] - v[3]).cross(v[2] - v[3]) * -0.4;
    vec![
        of("sphere", sphere, Side::point(0), vec3(0.3, -0.5, 0.6)),
        of("capsule end", capsule, Side::point(1), vec3(0.3, 0.2, 0.9)),
        of("capsule side", capsule, Side::edge([0, 1], 0.3), vec3(0.6, 0.8, 0.0)),
        of("box corner", cuboid, Side::point(7), vec3(0.5, 0.4, 0.7)),
        of("box edge", cuboid, Side::edge([3, 7], 0.4), vec3(0.6, 0.8, 0.0)),
        of("box face", cuboid, Side::face([1, 3, 5], [0.2, 0.5, 0.3]), vec3(1.0, 0.0, 0.0)),
        of("rounded corner", rounded, Side::point(2), vec3(-0.5, 0.4, -0.7)),
        of("rounded edge", rounded, Side::edge([2, 3], 0.7), vec3(0.0, 0.7, -0.8)),
        of("rounded face", rounded, Side::face([0, 1, 2], [0.2, 0.5, 0.3]), vec3(0.0, 0.0, -1.0)),
        of("cylinder rim", cylinder, Side::point(1), vec3(0.5, 0.3, 0.6)),
        of("cylinder side", cylinder, Side::edge([0, 1], 0.6), vec3(0.6, -0.8, 0.0)),
        of("cylinder cap", cylinder, cap(true, [0, 2, 5]), vec3(0.0, 0.0, 1.0)),
        of("cone apex", cone, Side::point(0), vec3(0.1, 0.2, 0.9)),
        of("cone rim", cone, Side::point(1), vec3(0.5, 0.3, -0.6)),
        of("cone side", cone, Side::edge([0, 1], 0.45), vec3(0.4 * 0.6, 0.4 * 0.8, 0.25)),
        of("cone base", cone, cap(false, [1, 4, 6]), vec3(0.0, 0.0, -1.0)),
        of("ellipsoid", ellipsoid, Side::point(0), vec3(0.4, -0.3, 0.5)),
        of("hull corner", hull, Side::point(3), vec3(0.1, -0.1, 0.9)),
        of("hull edge", hull, Side::edge([0, 3], 0.35), edge_of_hull),
        of("hull face", hull, Side::face([0, 1, 3], [0.4, 0.3, 0.3]), f),
        of("prism corner", prism, Side::point(0), vec3(0.8, 0.1, 0.6)),
        of("prism edge", prism, Side::edge([0, 1], 0.45), edge_of_prism),
        of("prism face", prism, Side::face([0, 1, 2], [0.4, 0.3, 0.3]), p),
        of("plane", with(Core::Plane, 0.0), Side::face([0, 1, 2], [-0.3, 0.6, 0.7]), vec3(0.0, 0.0, 1.0)),
    ]
}

pub fn touch(name: &str) -> Touch {
    touches().into_iter().find(|t| t.name == name).unwrap()
}

/// Two shapes, what touches, and how the contact point follows.
#[derive(Clone, Copy)]
pub struct Scene {
    pub shapes: [Convex<'static>; 2],
    pub poses: [Pose; 2],
    pub n: Vec3,
    pub sides: [Side; 2],
    pub kind: PointKind,
}

#[derive(Clone, Copy)]
pub struct Value {
    pub n: Vec3,
    pub p: Vec3,
    pub phi: f64,
}

fn axes(n: Vec3) -> Mat3 {
    let other = if n.x.abs() < 0.6 { Vec3::UNITS[0] } else { Vec3::UNITS[1] };
    let t = n.cross(other).normalized().unwrap();
    Mat3::from_columns(t, n.cross(t), n)
}

impl Scene {
    /// Places two features opposite to each other, surfaces `distance` apart, the contact point at the origin.
    pub fn new(touch: [Touch; 2], distance: f64, spin: [f64; 2], kind: PointKind) -> Scene {
        let n = vec3(0.48, -0.6, 0.64);
        let shapes = touch.map(|t| t.shape);
        let poses = [0, 1].map(|i| {
            let m = if i == 0 { n } else { -n };
            let turn = axis_rotation(m, spin[i].sin(), spin[i].cos());
            let rotation = turn * axes(m) * axes(touch[i].d).transpose();
            let y = touch[i].side.point_of(&shapes[i].core, touch[i].d) + touch[i].d * shapes[i].radius;
            Pose { rotation, position: n * (distance * i as f64) - rotation * y }
        });
        Scene { shapes, poses, n, sides: touch.map(|t| t.side), kind }.centered()
    }

    /// The contact point at the origin.
    pub fn centered(mut self) -> Scene {
        let p = self.value().p;
        for pose in &mut self.poses {
            pose.position -= p;
        }
        self
    }

    fn moved(&self, body: usize, k: usize, h: f64) -> Scene {
        let mut scene = *self;
        let step = |j: usize| Vec3::UNITS[j % 3] * h;
        let motion = if k < 3 { Pose::translation(step(k)) } else { Pose::new(Vec3::ZERO, Quat::exp(step(k))) };
        scene.poses[body] = motion * scene.poses[body];
        scene
    }

    fn grown(&self, body: usize, k: usize, h: f64) -> Scene {
        let mut scene = *self;
        let shape = &mut scene.shapes[body];
        match (&mut shape.core, k) {
            (Core::Point | Core::Segment { .. }, 0) => shape.radius += h,
            (Core::Cylinder { radius, .. } | Core::Cone { radius, .. }, 0) => *radius += h,
            (Core::Segment { half } | Core::Cylinder { half, .. } | Core::Cone { half, .. }, 1) => *half += h,
            (Core::Box { half }, _) => half[k] += h,
            (Core::Ellipsoid { radii }, _) => radii[k] += h,
            (Core::Hull(hull), _) => {
                let mut scale = vec3(1.0, 1.0, 1.0);
                scale[k] += h;
                *hull = Box::leak(Box::new(hull.scaled(scale)));
            }
            _ => {}
        }
        scene
    }

    fn outward(&self, i: usize, n: Vec3) -> Vec3 {
        if i == 0 { n } else { -n }
    }

    fn atom(&self, i: usize, atom: u32, n: Vec3) -> Vec3 {
        let d = self.poses[i].rotation.tmul(self.outward(i, n));
        self.poses[i].point(self.shapes[i].core.atom(atom, d))
    }

    /// Along how many directions each point may glide.
    fn free(&self) -> [usize; 2] {
        let mut free = self.sides.map(|s| if s.fixed { 0 } else { s.count as usize - 1 });
        if free[0] + free[1] > 2 {
            let other = if free[0] == 2 { 1 } else { 0 };
            free[other] = 0;
        }
        free
    }

    /// Normal and core points at which `P (y2 − y1) = 0` and every free edge is perpendicular to the normal.
    pub fn solve(&self) -> (Vec3, [Vec3; 2]) {
        let free = self.free();
        let unknowns = 2 + free[0] + free[1];
        let (mut n, mut sides) = (self.n, self.sides);
        let apply = |n: Vec3, sides: &[Side; 2], z: &[f64]| {
            let t = axes(n);
            let m = (n + t.c[0] * z[0] + t.c[1] * z[1]).normalized().unwrap();
            let (mut s, mut k) = (*sides, 2);
            for i in 0..2 {
                for j in 1..=free[i] {
                    s[i].weights[j] += z[k];
                    s[i].weights[0] -= z[k];
                    k += 1;
                }
            }
            (m, s)
        };
        let points = |n: Vec3, sides: &[Side; 2]| {
            [0, 1].map(|i| {
                (0..sides[i].count as usize)
                    .fold(Vec3::ZERO, |y, k| y + self.atom(i, sides[i].atoms[k], n) * sides[i].weights[k])
            })
        };
        let residual = |basis: &Mat3, n: Vec3, sides: &[Side; 2]| {
            let y = points(n, sides);
            let apart = y[1] - y[0];
            let tangent = apart - n * n.dot(apart);
            let mut r = vec![basis.c[0].dot(tangent), basis.c[1].dot(tangent)];
            for i in 0..2 {
                for j in 1..=free[i] {
                    let atoms = sides[i].atoms;
                    r.push(n.dot(self.atom(i, atoms[j], n) - self.atom(i, atoms[0], n)));
                }
            }
            nalgebra::DVector::from_vec(r)
        };
        for _ in 0..12 {
            let basis = axes(n);
            let r = residual(&basis, n, &sides);
            let mut jacobian = nalgebra::DMatrix::zeros(unknowns, unknowns);
            for k in 0..unknowns {
                let at = |h: f64| {
                    let mut z = vec![0.0; unknowns];
                    z[k] = h;
                    let (m, s) = apply(n, &sides, &z);
                    residual(&basis, m, &s)
                };
                jacobian.set_column(k, &((at(1e-5) - at(-1e-5)) / 2e-5));
            }
            let step = jacobian.lu().solve(&-&r).expect("a regular system");
            (n, sides) = apply(n, &sides, step.as_slice());
            if step.amax() < 1e-14 {
                break;
            }
        }
        (n, points(n, &sides))
    }

    /// Contact point, normal and distance by plain geometry.
    pub fn value(&self) -> Value {
        let (n, y) = self.solve();
        let radius = |i: usize| self.shapes[i].radius;
        let x = [0, 1].map(|i| y[i] + self.outward(i, n) * radius(i));
        let onto = |side: usize, corner: Vec3| {
            // the surface point of the incident shape, and its foot on the plane through the reference's surface point
            let top = corner + self.outward(side, n) * radius(side);
            let p = top - n * n.dot(top - x[1 - side]);
            Value { n, p, phi: n.dot(if side == 1 { top - p } else { p - top }) }
        };
        match self.kind {
            PointKind::Nearest => Value { n, p: (x[0] + x[1]) * 0.5, phi: n.dot(x[1] - x[0]) },
            PointKind::Incident { side, atom } => onto(side as usize, self.atom(side as usize, atom, n)),
            PointKind::Crossing { side, edge, reference } => {
                let side = side as usize;
                let (c0, c1) = (self.atom(side, edge[0], n), self.atom(side, edge[1], n));
                let (r0, r1) = (self.atom(1 - side, reference[0], n), self.atom(1 - side, reference[1], n));
                let m = (r1 - r0).cross(n);
                let (h0, h1) = (m.dot(c0 - r0), m.dot(c1 - r0));
                onto(side, (c1 * h0 - c0 * h1) * (1.0 / (h0 - h1)))
            }
            PointKind::Reference { side, atom, face } => {
                let side = side as usize;
                let a = self.atom(1 - side, atom, n);
                let f = face.map(|k| self.atom(side, k, n));
                // a + λ n in the plane of the face, by Cramer's rule
                let columns = Mat3::from_columns(f[1] - f[0], f[2] - f[0], -n);
                let above = Mat3::from_columns(f[1] - f[0], f[2] - f[0], a - f[0]);
                let lambda = above.determinant() / columns.determinant();
                let sign = if side == 1 { 1.0 } else { -1.0 };
                let p = a + self.outward(1 - side, n) * radius(1 - side);
                Value { n, p, phi: sign * lambda - radius(0) - radius(1) }
            }
        }
    }

    /// Fourth-order central difference.
    fn difference(&self, h: f64, at: impl Fn(&Scene, f64) -> Scene) -> Value {
        let [a, b, c, d] = [h, -h, 2.0 * h, -2.0 * h].map(|h| at(self, h).value());
        let k = 1.0 / (12.0 * h);
        Value {
            n: ((a.n - b.n) * 8.0 - (c.n - d.n)) * k,
            p: ((a.p - b.p) * 8.0 - (c.p - d.p)) * k,
            phi: ((a.phi - b.phi) * 8.0 - (c.phi - d.phi)) * k,
        }
    }

    pub fn twist_difference(&self, body: usize, k: usize, h: f64) -> Value {
        self.difference(h, |s, h| s.moved(body, k, h))
    }

    pub fn size_difference(&self, body: usize, k: usize, h: f64) -> Value {
        self.difference(h, |s, h| s.grown(body, k, h))
    }
}
