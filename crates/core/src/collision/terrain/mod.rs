//! Ground of triangles: height fields and meshes that are not made convex.   (collision-13)
//!
//! Each triangle near a shape stands for a prism: the triangle and its copy below the ground, a convex shape like any
//! other. The inner walls of a prism do not exist in the surface, so their normals must not appear. A contact counts
//! only if its normal is one of the surface at the point, given all triangles around it. Otherwise the shape is compared
//! with the triangle's plane, and counts where its feet are on the triangle. Up to four points of all triangles
//! remain, each with its own normal.

mod choice;
#[cfg(test)]
mod tests;
mod view;

pub(super) use view::Terrain;

use super::contact::{PatchPoint, PointKind};
use super::narrow::epa::Polytope;
use super::narrow::{Warm, witness};
use super::pair::{ShapePair, Side, Witness};
use super::patch::{feature_key, nearest, patch};
use super::shape::{Convex, Core};
use crate::footprint::footprint;
use crate::spatial::{Pose, Vec3};
use choice::choose;

/// Angle by which a normal may deviate from the surface around it (rad): nearest points are not more exact.
const NORMAL_TOLERANCE: f64 = 1e-7;
/// Feet may stand outside a triangle by this fraction of its size.
const OUTSIDE_TRIANGLE: f64 = 1e-9;
/// Fraction of the way to the middle of a triangle by which a downward ray starts off a point.
const ASIDE: f64 = 1e-5;
/// At the rim of the ground a shape is pushed up if it is at most so many times deeper than it reaches inwards.
const DEEPER: f64 = 3.0;

/// A point where a shape touches the ground, relative to the shape's origin, in axes of the ground.
#[derive(Debug, Clone, Copy)]
pub(super) struct TerrainPoint {
    pub point: Vec3,
    /// From the ground to the shape.
    pub normal: Vec3,
    pub distance: f64,
    /// The ground is side 0.
    pub sides: [Side; 2],
    pub kind: PointKind,
    pub triangle: u32,
}

impl TerrainPoint {
    /// Key of the touching features.
    pub fn feature(&self) -> u64 {
        feature(&self.kind, &self.sides, self.triangle)
    }

    /// The contact with the ground as side 1.
    pub fn swapped(mut self) -> TerrainPoint {
        self.sides.swap(0, 1);
        match &mut self.kind {
            PointKind::Nearest => {}
            PointKind::Incident { side, .. } | PointKind::Crossing { side, .. } | PointKind::Reference { side, .. } => {
                *side = 1 - *side
            }
        }
        self.normal = -self.normal;
        self
    }
}

