//! Two boxes by separating axes: their three face normals each and the nine products of their edges.   (collision-11)
//!
//! The axis of least overlap of overlapping boxes gives the depth exactly. For separated boxes it gives a lower bound,
//! and the distance itself when the nearest corner lies over the face.

use crate::collision::pair::{ShapePair, Side, Witness};
use crate::spatial::{Pose, Vec3, vec3};

/// Result of the separating axes.
pub(crate) enum SeparatingAxes {
    /// Farther apart than the limit.
    Far,
    /// The nearest points.
    Exact(Witness),
    /// Apart, the nearest features being corners or edges: GJK starts from this normal.
    Apart(Vec3),
}

/// An edge normal must beat a face normal by this fraction of the size: faces give patches, and are as near to rounding.
const PREFER_FACES: f64 = 1e-12;

pub(crate) fn boxes(pair: &ShapePair, a: Vec3, b: Vec3, limit: f64) -> SeparatingAxes {
    let (R, p) = (&pair.X_12.rotation, pair.X_12.position);
    let A = R.c.map(|c| vec3(c.x.abs(), c.y.abs(), c.z.abs()));
    // faces of box 1: the axes of its frame
    let reach_2 = A[0] * b.x + A[1] * b.y + A[2] * b.z;
    let p2 = R.tmul(p);
    let mut best = (f64::NEG_INFINITY, 0);
    for k in 0..3 {
        let gap = p[k].abs() - a[k] - reach_2[k];
        if gap > best.0 {
            best = (gap, k);
        }
    }
    // faces of box 2
    for k in 0..3 {
        let gap = p2[k].abs() - b[k] - A[k].dot(a);
        if gap > best.0 {
            best = (gap, 3 + k);
        }
    }
    if best.0 > limit {
        return SeparatingAxes::Far;
    }
    let scale = a.norm() + b.norm();
    let edge = edges(pair, a, b, &A, best.0 + PREFER_FACES * scale);
    match edge {
        Some((gap, ..)) if gap > limit => SeparatingAxes::Far,
        Some((gap, n, i, j)) if gap <= 0.0 => {
            edge_witness(pair, n, i, j, gap).map_or(SeparatingAxes::Apart(n), SeparatingAxes::Exact)
        }
        Some((_, n, ..)) => SeparatingAxes::Apart(n),
        None => face_witness(pair, best.0, best.1),
    }
}

/// The product of edges with the largest gap above `beat`: gap, unit normal from box 1 to box 2, the edges' axes.
fn edges(pair: &ShapePair, a: Vec3, b: Vec3, A: &[Vec3; 3], beat: f64) -> Option<(f64, Vec3, usize, usize)> {
    let (R, p) = (&pair.X_12.rotation, pair.X_12.position);
    let mut best = (beat, None);
    for i in 0..3 {
        let (i1, i2) = ((i + 1) % 3, (i + 2) % 3);
        for j in 0..3 {
            let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
            // e_i × column j has the components (−R[i2][j], R[i1][j]) on axes (i1, i2)
            let (c1, c2) = (R.c[j][i1], R.c[j][i2]);
            let square = c1 * c1 + c2 * c2;
            if square < 1e-12 {
                continue; // parallel edges: a face normal serves
            }
            let along = p[i2] * c1 - p[i1] * c2;
            let reach = a[i1] * A[j][i2] + a[i2] * A[j][i1] + b[j1] * A[j2][i] + b[j2] * A[j1][i];
            let length = square.sqrt();
            let gap = (along.abs() - reach) / length;
            if gap > best.0 {
                let mut n = Vec3::ZERO;
                let s = if along < 0.0 { -1.0 / length } else { 1.0 / length };
                n[i1] = -c2 * s;
                n[i2] = c1 * s;
                best = (gap, Some((n, i, j)));
            }
        }
    }
    best.1.map(|(n, i, j)| (best.0, n, i, j))
}

