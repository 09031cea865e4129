//! What a warm start must agree in with the model that it is given to: who can touch whom, and which constraints there are.

use super::{EqualityKind, Structure};
use crate::bytes::{Bytes, fnv1a};

/// A hash of names, kinds and places in the tree. Sizes, poses and other numbers do not count: a warm start of a heavier
/// robot is a good one, and one of a robot that was read from another text is exact but for the last digits.
pub(super) fn of(s: &Structure) -> u64 {
    let mut out = Vec::new();
    for body in &s.bodies {
        (body.name.clone(), body.parent).put(&mut out);
    }
    for joint in &s.joints {
        joint.name.put(&mut out);
        joint.kind.name().to_string().put(&mut out);
        joint.body.put(&mut out);
    }
    for geom in &s.geoms {
        geom.name.put(&mut out);
        geom.shape.name().to_string().put(&mut out);
        geom.body.put(&mut out);
    }
    for equality in &s.equalities {
        equality.name.put(&mut out);
        kind(&equality.kind).put(&mut out);
    }
    s.tendons.iter().for_each(|tendon| tendon.name.put(&mut out));
    let rules = &s.contacts;
    rules.rule.put(&mut out);
    rules.excludes.put(&mut out);
    rules.explicit.iter().for_each(|(geoms, _)| geoms.put(&mut out));
    rules.dropped.put(&mut out);
    fnv1a(out.len() as u64, &out)
}

fn kind(kind: &EqualityKind) -> u8 {
    match kind {
        EqualityKind::Joint { .. } => 0,
        EqualityKind::Tendon { .. } => 1,
        EqualityKind::Connect { .. } => 2,
        EqualityKind::Weld { .. } => 3,
    }
}
