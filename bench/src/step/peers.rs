//! MuJoCo and the paper's baseline along our motions: what they are given, how they are asked, whether they have our robot.

use super::drive::{Coordinates, Drive, Recording, Steps};
use super::scene::{Phase, Scene};
use crate::motion_arguments::Motions;
use crate::peer::{ask, numbers, strange};
use crate::report::write;
use slipstick::Model;
use slipstick::model::Implicit;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Largest difference of velocities after a first step without contact: more means another robot (m/s).
const SAME: f64 = 1e-4;

/// A peer and whose way it goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    MujocoOwn,
    /// From our states.
    MujocoGiven,
    BaselineOwn,
    BaselineGiven,
}

impl Way {
    pub const ALL: [Way; 4] = [Way::MujocoOwn, Way::MujocoGiven, Way::BaselineOwn, Way::BaselineGiven];

    pub fn is_mujoco(self) -> bool {
        matches!(self, Way::MujocoOwn | Way::MujocoGiven)
    }
}

/// A scene in a phase, written down for the peers.
pub struct Peers<'a> {
    motions: &'a Motions,
    scene: &'a Scene,
    /// A file per way.
    drives: [PathBuf; 4],
    /// Our velocities after the first step with joint damping as MuJoCo and as the baseline take it.
    first: [Vec<f64>; 2],
}

impl<'a> Peers<'a> {
    pub fn new(
        motions: &'a Motions,
        folder: &Path,
        scene: &'a Scene,
        phase: Phase,
        drive: &Drive,
        recording: &Recording,
    ) -> Result<Peers<'a>, String> {
        let drives = Way::ALL.map(|way| folder.join(format!("{way:?}.drive")));
        for (way, file) in Way::ALL.iter().zip(&drives) {
            let text = match way {
                Way::MujocoOwn => drive.write(&scene.model, scene.gains(phase), Coordinates::File),
                Way::MujocoGiven => drive.write_states(&scene.model, recording, Coordinates::File),
                Way::BaselineOwn => drive.write(&scene.model, scene.gains(phase), Coordinates::FromPose),
                Way::BaselineGiven => drive.write_states(&scene.model, recording, Coordinates::FromPose),
            };
            write(file, &text)?;
        }
        let first = [drive.first_velocity(&scene.model)?, drive.first_velocity(&explicit(&scene.model)?)?];
        Ok(Peers { motions, scene, drives, first })
    }

    /// The motions as a peer reads them.
    pub fn file(&self, way: Way) -> &Path {
        &self.drives[way as usize]
    }

    /// The program of a peer and how it is called on a way; `None` if it does not take part. `xml` is MuJoCo's scene.
    pub fn command(&self, way: Way, xml: &Path) -> Option<(&'a Path, Command)> {
        let (motions, drive) = (self.motions, &self.drives[way as usize]);
        let program = if way.is_mujoco() { motions.mujoco.as_deref()? } else { motions.baseline.as_deref()? };
        let mut command = Command::new(program);
        if way.is_mujoco() {
            let margin = if way == Way::MujocoGiven { motions.thicker } else { 0.0 };
            command.arg(xml).arg(drive).arg(motions.repeats.to_string()).arg(margin.to_string());
        } else {
            command.arg(&self.scene.tree).arg(&self.scene.shapes).arg(drive).arg(motions.repeats.to_string());
        }
        Some((program, command))
    }

    /// A falling robot touches nothing in its first step, where all engines agree if they have the same robot.
    pub fn check(&self, way: Way, phase: Phase, first_velocity: &[f64]) -> Result<(), String> {
        let ours = &self.first[usize::from(!way.is_mujoco())];
        let difference = first_velocity.iter().zip(ours).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
        let is_same = first_velocity.len() == ours.len() && difference <= SAME;
        if phase == Phase::Drop && !is_same {
            return Err(format!("a peer's first step differs by {difference:.1e} m/s: not the same robot"));
        }
        Ok(())
    }
}

/// With joint damping taken at the beginning of the step, as the baseline does.
fn explicit(model: &Model) -> Result<Model, String> {
    let mut options = model.options().clone();
    options.implicit = Implicit::None;
    model.with_options(options).map_err(|e| e.to_string())
}

/// Name and version of a peer, and its steps.
pub fn steps(program: &Path, mut command: Command) -> Result<(String, Steps), String> {
    let json = ask(program, &mut command)?;
    let read = || {
        let list = |name: &str| numbers(&json[name]);
        let steps = Steps {
            best_us: list("best_us")?,
            contacts: list("contacts")?,
            iterations: list("iterations")?,
            converged: list("converged")?,
            first_velocity: list("first_velocity")?,
        };
        Some((format!("{} {}", json["peer"].as_str()?, json["version"].as_str()?), steps))
    };
    read().ok_or_else(|| strange(program))
}
