//! Candidates on a plane: nothing needs clipping, every vertex near the plane counts.

use super::clip::{Incident, NONE, Outline};
use super::reduce::{BAND, Candidates};
use super::round::{Round, down_axis};
use crate::collision::contact::PointKind;
use crate::collision::shape::Core;
use crate::model::Hull;
use crate::spatial::{Pose, Vec3};

/// Most vertices of a hull that are gathered one by one.
pub(super) const MANY: usize = 64;
/// Slots of the set of vertices already seen; a power of two, four times as many as are gathered.
const SLOTS: usize = 4 * MANY;
/// Up to this number of vertices all are looked at.
const SMALL: usize = 32;
/// Adds the corners of a box.
#[inline(always)]
pub(super) fn box_corners<const M: usize>(half: Vec3, X_fi: &Pose, incident: Incident, out: &mut Candidates<M>) {
    let [a, b, c] = [X_fi.rotation.c[0] * half.x, X_fi.rotation.c[1] * half.y, X_fi.rotation.c[2] * half.z];
    for (k, base) in [X_fi.position - c, X_fi.position + c].into_iter().enumerate() {
        let corners = [base - a - b, base + a - b, base - a + b, base + a + b];
        for (i, p) in corners.into_iter().enumerate() {
            add(p, (4 * k + i) as u32, incident, out);
        }
    }
}

/// Adds the vertices of segments and prisms and the points of cylinders and cones.
pub(super) fn few_vertices<const M: usize>(core: &Core, X_fi: &Pose, incident: Incident, out: &mut Candidates<M>) {
    if let Some(round) = Round::new(core, X_fi, 2) {
        add_outline(&round.generator, incident, out);
        add_outline(&round.cap, incident, out);
        return;
    }
    let n = match core {
        Core::Segment { .. } => 2,
        Core::Prism(_) => 6,
        _ => 0,
    };
    for atom in 0..n {
        add(X_fi.point(core.atom(atom, Vec3::ZERO)), atom, incident, out);
    }
}

#[inline(always)]
fn add<const M: usize>(p: Vec3, atom: u32, incident: Incident, out: &mut Candidates<M>) {
    out.push(p.x, p.y, p.z - incident.radii, PointKind::Incident { side: incident.side, atom });
}

fn add_outline<const N: usize, const M: usize>(outline: &Outline<N>, incident: Incident, out: &mut Candidates<M>) {
    for k in (0..outline.count).filter(|&k| outline.atoms[k] != outline.without) {
        add(outline.points[k], outline.atoms[k], incident, out);
    }
}

/// Adds the vertices of a hull that are below the limit: they hang together, so the search spreads from the deepest over
/// edges. Of very many, the deepest and the outermost in eight directions stay.
pub(super) fn hull_vertices(
    hull: &Hull,
    X_fi: &Pose,
    deepest: u32,
    incident: Incident,
    limit: f64,
) -> Candidates<MANY> {
    let mut out = Candidates::new(limit);
    if hull.vertices.len() <= SMALL {
        for (k, v) in hull.vertices.iter().enumerate() {
            add(X_fi.point(*v), k as u32, incident, &mut out);
        }
    } else if hull.neighbours(deepest).is_empty() || !spread(hull, X_fi, deepest, incident, &mut out) {
        out = outermost(hull, X_fi, deepest, incident, limit);
    }
    out
}

/// Spreads from the deepest vertex; false if there are too many.
fn spread(hull: &Hull, X_fi: &Pose, deepest: u32, incident: Incident, out: &mut Candidates<MANY>) -> bool {
    let mut seen = Seen { slots: [0; SLOTS] };
    seen.insert(deepest);
    add(X_fi.point(hull.vertices[deepest as usize]), deepest, incident, out);
    let up = down_axis(X_fi);
    // the list of candidates is also the queue
    let mut next = 0;
    while let Some(&candidate) = out.as_slice().get(next) {
        next += 1;
        let PointKind::Incident { atom, .. } = candidate.kind else { continue };
        for &k in hull.neighbours(atom) {
            let v = hull.vertices[k as usize];
            if up.dot(v) + X_fi.position.z - incident.radii >= out.limit() || !seen.insert(k) {
                continue;
            }
            if out.is_full() {
                return false;
            }
            add(X_fi.point(v), k, incident, out);
        }
    }
    true
}

/// A small set of vertex numbers: an open table, never more than half full because candidates run out first.
struct Seen {
    /// Numbers plus one; 0 is empty.
    slots: [u32; SLOTS],
}

impl Seen {
    /// Whether the number is new.
    #[inline(always)]
    fn insert(&mut self, k: u32) -> bool {
        let mut slot = (k.wrapping_mul(0x9E37_79B1) >> 24) as usize % SLOTS;
        while self.slots[slot] != 0 {
            if self.slots[slot] == k + 1 {
                return false;
            }
            slot = (slot + 1) % SLOTS;
        }
        self.slots[slot] = k + 1;
        true
    }
}

/// The deepest vertex, and the outermost in eight directions: of those of the band around it, and of the others below
/// the limit.
fn outermost(hull: &Hull, X_fi: &Pose, deepest: u32, incident: Incident, limit: f64) -> Candidates<MANY> {
    let up = down_axis(X_fi);
    let height = |v: Vec3| up.dot(v) + X_fi.position.z - incident.radii;
    let bound = height(hull.vertices[deepest as usize]) + BAND * limit.abs();
    let mut outer = [Outermost::NONE; 2];
    for (k, v) in hull.vertices.iter().enumerate() {
        let h = height(*v);
        if h < limit {
            let p = X_fi.point(*v);
            outer[(h > bound) as usize].add(p.x, p.y, k as u32);
        }
    }
    let mut out = Candidates::new(limit);
    add(X_fi.point(hull.vertices[deepest as usize]), deepest, incident, &mut out);
    let mut last = deepest;
    for k in outer.iter().flat_map(|o| o.vertices) {
        if k != deepest && k != last && k != NONE {
            add(X_fi.point(hull.vertices[k as usize]), k, incident, &mut out);
        }
        last = k;
    }
    out
}

/// The outermost vertices in eight directions, eighths of a turn apart.
#[derive(Clone, Copy)]
struct Outermost {
    extents: [f64; 8],
    vertices: [u32; 8],
}

impl Outermost {
    const NONE: Outermost = Outermost { extents: [f64::NEG_INFINITY; 8], vertices: [NONE; 8] };

    #[inline(always)]
    fn add(&mut self, x: f64, y: f64, k: u32) {
        // only compared with others in the same direction, so that diagonals need no unit length
        let extents = [x, x + y, y, y - x, -x, -x - y, -y, x - y];
        for i in 0..8 {
            if extents[i] > self.extents[i] {
                (self.extents[i], self.vertices[i]) = (extents[i], k);
            }
        }
    }
}
