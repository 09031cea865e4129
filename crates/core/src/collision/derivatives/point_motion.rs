//! Motion of the points of a patch, given the motion of the normal.   (collision-7)

use super::CollisionError;
use super::kernel::{Change, Kernel};
use crate::collision::contact::PointKind;
use crate::collision::pair::Side;
use crate::spatial::Vec3;

/// Below it a cut point has lost half of its digits: no derivative.
const LEAST_SINE: f64 = 1e-9;

impl PointKind {
    /// Whether the distance changes by more than the relative velocity along the normal: the point stays on an edge or
    /// corner of the reference, or the normal is not fixed to the reference.
    pub fn glides(&self, sides: &[Side; 2]) -> bool {
        match *self {
            PointKind::Nearest => false,
            PointKind::Incident { side, .. } => {
                let reference = &sides[1 - side as usize];
                reference.count < 3 || reference.fixed
            }
            PointKind::Crossing { .. } | PointKind::Reference { .. } => true,
        }
    }
}

/// Sine of the angle between a line along `e` and a plane with the normal `m`; zero if either has no length.
fn sine(e: Vec3, m: Vec3) -> f64 {
    let lengths = e.norm() * m.norm();
    if lengths > 0.0 { e.dot(m).abs() / lengths } else { 0.0 }
}

/// Rates of a contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rate {
    pub normal: Vec3,
    pub point: Vec3,
    pub distance: f64,
}

/// Which plane the points of a patch are projected on.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum ProjectionPlane {
    /// Through the touching point of the reference, perpendicular to n.
    OfReference,
    /// Through the reference body's material point below the contact: the same plane as long as n is fixed to that body.
    OfBody,
}

/// Motion of one contact point.
pub(crate) struct PointMotion<'a> {
    kernel: &'a Kernel<'a>,
    kind: PointKind,
    plane: ProjectionPlane,
}

