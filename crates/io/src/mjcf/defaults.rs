//! Default classes: nested sets of attributes that elements fall back on.

use crate::attribute::{Attribute, Attributes};
use crate::error::LoadError;
use crate::xml::Element;
use std::collections::HashMap;

/// The outermost class.
const MAIN: &str = "main";

/// Number of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClassId(usize);

impl ClassId {
    pub const MAIN: ClassId = ClassId(0);
}

#[derive(Debug)]
struct Class<'a> {
    parent: Option<usize>,
    elements: Vec<Element<'a>>,
}

/// Classes and elements in them that are looked through for an element: far more than any file has.
const MOST_DEFAULTS: usize = 1000;

/// All classes of a model.
#[derive(Debug)]
pub(super) struct Defaults<'a> {
    classes: Vec<Class<'a>>,
    by_name: HashMap<&'a str, usize>,
}

impl<'a> Defaults<'a> {
    /// Reads the `default` sections below the root of a file.
    pub fn read(root: Element<'a>) -> Result<Defaults<'a>, LoadError> {
        let main = Class { parent: None, elements: Vec::new() };
        let mut defaults = Defaults { classes: vec![main], by_name: HashMap::from([(MAIN, 0)]) };
        let mut stack: Vec<_> = root.all("default").map(|d| (d, 0)).collect();
        // the outermost class may be given another name, and may be written in several sections
        for (section, _) in &stack {
            defaults.by_name.extend(section.text("class").map(|name| (name, 0)));
        }
        // classes of attached models have a root of their own
        for section in root.all("attached") {
            let names = ["class", "alias"].into_iter().filter_map(|n| section.text(n));
            defaults.by_name.extend(names.map(|name| (name, defaults.classes.len())));
            stack.push((section, defaults.classes.len()));
            defaults.classes.push(Class { parent: None, elements: Vec::new() });
        }
        stack.reverse();
        while let Some((section, id)) = stack.pop() {
            let (nested, own): (Vec<_>, Vec<_>) = section.children().partition(|c| c.name() == "default");
            defaults.classes[id].elements.extend(own);
            for child in nested.into_iter().rev() {
                let name = child.required("class")?;
                let number = defaults.classes.len();
                if defaults.by_name.insert(name.value, number).is_some() {
                    return Err(name.wrong("a class name that is not used yet"));
                }
                defaults.classes.push(Class { parent: Some(id), elements: Vec::new() });
                stack.push((child, number));
            }
        }
        Ok(defaults)
    }

    /// The class that an attribute names.
    pub fn class(&self, name: Attribute<'a>) -> Result<ClassId, LoadError> {
        let found = self.by_name.get(name.value).map(|i| ClassId(*i));
        found.ok_or_else(|| name.element.unknown("default class", name.value))
    }

    /// The class of the children of a body or frame.
    pub fn child_class(&self, element: Element<'a>, inherited: ClassId) -> Result<ClassId, LoadError> {
        element.attribute("childclass").map_or(Ok(inherited), |name| self.class(name))
    }

    /// An element together with what its class (or else the class of its surroundings) says about `kinds`.
    pub fn complete(
        &self,
        element: Element<'a>,
        kinds: &[&str],
        surroundings: ClassId,
    ) -> Result<Properties<'a>, LoadError> {
        let class = element.attribute("class").map_or(Ok(surroundings), |name| self.class(name))?;
        let (mut fallbacks, mut next, mut met) = (Vec::new(), Some(class.0), 0);
        while let Some(i) = next {
            met += 1 + self.classes[i].elements.len();
            if met > MOST_DEFAULTS {
                let got = "more in its class and those around it";
                return Err(element.structure(&format!("at most {MOST_DEFAULTS} defaults for an element"), got));
            }
            fallbacks.extend(self.classes[i].elements.iter().rev().filter(|e| kinds.contains(&e.name())));
            next = self.classes[i].parent;
        }
        Ok(Properties { element, fallbacks })
    }
}

/// An element and the elements of its default classes, the nearest first.
#[derive(Debug, Clone)]
pub(super) struct Properties<'a> {
    element: Element<'a>,
    fallbacks: Vec<Element<'a>>,
}

impl<'a> Properties<'a> {
    /// An element that has no defaults.
    pub fn bare(element: Element<'a>) -> Properties<'a> {
        Properties { element, fallbacks: Vec::new() }
    }

    /// From the outermost default to the element itself.
    pub fn layers(&self) -> impl Iterator<Item = Element<'a>> {
        self.fallbacks.iter().rev().copied().chain([self.element])
    }

    /// Numbers of which each layer may give only the first ones.
    pub fn overlaid<const N: usize>(&self, name: &'static str, mut base: [f64; N]) -> Result<[f64; N], LoadError> {
        for attribute in self.layers().filter_map(|e| e.attribute(name)) {
            overlay(attribute, &mut base)?;
        }
        Ok(base)
    }
}

/// Writes the numbers of an attribute over the first entries of `base`.
pub(super) fn overlay<const N: usize>(attribute: Attribute, base: &mut [f64; N]) -> Result<(), LoadError> {
    let numbers = attribute.floats(1..=N)?;
    base[..numbers.len()].copy_from_slice(&numbers);
    Ok(())
}

impl<'a> Attributes<'a> for Properties<'a> {
    fn attribute(&self, name: &'static str) -> Option<Attribute<'a>> {
        self.element.attribute(name).or_else(|| self.fallbacks.iter().find_map(|e| e.attribute(name)))
    }

    fn element(&self) -> Element<'a> {
        self.element
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::Document;

    const FILE: &str = r#"<mujoco>
      <default>
        <default class="leg"><geom friction="0.5"/><default class="foot"><geom size="3"/></default></default>
        <geom size="1 2" friction="0.9" density="7"/>
      </default>
      <geom class="foot"/><geom/><geom class="arm"/>
    </mujoco>"#;

    fn with_geoms(test: impl Fn(&Defaults, &[Element])) {
        let mut d = Document::default();
        let root = d.add("f", FILE).unwrap();
        let root = d.element(root);
        test(&Defaults::read(root).unwrap(), &root.all("geom").collect::<Vec<_>>());
    }

    #[test]
    fn inner_classes_override_outer_ones_number_by_number() {
        with_geoms(|defaults, geoms| {
            let foot = defaults.complete(geoms[0], &["geom"], ClassId::MAIN).unwrap();
            assert_eq!(foot.overlaid("size", [0.0; 3]).unwrap(), [3.0, 2.0, 0.0]);
            assert_eq!(foot.float("friction").unwrap(), Some(0.5));
            assert_eq!(foot.float("density").unwrap(), Some(7.0));
            let plain = defaults.complete(geoms[1], &["geom"], ClassId::MAIN).unwrap();
            assert_eq!(plain.float("friction").unwrap(), Some(0.9));
        });
    }

    #[test]
    fn unknown_and_repeated_classes_are_refused() {
        with_geoms(|defaults, geoms| {
            let error = defaults.complete(geoms[2], &["geom"], ClassId::MAIN).unwrap_err();
            assert_eq!(error.to_string(), "f:6: <geom>: there is no default class named 'arm'");
        });
        let mut d = Document::default();
        let twice = "<m><default><default class='a'/><default class='a'/></default></m>";
        let root = d.add("f", twice).unwrap();
        assert!(Defaults::read(d.element(root)).unwrap_err().to_string().contains("not used yet"));
    }
}
