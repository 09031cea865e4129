//! Hulls with few corners: points join one after another, each time the one farthest outside, until there are enough.
//!
//! MuJoCo has qhull do it (`TA` with `Q9`). The first four points are chosen by qhull's rule and the others by the same
//! measure, but qhull merges faces that lie in one plane up to rounding, and may take another point then.

use super::quick::Quickhull;
use super::{NoHull, scaled_to_one, simplex};
use slipstick_core::spatial::Vec3;

/// At most `most` of the points, at least four, whose hull comes near that of all; in the order of the points.
pub(crate) fn chosen_corners(points: &[Vec3], most: usize) -> Result<Vec<u32>, NoHull> {
    if points.iter().any(|p| !p.is_finite()) {
        return Err(NoHull::NotFinite);
    }
    let wide = simplex(points)?;
    let scaled = scaled_to_one(points)?;
    let more = most.saturating_sub(4);
    let hull = |first| Quickhull::farthest_first(&scaled, first, more);
    let triangles = extreme_simplex(&scaled).and_then(hull).or_else(|| hull(wide)).ok_or(NoHull::NotFinite)?;
    let mut corners: Vec<u32> = triangles.into_iter().flatten().collect();
    corners.sort_unstable();
    corners.dedup();
    Ok(corners)
}

/// qhull's first four points: of those with the least and greatest coordinates the two farthest apart along x, then those
/// that span the greatest area in the plane of x and y, and the greatest volume. `None` where it would be flat.
fn extreme_simplex(points: &[Vec3]) -> Option<[u32; 4]> {
    let at = |i: u32| points[i as usize].to_array();
    let all = || 0..points.len() as u32;
    let extreme = |k: usize, sign: f64| first_greatest(all(), |i| sign * at(i)[k]);
    let ends: Vec<u32> =
        (0..3).flat_map(|k| [-1.0, 1.0].map(|sign| (k, sign))).filter_map(|(k, s)| extreme(k, s)).collect();
    let (a, b) = (ends[0], ends[1]);
    let edge = |i: u32| points[i as usize] - points[a as usize];
    let area = |i: u32| (edge(b).x * edge(i).y - edge(b).y * edge(i).x).abs();
    let c = first_greatest(ends.iter().copied(), area)
        .filter(|i| area(*i) > 0.0)
        .or_else(|| first_greatest(all(), area))?;
    let volume = |i: u32| edge(b).cross(edge(c)).dot(edge(i)).abs();
    let d = first_greatest(ends.iter().copied(), volume)
        .filter(|i| volume(*i) > 0.0)
        .or_else(|| first_greatest(all(), volume))?;
    (area(c) > 0.0 && volume(d) > 0.0).then_some([a, b, c, d])
}

/// The first of those with the greatest value.
fn first_greatest(candidates: impl Iterator<Item = u32>, value: impl Fn(u32) -> f64) -> Option<u32> {
    candidates
        .fold(None, |best: Option<(u32, f64)>, i| match best {
            Some((_, most)) if value(i) <= most => best,
            _ => Some((i, value(i))),
        })
        .map(|(i, _)| i)
}
