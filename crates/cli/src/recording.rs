//! What is kept of a run: numbers, or a page to look at. The ending of the file's name says which.

use slipstick::files::TrajectoryFormat;
use slipstick::step::ContactView;
use slipstick::{Model, State, Step, Trajectory};
use slipstick_view::{Replay, ViewError};
use std::path::Path;

/// A trajectory, or a replay with the contacts of the step that was made last.
pub enum Recording {
    Trajectory(Box<Trajectory>),
    Replay { replay: Box<Replay>, contacts: Vec<ContactView> },
}

/// Whether a name is one of a page to look at.
pub fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("html"))
}

/// Whether a name says what to write.
pub fn is_known(path: &Path) -> bool {
    is_page(path) || TrajectoryFormat::of_path(path).is_some()
}

/// Whether what is written has contacts.
pub fn takes_contacts(path: &Path) -> bool {
    is_page(path) || TrajectoryFormat::of_path(path) == Some(TrajectoryFormat::Npz)
}

impl Recording {
    /// Nothing recorded yet. A page has contacts in any case.
    pub fn new(model: &Model, path: &Path, contacts: bool) -> Recording {
        match is_page(path) {
            true => Recording::Replay { replay: Box::new(Replay::new(model)), contacts: Vec::new() },
            false if contacts => Recording::Trajectory(Box::new(Trajectory::new(model).with_contacts())),
            false => Recording::Trajectory(Box::new(Trajectory::new(model))),
        }
    }

    /// Adds a step from the last state.
    pub fn push_step(&mut self, step: &Step) {
        match self {
            Recording::Trajectory(trajectory) => trajectory.push_step(step),
            Recording::Replay { contacts, .. } => contacts.extend(step.contacts()),
        }
    }

    /// Adds the first state, or the one after the last step.
    pub fn push_state(&mut self, model: &Model, x: &State) -> Result<(), ViewError> {
        match self {
            Recording::Trajectory(trajectory) => trajectory.push_state(x),
            Recording::Replay { replay, contacts } => {
                replay.record_contacts(x, contacts.drain(..), model.options().dt)?;
            }
        }
        Ok(())
    }

    pub fn save(&self, path: &Path) -> Result<(), String> {
        match self {
            Recording::Trajectory(trajectory) => trajectory.save(path).map_err(|e| e.to_string()),
            Recording::Replay { replay, .. } => replay.save(path).map_err(|e| e.to_string()),
        }
    }
}
