//! Free rotation that keeps its energy: the gyroscopic term of a root that can turn freely, by the implicit midpoint rule in
//! its own axes.   (step-3)
//!
//! Explicit Euler gains energy in every turn. For the locked tree, a rigid body with the inertia I that all its bodies have
//! together, `I (ω⁺ − ω) + dt ω_m × I ω_m = 0` with `ω_m = (ω + ω⁺)/2` keeps energy and the size of the angular momentum
//! exactly. The difference from the explicit term is added to the free velocity, as a rotation about the center of mass.
//! Linear momentum stays as it is, and for a single body the rule is the midpoint rule itself.
#![allow(non_snake_case)]

use super::kinematics::Kinematics;
use crate::model::{Model, PrimitiveKind};
use crate::spatial::{Mat3, Motion, Quat, SpatialInertia, Vec3, right_jacobian};

/// Newton's iterations for ω⁺, of which three or four are needed below one radian a step. Where they do not converge,
/// rotation is too fast for the step and ω⁺ = ω, which keeps the energy too.
const MIDPOINT_ITERATIONS: usize = 20;
/// Fraction of ω that the last iteration may change: the next one would change the square of it.
const CONVERGED: f64 = 1e-8;

/// The rotation of one locked tree, in the axes of its root.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gyration {
    /// The root, its first dof of rotation, and that of translation if it has them.
    pub root: usize,
    pub ball: usize,
    pub translation: Option<usize>,
    /// Mass, center of mass relative to that of rotation, and inertia about the point about which it turns: the center of mass of a
    /// body that floats, else the center of the joint.
    mass: f64,
    com: Vec3,
    I: Mat3,
    /// Angular velocity before and after, and the change that the explicit rule makes of it.
    w: Vec3,
    next: Vec3,
    explicit: Vec3,
    converged: bool,
    /// Rotation of the root, and axes of its translation as columns.
    R: Mat3,
    E: Mat3,
    /// The point about which the root turns, relative to the tree's origin, world axes.
    p: Vec3,
}

impl Gyration {
    /// The rotation of the tree with the given root and inertia (world axes, at the tree's origin); `None` if it cannot turn
    /// freely.
    fn new(model: &Model, kin: &Kinematics, root: usize, all: &SpatialInertia, v: &[f64]) -> Option<Gyration> {
        let tree = model.tree();
        let (translation, ball) = match &tree.primitives[tree.nodes[root].primitives.clone()] {
            [p] if p.kind == PrimitiveKind::Ball => (None, p.v),
            [t, p] if (t.kind, p.kind) == (PrimitiveKind::Translation, PrimitiveKind::Ball) => (Some(t.v), p.v),
            _ => return None,
        };
        let (w, R) = (Vec3::from_slice(&v[ball..]), kin.X_wb[root].rotation);
        if w == Vec3::ZERO || all.mass <= 0.0 {
            return None;
        }
        // a rotation about p moves the tree's origin by p × ω
        let p = (0..3).map(|k| kin.axes[ball + k]).fold(Vec3::ZERO, |s, axis| s + axis.ang.cross(axis.lin) * 0.5);
        let com = R.tmul(all.h) * (1.0 / all.mass) - R.tmul(p);
        let about_p = all.about_origin.to_mat() - point_masses(all.h, p) + point_masses(p, p) * (0.5 * all.mass);
        let mut I = R.transpose() * (about_p * R);
        if translation.is_some() {
            I = I - point_masses(com, com) * (0.5 * all.mass);
        }
        let E = translation.map_or(Mat3::ZERO, |t| Mat3 { c: core::array::from_fn(|k| kin.axes[t + k].lin) });
        let mut g = Gyration {
            root,
            ball,
            translation,
            mass: all.mass,
            com,
            I,
            w,
            next: w,
            explicit: Vec3::ZERO,
            converged: false,
            R,
            E,
            p,
        };
        g.turn(model.options().dt)?;
        Some(g)
    }

