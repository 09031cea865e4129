//! Flat faces of shapes: of boxes, hulls and prisms, caps of cylinders, bases of cones.

use crate::collision::pair::Side;
use crate::collision::shape::{Core, cap_atom};
use crate::spatial::{Mat3, Pose, Vec3};

/// Angle between a normal and a face's up to which the face counts as touched flat (rad).
const ALIGNED: f64 = 1e-6;
/// Cosine of the angle that is forgiven where the narrow phase itself says that a face is touched.
const NEARLY_ALIGNED: f64 = 0.999;

/// Faces of a prism: top, bottom, three walls. Triangles repeat their last corner.
const PRISM: [[u32; 4]; 5] = [[0, 1, 2, 2], [3, 5, 4, 4], [0, 3, 4, 1], [1, 4, 5, 2], [2, 5, 3, 0]];

/// Names a face of a shape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum FaceId {
    Box { axis: usize, up: bool },
    Cap { top: bool },
    Hull(u32),
    Prism(usize),
}

/// A face and its outward unit normal, in the frame of the shape.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facing {
    pub id: FaceId,
    pub normal: Vec3,
}

/// The face most turned towards `d` among those that hold the touching atoms of `side`.
#[inline(always)]
pub(super) fn facing(core: &Core, d: Vec3, side: &Side) -> Option<Facing> {
    match *core {
        Core::Box { .. } => {
            let a = [d.x.abs(), d.y.abs(), d.z.abs()];
            let axis = if a[0] >= a[1] && a[0] >= a[2] { 0 } else { 1 + (a[2] > a[1]) as usize };
            let up = d[axis] > 0.0;
            Some(Facing { id: FaceId::Box { axis, up }, normal: Vec3::UNITS[axis] * if up { 1.0 } else { -1.0 } })
        }
        Core::Cylinder { .. } => Some(cap(d.z > 0.0)),
        Core::Cone { .. } => (d.z < 0.0).then(|| cap(false)),
        Core::Hull(hull) => {
            let touching = &side.atoms[..side.count as usize];
            let mut best: Option<(usize, f64, Facing)> = None;
            for &face in hull.faces_at(touching[0]) {
                let shared = touching.iter().filter(|&&a| hull.faces_at(a).contains(&face)).count();
                let normal = hull.faces[face as usize].normal;
                let cosine = normal.dot(d);
                if best.is_none_or(|(s, c, _)| (shared, cosine) > (s, c)) {
                    best = Some((shared, cosine, Facing { id: FaceId::Hull(face), normal }));
                }
            }
            best.map(|(_, _, facing)| facing)
        }
        Core::Prism(corners) => prism_facing(corners, d),
        Core::Point | Core::Segment { .. } | Core::Ellipsoid { .. } | Core::Plane => None,
    }
}

fn cap(top: bool) -> Facing {
    Facing { id: FaceId::Cap { top }, normal: Vec3::UNITS[2] * if top { 1.0 } else { -1.0 } }
}

fn prism_facing(corners: &[Vec3; 6], d: Vec3) -> Option<Facing> {
    let mut best: Option<(f64, usize, Vec3)> = None;
    for k in 0..5 {
        let normal = prism_normal(corners, k);
        let (along, square) = (normal.dot(d), normal.dot(normal));
        // signed square of the cosine: as good an order as the cosine itself, without roots
        let cosine = if square > 0.0 { along * along.abs() / square } else { continue };
        if best.is_none_or(|(c, ..)| cosine > c) {
            best = Some((cosine, k, normal));
        }
    }
    let (_, k, normal) = best?;
    Some(Facing { id: FaceId::Prism(k), normal: normal.normalized()? })
}

/// Outward, of any length: terrain may come with either winding.
fn prism_normal(corners: &[Vec3; 6], k: usize) -> Vec3 {
    let [a, b, c, _] = PRISM[k].map(|i| corners[i as usize]);
    let normal = (b - a).cross(c - a);
    let inward = (0..6).fold(Vec3::ZERO, |x, i| x + corners[i] - a).dot(normal) > 0.0;
    if inward { -normal } else { normal }
}

impl Facing {
    /// Whether the shape touches with the whole face, `d` being the outward direction of the contact.
    #[inline(always)]
    pub fn is_touched(&self, d: Vec3, side: &Side) -> bool {
        let off = self.normal - d;
        off.dot(off) <= ALIGNED * ALIGNED || (side.count == 3 && self.normal.dot(d) >= NEARLY_ALIGNED)
    }

    /// Number of corners; a cap counts as an octagon.
    #[inline(always)]
    pub fn n_corners(&self, core: &Core) -> usize {
        match (self.id, core) {
            (FaceId::Hull(face), Core::Hull(hull)) => hull.face_corners(face).len(),
            (FaceId::Prism(k), _) => 4 - (k < 2) as usize,
            (FaceId::Cap { .. }, _) => 8,
            _ => 4,
        }
    }

    /// Atom of corner `k`, counter-clockwise seen from outside.
    #[inline(always)]
    fn corner(&self, core: &Core, k: usize) -> u32 {
        match (self.id, core) {
            (FaceId::Box { axis, up }, _) => {
                let [u, v] = in_face(axis, up);
                let (right, top) = (k == 1 || k == 2, k >= 2);
                (right as u32) << u | (top as u32) << v | (up as u32) << axis
            }
            (FaceId::Cap { top }, _) => cap_atom(top, if top { k } else { 8 - k } as u32),
            (FaceId::Hull(face), Core::Hull(hull)) => hull.face_corners(face)[k],
            (FaceId::Prism(face), Core::Prism(corners)) => {
                let [a, b, c, _] = PRISM[face].map(|i| corners[i as usize]);
                let turned = (b - a).cross(c - a).dot(self.normal) < 0.0;
                PRISM[face][if turned { self.n_corners(core) - 1 - k } else { k }]
            }
            _ => 0,
        }
    }

