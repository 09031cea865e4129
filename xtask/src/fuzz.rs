//! `cargo xtask fuzz`, `chaos` and `leak`: the program of the folder `fuzz`, built for long runs; and its short run in the gate.

use std::process::ExitCode;

use crate::process::{Outcome, Stop, prepare, run};
use crate::workspace::Workspace;

const PACKAGE: &str = "slipstick-fuzz"; // package and binary
/// Optimized, with assertions and overflow checks, without link-time optimization.
const PROFILE: &str = "fuzz";
/// What the gate runs, always the same: cases per target, steps of chaos, steps and loads of the memory check.
const SHORT: [&[&str]; 3] = [
    &["fuzz", "--seed", "1", "--cases", "250", "--jobs", "2"],
    &["chaos", "--seed", "1", "--steps", "4000", "--jobs", "2"],
    &["leak", "--steps", "20000", "--loads", "100"],
];

/// Exit code of the verbs, whose arguments go to the program.
pub fn main(workspace: &Workspace, verb: &str, args: &[String]) -> Result<ExitCode, String> {
    let outcome =
        prepare(&mut workspace.cargo(&["build", "--profile", PROFILE, "--package", PACKAGE])).and_then(|()| {
            let program = workspace.target.join(PROFILE).join(PACKAGE);
            // a replay needs no more than its file
            let args: Vec<&str> = match args {
                [option, file] if option == "--replay" => vec!["replay", file],
                _ => [verb].into_iter().chain(args.iter().map(String::as_str)).collect(),
            };
            run(&mut workspace.command(&program.to_string_lossy(), &args))
        });
    Ok(match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Failed(why) | Stop::NotRun(why)) => {
            eprintln!("xtask {verb}: {why}");
            ExitCode::FAILURE
        }
    })
}

/// Seconds of everything, in the profile of the tests, whose libraries it shares.
pub fn check(workspace: &Workspace) -> Outcome {
    if !cfg!(unix) {
        return Err(Stop::NotRun("limits of memory and time need a Unix shell".into()));
    }
    run(&mut workspace.cargo(&["build", "--package", PACKAGE]))?;
    let program = workspace.target.join("debug").join(PACKAGE);
    SHORT.iter().try_for_each(|args| run(&mut workspace.command(&program.to_string_lossy(), args)))
}
