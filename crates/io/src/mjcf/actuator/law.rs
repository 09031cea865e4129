//! How control becomes force, while layers of defaults are laid over each other. The shortcuts are all written in terms of
//! `<general>`.

use super::dynamics::{Filter, Kind};
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
    /// Gain, and its changes per length and per velocity.
    pub gain: [f64; 3],
    pub has_affine_gain: bool,
    pub bias: [f64; 3],
    pub has_bias: bool,
    pub gear: [f64; 6],
    /// Share of the joint's range that the control covers or, of an integrator, the activation.
    pub inherit_range: f64,
    /// Why the model cannot have this actuator.
    pub obstacle: Option<String>,
    /// What stands between control and force.
    pub filter: Filter,
}

impl Default for Law {
    fn default() -> Law {
        Law {
            kind: "general",
            gain: [1.0, 0.0, 0.0],
            has_affine_gain: false,
            bias: [0.0; 3],
            has_bias: false,
            gear: [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            inherit_range: 0.0,
            obstacle: None,
            filter: Filter::default(),
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
            "intvelocity" => {
                self.position(e)?;
                self.filter.kind = Kind::Integrator;
            }
            "velocity" => {
                self.gain[0] = e.float_or("kv", self.gain[0])?;
                self.bias = [0.0, 0.0, -self.gain[0]];
                (self.has_bias, self.has_affine_gain, self.filter.kind) = (true, false, Kind::None);
            }
            "damper" => self.damper(e)?,
            "cylinder" => self.cylinder(e)?,
            _ => self.obstacle = Some(format!("<{kind}> is not supported")),
        }
        let own = if self.filter.kind == Kind::Integrator { "actrange" } else { "ctrlrange" };
        if e.text(own).is_some() {
            self.inherit_range = 0.0;
        }
        if ["position", "intvelocity", "general"].contains(&kind) {
            self.inherit_range = e.float_or("inheritrange", self.inherit_range)?;
        }
        Ok(())
    }

    /// force = kp (ctrl − length) − kv · velocity
    fn position(&mut self, e: Element) -> Result<(), LoadError> {
        self.gain[0] = e.float_or("kp", self.gain[0])?;
        let damping = match (e.float("kv")?, e.float("dampratio")?) {
            (Some(_), Some(_)) => return Err(e.structure("one of kv and dampratio", "both")),
            (Some(kv), None) if kv < 0.0 => return Err(e.required("kv")?.wrong("zero or a positive number")),
            (Some(kv), None) => -kv,
            (None, Some(ratio)) => ratio, // positive here, as MuJoCo keeps it until it knows the inertia
            (None, None) => self.bias[2],
        };
        self.bias = [0.0, -self.gain[0], damping];
        (self.has_bias, self.has_affine_gain) = (true, false);
        self.filter.servo(e)
    }

    /// force = −kv · velocity · ctrl
    fn damper(&mut self, e: Element) -> Result<(), LoadError> {
        let inherited = if self.has_affine_gain { -self.gain[2] } else { 0.0 };
        let kv = e.float_or("kv", inherited)?;
        if kv < 0.0 {
            return Err(e.required("kv")?.wrong("zero or a positive number"));
        }
        self.gain = [0.0, 0.0, -kv];
        (self.has_affine_gain, self.has_bias, self.filter.kind) = (true, false, Kind::None);
        Ok(())
    }

    /// force = area · pressure + bias, the pressure a filtered control.
    fn cylinder(&mut self, e: Element) -> Result<(), LoadError> {
        self.filter = Filter { kind: Kind::Filter, time: e.float_or("timeconst", self.filter.time)? };
        self.gain[0] = e.float_or("area", self.gain[0])?;
        if let Some(diameter) = e.float("diameter")?.filter(|d| *d >= 0.0) {
            self.gain[0] = core::f64::consts::FRAC_PI_4 * diameter * diameter;
        }
        self.bias = e.array("bias")?.unwrap_or(self.bias);
        (self.has_bias, self.has_affine_gain) = (true, false);
        Ok(())
    }

    fn general(&mut self, e: Element) -> Result<(), LoadError> {
        if let Some(gain) = e.attribute("gainprm") {
            lay(&gain.floats(1..=usize::MAX)?, &mut self.gain);
        }
        if let Some(bias) = e.attribute("biasprm") {
            lay(&bias.floats(1..=usize::MAX)?, &mut self.bias);
        }
        let unknown = |what: &str, value: &str| Some(format!("{what} '{}' is not supported", crate::xml::shown(value)));
        match e.text("biastype") {
            None => {}
            Some("none") => self.has_bias = false,
            Some("affine") => self.has_bias = true,
            Some(other) => self.obstacle = unknown("biastype", other),
        }
        match e.text("gaintype") {
            None => {}
            Some("fixed") => self.has_affine_gain = false,
            Some("affine") => self.has_affine_gain = true,
            Some(other) => self.obstacle = unknown("gaintype", other),
        }
        if let Some(other) = self.filter.general(e)? {
            self.obstacle = unknown("dyntype", other);
        }
        Ok(())
    }
}

/// Lays the first numbers over others: MuJoCo has room for more.
fn lay(numbers: &[f64], out: &mut [f64; 3]) {
    out.iter_mut().zip(numbers).for_each(|(out, x)| *out = *x);
}
