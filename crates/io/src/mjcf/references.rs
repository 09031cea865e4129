//! Which attributes name things, and which refer to them: copies of a part of the tree take along what refers to it.

use crate::xml::Element;
use std::collections::{HashMap, HashSet};

/// Names of a part of the tree, by what they stand for.
pub(super) type Names = HashMap<&'static str, HashSet<String>>;

/// Adds the names that an element and those below it give.
pub(super) fn names_below(element: Element, names: &mut Names) {
    let mut stack = vec![element];
    while let Some(e) = stack.pop() {
        if let (Some(kind), Some(name)) = (declared_in_tree(e.name()), e.text("name")) {
            names.entry(kind).or_default().insert(name.to_string());
        }
        stack.extend(e.children());
    }
}

/// What an element below a body, or in a section, is when something refers to it.
fn declared_in_tree(element: &str) -> Option<&'static str> {
    Some(match element {
        "body" => "body",
        "joint" | "freejoint" => "joint",
        "geom" => "geom",
        "site" => "site",
        "camera" => "camera",
        _ => return None,
    })
}

/// What the elements of a section are when something refers to them.
pub(super) fn declared_in_section(section: &str) -> Option<&'static str> {
    Some(match section {
        "tendon" => "tendon",
        "actuator" => "actuator",
        _ => return None,
    })
}

/// What an attribute of a section refers to; `kind` is the type that the element gives beside a plain name.
pub(super) fn referred<'k>(attribute: &str, kind: impl Fn(&str) -> Option<&'k str>) -> Option<&'k str> {
    Some(match attribute {
        "joint" | "joint1" | "joint2" | "jointinparent" => "joint",
        "body" | "body1" | "body2" | "subtree1" | "subtree2" => "body",
        "geom" | "geom1" | "geom2" => "geom",
        "site" | "site1" | "site2" | "refsite" | "slidersite" | "cranksite" | "sidesite" => "site",
        "tendon" | "tendon1" | "tendon2" => "tendon",
        "actuator" => "actuator",
        "camera" => "camera",
        "objname" => plain(kind("objtype")?),
        "refname" => plain(kind("reftype")?),
        _ => return None,
    })
}

fn plain(kind: &str) -> &str {
    if kind == "xbody" { "body" } else { kind }
}
