//! Candidates on a plane: nothing needs clipping. Every vertex near the plane counts; of large hulls the deepest and those
//! that are outermost and low in eight directions.   (collision-7)

use super::clip::{Incident, Outline};
use super::reduce::Candidates;
use super::round::{Round, down_axis};
use crate::collision::contact::PointKind;
use crate::collision::shape::Core;
use crate::model::Hull;
use crate::spatial::{Pose, Vec3};

/// Up to this number of vertices all are looked at.
const SMALL_HULL: usize = 32;
/// Most candidates.
pub(super) const MAX_CANDIDATES: usize = SMALL_HULL;
/// A vertex that lies farther out by some length may be higher by this fraction of it: faces tilted by less touch as a whole.
const TILT: f64 = 0.1;

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

/// Adds the vertices of a hull that are below the limit: of many, the deepest and those that are outermost and low in
/// eight directions.
pub(super) fn hull_vertices(
    hull: &Hull,
    X_fi: &Pose,
    deepest: u32,
    incident: Incident,
    limit: f64,
) -> Candidates<MAX_CANDIDATES> {
    let mut out = Candidates::new(limit);
    if hull.vertices.len() <= SMALL_HULL {
        for (k, v) in hull.vertices.iter().enumerate() {
            add(X_fi.point(*v), k as u32, incident, &mut out);
        }
        return out;
    }
    add(X_fi.point(hull.vertices[deepest as usize]), deepest, incident, &mut out);
    let (x, y, down) = (X_fi.rotation.tmul(Vec3::UNITS[0]), X_fi.rotation.tmul(Vec3::UNITS[1]), -down_axis(X_fi));
    let mut taken = [deepest; 9];
    for (k, outward) in [x, x + y, y, y - x, -x, -x - y, -y, x - y].into_iter().enumerate() {
        let vertex = hull.support(down + outward * TILT, taken[k]).1;
        if !taken[..=k].contains(&vertex) {
            add(X_fi.point(hull.vertices[vertex as usize]), vertex, incident, &mut out);
        }
        taken[k + 1] = vertex;
    }
    out
}
