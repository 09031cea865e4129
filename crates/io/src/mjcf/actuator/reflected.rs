//! Inertia and damping of drives: what they add to the joint that they act on, as in MuJoCo by the square of the gear.

use super::READ;
use super::law::{KINDS, Law};
use crate::attribute::Attributes;
use crate::error::LoadError;
use crate::mjcf::body::Link;
use crate::mjcf::defaults::{ClassId, Defaults};
use crate::mjcf::joint::linear_coefficient;
use crate::warning::Warnings;
use crate::xml::Element;
use slipstick_core::model::JointSpec;

/// Adds `armature` and `damping` of all actuators to their joints. To be done before the links are added to a builder.
pub(in crate::mjcf) fn reflect<'a>(
    root: Element<'a>,
    defaults: &Defaults<'a>,
    links: &mut [Link],
    warnings: &mut Warnings,
) -> Result<(), LoadError> {
    let elements = root.all("actuator").flat_map(|section| section.children());
    for element in elements.filter(|e| READ.contains(&e.name())) {
        let p = defaults.complete(element, &KINDS, ClassId::MAIN)?;
        let (armature, damping) = (p.float_or("armature", 0.0)?, linear_coefficient(&p, "damping", warnings)?);
        if armature == 0.0 && damping == 0.0 {
            continue;
        }
        let mut law = Law::default();
        for layer in p.layers() {
            law.apply(layer)?;
        }
        let gear2 = law.gear[0] * law.gear[0];
        match element.attribute("joint").or(element.attribute("jointinparent")) {
            Some(name) => {
                let joint = joint(links, name.value).ok_or_else(|| element.unknown("joint", name.value))?;
                joint.armature += gear2 * armature;
                joint.damping += gear2 * damping;
            }
            None if element.text("tendon").is_some() => {
                let effect = "armature and damping of an actuator on a tendon are not supported and are ignored";
                warnings.add(element, effect);
            }
            // MuJoCo has them on joints and tendons only
            None => {}
        }
    }
    Ok(())
}

fn joint<'l>(links: &'l mut [Link], name: &str) -> Option<&'l mut JointSpec> {
    links.iter_mut().flat_map(|l| &mut l.joints).find(|j| j.name == name)
}
