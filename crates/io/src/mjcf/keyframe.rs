//! `<keyframe>`: named states.

use crate::attribute::Attributes;
use crate::error::LoadError;
use crate::xml::Element;
use slipstick_core::model::Keyframe;

/// Sizes and defaults of the vectors of a state.
pub(super) struct Layout<'b> {
    /// Configuration where a key gives none.
    pub q0: &'b [f64],
    pub nv: usize,
    /// For each actuator of the file whether the model has it.
    pub has_actuator: &'b [bool],
}

pub(super) fn read(root: Element, layout: &Layout) -> Result<Vec<Keyframe>, LoadError> {
    let keys = root.all("keyframe").flat_map(|section| section.all("key"));
    keys.map(|key| one(key, layout)).collect()
}

fn one(key: Element, layout: &Layout) -> Result<Keyframe, LoadError> {
    let vector = |name: &'static str, n: usize| key.attribute(name).map(|a| a.floats(n..=n)).transpose();
    let ctrl = vector("ctrl", layout.has_actuator.len())?;
    let ctrl = ctrl.unwrap_or_else(|| vec![0.0; layout.has_actuator.len()]);
    let kept = ctrl.into_iter().zip(layout.has_actuator).filter(|(_, kept)| **kept);
    Ok(Keyframe {
        name: key.text("name").unwrap_or_default().into(),
        q: vector("qpos", layout.q0.len())?.unwrap_or_else(|| layout.q0.to_vec()),
        v: vector("qvel", layout.nv)?.unwrap_or_else(|| vec![0.0; layout.nv]),
        ctrl: kept.map(|(u, _)| u).collect(),
    })
}
