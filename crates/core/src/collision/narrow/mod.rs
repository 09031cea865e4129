//! Nearest points of two shapes: closed form, separating axes, or GJK and EPA.   (collision-8 … collision-11)

mod boxes;
mod certificate;
pub(super) mod closed;
pub(super) mod epa;
mod gjk;
mod polish;
mod simplex;

use super::narrow::boxes::{SeparatingAxes, boxes};
use super::narrow::closed::{ClosedForm, closed};
use super::narrow::epa::Polytope;
use super::narrow::gjk::{Gjk, GjkEnd, GjkTolerance};
use super::narrow::polish::{exact, refine, unpolished};
use super::narrow::simplex::Simplex;
use super::pair::{ShapePair, Witness};
use super::shape::Core;
use crate::spatial::Vec3;

/// Tolerances of GJK: for the first and second attempt of the polish on curved shapes, and without a polish.
const ROUGH_GJK: GjkTolerance = GjkTolerance { end: 1e-3, settled: 5e-2 };
const CLOSE_GJK: GjkTolerance = GjkTolerance { end: 1e-4, settled: 1e-3 };
const EXACT_GJK: GjkTolerance = GjkTolerance { end: 1e-14, settled: 1e-14 };
/// Distance of polytopes, relative to their size, beyond which GJK determines the normal to its last digits.
const CLEARLY_APART: f64 = 1e-2;
/// Difference of the two bounds of a distance that is no more than rounding, relative to the size of the shapes.
const BOUNDS_AGREE: f64 = 1e-11;

/// Where the last search for a pair ended: the next one starts there. It changes the number of iterations, not the result.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Warm {
    pub axis: Vec3,
    pub start: [u32; 2],
}

/// The nearest points of two shapes; `None` if they are farther apart than `limit`.
#[inline(always)]
pub(crate) fn witness(pair: &ShapePair, limit: f64, warm: &mut Warm, memory: &mut Polytope) -> Option<Witness> {
    match closed(pair, limit) {
        Some(ClosedForm::Far) => None,
        Some(ClosedForm::Near(w)) => (w.distance <= limit).then_some(w),
        None => without_closed_form(pair, limit, warm, memory),
    }
}

/// Nearest points of two shapes that have no closed form.
#[inline(always)]
pub(crate) fn without_closed_form(
    pair: &ShapePair,
    limit: f64,
    warm: &mut Warm,
    memory: &mut Polytope,
) -> Option<Witness> {
    if let [Core::Box { half: a }, Core::Box { half: b }] = pair.shapes.map(|s| s.core) {
        match boxes(pair, a, b, limit) {
            SeparatingAxes::Far => return None,
            SeparatingAxes::Exact(w) => return Some(w),
            SeparatingAxes::Apart(n) => warm.axis = n,
        }
    }
    iterative(pair, limit, warm, memory)
}

/// Any two convex cores.
pub(crate) fn iterative(pair: &ShapePair, limit: f64, warm: &mut Warm, memory: &mut Polytope) -> Option<Witness> {
    let (scale, core_limit) = (pair.scale(), limit + pair.radius());
    let axis = [warm.axis, pair.X_12.position, Vec3::UNITS[0]].into_iter().find(|v| v.dot(*v) > 0.0)?;
    let gap = if pair.has_curves() { ROUGH_GJK } else { EXACT_GJK };
    let mut gjk = Gjk::new(pair, axis, warm.start);
    if gjk.is_far(axis, core_limit) {
        *warm = Warm { axis, start: gjk.atoms() };
        return None;
    }
    let found = match gjk.run(pair, core_limit, gap, scale) {
        GjkEnd::Far => {
            *warm = Warm { axis: gjk.v, start: gjk.atoms() };
            return None;
        }
        GjkEnd::Apart { converged } => apart(pair, gjk, converged, memory, scale),
        GjkEnd::Overlap => memory.expand(pair, &gjk.simplex, scale),
    };
    warm.axis = found.normal;
    warm.start = found.sides.map(|s| s.atoms[0]);
    (found.distance <= limit).then_some(found)
}

fn apart(pair: &ShapePair, mut gjk: Gjk, converged: bool, memory: &mut Polytope, scale: f64) -> Witness {
    let curved = pair.has_curves();
    let length = gjk.v.norm();
    if !curved && converged && length > CLEARLY_APART * scale {
        return exact(pair, &gjk.simplex, gjk.v, length);
    }
    let n = gjk.v.normalized().unwrap_or(Vec3::UNITS[2]);
    if let Some(w) = refine(pair, &gjk.simplex, n, scale, true) {
        return w;
    }
    if !curved {
        return gjk_or_epa(pair, &gjk.simplex, gjk.v, converged, memory, scale);
    }
    // the features were not the right ones yet: continue from here
    let mut converged = converged;
    for gap in [CLOSE_GJK, EXACT_GJK] {
        match gjk.run(pair, f64::INFINITY, gap, scale) {
            GjkEnd::Apart { converged: reached } => {
                converged = reached;
                let n = gjk.v.normalized().unwrap_or(n);
                if let Some(w) = refine(pair, &gjk.simplex, n, scale, true) {
                    return w;
                }
            }
            GjkEnd::Overlap => return memory.expand(pair, &gjk.simplex, scale),
            GjkEnd::Far => break,
        }
    }
    gjk_or_epa(pair, &gjk.simplex, gjk.v, converged, memory, scale)
}

/// The result of GJK if its two bounds agree; else the shapes nearly touch, and EPA decides.
fn gjk_or_epa(
    pair: &ShapePair,
    simplex: &Simplex,
    v: Vec3,
    converged: bool,
    memory: &mut Polytope,
    scale: f64,
) -> Witness {
    let walked = unpolished(pair, simplex, v.normalized().unwrap_or(Vec3::UNITS[2]), converged);
    if v.norm() - (walked.distance + pair.radius()) <= BOUNDS_AGREE * scale {
        return walked;
    }
    let grown = memory.expand(pair, simplex, scale);
    if grown.distance > walked.distance { grown } else { walked }
}

#[cfg(test)]
mod tests;
