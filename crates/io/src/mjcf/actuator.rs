//! `<actuator>`: motors and servos on joints. The shortcuts are all written in terms of `<general>`.

use super::defaults::{ClassId, Defaults, overlay};
use super::joint::limits;
use crate::attribute::Attributes;
use crate::error::LoadError;
use crate::warning::Warnings;
use crate::xml::Element;
use slipstick_core::{Actuator, JointId, JointSpec, Transmission};
use std::collections::HashMap;

/// All kinds share one set of defaults: a class that says something about motors says it about servos too.
const KINDS: [&str; 12] = [
    "general",
    "motor",
    "position",
    "velocity",
    "intvelocity",
    "damper",
    "cylinder",
    "muscle",
    "adhesion",
    "orientation",
    "pid",
    "dcmotor",
];
/// Ways to act on something else than a joint.
const OTHER_TARGETS: [&str; 5] = ["tendon", "site", "body", "slidersite", "cranksite"];
/// Further attributes that change the force.
const UNKNOWN_EFFECTS: [&str; 4] = ["armature", "damping", "delay", "nsample"];

/// A force law while layers of defaults are laid over each other.
#[derive(Debug, Clone, PartialEq)]
struct Law {
    /// The last shortcut that wrote it; `general` for none.
    kind: &'static str,
    gain: f64,
    bias: [f64; 3],
    has_bias: bool,
    gear: [f64; 6],
    /// Share of the joint's range that the control covers.
    inherit_range: f64,
    /// Why the model cannot have this actuator.
    obstacle: Option<String>,
    /// The control passes a filter first.
    filtered: bool,
}

/// What the actuators of a file act on.
pub(super) struct Joints<'a> {
    pub by_name: HashMap<&'a str, (JointId, &'a JointSpec)>,
}

/// Reads all actuators in order; `None` for those that the model cannot have.
pub(super) fn read<'a>(
    root: Element<'a>,
    defaults: &Defaults<'a>,
    joints: &Joints,
    autolimits: bool,
    warnings: &mut Warnings,
) -> Result<Vec<Option<Actuator>>, LoadError> {
    let elements = root.all("actuator").flat_map(|section| section.children());
    elements.map(|e| one(e, defaults, joints, autolimits, warnings)).collect()
}

fn one<'a>(
    element: Element<'a>,
    defaults: &Defaults<'a>,
    joints: &Joints,
    autolimits: bool,
    warnings: &mut Warnings,
) -> Result<Option<Actuator>, LoadError> {
    let skip = "the actuator is left out, with its entry of ctrl";
    if !KINDS.contains(&element.name()) {
        warnings.add(element, format!("this kind of actuator is not known: {skip}"));
        return Ok(None);
    }
    if let Some(target) = OTHER_TARGETS.iter().find(|t| element.text(t).is_some()) {
        warnings.add(element, format!("acting on a {target} is not known: {skip}"));
        return Ok(None);
    }
    let joint = element.attribute("joint").or_else(|| element.attribute("jointinparent"));
    let joint = joint.ok_or_else(|| element.missing("attribute 'joint'"))?;
    let target = joints.by_name.get(joint.value);
    let (id, spec) = *target.ok_or_else(|| element.unknown("joint", joint.value))?;
    let p = defaults.complete(element, &KINDS, ClassId::MAIN)?;
    let mut law = Law::default();
    let mut ctrl_range = limits(&p, "ctrllimited", "ctrlrange", autolimits)?;
    for layer in p.layers() {
        law.apply(layer)?;
    }
    if let Some(obstacle) = &law.obstacle {
        warnings.add(element, format!("{obstacle}: {skip}"));
        return Ok(None);
    }
    if law.filtered {
        warnings.add(element, "the filter between control and force is left out: control acts at once");
    }
    if law.kind == "position" && law.bias[2] > 0.0 {
        warnings.add(element, "dampratio is not known: the servo has no damping of its own");
        law.bias[2] = 0.0;
    }
    if let Some(name) = UNKNOWN_EFFECTS.iter().find(|n| p.attribute(n).is_some_and(|a| a.value.trim() != "0")) {
        warnings.add_once(element, unknown_effect(name));
    }
    if law.inherit_range > 0.0 {
        ctrl_range = Some(inherited(element, spec, law.inherit_range)?);
    }
    Ok(Some(Actuator {
        name: element.text("name").unwrap_or_default().into(),
        transmission: Transmission::Joint(id),
        gear: law.gear,
        gain: law.gain,
        bias: if law.has_bias { law.bias } else { [0.0; 3] },
        ctrl_range,
        force_range: limits(&p, "forcelimited", "forcerange", autolimits)?,
    }))
}

