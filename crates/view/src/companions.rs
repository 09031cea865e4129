//! Other replays on a page: behind the first as a ghost, or beside it.

use crate::replay::Replay;
use serde_json::{Value, json};
use slipstick::spatial::Vec3;

/// Where another replay is shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Place {
    /// Translucent, where it is.
    Ghost,
    /// Moved by so much (m).
    Beside(Vec3),
}

/// Another replay.
#[derive(Debug, Clone)]
pub(crate) struct Companion {
    pub place: Place,
    pub replay: Replay,
}

impl Companion {
    /// Its motion, and its robot if that is not the one of the page.
    pub fn to_json(&self, first: &Replay) -> Value {
        let (ours, theirs) = (first.model(), self.replay.model());
        let same = ours.shares_structure(theirs) && ours.parameters() == theirs.parameters();
        let offset = match self.place {
            Place::Ghost => Value::Null,
            Place::Beside(offset) => json!(offset.to_array()),
        };
        json!({
            "name": self.replay.title(),
            "offset": offset,
            "robot": if same { Value::Null } else { self.replay.robot_json() },
            "frames": self.replay.frames_json(),
        })
    }
}
