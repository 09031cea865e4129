//! Clips a face or an edge of the incident shape against the reference face.
//!
//! Edges are cut one at a time, so that the support features (atoms) of every point are known: corners of the incident face over
//! the reference face, crossings of the two outlines, and corners of the reference face under the incident face.

use super::face::ReferenceFace;
use super::reduce::Candidates;
use crate::collision::contact::PointKind;
use crate::spatial::Vec3;

/// Corners outside by less than this fraction of the reference face's size count as inside: a shared edge keeps its corners.
const SNAP: f64 = 1e-9;
/// A face that leans more than this has no corners of the reference face under it (cosine).
const STEEP: f64 = 1e-3;

/// Corners of a face, counter-clockwise seen from outside, or the two ends of an edge, or a single vertex of the incident
/// shape; in the frame of the reference face.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outline<const N: usize> {
    pub atoms: [u32; N],
    pub points: [Vec3; N],
    pub count: usize,
    /// An atom that is skipped: another candidate lies nearby.
    pub without: u32,
}

/// The incident shape and how its distance is measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Incident {
    /// Its number, 0 or 1.
    pub side: u8,
    /// Sum of both radii (m).
    pub radii: f64,
}

/// Number that is no atom.
pub(super) const NONE: u32 = u32::MAX;

impl<const N: usize> Outline<N> {
    #[inline(always)]
    pub fn next(&self, k: usize) -> usize {
        if k + 1 < self.count { k + 1 } else { 0 }
    }
}

/// Sides of a polygon, padded with sides of no length, which cut nothing: loops of fixed length run side by side.
struct Sides<const N: usize> {
    x: [f64; N],
    y: [f64; N],
    dx: [f64; N],
    dy: [f64; N],
}

impl<const N: usize> Sides<N> {
    #[inline(always)]
    fn new(count: usize, corner: impl Fn(usize) -> [f64; 2]) -> Sides<N> {
        let mut sides = Sides { x: [0.0; N], y: [0.0; N], dx: [0.0; N], dy: [0.0; N] };
        let mut a = corner(0);
        for k in 0..count.min(N) {
            let b = corner(if k + 1 < count { k + 1 } else { 0 });
            (sides.x[k], sides.y[k]) = (a[0], a[1]);
            (sides.dx[k], sides.dy[k]) = (b[0] - a[0], b[1] - a[1]);
            a = b;
        }
        sides
    }

    /// Signed distances of a point to the sides, times the lengths of these; positive on the left.
    #[inline(always)]
    fn heights(&self, x: f64, y: f64) -> [f64; N] {
        let mut heights = [0.0; N];
        for k in 0..N {
            heights[k] = self.dx[k] * (y - self.y[k]) - self.dy[k] * (x - self.x[k]);
        }
        heights
    }
}

/// Whether a point with the given heights lies over the face.
#[inline(always)]
fn is_over<const N: usize>(face: &ReferenceFace<N>, p: Vec3, heights: &[f64; N], tolerance: f64) -> bool {
    if face.disc > 0.0 {
        return p.x * p.x + p.y * p.y <= face.disc * face.disc * (1.0 + 2.0 * SNAP);
    }
    !heights.iter().fold(false, |outside, h| outside | (*h < -tolerance))
}

/// Adds what lies over `face` to `out`.
#[inline(always)]
pub(super) fn clip<const N: usize, const M: usize>(
    outline: &Outline<N>,
    face: &ReferenceFace<N>,
    incident: Incident,
    out: &mut Candidates<M>,
) {
    let tolerance = SNAP * square_of_size(face);
    let sides = Sides::<N>::new(face.count, |k| face.corners[k]);
    let heights = |p: Vec3| sides.heights(p.x, p.y);
    let mut here = heights(outline.points[0]);
    let mut over = is_over(face, outline.points[0], &here, tolerance);
    let mut all_over = true;
    let n_edges = if outline.count > 2 { outline.count } else { outline.count - 1 };
    for k in 0..outline.count {
        all_over &= over;
        if over && outline.atoms[k] != outline.without {
            let p = outline.points[k];
            let kind = PointKind::Incident { side: incident.side, atom: outline.atoms[k] };
            out.push(p.x, p.y, p.z - incident.radii, kind);
        }
        if k < n_edges {
            let q = outline.points[outline.next(k)];
            let there = heights(q);
            let next_over = is_over(face, q, &there, tolerance);
            if !(over && next_over) {
                clip_edge(outline, k, face, [over, next_over], [&here, &there], incident, out);
            }
            (here, over) = (there, next_over);
        }
    }
    if outline.count > 2 && !all_over {
        corners_below(outline, face, incident, tolerance, out);
    }
}