/// Key of the features that touch at a point of a triangle.
pub(super) fn feature(kind: &PointKind, sides: &[Side; 2], triangle: u32) -> u64 {
    feature_key(kind, sides) ^ (triangle as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Memory of a search.
#[derive(Debug, Clone, Default)]
pub(super) struct TerrainMemory {
    /// Points of all triangles, then the chosen ones.
    pub points: Vec<TerrainPoint>,
    triangles: Vec<u32>,
    /// Searches that ended at the iteration limit.
    pub unconverged: usize,
}

footprint!(TerrainMemory: points, triangles);

/// One shape over the ground: the data for all triangles.
struct ShapeOverTerrain<'a> {
    ground: Terrain<'a>,
    shape: Convex<'a>,
    /// Frame of the shape in the frame of the ground.
    X_gs: Pose,
    /// Middle and half size of the box around the shape, relative to its origin, in axes of the ground (m).
    middle: Vec3,
    half: Vec3,
    /// A point inside the shape, which the middle of the box need not be.
    inside: Vec3,
    limit: f64,
    /// One point per triangle instead of a patch.
    single: bool,
}

/// Finds up to four points of a shape that are nearer to the ground than `limit`; they are left in `memory.points`.
pub(super) fn find_points(
    ground: Terrain,
    shape: &Convex,
    X_gs: &Pose,
    limit: f64,
    single: bool,
    polytope: &mut Polytope,
    memory: &mut TerrainMemory,
) {
    let TerrainMemory { points, triangles, unconverged } = memory;
    points.clear();
    triangles.clear();
    *unconverged = 0;
    if let Core::Plane = shape.core {
        return; // two infinite grounds
    }
    let mut over = ShapeOverTerrain::new(ground, *shape, X_gs, limit, single);
    let (origin, reach) = (X_gs.position + over.middle, over.half + Vec3::new(limit, limit, limit));
    ground.in_box(origin - reach, origin + reach, |t| triangles.push(t));
    triangles.sort_unstable(); // the order of a tree is not that of the file
    for t in triangles.iter() {
        *unconverged += !over.triangle(*t, polytope, points) as usize;
        if let (true, Some(last)) = (single, points.last()) {
            over.limit = over.limit.min(last.distance); // only nearer ones are of interest
        }
    }
    choose(points, limit, over.middle, over.half.norm());
    if single {
        points.truncate(1);
    }
}

impl<'a> ShapeOverTerrain<'a> {
    fn new(ground: Terrain<'a>, shape: Convex<'a>, X_gs: &Pose, limit: f64, single: bool) -> ShapeOverTerrain<'a> {
        let end = |d: Vec3| X_gs.rotation * shape.core.support(X_gs.rotation.tmul(d), 0).0;
        let ends = Vec3::UNITS.map(|u| [end(u), end(-u)]);
        let of = |f: fn(f64, f64) -> f64| {
            let along = |k: usize| f(ends[k][0][k] + shape.radius, ends[k][1][k] - shape.radius);
            Vec3::new(along(0), along(1), along(2))
        };
        let (middle, half) = (of(|hi, lo| 0.5 * (hi + lo)), of(|hi, lo| 0.5 * (hi - lo)));
        let inside = ends.iter().flatten().fold(Vec3::ZERO, |sum, p| sum + *p) * (1.0 / 6.0);
        ShapeOverTerrain { ground, shape, X_gs: *X_gs, middle, half, inside, limit, single }
    }

    /// Adds the points of one triangle; returns whether its search reached the tolerance.
    fn triangle(&self, t: u32, polytope: &mut Polytope, points: &mut Vec<TerrainPoint>) -> bool {
        let corners = self.ground.triangle(t).map(|c| c - self.X_gs.position);
        let [a, b, c] = corners;
        let Some(up) = (b - a).cross(c - a).normalized() else { return true };
        let (lowest, atom) = self.lowest(up);
        let level = up.dot(lowest - a);
        let behind = self.ground.is_one_sided() && up.dot(self.inside - a) <= 0.0;
        if level > self.limit || behind {
            return true;
        }
        // a shape with its inside in front of the triangle does not reach deeper
        let prism = self.ground.prism(t, 2.0 * self.half.norm()).map(|c| c - self.X_gs.position);
        let X_12 = Pose { rotation: self.X_gs.rotation, position: Vec3::ZERO };
        let pair = ShapePair { shapes: [Convex { core: Core::Prism(&prism), radius: 0.0 }, self.shape], X_12 };
        let mut warm = Warm { axis: up, ..Warm::default() };
        let Some(w) = witness(&pair, self.limit, &mut warm, polytope) else { return true };
        if w.sides[0].atoms[..w.sides[0].count as usize].iter().all(|a| *a >= 3) {
            return true; // from below
        }
        if self.is_real(t, &corners, up, &w) {
            self.add(&pair, &w, t, |_| true, points);
            return w.converged;
        }
        if self.leaves_elsewhere(t, &corners, up, level, &w) {
            return true;
        }
        let foot = lowest - up * level;
        let sides = [Side::face([0, 1, 2], shares(&corners, foot)), Side::point(atom)];
        let flat = Witness { normal: up, distance: level, points: [foot, lowest], sides, converged: true };
        let on_triangle = |p: Vec3| shares(&corners, p).iter().all(|s| *s >= -OUTSIDE_TRIANGLE);
        self.add(&pair, &flat, t, on_triangle, points);
        true
    }

    /// The point of the shape farthest against a direction, and its atom.
    fn lowest(&self, up: Vec3) -> (Vec3, u32) {
        let (point, atom) = self.shape.core.support(self.X_gs.rotation.tmul(-up), 0);
        (self.X_gs.rotation * point - up * self.shape.radius, atom)
    }

    /// Whether the surface has the normal of a witness where it touches.
    fn is_real(&self, t: u32, corners: &[Vec3; 3], up: Vec3, w: &Witness) -> bool {
        let atoms = &w.sides[0].atoms[..w.sides[0].count as usize];
        if atoms.iter().any(|a| *a >= 3) {
            return false;
        }
        let lies_below = |p: Vec3, from: Vec3| w.normal.dot(p - from) <= NORMAL_TOLERANCE * (p - from).norm();
        match *atoms {
            [a] => {
                let mut real = true;
                self.ground.around(t, a as usize, |triangle| {
                    let beside = self.ground.triangle(triangle).map(|c| c - self.X_gs.position);
                    real &= beside.iter().all(|p| lies_below(*p, corners[a as usize]));
                });
                real
            }
            [a, b] => {
                // edge k runs from corner k to the next
                let edge = if (a + 1) % 3 == b { a } else { b } as usize;
                let Some((other, back)) = self.ground.beyond(t, edge) else { return true };
                let opposite = self.ground.triangle(other)[(back + 2) % 3] - self.X_gs.position;
                lies_below(opposite, corners[edge])
            }
            _ => w.normal.dot(up) >= 1.0 - NORMAL_TOLERANCE,
        }
    }

    /// Whether a shape that leaves a prism through a wall is outside the ground there: beyond a convex edge, by a shorter
    /// way than up. At a step it is not: there the triangle of the step stops it.
    fn leaves_elsewhere(&self, t: u32, corners: &[Vec3; 3], up: Vec3, level: f64, w: &Witness) -> bool {
        let outward = |k: usize| (corners[(k + 1) % 3] - corners[k]).cross(up).dot(w.normal);
        let edge = (1..3).fold(0, |best, k| if outward(k) > outward(best) { k } else { best });
        let slack = OUTSIDE_TRIANGLE * self.half.norm();
        let Some((other, back)) = self.ground.beyond(t, edge) else {
            return level < DEEPER * w.distance.min(0.0) - slack;
        };
        let beside = self.ground.triangle(other).map(|c| c - self.X_gs.position);
        let opposite = beside[(back + 2) % 3] - corners[edge];
        let Some(normal) = (beside[1] - beside[0]).cross(beside[2] - beside[0]).normalized() else { return false };
        let is_convex = up.dot(opposite) < -NORMAL_TOLERANCE * opposite.norm();
        is_convex && normal.dot(self.lowest(normal).0 - beside[0]) > level + slack
    }

    /// Whether the line down from a triangle to a point leaves the ground again: spikes and walls are thinner than the
    /// prisms of their sides. A point on an edge or a corner is outside in any case.
    fn is_beyond(&self, corners: &[Vec3; 3], normal: Vec3, p: &PatchPoint) -> bool {
        if p.distance >= 0.0 {
            return false;
        }
        let [a, b, c] = *corners;
        let up = (b - a).cross(c - a);
        let foot = p.point - normal * (up.dot(p.point - a) / up.dot(normal));
        // a little off the rim of the triangle: from a peak every line leads out at once
        let start = foot + ((a + b + c) * (1.0 / 3.0) - foot) * ASIDE;
        leaves(self.ground, self.X_gs.position + start, -normal, -p.distance)
    }

    fn add(&self, pair: &ShapePair, w: &Witness, t: u32, keep: impl Fn(Vec3) -> bool, points: &mut Vec<TerrainPoint>) {
        let found = if self.single { nearest(w) } else { patch(pair, w, self.limit) };
        let corners = self.ground.triangle(t).map(|c| c - self.X_gs.position);
        let on_face = w.sides[0].count == 3;
        let counts = |p: &&PatchPoint| keep(p.point) && !(on_face && self.is_beyond(&corners, found.normal, p));
        for p in found.points[..found.count].iter().filter(counts) {
            points.push(TerrainPoint {
                point: p.point,
                normal: found.normal,
                distance: p.distance,
                sides: found.sides,
                kind: p.kind,
                triangle: t,
            });
        }
    }
}

