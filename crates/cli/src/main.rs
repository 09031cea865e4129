//! The command-line tool: looks at robots and runs them.
//!
//! Exit codes: 0 done, 1 failed (the robot does not load, the motion diverges), 2 bad use.
#![allow(clippy::print_stdout, clippy::print_stderr)] // a program that reports

mod info;
mod models;
mod run;
mod source;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Differentiable rigid-body simulation for robotics.
#[derive(Parser)]
#[command(name = "slipstick", version, after_help = "Example: slipstick run quadruped --time 0.5")]
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
    /// Let a robot move freely from its home pose and print where it goes.
    Run(run::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().verb {
        Verb::Models(a) => models::main(&a),
        Verb::Info(a) => info::main(&a),
        Verb::Run(a) => run::main(&a),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
