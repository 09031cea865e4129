//! What a file says and the model does not represent.

use crate::xml::Element;
use std::fmt::Display;

/// Remarks collected while a file is read.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    list: Vec<(String, usize)>, // text, how many more places it holds for
    once: Vec<(&'static str, usize)>,
}

impl Warnings {
    /// A remark about one element: what is not represented and what follows from it.
    pub fn add(&mut self, element: Element, effect: impl Display) {
        self.list.push((format!("{}: {effect}", element.place()), 0));
    }

    /// A remark that would be repeated for many elements: the first one is named, the others are counted.
    pub fn add_once(&mut self, element: Element, effect: &'static str) {
        match self.once.iter().find(|(text, _)| *text == effect) {
            Some((_, i)) => self.list[*i].1 += 1,
            None => {
                self.once.push((effect, self.list.len()));
                self.add(element, effect);
            }
        }
    }

    pub fn into_texts(self) -> impl Iterator<Item = String> {
        self.list.into_iter().map(|(text, more)| match more {
            0 => text,
            1 => format!("{text} (and 1 more place)"),
            n => format!("{text} (and {n} more places)"),
        })
    }
}
