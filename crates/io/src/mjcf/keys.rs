//! Keyframes of attached models. A key of such a model becomes one of the whole: its numbers hold for the joints, actuators
//! and mocap bodies that came along, the others keep their usual ones.
//!
//! Numbers are found again by marks: every joint, actuator and mocap body of the other model notes where it is in its
//! states, and each attachment adds its own number to the mark, so that its copies of the keys know which joints are meant.

use super::defaults::{ClassId, Defaults};
use super::keyframe::{Layout, repair};
use crate::attribute::Attributes;
use crate::error::LoadError;
use crate::warning::Warnings;
use crate::xml::{Document, Element, Written};
use slipstick_core::ModelBuilder;
use slipstick_core::model::Keyframe;

/// The attribute with the marks, words of the form `attachment@q:v`; without a number before it, the mark of the original.
pub(super) const MARK: &str = "in_states";
/// The element that stands for a key of an attached model; its attribute `of` is the number of the attachment.
const KEY: &str = "attached_key";

/// Marks the joints, actuators and mocap bodies of a model that is about to be attached, if it has keyframes.
pub(super) fn mark(document: &mut Document, root: usize) -> Result<(), LoadError> {
    let element = document.element(root);
    if element.child("keyframe").is_none() {
        return Ok(());
    }
    let (mut q, mut v, mut marks) = (0, 0, Vec::new());
    for (joint, nq, nv) in joints(element)? {
        marks.push((joint, format!("@{q}:{v}")));
        (q, v) = (q + nq, v + nv);
    }
    let actuators = element.all("actuator").flat_map(|section| section.children());
    marks.extend(actuators.enumerate().map(|(u, actuator)| (actuator.id(), format!("@{u}:{u}"))));
    marks.extend(mocap_bodies(element)?.into_iter().enumerate().map(|(m, body)| (body, format!("@{m}:{m}"))));
    for (id, mark) in marks {
        document.append(id, MARK, &mark);
    }
    Ok(())
}

/// The joints of a model in the order of its states, with their sizes in q and v.
fn joints(root: Element) -> Result<Vec<(usize, usize, usize)>, LoadError> {
    let defaults = Defaults::read(root)?;
    let mut found = Vec::new();
    let mut bodies: Vec<(Element, ClassId)> = root.all("worldbody").map(|w| (w, ClassId::MAIN)).collect();
    bodies.reverse();
    while let Some((body, class)) = bodies.pop() {
        let (mut inner, mut parts) = (Vec::new(), vec![(body, defaults.child_class(body, class)?)]);
        while let Some((part, class)) = parts.pop() {
            match part.name() {
                "body" if part.id() != body.id() => inner.push((part, class)),
                "joint" => {
                    let p = defaults.complete(part, &["joint"], class)?;
                    let (nq, nv) = match p.attribute("type").map(|a| a.value) {
                        Some("free") => (7, 6),
                        Some("ball") => (4, 3),
                        _ => (1, 1),
                    };
                    found.push((part.id(), nq, nv));
                }
                "freejoint" => found.push((part.id(), 7, 6)),
                "body" | "worldbody" | "frame" => {
                    let class = defaults.child_class(part, class)?;
                    parts.extend(part.children().rev().map(|c| (c, class)));
                }
                _ => {}
            }
        }
        bodies.extend(inner.into_iter().rev());
    }
    Ok(found)
}

/// The mocap bodies of a model in the order of its states.
fn mocap_bodies(root: Element) -> Result<Vec<usize>, LoadError> {
    let (mut found, mut stack) = (Vec::new(), root.all("worldbody").collect::<Vec<_>>());
    stack.reverse();
    while let Some(e) = stack.pop() {
        if e.name() == "body" && e.flag("mocap", false)? {
            found.push(e.id());
        }
        stack.extend(e.children().rev());
    }
    Ok(found)
}

/// Adds the keys of the model `child`, attached as number `event`, to those of `root`, and those of models attached to it.
/// Joints that are still to be attached learn of it too: as in MuJoCo, they start there as well.
pub(super) fn bring(document: &mut Document, root: usize, child: usize, prefix: &str, event: usize) {
    let model = document.element(child);
    let keys: Vec<usize> = model.all("keyframe").flat_map(|k| k.all("key")).map(|k| k.id()).collect();
    let (deeper, kept): (Vec<Element>, Vec<Element>) = model.children().partition(|e| e.name() == KEY);
    let (deeper, kept): (Vec<usize>, Vec<usize>) =
        (deeper.iter().map(|e| e.id()).collect(), kept.iter().map(|e| e.id()).collect());
    for key in &keys {
        let rename = |_: &str, list: &mut Written| {
            list.iter_mut().filter(|(n, ..)| n == "name").for_each(|(_, value, _)| value.insert_str(0, prefix));
            list.push(("of".into(), event.to_string(), 0));
        };
        let copy = document.duplicate(*key, &rename);
        document.rename(copy, KEY);
        document.push_child(root, copy);
    }
    // keys of deeper models come along once, under the name that they have there
    document.set_children(child, kept);
    deeper.into_iter().for_each(|key| document.push_child(root, key));
    if !keys.is_empty() {
        for (id, own) in marked(document, child) {
            document.append(id, MARK, &format!("{event}{own}"));
        }
    }
}

