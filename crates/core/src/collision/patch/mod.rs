//! From the nearest points of two shapes to up to four contact points with one normal.
//!
//! One shape gives the reference face (a plane, a face, a cap) and with it the normal; the part of the other shape over that
//! face is clipped and projected on the reference plane. Without a face there is one point, or two along parallel edges.
//! Everything here is a function of the two shapes, their pose and the witness alone: no memory of earlier steps, which
//! a derivative could not see.   (collision-7)

mod clip;
mod face;
mod on_plane;
mod parallel;
mod reduce;
mod round;

use super::contact::{MAX_POINTS, Patch, PatchPoint, PointKind};
use super::pair::{ShapePair, Side, Witness};
use super::shape::Core;
use crate::random::Rng;
use crate::spatial::{Mat3, Pose, Vec3, vec3};
use clip::{Incident, NONE, Outline, clip};
use face::{Facing, ReferenceFace, facing};
use reduce::{Candidate, Candidates, reduce};
use round::Round;

/// The points of a pair that are nearer than `limit` (m), at least one.
pub(crate) fn patch(pair: &ShapePair, w: &Witness, limit: f64) -> Patch {
    let cores = [&pair.shapes[0].core, &pair.shapes[1].core];
    let smooth = |core: &Core| matches!(core, Core::Point | Core::Ellipsoid { .. });
    if smooth(cores[0]) || smooth(cores[1]) {
        return nearest(w);
    }
    match cores {
        [Core::Plane, Core::Plane] => nearest(w),
        [Core::Plane, _] => on_plane(pair, w, limit, 0),
        [_, Core::Plane] => on_plane(pair, w, limit, 1),
        _ => match reference_face(pair, w) {
            Some((reference, facing)) => on_face(pair, w, limit, reference, &facing),
            None => parallel::parallel(pair, w, limit).unwrap_or_else(|| nearest(w)),
        },
    }
}

/// Key of the support features (atoms) that touch at a point: constant from step to step as long as the same atoms touch.
pub(crate) fn feature_key(kind: &PointKind, sides: &[Side; 2]) -> u64 {
    let name = |tag: u64, numbers: &[u32]| numbers.iter().fold(tag, |key, &n| mix(key ^ n as u64));
    match *kind {
        PointKind::Nearest => sides.iter().fold(1, |key, side| {
            let mut atoms = side.atoms;
            let atoms = &mut atoms[..side.count as usize];
            atoms.sort_unstable();
            name(mix(key), atoms)
        }),
        PointKind::Incident { side, atom } => name(2, &[side as u32, atom]),
        PointKind::Crossing { side, edge: [a, b], reference: [c, d] } => {
            name(3, &[side as u32, a.min(b), a.max(b), c.min(d), c.max(d)])
        }
        PointKind::Reference { side, atom, .. } => name(4, &[side as u32, atom]),
    }
}

/// Spreads every bit over the whole word.
fn mix(key: u64) -> u64 {
    Rng(key).bits()
}

/// One point half-way between the nearest points.
#[inline(always)]
pub(crate) fn nearest(w: &Witness) -> Patch {
    let point = (w.points[0] + w.points[1]) * 0.5;
    let point = PatchPoint { point, distance: w.distance, kind: PointKind::Nearest };
    Patch { normal: w.normal, sides: w.sides, points: [point; MAX_POINTS], count: 1 }
}

/// The outward direction on shape `k`, in its own axes.
#[inline(always)]
fn outward(pair: &ShapePair, normal: Vec3, k: usize) -> Vec3 {
    if k == 0 { normal } else { pair.X_12.rotation.tmul(-normal) }
}

/// Frame of the other shape in the frame of shape `k`.
#[inline(always)]
fn other_in(pair: &ShapePair, k: usize) -> Pose {
    if k == 0 { pair.X_12 } else { pair.X_12.inverse() }
}

