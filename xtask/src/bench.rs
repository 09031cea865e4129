//! `cargo xtask bench WHAT`: slipstick beside its peers in one run. `dynamics`: Pinocchio, on the same states; `loading`:
//! MuJoCo's compiler, on the same files.

use std::process::ExitCode;

use crate::process::{Outcome, Stop, prepare, run};
use crate::python::{Packages, Venv};
use crate::workspace::Workspace;

const PEER_BUILD: &str = "bench/pinocchio/build.sh"; // takes an interpreter that has Pinocchio, and the output folder
const PEER: &str = "pinocchio_dynamics"; // the program it leaves in that folder
const PACKAGE: &str = "slipstick-bench"; // package and binary
const LOADING_PLOT: &str = "docs/figures/loading.svg";

/// Exit code of the verb; `Err` is bad use.
pub fn main(workspace: &Workspace, args: &[String]) -> Result<ExitCode, String> {
    let outcome = match args.split_first() {
        Some((what, rest)) if what == "dynamics" => dynamics(workspace, rest),
        Some((what, rest)) if what == "loading" => loading(workspace, rest),
        Some((what, _)) => return Err(format!("unknown benchmark '{what}' (expected dynamics or loading)")),
        None => return Err("bench needs the name of a benchmark (expected dynamics or loading)".to_string()),
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

/// Hulls are kept in a folder of the benchmark's own: what the user has in the cache changes no figure.
fn loading(workspace: &Workspace, args: &[String]) -> Outcome {
    let venv = Venv::ensure(workspace, Packages::Registry)?;
    prepare(&mut workspace.cargo(&["build", "--release", "--package", PACKAGE]))?;
    let program = workspace.target.join("release").join(PACKAGE);
    let mut bench = workspace.command(&program.to_string_lossy(), &["loading", "--plot", LOADING_PLOT, "--python"]);
    bench.env("SLIPSTICK_CACHE", workspace.target.join("bench/hulls"));
    run(bench.arg(venv.interpreter()).args(args))
}
