//! Compares a file with the list: unknown names are refused, as MuJoCo does, and what is not represented is told.

use super::{Class, ROOT, Spec};
use crate::error::LoadError;
use crate::warning::Warnings;
use crate::xml::{Element, shown};
use slipstick_core::error::nearest_name;
use std::collections::BTreeSet;

/// Names that were met and make no difference here.
#[derive(Debug, Default)]
pub(in crate::mjcf) struct Idle {
    softness: BTreeSet<String>,
    pictures: BTreeSet<String>,
    records: BTreeSet<String>,
}

/// Checks all elements below the root of a file.
pub(in crate::mjcf) fn check(root: Element, idle: &mut Idle, warnings: &mut Warnings) -> Result<(), LoadError> {
    attributes(root, &ROOT, false, idle, warnings)?;
    let mut stack: Vec<(Element, &Spec)> = vec![(root, &ROOT)];
    while let Some((parent, spec)) = stack.pop() {
        let mut met = Vec::new();
        for element in parent.children() {
            let Some(child) = spec.child(element.name()) else {
                return Err(unknown_element(element, parent, spec));
            };
            idle.add(child.class, child.name);
            match child.class {
                // a set of defaults does nothing by itself
                Class::Unsupported(effect) if spec.name != "default" => warnings.add_once(element, effect),
                Class::Read => {
                    attributes(element, child, spec.name == "default", idle, warnings)?;
                    met.push((element, child));
                }
                _ => {}
            }
        }
        stack.extend(met.into_iter().rev());
    }
    Ok(())
}

fn attributes(
    element: Element,
    spec: &Spec,
    in_default: bool,
    idle: &mut Idle,
    warnings: &mut Warnings,
) -> Result<(), LoadError> {
    for (name, value) in element.written() {
        // a set of defaults has neither name nor class; inner classes do
        let refused = in_default && spec.name != "default" && matches!(name, "name" | "class");
        let class = spec.attribute(name).filter(|_| !refused);
        let class = class.ok_or_else(|| unknown_attribute(element, spec, name))?;
        idle.add(class, name);
        match class {
            Class::Unsupported(effect) if !is_neutral(value) => warnings.add_once(element, effect),
            Class::Unless(usual, effect) if value.trim() != usual => warnings.add_once(element, effect),
            _ => {}
        }
    }
    Ok(())
}

/// A value that asks for nothing.
fn is_neutral(value: &str) -> bool {
    let words = || value.split_whitespace();
    matches!(value.trim(), "" | "false" | "auto" | "none") || words().all(|w| w.parse() == Ok(0.0))
}

fn unknown_element(element: Element, parent: Element, spec: &Spec) -> LoadError {
    let got = format!("<{}>", shown(element.name()));
    let error = element.structure(&format!("elements that MJCF knows in <{}>", parent.name()), got);
    match nearest_name(element.name(), spec.children.iter().map(|c| c.name)) {
        Some(name) => error.with_hint(format!("did you mean <{name}>?")),
        None => error,
    }
}

fn unknown_attribute(element: Element, spec: &Spec, name: &str) -> LoadError {
    let error =
        element.structure(&format!("attributes that MJCF knows in <{}>", element.name()), format!("'{}'", shown(name)));
    match nearest_name(name, spec.attributes.iter().flat_map(|g| g.1.split_whitespace())) {
        Some(name) => error.with_hint(format!("did you mean '{name}'?")),
        None => error,
    }
}

impl Idle {
    fn add(&mut self, class: Class, name: &str) {
        let set = match class {
            Class::Softness => &mut self.softness,
            Class::Picture => &mut self.pictures,
            Class::Record => &mut self.records,
            Class::Read | Class::Unsupported(_) | Class::Unless(..) => return,
        };
        if !set.contains(name) {
            set.insert(name.to_string());
        }
    }

    /// One remark for the whole file; `None` if everything counts.
    pub fn note(&self) -> Option<String> {
        let list = |set: &BTreeSet<String>| set.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let parts = [
            ("softness and solver of MuJoCo", &self.softness),
            ("pictures", &self.pictures),
            ("measurements and records", &self.records),
        ];
        let told: Vec<String> =
            parts.iter().filter(|(_, s)| !s.is_empty()).map(|(what, s)| format!("{what} ({})", list(s))).collect();
        (!told.is_empty()).then(|| format!("makes no difference to the motion here: {}", told.join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_and_negations_ask_for_nothing() {
        assert!(is_neutral(" 0 0.0 ") && is_neutral("false") && is_neutral("auto"));
        assert!(!is_neutral("0 1") && !is_neutral("true"));
    }
}
