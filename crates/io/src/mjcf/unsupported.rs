//! Parts of MJCF that change the motion and that the model does not represent: each one is a warning.

use crate::attribute::Attributes;
use crate::error::LoadError;
use crate::warning::Warnings;
use crate::xml::Element;

/// Sections that say nothing about the motion, or that are read elsewhere.
const KNOWN_SECTIONS: [&str; 13] = [
    "compiler",
    "option",
    "size",
    "statistic",
    "visual",
    "default",
    "custom",
    "asset",
    "worldbody",
    "contact",
    "actuator",
    "sensor",
    "keyframe",
];
/// Parts of the simulation that a file can switch off.
const SWITCHES: [&str; 9] =
    ["constraint", "equality", "frictionloss", "limit", "contact", "spring", "damper", "actuation", "clampctrl"];

pub(super) fn warn(root: Element, warnings: &mut Warnings) -> Result<(), LoadError> {
    for section in root.children() {
        match section.name() {
            "option" => option(section, warnings)?,
            "contact" => {
                for pair in section.all("pair") {
                    warnings.add_once(pair, "explicit contact pairs are not known: only the masks of geoms decide");
                }
            }
            "equality" => {
                for constraint in section.children() {
                    warnings.add(constraint, "equality constraints are not known: the parts move independently");
                }
            }
            "tendon" => section.children().filter(|t| acts(*t)).for_each(|tendon| {
                warnings.add(tendon, "tendons are not known: its limit, spring, damper or friction does not act");
            }),
            "deformable" => {
                for part in section.all("flex") {
                    warnings.add(part, "flexible bodies are not known: it is missing");
                }
            }
            "extension" => warnings.add(section, "plugins are not known: they do not act"),
            name if KNOWN_SECTIONS.contains(&name) => {}
            name => warnings.add(section, format!("<{}> is not known and was not read", crate::xml::shown(name))),
        }
    }
    Ok(())
}

fn option(option: Element, warnings: &mut Warnings) -> Result<(), LoadError> {
    if option.float_or("density", 0.0)? != 0.0 || option.float_or("viscosity", 0.0)? != 0.0 {
        warnings.add(option, "forces of a fluid are not known: bodies move as in a vacuum");
    }
    for flag in option.all("flag") {
        let off = SWITCHES.iter().filter(|s| flag.text(s) == Some("disable"));
        off.for_each(|switch| warnings.add(flag, format!("{switch}=\"disable\" is not obeyed")));
        if flag.text("override") == Some("enable") {
            warnings.add(flag, "contact override is not obeyed");
        }
    }
    Ok(())
}

/// Whether a tendon does more than measure a length.
fn acts(tendon: Element) -> bool {
    let numbers = ["stiffness", "damping", "frictionloss", "armature"];
    let nonzero = |name: &&str| {
        let value = tendon.text(name).unwrap_or("0");
        value.split_whitespace().any(|w| w.parse() != Ok(0.0))
    };
    let limited = tendon.text("limited") != Some("false") && tendon.text("range").is_some();
    limited || numbers.iter().any(nonzero)
}