/// Weights of the corners of a triangle for the point of its plane next to `p`.
fn shares([a, b, c]: &[Vec3; 3], p: Vec3) -> [f64; 3] {
    let normal = (*b - *a).cross(*c - *a);
    let square = normal.dot(normal);
    let share = |u: Vec3, v: Vec3| (v - u).cross(p - u).dot(normal) / square;
    let (s, t) = (share(*c, *a), share(*a, *b));
    [1.0 - s - t, s, t]
}

/// Whether a ray leaves the ground within `reach`; in the frame of the ground.
fn leaves(ground: Terrain, origin: Vec3, direction: Vec3, reach: f64) -> bool {
    let mut out = false;
    ground.along(origin, direction, reach, |t| {
        let (at, speed, shares, _) = crossing(ground, t, origin, direction);
        out |= speed > 0.0
            && at > NORMAL_TOLERANCE * reach
            && at < reach * (1.0 - NORMAL_TOLERANCE)
            && shares.iter().all(|s| *s >= 0.0);
        None
    });
    out
}

/// Where a line crosses the plane of a triangle: distance, speed along the normal (of any length), weights of the corners,
/// normal.
fn crossing(ground: Terrain, t: u32, origin: Vec3, direction: Vec3) -> (f64, f64, [f64; 3], Vec3) {
    let corners = ground.triangle(t);
    let [a, b, c] = corners;
    let normal = (b - a).cross(c - a);
    let speed = normal.dot(direction);
    let at = normal.dot(a - origin) / speed;
    (at, speed, shares(&corners, origin + direction * at), normal)
}

/// Where a ray first hits the ground from outside within `reach`, and the normal there; in the frame of the ground.
pub(super) fn ray(ground: Terrain, origin: Vec3, direction: Vec3, reach: f64) -> Option<(f64, Vec3)> {
    let mut first = None;
    ground.along(origin, direction, reach, |t| {
        let (at, speed, shares, normal) = crossing(ground, t, origin, direction);
        let meets = speed < 0.0 && (0.0..=reach).contains(&at) && shares.iter().all(|s| *s >= -OUTSIDE_TRIANGLE);
        if meets && first.is_none_or(|(best, _)| at < best) {
            first = normal.normalized().map(|n| (at, n));
        }
        first.map(|(at, _)| at)
    });
    first
}
