//! Whether a point is inside the shape of a site.   (sens-16)

use super::Snapshot;
use crate::model::{FrameId, Shape};
use crate::spatial::Vec3;

/// Whether a point, in world axes, is inside the shape of a site; nothing is inside one without shape.
pub(super) fn is_inside(m: &Snapshot, site: FrameId, point: Vec3) -> bool {
    let frame = &m.model.frames()[site.0];
    let pose = m.kin.X_wb[frame.body.0] * frame.pose;
    frame.zone.is_some_and(|zone| contains(zone, pose.rotation.tmul(point - pose.position)))
}

fn contains(zone: Shape, p: Vec3) -> bool {
    let flat = p.x * p.x + p.y * p.y;
    match zone {
        Shape::Sphere { radius } => p.dot(p) < radius * radius,
        Shape::Capsule { radius, half_length } => {
            let beyond = (p.z.abs() - half_length).max(0.0);
            flat + beyond * beyond < radius * radius
        }
        Shape::Cylinder { radius, half_length } => p.z.abs() < half_length && flat < radius * radius,
        Shape::Box { half_size } => (0..3).all(|k| p[k].abs() < half_size[k]),
        Shape::Ellipsoid { radii } => (0..3).map(|k| (p[k] / radii[k]).powi(2)).sum::<f64>() < 1.0,
        _ => false,
    }
}