/// The marked elements of a model, with the marks of the originals.
fn marked(document: &Document, root: usize) -> Vec<(usize, String)> {
    let (mut found, mut stack) = (Vec::new(), vec![document.element(root)]);
    while let Some(e) = stack.pop() {
        let own = e.text(MARK).and_then(|marks| marks.split_whitespace().find(|m| m.starts_with('@')));
        found.extend(own.map(|own| (e.id(), own.to_string())));
        stack.extend(e.children());
    }
    found
}

/// Leaves the original without the marks that its copy has taken along.
pub(super) fn taken(document: &mut Document, originals: &[usize]) {
    for (id, own) in originals.iter().flat_map(|top| marked(document, *top)).collect::<Vec<_>>() {
        document.edit(id, |list| {
            list.iter_mut().filter(|(n, ..)| n == MARK).for_each(|(_, value, _)| value.clone_from(&own));
        });
    }
}

/// Takes the mark of the original from a copy, which has its place in the states of another model.
pub(super) fn settle(attributes: &mut Written) {
    for (_, value, _) in attributes.iter_mut().filter(|(name, ..)| name == MARK) {
        *value = value.split_whitespace().filter(|mark| !mark.starts_with('@')).collect::<Vec<_>>().join(" ");
    }
}

/// Takes all marks from a copy.
pub(super) fn forget(attributes: &mut Written) {
    attributes.retain(|(name, ..)| name != MARK);
}

/// Where an element is in the states of the attachment with number `event`: its first places in q and v.
fn place(marks: &str, event: &str) -> Option<(usize, usize)> {
    let mark = marks.split_whitespace().find_map(|m| m.strip_prefix(event)?.strip_prefix('@'))?;
    let (q, v) = mark.split_once(':')?;
    Some((q.parse().ok()?, v.parse().ok()?))
}

/// Adds the keys of attached models to the model. The marks are those of all joints in the order of q, and of all mocap bodies.
pub(super) fn read(
    root: Element,
    layout: &Layout,
    [joints, mocap]: [&[&str]; 2],
    builder: &mut ModelBuilder,
    warnings: &mut Warnings,
) -> Result<(), LoadError> {
    let actuators = root.all("actuator").flat_map(|section| section.children());
    let actuators: Vec<&str> = actuators.map(|e| e.text(MARK).unwrap_or_default()).collect();
    for key in root.all(KEY) {
        let name = key.text("name").unwrap_or_default().to_string();
        let event = key.text("of").unwrap_or_default();
        let numbers = |attribute| key.attribute(attribute).map_or(Ok(Vec::new()), |a| a.floats(0..=usize::MAX));
        let (given_q, given_v, given_ctrl) = (numbers("qpos")?, numbers("qvel")?, numbers("ctrl")?);
        let (mut q, mut v) = (layout.q0.to_vec(), Vec::new());
        let mut next = 0;
        for (kind, marks) in layout.joints.iter().zip(joints) {
            let mut speed = vec![0.0; kind.nv()];
            if let Some((iq, iv)) = place(marks, event) {
                put(&given_q, iq, &mut q[next..next + kind.nq()]);
                put(&given_v, iv, &mut speed);
            }
            next += kind.nq();
            v.extend(speed);
        }
        if let Some(k) = layout.repair_quaternions(&mut q) {
            builder.note(format!("keyframe '{name}': a zero quaternion is read as no rotation (qpos[{k}])"));
        }
        let ctrl = |marks: &&str| place(marks, event).and_then(|(u, _)| given_ctrl.get(u)).copied().unwrap_or(0.0);
        let kept = actuators.iter().zip(layout.has_actuator).filter(|(_, kept)| **kept);
        let ctrl = kept.map(|(marks, _)| ctrl(marks)).collect();
        let (given_pos, given_quat) = (numbers("mpos")?, numbers("mquat")?);
        let poses = layout.mocap.iter().zip(mocap).flat_map(|(base, marks)| {
            let mut pose = *base;
            if let Some((m, _)) = place(marks, event) {
                put(&given_pos, 3 * m, &mut pose[..3]);
                put(&given_quat, 4 * m, &mut pose[3..]);
            }
            if repair(&mut pose[3..]) {
                builder.note(format!("keyframe '{name}': a zero quaternion is read as no rotation (mquat)"));
            }
            pose
        });
        let mocap = poses.collect();
        if key.text("act").is_some() {
            warnings.add(key, "activations of an attached model's keyframe are not supported: they are zero");
        }
        builder.add_keyframe(Keyframe { name, q, v, ctrl, act: Vec::new(), mocap });
    }
    Ok(())
}

/// Copies numbers, as many as the key gives.
fn put(given: &[f64], first: usize, out: &mut [f64]) {
    out.iter_mut().zip(given.iter().skip(first)).for_each(|(out, given)| *out = *given);
}
