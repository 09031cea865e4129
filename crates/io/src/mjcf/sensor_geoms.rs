//! Sensors of two sets of geoms: distances and contacts.

use super::index::Index;
use crate::attribute::{Attribute, Attributes};
use crate::error::LoadError;
use crate::xml::Element;
use slipstick_core::model::{ContactData, ContactReport, GeomSet, Quantity, Reduce, Sensor, SensorObject};

/// A sensor without name; `None` where the model lacks a geom, or has several convex parts in its place.
pub(super) fn read(e: Element, index: &Index) -> Result<Option<Sensor>, LoadError> {
    let (quantity, sides) = match e.name() {
        "contact" => (Quantity::Contact(report(e)?), [&FIRST[..], &SECOND[..]]),
        "distance" => (Quantity::Distance, [&FIRST[..2], &SECOND[..2]]),
        "normal" => (Quantity::Normal, [&FIRST[..2], &SECOND[..2]]),
        _ => (Quantity::FromTo, [&FIRST[..2], &SECOND[..2]]),
    };
    let mut sets = [GeomSet::Any; 2];
    for (set, names) in sets.iter_mut().zip(sides) {
        match side(e, names)? {
            None if e.name() == "contact" => {}
            None => return Err(e.missing(&format!("attribute '{}' or '{}'", names[0], names[1]))),
            Some(name) => match geoms(name, index)? {
                Some(found) => *set = found,
                None => return Ok(None),
            },
        }
    }
    Ok(Some(Sensor::new("", quantity, SensorObject::Geoms(sets))))
}

const FIRST: [&str; 4] = ["geom1", "body1", "subtree1", "site"];
const SECOND: [&str; 3] = ["geom2", "body2", "subtree2"];

/// The one attribute that names what is on a side.
fn side<'a>(e: Element<'a>, names: &[&'static str]) -> Result<Option<Attribute<'a>>, LoadError> {
    let mut given = names.iter().filter_map(|name| e.attribute(name));
    let first = given.next();
    match given.next() {
        Some(second) => Err(second.wrong(format!("only one of {}", names.join(", ")))),
        None => Ok(first),
    }
}

fn geoms(name: Attribute, index: &Index) -> Result<Option<GeomSet>, LoadError> {
    Ok(match name.name {
        "geom1" | "geom2" => match index.geom(name)? {
            [one] => Some(GeomSet::Geom(*one)),
            _ => None,
        },
        "site" => Some(GeomSet::Inside(index.site(name)?.frame)),
        "body1" | "body2" => Some(GeomSet::Link(index.link(name)?.id)),
        _ => Some(GeomSet::Subtree(index.link(name)?.id)),
    })
}

fn report(e: Element) -> Result<ContactReport, LoadError> {
    let data = kinds(e, &ContactData::ALL)?.into_iter().reduce(ContactData::with).unwrap_or(ContactData::FOUND);
    let slots = usize::try_from(e.integer("num", 1)?).ok().filter(|n| *n > 0);
    let slots =
        slots.ok_or_else(|| e.attribute("num").map_or_else(|| e.missing("num"), |a| a.wrong("a positive integer")))?;
    Ok(ContactReport { data, slots, reduce: e.one_of("reduce", &Reduce::ALL, Reduce::First)? })
}

/// The words of `data`, which must come in the order of the numbers.
pub(super) fn kinds<T: Copy>(e: Element, all: &[(&str, T)]) -> Result<Vec<T>, LoadError> {
    let Some(data) = e.attribute("data") else { return Ok(Vec::new()) };
    let place = |word: &str| all.iter().position(|(name, _)| *name == word);
    let places: Option<Vec<usize>> = data.value.split_whitespace().map(place).collect();
    let list = || all.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let sorted = places.filter(|p| !p.is_empty() && p.is_sorted_by(|a, b| a < b));
    let sorted = sorted.ok_or_else(|| data.wrong(format!("words in this order: {}", list())))?;
    Ok(sorted.into_iter().map(|k| all[k].1).collect())
}