/// The shape that touches with a face, and the face; of two, the larger.
#[inline(always)]
fn reference_face(pair: &ShapePair, w: &Witness) -> Option<(usize, Facing)> {
    let touched = |k: usize| {
        let (d, side) = (outward(pair, w.normal, k), &w.sides[k]);
        facing(&pair.shapes[k].core, d, side).filter(|f| f.is_touched(d, side))
    };
    match (touched(0), touched(1)) {
        (Some(a), Some(b)) => {
            let larger = b.area(&pair.shapes[1].core) > a.area(&pair.shapes[0].core);
            Some(if larger { (1, b) } else { (0, a) })
        }
        (Some(a), None) => Some((0, a)),
        (None, Some(b)) => Some((1, b)),
        (None, None) => None,
    }
}

/// The reference plane of a patch.
struct Plane {
    /// Which shape it belongs to.
    shape: usize,
    /// Frame of the plane in the frame of its shape, z outward.
    frame: Pose,
    side: Side,
}

/// Points of a shape on a plane.
#[inline(always)]
fn on_plane(pair: &ShapePair, w: &Witness, limit: f64, reference: usize) -> Patch {
    let X_fi = other_in(pair, reference);
    let incident = incident(pair, reference);
    let plane = Plane { shape: reference, frame: Pose::IDENTITY, side: w.sides[reference] };
    match pair.shapes[1 - reference].core {
        Core::Box { half } => {
            let mut candidates = Candidates::<8>::new(limit);
            on_plane::box_corners(half, &X_fi, incident, &mut candidates);
            assemble(pair, w, limit, &plane, candidates.as_slice())
        }
        Core::Hull(hull) => {
            let deepest = w.sides[1 - reference].atoms[0];
            let candidates = on_plane::hull_vertices(hull, &X_fi, deepest, incident, limit);
            assemble(pair, w, limit, &plane, candidates.as_slice())
        }
        core => {
            let mut candidates = Candidates::<8>::new(limit);
            on_plane::few_vertices(&core, &X_fi, incident, &mut candidates);
            assemble(pair, w, limit, &plane, candidates.as_slice())
        }
    }
}

#[inline(always)]
fn incident(pair: &ShapePair, reference: usize) -> Incident {
    Incident { side: 1 - reference as u8, radii: pair.shapes[0].radius + pair.shapes[1].radius }
}

/// Points of a shape on a face; arrays as large as the faces need.
#[inline(always)]
fn on_face(pair: &ShapePair, w: &Witness, limit: f64, reference: usize, face: &Facing) -> Patch {
    let other = 1 - reference;
    let core = &pair.shapes[other].core;
    let down = match reference {
        0 => pair.X_12.rotation.tmul(-face.normal),
        _ => -(pair.X_12.rotation * face.normal),
    };
    let opposite = facing(core, down, &w.sides[other]);
    let n = face.n_corners(&pair.shapes[reference].core).max(opposite.map_or(2, |f| f.n_corners(core)));
    match n {
        0..=4 => clipped::<4, 12>(pair, w, limit, reference, face, opposite, down),
        5..=8 => clipped::<8, 24>(pair, w, limit, reference, face, opposite, down),
        _ => clipped::<32, 96>(pair, w, limit, reference, face, opposite, down),
    }
}

#[inline(always)]
fn clipped<const N: usize, const M: usize>(
    pair: &ShapePair,
    w: &Witness,
    limit: f64,
    reference: usize,
    facing: &Facing,
    opposite: Option<Facing>,
    down: Vec3,
) -> Patch {
    let other = 1 - reference;
    let core = &pair.shapes[other].core;
    let face = ReferenceFace::<N>::new(&pair.shapes[reference].core, facing);
    let X_fi = in_face(&face.frame, &other_in(pair, reference));
    let incident = incident(pair, reference);
    let mut candidates = Candidates::<M>::new(limit);
    if let Some(round) = Round::new(core, &X_fi, 1) {
        if round.generator.count > 0 {
            clip(&resized(&round.generator), &face, incident, &mut candidates);
        }
        if round.cap.count > 0 {
            clip(&resized(&round.cap), &face, incident, &mut candidates);
        }
    } else if let Some(outline) = outline(core, opposite, down, &w.sides[other], &X_fi) {
        clip::<N, M>(&outline, &face, incident, &mut candidates);
        keep_vertex(core, w, &X_fi, incident, &mut candidates);
    }
    let side = match w.sides[reference] {
        // the narrow phase may have held it fixed, for the sake of the other shape's face
        side if side.count == 3 => Side { fixed: false, ..side },
        _ => {
            let point = if reference == 0 { w.points[0] } else { pair.X_12.inverse().point(w.points[1]) };
            face.side(point)
        }
    };
    assemble(pair, w, limit, &Plane { shape: reference, frame: face.frame, side }, candidates.as_slice())
}

