//! `<actuator>`: motors and servos on joints and fixed tendons.

mod law;

use super::defaults::{ClassId, Defaults, Properties};
use super::index::Index;
use super::joint::limits;
use super::tendon::Tendons;
use crate::attribute::{Attribute, Attributes};
use crate::error::LoadError;
use crate::warning::Warnings;
use crate::xml::Element;
use law::{KINDS, Law};
use slipstick_core::model::{Actuator, JointKind, Transmission};

/// What becomes of an actuator that the model cannot have.
const SKIP: &str = "the actuator was dropped, and ctrl is one entry shorter than in MuJoCo";
/// Kinds that the model can have.
const READ: [&str; 4] = ["general", "motor", "position", "velocity"];
/// Ways to act on something else than a joint or a fixed tendon.
const OTHER_TARGETS: [&str; 4] = ["site", "body", "slidersite", "cranksite"];

/// What is needed to read actuators.
pub(super) struct Tools<'b, 'a> {
    pub defaults: &'b Defaults<'a>,
    pub index: &'b Index<'b>,
    pub tendons: &'b Tendons,
    pub autolimits: bool,
    pub warnings: &'b mut Warnings,
}

/// An actuator of the file.
#[derive(Debug)]
pub(super) struct Read {
    pub name: String,
    /// `None`: the model cannot have it.
    pub actuator: Option<Actuator>,
}

/// Reads all actuators in order. A positive bias per velocity of a servo is a ratio, see [`super::tune`].
pub(super) fn read<'a>(root: Element<'a>, tools: &mut Tools<'_, 'a>) -> Result<Vec<Read>, LoadError> {
    let elements = root.all("actuator").flat_map(|section| section.children());
    elements.map(|e| Ok(Read { name: e.text("name").unwrap_or_default().into(), actuator: one(e, tools)? })).collect()
}

fn one<'a>(element: Element<'a>, tools: &mut Tools<'_, 'a>) -> Result<Option<Actuator>, LoadError> {
    if !READ.contains(&element.name()) {
        return Ok(None); // told about by the comparison with the list of elements
    }
    let Some((transmission, target_range)) = target(element, tools)? else { return Ok(None) };
    let p = tools.defaults.complete(element, &KINDS, ClassId::MAIN)?;
    let mut law = Law::default();
    for layer in p.layers() {
        law.apply(layer)?;
    }
    if let Some(obstacle) = &law.obstacle {
        tools.warnings.add(element, format!("{obstacle}: {SKIP}"));
        return Ok(None);
    }
    if law.filtered {
        tools.warnings.add_once(element, "the filter between control and force is not supported: control acts at once");
    }
    let ctrl_range = match law.inherit_range {
        share if share > 0.0 => Some(inherited(element, target_range, share)?),
        _ => limits(&p, "ctrllimited", "ctrlrange", tools.autolimits)?,
    };
    Ok(Some(Actuator {
        name: element.text("name").unwrap_or_default().into(),
        transmission,
        gear: law.gear,
        gain: law.gain,
        bias: if law.has_bias { law.bias } else { [0.0; 3] },
        ctrl_range,
        force_range: force_range(&p, tools.autolimits)?,
    }))
}

fn force_range(p: &Properties, autolimits: bool) -> Result<Option<[f64; 2]>, LoadError> {
    limits(p, "forcelimited", "forcerange", autolimits)
}

/// What an actuator pulls on, and the range of that.
type Target = (Transmission, Option<[f64; 2]>);

fn target(element: Element, tools: &mut Tools) -> Result<Option<Target>, LoadError> {
    if let Some(target) = OTHER_TARGETS.iter().find(|t| element.text(t).is_some()) {
        tools.warnings.add(element, format!("{target} transmission is not supported: {SKIP}"));
        return Ok(None);
    }
    let given = ["joint", "jointinparent", "tendon"].into_iter().filter_map(|n| element.attribute(n));
    let given: Vec<Attribute> = given.collect();
    let [name] = given[..] else {
        return Err(match given.len() {
            0 => element.missing("attribute 'joint'").with_hint("a motor acts on a joint or on a tendon"),
            _ => element.structure("one transmission target", "several"),
        });
    };
    if name.name == "tendon" {
        let Some(number) = tools.tendons.find(name)? else {
            tools.warnings.add(element, format!("spatial tendon transmission is not supported: {SKIP}"));
            return Ok(None);
        };
        return Ok(Some((Transmission::Tendon(number), tools.tendons.get(number).range)));
    }
    let (id, spec) = tools.index.joint(name)?;
    if name.name == "jointinparent" && matches!(spec.kind, JointKind::Spherical | JointKind::Free) {
        let effect =
            "jointinparent of a ball or free joint is not supported: the torque acts about the axes of the child";
        tools.warnings.add_once(element, effect);
    }
    Ok(Some((Transmission::Joint(id), spec.range)))
}

fn inherited(element: Element, range: Option<[f64; 2]>, share: f64) -> Result<[f64; 2], LoadError> {
    let [low, high] = range.ok_or_else(|| {
        let target = ["joint", "jointinparent", "tendon"].into_iter().find_map(|n| element.attribute(n));
        let (kind, name) = target.map_or(("joint", ""), |t| (t.name, t.value));
        let got = format!("{kind} '{}' without a range", crate::xml::shown(name));
        element.structure("a joint or tendon with a range, as inheritrange asks", got)
    })?;
    let (middle, half) = (0.5 * (low + high), 0.5 * share * (high - low));
    Ok([middle - half, middle + half])
}
