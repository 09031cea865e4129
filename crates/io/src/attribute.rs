//! Typed reading of attributes: every wrong value is reported with its line, what was expected and what was found.

use crate::error::{LoadError, Place};
use crate::xml::{Element, shown};
use slipstick_core::spatial::Vec3;
use std::ops::RangeInclusive;

/// An attribute and the element that it was found in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attribute<'a> {
    pub element: Element<'a>,
    pub name: &'static str,
    pub value: &'a str,
    pub line: u32,
}

impl<'a> Attribute<'a> {
    /// Says that the value is not what it must be.
    pub fn wrong(&self, expected: impl Into<String>) -> LoadError {
        let place = Place { line: self.line, ..self.element.place() };
        LoadError::Value {
            place: Box::new(place),
            attribute: self.name.into(),
            expected: expected.into(),
            got: format!("'{}'", shown(self.value)),
            hint: String::new(),
        }
    }

    /// Finite numbers, as many as `count` allows.
    pub fn floats(&self, count: RangeInclusive<usize>) -> Result<Vec<f64>, LoadError> {
        let (low, high) = (*count.start(), *count.end());
        let expected = || match (low, high) {
            (1, 1) => "a finite number".to_string(),
            (0, usize::MAX) => "finite numbers".to_string(),
            (n, usize::MAX) => format!("at least {n} finite numbers"),
            (a, b) if a == b => format!("{a} finite numbers"),
            (a, b) => format!("{a} to {b} finite numbers"),
        };
        let parse = |word: &str| word.parse::<f64>().ok().filter(|x| x.is_finite());
        let numbers: Option<Vec<f64>> = self.value.split_whitespace().map(parse).collect();
        numbers.filter(|n| count.contains(&n.len())).ok_or_else(|| self.wrong(expected()))
    }

    pub fn float(&self) -> Result<f64, LoadError> {
        Ok(self.floats(1..=1)?[0])
    }

    pub fn array<const N: usize>(&self) -> Result<[f64; N], LoadError> {
        let mut array = [0.0; N];
        array.copy_from_slice(&self.floats(N..=N)?);
        Ok(array)
    }

    /// One of some words.
    pub fn one_of<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, LoadError> {
        let found = words.iter().find(|(word, _)| *word == self.value.trim());
        let list = || words.iter().map(|(w, _)| *w).collect::<Vec<_>>().join(", ");
        found.map(|(_, meaning)| *meaning).ok_or_else(|| self.wrong(format!("one of {}", list())))
    }
}

/// Typed reading of attributes, whether they come from one element only or also from default classes.
pub(crate) trait Attributes<'a> {
    /// The attribute that holds.
    fn attribute(&self, name: &'static str) -> Option<Attribute<'a>>;

    /// The element itself.
    fn element(&self) -> Element<'a>;

    fn float(&self, name: &'static str) -> Result<Option<f64>, LoadError> {
        self.attribute(name).map(|a| a.float()).transpose()
    }

    fn float_or(&self, name: &'static str, default: f64) -> Result<f64, LoadError> {
        Ok(self.float(name)?.unwrap_or(default))
    }

    fn array<const N: usize>(&self, name: &'static str) -> Result<Option<[f64; N]>, LoadError> {
        self.attribute(name).map(|a| a.array()).transpose()
    }

    fn vec3(&self, name: &'static str) -> Result<Option<Vec3>, LoadError> {
        Ok(self.array::<3>(name)?.map(Vec3::from))
    }

    fn one_of<T: Copy>(&self, name: &'static str, words: &[(&str, T)], default: T) -> Result<T, LoadError> {
        self.attribute(name).map_or(Ok(default), |a| a.one_of(words))
    }

    fn flag(&self, name: &'static str, default: bool) -> Result<bool, LoadError> {
        self.one_of(name, &[("true", true), ("false", false)], default)
    }

    /// An integer that fits into 32 bits.
    fn integer(&self, name: &'static str, default: i32) -> Result<i32, LoadError> {
        let parse = |a: Attribute| a.value.trim().parse().map_err(|_| a.wrong("an integer"));
        self.attribute(name).map_or(Ok(default), parse)
    }

    /// An attribute that must be there.
    fn required(&self, name: &'static str) -> Result<Attribute<'a>, LoadError> {
        self.attribute(name).ok_or_else(|| self.element().missing(&format!("attribute '{name}'")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::Document;

    #[test]
    fn a_wrong_number_is_reported_with_the_line_of_its_attribute() {
        let mut d = Document::default();
        let root = d.add("f.xml", "<a>\n <b name='x'\n   pos='1 two 3'/>\n</a>").unwrap();
        let b = d.element(root).child("b").unwrap();
        let error = b.vec3("pos").unwrap_err().to_string();
        assert_eq!(error, "f.xml:3: <b name=\"x\">: pos: expected 3 finite numbers, got '1 two 3'");
    }
}
