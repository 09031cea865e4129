//! Simple shapes fitted to a mesh: to the box of the same mass and inertia, or with `fitaabb` to the box around its vertices
//! along its principal axes.

use super::asset::Assets;
use super::defaults::Properties;
use crate::attribute::{Attribute, Attributes};
use crate::error::LoadError;
use crate::mesh::Solid;
use slipstick_core::model::Shape;
use slipstick_core::spatial::{Mat3, Pose, Vec3, principal_axes, vec3};

/// The kinds that fit a mesh.
const KINDS: [(&str, Kind); 5] = [
    ("sphere", Kind::Sphere),
    ("capsule", Kind::Capsule),
    ("cylinder", Kind::Cylinder),
    ("box", Kind::Box),
    ("ellipsoid", Kind::Ellipsoid),
];

#[derive(Debug, Clone, Copy)]
enum Kind {
    Sphere,
    Capsule,
    Cylinder,
    Box,
    Ellipsoid,
}

/// The shape that `type` asks for (m), and its frame in that of the mesh.
pub(super) fn fitted(
    p: &Properties,
    mesh: Attribute,
    assets: &mut Assets,
    aabb: bool,
) -> Result<(Shape, Pose), LoadError> {
    let kind = p.attribute("type").map_or(Ok(Kind::Sphere), |a| a.one_of(&KINDS))?;
    let scale = p.float_or("fitscale", 1.0)?;
    if let Some(scale) = p.attribute("fitscale").filter(|_| scale <= 0.0) {
        return Err(scale.wrong("a positive number"));
    }
    let solid = assets.solid(mesh)?;
    let (half, axes) = equivalent_box(&solid);
    if half.to_array().iter().any(|h| *h <= 0.0 || !h.is_finite()) {
        return Err(mesh.wrong("a mesh with the inertia of a body, to fit a shape to it"));
    }
    if !aabb {
        let shape = in_inertia_box(kind, half * scale);
        return Ok((shape, Pose { position: solid.center, rotation: axes }));
    }
    let (low, high) = assets.bounds(mesh, &Pose { position: solid.center, rotation: axes })?;
    let position = solid.center + axes * ((low + high) * 0.5);
    Ok((in_bounds(kind, (high - low) * (0.5 * scale)), Pose { position, rotation: axes }))
}

/// Half sizes of the solid box with the same mass and inertia, from small to large, and its axes (columns).
fn equivalent_box(solid: &Solid) -> (Vec3, Mat3) {
    let (moments, axes) = principal_axes(solid.inertia);
    // MuJoCo's order: the largest moment, about the shortest edge, comes first
    let mut order = [0, 1, 2];
    order.sort_by(|i, j| moments[*j].total_cmp(&moments[*i]));
    let [a, b, c] = order.map(|k| moments[k]);
    let half = |squares: f64| (1.5 * squares / solid.volume).max(0.0).sqrt();
    let [x, y, _] = order.map(|k| axes * Vec3::UNITS[k]);
    (vec3(half(b + c - a), half(a + c - b), half(a + b - c)), Mat3::from_columns(x, y, x.cross(y)))
}

/// MuJoCo's rule for the equivalent box; its capsule is longer than the box by half a radius at each end.
fn in_inertia_box(kind: Kind, half: Vec3) -> Shape {
    let radius = 0.5 * (half.x + half.y);
    match kind {
        Kind::Sphere => Shape::Sphere { radius: (half.x + half.y + half.z) / 3.0 },
        Kind::Capsule => capsule(radius, half.z - 0.5 * radius),
        Kind::Cylinder => Shape::Cylinder { radius, half_length: half.z },
        Kind::Box => Shape::Box { half_size: half },
        Kind::Ellipsoid => Shape::Ellipsoid { radii: half },
    }
}

/// MuJoCo's rule for the box around the vertices, which the round shapes enclose where they can.
fn in_bounds(kind: Kind, half: Vec3) -> Shape {
    let radius = half.x.max(half.y);
    match kind {
        Kind::Sphere => Shape::Sphere { radius: radius.max(half.z) },
        Kind::Capsule => capsule(radius, half.z - radius),
        Kind::Cylinder => Shape::Cylinder { radius, half_length: half.z },
        Kind::Box => Shape::Box { half_size: half },
        Kind::Ellipsoid => Shape::Ellipsoid { radii: half },
    }
}

/// A capsule without a straight part is a sphere.
fn capsule(radius: f64, half_length: f64) -> Shape {
    if half_length > 0.0 { Shape::Capsule { radius, half_length } } else { Shape::Sphere { radius } }
}
