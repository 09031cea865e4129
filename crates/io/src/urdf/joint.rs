//! `<joint>`: how a link moves on its parent.

use crate::attribute::{Attribute, Attributes};
use crate::error::LoadError;
use crate::names::Names;
use crate::orientation::z_to;
use crate::warning::Warnings;
use crate::xml::Element;
use slipstick_core::model::{JointKind, JointSpec};
use slipstick_core::spatial::Vec3;

#[derive(Clone, Copy, PartialEq)]
enum Type {
    Revolute,
    Continuous,
    Prismatic,
    Fixed,
    Floating,
    Planar,
}

const TYPES: [(&str, Type); 6] = [
    ("revolute", Type::Revolute),
    ("continuous", Type::Continuous),
    ("prismatic", Type::Prismatic),
    ("fixed", Type::Fixed),
    ("floating", Type::Floating),
    ("planar", Type::Planar),
];

/// The joints of a model that a joint of the file stands for: none if it is fixed.
pub(super) fn read(e: Element, names: &mut Names, warnings: &mut Warnings) -> Result<Vec<JointSpec>, LoadError> {
    let kind = e.required("type")?.one_of(&TYPES)?;
    let name = e.required("name")?.value;
    let mut joints = match kind {
        Type::Fixed => Vec::new(),
        Type::Floating => vec![JointSpec::new(name, JointKind::Free)],
        Type::Revolute | Type::Continuous => vec![JointSpec::new(name, JointKind::Revolute { axis: axis(e)? })],
        Type::Prismatic => vec![JointSpec::new(name, JointKind::Prismatic { axis: axis(e)? })],
        Type::Planar => planar(name, axis(e)?, names),
    };
    for joint in &mut joints {
        dynamics(e, joint)?;
        limit(e, kind, joint, warnings)?;
    }
    Ok(joints)
}

/// Unit vector of `<axis>`; x where the file gives none.
fn axis(e: Element) -> Result<Vec3, LoadError> {
    let Some(axis) = e.child("axis") else { return Ok(Vec3::UNITS[0]) };
    let xyz = axis.required("xyz")?;
    Vec3::from(xyz.array()?).normalized().ok_or_else(|| xyz.wrong("a direction"))
}

/// Motion in the plane normal to `axis`. Our planar joint has z as normal; others are two slides and a hinge.
fn planar(name: &str, axis: Vec3, names: &mut Names) -> Vec<JointSpec> {
    if axis == Vec3::UNITS[2] {
        return vec![JointSpec::new(name, JointKind::Planar)];
    }
    let turn = z_to(axis).to_matrix();
    let slide = |k: usize, name: String| JointSpec::new(name, JointKind::Prismatic { axis: turn.c[k] });
    vec![
        slide(0, names.fresh(&format!("{name}_x"))),
        slide(1, names.fresh(&format!("{name}_y"))),
        JointSpec::new(name, JointKind::Revolute { axis }),
    ]
}

fn dynamics(e: Element, joint: &mut JointSpec) -> Result<(), LoadError> {
    let Some(dynamics) = e.child("dynamics") else { return Ok(()) };
    let read = |name| match dynamics.attribute(name) {
        Some(a) => a.float().and_then(|x| if x < 0.0 { Err(a.wrong("zero or a positive number")) } else { Ok(x) }),
        None => Ok(0.0),
    };
    joint.damping = read("damping")?;
    joint.dry_friction = read("friction")?;
    Ok(())
}

fn limit(e: Element, kind: Type, joint: &mut JointSpec, warnings: &mut Warnings) -> Result<(), LoadError> {
    let Some(limit) = e.child("limit") else {
        if matches!(kind, Type::Revolute | Type::Prismatic) {
            warnings.add_once(e, "it has no <limit>, which URDF requires: the joint is not limited");
        }
        return Ok(());
    };
    let read = |name| limit.attribute(name).map(number).transpose();
    if matches!(kind, Type::Revolute | Type::Prismatic) {
        let (lower, upper) = (read("lower")?, read("upper")?);
        if lower.is_none() && upper.is_none() {
            warnings.add(e, "the limit has neither lower nor upper: the joint is not limited");
        } else {
            let range = [lower.unwrap_or(0.0), upper.unwrap_or(0.0)];
            if range[0] > range[1] {
                let wrong = limit.structure("lower ≤ upper", format!("{} … {}", range[0], range[1]));
                return Err(wrong);
            }
            joint.range = Some(range).filter(|r| r.iter().any(|x| x.is_finite()));
        }
    }
    if let Some(effort) = read("effort")? {
        if effort < 0.0 {
            warnings.add(e, "a negative effort limit is ignored: effort is not limited");
        } else {
            joint.effort = [-effort, effort];
        }
    }
    if let Some(velocity) = read("velocity")? {
        // zero is written by exporters that know no value
        if velocity > 0.0 {
            joint.velocity = velocity;
        } else {
            warnings.add_once(e, "a velocity limit that is not positive is ignored: velocity is not limited");
        }
    }
    Ok(())
}

/// A number that may be infinite.
fn number(a: Attribute) -> Result<f64, LoadError> {
    let parsed = a.value.trim().parse::<f64>().ok().filter(|x| !x.is_nan());
    parsed.ok_or_else(|| a.wrong("a number"))
}
