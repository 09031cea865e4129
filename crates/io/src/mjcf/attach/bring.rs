//! What comes along with the attached part of another model: its default classes and compiler settings, which stay its own,
//! its assets, and the elements of other sections that refer to the part and to nothing else of that model.

use crate::attribute::Attributes;
use crate::mjcf::compiler::Compilers;
use crate::mjcf::folder::Folders;
use crate::mjcf::keys;
use crate::mjcf::references::{Names, declared_in_section, referred};
use crate::mjcf::users::SECTIONS;
use crate::xml::{Document, Element, Written};
use std::path::Path;

/// Puts the prefix before names, classes and all that refers to things of the same model.
pub(super) fn rename(attributes: &mut Written, prefix: &str) {
    let old = attributes.clone();
    let other = |kind: &str| old.iter().find(|(n, ..)| n == kind).map(|(_, v, _)| v.as_str());
    for (name, value, _) in attributes.iter_mut() {
        let own = matches!(
            name.as_str(),
            "name" | "class" | "childclass" | "alias" | "mesh" | "material" | "texture" | "hfield" | "target"
        );
        if (own || referred(name, other).is_some()) && value != "world" {
            value.insert_str(0, prefix);
        }
    }
    keys::settle(attributes);
}

/// The classes of the other model under a root of their own.
pub(super) fn classes(document: &mut Document, root: usize, child: usize, prefix: &str, main: &str) {
    let edit = |_: &str, list: &mut Written| rename(list, prefix);
    let sections: Vec<usize> = document.element(child).all("default").map(|s| s.id()).collect();
    let alias = document.element(child).all("default").find_map(|s| s.text("class")).unwrap_or("main");
    let alias = format!("{prefix}{alias}");
    let inside: Vec<usize> = sections.iter().flat_map(|s| document.element(*s).children()).map(|c| c.id()).collect();
    let copies = inside.iter().map(|c| document.duplicate(*c, &edit)).collect();
    let classes = document.sibling_of(child);
    document.rewrite(classes, "attached", &[("class", main.to_string()), ("alias", alias)], copies);
    document.push_child(root, classes);
    // those of models attached to the attached one
    let deeper: Vec<usize> = document.element(child).all("attached").map(|s| s.id()).collect();
    for section in deeper {
        let copy = document.duplicate(section, &edit);
        document.push_child(root, copy);
    }
}

/// Files are found where the other model looks for them. Materials tell what rays pass through.
pub(super) fn assets(document: &mut Document, root: usize, child: usize, prefix: &str, compilers: &Compilers) {
    let model = document.element(child);
    let folders = Folders::new(model.file(), compilers.of(model));
    let textures = Folders::of_textures(model.file(), compilers.of(model));
    let found = |asset: Element| {
        let folders = if asset.name() == "texture" { &textures } else { &folders };
        let path = asset.attribute("file").map(|file| folders.path(file));
        (asset.id(), path.map(|p| std::path::absolute(&p).unwrap_or(p).display().to_string()))
    };
    let all = model.all("asset").flat_map(|section| section.children());
    let assets: Vec<_> =
        all.filter(|e| matches!(e.name(), "mesh" | "hfield" | "material" | "texture")).map(found).collect();
    let edit = |kind: &str, list: &mut Written, path: &Option<String>| {
        let unnamed = !list.iter().any(|(n, ..)| n == "name");
        if let Some(stem) = path.as_ref().and_then(|f| Path::new(f).file_stem()).filter(|_| unnamed) {
            list.push(("name".into(), stem.to_string_lossy().into_owned(), 0));
        }
        rename(list, prefix);
        let file = list.iter_mut().find(|(n, ..)| n == "file");
        file.into_iter().zip(path).for_each(|((_, value, _), path)| value.clone_from(path));
        if matches!(kind, "mesh" | "material") {
            class_of_its_own(list, prefix);
        }
    };
    let copies = assets.iter().map(|(id, path)| document.duplicate(*id, &|kind, list| edit(kind, list, path)));
    let copies = copies.collect();
    push_section(document, root, child, "asset", copies);
}

/// Elements of all sections that refer to the attached part.
pub(super) fn sections(document: &mut Document, root: usize, child: usize, names: &mut Names, prefix: &str) {
    for section in SECTIONS {
        bring_section(document, root, child, section, names, prefix);
    }
}

/// Elements that refer to the attached part, and to nothing else of the other model.
fn bring_section(
    document: &mut Document,
    root: usize,
    child: usize,
    section: &'static str,
    names: &mut Names,
    prefix: &str,
) {
    let elements = document.element(child).all(section).flat_map(|s| s.children());
    let found: Vec<Element> = elements.filter(|e| refers_only_to(*e, names, section == "sensor")).collect();
    if let Some(kind) = declared_in_section(section) {
        let given = found.iter().filter_map(|e| e.text("name")).map(String::from);
        names.entry(kind).or_default().extend(given);
    }
    let found: Vec<usize> = found.iter().map(|e| e.id()).collect();
    let edit = |element: &str, list: &mut Written| {
        rename(list, prefix);
        let is_part = section == "tendon" && !matches!(element, "fixed" | "spatial");
        if section != "sensor" && element != "exclude" && !is_part {
            class_of_its_own(list, prefix);
        }
    };
    let copies = found.iter().map(|e| document.duplicate(*e, &edit)).collect();
    keys::taken(document, &found);
    push_section(document, root, child, section, copies);
}

/// As in MuJoCo, sensors that refer to nothing come along with every part.
fn refers_only_to(element: Element, names: &Names, is_sensor: bool) -> bool {
    let (mut any, mut stack) = (is_sensor, vec![element]);
    while let Some(e) = stack.pop() {
        for (attribute, value) in e.written() {
            let Some(kind) = referred(attribute, |kind| e.text(kind)) else { continue };
            if value != "world" && !names.get(kind).is_some_and(|known| known.contains(value)) {
                return false;
            }
            any = true;
        }
        stack.extend(e.children());
    }
    any
}

/// An element without a class falls back on the other model's outermost one.
fn class_of_its_own(attributes: &mut Written, prefix: &str) {
    if !attributes.iter().any(|(name, ..)| name == "class") {
        attributes.push(("class".into(), format!("{prefix}main"), 0));
    }
}

fn push_section(document: &mut Document, root: usize, like: usize, name: &str, children: Vec<usize>) {
    if !children.is_empty() {
        let section = document.sibling_of(like);
        document.rewrite(section, name, &[], children);
        document.push_child(root, section);
    }
}
