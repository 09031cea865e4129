//! `<link>`: where it is and what it weighs.

use super::compiler::Compiler;
use crate::attribute::Attributes;
use crate::error::LoadError;
use crate::orientation::roll_pitch_yaw;
use crate::xml::Element;
use slipstick_core::spatial::{BodyInertia, Pose, Sym3, Vec3};

/// The `<origin>` of an element: identity where there is none.
pub(super) fn origin(e: Element) -> Result<Pose, LoadError> {
    let Some(origin) = e.child("origin") else { return Ok(Pose::IDENTITY) };
    let position = origin.vec3("xyz")?.unwrap_or(Vec3::ZERO);
    let turn = origin.array("rpy")?.map_or(Pose::IDENTITY, |rpy| Pose::new(Vec3::ZERO, roll_pitch_yaw(rpy)));
    Ok(Pose { position, rotation: turn.rotation })
}

/// The `<inertial>` of a link in its own frame: nothing where there is none.
pub(super) fn inertia(link: Element, compiler: &Compiler) -> Result<BodyInertia, LoadError> {
    let Some(e) = link.child("inertial") else { return Ok(compiler.corrected(BodyInertia::default())) };
    let mass = e.child("mass").ok_or_else(|| e.missing("<mass>"))?.required("value")?;
    let value = mass.float()?;
    if value < 0.0 {
        return Err(mass.wrong("zero or a positive mass"));
    }
    let about_com = match e.child("inertia") {
        Some(i) => Sym3 {
            xx: i.float_or("ixx", 0.0)?,
            xy: i.float_or("ixy", 0.0)?,
            yy: i.float_or("iyy", 0.0)?,
            xz: i.float_or("ixz", 0.0)?,
            yz: i.float_or("iyz", 0.0)?,
            zz: i.float_or("izz", 0.0)?,
        },
        None => Sym3::ZERO,
    };
    let inertia = BodyInertia { mass: value, com: Vec3::ZERO, about_com };
    Ok(compiler.corrected(inertia).moved(&origin(e)?))
}
