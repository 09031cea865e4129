//! Inverse dynamics through contact: torques that hold a robot still on its feet, on its hands or on both.
//!
//! A [`Stance`] says which robot and which pose; [`crate::balance`] finds a pose near it that can rest;
//! [`Task::search`] looks for torques with which a step of 1 ms leaves the robot where it is; [`Proof`] and [`hold`]
//! show what they are worth. `docs/experiments.md` has the numbers.

mod figures;
mod hold;
mod multi_start;
mod proof;
mod report;
mod search;
mod stance;
mod torques;

pub use hold::{Feedback, Hold, hold};
pub use multi_start::Searches;
pub use proof::{ContactForce, Proof};
pub use search::{Search, Start, Task, Way};
pub use stance::{HANDSTAND, PAYLOAD, PUSH_UP, Real, STAND, Stance, StanceError};
pub use torques::{Torques, TorquesError};

use crate::balance::{BalanceError, Rest, rest};
use crate::drives::Drives;
use crate::{ExperimentError, Progress, Report, Settings};
use slipstick::Model;

/// A quadruped stands.
pub fn quadruped_stand(settings: &Settings, progress: Progress) -> Result<Report, ExperimentError> {
    experiment(&STAND, settings, progress)
}

/// A quadruped stands with 10 kg on its back.
pub fn quadruped_payload(settings: &Settings, progress: Progress) -> Result<Report, ExperimentError> {
    experiment(&PAYLOAD, settings, progress)
}

/// A quadruped stands on its front feet.
pub fn quadruped_handstand(settings: &Settings, progress: Progress) -> Result<Report, ExperimentError> {
    experiment(&HANDSTAND, settings, progress)
}

/// A biped is on hands and toes.
pub fn biped_push_up(settings: &Settings, progress: Progress) -> Result<Report, ExperimentError> {
    experiment(&PUSH_UP, settings, progress)
}

/// Starts of each way: zero, and random ones.
const STARTS: u64 = 50;

/// Steps of the finite differences (N·m).
const DIFFERENCES: [f64; 4] = [1e-2, 1e-4, 1e-6, 1e-8];

/// Gains of the feedback: a hundredth of a degree costs 0.02 N·m.
const FEEDBACK: Feedback = Feedback { stiffness: 100.0, damping: 5.0 };

/// How long the pose is held (s).
const SECONDS: f64 = 1.0;

/// All that an experiment has found out.
struct Findings {
    stance: &'static Stance,
    model: Model,
    drives: Drives,
    rest: Rest,
    /// Whether torques had to be within limits.
    limited: bool,
    /// With exact derivatives only, over the central path, and by differences of several steps.
    exact: Searches,
    central: Searches,
    differences: Vec<Searches>,
    /// Of the torques from zero over the central path.
    proof: Proof,
    /// With these torques constant, and with feedback.
    holds: [Hold; 2],
    /// The robot tilted about its supports, if they are two balls.
    tilted: Option<Tilted>,
}

/// A pose that cannot rest.
struct Tilted {
    /// Why it is refused; `None`: it was not.
    refused: Option<BalanceError>,
    /// How far a search for torques gets that does not ask.
    search: Search,
}

fn experiment(stance: &'static Stance, settings: &Settings, progress: Progress) -> Result<Report, ExperimentError> {
    let model = stance.robot(settings.models.as_deref()).map_err(ExperimentError::during("the robot"))?;
    let rest = stance.find(&model).map_err(ExperimentError::during("the balanced pose"))?;
    progress(&format!("{}: a balanced pose with {} contacts", model.name(), rest.supports.len()));
    let findings = find(stance, model, rest, settings.limits, progress)?;
    Ok(report::report(&findings))
}

fn find(
    stance: &'static Stance,
    model: Model,
    rest: Rest,
    limited: bool,
    progress: Progress,
) -> Result<Findings, ExperimentError> {
    let drives = Drives::of(&model);
    let task = Task { model: &model, drives: &drives, q: &rest.q, limited };
    let mut search = |way| {
        let found = Searches::of(task, way, STARTS).map_err(ExperimentError::during("the search for torques"))?;
        progress(&found.to_string());
        Ok::<_, ExperimentError>(found)
    };
    let (exact, central) = (search(Way::Exact)?, search(Way::Central)?);
    let differences = DIFFERENCES.map(|step| search(Way::Differences(step)));
    let differences = differences.into_iter().collect::<Result<_, _>>()?;
    let torques = &central.zero.torques;
    let proof = Proof::of(&model, &drives, &rest.q, torques);
    let proof = proof.map_err(ExperimentError::during("the step under the torques"))?;
    let held = |feedback| hold(&model, &drives, &rest.q, torques, feedback, SECONDS);
    let failed = ExperimentError::during("the simulation of a second");
    let holds = [held(Feedback::default()).map_err(&failed)?, held(FEEDBACK).map_err(&failed)?];
    let tilted = tilted(task, stance)?;
    Ok(Findings { stance, limited, exact, central, differences, proof, holds, tilted, drives, rest, model })
}

/// Tilts a robot that stands on two balls about the line between them, by a degree: they stay on the floor, the center
/// of mass leaves the line.
fn tilted(task: Task, stance: &Stance) -> Result<Option<Tilted>, ExperimentError> {
    let Some(q) = stance.tilted(task.model, task.q) else { return Ok(None) };
    let search = Task { q: &q, ..task }.search(Way::Central, Start::Zero);
    let search = search.map_err(ExperimentError::during("the search for torques of a tilted robot"))?;
    Ok(Some(Tilted { refused: rest(task.model, &q).err(), search }))
}
