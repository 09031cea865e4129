//! Rays against the geoms of a model, and how a hit changes with poses and sizes.   (collision-15)

use super::{RayHit, cast, check_ray};
use crate::collision::detect::shape_of;
use crate::collision::shape::{Convex, Core};
use crate::collision::terrain::{Terrain, ray};
use crate::error::InputError;
use crate::model::{FrameId, GeomId, Model, Shape};
use crate::spatial::{Pose, Vec3, vec3};

/// The first geom of a model that a ray hits within `max_distance`. Rays pass through transparent geoms; a plane is as large as
/// its extent.
pub fn raycast_model(
    model: &Model,
    X_wb: &[Pose],
    origin: Vec3,
    direction: Vec3,
    max_distance: f64,
) -> Result<Option<(GeomId, RayHit)>, InputError> {
    raycast_model_without(model, X_wb, origin, direction, max_distance, None)
}

/// As [`raycast_model`], but through the geoms of one link, such as the one that carries a range finder.
pub fn raycast_model_without(
    model: &Model,
    X_wb: &[Pose],
    origin: Vec3,
    direction: Vec3,
    max_distance: f64,
    left_out: Option<FrameId>,
) -> Result<Option<(GeomId, RayHit)>, InputError> {
    let direction = check_ray(origin, direction, max_distance)?;
    crate::input_check::length("poses of bodies", X_wb.len(), model.n_bodies())?;
    let count = model.frames().iter().filter(|f| f.inertia.is_some()).count();
    if let Some(link) = left_out.filter(|link| link.0 >= count) {
        return Err(InputError::OutOfRange { what: "link", count, got: link.0 });
    }
    Ok(first_hit(model, X_wb, origin, direction, max_distance, left_out))
}

/// The first hit of a ray whose direction has length one.
pub(crate) fn first_hit(
    model: &Model,
    X_wb: &[Pose],
    origin: Vec3,
    direction: Vec3,
    max_distance: f64,
    left_out: Option<FrameId>,
) -> Option<(GeomId, RayHit)> {
    let mut first: Option<(GeomId, RayHit)> = None;
    for (k, geom) in model.geoms().iter().enumerate() {
        if geom.surface.transparent || Some(geom.link) == left_out {
            continue;
        }
        let (id, pose) = (GeomId(k), X_wb[geom.body.0] * geom.pose);
        let reach = first.map_or(max_distance, |(_, hit)| hit.distance);
        let hit = match Terrain::of(model, id) {
            Some(terrain) => cast_on_ground(terrain, &pose, origin, direction, reach),
            None => cast(&shape_of(model, id), &pose, origin, direction, reach),
        };
        if let Some(hit) = hit.filter(|hit| is_in_extent(geom.surface.extent, &pose, hit.point))
            && first.is_none_or(|(_, best)| hit.distance < best.distance)
        {
            first = Some((id, hit));
        }
    }
    first
}

/// Whether a point lies in the part of a plane that rays see.
fn is_in_extent(extent: [f64; 2], X_wg: &Pose, point: Vec3) -> bool {
    if extent == [0.0; 2] {
        return true;
    }
    let local = X_wg.rotation.tmul(point - X_wg.position);
    (0..2).all(|k| extent[k] == 0.0 || local[k].abs() <= extent[k])
}

fn cast_on_ground(terrain: Terrain, X_wg: &Pose, origin: Vec3, direction: Vec3, reach: f64) -> Option<RayHit> {
    let local = X_wg.rotation.tmul(origin - X_wg.position);
    let (distance, n) = ray(terrain, local, X_wg.rotation.tmul(direction), reach)?;
    Some(RayHit { distance, point: origin + direction * distance, normal: X_wg.rotation * n })
}

/// The change of the normal when a point of the surface of a geom moves by `by` along it: its shape operator, which is symmetric
/// and zero on flat surfaces.   (collision-16)
pub(crate) fn bend(model: &Model, X_wb: &[Pose], geom: GeomId, hit: &RayHit, by: Vec3) -> Vec3 {
    let g = &model.geoms()[geom.0];
    if g.shape.is_terrain() {
        return Vec3::ZERO;
    }
    let pose = X_wb[g.body.0] * g.pose;
    let local = |v: Vec3| pose.rotation.tmul(v);
    let (x, n, along) =
        (local(hit.point - pose.position), local(hit.normal), local(by - hit.normal * hit.normal.dot(by)));
    pose.rotation * bent(&shape_of(model, geom), x, n, along)
}

