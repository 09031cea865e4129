//! Queries of two shapes, or of a ray and a shape, without a model; queries of a model are in `model`, `nearest` and `rays`.

pub(super) mod model;
pub(super) mod nearest;
mod raycast;
pub(super) mod rays;

use super::contact::MAX_POINTS;
use super::narrow::closed::closed_in_world;
use super::narrow::epa::Polytope;
use super::narrow::{Warm, without_closed_form, witness};
use super::pair::{ShapePair, Witness, shape_pair};
use super::patch::{feature_key, patch};
use super::shape::{Convex, Core, convex};
use crate::error::InputError;
use crate::model::{Hull, Mesh, Shape};
use crate::spatial::{Mat3, Pose, Vec3};
use raycast::ray;
use std::sync::Arc;

/// A shape for queries.
#[derive(Debug, Clone)]
pub struct Solid {
    shape: Shape,
    hull: Option<Arc<Hull>>,
}

impl Solid {
    /// A primitive shape.
    pub fn new(shape: Shape) -> Result<Solid, InputError> {
        let is_mesh = matches!(shape, Shape::Mesh { .. });
        if is_mesh || shape.is_terrain() {
            let what = "shape".to_string();
            return Err(InputError::Value {
                what,
                expected: "a primitive (a mesh goes to Solid::hull, ground into a model)",
                got: f64::NAN,
            });
        }
        let sizes = shape.size();
        let wrong = sizes[..shape.n_sizes()].iter().find(|s| !(s.is_finite() && **s > 0.0));
        match wrong {
            Some(&got) => {
                let what = format!("size of the {}", shape.name());
                Err(InputError::Value { what, expected: "a positive number", got })
            }
            None => Ok(Solid { shape, hull: None }),
        }
    }

    /// A convex mesh: its corners and outward triangles.
    pub fn hull(mesh: &Mesh) -> Result<Solid, InputError> {
        let bad = mesh.vertices.iter().position(|v| !v.is_finite());
        if let Some(index) = bad {
            return Err(InputError::NotFinite { what: "vertices", index });
        }
        let n = mesh.vertices.len();
        if n == 0 {
            return Err(InputError::Length { what: "vertices", expected: 1, got: 0 });
        }
        if let Some(got) = mesh.triangles.iter().flatten().find(|k| **k as usize >= n) {
            return Err(InputError::OutOfRange { what: "vertex", count: n, got: *got as usize });
        }
        let shape = Shape::Mesh { mesh: crate::model::MeshId(0) };
        Ok(Solid { shape, hull: Some(Arc::new(Hull::new(mesh))) })
    }

    /// The shape; the number of a mesh has no meaning.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    pub(super) fn convex(&self) -> Convex<'_> {
        convex(self.shape, || self.hull.as_deref())
    }
}

/// Nearest points of two shapes, in world axes. If they overlap: the deepest points along the direction of least
/// penetration.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ClosestPoints {
    /// Signed distance, negative when they overlap (m).
    pub distance: f64,
    /// Unit normal from the first to the second shape.
    pub normal: Vec3,
    /// Points of the two surfaces; the second minus the first is the distance times the normal (m).
    pub points: [Vec3; 2],
    /// Whether the iteration reached its tolerance.
    pub converged: bool,
}

/// How many points a contact may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Points {
    /// The deepest one.
    One,
    /// Up to four that span the touching surface.
    #[default]
    Patch,
}

/// A point where two shapes touch or nearly touch, in world axes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ContactPoint {
    /// The point (m).
    pub point: Vec3,
    /// Unit normal from the first to the second shape.
    pub normal: Vec3,
    /// Signed distance, negative when they overlap (m).
    pub distance: f64,
    /// Key of the features that touch.
    pub feature: u64,
}

/// Where a ray meets a shape, in world axes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct RayHit {
    /// From the ray's origin (m).
    pub distance: f64,
    /// The point (m).
    pub point: Vec3,
    /// Outward unit normal of the shape there.
    pub normal: Vec3,
}

/// Signed distance of two shapes (m).
pub fn distance(a: &Solid, X_wa: &Pose, b: &Solid, X_wb: &Pose) -> Result<f64, InputError> {
    closest_points(a, X_wa, b, X_wb).map(|c| c.distance)
}

/// Nearest points of two shapes. For many queries of the same two: [`PairQuery`].
pub fn closest_points(a: &Solid, X_wa: &Pose, b: &Solid, X_wb: &Pose) -> Result<ClosestPoints, InputError> {
    check_pose("first pose", X_wa)?;
    check_pose("second pose", X_wb)?;
    PairQuery::new(a, b)?.closest_points(X_wa, X_wb).copied()
}

/// Two shapes prepared for many queries, with their memory. A result depends on the poses alone, not on earlier queries.
#[derive(Debug, Clone)]
pub struct PairQuery<'a> {
    shapes: [Convex<'a>; 2],
    memory: Polytope,
    found: ClosestPoints,
}

