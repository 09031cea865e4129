//! What a step did at every contact and limit. Two steps that differ in it are on two sides of a kink.

use slipstick_core::{Mode, Status, Step};

/// Modes and features of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Signature {
    key: u64,
    /// A solve that dropped the correction of overlaps follows another law.
    status: Status,
}

impl Signature {
    pub fn read(&mut self, step: &Step) {
        (self.key, self.status) = (step.mode_key(), step.report().status);
    }

    /// Words for what happens in a step: free, break, stick, slide, limit, or several of the last three.
    pub fn label(step: &mut Step) -> String {
        let limit = is_at_limit(step);
        let has = |mode| step.contacts().any(|c| c.mode == mode);
        let words = [(has(Mode::Stick), "stick"), (has(Mode::Slide), "slide"), (limit, "limit")];
        let words: Vec<&str> = words.into_iter().filter(|(there, _)| *there).map(|(_, word)| word).collect();
        match words.is_empty() {
            true if has(Mode::Break) => "break".into(),
            true => "free".into(),
            false => words.join("+"),
        }
    }
}

/// Whether a limit of a joint or tendon acts.
pub(super) fn is_at_limit(step: &mut Step) -> bool {
    step.constraints().iter().any(|c| c.mode == Mode::Stick && c.name.contains("limit of "))
}
