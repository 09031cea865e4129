//! `<actuator>`: motors and servos on joints, fixed tendons, sites and slider-cranks.

mod dynamics;
mod effort;
mod law;
mod reflected;
mod target;

use super::defaults::{ClassId, Defaults, Properties};
use super::index::Index;
use super::joint::limits;
use super::tendon::Tendons;
use crate::attribute::Attributes;
use crate::error::LoadError;
use crate::warning::Warnings;
use crate::xml::Element;
use dynamics::{Kind, activations_of_dropped, disabled_groups};
use effort::limit_by_tendons;
use law::{KINDS, Law};
use slipstick_core::model::Actuator;
use target::{inherited, target};

pub(super) use reflected::reflect;

/// What becomes of an actuator that the model cannot have.
const SKIP: &str = "the actuator was dropped, and ctrl is one entry shorter than in MuJoCo";
/// Kinds that the model can have.
const READ: [&str; 7] = ["general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder"];

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
    /// Activations that it has in MuJoCo.
    pub activations: usize,
}

/// Reads all actuators in order. A positive bias per velocity of a servo is a ratio, see [`super::tune`].
pub(super) fn read<'a>(root: Element<'a>, tools: &mut Tools<'_, 'a>) -> Result<Vec<Read>, LoadError> {
    let elements = root.all("actuator").flat_map(|section| section.children());
    let disabled = disabled_groups(root)?;
    let mut all = elements.map(|e| numbered(e, &disabled, tools)).collect::<Result<Vec<_>, LoadError>>()?;
    limit_by_tendons(&mut all, root, tools.tendons, tools.warnings);
    Ok(all)
}

fn numbered<'a>(element: Element<'a>, disabled: &[i32], tools: &mut Tools<'_, 'a>) -> Result<Read, LoadError> {
    let (name, mut actuator) = (element.text("name").unwrap_or_default().into(), one(element, tools)?);
    let p = tools.defaults.complete(element, &KINDS, ClassId::MAIN)?;
    let activations = match &mut actuator {
        Some(a) => {
            a.enabled = !disabled.contains(&p.integer("group", 0)?);
            usize::from(a.activation.is_some())
        }
        None => activations_of_dropped(element, &p)?,
    };
    Ok(Read { name, actuator, activations })
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
    let inherited = match law.inherit_range {
        share if share > 0.0 => Some(inherited(element, target_range, share)?),
        _ => None,
    };
    let (of_ctrl, of_act) = if law.filter.kind == Kind::Integrator { (None, inherited) } else { (inherited, None) };
    let ctrl_range = match of_ctrl {
        None if law.kind == "damper" => Some(range_of_damper(&p)?),
        None => limits(&p, "ctrllimited", "ctrlrange", tools.autolimits)?,
        range => range,
    };
    Ok(Some(Actuator {
        name: element.text("name").unwrap_or_default().into(),
        transmission,
        gear: law.gear,
        gain: law.gain[0],
        gain_slopes: if law.has_affine_gain { [law.gain[1], law.gain[2]] } else { [0.0; 2] },
        bias: if law.has_bias { law.bias } else { [0.0; 3] },
        ctrl_range,
        force_range: force_range(&p, tools.autolimits)?,
        activation: law.filter.activation(element, &p, of_act, tools.autolimits)?,
        enabled: true,
    }))
}

/// A damper has a range of controls, and none that would drive.
fn range_of_damper(p: &Properties) -> Result<[f64; 2], LoadError> {
    let attribute = p.required("ctrlrange")?;
    let [low, high] = attribute.array()?;
    if low < 0.0 || high <= low {
        return Err(attribute.wrong("two ascending numbers that are not negative"));
    }
    Ok([low, high])
}

fn force_range(p: &Properties, autolimits: bool) -> Result<Option<[f64; 2]>, LoadError> {
    limits(p, "forcelimited", "forcerange", autolimits)
}