fn bent(shape: &Convex, x: Vec3, n: Vec3, by: Vec3) -> Vec3 {
    let around_axis = || {
        let flat = vec3(x.x, x.y, 0.0);
        let turn = vec3(-x.y, x.x, 0.0) * (1.0 / flat.norm());
        // the part of n across the axis turns with the point
        let across = (n.x * n.x + n.y * n.y).sqrt();
        turn * (turn.dot(by) * across / flat.norm())
    };
    match shape.core {
        Core::Point => by * (1.0 / shape.radius),
        Core::Segment { half } if x.z.abs() > half => by * (1.0 / shape.radius),
        Core::Segment { .. } => around_axis(),
        Core::Cylinder { .. } | Core::Cone { .. } if n.z.abs() < 1.0 => around_axis(),
        Core::Ellipsoid { radii: r } => {
            let shrink = |v: Vec3| vec3(v.x / (r.x * r.x), v.y / (r.y * r.y), v.z / (r.z * r.z));
            let turned = shrink(by) * (1.0 / shrink(x).norm());
            turned - n * n.dot(turned)
        }
        _ => Vec3::ZERO,
    }
}

/// Whether a geom has a curved surface where the hit is, or one whose normal changes with its sizes.
pub(crate) fn turns_with_size(model: &Model, geom: GeomId) -> bool {
    !matches!(model.shape(geom), Shape::Plane | Shape::Sphere { .. } | Shape::Box { .. })
}

/// Speed of the surface along its normal, at a hit, when size `k` of a geom grows: sizes are those of the groups `ShapeSize`, or
/// the scales of a mesh.   (collision-17)
pub(crate) fn growth(model: &Model, X_wb: &[Pose], geom: GeomId, hit: &RayHit, k: usize) -> f64 {
    let g = &model.geoms()[geom.0];
    let pose = X_wb[g.body.0] * g.pose;
    let (x, n) = (pose.rotation.tmul(hit.point - pose.position), pose.rotation.tmul(hit.normal));
    match model.shape(geom) {
        Shape::Sphere { .. } => 1.0,
        Shape::Capsule { .. } => [1.0, n.z.abs()][k.min(1)],
        Shape::Cylinder { radius, half_length } | Shape::Cone { radius, half_length } => {
            [(x.x * n.x + x.y * n.y) / radius, x.z * n.z / half_length][k.min(1)]
        }
        Shape::Box { half_size: s } | Shape::Ellipsoid { radii: s } => x[k] * n[k] / s[k],
        Shape::Mesh { mesh } | Shape::Terrain { mesh } => {
            let scale = model.parameters().group(crate::model::ParameterGroup::MeshScale)[3 * mesh.0 + k];
            x[k] * n[k] / scale
        }
        Shape::Plane | Shape::HeightField { .. } => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::narrow::closed::check::Random;
    use crate::collision::query::Solid;
    use crate::collision::query::raycast::ray;

    /// Normals at hits beside each other differ by what the shape operator says.
    #[test]
    fn normals_turn_along_curved_surfaces_as_the_shape_operator_says() {
        let r = &mut Random::new(71);
        let (radius, half_length) = (0.4, 0.7);
        let shapes = [
            Shape::Sphere { radius },
            Shape::Capsule { radius, half_length },
            Shape::Cylinder { radius, half_length },
            Shape::Cone { radius, half_length },
            Shape::Ellipsoid { radii: vec3(0.3, 0.5, 0.8) },
            Shape::Box { half_size: vec3(0.3, 0.5, 0.8) },
        ];
        let mut seen = 0;
        for shape in shapes {
            let solid = Solid::new(shape).expect("sound");
            for _ in 0..200 {
                let origin = r.unit() * 3.0;
                let direction = (r.cube() * 0.3 - origin).normalized().expect("not zero");
                let side = direction.cross(r.unit()) * 1e-5;
                let at = |o: Vec3| ray(&solid.convex(), o, direction).map(|(t, n)| (o + direction * t, n));
                let (Some((x, n)), Some((a, m)), Some((b, l))) = (at(origin), at(origin - side), at(origin + side))
                else {
                    continue;
                };
                // edges, and grazing rays
                if (l - m).norm() > 1e-3 || n.dot(direction).abs() < 0.2 {
                    continue;
                }
                seen += 1;
                let off = (bent(&solid.convex(), x, n, b - a) - (l - m)).norm();
                assert!(off < 1e-8, "{shape:?} {origin:?} {direction:?}: {off:e}");
            }
        }
        assert!(seen > 600, "{seen}");
    }
}