/// Edge against edge, overlapping: the edges that the normal picks, and where they pass each other.
fn edge_witness(pair: &ShapePair, n: Vec3, i: usize, j: usize, gap: f64) -> Option<Witness> {
    let (core1, core2) = (&pair.shapes[0].core, &pair.shapes[1].core);
    let d2 = -pair.X_12.rotation.tmul(n);
    let (low1, low2) = (core1.support(n, 0).1 & !(1 << i), core2.support(d2, 0).1 & !(1 << j));
    let atoms = [[low1, low1 | 1 << i], [low2, low2 | 1 << j]];
    let [x0, x1] = atoms[0].map(|k| core1.atom(k, n));
    let [y0, y1] = atoms[1].map(|k| pair.X_12.point(core2.atom(k, d2)));
    let (u, v, r) = (x1 - x0, y1 - y0, y0 - x0);
    // nearest points of two lines: along both, the gap is perpendicular
    let (uu, uv, vv, ur, vr) = (u.dot(u), u.dot(v), v.dot(v), u.dot(r), v.dot(r));
    let det = uu * vv - uv * uv;
    let (s, t) = ((ur * vv - uv * vr) / det, (uv * ur - uu * vr) / det);
    if !(-1e-9..=1.0 + 1e-9).contains(&s) || !(-1e-9..=1.0 + 1e-9).contains(&t) {
        return None;
    }
    let points = [x0 + u * s, y0 + v * t];
    Some(Witness {
        normal: n,
        distance: gap,
        points,
        sides: [Side::edge(atoms[0], s), Side::edge(atoms[1], t)],
        converged: true,
    })
}

/// A face of one box against the deepest corner of the other.
fn face_witness(pair: &ShapePair, gap: f64, axis: usize) -> SeparatingAxes {
    let (R, p) = (&pair.X_12.rotation, pair.X_12.position);
    let (own, k) = (axis / 3, axis % 3);
    let outward = if own == 0 { p[k] >= 0.0 } else { R.c[k].dot(p) < 0.0 };
    let mut out = Vec3::ZERO;
    out[k] = if outward { 1.0 } else { -1.0 };
    // normal of the face in the frame of shape 1; that of the contact runs from 1 to 2
    let normal = if own == 0 { out } else { -(*R * out) };
    let toward_face = if own == 0 { -R.tmul(out) } else { normal };
    let (face, other) = (BoxFace::new(pair, own, k, outward), BoxIncident::new(pair, 1 - own, toward_face));
    let X = if own == 0 { pair.X_12 } else { pair.X_12.inverse() };
    let local = other.over(&face, &X);
    let x = X.point(local);
    let inside = (0..3).all(|j| j == k || x[j].abs() <= face.half[j]);
    if gap > 0.0 && !inside {
        return SeparatingAxes::Apart(normal);
    }
    let mut foot = x;
    foot[k] = face.half[k] * out[k];
    let in_frame = |v: Vec3| if own == 0 { v } else { pair.X_12.point(v) };
    let (mine, its) = (in_frame(foot), in_frame(x));
    let (points, sides) = match own {
        0 => ([mine, its], [face.side(x), other.side(local)]),
        _ => ([its, mine], [other.side(local), face.side(x)]),
    };
    SeparatingAxes::Exact(Witness { normal, distance: gap, points, sides, converged: true })
}

/// A face of a box: three of its corners span it.
struct BoxFace {
    half: Vec3,
    axis: usize,
    outward: bool,
}

impl BoxFace {
    fn new(pair: &ShapePair, own: usize, axis: usize, outward: bool) -> BoxFace {
        let half = match pair.shapes[own].core {
            crate::collision::shape::Core::Box { half } => half,
            _ => Vec3::ZERO,
        };
        BoxFace { half, axis, outward }
    }

    /// Three corners, with the weights of the foot of `x`.
    fn side(&self, x: Vec3) -> Side {
        let (u, v) = ((self.axis + 1) % 3, (self.axis + 2) % 3);
        let base = if self.outward { 1 << self.axis } else { 0 };
        let weight = |k: usize| (x[k] + self.half[k]) / (2.0 * self.half[k]);
        let (s, t) = (weight(u), weight(v));
        Side::face([base, base | 1 << u, base | 1 << v], [1.0 - s - t, s, t])
    }
}

/// The lowest feature of a box over a face of the other: a corner, or an edge or a face if it lies parallel.
struct BoxIncident {
    half: Vec3,
    /// One of the lowest corners.
    corner: u32,
    /// SeparatingAxes along which all points are equally low.
    flat: [bool; 3],
}

