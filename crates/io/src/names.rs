//! Names for what a file leaves unnamed, and the refusal of names used twice.

use crate::error::LoadError;
use crate::xml::Element;
use std::collections::HashSet;

/// The names of one kind of thing.
#[derive(Debug)]
pub(crate) struct Names<'a> {
    kind: &'static str,
    in_file: HashSet<&'a str>, // all that the file gives, met or not yet met
    taken: HashSet<String>,
}

impl<'a> Names<'a> {
    /// Looks for the names of all elements called `kind` below `root`.
    pub fn new(kind: &'static str, root: Element<'a>) -> Names<'a> {
        let (mut in_file, mut stack) = (HashSet::new(), vec![root]);
        while let Some(element) = stack.pop() {
            in_file.extend(element.text("name").filter(|_| element.name() == kind));
            stack.extend(element.children());
        }
        Names { kind, in_file, taken: HashSet::new() }
    }

    /// Marks a name that is not in the file as used.
    pub fn reserve(&mut self, name: &str) {
        self.taken.insert(name.into());
    }

    /// The name of an element; an error if another one has it.
    pub fn given(&mut self, name: &str, element: Element) -> Result<String, LoadError> {
        if !self.taken.insert(name.to_string()) {
            let got = format!("a second {} named '{}'", self.kind, crate::xml::shown(name));
            return Err(element.structure(&format!("every {} to have a name of its own", self.kind), got));
        }
        Ok(name.to_string())
    }

    /// A name that nothing has, as near as possible to the one wanted.
    pub fn fresh(&mut self, wanted: &str) -> String {
        let is_free = |name: &String| !self.in_file.contains(name.as_str()) && !self.taken.contains(name);
        let mut candidates = std::iter::once(wanted.to_string()).chain((2..).map(|k| format!("{wanted}_{k}")));
        let name = candidates.find(is_free).unwrap_or_default();
        self.taken.insert(name.clone());
        name
    }
}
