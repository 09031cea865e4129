//! Derivatives of contact points, normals and distances with respect to sizes of the shapes.   (collision-6)

use super::CollisionError;
use super::kernel::{Change, Kernel};
use super::point_motion::{PointMotion, ProjectionPlane, Rate};
use crate::collision::contact::PointKind;
use crate::collision::pair::Side;
use crate::collision::shape::{Convex, Core};
use crate::spatial::{Pose, Vec3, vec3};

/// Derivatives of a contact with respect to one size of one shape, in world axes.
pub(crate) type ShapeDerivative = Rate;

/// Size `k` of a shape grows. Sizes are numbered as in [`Shape::size`](crate::model::Shape::size), and 0, 1, 2 stretch a hull
/// along its axes, relative to its present form. A size that the shape does not have changes nothing.
struct SizeChange<'a> {
    which: usize,
    k: usize,
    core: &'a Core<'a>,
    pose: &'a Pose,
    /// Outward direction in the shape's own axes.
    d: Vec3,
}

impl Change for SizeChange<'_> {
    fn which(&self) -> usize {
        self.which
    }
    fn turn(&self, _: usize) -> Vec3 {
        Vec3::ZERO
    }
    fn velocity(&self, side: usize, atom: u32, _: Vec3) -> Vec3 {
        if side != self.which {
            return Vec3::ZERO;
        }
        self.pose.rotation * size_derivative(self.core, atom, self.d, self.k)
    }
    fn stretch(&self, side: usize, [a, b]: [u32; 2], e: Vec3) -> Vec3 {
        self.velocity(side, b, e) - self.velocity(side, a, e)
    }
    fn radius(&self, side: usize) -> f64 {
        if side == self.which { radius_derivative(self.core, self.k) } else { 0.0 }
    }
}

/// Derivatives of one contact point with respect to size `k` of shape `which`. Poses have world axes; they stay.
pub(crate) fn shape_derivatives(
    shapes: &[Convex; 2],
    poses: &[Pose; 2],
    normal: Vec3,
    sides: &[Side; 2],
    kind: &PointKind,
    which: usize,
    k: usize,
) -> Result<ShapeDerivative, CollisionError> {
    let kernel = Kernel::new(shapes, poses, normal, sides, 0.0)?;
    let motion = PointMotion::new(&kernel, kind, ProjectionPlane::OfReference)?;
    let d = poses[which].rotation.tmul(normal * kernel.bodies[which].sign);
    Ok(motion.rate(&SizeChange { which, k, core: &shapes[which].core, pose: &poses[which], d }))
}

/// Derivative of an atom's point with respect to size `k`, direction `d` fixed; in the shape's own axes.
pub(crate) fn size_derivative(core: &Core, atom: u32, d: Vec3, k: usize) -> Vec3 {
    let x = core.atom(atom, d);
    // from the middle outwards along one axis
    let outwards = |axis: usize| Vec3::UNITS[axis] * if x[axis] < 0.0 { -1.0 } else { 1.0 };
    match (core, k) {
        (Core::Segment { .. } | Core::Cylinder { .. } | Core::Cone { .. }, 1) => outwards(2),
        (Core::Cylinder { radius, .. } | Core::Cone { radius, .. }, 0) => vec3(x.x, x.y, 0.0) * (1.0 / radius),
        (Core::Box { .. }, 0..3) => outwards(k),
        (Core::Ellipsoid { radii }, 0..3) => {
            let s = vec3(radii.x * d.x, radii.y * d.y, radii.z * d.z);
            let h = s.norm();
            // x = R² d / h with h = |R d|
            Vec3::UNITS[k] * (2.0 * s[k] / h) - x * (s[k] * d[k] / (h * h))
        }
        (Core::Hull(_), 0..3) => Vec3::UNITS[k] * x[k],
        _ => Vec3::ZERO,
    }
}

/// Derivative of the radius around a core with respect to size `k`: a sphere's or a capsule's radius is its first size.
pub(crate) fn radius_derivative(core: &Core, k: usize) -> f64 {
    if k == 0 && matches!(core, Core::Point | Core::Segment { .. }) { 1.0 } else { 0.0 }
}
