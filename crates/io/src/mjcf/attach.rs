//! `<attach>`: a body of another model, or all that its world holds, in place of the element. Names get a prefix, default
//! classes and compiler settings of the other model stay its own, and what refers only to the attached part comes along.

use super::compiler::{Compiler, Compilers};
use super::folder::Folders;
use super::references::{Names, declared_in_section, names_below, referred};
use super::schema::{self, Idle};
use super::{include, replicate};
use crate::attribute::Attributes;
use crate::error::LoadError;
use crate::warning::Warnings;
use crate::xml::{Document, Element, Written};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Models inside models: more than anybody builds.
const MAX_DEPTH: usize = 8;
/// Sections that come along, so that those come first that others refer to.
const SECTIONS: [&str; 5] = ["contact", "tendon", "equality", "actuator", "sensor"];

/// Replaces all `<attach>` elements and then all `<replicate>` elements below `root`, a file at `path`.
pub(super) fn expand(
    document: &mut Document,
    root: usize,
    path: &Path,
    compilers: &mut Compilers,
    idle: &mut Idle,
    warnings: &mut Warnings,
) -> Result<(), LoadError> {
    expand_at(document, root, path, compilers, idle, warnings, 0)
}

fn expand_at(
    document: &mut Document,
    root: usize,
    path: &Path,
    compilers: &mut Compilers,
    idle: &mut Idle,
    warnings: &mut Warnings,
    depth: usize,
) -> Result<(), LoadError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut models: HashMap<String, usize> = HashMap::new();
    for id in attachments(document.element(root)) {
        let element = document.element(id);
        let name = element.required("model")?;
        let name_text = name.value.to_string();
        let child = match models.get(name.value) {
            Some(child) => *child,
            None => {
                if depth == MAX_DEPTH {
                    return Err(element.structure(&format!("at most {MAX_DEPTH} models inside each other"), "more"));
                }
                let file = file_of(document.element(root), element, folder)?;
                let child = load(document, &file, compilers, idle, warnings)?;
                expand_at(document, child, &file, compilers, idle, warnings, depth + 1)?;
                models.insert(name_text, child);
                child
            }
        };
        attach(document, root, id, child, compilers)?;
    }
    replicate::expand(document, root, compilers)
}

fn attachments(root: Element) -> Vec<usize> {
    let (mut found, mut stack) = (Vec::new(), vec![root]);
    while let Some(element) = stack.pop() {
        found.extend((element.name() == "attach").then_some(element.id()));
        stack.extend(element.children().rev());
    }
    found
}

fn file_of(root: Element, element: Element, folder: &Path) -> Result<PathBuf, LoadError> {
    let name = element.required("model")?;
    let mut models = root.all("asset").flat_map(|a| a.all("model"));
    let model = models.find(|m| m.text("name") == Some(name.value));
    let model = model.ok_or_else(|| element.unknown("model among the assets", name.value))?;
    let file = model.required("file")?;
    let path = folder.join(file.value);
    if path.is_file() {
        return Ok(path);
    }
    Err(file.wrong("a file that exists").with_hint(format!("looked for {}", path.display())))
}

/// Reads another model; the answer is its root.
fn load(
    document: &mut Document,
    path: &Path,
    compilers: &mut Compilers,
    idle: &mut Idle,
    warnings: &mut Warnings,
) -> Result<usize, LoadError> {
    let first_file = document.n_files();
    let text = crate::read_text(path, &path.display().to_string())?;
    let root = document.add(&path.display().to_string(), &text)?;
    include::expand(document, root, path)?;
    schema::check(document.element(root), idle, warnings)?;
    if document.element(root).child("keyframe").is_some() {
        idle.record("keyframe of an attached model");
    }
    let compiler = Compiler::read(document.element(root), path.parent().unwrap_or(Path::new("")))?;
    compilers.add(first_file..document.n_files(), compiler);
    Ok(root)
}

fn attach(
    document: &mut Document,
    root: usize,
    id: usize,
    child: usize,
    compilers: &Compilers,
) -> Result<(), LoadError> {
    let element = document.element(id);
    let prefix = element.required("prefix")?.value.to_string();
    let tops: Vec<Element> = match element.attribute("body") {
        Some(body) => vec![
            find_body(document.element(child), body.value)
                .ok_or_else(|| element.unknown("body in the attached model", body.value))?,
        ],
        None => document.element(child).all("worldbody").flat_map(|w| w.children()).collect(),
    };
    let mut names = Names::new();
    tops.iter().for_each(|top| names_below(*top, &mut names));
    let tops: Vec<usize> = tops.iter().map(|e| e.id()).collect();
    replicate::bound(element, document.len(), tops.iter().map(|t| document.element(*t)), 1)?;
    let main = format!("{prefix}main");
    let edit = |_: &str, list: &mut Written| rename(list, &prefix);
    let copies = tops.iter().map(|top| document.duplicate(*top, &edit)).collect();
    document.rewrite(id, "frame", &[("childclass", main.clone())], copies);
    bring_classes(document, root, child, &prefix, &main);
    bring_meshes(document, root, child, &prefix, compilers);
    for section in SECTIONS {
        bring_section(document, root, child, section, &mut names, &prefix);
    }
    Ok(())
}

fn find_body<'a>(root: Element<'a>, name: &str) -> Option<Element<'a>> {
    let mut stack: Vec<Element> = root.all("worldbody").collect();
    while let Some(e) = stack.pop() {
        if e.name() == "body" && e.text("name") == Some(name) {
            return Some(e);
        }
        stack.extend(e.children());
    }
    None
}

/// Puts the prefix before names, classes and all that refers to things of the same model.
fn rename(attributes: &mut Written, prefix: &str) {
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
}

/// The classes of the other model under a root of their own.
fn bring_classes(document: &mut Document, root: usize, child: usize, prefix: &str, main: &str) {
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

/// Meshes are found where the other model looks for them.
fn bring_meshes(document: &mut Document, root: usize, child: usize, prefix: &str, compilers: &Compilers) {
    let model = document.element(child);
    let folders = Folders::new(model.file(), compilers.of(model));
    let found = |mesh: Element| {
        let path = mesh.attribute("file").map(|file| folders.path(file));
        (mesh.id(), path.map(|p| std::path::absolute(&p).unwrap_or(p).display().to_string()))
    };
    let meshes: Vec<_> = model.all("asset").flat_map(|a| a.all("mesh")).map(found).collect();
    let edit = |list: &mut Written, path: &Option<String>| {
        let unnamed = !list.iter().any(|(n, ..)| n == "name");
        if let Some(stem) = path.as_ref().and_then(|f| Path::new(f).file_stem()).filter(|_| unnamed) {
            list.push(("name".into(), stem.to_string_lossy().into_owned(), 0));
        }
        rename(list, prefix);
        let file = list.iter_mut().find(|(n, ..)| n == "file");
        file.into_iter().zip(path).for_each(|((_, value, _), path)| value.clone_from(path));
        class_of_its_own(list, prefix);
    };
    let copies = meshes.iter().map(|(id, path)| document.duplicate(*id, &|_, list| edit(list, path))).collect();
    push_section(document, root, child, "asset", copies);
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
    let found: Vec<Element> = elements.filter(|e| refers_only_to(*e, names)).collect();
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
    push_section(document, root, child, section, copies);
}

fn refers_only_to(element: Element, names: &Names) -> bool {
    let (mut any, mut stack) = (false, vec![element]);
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
