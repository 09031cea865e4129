//! What an actuator acts on.

use super::{SKIP, Tools};
use crate::attribute::{Attribute, Attributes};
use crate::error::LoadError;
use crate::mjcf::defaults::Properties;
use crate::xml::Element;
use slipstick_core::model::Transmission;

/// Attributes that name a target; exactly one is given.
const TARGETS: [&str; 6] = ["joint", "jointinparent", "tendon", "site", "cranksite", "body"];
/// Attributes that name the other end of a target, and the attribute that they go with.
const OTHER_ENDS: [(&str, &str); 2] = [("refsite", "site"), ("slidersite", "cranksite")];

/// What an actuator pulls on, and the range of that.
type Target = (Transmission, Option<[f64; 2]>);

pub(super) fn target(p: &Properties, tools: &mut Tools) -> Result<Option<Target>, LoadError> {
    let element = p.element();
    let name = only_target(element)?;
    for (end, with) in OTHER_ENDS.into_iter().filter(|(_, with)| name.name != *with) {
        if element.attribute(end).is_some() {
            return Err(element.missing(&format!("attribute '{with}'")).with_hint(format!("{end} goes with {with}")));
        }
    }
    Ok(Some(match name.name {
        "site" => (site(element, name, tools)?, None),
        "cranksite" => (crank(p, name, tools)?, None),
        "tendon" => {
            let Some(number) = tools.tendons.find(name)? else {
                tools.warnings.add(element, format!("spatial tendon transmission is not supported: {SKIP}"));
                return Ok(None);
            };
            (Transmission::Tendon(number), tools.tendons.get(number).range)
        }
        "body" => {
            tools.warnings.add(element, format!("body transmission is not supported: {SKIP}"));
            return Ok(None);
        }
        kind => {
            let (id, spec) = tools.index.joint(name)?;
            let in_parent = kind == "jointinparent";
            (if in_parent { Transmission::JointInParent(id) } else { Transmission::Joint(id) }, spec.range)
        }
    }))
}

fn only_target(element: Element<'_>) -> Result<Attribute<'_>, LoadError> {
    let given: Vec<Attribute> = TARGETS.into_iter().filter_map(|n| element.attribute(n)).collect();
    let [name] = given[..] else {
        return Err(match given.len() {
            0 => element.missing("attribute 'joint'").with_hint("a motor acts on a joint, a tendon or a site"),
            _ => element.structure("one transmission target", "several"),
        });
    };
    Ok(name)
}

fn site(element: Element, name: Attribute, tools: &Tools) -> Result<Transmission, LoadError> {
    let reference = element.attribute("refsite").map(|r| tools.index.site(r)).transpose()?;
    Ok(Transmission::Site { site: tools.index.site(name)?.frame, reference: reference.map(|r| r.frame) })
}

fn crank(p: &Properties, name: Attribute, tools: &Tools) -> Result<Transmission, LoadError> {
    let slider = tools.index.site(p.element().required("slidersite")?)?.frame;
    let length = p.required("cranklength")?;
    let rod = length.float()?;
    if rod <= 0.0 {
        return Err(length.wrong("a positive number"));
    }
    Ok(Transmission::SliderCrank { crank: tools.index.site(name)?.frame, slider, rod })
}

/// The range of the control of a servo that covers a share of its target's range.
pub(super) fn inherited(element: Element, range: Option<[f64; 2]>, share: f64) -> Result<[f64; 2], LoadError> {
    let [low, high] = range.ok_or_else(|| {
        let target = TARGETS.into_iter().find_map(|n| element.attribute(n));
        let (kind, name) = target.map_or(("joint", ""), |t| (t.name, t.value));
        let got = format!("{kind} '{}' without a range", crate::xml::shown(name));
        element.structure("a joint or tendon with a range, as inheritrange asks", got)
    })?;
    let (middle, half) = (0.5 * (low + high), 0.5 * share * (high - low));
    Ok([middle - half, middle + half])
}
