//! Mass and moments of the surfaces of shapes: `shellinertia`.

use slipstick_core::model::Shape;
use slipstick_core::spatial::{BodyInertia, Pose, Sym3, Vec3};
use std::f64::consts::PI;

/// MuJoCo's thickness of the shell of an ellipsoid (m).
const THICKNESS: f64 = 1e-6;
/// Thomsen's exponent for the area of an ellipsoid, which MuJoCo uses.
const THOMSEN: f64 = 1.6075;

/// Area of a shape [m²]; planes have none here.
pub(super) fn area(shape: &Shape) -> f64 {
    match *shape {
        Shape::Sphere { radius: r } => 4.0 * PI * r * r,
        Shape::Capsule { radius: r, half_length: h } => 4.0 * PI * r * r + 4.0 * PI * r * h,
        Shape::Cylinder { radius: r, half_length: h } => 2.0 * PI * r * r + 4.0 * PI * r * h,
        Shape::Box { half_size: s } => 8.0 * (s.x * s.y + s.y * s.z + s.z * s.x),
        Shape::Ellipsoid { radii: s } => {
            let power = |a: f64, b: f64| (a * b).powf(THOMSEN);
            4.0 * PI * ((power(s.x, s.y) + power(s.y, s.z) + power(s.z, s.x)) / 3.0).powf(1.0 / THOMSEN)
        }
        _ => 0.0,
    }
}

/// Inertia of `mass` spread over the surface of a shape, seen from the frame in which `pose` places it.
pub(super) fn of_shape(shape: &Shape, mass: f64, pose: &Pose) -> BodyInertia {
    let share = |part: f64| mass * part / area(shape);
    let moments = match *shape {
        Shape::Sphere { radius: r } => Vec3::new(1.0, 1.0, 1.0) * (2.0 / 3.0 * mass * r * r),
        Shape::Ellipsoid { radii } => ellipsoid(radii, mass),
        Shape::Box { half_size: s } => {
            let side = |a: f64, b: f64| share(8.0 * a * b); // both sides with these half edges
            let (x, y, z) = (side(s.y, s.z), side(s.x, s.z), side(s.x, s.y));
            // Σ m x²: the sides at ±x lie at that distance, on the others it is x²/3 in the mean
            let square = |h: f64, at: f64, on: f64| h * h * (at + on / 3.0);
            let (xx, yy, zz) = (square(s.x, x, y + z), square(s.y, y, x + z), square(s.z, z, x + y));
            Vec3::new(yy + zz, xx + zz, xx + yy)
        }
        Shape::Cylinder { radius: r, half_length: h } => {
            let disks = share(2.0 * PI * r * r);
            let across = disks * (r * r / 4.0 + h * h);
            tube(share(4.0 * PI * r * h), r, h) + Vec3::new(across, across, disks * r * r / 2.0)
        }
        Shape::Capsule { radius: r, half_length: h } => {
            let caps = share(4.0 * PI * r * r);
            let along = 2.0 / 3.0 * caps * r * r;
            // the center of a half sphere is half a radius out
            let across = along + caps * ((h + r / 2.0).powi(2) - (r / 2.0).powi(2));
            tube(share(4.0 * PI * r * h), r, h) + Vec3::new(across, across, along)
        }
        _ => Vec3::ZERO,
    };
    BodyInertia { mass, com: pose.position, about_com: Sym3::diagonal(moments).rotated(&pose.rotation) }
}

/// The open side of a cylinder.
fn tube(mass: f64, r: f64, h: f64) -> Vec3 {
    let across = mass * (r * r / 2.0 + h * h / 3.0);
    Vec3::new(across, across, mass * r * r)
}

/// A thin solid between two ellipsoids, as MuJoCo has it.
fn ellipsoid(inner: Vec3, mass: f64) -> Vec3 {
    let outer = inner + Vec3::new(THICKNESS, THICKNESS, THICKNESS);
    let volume = |s: Vec3| 4.0 * PI * s.x * s.y * s.z / 3.0;
    let density = mass / (volume(outer) - volume(inner));
    let moments = |s: Vec3| {
        let filled = volume(s) * density;
        Vec3::new(s.y * s.y + s.z * s.z, s.x * s.x + s.z * s.z, s.x * s.x + s.y * s.y) * (filled / 5.0)
    };
    moments(outer) - moments(inner)
}
