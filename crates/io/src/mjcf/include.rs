//! `<include file="…"/>`: the children of another file's root stand in its place.

use crate::attribute::Attributes;
use crate::error::LoadError;
use crate::source;
use crate::xml::Document;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// More files than any robot is made of.
const MAX_FILES: usize = 1000;

/// Replaces all includes below `root`. Every file may be included once, so that cycles cannot happen.
pub(super) fn expand(document: &mut Document, root: usize, main: &Path) -> Result<(), LoadError> {
    let folder = main.parent().unwrap_or(Path::new(""));
    let mut seen: HashSet<PathBuf> = HashSet::from([identity(main)]);
    let mut stack = vec![root];
    while let Some(parent) = stack.pop() {
        while let Some(place) = next_include(document, parent) {
            let included = include(document, parent, place, folder, &mut seen)?;
            document.replace_child(parent, place, included);
        }
        stack.extend(document.element(parent).children().map(|c| c.id()));
    }
    Ok(())
}

/// Place of the first include among the children of an element.
fn next_include(document: &Document, parent: usize) -> Option<usize> {
    document.element(parent).children().position(|c| c.name() == "include")
}

/// Reads the file of an include; the answer is its root.
fn include(
    document: &mut Document,
    parent: usize,
    place: usize,
    folder: &Path,
    seen: &mut HashSet<PathBuf>,
) -> Result<usize, LoadError> {
    let (path, text) = {
        let parent = document.element(parent);
        let element = parent.children().nth(place).unwrap_or(parent);
        let file = element.required("file")?;
        // beside the main file, else beside the file that includes
        let beside = Path::new(element.file()).parent().unwrap_or(Path::new(""));
        let mut candidates = [folder.join(file.value), beside.join(file.value)].into_iter();
        let path = candidates.find(|p| p.is_file()).ok_or_else(|| {
            let looked = folder.join(file.value).display().to_string();
            file.wrong("a file that exists").with_hint(format!("looked for {looked}"))
        })?;
        if seen.len() >= MAX_FILES || !seen.insert(identity(&path)) {
            return Err(file.wrong("a file that is not included yet").with_hint("a file can be included only once"));
        }
        let text = source::read_text(&path, document.limits())?;
        (path, text)
    };
    document.add(&path.display().to_string(), &text)
}

/// One name for a file, however it is written.
fn identity(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}
