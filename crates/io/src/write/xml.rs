//! XML as text: elements, attributes, numbers that read back as the same bits.

use super::pose::steady;
use slipstick_core::spatial::{Mat3, Pose, Vec3};
use std::fmt::Write;

/// Deeper elements are not indented further: a chain of thousands of bodies would be mostly spaces.
const MAX_INDENT: usize = 20;

/// A text that grows element by element.
#[derive(Debug, Default)]
pub(super) struct Xml {
    text: String,
    depth: usize,
}

impl Xml {
    /// An element with children, which follow until [`Xml::close`].
    pub fn open(&mut self, name: &str, attributes: Attributes) {
        self.line(&format!("<{name}{}>", attributes.0));
        self.depth += 1;
    }

    pub fn close(&mut self, name: &str) {
        self.depth -= 1;
        self.line(&format!("</{name}>"));
    }

    /// An element without children.
    pub fn leaf(&mut self, name: &str, attributes: Attributes) {
        self.line(&format!("<{name}{}/>", attributes.0));
    }

    pub fn into_text(self) -> String {
        self.text
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:1$}{line}", "", 2 * self.depth.min(MAX_INDENT));
    }
}

/// Attributes of an element in the order in which they are given.
#[derive(Debug, Default)]
#[must_use]
pub(super) struct Attributes(String);

impl Attributes {
    pub fn new() -> Attributes {
        Attributes::default()
    }

    pub fn text(mut self, name: &str, value: &str) -> Attributes {
        let _ = write!(self.0, " {name}=\"{}\"", escaped(value));
        self
    }

    /// A text, if there is one.
    pub fn name(self, name: &str, value: &str) -> Attributes {
        if value.is_empty() { self } else { self.text(name, value) }
    }

    pub fn numbers(self, name: &str, values: &[f64]) -> Attributes {
        self.text(name, &join(values))
    }

    /// A number, unless it is the one that holds anyway.
    pub fn number(self, name: &str, value: f64, default: f64) -> Attributes {
        if value == default { self } else { self.numbers(name, &[value]) }
    }

    /// Position and quaternion, unless they are those that hold anyway.
    pub fn pose(self, pose: &Pose) -> Attributes {
        self.position("pos", pose.position).turn(&pose.rotation)
    }

    pub fn position(self, name: &str, p: Vec3) -> Attributes {
        if p == Vec3::ZERO { self } else { self.numbers(name, &p.to_array()) }
    }

    fn turn(self, rotation: &Mat3) -> Attributes {
        if *rotation == Mat3::IDENTITY {
            return self;
        }
        self.numbers("quat", &steady(rotation).to_array())
    }
}

/// Numbers with as many digits as they need to read back unchanged.
pub(super) fn join(values: &[f64]) -> String {
    let mut out = String::new();
    for x in values {
        if !out.is_empty() {
            out.push(' ');
        }
        let digits = format!("{:?}", x + 0.0); // + 0: there is no use for a negative zero
        out.push_str(digits.strip_suffix(".0").unwrap_or(&digits));
    }
    out
}

/// Text as it may stand in an attribute. Characters that XML has no place for are replaced.
fn escaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\r' | '\t' => {
                let _ = write!(out, "&#{};", c as u32);
            }
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back_as_the_same_bits() {
        let numbers = [0.1 + 0.2, -1.0 / 3.0, 1e-300, 2.5e20, 7.0, -0.0];
        let back: Vec<f64> = join(&numbers).split(' ').map(|w| w.parse().unwrap()).collect();
        assert_eq!(back, numbers);
        assert_eq!(join(&[1.0, -0.0]), "1 0");
    }

    #[test]
    fn names_cannot_break_out_of_their_attribute() {
        let mut xml = Xml::default();
        xml.leaf("a", Attributes::new().text("name", "\"/><b x='&\n\u{1}"));
        let text = xml.into_text();
        let parsed = roxmltree::Document::parse(&text).unwrap();
        assert_eq!(parsed.root_element().attribute("name"), Some("\"/><b x='&\n\u{fffd}"));
    }
}
