//! Elements and attributes with their lines. An arena, not a tree of boxes: files may be nested thousands deep.

use crate::attribute::{Attribute, Attributes};
use crate::error::{LoadError, Place};
use crate::limits::Limits;
use crate::scan;

/// Prefixes that a file may use without declaring them.
const MAX_UNDECLARED_PREFIXES: usize = 16;
/// Longest part of a value that a message repeats, in characters.
const SHOWN_CHARACTERS: usize = 60;

/// The elements of a file and of those that it includes.
#[derive(Debug, Default)]
pub(crate) struct Document {
    files: Vec<String>,
    nodes: Vec<Node>,
    limits: Limits,
}

/// Attributes as they are written: name, value, line.
pub(crate) type Written = Vec<(String, String, u32)>;

#[derive(Debug)]
struct Node {
    name: String,
    attributes: Written,
    children: Vec<usize>,
    file: usize,
    line: u32,
}

impl Document {
    /// Without elements.
    pub fn new(limits: &Limits) -> Document {
        Document { limits: limits.clone(), ..Document::default() }
    }

    /// How large it may become.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Adds the elements of a text; the answer is the number of its root element.
    pub fn add(&mut self, file: &str, text: &str) -> Result<usize, LoadError> {
        let mut text = text.strip_prefix('\u{feff}').unwrap_or(text).to_string();
        scan::check(file, &text, self.nodes.len(), &self.limits)?;
        for _ in 0..=MAX_UNDECLARED_PREFIXES {
            match roxmltree::Document::parse(&text) {
                Ok(parsed) => return Ok(self.copy(file, &text, &parsed)),
                // Robot files use prefixes such as `drake:` that they never declare, and nobody else minds.
                Err(roxmltree::Error::UnknownNamespace(prefix, position)) => {
                    let declared = declare_prefix(&text, &prefix);
                    text =
                        declared.ok_or_else(|| syntax(file, position.row, &format!("undeclared prefix '{prefix}'")))?;
                }
                Err(error) => return Err(syntax(file, error.pos().row, &error.to_string())),
            }
        }
        Err(syntax(file, 1, "too many undeclared prefixes"))
    }

    fn copy(&mut self, file: &str, text: &str, parsed: &roxmltree::Document) -> usize {
        let lines: Vec<usize> = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i).collect();
        let line = |position: usize| lines.partition_point(|end| *end < position) as u32 + 1;
        self.files.push(file.to_string());
        let (root, plain) = (parsed.root_element(), parsed.root_element().default_namespace());
        let first = self.nodes.len();
        let mut stack = vec![(root, None)];
        while let Some((node, parent)) = stack.pop() {
            let (tag, id) = (node.tag_name(), self.nodes.len());
            // an element of another namespace is not ours, whatever its local name
            let prefix = if tag.namespace() == plain { "" } else { "other:" };
            let attributes = node.attributes().filter(|a| a.namespace().is_none());
            self.nodes.push(Node {
                name: format!("{prefix}{}", tag.name()),
                attributes: attributes.map(|a| (a.name().into(), a.value().into(), line(a.range().start))).collect(),
                children: Vec::new(),
                file: self.files.len() - 1,
                line: line(node.range().start),
            });
            if let Some(parent) = parent {
                let siblings: &mut Vec<usize> = &mut self.nodes[parent as usize].children;
                siblings.push(id);
            }
            stack.extend(node.children().rev().filter(|n| n.is_element()).map(|n| (n, Some(id as u32))));
        }
        first
    }

    /// Puts the children of `root` where the `child`-th child of `parent` is.
    pub fn replace_child(&mut self, parent: usize, child: usize, root: usize) {
        let inserted = self.nodes[root].children.clone();
        self.nodes[parent].children.splice(child..=child, inserted);
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Adds a copy of an element and of all below it. `edit` may change the attributes: it is given the element and its list.
    pub fn duplicate(&mut self, id: usize, edit: &dyn Fn(&str, &mut Written)) -> usize {
        let first = self.nodes.len();
        let mut stack = vec![(id, None::<usize>)];
        while let Some((old, parent)) = stack.pop() {
            let Node { name, attributes, children, file, line } = &self.nodes[old];
            let (mut attributes, file, line) = (attributes.clone(), *file, *line);
            edit(name, &mut attributes);
            let new = self.nodes.len();
            stack.extend(children.iter().rev().map(|child| (*child, Some(new))));
            let name = name.clone();
            self.nodes.push(Node { name, attributes, children: Vec::new(), file, line });
            if let Some(parent) = parent {
                self.nodes[parent].children.push(new);
            }
        }
        first
    }

    /// Adds an empty element that is reported at the place of another one.
    pub fn sibling_of(&mut self, id: usize) -> usize {
        let Node { name, file, line, .. } = &self.nodes[id];
        let node = Node { name: name.clone(), attributes: Vec::new(), children: Vec::new(), file: *file, line: *line };
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Makes another element of one: with a name, attributes and children.
    pub fn rewrite(&mut self, id: usize, name: &str, attributes: &[(&str, String)], children: Vec<usize>) {
        let node = &mut self.nodes[id];
        let line = node.line;
        node.name = name.into();
        node.attributes = attributes.iter().map(|(n, v)| (n.to_string(), v.clone(), line)).collect();
        node.children = children;
    }

    /// Gives an element another name.
    pub fn rename(&mut self, id: usize, name: &str) {
        self.nodes[id].name = name.into();
    }

    /// Changes the attributes of an element.
    pub fn edit(&mut self, id: usize, edit: impl FnOnce(&mut Written)) {
        edit(&mut self.nodes[id].attributes);
    }

    /// Adds a word to an attribute, which may be a new one.
    pub fn append(&mut self, id: usize, attribute: &str, word: &str) {
        let Node { attributes, line, .. } = &mut self.nodes[id];
        match attributes.iter_mut().find(|(name, ..)| name == attribute) {
            Some((_, value, _)) => {
                value.push(' ');
                value.push_str(word);
            }
            None => attributes.push((attribute.into(), word.into(), *line)),
        }
    }

    /// Adds a child at the end.
    pub fn push_child(&mut self, parent: usize, child: usize) {
        self.nodes[parent].children.push(child);
    }

    /// How many files have been added.
    pub fn n_files(&self) -> usize {
        self.files.len()
    }

    /// Gives an element other children.
    pub fn set_children(&mut self, id: usize, children: Vec<usize>) {
        self.nodes[id].children = children;
    }

    pub fn element(&self, id: usize) -> Element<'_> {
        Element { document: self, id }
    }
}

