//! Refines the normal and the touching points to machine precision, given the features that touch.   (collision-10)
//!
//! GJK and EPA determine the normal to the square root of their tolerance on curved shapes, and lose its digits where
//! shapes touch. Given the touching support features (atoms), the normal and the touching points solve a small smooth
//! system, the same as that of the derivatives (collision-3); Newton's method needs two or three steps, one on polytopes.

use super::simplex::Simplex;
use crate::collision::pair::{ShapePair, Side, Witness};
use crate::collision::shape::{Core, cap_atom};
use crate::spatial::Vec3;

const MAX_STEPS: usize = 12;
/// A normal moves less than this at convergence, and by so little that the error left is its square (rad).
const SETTLED: f64 = 1e-13;
const NEARLY_SETTLED: f64 = 1e-7;
/// Weights may be negative by this much.
const NEGATIVE_WEIGHT: f64 = 1e-9;
/// Edges at a smaller angle are taken for parallel (rad).
const PARALLEL_EDGES: f64 = 1e-9;
/// Longest step of the normal (rad).
const MAX_TURN: f64 = 0.3;

/// Atoms of each side in a simplex, with the weights of equal ones added.
fn sides(simplex: &Simplex) -> [Side; 2] {
    [0, 1].map(|i| {
        let mut side = Side::default();
        for k in 0..simplex.count.min(3) {
            let (atom, weight) = (simplex.vertices[k].atoms[i], simplex.weights[k]);
            let n = side.count as usize;
            match side.atoms[..n].iter().position(|a| *a == atom) {
                Some(j) => side.weights[j] += weight,
                None => {
                    side.atoms[n] = atom;
                    side.weights[n] = weight;
                    side.count += 1;
                }
            }
        }
        side
    })
}

/// The exact nearest points for the features in a simplex, or for the flat caps near the normal `n`.
///
/// If shapes are apart, the touching points must lie between their atoms. If they overlap, a point may also lie in the
/// same face beyond its three known atoms: there the depth found before guards against a wrong face.
#[inline(always)]
pub(crate) fn refine(pair: &ShapePair, simplex: &Simplex, n: Vec3, scale: f64, apart: bool) -> Option<Witness> {
    let rims = sides(simplex);
    let mut best = polish(pair, rims, n, scale, apart);
    if pair.has_curves() {
        // a rim has no curvature to speak of where the normal is that of its cap
        let directions = [n, -pair.X_12.rotation.tmul(n)];
        let caps = [0, 1].map(|i| pair.shapes[i].core.cap(directions[i]));
        for i in 0..2 {
            if let Some(top) = caps[i] {
                let mut sides = rims;
                sides[i] = pair.cap_side(simplex, i, top);
                if let Some(top) = caps[1 - i] {
                    sides[1 - i] = Side { fixed: true, ..pair.cap_side(simplex, 1 - i, top) };
                }
                let found = polish(pair, sides, n, scale, false).filter(|w| pair.is_on_cap(w, i));
                // the cap wins ties: the position of a touching point on the rim has no meaning then
                let rim = best.filter(|r| found.is_none_or(|w| r.distance > w.distance + 1e-10 * scale));
                best = deeper(found, rim);
            }
        }
    }
    best.filter(|w| !apart || w.distance + pair.radius() > 0.0)
}

/// Solves for the normal and the touching points from the start `n`; `None` where the features do not fit together or
/// are not those that touch.
#[inline(always)]
fn polish(pair: &ShapePair, mut sides: [Side; 2], mut n: Vec3, scale: f64, apart: bool) -> Option<Witness> {
    let mut turn = f64::INFINITY;
    let mut face_only: Option<Witness> = None;
    for _ in 0..MAX_STEPS {
        let local = LocalFeatures::new(pair, &sides, n);
        let Some(step) = local.newton(&sides, n) else { return face_only };
        let length = step.dn.norm();
        let next = n + if length > MAX_TURN { step.dn * (MAX_TURN / length) } else { step.dn };
        n = next * (1.0 / next.norm()); // the step is square to n: no shorter than one before
        for (side, ds) in sides.iter_mut().zip(step.slides) {
            side.weights[1] += ds[0];
            side.weights[2] += ds[1];
            side.weights[0] -= ds[0] + ds[1];
        }
        let moved = length * (local.K[0].abs() + local.K[2].abs()); // a rim's point runs when the normal nears its axis
        if length <= NEARLY_SETTLED
            && moved <= NEARLY_SETTLED * scale
            && face_only.is_none()
            && outside(pair, &sides).is_none()
        {
            let found = finish(pair, sides, n, scale);
            if found.is_some() || length <= SETTLED {
                return found;
            }
        }
        // settled, or as settled as rounding allows
        if length <= SETTLED || (turn < 1e-9 && length >= 0.5 * turn) {
            let Some((i, k)) = outside(pair, &sides) else {
                let inside = finish(pair, sides, n, scale);
                let better = |w: &Witness| face_only.is_none_or(|f| w.distance > f.distance + 1e-12 * scale);
                return inside.filter(better).or(face_only);
            };
            if sides[i].count == 3 && !apart {
                // the point may lie in the same face beyond these three corners, or the face may be the wrong feature
                face_only = finish(pair, sides, n, scale);
            }
            drop_atom(&mut sides[i], k);
            turn = f64::INFINITY;
            continue;
        }
        turn = length;
    }
    face_only
}

