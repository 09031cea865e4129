//! What is kept of a run: numbers, or a page to look at. The ending of the file's name says which.

use slipstick::files::TrajectoryFormat;
use slipstick::{Model, Simulator, State, Trajectory};
use slipstick_view::{Replay, ViewError};
use std::path::Path;

/// A trajectory, or a replay.
pub enum Recording {
    Trajectory(Box<Trajectory>),
    Replay(Box<Replay>),
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
    /// Numbers, nothing recorded yet.
    pub fn numbers(model: &Model, contacts: bool) -> Recording {
        let trajectory = Trajectory::new(model);
        Recording::Trajectory(Box::new(if contacts { trajectory.with_contacts() } else { trajectory }))
    }

    /// What the user should know of it.
    pub fn warnings(&self) -> Vec<String> {
        match self {
            Recording::Trajectory(_) => Vec::new(),
            Recording::Replay(replay) => replay.warnings(),
        }
    }

    /// Adds the first state.
    pub fn begin(&mut self, x: &State) -> Result<(), ViewError> {
        match self {
            Recording::Trajectory(trajectory) => trajectory.push_state(x),
            Recording::Replay(replay) => replay.record_state(x)?,
        }
        Ok(())
    }

    /// Adds the last step, and the state that it led to.
    pub fn push(&mut self, sim: &mut Simulator) -> Result<(), ViewError> {
        let next = sim.state().clone();
        let Some(mut step) = sim.last_step() else { return Ok(()) };
        match self {
            Recording::Trajectory(trajectory) => {
                trajectory.push_step(&step);
                trajectory.push_state(&next);
            }
            Recording::Replay(replay) => replay.record(&mut step, &next)?,
        }
        Ok(())
    }

    pub fn save(&self, path: &Path) -> Result<(), String> {
        match self {
            Recording::Trajectory(trajectory) => trajectory.save(path).map_err(|e| e.to_string()),
            Recording::Replay(replay) => replay.save(path).map_err(|e| e.to_string()),
        }
    }
}
