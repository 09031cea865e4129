//! `<actuator>`: motors and servos on joints, fixed tendons, sites and slider-cranks.

mod effort;
mod law;
mod reflected;
mod target;

use super::defaults::{ClassId, Defaults, Properties};
use super::index::Index;
use super::joint::limits;
use super::tendon::Tendons;
use crate::error::LoadError;
use crate::warning::Warnings;
use crate::xml::Element;
use effort::limit_by_tendons;
use law::{KINDS, Law};
use slipstick_core::model::Actuator;
use target::{inherited, target};

pub(super) use reflected::reflect;

/// What becomes of an actuator that the model cannot have.
const SKIP: &str = "the actuator was dropped, and ctrl is one entry shorter than in MuJoCo";
/// Kinds that the model can have.
const READ: [&str; 4] = ["general", "motor", "position", "velocity"];

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
    let read = |e: Element<'a>| Ok(Read { name: e.text("name").unwrap_or_default().into(), actuator: one(e, tools)? });
    let mut all = elements.map(read).collect::<Result<Vec<_>, LoadError>>()?;
    limit_by_tendons(&mut all, root, tools.tendons, tools.warnings);
    Ok(all)
}

fn one<'a>(element: Element<'a>, tools: &mut Tools<'_, 'a>) -> Result<Option<Actuator>, LoadError> {
    if !READ.contains(&element.name()) {
        return Ok(None); // told about by the comparison with the list of elements
    }
    let p = tools.defaults.complete(element, &KINDS, ClassId::MAIN)?;
    let Some((transmission, target_range)) = target(&p, tools)? else { return Ok(None) };
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