impl<'a> PairQuery<'a> {
    /// Prepares two shapes.
    #[inline]
    pub fn new(a: &'a Solid, b: &'a Solid) -> Result<PairQuery<'a>, InputError> {
        if let (Shape::Plane, Shape::Plane) = (a.shape, b.shape) {
            return Err(two_planes());
        }
        let found = ClosestPoints { distance: 0.0, normal: Vec3::ZERO, points: [Vec3::ZERO; 2], converged: false };
        Ok(PairQuery { shapes: [a.convex(), b.convex()], memory: Polytope::empty(), found })
    }

    /// Nearest points of the two shapes. Numbers must be finite; rotation matrices are not checked, and the
    /// result for other matrices has no meaning.
    #[inline]
    pub fn closest_points(&mut self, X_wa: &Pose, X_wb: &Pose) -> Result<&ClosestPoints, InputError> {
        if closed_in_world(&self.shapes, [X_wa, X_wb], &mut self.found) {
            let x = self.found.points[1] + X_wa.position + X_wb.position;
            if !(x.x + x.y + x.z + self.found.distance).is_finite() {
                check_both_finite(X_wa, X_wb)?;
            }
        } else {
            check_both_finite(X_wa, X_wb)?;
            self.search(X_wa, X_wb);
        }
        Ok(&self.found)
    }

    /// Signed distance of the two shapes (m); as for [`PairQuery::closest_points`].
    #[inline]
    pub fn distance(&mut self, X_wa: &Pose, X_wb: &Pose) -> Result<f64, InputError> {
        self.closest_points(X_wa, X_wb).map(|c| c.distance)
    }

    fn search(&mut self, X_wa: &Pose, X_wb: &Pose) {
        let [a, b] = self.shapes;
        let pair = shape_pair(a, X_wa, b, X_wb);
        // within an infinite reach there is always a result
        if let Some(w) = without_closed_form(&pair, f64::INFINITY, &mut Warm::default(), &mut self.memory) {
            self.found = in_world(&pair, &w, X_wa);
        }
    }
}

fn check_both_finite(X_wa: &Pose, X_wb: &Pose) -> Result<(), InputError> {
    check_finite("first pose", X_wa)?;
    check_finite("second pose", X_wb)
}

fn check_finite(what: &'static str, X: &Pose) -> Result<(), InputError> {
    let mut numbers = X.rotation.c.iter().chain([&X.position]).flat_map(|v| v.to_array());
    numbers.position(|x| !x.is_finite()).map_or(Ok(()), |index| Err(InputError::NotFinite { what, index }))
}

/// The touching points; for flat contact, the middle of the common area: the witness has a face by three of its corners
/// only, and its point may lie outside of the common area.
#[inline(always)]
pub(super) fn shared_points(pair: &ShapePair, w: &Witness) -> [Vec3; 2] {
    let capped = |k: usize| matches!(pair.shapes[k].core, Core::Cylinder { .. } | Core::Cone { .. });
    let pointed = |k: usize| w.sides[k].count == 1 && !capped(k);
    if pointed(0) || pointed(1) { w.points } else { middle_of_shared(pair, w) }
}

fn middle_of_shared(pair: &ShapePair, w: &Witness) -> [Vec3; 2] {
    let directions = [w.normal, -pair.X_12.rotation.tmul(w.normal)];
    let on_cap = |k: usize| {
        let d = directions[k];
        pair.shapes[k].core.cap(d).is_some() && d.x * d.x + d.y * d.y < 1e-12
    };
    let broad = |k: usize| w.sides[k].count > 1 || on_cap(k);
    let face = |k: usize| w.sides[k].count == 3 || on_cap(k);
    let plane = |k: usize| matches!(pair.shapes[k].core, Core::Plane);
    if !(broad(0) && broad(1) && (face(0) || face(1))) || plane(0) || plane(1) {
        return w.points;
    }
    let near = 1e-9 * pair.scale();
    let shared = patch(pair, w, w.distance.max(0.0) + near);
    let touching = shared.points[..shared.count].iter().filter(|p| (p.distance - w.distance).abs() <= near);
    let (sum, count) = touching.fold((Vec3::ZERO, 0.0), |(sum, n), p| (sum + p.point, n + 1.0));
    if count == 0.0 {
        return w.points;
    }
    let middle = sum * (1.0 / count);
    w.points.map(|x| middle + w.normal * w.normal.dot(x - middle))
}