    /// ω⁺ by Newton. `None` for a tree without inertia.
    fn turn(&mut self, dt: f64) -> Option<()> {
        self.explicit = inverse(&self.I)? * (self.w.cross(self.I * self.w) * -dt);
        let mut next = self.w;
        for _ in 0..MIDPOINT_ITERATIONS {
            let m = (self.w + next) * 0.5;
            let residual = self.I * (next - self.w) + m.cross(self.I * m) * dt;
            let step = inverse(&self.implicit(m, dt))? * residual;
            next -= step;
            if step.dot(step) <= CONVERGED * CONVERGED * self.w.dot(self.w) {
                (self.next, self.converged) = (next, true);
                break;
            }
        }
        Some(())
    }

    /// `N(ω)`: the derivative of `ω × I ω`.
    fn slope(&self, w: Vec3) -> Mat3 {
        Mat3::skew(w) * self.I - Mat3::skew(self.I * w)
    }

    /// `I + dt/2 N(ω_m)`.
    fn implicit(&self, m: Vec3, dt: f64) -> Mat3 {
        self.I + self.slope(m) * (0.5 * dt)
    }

    fn middle(&self) -> Vec3 {
        (self.w + self.next) * 0.5
    }

    /// What is added to the free velocity: of rotation (axes of the root) and of translation (its own axes).
    pub fn change(&self, dt: f64) -> [Vec3; 2] {
        [self.turned(), self.E.tmul(self.R * self.moved_by(dt))]
    }

    /// The change of rotation.
    fn turned(&self) -> Vec3 {
        self.next - self.w - self.explicit
    }

    /// The change of translation, axes of the root: the center of mass keeps its velocity, also as the root turns, which the
    /// explicit rule sees to first order only.
    fn moved_by(&self, dt: f64) -> Vec3 {
        let centripetal = self.w.cross(self.w.cross(self.com)) * dt;
        let swung = self.next.cross(self.com);
        self.com.cross(self.turned()) + centripetal + swung - self.rotation(dt) * swung
    }

    /// Rotation of the root within the step.
    fn rotation(&self, dt: f64) -> Mat3 {
        Quat::exp(self.next * dt).to_matrix()
    }

    /// Derivative of [`Gyration::change`] along changes of ω, of ω⁺, of the explicit change and of the center of mass.
    fn along(&self, dt: f64, dw: Vec3, dnext: Vec3, dexplicit: Vec3, dc: Vec3) -> [Vec3; 2] {
        let (w, c, turned) = (self.w, self.com, dnext - dw - dexplicit);
        let centripetal = (dw.cross(w.cross(c)) + w.cross(dw.cross(c)) + w.cross(w.cross(dc))) * dt;
        let swung = dnext.cross(c) + self.next.cross(dc);
        let angle = right_jacobian(self.next * dt) * (dnext * dt);
        let carried = self.rotation(dt) * (self.next.cross(c).cross(angle) - swung);
        let moved = dc.cross(self.turned()) + c.cross(turned) + centripetal + swung + carried;
        [turned, self.E.tmul(self.R * moved)]
    }

    /// Derivatives of [`Gyration::change`] with respect to the angular velocity: three columns.
    pub fn by_velocity(&self, dt: f64) -> [[Vec3; 2]; 3] {
        let explicit = inverse_or_zero(&self.I) * self.slope(self.w) * -dt;
        let m = self.middle();
        let implicit = match self.converged {
            true => inverse_or_zero(&self.implicit(m, dt)) * self.slope(m) * -dt,
            false => Mat3::ZERO,
        };
        core::array::from_fn(|k| {
            let dw = Vec3::UNITS[k];
            self.along(dt, dw, dw + implicit.c[k], explicit.c[k], Vec3::ZERO)
        })
    }

