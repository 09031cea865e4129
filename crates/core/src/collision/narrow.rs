//! Two shapes: closed form, separating axes, or walk and expansion.   (collision-8 … collision-11)

use super::boxes::{Axes, boxes};
use super::closed::{Answer, closed};
use super::epa::Polytope;
use super::gjk::{Walk, walk};
use super::polish::{refine, sides};
use super::shape::Core;
use super::simplex::Simplex;
use super::witness::{ShapePair, Side, Witness};
use crate::spatial::Vec3;

/// Relative gap at which a walk over curved shapes hands over to the polish, and at which it ends without one.
const ROUGH: f64 = 1e-3;
const FINE: f64 = 1e-14;
/// Depth to which overlapping curved shapes are known before the polish, relative to their size.
const DEEP: f64 = 2e-7;
/// The same where the polish fails, and for polytopes.
const FINE_DEEP: f64 = 1e-12;

/// Where the last search for a pair ended: the next one starts there. It changes how soon an answer is found, not which.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Warm {
    pub axis: Vec3,
    pub start: [u32; 2],
}

/// The nearest points of two shapes; `None` if they are farther apart than `limit`.
#[inline(always)]
pub(crate) fn witness(pair: &ShapePair, limit: f64, warm: &mut Warm, memory: &mut Polytope) -> Option<Witness> {
    match closed(pair, limit) {
        Some(Answer::Far) => return None,
        Some(Answer::Near(w)) => return (w.distance <= limit).then_some(w),
        None => {}
    }
    if let [Core::Box { half: a }, Core::Box { half: b }] = pair.shapes.map(|s| s.core) {
        match boxes(pair, a, b, limit) {
            Axes::Far => return None,
            Axes::Exact(w) => return Some(w),
            Axes::Apart(n) => warm.axis = n,
        }
    }
    general(pair, limit, warm, memory)
}

/// Any two convex cores.
pub(crate) fn general(pair: &ShapePair, limit: f64, warm: &mut Warm, memory: &mut Polytope) -> Option<Witness> {
    let (scale, core_limit) = (pair.scale(), limit + pair.radius());
    let axis = [warm.axis, pair.X_12.position, Vec3::UNITS[0]].into_iter().find(|v| v.dot(*v) > 0.0)?;
    let tolerance = if pair.has_curves() { ROUGH } else { FINE };
    let found = match walk(pair, axis, warm.start, core_limit, tolerance, scale) {
        Walk::Far { axis } => {
            warm.axis = axis;
            return None;
        }
        Walk::Apart { simplex, v, converged } => apart(pair, simplex, v, converged, scale),
        Walk::Overlap { simplex } => overlap(pair, &simplex, memory, scale),
    };
    warm.axis = found.normal;
    warm.start = found.sides.map(|s| s.atoms[0]);
    (found.distance <= limit).then_some(found)
}

fn apart(pair: &ShapePair, simplex: Simplex, v: Vec3, converged: bool, scale: f64) -> Witness {
    let n = v.normalized().unwrap_or(Vec3::UNITS[2]);
    if let Some(w) = refine(pair, &simplex, n, scale, true) {
        return w;
    }
    if !pair.has_curves() {
        return unpolished(pair, &simplex, n, converged);
    }
    // the features were not the right ones yet: walk on from here to the end
    match walk(pair, n, simplex.vertices[0].atoms, f64::INFINITY, FINE, scale) {
        Walk::Apart { simplex, v, converged } => {
            let n = v.normalized().unwrap_or(n);
            refine(pair, &simplex, n, scale, true).unwrap_or_else(|| unpolished(pair, &simplex, n, converged))
        }
        _ => unpolished(pair, &simplex, n, false),
    }
}

fn overlap(pair: &ShapePair, simplex: &Simplex, memory: &mut Polytope, scale: f64) -> Witness {
    let tolerances: &[f64] = if pair.has_curves() { &[DEEP, FINE_DEEP] } else { &[FINE_DEEP] };
    let mut found = None;
    for tolerance in tolerances {
        let depth = memory.expand(pair, simplex, tolerance * scale, scale);
        let least = depth.distance - 1e-12 * scale;
        match refine(pair, &depth.simplex, depth.normal, scale, false) {
            Some(w) if w.distance + pair.radius() >= least => return w,
            _ => found = Some(depth), // not the right features yet
        }
    }
    let (simplex, normal, converged) =
        found.map_or((*simplex, Vec3::UNITS[2], false), |d| (d.simplex, d.normal, d.converged));
    unpolished(pair, &simplex, normal, converged)
}

/// The answer of the iteration as it is; the touching points are taken as fixed to their bodies.
fn unpolished(pair: &ShapePair, simplex: &Simplex, n: Vec3, converged: bool) -> Witness {
    let fix = |s: Side| Side { fixed: s.count > 1, ..s };
    let sides = sides(simplex).map(fix);
    let x1 = sides[0].point_of(&pair.shapes[0].core, n) + n * pair.shapes[0].radius;
    let distance = n.dot(pair.support(n, simplex.vertices[0].atoms).y) - pair.radius();
    Witness { normal: n, distance, points: [x1, x1 + n * distance], sides, converged }
}