fn unknown_effect(name: &str) -> &'static str {
    match name {
        "armature" => "armature of an actuator is not applied: give it to the joint",
        "damping" => "damping of an actuator is not applied: give it to the joint",
        _ => "delay of an actuator is not applied: control acts at once",
    }
}

fn inherited(element: Element, joint: &JointSpec, share: f64) -> Result<[f64; 2], LoadError> {
    let range = joint.range.ok_or_else(|| {
        let got = format!("joint '{}' without a range", joint.name);
        element.structure("a joint with a range, as inheritrange asks", got)
    })?;
    let (middle, half) = (0.5 * (range[0] + range[1]), 0.5 * share * (range[1] - range[0]));
    Ok([middle - half, middle + half])
}

impl Default for Law {
    fn default() -> Law {
        Law {
            kind: "general",
            gain: 1.0,
            bias: [0.0; 3],
            has_bias: false,
            gear: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            inherit_range: 0.0,
            obstacle: None,
            filtered: false,
        }
    }
}

impl Law {
    /// Lays an element over what outer default classes have said.
    fn apply(&mut self, e: Element) -> Result<(), LoadError> {
        let kind = KINDS.into_iter().find(|k| *k == e.name()).unwrap_or("general");
        if let Some(gear) = e.attribute("gear") {
            overlay(gear, &mut self.gear)?;
        }
        // a shortcut starts anew if another one has written the law
        if kind != "general" && kind != self.kind && self.kind != "general" {
            *self = Law { gear: self.gear, ..Law::default() };
        }
        if kind != "general" {
            self.kind = kind;
            self.obstacle = None;
        }
        match kind {
            "general" => self.general(e)?,
            "motor" => *self = Law { kind, gear: self.gear, ..Law::default() },
            "position" => self.position(e)?,
            "velocity" => {
                self.gain = e.float_or("kv", self.gain)?;
                self.bias = [0.0, 0.0, -self.gain];
                self.has_bias = true;
            }
            _ => self.obstacle = Some(format!("<{kind}> is not known")),
        }
        if e.text("ctrlrange").is_some() {
            self.inherit_range = 0.0;
        }
        if kind == "position" || kind == "general" {
            self.inherit_range = e.float_or("inheritrange", self.inherit_range)?;
        }
        Ok(())
    }

    /// force = kp (ctrl − length) − kv · velocity
    fn position(&mut self, e: Element) -> Result<(), LoadError> {
        self.gain = e.float_or("kp", self.gain)?;
        let damping = match (e.float("kv")?, e.float("dampratio")?) {
            (Some(_), Some(_)) => return Err(e.structure("one of kv and dampratio", "both")),
            (Some(kv), None) if kv < 0.0 => return Err(e.required("kv")?.wrong("zero or a positive number")),
            (Some(kv), None) => -kv,
            (None, Some(ratio)) => ratio, // positive here, as MuJoCo keeps it until it knows the inertia
            (None, None) => self.bias[2],
        };
        self.bias = [0.0, -self.gain, damping];
        self.has_bias = true;
        if let Some(time) = e.float("timeconst")? {
            self.filtered = time > 0.0;
        }
        Ok(())
    }

    fn general(&mut self, e: Element) -> Result<(), LoadError> {
        if let Some(gain) = e.attribute("gainprm") {
            self.gain = gain.floats(1..=usize::MAX)?[0];
        }
        if let Some(bias) = e.attribute("biasprm") {
            let numbers = bias.floats(1..=usize::MAX)?;
            let n = numbers.len().min(3);
            self.bias[..n].copy_from_slice(&numbers[..n]);
        }
        let unknown = |what: &str, value: &str| Some(format!("{what} '{}' is not known", crate::xml::shown(value)));
        match e.text("biastype") {
            None => {}
            Some("none") => self.has_bias = false,
            Some("affine") => self.has_bias = true,
            Some(other) => self.obstacle = unknown("biastype", other),
        }
        match e.text("gaintype") {
            None | Some("fixed") => {}
            Some(other) => self.obstacle = unknown("gaintype", other),
        }
        match e.text("dyntype") {
            None => {}
            Some("none") => self.filtered = false,
            Some("filter" | "filterexact") => self.filtered = true,
            Some(other) => self.obstacle = unknown("dyntype", other),
        }
        Ok(())
    }
}
