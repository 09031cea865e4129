//! Edges, generators and segments that lie along each other: two points instead of one.

use super::nearest;
use crate::collision::contact::{Patch, PatchPoint, PointKind};
use crate::collision::pair::{ShapePair, Side, Witness};
use crate::collision::shape::Core;
use crate::spatial::{Pose, Vec3};

/// Angle up to which edges count as parallel to each other and at right angles to the normal (rad).
const NEARLY_PARALLEL: f64 = 1e-3;
/// Angle up to which an end of the reference edge may stand for the point abreast of it on the other (rad).
const EXACTLY_PARALLEL: f64 = 1e-6;
/// Fraction of the shorter edge that must lie along the other.
const OVERLAP: f64 = 1e-3;

/// An edge in the frame of shape 1: core points, and the way from the first to the second.
#[derive(Debug, Clone, Copy)]
struct Edge {
    atoms: [u32; 2],
    ends: [Vec3; 2],
    along: Vec3,
}

/// The shape as seen from the frame of shape 1, `d` being its outward direction in its own axes.
struct ShapeView<'a> {
    core: &'a Core<'a>,
    X_1i: Pose,
    d: Vec3,
}

impl ShapeView<'_> {
    #[inline(always)]
    fn edge(&self, atoms: [u32; 2]) -> Edge {
        let ends = atoms.map(|a| self.X_1i.point(self.core.atom(a, self.d)));
        Edge { atoms, ends, along: ends[1] - ends[0] }
    }

    /// The edge that touches, or the edge at the touching vertex that is most parallel to `along`.
    #[inline(always)]
    fn touching(&self, side: &Side, along: Vec3) -> Option<Edge> {
        if side.count == 2 {
            return Some(self.edge([side.atoms[0], side.atoms[1]]));
        }
        let from = side.atoms[0];
        let edge = |to: u32| self.edge([from, to]);
        match self.core {
            Core::Segment { .. } | Core::Cylinder { .. } | Core::Cone { .. } => (from < 2).then(|| edge(1 - from)),
            Core::Box { .. } => most_parallel([1, 2, 4].map(|bit| edge(from ^ bit)).into_iter(), along),
            Core::Hull(hull) => most_parallel(hull.neighbors(from).iter().map(|&to| edge(to)), along),
            Core::Prism(_) => {
                let (third, floor) = (from % 3, from - from % 3);
                let around = [(third + 1) % 3 + floor, (third + 2) % 3 + floor, third + 3 - floor];
                most_parallel(around.map(edge).into_iter(), along)
            }
            Core::Point | Core::Ellipsoid { .. } | Core::Plane => None,
        }
    }
}

fn most_parallel(edges: impl Iterator<Item = Edge>, along: Vec3) -> Option<Edge> {
    let mut best: Option<(f64, Edge)> = None;
    for edge in edges {
        let (dot, square) = (edge.along.dot(along), edge.along.dot(edge.along));
        let cosine = if square > 0.0 { dot * dot / square } else { continue };
        if best.is_none_or(|(c, _)| cosine > c) {
            best = Some((cosine, edge));
        }
    }
    best.map(|(_, edge)| edge)
}

