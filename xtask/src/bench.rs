//! `cargo xtask bench dynamics`: slipstick beside Pinocchio, on the same states, in one run.

use std::process::ExitCode;

use crate::process::{Outcome, Stop, prepare, run};
use crate::python::{Packages, Venv};
use crate::workspace::Workspace;

const PEER_BUILD: &str = "bench/pinocchio/build.sh"; // takes an interpreter that has Pinocchio, and the output folder
const PEER: &str = "pinocchio_dynamics"; // the program it leaves in that folder
const PACKAGE: &str = "slipstick-bench"; // package and binary

/// Exit code of the verb; `Err` is bad use.
pub fn main(workspace: &Workspace, args: &[String]) -> Result<ExitCode, String> {
    let outcome = match args.split_first() {
        Some((what, rest)) if what == "dynamics" => dynamics(workspace, rest),
        Some((what, _)) => return Err(format!("unknown benchmark '{what}' (expected dynamics)")),
        None => return Err("bench needs the name of a benchmark (expected dynamics)".to_string()),
    };
    Ok(match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Failed(message) | Stop::NotRun(message)) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    })
}

/// Preparations speak on standard error, so that standard output is the benchmark's own.
fn dynamics(workspace: &Workspace, args: &[String]) -> Outcome {
    let venv = Venv::ensure(workspace, Packages::Registry)?;
    let folder = workspace.target.join("bench");
    prepare(workspace.command("bash", &[PEER_BUILD]).arg(venv.interpreter()).arg(&folder))?;
    prepare(&mut workspace.cargo(&["build", "--release", "--package", PACKAGE]))?;
    let program = workspace.target.join("release").join(PACKAGE);
    let mut bench = workspace.command(&program.to_string_lossy(), &["dynamics", "--pinocchio"]);
    run(bench.arg(folder.join(PEER)).args(args))
}
