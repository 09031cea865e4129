//! Derivatives of contact points, normals and distances with respect to the poses of the two shapes.

pub(super) mod contacts;
mod kernel;
mod point_motion;
mod randomized;
mod sizes;
mod smoothed;

pub(super) use sizes::shape_derivatives;

use super::contact::PointKind;
use super::derivatives::kernel::{Change, Kernel};
use super::derivatives::point_motion::{PointMotion, ProjectionPlane};
use super::pair::Side;
use super::shape::Convex;
use crate::InputError;
use crate::spatial::{Pose, Vec3};
use core::fmt;

/// Derivatives of a contact with respect to the twists of its two bodies, in world axes: `[body][component]`, first the
/// velocity of the body's material point at the contact point (3), then the angular velocity (3).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointDerivatives {
    /// Of the unit normal.
    pub normal: [[Vec3; 6]; 2],
    /// Of the contact point.
    pub point: [[Vec3; 6]; 2],
    /// Of the signed distance.
    pub distance: [[f64; 6]; 2],
}

/// A contact that could not be differentiated.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum CollisionError {
    /// The input does not fit the model.
    Input(InputError),
    /// Normal or point do not depend smoothly on the poses here.
    NoDerivative {
        /// The number that is too small.
        why: &'static str,
        /// Its value.
        got: f64,
        /// Its lower bound.
        least: f64,
    },
}

impl fmt::Display for CollisionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CollisionError::Input(e) => e.fmt(f),
            CollisionError::NoDerivative { why, got, least } => {
                write!(f, "the contact has no derivative here: {why}: expected more than {least:e}, got {got:e}")
            }
        }
    }
}
impl std::error::Error for CollisionError {}
impl From<InputError> for CollisionError {
    fn from(e: InputError) -> CollisionError {
        CollisionError::Input(e)
    }
}

/// One body moves, in world axes at the contact point, which is the origin.
#[derive(Clone, Copy)]
pub(crate) struct Twist {
    body: usize,
    lin: Vec3,
    ang: Vec3,
}

impl Twist {
    /// Unit motion along component `k`.
    #[inline(always)]
    pub fn unit(body: usize, k: usize) -> Twist {
        if k < 3 {
            Twist { body, lin: Vec3::UNITS[k], ang: Vec3::ZERO }
        } else {
            Twist { body, lin: Vec3::ZERO, ang: Vec3::UNITS[k - 3] }
        }
    }
}

impl Change for Twist {
    #[inline(always)]
    fn which(&self) -> usize {
        self.body
    }
    #[inline(always)]
    fn turn(&self, side: usize) -> Vec3 {
        if side == self.body { self.ang } else { Vec3::ZERO }
    }
    #[inline(always)]
    fn velocity(&self, side: usize, _: u32, x: Vec3) -> Vec3 {
        if side == self.body { self.lin + self.ang.cross(x) } else { Vec3::ZERO }
    }
    #[inline(always)]
    fn stretch(&self, side: usize, _: [u32; 2], e: Vec3) -> Vec3 {
        if side == self.body { self.ang.cross(e) } else { Vec3::ZERO }
    }
    #[inline(always)]
    fn radius(&self, _: usize) -> f64 {
        0.0
    }
}

/// Exact derivatives of one contact point. Poses have world axes and positions relative to the contact point.
///
/// For a point on the reference face that stays on an edge or corner of it (`Crossing`, `Reference`) the distance also
/// changes because the point glides along the other face; that part is zero while the faces are parallel. All others
/// have dΦ = n · (v2 − v1).   (collision-7)
pub(crate) fn point_derivatives(
    shapes: &[Convex; 2],
    poses: &[Pose; 2],
    normal: Vec3,
    sides: &[Side; 2],
    kind: &PointKind,
) -> Result<PointDerivatives, CollisionError> {
    let kernel = Kernel::new(shapes, poses, normal, sides, 0.0)?;
    let motion = PointMotion::new(&kernel, kind, ProjectionPlane::OfReference)?;
    Ok(columns(&kernel, &motion, kind.glides(sides)))
}

/// Derivatives with smoothed curvatures: dn and the motion of the nearest points are those of the smoothed shapes, dΦ is
/// that of the exact ones.   (collision-4)
pub(crate) fn smoothed_derivatives(
    shapes: &[Convex; 2],
    poses: &[Pose; 2],
    normal: Vec3,
    sides: &[Side; 2],
    kind: &PointKind,
    eps: f64,
) -> Result<PointDerivatives, CollisionError> {
    let kernel = Kernel::new(shapes, poses, normal, sides, eps)?;
    let motion = PointMotion::new(&kernel, kind, ProjectionPlane::OfBody)?;
    Ok(columns(&kernel, &motion, false))
}

/// The columns of one body; those of the other complement it to a common motion of both, which moves normal and point
/// rigidly. The body is the one that does not determine the normal: its zeros are exact then.
#[inline(always)]
fn columns(kernel: &Kernel, motion: &PointMotion, glides: bool) -> PointDerivatives {
    let (n, body) = (kernel.n, kernel.follower());
    let mut out = frozen(n);
    if let (Some((x, fraction)), false) = (motion.on_face(), glides) {
        follow(&mut out, n, body, x, fraction);
        return out;
    }
    for k in 0..6 {
        let rate = motion.rate(&Twist::unit(body, k));
        let (both_n, both_p) =
            if k < 3 { (Vec3::ZERO, Vec3::UNITS[k]) } else { (Vec3::UNITS[k - 3].cross(n), Vec3::ZERO) };
        (out.normal[body][k], out.normal[1 - body][k]) = (rate.normal, both_n - rate.normal);
        (out.point[body][k], out.point[1 - body][k]) = (rate.point, both_p - rate.point);
        if glides {
            (out.distance[body][k], out.distance[1 - body][k]) = (rate.distance, -rate.distance);
        }
    }
    out
}

/// A point x of a body that rests on a face of the other: the normal stays with the face, and the contact follows x except
/// for a fraction of its motion along the normal.   (collision-7)
#[inline(always)]
fn follow(out: &mut PointDerivatives, n: Vec3, body: usize, x: Vec3, fraction: f64) {
    for k in 0..3 {
        let (unit, turned) = (Vec3::UNITS[k], Vec3::UNITS[k].cross(x));
        let (along, turning) = (unit - n * (fraction * n[k]), turned - n * (fraction * n.dot(turned)));
        (out.point[body][k], out.point[1 - body][k]) = (along, unit - along);
        (out.point[body][3 + k], out.point[1 - body][3 + k]) = (turning, -turning);
        out.normal[1 - body][3 + k] = unit.cross(n);
    }
}

/// Point and normal fixed in the world; the distance changes by the relative velocity along the normal.
pub(crate) fn frozen(normal: Vec3) -> PointDerivatives {
    let [x, y, z] = normal.to_array();
    PointDerivatives {
        normal: [[Vec3::ZERO; 6]; 2],
        point: [[Vec3::ZERO; 6]; 2],
        distance: [[-x, -y, -z, 0.0, 0.0, 0.0], [x, y, z, 0.0, 0.0, 0.0]],
    }
}

#[cfg(test)]
pub(in crate::collision) mod tests;
