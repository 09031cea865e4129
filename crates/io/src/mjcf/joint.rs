//! `<joint>` and `<freejoint>`.

use super::compiler::Compiler;
use super::defaults::Properties;
use crate::attribute::Attributes;
use crate::error::LoadError;
use crate::warning::Warnings;
use slipstick_core::model::{JointKind, JointSpec};
use slipstick_core::spatial::{Pose, Vec3};

/// A free joint: no springs, dampers or drives, whatever the default classes say.
pub(super) fn read_free(p: &Properties) -> JointSpec {
    JointSpec::new(p.element().text("name").unwrap_or_default(), JointKind::Free)
}

/// A joint; `frame` is the frame it is written in, seen from its body.
pub(super) fn read(
    p: &Properties,
    frame: &Pose,
    compiler: &Compiler,
    warnings: &mut Warnings,
) -> Result<JointSpec, LoadError> {
    let kind = kind(p, frame)?;
    let mut joint = JointSpec::new(p.element().text("name").unwrap_or_default(), kind);
    let angular = matches!(kind, JointKind::Revolute { .. } | JointKind::Spherical);
    let unit = if angular { compiler.angles.unit } else { 1.0 };
    joint.armature = p.float_or("armature", 0.0)?;
    joint.dry_friction = p.float_or("frictionloss", 0.0)?;
    joint.damping = linear_coefficient(p, "damping", warnings)?;
    joint.stiffness = linear_coefficient(p, "stiffness", warnings)?;
    joint.driven_compensation = p.flag("actuatorgravcomp", false)?;
    if kind == JointKind::Free {
        return Ok(joint);
    }
    joint.anchor = frame.point(p.vec3("pos")?.unwrap_or(Vec3::ZERO));
    let range = if kind == JointKind::Spherical {
        cone(p, compiler.autolimits)?
    } else {
        limits(p, "limited", "range", compiler.autolimits)?
    };
    joint.range = range.map(|r| r.map(|x| x * unit));
    if kind != JointKind::Spherical {
        joint.reference = p.float_or("ref", 0.0)? * unit;
        joint.spring_reference = p.float_or("springref", 0.0)? * unit;
        let effort = limits(p, "actuatorfrclimited", "actuatorfrcrange", compiler.autolimits)?;
        joint.effort = effort.unwrap_or(joint.effort);
    }
    Ok(joint)
}

fn kind(p: &Properties, frame: &Pose) -> Result<JointKind, LoadError> {
    let z = Vec3::UNITS[2];
    let kinds = [
        ("hinge", JointKind::Revolute { axis: z }),
        ("slide", JointKind::Prismatic { axis: z }),
        ("ball", JointKind::Spherical),
        ("free", JointKind::Free),
    ];
    let kind = p.one_of("type", &kinds, kinds[0].1)?;
    if matches!(kind, JointKind::Spherical | JointKind::Free) {
        return Ok(kind);
    }
    let axis = match p.attribute("axis") {
        Some(a) => Vec3::from(a.array()?).normalized().ok_or_else(|| a.wrong("a direction"))?,
        None => z,
    };
    let axis = frame.rotation * axis;
    Ok(if matches!(kind, JointKind::Prismatic { .. }) {
        JointKind::Prismatic { axis }
    } else {
        JointKind::Revolute { axis }
    })
}

/// Force per velocity or displacement. MuJoCo also knows coefficients of higher order.
pub(super) fn linear_coefficient(
    p: &Properties,
    name: &'static str,
    warnings: &mut Warnings,
) -> Result<f64, LoadError> {
    let Some(attribute) = p.attribute(name) else { return Ok(0.0) };
    let numbers = attribute.floats(1..=3)?;
    if numbers[1..].iter().any(|x| *x != 0.0) {
        warnings.add(attribute.element, format!("only the first number of {name} is used: the others are not linear"));
    }
    Ok(numbers[0])
}

/// The range of a ball joint. A ball joint that is limited without a range may not turn at all, as in MuJoCo.
fn cone(p: &Properties, autolimits: bool) -> Result<Option<[f64; 2]>, LoadError> {
    let limited = p.attribute("limited").is_some_and(|a| a.value.trim() == "true");
    let range = match p.attribute("range").filter(|_| limited) {
        Some(range) => Some(range.array()?),
        None if limited => Some([0.0; 2]),
        None => limits(p, "limited", "range", autolimits)?,
    };
    match range {
        Some([low, high]) if low != 0.0 || high < 0.0 => {
            Err(p.required("range")?.wrong("0 and the largest angle of the ball joint"))
        }
        range => Ok(range),
    }
}

/// A range, if it limits: the word `flag` says "true", or says nothing and the range is a proper one.
pub(super) fn limits<'a>(
    p: &impl Attributes<'a>,
    flag: &'static str,
    range: &'static str,
    autolimits: bool,
) -> Result<Option<[f64; 2]>, LoadError> {
    let words = [("true", Some(true)), ("false", Some(false)), ("auto", None)];
    let said = p.one_of(flag, &words, None)?;
    if said == Some(true) {
        p.required(range).map_err(|e| e.with_hint(format!("'{flag}' is true, so the range must be given")))?;
    }
    let Some(attribute) = p.attribute(range) else { return Ok(None) };
    let [low, high] = attribute.array()?;
    match said {
        Some(false) => Ok(None),
        None if !autolimits && (low != 0.0 || high != 0.0) => Err(attribute
            .wrong(format!("'{flag}' to be given with the range"))
            .with_hint("autolimits is off in this file: say true or false")),
        None if !autolimits || low >= high => Ok(None),
        Some(true) if low >= high => Err(attribute.wrong("a lower and a larger upper limit")),
        _ => Ok(Some([low, high])),
    }
}