    /// Atoms of the corners, counter-clockwise seen from outside, and their number. A face with more than N corners keeps
    /// N of them, evenly spread from `first` on: a polygon inside the face, too fine for the difference to matter.
    #[inline(always)]
    pub fn corners<const N: usize>(&self, core: &Core, first: u32) -> ([u32; N], usize) {
        let n = self.n_corners(core);
        let mut atoms = [0; N];
        if n <= N {
            for k in 0..n {
                atoms[k] = self.corner(core, k);
            }
            return (atoms, n);
        }
        let start = (0..n).find(|&k| self.corner(core, k) == first).unwrap_or(0);
        for k in 0..N {
            atoms[k] = self.corner(core, (start + k * n / N) % n);
        }
        (atoms, N)
    }

    /// Area (m²), to tell the larger of two faces.
    pub fn area(&self, core: &Core) -> f64 {
        match (self.id, core) {
            (FaceId::Box { axis, .. }, Core::Box { half }) => 4.0 * half[(axis + 1) % 3] * half[(axis + 2) % 3],
            (_, Core::Cylinder { radius, .. } | Core::Cone { radius, .. }) => std::f64::consts::PI * radius * radius,
            _ => {
                let at = |k: usize| core.atom(self.corner(core, k), self.normal);
                let (origin, n) = (at(0), self.n_corners(core));
                let fan = (2..n).fold(Vec3::ZERO, |sum, k| sum + (at(k - 1) - origin).cross(at(k) - origin));
                0.5 * fan.dot(self.normal).abs()
            }
        }
    }

    /// Frame of the face in the frame of the shape: z is the outward normal, the origin lies on the face.
    #[inline(always)]
    fn frame<const N: usize>(&self, core: &Core, atoms: &[u32; N], n: usize) -> Pose {
        let n_out = self.normal;
        match (self.id, core) {
            (FaceId::Box { axis, up }, Core::Box { half }) => {
                let [u, v] = in_face(axis, up);
                let rotation = Mat3::from_columns(Vec3::UNITS[u], Vec3::UNITS[v], n_out);
                Pose { rotation, position: n_out * half[axis] }
            }
            (FaceId::Cap { top }, Core::Cylinder { half, .. } | Core::Cone { half, .. }) => {
                let [u, v] = in_face(2, top);
                let rotation = Mat3::from_columns(Vec3::UNITS[u], Vec3::UNITS[v], n_out);
                Pose { rotation, position: n_out * *half }
            }
            _ => {
                // corners of a merged face deviate a little from one plane: it goes through the outermost
                let at = |k: usize| core.atom(atoms[k], n_out);
                let outermost = (1..n).fold(at(0), |a, k| if n_out.dot(at(k)) > n_out.dot(a) { at(k) } else { a });
                let along = at(1) - at(0);
                let x = (along - n_out * n_out.dot(along)).normalized().unwrap_or(Vec3::UNITS[0]);
                Pose { rotation: Mat3::from_columns(x, n_out.cross(x), n_out), position: outermost }
            }
        }
    }
}

/// The two axes that span a face of a box (or cap), right-handed with its outward normal.
#[inline(always)]
fn in_face(axis: usize, up: bool) -> [usize; 2] {
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    if up { [u, v] } else { [v, u] }
}

/// A reference face: a convex polygon in its own plane.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReferenceFace<const N: usize> {
    /// Frame of the face in the frame of its shape, z outward.
    pub frame: Pose,
    /// Corners in the face's x and y, counter-clockwise (m).
    pub corners: [[f64; 2]; N],
    pub atoms: [u32; N],
    pub count: usize,
    /// Radius of the disc around the origin that the polygon stands for (m); 0 if it is the face itself.
    pub disc: f64,
}

impl<const N: usize> ReferenceFace<N> {
    #[inline(always)]
    pub fn new(core: &Core, facing: &Facing) -> ReferenceFace<N> {
        let (atoms, count) = facing.corners::<N>(core, 0);
        let frame = facing.frame(core, &atoms, count);
        let mut corners = [[0.0; 2]; N];
        for k in 0..count {
            let p = core.atom(atoms[k], facing.normal) - frame.position;
            corners[k] = [frame.rotation.c[0].dot(p), frame.rotation.c[1].dot(p)];
        }
        let disc = match core {
            Core::Cylinder { radius, .. } | Core::Cone { radius, .. } => *radius,
            _ => 0.0,
        };
        ReferenceFace { frame, corners, atoms, count, disc }
    }

    /// The side with three corners of the face whose combination is nearest to `point` (of the shape's frame).
    pub fn side(&self, point: Vec3) -> Side {
        let three = [0, self.count / 3, 2 * self.count / 3];
        let [a, b, c] = three.map(|k| self.corners[k]);
        let (u, v) = ([b[0] - a[0], b[1] - a[1]], [c[0] - a[0], c[1] - a[1]]);
        let p = self.frame.rotation.tmul(point - self.frame.position);
        let p = [p.x - a[0], p.y - a[1]];
        let determinant = u[0] * v[1] - u[1] * v[0];
        let (s, t) = if determinant != 0.0 {
            ((p[0] * v[1] - p[1] * v[0]) / determinant, (u[0] * p[1] - u[1] * p[0]) / determinant)
        } else {
            (0.0, 0.0)
        };
        Side::face(three.map(|k| self.atoms[k]), [1.0 - s - t, s, t])
    }
}