/// Contact points of two shapes nearer than `contact_distance`; none if they are farther apart.
pub fn contact(
    a: &Solid,
    X_wa: &Pose,
    b: &Solid,
    X_wb: &Pose,
    contact_distance: f64,
    points: Points,
) -> Result<Vec<ContactPoint>, InputError> {
    let pair = checked_pair(a, X_wa, b, X_wb)?;
    if !(contact_distance.is_finite() && contact_distance >= 0.0) {
        let what = "contact_distance".to_string();
        return Err(InputError::Value { what, expected: "zero or a positive distance", got: contact_distance });
    }
    let found = witness(&pair, contact_distance, &mut Warm::default(), &mut Polytope::empty());
    let Some(w) = found else { return Ok(Vec::new()) };
    let p = match points {
        Points::One => super::patch::nearest(&w),
        Points::Patch => patch(&pair, &w, contact_distance),
    };
    let normal = X_wa.rotation * p.normal;
    let world = |k: usize| {
        let q = &p.points[k];
        ContactPoint {
            point: X_wa.point(q.point),
            normal,
            distance: q.distance,
            feature: feature_key(&q.kind, &p.sides),
        }
    };
    Ok((0..p.count.min(MAX_POINTS)).map(world).collect())
}

/// Where a ray first meets a shape within `max_distance`. A ray that starts inside meets the far side.
pub fn raycast(
    solid: &Solid,
    X_ws: &Pose,
    origin: Vec3,
    direction: Vec3,
    max_distance: f64,
) -> Result<Option<RayHit>, InputError> {
    check_pose("pose", X_ws)?;
    let direction = check_ray(origin, direction, max_distance)?;
    Ok(cast(&solid.convex(), X_ws, origin, direction, max_distance))
}

/// Unit direction of a ray.
pub(super) fn check_ray(origin: Vec3, direction: Vec3, max_distance: f64) -> Result<Vec3, InputError> {
    crate::input_check::vector("origin", &origin.to_array(), 3)?;
    crate::input_check::vector("direction", &direction.to_array(), 3)?;
    if max_distance.is_nan() || max_distance < 0.0 {
        let what = "max_distance".to_string();
        return Err(InputError::Value { what, expected: "zero or a positive number", got: max_distance });
    }
    let what = || "length of the direction".to_string();
    direction.normalized().ok_or_else(|| InputError::Value { what: what(), expected: "a positive number", got: 0.0 })
}

pub(super) fn cast(convex: &Convex, X_ws: &Pose, origin: Vec3, direction: Vec3, max_distance: f64) -> Option<RayHit> {
    let local_origin = X_ws.rotation.tmul(origin - X_ws.position);
    let (t, n) = ray(convex, local_origin, X_ws.rotation.tmul(direction))?;
    (t <= max_distance).then(|| RayHit { distance: t, point: origin + direction * t, normal: X_ws.rotation * n })
}

fn checked_pair<'a>(a: &'a Solid, X_wa: &Pose, b: &'a Solid, X_wb: &Pose) -> Result<ShapePair<'a>, InputError> {
    check_pose("first pose", X_wa)?;
    check_pose("second pose", X_wb)?;
    match (a.shape, b.shape) {
        (Shape::Plane, Shape::Plane) => Err(two_planes()),
        _ => Ok(shape_pair(a.convex(), X_wa, b.convex(), X_wb)),
    }
}

/// Half-spaces overlap to infinity or are always apart: they have no useful distance.
pub(super) fn two_planes() -> InputError {
    InputError::Value { what: "number of planes".into(), expected: "at most one in a pair", got: 2.0 }
}

#[inline(always)]
pub(super) fn in_world(pair: &ShapePair, w: &Witness, X_w1: &Pose) -> ClosestPoints {
    ClosestPoints {
        distance: w.distance,
        normal: X_w1.rotation * w.normal,
        points: shared_points(pair, w).map(|p| X_w1.point(p)),
        converged: w.converged,
    }
}

/// Rejects a pose that is not rigid.
#[inline(always)]
pub(super) fn check_pose(what: &'static str, pose: &Pose) -> Result<(), InputError> {
    let [a, b, c] = pose.rotation.c;
    let off = a.cross(b) - c;
    let errors = [a.dot(a) - 1.0, b.dot(b) - 1.0, a.dot(b), off.x, off.y, off.z];
    // false for NaN as well
    if errors.iter().all(|e| e.abs() <= RIGID) && pose.position.is_finite() { Ok(()) } else { Err(no_pose(what, pose)) }
}

/// Largest deviation of a rotation matrix from one.
const RIGID: f64 = 1e-6;

#[cold]
fn no_pose(what: &'static str, pose: &Pose) -> InputError {
    if let Err(error) = check_finite(what, pose) {
        return error;
    }
    let product = pose.rotation.transpose() * pose.rotation - Mat3::IDENTITY;
    let got = product.c.iter().map(|c| c.norm()).fold(0.0, f64::max);
    InputError::Value { what: format!("{what}: RᵀR − 1"), expected: "a right-handed rotation matrix (zero)", got }
}
