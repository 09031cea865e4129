//! Runs a peer's program on a model and its states.

use crate::report::Timing;
use crate::states::Sample;
use crate::tree;
use serde_json::Value;
use slipstick::Model;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What a peer measured, and its torques of the first state.
pub struct Answer {
    pub version: String,
    pub timings: BTreeMap<String, Timing>,
    pub tau: Vec<f64>,
}

/// Times Pinocchio's algorithms.
pub fn pinocchio(
    program: &Path,
    name: &str,
    model: &Model,
    samples: &[Sample],
    repeats: usize,
) -> Result<Answer, String> {
    let folder = std::env::temp_dir().join(format!("slipstick-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let (tree, states) = (folder.join(format!("{name}.tree")), folder.join(format!("{name}.states")));
    for (file, text) in [(&tree, tree::write_model(name, model)), (&states, tree::write_states(model, samples))] {
        fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))?;
    }
    let run = Command::new(program).arg(&tree).arg(&states).arg(repeats.to_string()).output();
    let run = run.map_err(|e| format!("{}: {e}", program.display()));
    let _ = fs::remove_dir_all(&folder);
    let run = run?;
    if !run.status.success() {
        return Err(format!("{}: {}", program.display(), String::from_utf8_lossy(&run.stderr).trim()));
    }
    let json: Value = serde_json::from_slice(&run.stdout).map_err(|e| format!("{}: {e}", program.display()))?;
    read(&json).ok_or_else(|| format!("{} printed JSON of another form than expected", program.display()))
}

fn read(json: &Value) -> Option<Answer> {
    let mut timings = BTreeMap::new();
    for (name, t) in json["algorithms"].as_object()? {
        timings.insert(name.clone(), Timing { min: t["min_us"].as_f64()?, median: t["median_us"].as_f64()? });
    }
    let tau = json["check"]["tau"].as_array()?.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>()?;
    Some(Answer { version: json["version"].as_str()?.to_string(), timings, tau })
}
