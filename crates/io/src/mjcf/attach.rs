//! `<attach>`: a body or frame of another model, or all that its world holds, or a part of the same model, in place of the
//! element. Names get a prefix, and what refers only to the attached part comes along (see [`bring`]).

mod bring;

use super::compiler::{Compiler, Compilers};
use super::references::{Names, names_below};
use super::schema::{self, Idle};
use super::users::{Affix, copy_users, users_of};
use super::{include, keys, replicate};
use crate::attribute::{Attribute, Attributes};
use crate::error::LoadError;
use crate::limits::{self, Limits};
use crate::source;
use crate::warning::Warnings;
use crate::xml::{Document, Element, Written};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Models inside models: more than anybody builds.
const MAX_DEPTH: usize = 8;
/// The name of a model that gives itself none, as MuJoCo has it.
const UNNAMED: &str = "MuJoCo Model";

/// What is needed to read other models.
pub(super) struct Tools<'t> {
    pub compilers: &'t mut Compilers,
    pub idle: &'t mut Idle,
    pub warnings: &'t mut Warnings,
}

/// Replaces all `<attach>` elements and then all `<replicate>` elements below `root`, a file at `path`.
pub(super) fn expand(document: &mut Document, root: usize, path: &Path, tools: &mut Tools) -> Result<(), LoadError> {
    expand_at(document, root, path, tools, 0)
}

fn expand_at(
    document: &mut Document,
    root: usize,
    path: &Path,
    tools: &mut Tools,
    depth: usize,
) -> Result<(), LoadError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut models: HashMap<String, usize> = HashMap::new();
    let all = attachments(document.element(root));
    copies_bounded(document, root, all.len())?;
    for id in all {
        let element = document.element(id);
        let Some(name) = element.attribute("model") else {
            attach_own(document, root, id)?;
            continue;
        };
        let child = match models.get(name.value) {
            Some(child) => *child,
            None => {
                if depth == MAX_DEPTH {
                    return Err(element.structure(&format!("at most {MAX_DEPTH} models inside each other"), "more"));
                }
                let file = file_of(document.element(root), name, folder, document.limits())?;
                let name = name.value.to_string();
                let child = load(document, &file, tools)?;
                expand_at(document, child, &file, tools, depth + 1)?;
                keys::mark(document, child)?;
                models.insert(name, child);
                child
            }
        };
        attach(document, root, id, child, tools.compilers)?;
    }
    replicate::expand(document, root, tools.compilers)
}

/// Every attachment and replication takes a look at the whole description.
pub(super) fn copies_bounded(document: &Document, root: usize, n: usize) -> Result<(), LoadError> {
    let place = || document.element(root).place();
    limits::check(place, "copies", "elements <attach> or <replicate>", document.limits().copies, n)
}

fn attachments(root: Element) -> Vec<usize> {
    let (mut found, mut stack) = (Vec::new(), vec![root]);
    while let Some(element) = stack.pop() {
        found.extend((element.name() == "attach").then_some(element.id()));
        stack.extend(element.children().rev());
    }
    found
}

/// The file of a model: the first asset of this name, which the asset gives, or else the file itself.
fn file_of(root: Element, name: Attribute, folder: &Path, limits: &Limits) -> Result<PathBuf, LoadError> {
    for model in root.all("asset").flat_map(|a| a.all("model")) {
        let file = model.required("file")?;
        let path = folder.join(file.value);
        if model.text("name").is_some_and(|given| given != name.value) {
            continue;
        }
        if !path.is_file() {
            return Err(file.wrong("a file that exists").with_hint(format!("looked for {}", path.display())));
        }
        if model.text("name").is_some() || own_name(&path, limits)? == name.value {
            return Ok(path);
        }
    }
    Err(name.element.unknown("model among the assets", name.value))
}

/// The name that a file gives to its model.
fn own_name(path: &Path, limits: &Limits) -> Result<String, LoadError> {
    let mut document = Document::new(limits);
    let file = path.display().to_string();
    let root = document.add(&file, &source::read_text(path, limits)?)?;
    Ok(document.element(root).text("model").unwrap_or(UNNAMED).to_string())
}

/// Reads another model; the answer is its root.
fn load(document: &mut Document, path: &Path, tools: &mut Tools) -> Result<usize, LoadError> {
    let first_file = document.n_files();
    let text = source::read_text(path, document.limits())?;
    let root = document.add(&path.display().to_string(), &text)?;
    include::expand(document, root, path)?;
    schema::check(document.element(root), tools.idle, tools.warnings)?;
    let compiler = Compiler::read(document.element(root), path.parent().unwrap_or(Path::new("")))?;
    tools.compilers.add(first_file..document.n_files(), compiler);
    Ok(root)
}

