//! What refers to a part of the tree from the sections beside it: copies of the part get copies of that.

use super::keys;
use super::references::{Names, declared_in_section, referred};
use crate::xml::{Document, Element, Written};

/// Sections that refer to the tree, so that those come first that others refer to.
pub(super) const SECTIONS: [&str; 5] = ["contact", "tendon", "equality", "actuator", "sensor"];

/// What is put around the names of a copy.
#[derive(Debug, Default)]
pub(super) struct Affix {
    pub prefix: String,
    pub suffix: String,
    /// Whether the keyframes of attached models that hold for the original hold for the copy.
    pub keeps_states: bool,
}

impl Affix {
    fn put(&self, name: &mut String) {
        name.insert_str(0, &self.prefix);
        name.push_str(&self.suffix);
    }

    /// Renames what an element of the tree declares.
    pub fn declared(&self, attributes: &mut Written) {
        attributes.iter_mut().filter(|(name, ..)| name == "name").for_each(|(_, value, _)| self.put(value));
        if !self.keeps_states {
            keys::forget(attributes);
        }
    }

    /// Renames what an element of a section declares, and those of its references that are among the names.
    fn declared_and_referred(&self, attributes: &mut Written, names: &Names) {
        let old = attributes.clone();
        let other = |kind: &str| old.iter().find(|(n, ..)| n == kind).map(|(_, v, _)| v.as_str());
        for (name, value, _) in attributes.iter_mut() {
            if name == "name" || hits(names, name, value, other) {
                self.put(value);
            }
        }
        if !self.keeps_states {
            keys::forget(attributes);
        }
    }
}

/// The elements of a section that refer to a part of the tree.
pub(super) struct Users {
    section: usize,
    all: Vec<usize>,
    /// Those that copies of the part take along.
    pub followers: Vec<usize>,
}

/// For each section that has some: the elements that refer to the names, directly or by way of each other. Names that
/// these elements give are added.
pub(super) fn users_of(root: Element, names: &mut Names) -> Vec<Users> {
    let mut users = Vec::new();
    for section in SECTIONS.into_iter().flat_map(|name| root.all(name)) {
        let all: Vec<Element> = section.children().filter(|e| references(*e, names).contains(&true)).collect();
        let followers: Vec<Element> = all.iter().filter(|e| follows(section.name(), **e, names)).copied().collect();
        if let Some(kind) = declared_in_section(section.name()) {
            let given = followers.iter().filter_map(|e| e.text("name")).map(String::from);
            names.entry(kind).or_default().extend(given);
        }
        if !all.is_empty() {
            let ids = |list: &[Element]| list.iter().map(|e| e.id()).collect();
            users.push(Users { section: section.id(), all: ids(&all), followers: ids(&followers) });
        }
    }
    users
}

/// MuJoCo's rule: constraints and actuators must act on nothing else (the world aside), others may also refer to the rest.
fn follows(section: &str, element: Element, names: &Names) -> bool {
    !matches!(section, "equality" | "actuator") || !references(element, names).contains(&false)
}

/// For each reference of an element and of those below it whether it is to one of the names. The world counts for neither.
fn references(element: Element, names: &Names) -> Vec<bool> {
    let (mut found, mut stack) = (Vec::new(), vec![element]);
    while let Some(e) = stack.pop() {
        let references =
            e.written().filter(|(name, value)| referred(name, |kind| e.text(kind)).is_some() && *value != "world");
        found.extend(references.map(|(name, value)| hits(names, name, value, |kind| e.text(kind))));
        stack.extend(e.children());
    }
    found
}

/// Whether an attribute refers to one of the names; `other` gives the other attributes of its element.
fn hits<'k>(names: &Names, attribute: &str, value: &str, other: impl Fn(&str) -> Option<&'k str>) -> bool {
    referred(attribute, other).and_then(|kind| names.get(kind)).is_some_and(|known| known.contains(value))
}

/// Copies the users of each section to its end, once per affix.
pub(super) fn copy_users(document: &mut Document, users: &[Users], names: &Names, affixes: &[Affix]) {
    for Users { section, followers, .. } in users {
        let mut children: Vec<usize> = document.element(*section).children().map(|c| c.id()).collect();
        for affix in affixes {
            let edit = |_: &str, list: &mut Written| affix.declared_and_referred(list, names);
            children.extend(followers.iter().map(|user| document.duplicate(*user, &edit)).collect::<Vec<_>>());
        }
        document.set_children(*section, children);
    }
}

/// Takes the users out of their sections.
pub(super) fn remove_users(document: &mut Document, users: &[Users]) {
    for Users { section, all, .. } in users {
        let kept = document.element(*section).children().map(|c| c.id()).filter(|c| !all.contains(c)).collect();
        document.set_children(*section, kept);
    }
}