/// Declares a prefix in the first start tag, on the same line.
fn declare_prefix(text: &str, prefix: &str) -> Option<String> {
    let mut from = 0;
    while let Some(open) = text[from..].find('<').map(|i| from + i) {
        let rest = &text[open..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            from = open + 4 + comment.find("-->")?;
        } else if rest[1..].starts_with(['?', '!']) {
            from = open + 1;
        } else {
            let end = open + rest.find(|c: char| c.is_whitespace() || c == '>' || c == '/')?;
            return Some(format!("{} xmlns:{prefix}=\"{prefix}\"{}", &text[..end], &text[end..]));
        }
    }
    None
}

fn syntax(file: &str, line: u32, got: &str) -> LoadError {
    let place = Place { file: file.into(), line, element: String::new() };
    LoadError::Syntax { place: Box::new(place), got: format!("not well-formed XML: {got}") }
}

/// An element of a document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Element<'a> {
    document: &'a Document,
    id: usize,
}

impl<'a> Element<'a> {
    fn node(&self) -> &'a Node {
        &self.document.nodes[self.id]
    }

    pub fn id(&self) -> usize {
        self.id
    }

    pub fn name(&self) -> &'a str {
        &self.node().name
    }

    pub fn file(&self) -> &'a str {
        &self.document.files[self.node().file]
    }

    /// Number of its file, in the order of adding.
    pub fn file_number(&self) -> usize {
        self.node().file
    }

    pub fn children(&self) -> impl DoubleEndedIterator<Item = Element<'a>> + use<'a> {
        let document = self.document;
        self.node().children.iter().map(move |id| Element { document, id: *id })
    }

    /// The children with a name.
    pub fn all(&self, name: &'static str) -> impl Iterator<Item = Element<'a>> + use<'a> {
        self.children().filter(move |c| c.name() == name)
    }

    /// The first child with a name.
    pub fn child(&self, name: &'static str) -> Option<Element<'a>> {
        self.all(name).next()
    }

    /// Value of an attribute as it is written.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.node().attributes.iter().find(|(n, ..)| n == name).map(|(_, v, _)| v.as_str())
    }

    /// All attributes as they are written: names and values.
    pub fn written(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        self.node().attributes.iter().map(|(name, value, _)| (name.as_str(), value.as_str()))
    }

    /// Where it is, for messages.
    pub fn place(&self) -> Place {
        let name = self.text("name").map_or(String::new(), |n| format!(" name=\"{}\"", shown(n)));
        Place { file: self.file().into(), line: self.node().line, element: format!("<{}{name}>", self.name()) }
    }

    pub fn missing(&self, expected: &str) -> LoadError {
        LoadError::Missing { place: Box::new(self.place()), expected: expected.into(), hint: String::new() }
    }

    pub fn unknown(&self, expected: &'static str, name: &str) -> LoadError {
        LoadError::Unknown { place: Box::new(self.place()), expected, got: shown(name), hint: String::new() }
    }

    pub fn structure(&self, expected: &str, got: impl Into<String>) -> LoadError {
        let place = Box::new(self.place());
        LoadError::Structure { place, expected: expected.into(), got: got.into(), hint: String::new() }
    }
}

impl<'a> Attributes<'a> for Element<'a> {
    fn attribute(&self, name: &'static str) -> Option<Attribute<'a>> {
        let found = self.node().attributes.iter().find(|(n, ..)| n == name);
        found.map(|(_, value, line)| Attribute { element: *self, name, value, line: *line })
    }

    fn element(&self) -> Element<'a> {
        *self
    }
}

/// A value for a message: not too long, on one line.
pub(crate) fn shown(value: &str) -> String {
    let words = value.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_other_namespaces_do_not_pass_for_ours() {
        let mut d = Document::default();
        let root = d.add("f", "<!-- <no> --><robot>\n<drake:joint/><joint/></robot>").unwrap();
        let names: Vec<_> = d.element(root).children().map(|c| c.name()).collect();
        assert_eq!(names, ["other:joint", "joint"]);
        assert_eq!(d.element(root).child("joint").unwrap().place().line, 2);
    }

    #[test]
    fn document_type_declarations_are_refused() {
        let bomb = "<!DOCTYPE a [<!ENTITY b \"bbbb\">]><a>&b;</a>";
        assert!(matches!(Document::default().add("f", bomb), Err(LoadError::Syntax { .. })));
    }

    #[test]
    fn deep_nesting_is_refused_and_otherwise_no_danger_to_the_stack() {
        let deep = format!("{}{}", "<a>".repeat(20_000), "</a>".repeat(20_000));
        let error = Document::default().add("f", &deep).unwrap_err().to_string();
        assert_eq!(
            error,
            "f:1: expected at most 5000 elements inside each other, got 5001; the limit 'depth' can be raised"
        );
        assert!(Document::new(&Limits { depth: 20_000, ..Limits::default() }).add("f", &deep).is_ok());
    }
}
