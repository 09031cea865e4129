//! `<option><flag>`: kinds of forces that a file switches off. They are left out of the model, which has no switches.

use crate::attribute::Attributes;
use crate::error::LoadError;
use crate::pairs::mixed;
use crate::xml::Element;
use slipstick_core::model::{Actuator, Geom, GeomId, JointSpec, PairRule, Tendon};
use slipstick_core::{Model, ModelBuilder};

/// The flags whose value "disable" the reader obeys, `gravity` aside.
const FLAGS: [&str; 11] = [
    "constraint",
    "equality",
    "frictionloss",
    "limit",
    "contact",
    "spring",
    "damper",
    "passive",
    "clampctrl",
    "actuation",
    "filterparent",
];

/// What a file switches off.
#[derive(Debug, Default)]
pub(super) struct Disabled {
    names: Vec<&'static str>,
}

impl Disabled {
    /// Reads all `<flag>` elements; later ones override.
    pub fn read(root: Element) -> Result<Disabled, LoadError> {
        let words = [("disable", true), ("enable", false)];
        let mut disabled = Disabled::default();
        for flag in root.all("option").flat_map(|o| o.all("flag")) {
            for name in FLAGS {
                let Some(value) = flag.attribute(name) else { continue };
                disabled.names.retain(|n| *n != name);
                disabled.names.extend(value.one_of(&words)?.then_some(name));
            }
        }
        Ok(disabled)
    }

    /// A sentence about what is off; `None` if nothing is.
    pub fn note(&self) -> Option<String> {
        (!self.names.is_empty()).then(|| format!("switched off by <flag>, and left out: {}", self.names.join(", ")))
    }

    fn any(&self, names: &[&str]) -> bool {
        self.names.iter().any(|n| names.contains(n))
    }

    pub fn equalities(&self) -> bool {
        self.any(&["constraint", "equality"])
    }

    fn limits(&self) -> bool {
        self.any(&["constraint", "limit"])
    }

    fn friction(&self) -> bool {
        self.any(&["constraint", "frictionloss"])
    }

    fn contacts(&self) -> bool {
        self.any(&["constraint", "contact"])
    }

    pub fn springs(&self) -> bool {
        self.any(&["passive", "spring"])
    }

    pub fn dampers(&self) -> bool {
        self.any(&["passive", "damper"])
    }

    /// The share of the weight that is taken off.
    pub fn gravity_compensation(&self, share: f64) -> f64 {
        if self.any(&["passive"]) { 0.0 } else { share }
    }

    pub fn joint(&self, mut joint: JointSpec) -> JointSpec {
        joint.range = joint.range.filter(|_| !self.limits());
        clear(&mut joint.dry_friction, self.friction());
        clear(&mut joint.stiffness, self.springs());
        clear(&mut joint.damping, self.dampers());
        joint
    }

    pub fn tendon(&self, mut tendon: Tendon) -> Tendon {
        tendon.range = tendon.range.filter(|_| !self.limits());
        clear(&mut tendon.dry_friction, self.friction());
        clear(&mut tendon.stiffness, self.springs());
        clear(&mut tendon.damping, self.dampers());
        tendon
    }

    /// An actuator without force keeps its place among the controls.
    pub fn actuator(&self, mut actuator: Actuator) -> Actuator {
        actuator.ctrl_range = actuator.ctrl_range.filter(|_| !self.any(&["clampctrl"]));
        if self.any(&["actuation"]) {
            (actuator.gain, actuator.bias, actuator.force_range) = (0.0, [0.0; 3], None);
            actuator.gain_slopes = [0.0; 2];
            actuator.enabled &= actuator.activation.is_none();
        }
        actuator
    }

    /// Takes out all pairs, or adds those of bodies and their parents. `model` is what has been built so far.
    pub fn pairs(
        &self,
        builder: &mut ModelBuilder,
        model: impl FnOnce(&ModelBuilder) -> Result<Model, LoadError>,
    ) -> Result<(), LoadError> {
        if self.contacts() {
            builder.set_pair_rule(PairRule::List(Vec::new()));
        } else if self.any(&["filterparent"]) {
            let model = model(builder)?;
            for [a, b] in family(&model) {
                let [first, second] = [a, b].map(|g| &model.geoms()[g.0].surface);
                builder.add_pair(a, b, mixed(first, second));
            }
        }
        Ok(())
    }
}

fn clear(number: &mut f64, off: bool) {
    if off {
        *number = 0.0;
    }
}

/// Geoms of a body and its parent that masks and exclusions let touch, without those that the file pairs itself.
fn family(model: &Model) -> Vec<[GeomId; 2]> {
    let parent = |g: &Geom| model.bodies()[g.body.0].parent;
    let moves = |g: &Geom| g.body.0 > 0;
    let touch = |a: &Geom, b: &Geom| {
        let (s, t) = (&a.surface, &b.surface);
        let masks = s.contype & t.conaffinity != 0 || t.contype & s.conaffinity != 0;
        let excluded = model.excludes().iter().any(|e| *e == [a.link, b.link] || *e == [b.link, a.link]);
        let related = a.body != b.body && (parent(a) == b.body || parent(b) == a.body);
        related && moves(a) && moves(b) && masks && !excluded
    };
    let numbered = || model.geoms().iter().enumerate().map(|(i, g)| (GeomId(i), g));
    let pairs = numbered().flat_map(|(j, b)| numbered().take(j.0).map(move |(i, a)| ([i, j], a, b)));
    let pairs = pairs.filter(|(ids, a, b)| touch(a, b) && model.pairs().iter().all(|p| p.geoms != *ids));
    pairs.map(|(ids, ..)| ids).collect()
}
