//! The paper's inverse problems, solved by least squares on slipstick's gradients: what the gradients are worth.
//!
//! Each experiment is a function that returns a [`Report`]: claims that hold or do not, a summary, figures, numbers.
//! [`run`] finds it by name, as `slipstick solve` does; the programs of `examples/` run one each. `docs/experiments.md`
//! says how they are made and what came out.

#![allow(non_snake_case)] // J: a Jacobian, as in the notation

pub mod balance;
mod boundary;
mod comparison;
mod cube_impulse;
mod cube_velocity;
mod curves;
mod drives;
mod error;
pub mod holding;
mod ranking;
mod replay;
mod report;
mod throw;

pub use cube_impulse::cube_impulse;
pub use cube_velocity::cube_velocity;
pub use drives::Drives;
pub use error::ExperimentError;
pub use holding::{biped_push_up, quadruped_handstand, quadruped_payload, quadruped_stand};
pub use report::{Bound, Claim, Motion, Report};

use std::path::PathBuf;

/// What an experiment may use in addition to the built-in robots.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Settings {
    /// Folder with descriptions of real robots; `None`: the built-in ones.
    pub models: Option<PathBuf>,
    /// Whether torques must be within what the drives can give.
    pub limits: bool,
}

/// Takes lines that say how far an experiment is.
pub type Progress<'a> = &'a mut dyn FnMut(&str);

/// An experiment.
pub struct Experiment {
    /// As the command line names it.
    pub name: &'static str,
    /// What it is about, in a line.
    pub about: &'static str,
    /// Whether it is about a robot with drives, so that models and limits can be chosen.
    pub robot: bool,
    function: fn(&Settings, Progress) -> Result<Report, ExperimentError>,
}

/// All of them.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "cube-velocity",
        about: "with which velocity a cube was thrown that slides to a given pose",
        robot: false,
        function: cube_velocity,
    },
    Experiment {
        name: "cube-impulse",
        about: "which impulse sends a sliding cube to a given pose",
        robot: false,
        function: cube_impulse,
    },
    Experiment {
        name: "quadruped-stand",
        about: "torques that hold a quadruped on its feet",
        robot: true,
        function: quadruped_stand,
    },
    Experiment {
        name: "quadruped-payload",
        about: "the same with 10 kg on its back",
        robot: true,
        function: quadruped_payload,
    },
    Experiment {
        name: "quadruped-handstand",
        about: "torques that hold a quadruped on its two front feet",
        robot: true,
        function: quadruped_handstand,
    },
    Experiment {
        name: "biped-push-up",
        about: "torques that hold a biped on hands and toes",
        robot: true,
        function: biped_push_up,
    },
];

impl Experiment {
    /// Runs it.
    pub fn run(&self, settings: &Settings, progress: Progress) -> Result<Report, ExperimentError> {
        (self.function)(settings, progress)
    }
}

/// Runs the experiment of a name.
pub fn run(name: &str, settings: &Settings, progress: Progress) -> Result<Report, ExperimentError> {
    match EXPERIMENTS.iter().find(|e| e.name == name) {
        Some(experiment) => experiment.run(settings, progress),
        None => Err(ExperimentError::UnknownName { name: name.into() }),
    }
}