/// What is attached: elements, and the default class of their surroundings.
struct Source {
    tops: Vec<usize>,
    class: Option<String>,
}

impl Source {
    /// The body or frame that an attachment names, or the contents of the world. With `own` it must stand before the
    /// attachment, as MuJoCo reads files from top to bottom.
    fn find(root: Element, attach: Element, own: bool) -> Result<Source, LoadError> {
        let (kind, expected) = match (attach.attribute("body"), attach.attribute("frame")) {
            (Some(body), _) if own => (body, "body before the attachment"),
            (None, Some(frame)) if own => (frame, "frame before the attachment"),
            (Some(body), _) => (body, "body in the attached model"),
            (None, Some(frame)) => (frame, "frame in the attached model"),
            (None, None) if own => return Err(attach.missing("attribute 'model', 'body' or 'frame'")),
            (None, None) => {
                let tops = root.all("worldbody").flat_map(|w| w.children()).map(|e| e.id()).collect();
                return Ok(Source { tops, class: None });
            }
        };
        let mut stack: Vec<(Element, Option<&str>)> = root.all("worldbody").map(|w| (w, None)).collect();
        stack.reverse();
        while let Some((e, class)) = stack.pop() {
            if own && e.id() == attach.id() {
                break;
            }
            if e.name() == kind.name && e.text("name") == Some(kind.value) {
                return Source::new(e, class, attach);
            }
            let class = e.text("childclass").or(class);
            stack.extend(e.children().rev().map(|c| (c, class)));
        }
        Err(attach.unknown(expected, kind.value))
    }

    fn new(top: Element, class: Option<&str>, attach: Element) -> Result<Source, LoadError> {
        let mut stack = vec![top];
        while let Some(e) = stack.pop() {
            if e.id() == attach.id() {
                return Err(attach.structure("a part of the tree without the attachment itself", "one around it"));
            }
            stack.extend(e.children());
        }
        Ok(Source { tops: vec![top.id()], class: class.map(String::from) })
    }

    fn names(&self, document: &Document) -> Names {
        let mut names = Names::new();
        self.tops.iter().for_each(|top| names_below(document.element(*top), &mut names));
        names
    }

    fn bound(&self, document: &Document, attach: Element) -> Result<(), LoadError> {
        replicate::bound(document, attach, self.tops.iter().map(|t| document.element(*t)), 1)
    }
}

/// Attaches a part of another model.
fn attach(
    document: &mut Document,
    root: usize,
    id: usize,
    child: usize,
    compilers: &Compilers,
) -> Result<(), LoadError> {
    let element = document.element(id);
    let prefix = element.required("prefix")?.value.to_string();
    let source = Source::find(document.element(child), element, false)?;
    source.bound(document, element)?;
    let mut names = source.names(document);
    keys::bring(document, root, child, &prefix, id);
    let main = format!("{prefix}main");
    let edit = |_: &str, list: &mut Written| bring::rename(list, &prefix);
    let copies = source.tops.iter().map(|top| document.duplicate(*top, &edit)).collect();
    keys::taken(document, &source.tops);
    let class = source.class.map_or(main.clone(), |class| format!("{prefix}{class}"));
    document.rewrite(id, "frame", &[("childclass", class)], copies);
    bring::classes(document, root, child, &prefix, &main);
    bring::assets(document, root, child, &prefix, compilers);
    bring::sections(document, root, child, &mut names, &prefix);
    Ok(())
}

/// Attaches a part of the same model: assets and classes are already there.
fn attach_own(document: &mut Document, root: usize, id: usize) -> Result<(), LoadError> {
    let element = document.element(id);
    let prefix = element.required("prefix")?.value.to_string();
    let source = Source::find(document.element(root), element, true)?;
    source.bound(document, element)?;
    let mut names = source.names(document);
    let users = users_of(document.element(root), &mut names);
    let affix = Affix { prefix, ..Affix::default() };
    let edit = |_: &str, list: &mut Written| affix.declared(list);
    let copies = source.tops.iter().map(|top| document.duplicate(*top, &edit)).collect();
    let class = source.class.unwrap_or_else(|| "main".into());
    document.rewrite(id, "frame", &[("childclass", class)], copies);
    copy_users(document, &users, &names, &[affix]);
    Ok(())
}
