//! A look at a text in XML before it is parsed: parsers take time with the square of the number of attributes, and memory for
//! all elements. What is not well-formed is left for the parser to refuse.

use crate::error::{LoadError, Place};
use crate::limits::{self, Limits};

/// Start and end tags of a text, one after the other.
struct Tags<'a> {
    text: &'a str,
    at: usize,
}

struct Tag {
    /// Where it begins (bytes).
    start: usize,
    /// Elements that it opens, less those that it closes.
    opened: isize,
    attributes: usize,
}

impl Iterator for Tags<'_> {
    type Item = Tag;

    fn next(&mut self) -> Option<Tag> {
        loop {
            let start = self.at + self.text.get(self.at..)?.find('<')?;
            let rest = &self.text[start..];
            let other = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">")];
            match other.iter().find(|(open, _)| rest.starts_with(open)) {
                Some((open, close)) => self.at = start + open.len() + rest[open.len()..].find(close)? + close.len(),
                None => return Some(self.tag(start)),
            }
        }
    }
}

impl Tags<'_> {
    /// The tag that begins at `start`. In quotes it may contain anything.
    fn tag(&mut self, start: usize) -> Tag {
        let bytes = self.text.as_bytes();
        let (mut i, mut attributes) = (start + 1, 0);
        while let Some(b) = bytes.get(i).filter(|b| **b != b'>') {
            if matches!(b, b'"' | b'\'') {
                attributes += 1;
                i += 1 + bytes[i + 1..].iter().position(|c| c == b).unwrap_or(bytes.len() - i);
            }
            i += 1;
        }
        self.at = i + 1;
        let opened = match (bytes.get(start + 1), bytes.get(i.min(bytes.len()) - 1)) {
            (Some(b'/'), _) => -1,
            (_, Some(b'/')) => 0,
            _ => 1,
        };
        Tag { start, opened, attributes }
    }
}

/// Refuses texts with more elements, attributes or nesting than allowed. There are `present` elements already.
pub(crate) fn check(file: &str, text: &str, present: usize, limits: &Limits) -> Result<(), LoadError> {
    let (mut elements, mut depth) = (present, 0isize);
    for Tag { start, opened, attributes } in (Tags { text, at: 0 }) {
        depth += opened;
        elements += usize::from(opened >= 0);
        let place = || Place { file: file.into(), line: line(text, start), element: String::new() };
        limits::check(place, "attributes", "attributes of an element", limits.attributes, attributes)?;
        limits::check(place, "depth", "elements inside each other", limits.depth, depth.max(0) as usize)?;
        limits::check(place, "elements", "elements", limits.elements, elements)?;
    }
    Ok(())
}

fn line(text: &str, at: usize) -> u32 {
    text.as_bytes()[..at].iter().filter(|b| **b == b'\n').count() as u32 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(text: &str) -> Vec<(isize, usize)> {
        Tags { text, at: 0 }.map(|t| (t.opened, t.attributes)).collect()
    }

    #[test]
    fn tags_are_told_from_all_that_looks_like_them() {
        let text = "<?xml version='1'?><!-- <no a='1'> --><a x='>' y=\"<b/>\"><![CDATA[<no>]]><b/></a >";
        assert_eq!(counted(text), [(1, 2), (0, 0), (-1, 0)]);
    }

    #[test]
    fn broken_texts_end() {
        for text in ["<", "<a", "<a x='", "<a x=\"é", "<!--", "<a></", "</", "<é/>", "<a x='1'", "<![CDATA[ ]]"] {
            assert!(counted(text).len() < 3, "{text}");
        }
    }

    #[test]
    fn too_much_is_refused_with_its_line() {
        let limits = Limits { attributes: 2, depth: 3, elements: 5, ..Limits::default() };
        let error = |text: &str| check("f.xml", text, 0, &limits).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error("<a>\n<b x='' y='' z=''/></a>").starts_with("f.xml:2: expected at most 2 attributes"));
        assert!(error("<a><b><c>\n<d/></c></b></a>").is_empty());
        assert!(
            error("<a><b><c>\n<d></d></c></b></a>").starts_with("f.xml:2: expected at most 3 elements inside each")
        );
        assert!(error("<a><b/><b/><b/><b/></a>").is_empty());
        assert!(error("<a><b/><b/><b/><b/><b/></a>").contains("at most 5 elements, got 6; the limit 'elements'"));
    }
}
