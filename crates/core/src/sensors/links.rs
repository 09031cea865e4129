//! The tree of links: bodies are made of one or several of them.

use crate::model::{BodyId, FrameId, Model};

/// Number of links; they come first among the frames.
pub(super) fn count(model: &Model) -> usize {
    model.frames().iter().filter(|f| f.inertia.is_some()).count()
}

/// Whether a body is named after this link.
pub(super) fn is_main(model: &Model, link: FrameId) -> bool {
    model.bodies()[model.frames()[link.0].body.0].link == link
}

/// The main link of the body, from whose inertia that of this link is subtracted; `None` for the main link itself and in the world.
pub(super) fn main_link_without(model: &Model, link: FrameId) -> Option<FrameId> {
    let body = model.frames()[link.0].body;
    (body != BodyId::WORLD && !is_main(model, link)).then(|| model.bodies()[body.0].link)
}

/// The link that a frame is, or is fixed to.
pub(super) fn link_of(model: &Model, frame: FrameId) -> FrameId {
    let f = &model.frames()[frame.0];
    if f.inertia.is_some() { frame } else { f.parent }
}
