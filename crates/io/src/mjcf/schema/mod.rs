//! What MJCF may contain, and what becomes of it: the one list that the reader, its remarks and the documentation share.

mod actuator;
mod body;
mod check;
mod parts;
mod sensor;
mod settings;
mod table;

pub(super) use check::{Idle, check};
pub use table::schema_table;

use Class::Read;

/// What becomes of an element or attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// It is in the model.
    Read,
    /// It describes MuJoCo's solver or how soft a constraint is.
    Softness,
    /// It concerns pictures only.
    Picture,
    /// It is kept for other programs, or spoils measurements.
    Record,
    /// It would change the motion and is not in the model: what follows from that.
    Unsupported(&'static str),
    /// Unsupported, unless it has this value.
    Unless(&'static str, &'static str),
}

/// Attributes, separated by blanks, that share their fate.
struct Group(Class, &'static str);

/// An element: its attributes and what may stand in it.
struct Spec {
    name: &'static str,
    class: Class,
    attributes: &'static [Group],
    children: &'static [&'static Spec],
}

impl Spec {
    /// An element that is not looked into.
    const fn unread(name: &'static str, class: Class) -> Spec {
        Spec { name, class, attributes: &[], children: &[] }
    }

    fn attribute(&self, name: &str) -> Option<Class> {
        let found = self.attributes.iter().find(|Group(_, names)| names.split_whitespace().any(|n| n == name));
        found.map(|Group(class, _)| *class)
    }

    fn child(&self, name: &str) -> Option<&'static Spec> {
        self.children.iter().find(|c| c.name == name).copied()
    }
}

static DEFAULT: Spec = Spec {
    name: "default",
    class: Read,
    attributes: &[Group(Read, "class")],
    children: &[
        &DEFAULT,
        &parts::ASSET_MESH,
        &parts::ASSET_TEXTURE,
        &parts::ASSET_MATERIAL,
        &body::JOINT,
        &body::GEOM,
        &body::SITE,
        &body::CAMERA,
        &body::LIGHT,
        &parts::CONTACT_PAIR,
        &parts::DEFAULT_EQUALITY,
        &parts::DEFAULT_TENDON,
        &actuator::ACTUATOR_GENERAL,
        &actuator::ACTUATOR_MOTOR,
        &actuator::ACTUATOR_POSITION,
        &actuator::ACTUATOR_VELOCITY,
        &actuator::ACTUATOR_INTVELOCITY,
        &actuator::ACTUATOR_ORIENTATION,
        &actuator::ACTUATOR_PID,
        &actuator::ACTUATOR_DAMPER,
        &actuator::ACTUATOR_CYLINDER,
        &actuator::ACTUATOR_MUSCLE,
        &actuator::ACTUATOR_ADHESION,
        &actuator::ACTUATOR_DCMOTOR,
    ],
};

static ROOT: Spec = Spec {
    name: "mujoco",
    class: Read,
    attributes: &[Group(Read, "model")],
    children: &[
        &settings::COMPILER,
        &settings::OPTION,
        &settings::SIZE,
        &settings::STATISTIC,
        &settings::VISUAL,
        &DEFAULT,
        &settings::EXTENSION,
        &settings::CUSTOM,
        &parts::ASSET,
        &body::WORLDBODY,
        &parts::DEFORMABLE,
        &parts::CONTACT,
        &parts::TENDON,
        &parts::EQUALITY,
        &actuator::ACTUATOR,
        &sensor::SENSOR,
        &settings::KEYFRAME,
    ],
};
