//! Mass of bodies: `<inertial>`, or the sum of what the geoms weigh; then the corrections that `<compiler>` asks for.

use super::body::Link;
use super::compiler::Compiler;
use crate::attribute::Attributes;
use crate::error::LoadError;
use crate::inertia::{defect, has_negative_moment};
use crate::orientation::orientation;
use crate::warning::Warnings;
use crate::xml::Element;
use slipstick_core::model::Shape;
use slipstick_core::spatial::{BodyInertia, Pose, Sym3, Vec3, principal_axes, principal_moments};
use std::f64::consts::PI;

/// The `<inertial>` of a body.
pub(super) fn explicit(e: Element, compiler: &Compiler) -> Result<BodyInertia, LoadError> {
    let mass = e.required("mass")?;
    let (value, com) = (mass.float()?, Vec3::from(e.required("pos")?.array()?));
    if value < 0.0 {
        return Err(mass.wrong("zero or a positive mass"));
    }
    let turn = orientation(&e, &compiler.angles)?;
    let full = e.array::<6>("fullinertia")?;
    let about_com = match (full, e.vec3("diaginertia")?) {
        (Some(_), Some(_)) => return Err(e.structure("one of diaginertia and fullinertia", "both")),
        (Some([xx, yy, zz, xy, xz, yz]), None) => Sym3 { xx, xy, yy, xz, yz, zz },
        (None, diagonal) => Sym3::diagonal(diagonal.unwrap_or(Vec3::ZERO)),
    };
    Ok(BodyInertia { mass: value, com, about_com: about_com.rotated(&turn.to_matrix()) })
}

/// Refuses bodies that resist rotation with a negative inertia, as MuJoCo does. What is fixed to a body counts with it.
pub(super) fn refuse_negative(links: &[Link]) -> Result<(), LoadError> {
    let mut sums: Vec<BodyInertia> = links.iter().map(|l| l.inertia).collect();
    let mut carriers: Vec<(usize, Pose)> = Vec::with_capacity(links.len());
    for (i, link) in links.iter().enumerate() {
        let mut carrier = (i, Pose::IDENTITY);
        if i > 0 && link.joints.is_empty() && !link.mocap {
            let (root, parent) = carriers[link.parent];
            carrier = (root, parent * link.pose);
            sums[root] = sums[root].joined(&link.inertia.moved(&carrier.1));
        }
        carriers.push(carrier);
    }
    let moving = links.iter().zip(&sums).filter(|(link, _)| !link.joints.is_empty());
    for (element, sum) in moving.filter_map(|(link, sum)| Some((link.element?, sum))) {
        if has_negative_moment(sum) {
            let [a, b, c] = principal_moments(sum.about_com);
            let hint = "check the unit (kg·m²), the signs and the frame of the inertia";
            let error = element.structure("principal moments that are not negative", format!("{a}, {b}, {c} kg·m²"));
            return Err(error.with_hint(hint));
        }
    }
    Ok(())
}

/// Applies lower bounds and balancing; says what remains wrong.
pub(super) fn correct(mut i: BodyInertia, body: Element, compiler: &Compiler, warnings: &mut Warnings) -> BodyInertia {
    i.mass = i.mass.max(compiler.bound_mass);
    if compiler.bound_inertia > 0.0 && i.smallest_moment() < compiler.bound_inertia {
        let (moments, axes) = principal_axes(i.about_com);
        i.about_com = Sym3::diagonal(Vec3::from(moments.map(|m| m.max(compiler.bound_inertia)))).rotated(&axes);
    }
    let [a, b, c] = principal_moments(i.about_com);
    if compiler.balance_inertia && a + b < c {
        let mean = (a + b + c) / 3.0;
        i.about_com = Sym3::diagonal(Vec3::new(mean, mean, mean));
    }
    if let Some(text) = defect(&i) {
        warnings.add(body, text);
    }
    i
}

/// Volume of a shape [m³]; planes and meshes have none here.
pub(super) fn volume(shape: &Shape) -> f64 {
    match *shape {
        Shape::Sphere { radius: r } => 4.0 / 3.0 * PI * r.powi(3),
        Shape::Capsule { radius: r, half_length: h } => PI * r * r * (2.0 * h + 4.0 / 3.0 * r),
        Shape::Cylinder { radius: r, half_length: h } => PI * r * r * 2.0 * h,
        Shape::Box { half_size: s } => 8.0 * s.x * s.y * s.z,
        Shape::Ellipsoid { radii: s } => 4.0 / 3.0 * PI * s.x * s.y * s.z,
        _ => 0.0,
    }
}

