//! `<contact>`: pairs of bodies that do not touch, pairs of geoms that do whatever their masks say.

use super::defaults::{ClassId, Defaults};
use super::geom;
use super::index::Index;
use crate::attribute::Attributes;
use crate::error::LoadError;
use crate::warning::Warnings;
use crate::xml::Element;
use slipstick_core::ModelBuilder;
use slipstick_core::model::PairSurface;
use std::collections::HashSet;

/// Names of the geoms that explicit pairs and sensors ask for: they are needed even if their masks say that they touch nothing.
pub(super) fn paired<'a>(root: Element<'a>) -> HashSet<&'a str> {
    let pairs = root.all("contact").flat_map(|section| section.all("pair"));
    let sensors = root.all("sensor").flat_map(|section| section.children());
    pairs
        .chain(sensors)
        .flat_map(|pair| ["geom1", "geom2"].into_iter().filter_map(move |side| pair.text(side)))
        .collect()
}

pub(super) fn read<'a>(
    root: Element<'a>,
    defaults: &Defaults<'a>,
    index: &Index,
    warnings: &mut Warnings,
    builder: &mut ModelBuilder,
) -> Result<(), LoadError> {
    for element in root.all("contact").flat_map(|section| section.children()) {
        match element.name() {
            "exclude" => {
                let (a, b) = (index.link(element.required("body1")?)?, index.link(element.required("body2")?)?);
                builder.exclude(a.id, b.id);
            }
            _ => pair(element, defaults, index, warnings, builder)?,
        }
    }
    Ok(())
}

/// A pair has contact properties of its own: nothing is taken from its geoms.
fn pair<'a>(
    element: Element<'a>,
    defaults: &Defaults<'a>,
    index: &Index,
    warnings: &mut Warnings,
    builder: &mut ModelBuilder,
) -> Result<(), LoadError> {
    let p = defaults.complete(element, &["pair"], ClassId::MAIN)?;
    let (first, second) = (p.required("geom1")?, p.required("geom2")?);
    let (a, b) = (index.geom(first)?, index.geom(second)?);
    if a.is_empty() || b.is_empty() {
        warnings.add_once(element, "a geom of the pair is not in the model: the pair was dropped");
    }
    if first.value == second.value {
        return Err(second.wrong("another geom than geom1"));
    }
    let friction = p.overlaid("friction", [1.0, 1.0, 0.005, 0.0001, 0.0001])?;
    if friction[0] != friction[1] {
        warnings.add_once(element, "anisotropic friction is not supported: the first number is used");
    }
    let (condim, torsion) = geom::condim(&p)?;
    if torsion {
        warnings.add_once(element, geom::NO_TORSION);
    }
    let surface = PairSurface { friction: friction[0], condim, offset: p.float_or("margin", 0.0)? };
    for (a, b) in a.iter().flat_map(|a| b.iter().map(move |b| (*a, *b))) {
        builder.add_pair(a, b, surface);
    }
    Ok(())
}
