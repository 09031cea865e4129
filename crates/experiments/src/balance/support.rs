//! What a robot can stand on: the lowest points of its bodies, and how far a place is from between them.
#![allow(non_snake_case)]

use slipstick::Model;
use slipstick::model::{BodyId, Geom, GeomId, Shape};
use slipstick::spatial::{Pose, Vec3};

/// The half-space that robots stand on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Floor {
    /// A point of its surface, world axes (m).
    pub origin: Vec3,
    /// Unit vector, world axes.
    pub normal: Vec3,
}

impl Floor {
    /// The first plane that is fixed to the world.
    pub fn of(model: &Model) -> Option<Floor> {
        let plane = model.geoms().iter().find(|g| g.body == BodyId(0) && g.shape == Shape::Plane)?;
        Some(Floor { origin: plane.pose.position, normal: plane.pose.rotation * Vec3::UNITS[2] })
    }

    /// Height of a point above it (m).
    pub fn height(&self, p: Vec3) -> f64 {
        self.normal.dot(p - self.origin)
    }
}

/// A point by which a body may touch the floor: the lowest one of a ball that is fixed to the body, or a corner (a ball
/// without radius).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SupportPoint {
    /// Middle of the ball, world axes (m). How it moves, the point moves.
    pub anchor: Vec3,
    /// The point (m).
    pub point: Vec3,
}

/// The `count` lowest points of a body whose pose is `X_wb`; fewer if its shapes have no more.   (bal-2)
pub(super) fn lowest(model: &Model, body: BodyId, X_wb: &Pose, floor: &Floor, count: usize) -> Vec<SupportPoint> {
    let geoms = model.geoms().iter().enumerate().filter(|(_, g)| g.body == body);
    let balls = geoms.flat_map(|(k, g)| balls(model, GeomId(k), g));
    let point = |(center, radius): (Vec3, f64)| {
        let anchor = X_wb.point(center);
        SupportPoint { anchor, point: anchor - floor.normal * radius }
    };
    let mut points: Vec<SupportPoint> = balls.map(point).collect();
    points.sort_by(|a, b| floor.height(a.point).total_cmp(&floor.height(b.point)));
    points.truncate(count);
    points
}

/// Balls whose hull is a shape: middles in the body's frame (m) and their radius (m). Shapes with round edges have
/// none; a robot that stands on one of them is not found here, but by collision detection.
fn balls(model: &Model, id: GeomId, geom: &Geom) -> Vec<(Vec3, f64)> {
    let corners = |s: Vec3| (0..8).map(move |k| Vec3::new(signed(k, 0, s.x), signed(k, 1, s.y), signed(k, 2, s.z)));
    let (centers, radius): (Vec<Vec3>, f64) = match model.shape(id) {
        Shape::Sphere { radius } => (vec![Vec3::ZERO], radius),
        Shape::Capsule { radius, half_length } => {
            ([1.0, -1.0].map(|s| Vec3::new(0.0, 0.0, s * half_length)).to_vec(), radius)
        }
        Shape::Box { half_size } => (corners(half_size).collect(), 0.0),
        Shape::Mesh { mesh } => (model.hull(mesh).vertices.clone(), 0.0),
        _ => (Vec::new(), 0.0),
    };
    centers.into_iter().map(|c| (geom.pose.point(c), radius + geom.surface.offset)).collect()
}

/// `x` with the sign of bit `bit` of `k`.
fn signed(k: usize, bit: usize, x: f64) -> f64 {
    if k >> bit & 1 == 0 { x } else { -x }
}

/// Where a place of the plane is, seen from the convex hull of some points.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Nearest {
    /// Shares of the points in the nearest place of the hull; they add up to one.
    pub shares: Vec<f64>,
    /// From there to the place (m); zero inside.
    pub offset: [f64; 2],
    /// How the offset changes with the place, the points at rest: zero inside, across an edge, or one at a corner.
    pub across: [[f64; 2]; 2],
}

impl Nearest {
    /// Distance from the hull (m).
    pub fn distance(&self) -> f64 {
        self.offset[0].hypot(self.offset[1])
    }
}

/// Looks for the place of the convex hull of `points` that is nearest to `c`: in all triangles, on all segments. There
/// are few points, and none of them need be a corner of the hull. `None` without points.
pub(super) fn nearest(points: &[[f64; 2]], c: [f64; 2]) -> Option<Nearest> {
    inside(points, c).or_else(|| beside(points, c))
}

