//! Asks the programs of the step benchmark.

use crate::step_drive::Steps;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The JSON that a command prints.
pub fn ask(program: &Path, command: &mut Command) -> Result<Value, String> {
    let run = command.output().map_err(|e| format!("{}: {e}", program.display()))?;
    if !run.status.success() {
        return Err(format!("{}: {}", program.display(), String::from_utf8_lossy(&run.stderr).trim()));
    }
    serde_json::from_slice(&run.stdout).map_err(|e| format!("{}: {e}", program.display()))
}

/// What to say of an answer without the expected fields.
pub fn strange(program: &Path) -> String {
    format!("{} printed JSON of another form than expected", program.display())
}

/// A list of numbers.
pub fn numbers(json: &Value) -> Option<Vec<f64>> {
    json.as_array()?.iter().map(Value::as_f64).collect()
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
