//! Two shapes: closed form, separating axes, or walk and expansion.   (collision-8 … collision-11)

mod boxes;
mod certificate;
pub(super) mod closed;
pub(super) mod epa;
mod gjk;
mod polish;
mod simplex;

use super::narrow::boxes::{Axes, boxes};
use super::narrow::closed::{Answer, closed};
use super::narrow::epa::Polytope;
use super::narrow::gjk::{End, Gap, Walk};
use super::narrow::polish::{exact, refine, unpolished};
use super::narrow::simplex::Simplex;
use super::pair::{ShapePair, Witness};
use super::shape::Core;
use crate::spatial::Vec3;

/// When a walk over curved shapes hands over to the polish, first and once more, and when a walk ends without one.
const ROUGH: Gap = Gap { end: 1e-3, settled: 5e-2 };
const CLOSE: Gap = Gap { end: 1e-4, settled: 1e-3 };
const FINE: Gap = Gap { end: 1e-14, settled: 1e-14 };
/// Distance of polytopes, relative to their size, beyond which the walk knows the normal to its last digits.
const CLEAR: f64 = 1e-2;
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
        Some(Answer::Far) => None,
        Some(Answer::Near(w)) => (w.distance <= limit).then_some(w),
        None => open(pair, limit, warm, memory),
    }
}

/// Nearest points of two shapes that have no closed form.
#[inline(always)]
pub(crate) fn open(pair: &ShapePair, limit: f64, warm: &mut Warm, memory: &mut Polytope) -> Option<Witness> {
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
    let gap = if pair.has_curves() { ROUGH } else { FINE };
    let mut walk = Walk::new(pair, axis, warm.start);
    if walk.is_far(axis, core_limit) {
        *warm = Warm { axis, start: walk.atoms() };
        return None;
    }
    let found = match walk.run(pair, core_limit, gap, scale) {
        End::Far => {
            *warm = Warm { axis: walk.v, start: walk.atoms() };
            return None;
        }
        End::Apart { converged } => apart(pair, walk, converged, memory, scale),
        End::Overlap => memory.expand(pair, &walk.simplex, scale),
    };
    warm.axis = found.normal;
    warm.start = found.sides.map(|s| s.atoms[0]);
    (found.distance <= limit).then_some(found)
}

fn apart(pair: &ShapePair, mut walk: Walk, converged: bool, memory: &mut Polytope, scale: f64) -> Witness {
    let curved = pair.has_curves();
    let length = walk.v.norm();
    if !curved && converged && length > CLEAR * scale {
        return exact(pair, &walk.simplex, walk.v, length);
    }
    let n = walk.v.normalized().unwrap_or(Vec3::UNITS[2]);
    if let Some(w) = refine(pair, &walk.simplex, n, scale, true) {
        return w;
    }
    if !curved {
        return settled(pair, &walk.simplex, walk.v, converged, memory, scale);
    }
    // the features were not the right ones yet: on from here
    let mut converged = converged;
    for gap in [CLOSE, FINE] {
        match walk.run(pair, f64::INFINITY, gap, scale) {
            End::Apart { converged: reached } => {
                converged = reached;
                let n = walk.v.normalized().unwrap_or(n);
                if let Some(w) = refine(pair, &walk.simplex, n, scale, true) {
                    return w;
                }
            }
            End::Overlap => return memory.expand(pair, &walk.simplex, scale),
            End::Far => break,
        }
    }
    settled(pair, &walk.simplex, walk.v, converged, memory, scale)
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
