//! Timings of slipstick and its peers on the same states in one run.
//!
//! `slipstick-bench table` is the paper's table; the other benchmarks compare single parts with peers.
#![allow(clippy::print_stdout, clippy::print_stderr)] // programs that report

mod collision;
mod dynamics;
mod error;
mod gradient;
pub mod growth;
mod loading;
mod machine;
pub mod markdown;
mod motion_arguments;
pub mod page;
mod paper;
mod peer;
mod report;
mod robots;
mod solver;
mod states;
mod step;
pub mod table;
mod table_command;
pub mod throughput;
mod tree;

use clap::{Parser, Subcommand};
pub use error::BenchError;
use motion_arguments::{GradientArguments, StepArguments};
use std::path::PathBuf;
use std::process::ExitCode;

/// Timings of slipstick and its peers.
#[derive(Parser)]
#[command(name = "slipstick-bench", version)]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Steps, gradients and finite differences, as in the paper's table.
    Table(table_command::TableArguments),
    /// Rigid-body algorithms and their derivatives, compared with Pinocchio.
    Dynamics(Dynamics),
    /// Loading of files, compared with MuJoCo's compiler.
    Loading(Loading),
    /// Collision detection: kinds of pairs compared with coal, whole scenes compared with MuJoCo.
    Collision(Collision),
    /// One kind of pair and nothing else, for profilers.
    CollisionKind(CollisionKind),
    /// Whole steps of six robots, compared with MuJoCo and the Pinocchio baseline; or many random steps of all robots.
    Step(StepArguments),
    /// The contact solver on files of single problems.
    Solver(solver::SolverArguments),
    /// Derivatives of the step, compared with MuJoCo's finite differences, Pinocchio and the Pinocchio baseline.
    Gradient(GradientArguments),
}

/// Arguments of `slipstick-bench dynamics`.
#[derive(clap::Args)]
pub struct Dynamics {
    /// The program made by bench/pinocchio/build.sh; without it only slipstick is timed.
    #[arg(long, value_name = "PROGRAM")]
    pinocchio: Option<PathBuf>,
    /// Folder with the robots of the paper's table; built-in robots are used where it is missing.
    #[arg(long, value_name = "FOLDER", env = "SLIPSTICK_MODELS", default_value = "../shared/models")]
    models: PathBuf,
    /// Only robots whose name contains this.
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Random states per robot.
    #[arg(long, default_value_t = 50)]
    states: usize,
    /// Timed passes over all states, per round.
    #[arg(long, default_value_t = 300)]
    repeats: usize,
    /// Times that each engine is timed, in turns.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Seed of the random states.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write the figures to this file as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Arguments of `slipstick-bench loading`.
#[derive(clap::Args)]
pub struct Loading {
    /// A Python interpreter that has the package mujoco; without it only slipstick is timed.
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,
    /// Folder with the robots of the paper's table.
    #[arg(long, value_name = "FOLDER", env = "SLIPSTICK_MODELS", default_value = "../shared/models")]
    models: PathBuf,
    /// Timed loads of a file, per round; a quarter of them without the cache, of long chains and in MuJoCo.
    #[arg(long, default_value_t = 40)]
    repeats: usize,
    /// Times that each is timed, in turns.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Write the plot of times over numbers of links to this file as SVG.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Write the figures to this file as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Arguments of `slipstick-bench collision`.
#[derive(clap::Args)]
pub struct Collision {
    /// The program made by bench/coal/build.sh; without it only slipstick is timed.
    #[arg(long, value_name = "PROGRAM")]
    coal: Option<PathBuf>,
    /// The program made by bench/mujoco/build.sh; without it scenes are not timed.
    #[arg(long, value_name = "PROGRAM")]
    mujoco: Option<PathBuf>,
    /// A Python interpreter that has the package mujoco; without it scenes are not timed.
    #[arg(long, value_name = "PROGRAM")]
    python: Option<PathBuf>,
    /// Folder with the robots of the paper's table; built-in robots are used where it is missing.
    #[arg(long, value_name = "FOLDER", env = "SLIPSTICK_MODELS", default_value = "../shared/models")]
    models: PathBuf,
    /// Only kinds of pairs (box-hull20) and scenes (atlas) whose name contains this.
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Random poses per kind of pair and class.
    #[arg(long, default_value_t = 200)]
    poses: usize,
    /// Time every N-th state of a scene.
    #[arg(long, default_value_t = 1)]
    every: usize,
    /// Timed passes over all poses or states, per round.
    #[arg(long, default_value_t = 30)]
    repeats: usize,
    /// Times that each engine is timed, in turns.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Seed of the random pairs.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A short run: 40 poses, every tenth state, 5 repeats, 1 round.
    #[arg(long)]
    quick: bool,
    /// Write the plot of our times over coal's to this file as SVG.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Write the figures to this file as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Collision {
    fn shortened(mut self) -> Collision {
        if self.quick {
            (self.poses, self.every, self.repeats, self.rounds) = (40, 10, 5, 1);
        }
        self
    }
}

/// Arguments of `slipstick-bench collision-kind`.
#[derive(clap::Args)]
pub struct CollisionKind {
    /// Kind of the first shape: plane, sphere, capsule, cylinder, cone, box, ellipsoid, hull20, hull200 or hull700.
    first: String,
    /// Kind of the second shape.
    second: String,
    /// Class of distances.
    class: collision::pairs::Class,
    /// Random poses.
    #[arg(long, default_value_t = 200)]
    poses: usize,
    /// Timed passes over all poses.
    #[arg(long, default_value_t = 1000)]
    repeats: usize,
    /// Seed of the random pairs.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The program `slipstick-bench`.
pub fn main() -> ExitCode {
    let result = match Arguments::parse().what {
        What::Table(arguments) => match table_command::run(&arguments) {
            Err(error) if error.is_bad_use() => {
                eprintln!("error: {error}");
                return ExitCode::from(2);
            }
            result => result.map_err(|error| error.to_string()),
        },
        What::Dynamics(arguments) => dynamics::run(&arguments),
        What::Loading(arguments) => loading::run(&arguments),
        What::Collision(arguments) => collision::run(&arguments.shortened()),
        What::CollisionKind(arguments) => collision::kinds::run_one(&arguments),
        What::Step(arguments) => step::run(&arguments.shortened()),
        What::Solver(arguments) => solver::run(&arguments),
        What::Gradient(arguments) => gradient::run(&arguments.shortened()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
