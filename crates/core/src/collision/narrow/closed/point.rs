//! A point (the core of a ball) and a primitive.

use super::{CoreWitness, box_side, clamp, direction, ellipsoid, non_zero, positive, revolved, segment_side};
use crate::collision::pair::Side;
use crate::collision::shape::Core;
use crate::spatial::{Vec3, vec3};

/// Nearest points of a core and the point `p`. Inside, the nearest point of the surface.
#[inline(always)]
pub(super) fn point(core: &Core, p: Vec3, reach: f64) -> Option<CoreWitness> {
    match *core {
        Core::Point => origin(p, reach),
        Core::Segment { half } => segment(half, p, reach),
        Core::Box { half } => cuboid(half, p, reach),
        Core::Cylinder { radius, half } => revolved::cylinder(radius, half, p, reach),
        Core::Cone { radius, half } => revolved::cone(radius, half, p, reach),
        Core::Ellipsoid { radii } => ellipsoid::ellipsoid(radii, p, reach),
        Core::Hull(_) | Core::Prism(_) | Core::Plane => None,
    }
}

#[inline(always)]
fn origin(p: Vec3, reach: f64) -> Option<CoreWitness> {
    // coincident centers have no direction of their own: any unit vector is as good
    let (normal, gap) = direction(p).unwrap_or((Vec3::UNITS[2], 0.0));
    if gap > reach {
        return None;
    }
    Some(CoreWitness { normal, gap, point: Vec3::ZERO, sides: [Side::point(0), Side::point(0)] })
}

#[inline(always)]
fn segment(half: f64, p: Vec3, reach: f64) -> Option<CoreWitness> {
    let z = p.z.min(half).max(-half);
    let end = if p.z < 0.0 { -half } else { half };
    let (normal, gap) = match direction(vec3(p.x, p.y, p.z - z)) {
        Some(found) => found,
        None if z == end => (vec3(0.0, 0.0, if p.z < 0.0 { -1.0 } else { 1.0 }), 0.0),
        None => (Vec3::UNITS[0], 0.0),
    };
    if gap > reach {
        return None;
    }
    Some(CoreWitness { normal, gap, point: vec3(0.0, 0.0, z), sides: [segment_side(z, half), Side::point(0)] })
}

#[inline(always)]
fn cuboid(half: Vec3, p: Vec3, reach: f64) -> Option<CoreWitness> {
    let q = clamp(p, half);
    let d = p - q;
    let Some((normal, gap)) = direction(d) else { return inside_cuboid(half, p, reach) };
    if gap > reach {
        return None;
    }
    Some(CoreWitness { normal, gap, point: q, sides: [box_side(half, q, non_zero(d), positive(d)), Side::point(0)] })
}

/// The nearest face, of equals that of the first axis.
fn inside_cuboid(half: Vec3, p: Vec3, reach: f64) -> Option<CoreWitness> {
    let depth = vec3(half.x - p.x.abs(), half.y - p.y.abs(), half.z - p.z.abs());
    let mut axis = 0;
    for k in 1..3 {
        if depth[k] < depth[axis] {
            axis = k;
        }
    }
    let gap = -depth[axis];
    if gap > reach {
        return None;
    }
    let sign = if p[axis] < 0.0 { -1.0 } else { 1.0 };
    let mut q = p;
    q[axis] = sign * half[axis];
    let high = if sign > 0.0 { 1 << axis } else { 0 };
    let face = box_side(half, q, 1 << axis, high);
    Some(CoreWitness { normal: Vec3::UNITS[axis] * sign, gap, point: q, sides: [face, Side::point(0)] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::narrow::closed::check::{Random, near, verify, verify_everywhere};
    use crate::collision::pair::ShapePair;
    use crate::collision::shape::Convex;
    use crate::spatial::Pose;

    #[test]
    fn balls_and_primitives_agree_with_the_widest_gap() {
        verify_everywhere(11, |_| [Core::Point, Core::Point]);
        verify_everywhere(12, |r| [Core::Segment { half: r.scale(1e-3, 3.0) }, Core::Point]);
        verify_everywhere(13, |r| {
            let half = vec3(r.scale(1e-4, 3.0), r.scale(1e-4, 3.0), r.scale(1e-4, 3.0));
            [Core::Box { half }, Core::Point]
        });
    }

    #[test]
    fn a_ball_at_every_special_place_of_a_primitive_gets_a_unit_normal() {
        let random = &mut Random::new(14);
        let cores = [
            Core::Point,
            Core::Segment { half: 1.0 },
            Core::Box { half: vec3(1.0, 1.0, 1.0) },
            Core::Cylinder { radius: 1.0, half: 1.0 },
            Core::Cone { radius: 1.0, half: 1.0 },
            Core::Ellipsoid { radii: vec3(1.0, 1.0, 1.0) },
            Core::Ellipsoid { radii: vec3(1.0, 2.0, 1.0) },
            Core::Ellipsoid { radii: vec3(3.0, 1.0, 2.0) },
        ];
        let places = [-2.0, -1.0, -1e-17, 0.0, 1e-300, 0.5, 1.0, 1.0 + 1e-15, 3.0];
        for core in cores {
            for (x, y, z) in places.iter().flat_map(|x| places.iter().flat_map(move |y| places.map(|z| (*x, *y, z)))) {
                let shapes = [Convex { core, radius: 0.0 }, Convex { core: Core::Point, radius: 0.25 }];
                verify(&ShapePair { shapes, X_12: Pose::translation(vec3(x, y, z)) }, 1e-12, random);
            }
        }
    }

    #[test]
    fn features_of_a_box_are_named_by_their_corners() {
        let half = vec3(1.0, 2.0, 3.0);
        let side = |p: Vec3| {
            let shapes = [Core::Box { half }, Core::Point].map(|core| Convex { core, radius: 0.0 });
            near(&ShapePair { shapes, X_12: Pose::translation(p) }).sides[0]
        };
        assert_eq!(side(vec3(2.0, 3.0, 4.0)), Side::point(7));
        assert_eq!(side(vec3(-2.0, 3.0, 0.0)), Side::edge([2, 6], 0.5));
        assert_eq!(side(vec3(0.0, 0.0, 4.0)), Side::face([4, 5, 6], [0.0, 0.5, 0.5]));
        assert_eq!(side(vec3(0.9, 0.0, 0.0)), Side::face([1, 3, 5], [0.0, 0.5, 0.5]));
    }
}
