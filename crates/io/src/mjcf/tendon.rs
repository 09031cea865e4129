//! `<tendon>`: fixed tendons, which are weighted sums of joint positions.

use super::defaults::{ClassId, Defaults, Properties};
use super::flag::Disabled;
use super::index::Index;
use super::joint::{limits, linear_coefficient};
use crate::attribute::{Attribute, Attributes};
use crate::error::LoadError;
use crate::names::Names;
use crate::warning::Warnings;
use crate::xml::Element;
use slipstick_core::ModelBuilder;
use slipstick_core::model::{JointSpec, Tendon};
use std::collections::HashMap;

/// The tendons of a file by name; `None` for those that the model cannot have.
#[derive(Debug, Default)]
pub(super) struct Tendons {
    by_name: HashMap<String, Option<usize>>,
    list: Vec<Tendon>,
    /// Range of the total force of the actuators of each.
    efforts: Vec<Option<[f64; 2]>>,
}

impl Tendons {
    pub fn find(&self, name: Attribute) -> Result<Option<usize>, LoadError> {
        self.by_name.get(name.value).copied().ok_or_else(|| name.element.unknown("tendon", name.value))
    }

    pub fn get(&self, number: usize) -> &Tendon {
        &self.list[number]
    }

    /// Tendons that limit the force of their actuators, and the ranges.
    pub fn efforts(&self) -> impl Iterator<Item = (usize, [f64; 2])> + '_ {
        self.efforts.iter().enumerate().filter_map(|(number, range)| Some((number, (*range)?)))
    }

    pub fn read<'a>(
        root: Element<'a>,
        defaults: &Defaults<'a>,
        index: &Index,
        autolimits: bool,
        warnings: &mut Warnings,
    ) -> Result<Tendons, LoadError> {
        let mut tendons = Tendons::default();
        let mut names = Names::new("tendon", root);
        for element in root.all("tendon").flat_map(|section| section.children()) {
            let number = if element.name() == "fixed" {
                let p = defaults.complete(element, &["tendon"], ClassId::MAIN)?;
                tendons.list.push(fixed(&p, index, autolimits, warnings)?);
                tendons.efforts.push(limits(&p, "actuatorfrclimited", "actuatorfrcrange", autolimits)?);
                Some(tendons.list.len() - 1)
            } else {
                None
            };
            if let Some(name) = element.text("name") {
                tendons.by_name.insert(names.given(name, element)?, number);
            }
        }
        Ok(tendons)
    }

    /// Adds all of them, in the order of their numbers.
    pub fn add_to(&self, builder: &mut ModelBuilder, disabled: &Disabled) {
        for tendon in &self.list {
            builder.add_tendon(disabled.tendon(tendon.clone()));
        }
    }
}

fn fixed(p: &Properties, index: &Index, autolimits: bool, warnings: &mut Warnings) -> Result<Tendon, LoadError> {
    let element = p.element();
    let (mut joints, mut length) = (Vec::new(), 0.0);
    for part in element.all("joint") {
        let (name, weight) = (part.required("joint")?, part.required("coef")?.float()?);
        joints.push((index.one_dof(name)?, weight));
        let (_, JointSpec { spring_reference, .. }) = index.joint(name)?;
        length += weight * spring_reference;
    }
    if joints.is_empty() {
        return Err(element.missing("a <joint> in the tendon"));
    }
    let mut tendon = Tendon::new(element.text("name").unwrap_or_default(), joints);
    tendon.range = limits(p, "limited", "range", autolimits)?;
    tendon.stiffness = linear_coefficient(p, "stiffness", warnings)?;
    tendon.damping = linear_coefficient(p, "damping", warnings)?;
    tendon.dry_friction = p.float_or("frictionloss", 0.0)?;
    tendon.rest = match p.attribute("springlength") {
        Some(rest) => {
            let numbers = rest.floats(1..=2)?;
            [numbers[0], numbers[numbers.len() - 1]]
        }
        None => [-1.0; 2],
    };
    // −1 stands for the length at which the springs of the joints are at rest
    if tendon.rest == [-1.0; 2] {
        tendon.rest = [length; 2];
    }
    Ok(tendon)
}
