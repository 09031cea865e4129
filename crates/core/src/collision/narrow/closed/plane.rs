//! A half-space and anything that has a support point.

use super::CoreWitness;
use crate::collision::pair::Side;
use crate::collision::shape::Core;
use crate::spatial::{Pose, Vec3, vec3};

/// The deepest support feature (atom) of a core at pose `X` in the plane's frame. A shape that lies flat touches with its
/// atom of lowest number: patches find the others.
#[inline(always)]
pub(super) fn plane(core: &Core, X: &Pose, reach: f64) -> Option<CoreWitness> {
    let axes = &X.rotation.c;
    let (x, atom) = core.support(vec3(-axes[0].z, -axes[1].z, -axes[2].z), 0);
    let gap = axes[0].z * x.x + axes[1].z * x.y + axes[2].z * x.z + X.position.z;
    if gap > reach {
        return None;
    }
    let p = X.point(x);
    let face = Side::face([0, 1, 2], [1.0 - p.x - p.y, p.x, p.y]);
    Some(CoreWitness { normal: Vec3::UNITS[2], gap, point: vec3(p.x, p.y, 0.0), sides: [face, Side::point(atom)] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::narrow::closed::check::verify_everywhere;

    #[test]
    fn every_core_touches_a_plane_with_its_deepest_atom() {
        verify_everywhere(1, |r| [Core::Plane, Core::Segment { half: r.scale(1e-3, 3.0) }]);
        verify_everywhere(2, |r| [Core::Plane, Core::Box { half: vec3(r.scale(1e-3, 3.0), r.scale(1e-3, 3.0), 1.0) }]);
        verify_everywhere(3, |r| [Core::Plane, Core::Cylinder { radius: r.scale(1e-3, 3.0), half: 1.0 }]);
        verify_everywhere(4, |r| [Core::Plane, Core::Cone { radius: r.scale(1e-3, 3.0), half: 1.0 }]);
        verify_everywhere(5, |r| [Core::Plane, Core::Ellipsoid { radii: vec3(r.scale(1e-3, 3.0), 1.0, 2.0) }]);
        verify_everywhere(6, |_| [Core::Plane, Core::Point]);
    }
}