/// `X_sf⁻¹ X_si`.
#[inline(always)]
fn in_face(X_sf: &Pose, X_si: &Pose) -> Pose {
    let turn = |v: Vec3| X_sf.rotation.tmul(v);
    let c = &X_si.rotation.c;
    Pose {
        rotation: Mat3::from_columns(turn(c[0]), turn(c[1]), turn(c[2])),
        position: turn(X_si.position - X_sf.position),
    }
}

/// The face or edge of a shape that is most turned towards the reference face, in the frame of that.
#[inline(always)]
fn outline<const N: usize>(
    core: &Core,
    opposite: Option<Facing>,
    down: Vec3,
    side: &Side,
    X_fi: &Pose,
) -> Option<Outline<N>> {
    let (atoms, count) = match (core, opposite) {
        (Core::Segment { .. }, _) => {
            let mut atoms = [0; N];
            atoms[1] = 1;
            (atoms, 2)
        }
        (_, Some(facing)) => facing.corners::<N>(core, side.atoms[0]),
        _ => return None,
    };
    let mut points = [Vec3::ZERO; N];
    for k in 0..count {
        points[k] = X_fi.point(core.atom(atoms[k], down));
    }
    Some(Outline { atoms, points, count, without: NONE })
}

fn resized<const K: usize, const N: usize>(outline: &Outline<K>) -> Outline<N> {
    let mut out =
        Outline { atoms: [0; N], points: [Vec3::ZERO; N], count: outline.count.min(N), without: outline.without };
    for k in 0..out.count {
        (out.atoms[k], out.points[k]) = (outline.atoms[k], outline.points[k]);
    }
    out
}

/// A vertex that touches is kept even where a polygon of few corners stands for the face and leaves it out.
#[inline(always)]
fn keep_vertex<const M: usize>(
    core: &Core,
    w: &Witness,
    X_fi: &Pose,
    incident: Incident,
    candidates: &mut Candidates<M>,
) {
    let side = &w.sides[incident.side as usize];
    let kind = PointKind::Incident { side: incident.side, atom: side.atoms[0] };
    if side.count == 1 && candidates.as_slice().iter().all(|c| c.kind != kind) {
        let p = X_fi.point(core.atom(side.atoms[0], Vec3::ZERO));
        candidates.push(p.x, p.y, p.z - incident.radii, kind);
    }
}

/// The patch of the best candidates; that of the witness if there are none.
#[inline(always)]
fn assemble(pair: &ShapePair, w: &Witness, limit: f64, plane: &Plane, candidates: &[Candidate]) -> Patch {
    let mut patch = nearest(w);
    let choice = reduce(candidates, limit);
    if choice.count == 0 {
        return patch;
    }
    let (frame, sign) = if plane.shape == 0 { (plane.frame, 1.0) } else { (pair.X_12 * plane.frame, -1.0) };
    let radius = pair.shapes[plane.shape].radius;
    for k in 0..choice.count {
        let c = &candidates[choice.index[k]];
        patch.points[k] = PatchPoint { point: frame.point(vec3(c.x, c.y, radius)), distance: c.distance, kind: c.kind };
    }
    patch.count = choice.count;
    patch.normal = frame.rotation.c[2] * sign;
    patch.sides[plane.shape] = plane.side;
    // the reference face alone decides the normal
    patch.sides[1 - plane.shape].fixed |= patch.sides[1 - plane.shape].count > 1;
    patch
}

#[cfg(test)]
mod tests;
