//! `<mimic>`: a joint that follows another, q = multiplier · q_other + offset, as an equality constraint.

use super::Hanging;
use crate::attribute::Attributes;
use crate::error::LoadError;
use crate::warning::Warnings;
use crate::xml::Element;
use slipstick_core::ModelBuilder;
use slipstick_core::model::{Equality, EqualityKind, JointId};
use std::collections::HashMap;

/// Adds one constraint per joint that follows another. Robots in use name leaders that do not exist: such a joint moves
/// on its own, with a warning.
pub(super) fn read(
    robot: Element,
    links: &[Hanging],
    builder: &mut ModelBuilder,
    warnings: &mut Warnings,
) -> Result<(), LoadError> {
    // joints are numbered in the order of adding; fixed ones have no number
    let moving = links.iter().flat_map(|l| &l.joints).enumerate();
    let moving: HashMap<&str, (JointId, usize)> =
        moving.map(|(i, j)| (j.name.as_str(), (JointId(i), j.kind.nv()))).collect();
    for joint in robot.all("joint") {
        let (Some(mimic), Some((id, nv))) = (joint.child("mimic"), joint.text("name").and_then(|n| moving.get(n)))
        else {
            continue;
        };
        let (multiplier, offset) = (mimic.float_or("multiplier", 1.0)?, mimic.float_or("offset", 0.0)?);
        let Some(leader) = leader(robot, joint, mimic, &moving)? else {
            let name = crate::xml::shown(mimic.required("joint")?.value);
            warnings.add(joint, format!("there is no joint '{name}' to mimic: the joint moves on its own"));
            continue;
        };
        if *nv != 1 {
            return Err(mimic.structure("a joint with one dof, to follow another", "one with several"));
        }
        // a fixed joint stays at zero
        let multiplier = if leader.is_some() { multiplier } else { 0.0 };
        let coefficients = [offset, multiplier, 0.0, 0.0, 0.0];
        let kind = EqualityKind::Joint { joint: *id, other: leader, coefficients };
        builder.add_equality(Equality { name: String::new(), kind, active: true });
    }
    Ok(())
}

/// What is followed: a joint that moves, or (`Some(None)`) one that is fixed; `None` if there is no such joint.
fn leader(
    robot: Element,
    joint: Element,
    mimic: Element,
    moving: &HashMap<&str, (JointId, usize)>,
) -> Result<Option<Option<JointId>>, LoadError> {
    let name = mimic.required("joint")?.value;
    if joint.text("name") == Some(name) {
        return Err(mimic.structure("another joint to follow", format!("'{name}' itself")));
    }
    match moving.get(name) {
        Some((id, 1)) => Ok(Some(Some(*id))),
        Some(_) => Err(mimic.structure("a joint with one dof to follow", format!("'{name}', which has several"))),
        None => Ok(robot.all("joint").any(|j| j.text("name") == Some(name)).then_some(None)),
    }
}