impl ShapePair<'_> {
    /// The cap of shape `i`, at the point of it that a simplex stands for.
    fn cap_side(&self, simplex: &Simplex, i: usize, top: bool) -> Side {
        let (x1, y) = simplex.points();
        let x = if i == 0 { x1 } else { self.X_12.rotation.tmul(x1 + y - self.X_12.position) };
        let atoms = [0, 3, 6].map(|k| cap_atom(top, k));
        let [a, b, c] = atoms.map(|k| self.shapes[i].core.atom(k, x));
        let (u, v, r) = (b - a, c - a, x - a);
        let area = u.x * v.y - u.y * v.x;
        let (s, t) = ((r.x * v.y - r.y * v.x) / area, (u.x * r.y - u.y * r.x) / area);
        Side::face(atoms, [1.0 - s - t, s, t])
    }

    /// Whether the touching point of shape `i` lies on its cap, not outside of it.
    fn is_on_cap(&self, w: &Witness, i: usize) -> bool {
        let x = if i == 0 { w.points[0] } else { self.X_12.rotation.tmul(w.points[1] - self.X_12.position) };
        match self.shapes[i].core {
            Core::Cylinder { radius, .. } | Core::Cone { radius, .. } => {
                x.x * x.x + x.y * x.y <= (radius * (1.0 + NEGATIVE_WEIGHT)).powi(2)
            }
            _ => false,
        }
    }
}

/// Both are lower bounds of the distance: the larger one is nearer to it.
fn deeper(a: Option<Witness>, b: Option<Witness>) -> Option<Witness> {
    match (&a, &b) {
        (Some(x), Some(y)) if x.distance >= y.distance => a,
        (Some(_), None) => a,
        _ => b,
    }
}

/// The atom with the most negative weight. Points of a cap are no corners: weights of any sign stand for points of it.
fn outside(pair: &ShapePair, sides: &[Side; 2]) -> Option<(usize, usize)> {
    let mut worst = (-NEGATIVE_WEIGHT, None);
    for (i, side) in sides.iter().enumerate() {
        if pair.shapes[i].core.is_cap_atom(side.atoms[0]) {
            continue;
        }
        for k in 0..side.count as usize {
            if side.weights[k] < worst.0 {
                worst = (side.weights[k], Some((i, k)));
            }
        }
    }
    worst.1
}

fn drop_atom(side: &mut Side, k: usize) {
    let last = side.count as usize - 1;
    side.atoms.swap(k, last);
    side.weights.swap(k, last);
    side.weights[last] = 0.0;
    side.count -= 1;
    let sum: f64 = side.weights.iter().map(|w| w.max(0.0)).sum();
    side.weights = side.weights.map(|w| w.max(0.0) / sum);
}

/// Measures the distance along the normal with new support points: it must agree with the features.
#[inline(always)]
fn finish(pair: &ShapePair, sides: [Side; 2], n: Vec3, scale: f64) -> Option<Witness> {
    let d2 = -pair.X_12.rotation.tmul(n);
    let x1 = sides[0].point_of(&pair.shapes[0].core, n);
    let x2 = pair.X_12.point(sides[1].point_of(&pair.shapes[1].core, d2));
    let distance = n.dot(x2 - x1);
    let best = n.dot(pair.support(n, [sides[0].atoms[0], sides[1].atoms[0]]).y);
    let aside = x2 - x1 - n * distance;
    if best < distance - 1e-12 * scale || aside.norm() > 1e-9 * scale {
        return None;
    }
    let points = [x1 + n * pair.shapes[0].radius, x2 - n * pair.shapes[1].radius];
    Some(Witness { normal: n, distance: distance - pair.radius(), points, sides, converged: true })
}

