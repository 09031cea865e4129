//! Two shapes: closed form, separating axes, or walk and expansion.   (collision-8 … collision-11)

use super::boxes::{Axes, boxes};
use super::closed::{Answer, closed};
use super::epa::Polytope;
use super::gjk::{Walk, walk};
use super::polish::{refine, unpolished};
use super::shape::Core;
use super::simplex::Simplex;
use super::witness::{ShapePair, Witness};
use crate::spatial::Vec3;

/// Relative gap at which a walk over curved shapes hands over to the polish, and at which it ends without one.
const ROUGH: f64 = 1e-3;
const FINE: f64 = 1e-14;
/// Difference of the two bounds of a distance that is no more than rounding, relative to the size of the shapes.
const MEETING: f64 = 1e-11;

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
        Walk::Far { axis, atoms } => {
            *warm = Warm { axis, start: atoms };
            return None;
        }
        Walk::Apart { simplex, v, converged } => apart(pair, simplex, v, converged, memory, scale),
        Walk::Overlap { simplex } => memory.expand(pair, &simplex, scale),
    };
    warm.axis = found.normal;
    warm.start = found.sides.map(|s| s.atoms[0]);
    (found.distance <= limit).then_some(found)
}

fn apart(pair: &ShapePair, simplex: Simplex, v: Vec3, converged: bool, memory: &mut Polytope, scale: f64) -> Witness {
    let n = v.normalized().unwrap_or(Vec3::UNITS[2]);
    if let Some(w) = refine(pair, &simplex, n, scale, true) {
        return w;
    }
    if !pair.has_curves() {
        return settled(pair, &simplex, v, converged, memory, scale);
    }
    // the features were not the right ones yet: walk on from here to the end
    match walk(pair, n, simplex.vertices[0].atoms, f64::INFINITY, FINE, scale) {
        Walk::Apart { simplex, v, converged } => {
            let n = v.normalized().unwrap_or(n);
            refine(pair, &simplex, n, scale, true)
                .unwrap_or_else(|| settled(pair, &simplex, v, converged, memory, scale))
        }
        Walk::Overlap { simplex } => memory.expand(pair, &simplex, scale),
        Walk::Far { .. } => settled(pair, &simplex, v, false, memory, scale),
    }
}

/// The answer of a walk as it is if its two bounds meet; else shapes that nearly touch, for the expansion to look at.
fn settled(
    pair: &ShapePair,
    simplex: &Simplex,
    v: Vec3,
    converged: bool,
    memory: &mut Polytope,
    scale: f64,
) -> Witness {
    let walked = unpolished(pair, simplex, v.normalized().unwrap_or(Vec3::UNITS[2]), converged);
    if v.norm() - (walked.distance + pair.radius()) <= MEETING * scale {
        return walked;
    }
    let grown = memory.expand(pair, simplex, scale);
    if grown.distance > walked.distance { grown } else { walked }
}

#[cfg(test)]
mod tests;
