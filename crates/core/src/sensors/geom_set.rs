//! The geoms that a sensor looks at.

use super::Snapshot;
use crate::model::{FrameId, GeomId, GeomSet, Model};

/// All geoms of a set in ascending order; those of `Any` and `Inside` are all geoms.
pub(super) fn members(model: &Model, set: GeomSet) -> impl Iterator<Item = GeomId> + '_ {
    let one = match set {
        GeomSet::Geom(GeomId(k)) => k..k + 1,
        _ => 0..model.geoms().len(),
    };
    one.map(GeomId).filter(move |g| contains(model, set, *g))
}

/// Whether a geom belongs to a set.
pub(super) fn contains(model: &Model, set: GeomSet, geom: GeomId) -> bool {
    let link = model.geoms()[geom.0].link;
    match set {
        GeomSet::Any | GeomSet::Inside(_) => true,
        GeomSet::Geom(id) => id == geom,
        GeomSet::Link(id) => id == link,
        GeomSet::Subtree(id) => carries(model, id, link),
    }
}

/// Whether a link is `root` or hangs on it. Parents have lower numbers.
fn carries(model: &Model, root: FrameId, mut link: FrameId) -> bool {
    while link.0 > root.0 {
        link = model.frames()[link.0].parent;
    }
    link == root
}

/// Which way a sensor of two sets sees a contact of two geoms: 1 as it is, −1 from the other side; `None` if it does not. As in
/// MuJoCo the first set decides where both geoms are in both.
pub(super) fn direction(m: &Snapshot, sets: [GeomSet; 2], geoms: [GeomId; 2]) -> Option<f64> {
    let [first, second] = sets.map(|set| geoms.map(|g| contains(m.model, set, g)));
    let given = sets.map(|set| set != GeomSet::Any);
    if first == [false; 2] || second == [false; 2] {
        return None;
    }
    let (regular, reverse) = (first[0] && second[1], first[1] && second[0]);
    match given {
        [true, true] if regular => Some(1.0),
        [true, true] => reverse.then_some(-1.0),
        [true, false] => Some(if first[0] { 1.0 } else { -1.0 }),
        [false, true] => Some(if second[1] { 1.0 } else { -1.0 }),
        [false, false] => Some(1.0),
    }
}