/// The result of GJK on polytopes that ended with all digits: the simplex has the touching features.
#[inline(always)]
pub(crate) fn exact(pair: &ShapePair, simplex: &Simplex, v: Vec3, distance: f64) -> Witness {
    let n = v * (1.0 / distance);
    let (x1, _) = simplex.points();
    let points = [x1 + n * pair.shapes[0].radius, x1 + n * (distance - pair.shapes[1].radius)];
    Witness { normal: n, distance: distance - pair.radius(), points, sides: sides(simplex), converged: true }
}

/// The unpolished result of an iteration; touching points between several atoms are taken as fixed to their bodies.
pub(crate) fn unpolished(pair: &ShapePair, simplex: &Simplex, n: Vec3, converged: bool) -> Witness {
    let fix = |s: Side| Side { fixed: s.count > 1, ..s };
    let (x1, y) = simplex.points();
    let core_distance = n.dot(pair.support(n, simplex.vertices[0].atoms).y);
    // both points on the line through their middle, so that they are joined by the normal
    let middle = x1 + y * 0.5;
    let point = |side: f64, radius: f64| middle + n * (side * (0.5 * core_distance - radius));
    let points = [point(-1.0, pair.shapes[0].radius), point(1.0, pair.shapes[1].radius)];
    Witness { normal: n, distance: core_distance - pair.radius(), points, sides: sides(simplex).map(fix), converged }
}

/// The features at a normal, for Newton's step.
pub(crate) struct LocalFeatures {
    /// Tangent basis of the normal.
    pub basis: [Vec3; 2],
    /// From the point on core 1 to that on core 2.
    pub gap: Vec3,
    /// H1 + H2 + Φ P in the basis: xx, xy, yy.
    pub K: [f64; 3],
    /// Directions along which the touching points glide, per side.
    pub edges: [[Vec3; 2]; 2],
}

struct Newton {
    dn: Vec3,
    /// Change of the second and third weight of each side.
    slides: [[f64; 2]; 2],
}

impl LocalFeatures {
    #[inline(always)]
    pub fn new(pair: &ShapePair, sides: &[Side; 2], n: Vec3) -> LocalFeatures {
        let frame = crate::collision::frame::frame(n);
        let basis = [frame.c[0], frame.c[1]];
        let mut points = [Vec3::ZERO; 2];
        let mut edges = [[Vec3::ZERO; 2]; 2];
        let mut K = [0.0; 3];
        for (i, side) in sides.iter().enumerate() {
            let core = &pair.shapes[i].core;
            let own = |v: Vec3| if i == 0 { v } else { pair.X_12.rotation.tmul(v) };
            let place = |x: Vec3| if i == 0 { x } else { pair.X_12.point(x) };
            let d = if i == 0 { n } else { -own(n) };
            for k in 0..side.count as usize {
                let (atom, weight) = (side.atoms[k], side.weights[k]);
                let x = if core.is_curved(atom) {
                    let (x, curvature) = core.curved_atom(atom, d, basis.map(own));
                    for (sum, c) in K.iter_mut().zip(curvature) {
                        *sum += c * weight;
                    }
                    place(x)
                } else {
                    place(core.atom(atom, d))
                };
                if k == 0 {
                    points[i] = x;
                } else {
                    edges[i][k - 1] = x - points[i];
                }
            }
            points[i] += edges[i][0] * side.weights[1] + edges[i][1] * side.weights[2];
        }
        let gap = points[1] - points[0];
        let phi = n.dot(gap);
        LocalFeatures { basis, gap, K: [K[0] + phi, K[1], K[2] + phi], edges }
    }