/// Edges at a smaller angle to a face lie in it (rad).
const LIES_IN_FACE: f64 = 1e-9;

impl BoxIncident {
    fn new(pair: &ShapePair, which: usize, toward_face: Vec3) -> BoxIncident {
        let core = &pair.shapes[which].core;
        let half = match *core {
            crate::collision::shape::Core::Box { half } => half,
            _ => Vec3::ZERO,
        };
        let flat = toward_face.to_array().map(|d| d.abs() < LIES_IN_FACE);
        BoxIncident { half, corner: core.support(toward_face, 0).1, flat }
    }

    /// A lowest point over the face, in this box's own frame; `X` is its pose in the frame of the face's box.
    fn over(&self, face: &BoxFace, X: &Pose) -> Vec3 {
        let sign = |j: usize| if self.corner & (1 << j) != 0 { 1.0 } else { -1.0 };
        let corner = vec3(sign(0) * self.half.x, sign(1) * self.half.y, sign(2) * self.half.z);
        let mut flat = (0..3).filter(|j| self.flat[*j]);
        let Some(u) = flat.next() else { return corner };
        let v = flat.next();
        // the lowest points as a polygon around, in the frame of the face's box
        let flip = |mut x: Vec3, j: usize| {
            x[j] = -x[j];
            X.point(x)
        };
        let opposite = v.map(|v| {
            let mut x = corner;
            x[u] = -x[u];
            flip(x, v)
        });
        let mut polygon = Polygon::default();
        for x in
            [Some(X.point(corner)), Some(flip(corner, u)), opposite, v.map(|v| flip(corner, v))].into_iter().flatten()
        {
            polygon.push(x);
        }
        for j in (0..3).filter(|j| *j != face.axis) {
            polygon.cut(j, face.half[j], 1.0);
            polygon.cut(j, face.half[j], -1.0);
        }
        polygon.middle().map_or(corner, |x| {
            let back = X.rotation.tmul(x - X.position);
            let mut local = corner;
            for j in (0..3).filter(|j| self.flat[*j]) {
                local[j] = back[j].clamp(-self.half[j], self.half[j]);
            }
            local
        })
    }

    /// The corners that span the lowest points, with the weights of `x`; the point is fixed to the body.
    fn side(&self, x: Vec3) -> Side {
        let mut axes = (0..3).filter(|j| self.flat[*j]);
        let weight = |j: usize| {
            let up = (x[j] + self.half[j]) / (2.0 * self.half[j]);
            if self.corner & (1 << j) != 0 { 1.0 - up } else { up }
        };
        let side = match (axes.next(), axes.next()) {
            (None, _) => return Side::point(self.corner),
            (Some(u), None) => Side::edge([self.corner, self.corner ^ (1 << u)], weight(u)),
            (Some(u), Some(v)) => {
                let atoms = [self.corner, self.corner ^ (1 << u), self.corner ^ (1 << v)];
                Side::face(atoms, [1.0 - weight(u) - weight(v), weight(u), weight(v)])
            }
        };
        Side { fixed: true, ..side }
    }
}

/// A polygon of few corners.
#[derive(Default)]
struct Polygon {
    corners: [Vec3; 12],
    count: usize,
}

impl Polygon {
    fn push(&mut self, x: Vec3) {
        if self.count < self.corners.len() {
            self.corners[self.count] = x;
            self.count += 1;
        }
    }

    /// Keeps the part with `side · x[axis] ≤ half`.
    fn cut(&mut self, axis: usize, half: f64, side: f64) {
        let old = std::mem::take(self);
        for k in 0..old.count {
            let (a, b) = (old.corners[k], old.corners[(k + 1) % old.count]);
            let (da, db) = (half - side * a[axis], half - side * b[axis]);
            if da >= 0.0 {
                self.push(a);
            }
            if (da >= 0.0) != (db >= 0.0) {
                self.push(a + (b - a) * (da / (da - db)));
            }
        }
    }

    /// Mean of the corners.
    fn middle(&self) -> Option<Vec3> {
        let sum = self.corners[..self.count].iter().fold(Vec3::ZERO, |s, x| s + *x);
        (self.count > 0).then(|| sum * (1.0 / self.count as f64))
    }
}
