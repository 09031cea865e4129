//! The tree of links, as far as the model keeps it.

use crate::model::{FrameId, Model};

/// Number of links; they come first among the frames.
pub(super) fn count(model: &Model) -> usize {
    model.frames().iter().filter(|f| f.inertia.is_some()).count()
}

/// Whether a body is named after this link.
pub(super) fn is_main(model: &Model, link: FrameId) -> bool {
    model.bodies()[model.frames()[link.0].body.0].link == link
}

/// The link that carries a link. Those on fixed joints count as carried by the one that their body is named after.
pub(super) fn parent(model: &Model, link: FrameId) -> FrameId {
    let body = model.frames()[link.0].body;
    match is_main(model, link) {
        true => model.bodies()[model.bodies()[body.0].parent.0].link,
        false => model.bodies()[body.0].link,
    }
}

/// The link that a frame is fixed to, if a body is named after it; `None` for other links, and for sites of a body of
/// several links: which of them carries what is not kept.
pub(super) fn main_link(model: &Model, frame: FrameId) -> Option<FrameId> {
    let f = &model.frames()[frame.0];
    let main = model.bodies()[f.body.0].link;
    let alone = || model.frames().iter().filter(|g| g.inertia.is_some() && g.body == f.body).count() == 1;
    if f.inertia.is_some() { (main == frame).then_some(main) } else { alone().then_some(main) }
}
