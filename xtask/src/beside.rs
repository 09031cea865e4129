//! Parts that run beside the others. Each is a process of its own, so that its output can be kept and shown in one piece.

use std::env;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::process::Stop;
use crate::report::{PartResult, outcome_in};
use crate::workspace::Workspace;

/// A part that has ended, and what it printed.
pub struct Ended {
    pub result: PartResult,
    pub output: String,
}

/// `cargo xtask test --only name args…`, kept in a file of the target folder.
pub fn run(workspace: &Workspace, name: &'static str, args: &[&str]) -> Ended {
    let (start, log) = (Instant::now(), workspace.target.join(format!("xtask-{name}.log")));
    let ran = run_into(&log, name, args).and_then(|()| fs::read_to_string(&log));
    let time = start.elapsed();
    match ran {
        Ok(text) => {
            let (output, outcome) = outcome_in(&text, name);
            Ended { result: PartResult { name, outcome, time }, output: output.into() }
        }
        Err(error) => {
            let outcome = Err(Stop::Failed(format!("{}: {error}", log.display())));
            Ended { result: PartResult { name, outcome, time }, output: String::new() }
        }
    }
}

fn run_into(log: &Path, name: &str, args: &[&str]) -> io::Result<()> {
    let file = File::create(log)?;
    let mut command = Command::new(env::current_exe()?);
    command.args(["test", "--only", name]).args(args);
    // what became of it is in the file
    command.stdout(file.try_clone()?).stderr(file).status().map(|_| ())
}
