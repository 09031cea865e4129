//! What a file says and the model does not represent.

use crate::error::Place;
use crate::xml::Element;
use slipstick_core::ModelBuilder;
use slipstick_core::model::Warning;
use std::fmt::Display;

/// Remarks collected while a file is read.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    list: Vec<(Warning, usize)>, // how many more places it holds for
    once: Vec<(&'static str, usize)>,
}

impl Warnings {
    /// A remark about one element: what is not represented and what follows from it.
    pub fn add(&mut self, element: Element, effect: impl Display) {
        let Place { file, line, element } = element.place();
        let place = Place { file, line, element: String::new() }.to_string();
        self.list.push((Warning { what: element, place, effect: effect.to_string() }, 0));
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

    /// Hands the remarks to the model.
    pub fn give_to(self, builder: &mut ModelBuilder) {
        for (mut warning, more) in self.list {
            match more {
                0 => {}
                1 => warning.effect.push_str(" (and 1 more place)"),
                n => warning.effect.push_str(&format!(" (and {n} more places)")),
            }
            builder.warn(warning);
        }
    }
}
