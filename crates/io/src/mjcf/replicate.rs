//! `<replicate>`: copies of a part of the tree, each moved by one more step, with numbered names. What refers to the part
//! from outside the tree (actuators, sensors, …) is copied with it.

use super::compiler::Compilers;
use super::references::{Names, declared_in_section, names_below, referred};
use crate::attribute::Attributes;
use crate::error::LoadError;
use crate::orientation::euler;
use crate::xml::{Document, Element};
use slipstick_core::spatial::{Pose, Quat, Vec3};

/// Elements that a file may grow to.
const MAX_ELEMENTS: usize = 1_000_000;
/// Sections that refer to the tree, so that those come first that others refer to.
const SECTIONS: [&str; 5] = ["contact", "tendon", "equality", "actuator", "sensor"];

/// Replaces every `<replicate>` below `root` by frames, inner ones first.
pub(super) fn expand(document: &mut Document, root: usize, compilers: &Compilers) -> Result<(), LoadError> {
    for id in innermost_first(document, root) {
        one(document, root, id, compilers)?;
    }
    Ok(())
}

fn innermost_first(document: &Document, root: usize) -> Vec<usize> {
    let (mut order, mut stack) = (Vec::new(), vec![(document.element(root), false)]);
    while let Some((element, done)) = stack.pop() {
        if done {
            order.push(element.id());
            continue;
        }
        if element.name() == "replicate" {
            stack.push((element, true));
        }
        stack.extend(element.children().rev().map(|c| (c, false)));
    }
    order
}

fn one(document: &mut Document, root: usize, id: usize, compilers: &Compilers) -> Result<(), LoadError> {
    let element = document.element(id);
    let count = element.required("count")?;
    let count: usize = match element.integer("count", 0)? {
        n if n > 0 => n as usize,
        _ => return Err(count.wrong("a positive number of copies")),
    };
    let children: Vec<usize> = element.children().map(|c| c.id()).collect();
    let mut names = Names::new();
    names_below(element, &mut names);
    let users = users_of(document.element(root), &mut names);
    let outside = users.iter().flat_map(|(_, users)| users).map(|u| document.element(*u));
    bound(element, document.len(), outside.chain([element]), count)?;
    let angles = compilers.of(element).angles;
    let step = Step::read(element)?;
    let (separator, digits) = (element.text("sep").unwrap_or_default(), count.to_string().len());
    let suffixes: Vec<String> = (0..count).map(|i| format!("{separator}{i:0digits$}")).collect();
    let class = element.text("childclass").map(|c| ("childclass", c.to_string()));
    let (mut frames, mut position, mut turn) = (Vec::with_capacity(count), Vec3::ZERO, Quat::IDENTITY);
    for (i, suffix) in suffixes.iter().enumerate() {
        let inside = children.iter().map(|c| document.duplicate(*c, &|_, list| rename(list, suffix))).collect();
        let frame = document.sibling_of(id);
        let mut attributes = vec![("pos", text(&position.to_array())), ("quat", text(&turn.to_array()))];
        attributes.extend(class.clone());
        document.rewrite(frame, "frame", &attributes, inside);
        frames.push(frame);
        position = Pose::new(position, turn).point(step.offset);
        // MuJoCo multiplies the angles: not the same as turning again and again, except about one axis
        turn = euler(step.angles.map(|angle| (i + 1) as f64 * angle), &angles);
    }
    document.rewrite(id, "frame", &[], frames);
    copy_users(document, users, &names, &suffixes);
    Ok(())
}

/// Refuses copies that would fill the memory: `copied` elements with all below them, `count` times.
pub(super) fn bound<'a>(
    element: Element<'a>,
    present: usize,
    copied: impl Iterator<Item = Element<'a>>,
    count: usize,
) -> Result<(), LoadError> {
    let copied: usize = copied.map(size).sum();
    if copied.saturating_mul(count).saturating_add(present) <= MAX_ELEMENTS {
        return Ok(());
    }
    let got = format!("{count} copies of {copied} elements");
    Err(element.structure(&format!("at most {MAX_ELEMENTS} elements in all"), got))
}

/// How much further each copy is moved, seen from the one before.
struct Step {
    offset: Vec3,
    angles: [f64; 3],
}

impl Step {
    fn read(element: Element) -> Result<Step, LoadError> {
        let offset = element.vec3("offset")?.unwrap_or(Vec3::ZERO);
        Ok(Step { offset, angles: element.array("euler")?.unwrap_or([0.0; 3]) })
    }
}

/// Numbers that read back as they were.
fn text(numbers: &[f64]) -> String {
    numbers.iter().map(|x| x.to_string()).collect::<Vec<_>>().join(" ")
}

fn size(element: Element) -> usize {
    let (mut n, mut stack) = (0, vec![element]);
    while let Some(e) = stack.pop() {
        n += 1;
        stack.extend(e.children());
    }
    n
}

fn rename(attributes: &mut [(String, String, u32)], suffix: &str) {
    for (_, value, _) in attributes.iter_mut().filter(|(name, ..)| name == "name") {
        value.push_str(suffix);
    }
}

/// Whether an attribute refers to one of the names; `other` gives the other attributes of its element.
fn hits<'k>(names: &Names, attribute: &str, value: &str, other: impl Fn(&str) -> Option<&'k str>) -> bool {
    referred(attribute, other).and_then(|kind| names.get(kind)).is_some_and(|known| known.contains(value))
}

/// Whether an element, or one below it, refers to one of the names.
fn refers(element: Element, names: &Names) -> bool {
    let mut stack = vec![element];
    while let Some(e) = stack.pop() {
        if e.written().any(|(attribute, value)| hits(names, attribute, value, |kind| e.text(kind))) {
            return true;
        }
        stack.extend(e.children());
    }
    false
}

/// For each section that has some: the elements that refer to the names, directly or by way of each other. Names that
/// these elements give are added.
fn users_of(root: Element, names: &mut Names) -> Vec<(usize, Vec<usize>)> {
    let mut users = Vec::new();
    for section in SECTIONS.into_iter().flat_map(|name| root.all(name)) {
        let found: Vec<Element> = section.children().filter(|e| refers(*e, names)).collect();
        if let Some(kind) = declared_in_section(section.name()) {
            let given = found.iter().filter_map(|e| e.text("name")).map(String::from);
            names.entry(kind).or_default().extend(given);
        }
        if !found.is_empty() {
            users.push((section.id(), found.iter().map(|e| e.id()).collect()));
        }
    }
    users
}

/// Copies the users of each section to its end, once per suffix, and removes the originals.
fn copy_users(document: &mut Document, users: Vec<(usize, Vec<usize>)>, names: &Names, suffixes: &[String]) {
    for (section, users) in users {
        let mut children: Vec<usize> = document.element(section).children().map(|c| c.id()).collect();
        children.retain(|c| !users.contains(c));
        for suffix in suffixes {
            for user in &users {
                children.push(document.duplicate(*user, &|_, attributes| {
                    let old = attributes.clone();
                    let other = |kind: &str| old.iter().find(|(n, ..)| n == kind).map(|(_, v, _)| v.as_str());
                    for (name, value, _) in attributes.iter_mut() {
                        if name == "name" || hits(names, name, value, other) {
                            value.push_str(suffix);
                        }
                    }
                }));
            }
        }
        document.set_children(section, children);
    }
}
