//! `<keyframe>`: named states. As in MuJoCo, a vector may give the first numbers only, and a zero quaternion is no rotation.

use crate::attribute::Attributes;
use crate::error::LoadError;
use crate::xml::Element;
use slipstick_core::ModelBuilder;
use slipstick_core::model::{JointKind, Keyframe};

/// A quaternion below this norm is zero: MuJoCo's bound.
const ZERO_NORM: f64 = 1e-15;

/// Sizes and defaults of the vectors of a state.
pub(super) struct Layout<'b> {
    /// Configuration where a key gives none.
    pub q0: &'b [f64],
    /// All joints in the order of q.
    pub joints: &'b [JointKind],
    /// For each actuator of the file whether the model has it.
    pub has_actuator: &'b [bool],
    /// For each activation of the file whether the model has it.
    pub has_activation: &'b [bool],
    /// Poses of the mocap bodies where a key gives none.
    pub mocap: &'b [[f64; 7]],
}

/// Adds the states, with a note about each one that is not as it is written.
pub(super) fn read(root: Element, layout: &Layout, builder: &mut ModelBuilder) -> Result<(), LoadError> {
    for key in root.all("keyframe").flat_map(|section| section.all("key")) {
        let (keyframe, repaired) = one(key, layout)?;
        if !repaired.is_empty() {
            builder.note(format!("keyframe '{}': {}", keyframe.name, repaired.join("; ")));
        }
        builder.add_keyframe(keyframe);
    }
    Ok(())
}

/// A state and what was done to make it one.
fn one(key: Element, layout: &Layout) -> Result<(Keyframe, Vec<String>), LoadError> {
    let mut repaired = Vec::new();
    let nv = layout.joints.iter().map(|kind| kind.nv()).sum();
    let mut q = completed(key, "qpos", layout.q0.to_vec(), &mut repaired)?;
    let v = completed(key, "qvel", vec![0.0; nv], &mut repaired)?;
    let ctrl = completed(key, "ctrl", vec![0.0; layout.has_actuator.len()], &mut repaired)?;
    if let Some(k) = layout.repair_quaternions(&mut q) {
        repaired.push(format!("a zero quaternion is read as no rotation (qpos[{k}])"));
    }
    let mocap = mocap(key, layout.mocap, &mut repaired)?;
    let kept = ctrl.into_iter().zip(layout.has_actuator).filter(|(_, kept)| **kept);
    let name = key.text("name").unwrap_or_default().into();
    let act = completed(key, "act", vec![0.0; layout.has_activation.len()], &mut repaired)?;
    let act = act.into_iter().zip(layout.has_activation).filter(|(_, kept)| **kept).map(|(x, _)| x).collect();
    Ok((Keyframe { name, q, v, ctrl: kept.map(|(u, _)| u).collect(), act, mocap }, repaired))
}

/// Poses of the mocap bodies: `mpos` and `mquat`, body by body.
fn mocap(key: Element, base: &[[f64; 7]], repaired: &mut Vec<String>) -> Result<Vec<f64>, LoadError> {
    let part = |range: std::ops::Range<usize>| base.iter().flat_map(|pose| pose[range.clone()].to_vec()).collect();
    let positions = completed(key, "mpos", part(0..3), repaired)?;
    let mut turns = completed(key, "mquat", part(3..7), repaired)?;
    for (k, turn) in turns.chunks_exact_mut(4).enumerate() {
        if repair(turn) {
            repaired.push(format!("a zero quaternion is read as no rotation (mquat[{}])", 4 * k));
        }
    }
    let poses = positions.chunks_exact(3).zip(turns.chunks_exact(4));
    Ok(poses.flat_map(|(position, turn)| position.iter().chain(turn).copied().collect::<Vec<_>>()).collect())
}

/// Makes a zero quaternion no rotation, and tells whether it was one.
pub(super) fn repair(turn: &mut [f64]) -> bool {
    let is_zero = turn.iter().map(|x| x * x).sum::<f64>().sqrt() < ZERO_NORM;
    if is_zero {
        turn.copy_from_slice(&[1.0, 0.0, 0.0, 0.0]);
    }
    is_zero
}

/// The numbers of an attribute, then the rest of `base`.
fn completed(
    key: Element,
    name: &'static str,
    mut base: Vec<f64>,
    repaired: &mut Vec<String>,
) -> Result<Vec<f64>, LoadError> {
    let Some(attribute) = key.attribute(name) else { return Ok(base) };
    let numbers = attribute.floats(0..=usize::MAX)?;
    let (n, given) = (base.len(), numbers.len());
    if given > n {
        return Err(attribute.wrong(format!("at most {n} numbers, as the model has, not {given}")));
    }
    if given < n {
        repaired.push(format!("{name} has {given} of {n} numbers, the others keep their usual values"));
    }
    base[..given].copy_from_slice(&numbers);
    Ok(base)
}

impl Layout<'_> {
    /// Makes zero quaternions no rotations; the answer is where the first one was.
    pub fn repair_quaternions(&self, q: &mut [f64]) -> Option<usize> {
        let places: Vec<usize> = self.quaternions().filter(|k| repair(&mut q[*k..k + 4])).collect();
        places.first().copied()
    }

    /// Where in q quaternions begin.
    fn quaternions(&self) -> impl Iterator<Item = usize> {
        let begins = self.joints.iter().scan(0, |next, kind| {
            let begin = *next;
            *next += kind.nq();
            Some((begin, kind))
        });
        begins.filter_map(|(begin, kind)| match kind {
            JointKind::Free => Some(begin + 3),
            JointKind::Spherical => Some(begin),
            _ => None,
        })
    }
}
