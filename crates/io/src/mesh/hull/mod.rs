//! Convex hulls: the corners and outward triangles of the smallest convex body around a set of points.
//!
//! Decisions are exact (see [`quick`]), so the support of the hull is that of the points. Corners that stand out by less
//! than rounding (points of a flat face or a straight edge) are left out afterwards, as they only slow down collision.
//!
//! Why not the hulls of parry3d, which is at hand: on meshes of robots both give the same corners as qhull, but of 3,000
//! odd clouds (needles, plates, shallow caps, grids with noise: see the tests) its hulls had holes in 301 and lost more
//! than 1e-9 of the size in 70.

mod limited;
mod quick;

pub(crate) use limited::chosen_corners;

use super::TriangleMesh;
use quick::Quickhull;
use slipstick_core::spatial::Vec3;
use std::fmt;

/// Points thinner than this share of their size have no volume.
const FLAT: f64 = 1e-9;
/// Corners that stand out by less than this share of the size are rounding of flat faces and straight edges.
const BUMP: f64 = 1e-13;
/// Corners nearer to each other than this share of the size are one.
const NEAR: f64 = 1e-12;
/// Leaving out corners may cost this much of the size; beyond it they stay.
const LOSS: f64 = 1e-11;

/// Why points have no hull.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoHull {
    /// Fewer than four different points.
    Few,
    /// A coordinate is infinite or not a number, or coordinates are too far apart in magnitude.
    NotFinite,
    /// All points lie on a line or in a plane, or at least nearly so.
    Flat,
}

impl NoHull {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            NoHull::Few | NoHull::Flat => "use a box or another primitive shape, or give the mesh a thickness",
            NoHull::NotFinite => "check unit and export of the mesh",
        }
    }
}

impl fmt::Display for NoHull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoHull::Few => "fewer than 4 different vertices",
            NoHull::NotFinite => "vertices that are infinite or too far apart",
            NoHull::Flat => "a flat one: all vertices lie in one plane",
        })
    }
}

impl std::error::Error for NoHull {}

/// The convex hull of points: those that are corners, in their order, and outward triangles.
pub fn convex_hull(points: &[Vec3]) -> Result<TriangleMesh, NoHull> {
    if points.iter().any(|p| !p.is_finite()) {
        return Err(NoHull::NotFinite);
    }
    let simplex = simplex(points)?;
    let scaled = scaled_to_one(points)?;
    let all = Quickhull::triangles(&scaled, simplex).ok_or(NoHull::NotFinite)?;
    let full = TriangleMesh::of_used(points, &all);
    Ok(tidied(&full).unwrap_or(full))
}

/// Largest distance of two points along an axis.
fn size(points: &[Vec3]) -> f64 {
    let range = |of: fn(&Vec3) -> f64| {
        let (low, high) = points.iter().map(of).fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(x), h.max(x)));
        high - low
    };
    range(|p| p.x).max(range(|p| p.y)).max(range(|p| p.z))
}

/// Four points that span a large tetrahedron.
fn simplex(points: &[Vec3]) -> Result<[u32; 4], NoHull> {
    if points.len() < 4 {
        return Err(NoHull::Few);
    }
    let size = size(points);
    if !size.is_finite() {
        return Err(NoHull::NotFinite);
    }
    // measured in units of the size, so that squares of small numbers do not vanish
    let unit = |v: Vec3| v * (1.0 / size);
    let largest = |measure: &dyn Fn(Vec3) -> f64| {
        let of = |i: &u32| measure(points[*i as usize]);
        let i = (0..points.len() as u32).max_by(|i, j| of(i).total_cmp(&of(j))).unwrap_or(0);
        (i, of(&i))
    };
    let (a, _) = largest(&|p| unit(p - points[0]).norm());
    let pa = points[a as usize];
    let (b, length) = largest(&|p| unit(p - pa).norm());
    if length.is_nan() || length <= 0.0 {
        return Err(NoHull::Few);
    }
    let axis = unit(points[b as usize] - pa) * (1.0 / length);
    let (c, width) = largest(&|p| axis.cross(unit(p - pa)).norm());
    let normal = axis.cross(unit(points[c as usize] - pa)).normalized();
    let normal = normal.filter(|_| width > FLAT).ok_or(NoHull::Flat)?;
    let (d, height) = largest(&|p| normal.dot(unit(p - pa)).abs());
    if height > FLAT { Ok([a, b, c, d]) } else { Err(NoHull::Flat) }
}

/// The points times a power of two, which is exact, with the largest coordinate near one; then determinants neither
/// overflow nor, below 2⁻¹⁶⁰, underflow: smaller coordinates count as zero.
fn scaled_to_one(points: &[Vec3]) -> Result<Vec<Vec3>, NoHull> {
    let largest = points.iter().flat_map(|p| p.to_array()).fold(0.0, |m: f64, x| m.max(x.abs()));
    let factor = 2f64.powi(-(largest.log2().floor() as i32));
    if !(factor.is_normal() && largest.is_normal()) {
        return Err(NoHull::NotFinite);
    }
    let one = |x: f64| if (x * factor).abs() < 2f64.powi(-160) { 0.0 } else { x * factor };
    Ok(points.iter().map(|p| Vec3::from(p.to_array().map(one))).collect())
}

