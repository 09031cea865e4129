//! What a URDF may contain: the reader's remarks about unknown elements and the table in the documentation go by this list.

use crate::warning::Warnings;
use crate::xml::Element;
use slipstick_core::ModelBuilder;
use std::collections::HashSet;
use std::fmt::Write;

/// An element: attributes and children that are read, children that make no difference to the motion, and children that
/// would, with what follows from their absence.
struct Entry {
    name: &'static str,
    attributes: &'static [&'static str],
    children: &'static [&'static str],
    ignored: &'static [&'static str],
    warned: &'static [(&'static str, &'static str)],
}

const fn leaf(name: &'static str, attributes: &'static [&'static str]) -> Entry {
    Entry { name, attributes, children: &[], ignored: &[], warned: &[] }
}

const SCHEMA: [Entry; 20] = [
    Entry {
        name: "robot",
        attributes: &["name"],
        children: &["link", "joint", "mujoco"],
        ignored: &["material", "transmission", "gazebo", "sensor", "verbose", "version"],
        warned: &[("loop_joint", "closed loops are not supported: the loop stays open")],
    },
    Entry {
        name: "link",
        attributes: &["name"],
        children: &["inertial", "collision"],
        ignored: &["visual", "self_collision_checking"],
        warned: &[("contact", "friction and stiffness of links are not supported: the geoms keep their own friction")],
    },
    Entry {
        name: "joint",
        attributes: &["name", "type"],
        children: &["parent", "child", "origin", "axis", "limit", "dynamics", "mimic"],
        ignored: &["calibration", "safety_controller", "hardwareInterface"],
        warned: &[],
    },
    Entry { name: "inertial", attributes: &[], children: &["origin", "mass", "inertia"], ignored: &[], warned: &[] },
    Entry {
        name: "collision",
        attributes: &["name"],
        children: &["origin", "geometry"],
        ignored: &["verbose", "material"],
        warned: &[],
    },
    leaf("geometry", &["box", "cylinder", "capsule", "sphere", "mesh"]),
    leaf("mass", &["value"]),
    leaf("inertia", &["ixx", "ixy", "ixz", "iyy", "iyz", "izz"]),
    leaf("origin", &["xyz", "rpy"]),
    leaf("parent", &["link"]),
    leaf("child", &["link"]),
    leaf("axis", &["xyz"]),
    leaf("limit", &["lower", "upper", "effort", "velocity"]),
    leaf("dynamics", &["damping", "friction"]),
    leaf("mimic", &["joint", "multiplier", "offset"]),
    leaf("box", &["size"]),
    leaf("cylinder, capsule", &["radius", "length"]),
    leaf("sphere", &["radius"]),
    leaf("mesh", &["filename", "scale"]),
    leaf("mujoco/compiler", &["meshdir", "assetdir", "strippath", "boundmass", "boundinertia", "balanceinertia"]),
];

/// One note for each kind of element that URDF does not have, one warning for each that would change the motion.
/// Elements of other namespaces are for other programs.
pub(super) fn remark(robot: Element, builder: &mut ModelBuilder, warnings: &mut Warnings) {
    let mut seen = HashSet::new();
    let mut stack = vec![robot];
    while let Some(element) = stack.pop() {
        let Some(entry) = SCHEMA[..5].iter().find(|e| e.name == element.name()) else { continue };
        for child in element.children() {
            let name = child.name();
            if let Some((_, effect)) = entry.warned.iter().find(|(n, _)| *n == name) {
                warnings.add_once(child, effect);
            } else if entry.children.contains(&name) {
                stack.push(child);
            } else if !entry.ignored.contains(&name) && !name.starts_with("other:") && seen.insert((entry.name, name)) {
                let place = child.place();
                let shown = crate::xml::shown(name);
                builder.note(format!(
                    "{}:{}: <{shown}> in <{}> is not part of URDF and was not read",
                    place.file, place.line, entry.name
                ));
            }
        }
    }
}

/// The list as a table in Markdown, for the documentation.
pub fn urdf_schema_table() -> String {
    let code = |names: &[&str]| names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(" ");
    let mut out =
        String::from("| element | read | makes no difference | not supported: a warning |\n|---|---|---|---|\n");
    for e in &SCHEMA {
        let read = [code(e.attributes), code(e.children)].join(" ");
        let warned = e.warned.iter().map(|(name, effect)| format!("`{name}`: {effect}")).collect::<Vec<_>>().join("; ");
        let _ = writeln!(out, "| {} | {} | {} | {warned} |", e.name, read.trim(), code(e.ignored));
    }
    out
}
