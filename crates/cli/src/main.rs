//! The command-line tool: looks at robots, checks and converts their files, runs them.
//!
//! Exit codes: 0 success, 1 failure (the robot does not load, the motion diverges), 2 usage error, 3 steps that did not
//! converge, 130 ended by Ctrl-C. Everything is printed by `output`: println! panics where nobody listens.

mod browser;
mod check;
mod contacts;
mod convert;
mod derivatives;
mod grad_check;
mod grad_check_report;
mod info;
mod interrupt;
mod manual;
mod models;
mod names;
mod output;
mod overlap;
mod progress;
mod recording;
mod run;
mod run_loop;
mod run_report;
mod sanity;
mod settings;
mod solve;
mod source;
mod view;

use clap::{CommandFactory, Parser, Subcommand};
use output::{Failure, tell};
use std::process::ExitCode;

/// Differentiable rigid-body simulation for robotics.
#[derive(Parser)]
#[command(
    name = "slipstick",
    version,
    after_help = "Examples:\n  slipstick info quadruped\n  slipstick check robot.urdf --free-root\n  \
                  slipstick convert robot.urdf robot.xml\n  slipstick contacts quadruped\n  \
                  slipstick run quadruped\n  slipstick view quadruped\n  slipstick grad-check quadruped\n  \
                  slipstick solve cube-velocity\n\n\
                  Exit codes: 0 success, 1 failure, 2 usage error, 3 finished, but steps did not converge (run),\n\
                  130 ended early by Ctrl-C (run, grad-check: with what there is; a second Ctrl-C ends at once)."
)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// List the built-in robots.
    Models(models::Arguments),
    /// Describe a robot: tree, dofs, masses, geoms, actuators, warnings.
    Info(info::Arguments),
    /// Check a robot file: errors, warnings and notes, with hints.
    Check(check::Arguments),
    /// List contacts: pairs of geoms, points, normals, depths.
    Contacts(contacts::Arguments),
    /// Write a robot as MJCF or URDF and list what the format cannot express.
    Convert(convert::Arguments),
    /// Simulate a robot: contacts, solver residuals, energy, motion.
    Run(run::Arguments),
    /// Open a recorded motion or a robot in the browser.
    View(view::Arguments),
    /// Compare exact derivatives of the step with finite differences over many states with contacts.
    GradCheck(grad_check::Arguments),
    /// Solve one of the paper's inverse problems: claims, figures, numbers.
    Solve(solve::Arguments),
    /// Print completions for a shell.
    Completions(manual::Completions),
    /// Print the manual page, or write the pages of all verbs.
    Man(manual::Manual),
}

fn main() -> ExitCode {
    let done = |()| ExitCode::SUCCESS;
    let result = match Arguments::parse().verb {
        Verb::Models(a) => models::main(&a).map(done).map_err(Failure::from),
        Verb::Info(a) => info::main(&a).map(done).map_err(Failure::from),
        Verb::Check(a) => check::main(&a).map_err(Failure::from),
        Verb::Contacts(a) => contacts::main(&a).map(done),
        Verb::Convert(a) => convert::main(&a).map(done),
        Verb::Run(a) => run::main(&a),
        Verb::View(a) => view::main(&a).map(done),
        Verb::GradCheck(a) => grad_check::main(&a),
        Verb::Solve(a) => solve::main(&a),
        Verb::Completions(a) => manual::completions(&a, Arguments::command()).map(done),
        Verb::Man(a) => manual::manual(&a, Arguments::command()).map(done),
    };
    result.unwrap_or_else(|failure| {
        let (message, code) = match failure {
            Failure::Failed(message) => (message, 1),
            Failure::Use(message) => (message, 2),
        };
        tell!("error: {message}");
        ExitCode::from(code)
    })
}