/// Inertia of a shape filled with `mass`, seen from the frame in which `pose` places it.
pub(super) fn of_shape(shape: &Shape, mass: f64, pose: &Pose) -> BodyInertia {
    let square = |s: Vec3| Vec3::new(s.y * s.y + s.z * s.z, s.x * s.x + s.z * s.z, s.x * s.x + s.y * s.y);
    let moments = match *shape {
        Shape::Sphere { radius: r } => square(Vec3::new(r, r, r)) * (mass / 5.0),
        Shape::Ellipsoid { radii } => square(radii) * (mass / 5.0),
        Shape::Box { half_size } => square(half_size) * (mass / 3.0),
        Shape::Cylinder { radius: r, half_length: h } => cylinder(mass, r, 2.0 * h),
        Shape::Capsule { radius: r, half_length: h } => capsule(mass, r, 2.0 * h),
        _ => Vec3::ZERO,
    };
    let about_com = Sym3::diagonal(moments).rotated(&pose.rotation);
    BodyInertia { mass, com: pose.position, about_com }
}

fn cylinder(mass: f64, r: f64, height: f64) -> Vec3 {
    let across = mass * (3.0 * r * r + height * height) / 12.0;
    Vec3::new(across, across, mass * r * r / 2.0)
}

/// A cylinder and two half balls at its ends.
fn capsule(mass: f64, r: f64, height: f64) -> Vec3 {
    let ball = mass * 4.0 * r / (4.0 * r + 3.0 * height);
    let along = 0.4 * ball * r * r;
    let across = along + ball * height * (3.0 * r + 2.0 * height) / 8.0;
    cylinder(mass - ball, r, height) + Vec3::new(across, across, along)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Volume and moments by summing over a grid: knows nothing of the formulas.
    fn summed(inside: impl Fn(Vec3) -> bool, size: Vec3) -> (f64, Vec3) {
        const N: i32 = 60;
        let (mut count, mut moments) = (0.0, Vec3::ZERO);
        let at = |k: i32, s: f64| s * ((2 * k + 1) as f64 / N as f64 - 1.0);
        for (i, j) in (0..N).flat_map(|i| (0..N).map(move |j| (i, j))) {
            for k in 0..N {
                let p = Vec3::new(at(i, size.x), at(j, size.y), at(k, size.z));
                if inside(p) {
                    count += 1.0;
                    moments += Vec3::new(p.y * p.y + p.z * p.z, p.x * p.x + p.z * p.z, p.x * p.x + p.y * p.y);
                }
            }
        }
        let cell = 8.0 * size.x * size.y * size.z / f64::from(N).powi(3);
        (count * cell, moments * (1.0 / count))
    }

    #[test]
    fn formulas_agree_with_sums_over_a_grid() {
        let (r, h) = (0.3, 0.5);
        let s = Vec3::new(0.2, 0.3, 0.5);
        let round = |p: Vec3| p.x.hypot(p.y);
        let tip = |p: Vec3| round(p).hypot((p.z.abs() - h).max(0.0));
        type Inside<'a> = &'a dyn Fn(Vec3) -> bool;
        let cases: [(Shape, Vec3, Inside); 5] = [
            (Shape::Sphere { radius: r }, Vec3::new(r, r, r), &|p| p.norm() < r),
            (Shape::Cylinder { radius: r, half_length: h }, Vec3::new(r, r, h), &|p| round(p) < r),
            (Shape::Capsule { radius: r, half_length: h }, Vec3::new(r, r, h + r), &|p| tip(p) < r),
            (Shape::Box { half_size: s }, s, &|_| true),
            (Shape::Ellipsoid { radii: s }, s, &|p| Vec3::new(p.x / s.x, p.y / s.y, p.z / s.z).norm() < 1.0),
        ];
        for (shape, size, inside) in cases {
            let (grid_volume, grid) = summed(inside, size);
            let exact = of_shape(&shape, 1.0, &Pose::IDENTITY).about_com;
            // 1 %: what a grid of 60³ cells can tell
            assert!((volume(&shape) / grid_volume - 1.0).abs() < 0.01, "{shape:?}");
            for (a, b) in [(exact.xx, grid.x), (exact.yy, grid.y), (exact.zz, grid.z)] {
                assert!((a / b - 1.0).abs() < 0.01, "{shape:?}: {a} {b}");
            }
        }
    }
}