/// The hull without doubled corners and without those that do not really stand out; `None` if something would be lost.
fn tidied(full: &TriangleMesh) -> Option<TriangleMesh> {
    let size = size(&full.vertices);
    let mut hull = full.clone();
    // again and again, as corners that remain may only then be neighbors
    loop {
        let double = doubles(&hull, NEAR * size);
        if !double.contains(&true) {
            break;
        }
        hull = with_corners(&hull, |i| !double[i])?;
    }
    let out = standing_out(&hull);
    if out.iter().any(|x| *x <= BUMP * size) {
        hull = with_corners(&hull, |i| out[i] > BUMP * size)?;
    }
    let planes = planes(&hull, size);
    let beyond = |p: &Vec3| planes.iter().any(|(n, a, trust)| n.dot(*p - *a) > (LOSS + trust) * size);
    // points in the order of the full hull, so that those left out are found in one pass
    let mut kept = hull.vertices.iter().peekable();
    let left_out = full.vertices.iter().filter(|v| kept.next_if(|k| k == v).is_none());
    let lost = left_out.into_iter().any(beyond);
    (!lost).then_some(hull)
}

/// The hull of the corners that stay.
fn with_corners(hull: &TriangleMesh, stays: impl Fn(usize) -> bool) -> Option<TriangleMesh> {
    let kept: Vec<Vec3> = (0..hull.vertices.len()).filter(|i| stays(*i)).map(|i| hull.vertices[i]).collect();
    let triangles = Quickhull::triangles(&scaled_to_one(&kept).ok()?, simplex(&kept).ok()?)?;
    Some(TriangleMesh::of_used(&kept, &triangles))
}

/// Corners that have an earlier one very near to them.
fn doubles(hull: &TriangleMesh, near: f64) -> Vec<bool> {
    let mut doubled = vec![false; hull.vertices.len()];
    for t in &hull.triangles {
        for (i, j) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
            let close = (hull.vertices[i as usize] - hull.vertices[j as usize]).norm() < near;
            doubled[i.max(j) as usize] |= close;
        }
    }
    doubled
}

/// Outward unit normal and a corner of each triangle, and the share of the size to which its plane can be trusted: the
/// narrower a triangle, the less.
fn planes(hull: &TriangleMesh, size: f64) -> Vec<(Vec3, Vec3, f64)> {
    let plane = |[a, b, c]: [Vec3; 3]| {
        let (normal, longest) = ((b - a).cross(c - a), (b - a).norm().max((c - b).norm()).max((a - c).norm()));
        normal.normalized().map(|n| (n, a, 4.0 * f64::EPSILON * size * longest / normal.norm()))
    };
    hull.triangles.iter().filter_map(|t| plane(t.map(|i| hull.vertices[i as usize]))).collect()
}

/// By how much each corner stands out from its neighbors, along a mean normal of its faces. Weighted by area, slivers,
/// whose normals are noise, do not count; weighted by angle, small faces do: the better of both is taken.
fn standing_out(hull: &TriangleMesh) -> Vec<f64> {
    let by_area = |_: Vec3, normal: Vec3, _: f64| normal;
    let by_angle = |unit: Vec3, normal: Vec3, cos: f64| unit * normal.norm().atan2(cos);
    let both = margins(hull, by_area).into_iter().zip(margins(hull, by_angle));
    both.map(|(a, b)| a.max(b)).collect()
}

/// Margins of the corners for one way to weigh normals, by unit normal, its product with twice the area, and the product of the edges.
fn margins(hull: &TriangleMesh, weigh: impl Fn(Vec3, Vec3, f64) -> Vec3) -> Vec<f64> {
    let mut normals = vec![Vec3::ZERO; hull.vertices.len()];
    let at = |i: u32| hull.vertices[i as usize];
    let sides = |t: &[u32; 3]| [[t[0], t[1], t[2]], [t[1], t[2], t[0]], [t[2], t[0], t[1]]];
    for [i, j, k] in hull.triangles.iter().flat_map(sides) {
        let (u, w) = (at(j) - at(i), at(k) - at(i));
        let normal = u.cross(w);
        normals[i as usize] += weigh(normal.normalized().unwrap_or(Vec3::ZERO), normal, u.dot(w));
    }
    let normals: Vec<Vec3> = normals.into_iter().map(|n| n.normalized().unwrap_or(Vec3::ZERO)).collect();
    let mut margin = vec![f64::MAX; hull.vertices.len()];
    for [i, j, _] in hull.triangles.iter().flat_map(sides) {
        for (here, there) in [(i, j), (j, i)] {
            let stands = normals[here as usize].dot(at(here) - at(there));
            margin[here as usize] = margin[here as usize].min(stands);
        }
    }
    margin
}

#[cfg(test)]
mod tests;