    /// Derivatives of [`Gyration::change`] with respect to a rotation of the root: translation has axes of its own.
    pub fn by_rotation(&self, dt: f64) -> [[Vec3; 2]; 3] {
        let moved = self.moved_by(dt);
        Vec3::UNITS.map(|axis| [Vec3::ZERO, self.E.tmul(self.R * axis.cross(moved))])
    }

    /// Derivative of [`Gyration::change`] along a change of the inertia and of the center of mass.
    pub fn by_inertia(&self, dt: f64, (dI, dc): (Mat3, Vec3)) -> [Vec3; 2] {
        let (m, turn) = (self.middle(), self.next - self.w);
        let explicit = inverse_or_zero(&self.I) * (dI * self.explicit + self.w.cross(dI * self.w) * dt) * -1.0;
        let next = match self.converged {
            true => inverse_or_zero(&self.implicit(m, dt)) * (dI * turn + m.cross(dI * m) * dt) * -1.0,
            false => Vec3::ZERO,
        };
        self.along(dt, Vec3::ZERO, next, explicit, dc)
    }

    /// Change of inertia and center of mass (axes of the root) while a part of the tree moves along `axis`; both in world axes
    /// at the tree's origin.
    pub fn moved(&self, part: &SpatialInertia, axis: Motion) -> (Mat3, Vec3) {
        let I = part.about_origin.to_mat();
        let W = Mat3::skew(axis.ang);
        let dh = axis.ang.cross(part.h) + axis.lin * part.mass;
        self.in_root_axes(W * I - I * W + point_masses(part.h, axis.lin), dh, 0.0)
    }

    /// Change of inertia and center of mass (axes of the root) for changes of the tree's mass, first moment and inertia about
    /// its origin, world axes.
    pub fn in_root_axes(&self, dI: Mat3, dh: Vec3, dm: f64) -> (Mat3, Vec3) {
        let dI = dI - point_masses(dh, self.p) + point_masses(self.p, self.p) * (0.5 * dm);
        let (dI, dh) = (self.R.transpose() * (dI * self.R), self.R.tmul(dh - self.p * dm));
        let dc = (dh - self.com * dm) * (1.0 / self.mass);
        match self.translation {
            None => (dI, dc),
            Some(_) => (dI - point_masses(self.com, dh) + point_masses(self.com, self.com) * (0.5 * dm), dc),
        }
    }
}

/// `2 (a·b) 1 − a bᵀ − b aᵀ`: how the inertia of masses with first moment a changes while they move along b.
fn point_masses(a: Vec3, b: Vec3) -> Mat3 {
    Mat3 { c: core::array::from_fn(|k| Vec3::UNITS[k] * (2.0 * a.dot(b)) - a * b[k] - b * a[k]) }
}

/// Inverse of a 3 × 3 matrix; `None` if singular.
fn inverse(m: &Mat3) -> Option<Mat3> {
    let [a, b, c] = m.c;
    let rows = [b.cross(c), c.cross(a), a.cross(b)];
    let det = a.dot(rows[0]);
    let scale = 1.0 / det;
    scale.is_finite().then(|| Mat3::from_rows(rows[0] * scale, rows[1] * scale, rows[2] * scale))
}

fn inverse_or_zero(m: &Mat3) -> Mat3 {
    inverse(m).unwrap_or(Mat3::ZERO)
}

/// The rotations of all trees that can turn freely. `sums` is scratch.
pub(super) fn gyrations(
    model: &Model,
    kin: &Kinematics,
    v: &[f64],
    sums: &mut Vec<SpatialInertia>,
    out: &mut Vec<Gyration>,
) {
    let tree = model.tree();
    out.clear();
    sums.clear();
    sums.resize(tree.roots.len(), SpatialInertia::ZERO);
    for (node, inertia) in tree.nodes.iter().zip(&kin.inertia).filter(|(node, _)| node.moves()) {
        sums[node.tree] += *inertia;
    }
    let all = tree.roots.iter().zip(sums.iter());
    out.extend(all.filter_map(|(root, sum)| Gyration::new(model, kin, *root, sum, v)));
}