fn inside(points: &[[f64; 2]], c: [f64; 2]) -> Option<Nearest> {
    let n = points.len();
    let triples = (0..n).flat_map(|i| (0..i).flat_map(move |j| (0..j).map(move |k| [i, j, k])));
    let found = triples.filter_map(|t| Some((t, barycentric(t.map(|i| points[i]), c)?)));
    let (corners, weights) = found.into_iter().find(|(_, w)| w.iter().all(|w| *w >= 0.0))?;
    let mut shares = vec![0.0; n];
    corners.into_iter().zip(weights).for_each(|(i, w)| shares[i] = w);
    Some(Nearest { shares, offset: [0.0; 2], across: [[0.0; 2]; 2] })
}

/// Weights of the corners of a triangle whose mean is `c`; `None` if the triangle is thin.
fn barycentric([a, b, d]: [[f64; 2]; 3], c: [f64; 2]) -> Option<[f64; 3]> {
    let (u, v, w) = (minus(b, a), minus(d, a), minus(c, a));
    let area = cross(u, v);
    if area.abs() <= THIN * (dot(u, u) + dot(v, v)) {
        return None;
    }
    let (s, t) = (cross(w, v) / area, cross(u, w) / area);
    Some([1.0 - s - t, s, t])
}

/// Twice the area of a triangle below which it counts as a segment, as a share of the squares of its sides.
const THIN: f64 = 1e-9;

fn beside(points: &[[f64; 2]], c: [f64; 2]) -> Option<Nearest> {
    let n = points.len();
    let segments = (0..n).flat_map(|i| (0..=i).map(move |j| [i, j]));
    let all = segments.map(|[i, j]| {
        let (a, b) = (points[i], points[j]);
        let (along, t) = position(a, b, c);
        let p = [0, 1].map(|k| a[k] + t * (b[k] - a[k]));
        let mut shares = vec![0.0; n];
        shares[i] += 1.0 - t;
        shares[j] += t;
        let free = t > 0.0 && t < 1.0;
        let across = [0, 1].map(|r| [0, 1].map(|s| f64::from(r == s) - if free { along[r] * along[s] } else { 0.0 }));
        Nearest { shares, offset: minus(c, p), across }
    });
    all.min_by(|a, b| a.distance().total_cmp(&b.distance()))
}

/// Direction of the segment from `a` to `b`, and where on it (0 at `a`, 1 at `b`) `c` is nearest.
fn position(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> ([f64; 2], f64) {
    let u = minus(b, a);
    let length = dot(u, u).sqrt();
    if length == 0.0 {
        return ([0.0; 2], 0.0);
    }
    let along = u.map(|x| x / length);
    (along, (dot(minus(c, a), along) / length).clamp(0.0, 1.0))
}

fn minus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn cross(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: [[f64; 2]; 4] = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn a_place_inside_a_polygon_is_a_mean_of_its_corners() {
        let c = [0.3, 0.8];
        let found = nearest(&SQUARE, c).unwrap();
        assert_eq!((found.distance(), found.across), (0.0, [[0.0; 2]; 2]));
        for k in 0..2 {
            assert!(close(found.shares.iter().zip(SQUARE).map(|(w, p)| w * p[k]).sum(), c[k]), "{found:?}");
        }
        assert!(found.shares.iter().all(|w| *w >= 0.0) && close(found.shares.iter().sum(), 1.0), "{found:?}");
    }

    #[test]
    fn outside_the_offset_leads_from_the_nearest_edge_or_corner() {
        let edge = nearest(&SQUARE, [0.25, 1.5]).unwrap();
        assert!(close(edge.offset[0], 0.0) && close(edge.offset[1], 0.5), "{edge:?}");
        assert!(close(edge.across[0][0], 0.0) && close(edge.across[1][1], 1.0), "only the way across counts: {edge:?}");
        let corner = nearest(&SQUARE, [2.0, -1.0]).unwrap();
        assert!(close(corner.distance(), 2f64.sqrt()) && corner.shares == [0.0, 1.0, 0.0, 0.0], "{corner:?}");
        assert_eq!(corner.across, [[1.0, 0.0], [0.0, 1.0]]);
    }

    #[test]
    fn two_feet_span_a_line_and_one_foot_a_point() {
        let line = nearest(&SQUARE[..2], [0.5, 1e-6]).unwrap();
        assert!(close(line.distance(), 1e-6) && close(line.shares[0], 0.5), "{line:?}");
        assert!(close(nearest(&SQUARE[..1], [3.0, 4.0]).unwrap().distance(), 5.0));
        assert_eq!(nearest(&[], [0.0; 2]), None);
    }
}
