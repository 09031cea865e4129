//! How control becomes force, while layers of defaults are laid over each other. The shortcuts are all written in terms of
//! `<general>`.

use crate::attribute::Attributes;
use crate::error::LoadError;
use crate::mjcf::defaults::overlay;
use crate::xml::Element;

/// All kinds share one set of defaults: a class that says something about motors says it about servos too.
pub(super) const KINDS: [&str; 12] = [
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

/// A force law while layers of defaults are laid over each other.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Law {
    /// The last shortcut that wrote it; `general` for none.
    pub kind: &'static str,
    pub gain: f64,
    pub bias: [f64; 3],
    pub has_bias: bool,
    pub gear: [f64; 6],
    /// Share of the joint's range that the control covers.
    pub inherit_range: f64,
    /// Why the model cannot have this actuator.
    pub obstacle: Option<String>,
    /// The control passes a filter first.
    pub filtered: bool,
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
    pub fn apply(&mut self, e: Element) -> Result<(), LoadError> {
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
            _ => self.obstacle = Some(format!("<{kind}> is not supported")),
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
        let unknown = |what: &str, value: &str| Some(format!("{what} '{}' is not supported", crate::xml::shown(value)));
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
