//! `<replicate>`: copies of a part of the tree, each moved by one more step, with numbered names. What refers to the part
//! from outside the tree (actuators, sensors, …) is copied with it.

use super::attach::copies_bounded;
use super::compiler::Compilers;
use super::references::{Names, names_below};
use super::users::{Affix, copy_users, remove_users, users_of};
use crate::attribute::Attributes;
use crate::error::LoadError;
use crate::orientation::euler;
use crate::xml::{Document, Element, Written};
use slipstick_core::spatial::{Pose, Quat, Vec3};

/// Replaces every `<replicate>` below `root` by frames, inner ones first.
pub(super) fn expand(document: &mut Document, root: usize, compilers: &Compilers) -> Result<(), LoadError> {
    let all = innermost_first(document, root);
    copies_bounded(document, root, all.len())?;
    for id in all {
        one(document, root, id, compilers)?;
    }
    Ok(())
}

fn innermost_first(document: &Document, root: usize) -> Vec<usize> {
    let (mut order, mut stack) = (Vec::new(), vec![(document.element(root), false)]);
    while let Some((element, done)) = stack.pop() {
        if done {
            order.push(element.id());
            continue;
        }
        if element.name() == "replicate" {
            stack.push((element, true));
        }
        stack.extend(element.children().rev().map(|c| (c, false)));
    }
    order
}

fn one(document: &mut Document, root: usize, id: usize, compilers: &Compilers) -> Result<(), LoadError> {
    let element = document.element(id);
    let count = element.required("count")?;
    let count: usize = match element.integer("count", 0)? {
        n if n > 0 => n as usize,
        _ => return Err(count.wrong("a positive number of copies")),
    };
    let children: Vec<usize> = element.children().map(|c| c.id()).collect();
    let mut names = Names::new();
    names_below(element, &mut names);
    let users = users_of(document.element(root), &mut names);
    let outside = users.iter().flat_map(|u| &u.followers).map(|u| document.element(*u));
    bound(document, element, outside.chain([element]), count)?;
    let angles = compilers.of(element).angles;
    let step = Step::read(element)?;
    let (separator, digits) = (element.text("sep").unwrap_or_default(), count.to_string().len());
    // as in MuJoCo, keyframes of attached models hold for the first copy only
    let affix = |i| Affix { suffix: format!("{separator}{i:0digits$}"), keeps_states: i == 0, ..Affix::default() };
    let affixes: Vec<Affix> = (0..count).map(affix).collect();
    let class = element.text("childclass").map(|c| ("childclass", c.to_string()));
    let (mut frames, mut position, mut turn) = (Vec::with_capacity(count), Vec3::ZERO, Quat::IDENTITY);
    for (i, affix) in affixes.iter().enumerate() {
        let edit = |_: &str, list: &mut Written| affix.declared(list);
        let inside = children.iter().map(|c| document.duplicate(*c, &edit)).collect();
        let frame = document.sibling_of(id);
        let mut attributes = vec![("pos", text(&position.to_array())), ("quat", text(&turn.to_array()))];
        attributes.extend(class.clone());
        document.rewrite(frame, "frame", &attributes, inside);
        frames.push(frame);
        position = Pose::new(position, turn).point(step.offset);
        // MuJoCo multiplies the angles: not the same as turning again and again, except about one axis
        turn = euler(step.angles.map(|angle| (i + 1) as f64 * angle), &angles);
    }
    document.rewrite(id, "frame", &[], frames);
    copy_users(document, &users, &names, &affixes);
    remove_users(document, &users);
    Ok(())
}

/// Refuses copies that would fill the memory: `copied` elements with all below them, `count` times.
pub(super) fn bound<'a>(
    document: &Document,
    element: Element<'a>,
    copied: impl Iterator<Item = Element<'a>>,
    count: usize,
) -> Result<(), LoadError> {
    let copied: usize = copied.map(size).sum();
    let (present, allowed) = (document.len(), document.limits().elements);
    if copied.saturating_mul(count).saturating_add(present) <= allowed {
        return Ok(());
    }
    let got = format!("{present} and {count} copies of {copied}");
    Err(LoadError::Limit { place: Box::new(element.place()), limit: "elements", what: "elements", allowed, got })
}

/// How much further each copy is moved, seen from the one before.
struct Step {
    offset: Vec3,
    angles: [f64; 3],
}

impl Step {
    fn read(element: Element) -> Result<Step, LoadError> {
        let offset = element.vec3("offset")?.unwrap_or(Vec3::ZERO);
        Ok(Step { offset, angles: element.array("euler")?.unwrap_or([0.0; 3]) })
    }
}

/// Numbers that read back as they were.
fn text(numbers: &[f64]) -> String {
    numbers.iter().map(|x| x.to_string()).collect::<Vec<_>>().join(" ")
}

fn size(element: Element) -> usize {
    let (mut n, mut stack) = (0, vec![element]);
    while let Some(e) = stack.pop() {
        n += 1;
        stack.extend(e.children());
    }
    n
}