impl<'a> PointMotion<'a> {
    /// Rejects points without a derivative.
    pub fn new(
        kernel: &'a Kernel<'a>,
        kind: &PointKind,
        plane: ProjectionPlane,
    ) -> Result<PointMotion<'a>, CollisionError> {
        let edge = |side: usize, a: u32, b: u32| kernel.bodies[side].atom(b) - kernel.bodies[side].atom(a);
        let sine = match *kind {
            PointKind::Nearest | PointKind::Incident { .. } => 1.0,
            PointKind::Crossing { side, edge: [a, b], reference: [c, d] } => {
                sine(edge(side as usize, a, b), edge(1 - side as usize, c, d).cross(kernel.n))
            }
            PointKind::Reference { side, face: [a, b, c], .. } => {
                sine(kernel.n, edge(side as usize, a, b).cross(edge(side as usize, a, c)))
            }
        };
        if sine.is_nan() || sine <= LEAST_SINE {
            let why = "an edge or face runs along the plane or line that cuts it: sine of their angle";
            return Err(CollisionError::NoDerivative { why, got: sine, least: LEAST_SINE });
        }
        Ok(PointMotion { kernel, kind: *kind, plane })
    }

    /// Where the follower rests on a face: the point of its core that the contact follows in the plane, and the fraction of its
    /// motion along the normal that the contact does not follow.
    #[inline(always)]
    pub fn on_face(&self) -> Option<(Vec3, f64)> {
        let (k, follower) = (self.kernel, self.kernel.follower());
        match self.kind {
            _ if !k.rests_on_face() => None,
            PointKind::Nearest => Some((k.point(follower), 0.5)),
            PointKind::Incident { side, atom } if side as usize == follower => {
                let body = &k.bodies[follower];
                (!body.shape.core.is_curved(atom)).then(|| (body.atom(atom), 1.0))
            }
            _ => None,
        }
    }

    #[inline(always)]
    pub fn rate<C: Change>(&self, change: &C) -> Rate {
        let normal = self.kernel.normal(change);
        let (point, distance) = match self.kind {
            PointKind::Nearest => self.nearest(change, normal),
            PointKind::Incident { side, atom } => {
                let (x, dx) = self.kernel.atom(change, side as usize, atom, normal);
                self.projected(change, side as usize, x, dx, normal)
            }
            PointKind::Crossing { side, edge, reference } => {
                let (x, dx) = self.crossing(change, side as usize, edge, reference, normal);
                self.projected(change, side as usize, x, dx, normal)
            }
            PointKind::Reference { side, atom, face } => self.reference(change, side as usize, atom, face, normal),
        };
        Rate { normal, point, distance }
    }

    /// Half-way between the surfaces: x = y + r d on both sides.
    #[inline(always)]
    fn nearest<C: Change>(&self, change: &C, dn: Vec3) -> (Vec3, f64) {
        let k = self.kernel;
        let dy = k.points(change, dn);
        let grown = [change.radius(0), change.radius(1)];
        let surface = |i: usize| dy[i] + (dn * k.bodies[i].shape.radius + k.n * grown[i]) * k.bodies[i].sign;
        let distance = k.n.dot(k.carried(change, 1) - k.carried(change, 0)) - grown[0] - grown[1];
        ((surface(0) + surface(1)) * 0.5, distance)
    }

    /// A core point x of the incident shape, moving at dx, on the plane of the reference:
    /// p = x − n h + n s r with h = n · (x − a), where a is a point of the reference and s r its signed radius.
    #[inline(always)]
    fn projected<C: Change>(&self, change: &C, side: usize, x: Vec3, dx: Vec3, dn: Vec3) -> (Vec3, f64) {
        let (k, r) = (self.kernel, 1 - side);
        let (a, da) = match self.plane {
            ProjectionPlane::OfReference => (k.point(r), k.carried(change, r)),
            ProjectionPlane::OfBody => (x, change.velocity(r, 0, x)),
        };
        let h = k.n.dot(x - k.point(r));
        let dh = k.n.dot(dx - da) + dn.dot(x - a);
        let reference = &k.bodies[r];
        let offset = (dn * reference.shape.radius + k.n * change.radius(r)) * reference.sign;
        let distance = -k.bodies[side].sign * dh - change.radius(0) - change.radius(1);
        (dx - dn * h - k.n * dh + offset, distance)
    }

    /// Where the edge c0 c1 of the incident shape meets the plane through the edge r0 r1 of the reference and n:
    /// m · (c0 + t (c1 − c0) − r0) = 0 with m = (r1 − r0) × n.
    #[inline(always)]
    fn crossing<C: Change>(
        &self,
        change: &C,
        side: usize,
        edge: [u32; 2],
        reference: [u32; 2],
        dn: Vec3,
    ) -> (Vec3, Vec3) {
        let k = self.kernel;
        let ((c0, dc0), (c1, dc1)) = (k.atom(change, side, edge[0], dn), k.atom(change, side, edge[1], dn));
        let r = reference.map(|atom| k.atom(change, 1 - side, atom, dn));
        let (e, m) = (c1 - c0, (r[1].0 - r[0].0).cross(k.n));
        let dm = (r[1].1 - r[0].1).cross(k.n) + (r[1].0 - r[0].0).cross(dn);
        let k = 1.0 / m.dot(e);
        let t = m.dot(r[0].0 - c0) * k;
        let (x, dx) = (c0 + e * t, dc0 + (dc1 - dc0) * t);
        let dt = -(dm.dot(x - r[0].0) + m.dot(dx - r[0].1)) * k;
        (x, dx + e * dt)
    }

    /// An atom a of the reference; along n it is λ = m · (f0 − a) / (m · n) away from the incident face through f0 with
    /// the direction m = (f1 − f0) × (f2 − f0).
    #[inline(always)]
    fn reference<C: Change>(&self, change: &C, side: usize, atom: u32, face: [u32; 3], dn: Vec3) -> (Vec3, f64) {
        let (k, r) = (self.kernel, 1 - side);
        let (a, da) = k.atom(change, r, atom, dn);
        let f = face.map(|corner| k.atom(change, side, corner, dn));
        let (u, v) = (f[1].0 - f[0].0, f[2].0 - f[0].0);
        let (du, dv) = (f[1].1 - f[0].1, f[2].1 - f[0].1);
        let (m, dm) = (u.cross(v), du.cross(v) + u.cross(dv));
        let height = m.dot(k.n);
        let lambda = m.dot(f[0].0 - a) / height;
        let slope = dm.dot(k.n) + m.dot(dn);
        let dlambda = (dm.dot(f[0].0 - a) + m.dot(f[0].1 - da) - slope * lambda) / height;
        let reference = &k.bodies[r];
        let offset = (dn * reference.shape.radius + k.n * change.radius(r)) * reference.sign;
        let distance = reference.sign * dlambda - change.radius(0) - change.radius(1);
        (da + offset, distance)
    }
}