/// Two points at the ends of the overlap of two parallel edges; `None` if there are none such.
///
/// A point is an end of the edge that lies along the other (the reference), projected on the plane through the reference
/// edge. Where the edges are staggered, the reference ends first: there the roles are exchanged, if the edges are parallel
/// so exactly that this changes no distance.
pub(super) fn parallel(pair: &ShapePair, w: &Witness, limit: f64) -> Option<Patch> {
    let counts = w.sides.map(|s| s.count);
    if !matches!(counts, [2, 2] | [1, 2] | [2, 1]) {
        return None;
    }
    let views = [
        ShapeView { core: &pair.shapes[0].core, X_1i: Pose::IDENTITY, d: w.normal },
        ShapeView { core: &pair.shapes[1].core, X_1i: pair.X_12, d: pair.X_12.rotation.tmul(-w.normal) },
    ];
    let free = if counts[0] == 2 { 0 } else { 1 };
    let known = views[free].touching(&w.sides[free], w.normal)?;
    let other = views[1 - free].touching(&w.sides[1 - free], known.along)?;
    if !is_parallel(&known, &other, w.normal, NEARLY_PARALLEL) {
        return None;
    }
    let edges = if free == 0 { [known, other] } else { [other, known] };
    // the edge whose ends lie along the other is the incident one; an edge that touches with a vertex cannot be reference
    let reference =
        if counts == [2, 2] && !is_along(&edges[0], &edges[1]) && is_along(&edges[1], &edges[0]) { 1 } else { free };
    two_points(pair, w, limit, &edges, reference)
}

fn is_parallel(a: &Edge, b: &Edge, normal: Vec3, angle: f64) -> bool {
    let (aa, bb) = (a.along.dot(a.along), b.along.dot(b.along));
    let cross = a.along.cross(b.along);
    let upright = |e: &Edge, square: f64| e.along.dot(normal).powi(2) <= angle * angle * square;
    aa > 0.0 && bb > 0.0 && cross.dot(cross) <= angle * angle * aa * bb && upright(a, aa) && upright(b, bb)
}

/// Parameter of a point along an edge: 0 at its first end, 1 at its second.
fn parameter(edge: &Edge, p: Vec3) -> f64 {
    (p - edge.ends[0]).dot(edge.along) / edge.along.dot(edge.along)
}

/// Whether both ends of `inner` lie abreast of `outer`.
fn is_along(outer: &Edge, inner: &Edge) -> bool {
    inner.ends.iter().all(|&p| (-1e-9..=1.0 + 1e-9).contains(&parameter(outer, p)))
}

fn two_points(pair: &ShapePair, w: &Witness, limit: f64, edges: &[Edge; 2], reference: usize) -> Option<Patch> {
    let (outer, inner) = (&edges[reference], &edges[1 - reference]);
    let t = inner.ends.map(|p| parameter(outer, p));
    let overlap = t[0].max(t[1]).min(1.0) - t[0].min(t[1]).max(0.0);
    if overlap < OVERLAP * (t[1] - t[0]).abs().min(1.0) {
        return None;
    }
    let mut patch = nearest(w);
    for k in 0..2 {
        // this end of the incident edge, or the end of the reference that comes before it
        let inside = (-1e-9..=1.0 + 1e-9).contains(&t[k]);
        let (side, edge, end) =
            if inside { (1 - reference, inner, k) } else { (reference, outer, (t[k] > 1.0) as usize) };
        if !inside && !is_parallel(outer, inner, w.normal, EXACTLY_PARALLEL) {
            return None;
        }
        patch.points[k] = projected(pair, w, side, edge.atoms[end], edge.ends[end]);
    }
    if patch.points[..2].iter().any(|p| p.distance >= limit) {
        return None;
    }
    if patch.points[1].distance < patch.points[0].distance {
        patch.points.swap(0, 1);
    }
    patch.count = 2;
    // two free parallel edges leave the normal open: the incident one stays where it is on its body
    patch.sides[1 - reference].fixed |= patch.sides[1 - reference].count > 1;
    Some(patch)
}

/// An atom of shape `side` on the plane at right angles to the normal through the nearest point of the other shape.
fn projected(pair: &ShapePair, w: &Witness, side: usize, atom: u32, x: Vec3) -> PatchPoint {
    let outward = if side == 0 { w.normal } else { -w.normal };
    // surface of this shape, measured against the surface of the other
    let distance = (w.points[1 - side] - x).dot(outward) - pair.shapes[side].radius;
    let point = x + outward * (pair.shapes[side].radius + distance);
    PatchPoint { point, distance, kind: PointKind::Incident { side: side as u8, atom } }
}