/// Where edge `k` enters and leaves the space over the face.
#[inline(always)]
fn clip_edge<const N: usize, const M: usize>(
    outline: &Outline<N>,
    k: usize,
    face: &ReferenceFace<N>,
    over: [bool; 2],
    heights: [&[f64; N]; 2],
    incident: Incident,
    out: &mut Candidates<M>,
) {
    let (mut enter, mut leave) = ((0.0, usize::MAX), (1.0, usize::MAX));
    for i in 0..N {
        let (a, b) = (heights[0][i], heights[1][i]);
        if a < 0.0 && b < 0.0 && !(over[0] || over[1]) {
            return;
        }
        if a < 0.0 && b > a && !over[0] {
            let t = a / (a - b);
            if t > enter.0 {
                enter = (t, i);
            }
        } else if b < 0.0 && a > b && !over[1] {
            let t = a / (a - b);
            if t < leave.0 {
                leave = (t, i);
            }
        }
    }
    if enter.0 >= leave.0 {
        return;
    }
    let (p, q) = (outline.points[k], outline.points[outline.next(k)]);
    let edge = [outline.atoms[k], outline.atoms[outline.next(k)]];
    for (t, i) in [enter, leave] {
        if i < N {
            let x = p + (q - p) * t;
            let reference = [face.atoms[i], face.atoms[if i + 1 < face.count { i + 1 } else { 0 }]];
            let kind = PointKind::Crossing { side: incident.side, edge, reference };
            out.push(x.x, x.y, x.z - incident.radii, kind);
        }
    }
}

/// Corners of the reference face under the incident face, with the distance to its plane along the normal.
#[inline(always)]
fn corners_below<const N: usize, const M: usize>(
    outline: &Outline<N>,
    face: &ReferenceFace<N>,
    incident: Incident,
    tolerance: f64,
    out: &mut Candidates<M>,
) {
    let three = [0, outline.count / 3, 2 * outline.count / 3];
    let [a, b, c] = three.map(|k| outline.points[k]);
    let normal = (b - a).cross(c - a);
    // it faces the reference, so its normal points down
    if !(normal.z < 0.0 && normal.z * normal.z > STEEP * STEEP * normal.dot(normal)) {
        return;
    }
    let slope = [-normal.x / normal.z, -normal.y / normal.z];
    let sides = Sides::<N>::new(outline.count, |k| [outline.points[k].x, outline.points[k].y]);
    for i in 0..face.count {
        let [x, y] = face.corners[i];
        // clockwise from above: inside is to the right
        let is_under = !sides.heights(x, y).iter().fold(false, |outside, h| outside | (*h > tolerance));
        if is_under {
            let z = a.z + slope[0] * (x - a.x) + slope[1] * (y - a.y);
            let kind = PointKind::Reference {
                side: incident.side,
                atom: face.atoms[i],
                face: three.map(|k| outline.atoms[k]),
            };
            out.push(x, y, z - incident.radii, kind);
        }
    }
}

/// Square of the longest diagonal from the first corner (m²).
#[inline(always)]
fn square_of_size<const N: usize>(face: &ReferenceFace<N>) -> f64 {
    let a = face.corners[0];
    let square = |c: &[f64; 2]| (c[0] - a[0]) * (c[0] - a[0]) + (c[1] - a[1]) * (c[1] - a[1]);
    face.corners[1..face.count].iter().fold(0.0, |s: f64, c| s.max(square(c)))
}