    /// K dn = P gap + Σ ± slides, n·e + e·dn = 0 along every free edge e.
    #[inline(always)]
    fn newton(&self, sides: &[Side; 2], n: Vec3) -> Option<Newton> {
        let flat = |v: Vec3| [self.basis[0].dot(v), self.basis[1].dot(v)];
        let r = flat(self.gap);
        let mut free = free_edges(sides);
        let mut slides = [[0.0; 2]; 2];
        let edge = |[i, k]: [usize; 2]| self.edges[i][k];
        // the gap grows by a slide on side 2 and shrinks by one on side 1
        let sign = |i: usize| if i == 0 { -1.0 } else { 1.0 };
        let K = &self.K;
        if let [a, b] = *free.as_slice() {
            let (ea, eb) = (flat(edge(a)), flat(edge(b)));
            let det = ea[0] * eb[1] - ea[1] * eb[0];
            let size = (ea[0] * ea[0] + ea[1] * ea[1]) * (eb[0] * eb[0] + eb[1] * eb[1]);
            if det * det <= PARALLEL_EDGES * PARALLEL_EDGES * size {
                free.count = 1; // the second is redundant; its point stays
            }
        }
        let dn = match *free.as_slice() {
            [] => {
                let det = K[0] * K[2] - K[1] * K[1];
                if det <= 1e-14 * (K[0].abs() + K[2].abs()).powi(2) {
                    return None;
                }
                [(K[2] * r[0] - K[1] * r[1]) / det, (K[0] * r[1] - K[1] * r[0]) / det]
            }
            [a] => {
                let e = flat(edge(a));
                let length = (e[0] * e[0] + e[1] * e[1]).sqrt();
                let u = [e[0] / length, e[1] / length];
                let w = [-u[1], u[0]];
                let along = -n.dot(edge(a)) / length;
                let Kw = [K[0] * w[0] + K[1] * w[1], K[1] * w[0] + K[2] * w[1]];
                let Kww = Kw[0] * w[0] + Kw[1] * w[1];
                let across = (r[0] * w[0] + r[1] * w[1] - along * (Kw[0] * u[0] + Kw[1] * u[1])) / Kww;
                let dn = [along * u[0] + across * w[0], along * u[1] + across * w[1]];
                let Kdn = [K[0] * dn[0] + K[1] * dn[1], K[1] * dn[0] + K[2] * dn[1]];
                let missing = ((Kdn[0] - r[0]) * u[0] + (Kdn[1] - r[1]) * u[1]) / length;
                slides[a[0]][a[1]] = sign(a[0]) * missing;
                dn
            }
            [a, b] => {
                let (ea, eb) = (flat(edge(a)), flat(edge(b)));
                let det = ea[0] * eb[1] - ea[1] * eb[0];
                let (ca, cb) = (-n.dot(edge(a)), -n.dot(edge(b)));
                let dn = [(ca * eb[1] - ea[1] * cb) / det, (ea[0] * cb - ca * eb[0]) / det];
                let Kdn = [K[0] * dn[0] + K[1] * dn[1], K[1] * dn[0] + K[2] * dn[1]];
                let m = [Kdn[0] - r[0], Kdn[1] - r[1]];
                slides[a[0]][a[1]] = sign(a[0]) * (m[0] * eb[1] - eb[0] * m[1]) / det;
                slides[b[0]][b[1]] = sign(b[0]) * (ea[0] * m[1] - ea[1] * m[0]) / det;
                dn
            }
            _ => return None,
        };
        let dn = self.basis[0] * dn[0] + self.basis[1] * dn[1];
        let finite = dn.is_finite() && slides.iter().flatten().all(|s| s.is_finite());
        finite.then_some(Newton { dn, slides })
    }
}

/// Edges along which the touching points are free to glide: at most two, as there are two directions. A face has both.
#[derive(Clone, Copy)]
struct FreeEdges {
    list: [[usize; 2]; 2],
    count: usize,
}

impl FreeEdges {
    fn as_slice(&self) -> &[[usize; 2]] {
        &self.list[..self.count]
    }
}

#[inline(always)]
fn free_edges(sides: &[Side; 2]) -> FreeEdges {
    let counts = sides.map(|s| if s.fixed { 0 } else { s.count as usize - 1 });
    match counts {
        [2, _] => FreeEdges { list: [[0, 0], [0, 1]], count: 2 },
        [_, 2] => FreeEdges { list: [[1, 0], [1, 1]], count: 2 },
        [1, 1] => FreeEdges { list: [[0, 0], [1, 0]], count: 2 },
        [1, 0] => FreeEdges { list: [[0, 0], [0, 0]], count: 1 },
        [0, 1] => FreeEdges { list: [[1, 0], [0, 0]], count: 1 },
        _ => FreeEdges { list: [[0, 0], [0, 0]], count: 0 },
    }
}
