//! Runs peers' programs on what we time.

use crate::collision::scenes::Detection;
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
    let json = ask(program, Command::new(program).arg(&tree).arg(&states).arg(repeats.to_string()));
    let _ = fs::remove_dir_all(&folder);
    read(&json?).ok_or_else(|| strange(program))
}

/// The JSON that a command prints.
pub fn ask(program: &Path, command: &mut Command) -> Result<Value, String> {
    let run = command.output().map_err(|e| format!("{}: {e}", program.display()))?;
    if !run.status.success() {
        return Err(format!("{}: {}", program.display(), String::from_utf8_lossy(&run.stderr).trim()));
    }
    let said = String::from_utf8_lossy(&run.stdout);
    serde_json::from_str(object(&said)).map_err(|e| format!("{}: {e}", program.display()))
}

/// From the first line on that begins an object: libraries may have warned before.
fn object(text: &str) -> &str {
    let starts = |line: &&str| line.starts_with('{');
    let before: usize = text.split_inclusive('\n').take_while(|l| !starts(l)).map(str::len).sum();
    &text[before..]
}

/// Message for output without the expected fields.
pub fn strange(program: &Path) -> String {
    format!("{} printed JSON in an unexpected format", program.display())
}

fn read(json: &Value) -> Option<Answer> {
    let mut timings = BTreeMap::new();
    for (name, t) in json["algorithms"].as_object()? {
        timings.insert(name.clone(), Timing { min: t["min_us"].as_f64()?, median: t["median_us"].as_f64()? });
    }
    let tau = json["check"]["tau"].as_array()?.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>()?;
    Some(Answer { version: json["version"].as_str()?.to_string(), timings, tau })
}

/// What coal measured on all pairs.
pub struct Coal {
    pub version: String,
    pub pairs: Vec<CoalPair>,
}

/// Nanoseconds per query by the guess that it starts from, and the distances found (NaN: none).
pub struct CoalPair {
    pub timings: BTreeMap<String, Timing>,
    pub distances: Vec<f64>,
}

/// Times coal's distances; `text` as in `bench/coal/distance.cpp`.
pub fn coal(program: &Path, text: &str, repeats: usize) -> Result<Coal, String> {
    let file = std::env::temp_dir().join(format!("slipstick-bench-pairs-{}.txt", std::process::id()));
    fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))?;
    let json = ask(program, Command::new(program).arg(&file).arg(repeats.to_string()));
    let _ = fs::remove_file(&file);
    read_coal(&json?).ok_or_else(|| strange(program))
}

fn read_coal(json: &Value) -> Option<Coal> {
    let timing = |t: &Value| Some(Timing { min: t["min_ns"].as_f64()?, median: t["median_ns"].as_f64()? });
    let pair = |p: &Value| {
        let timed = p.as_object()?.iter().filter(|(name, _)| *name != "distances");
        let timings = timed.map(|(name, t)| Some((name.clone(), timing(t)?))).collect::<Option<_>>()?;
        Some(CoalPair { timings, distances: numbers(&p["distances"])? })
    };
    let pairs = json["pairs"].as_array()?.iter().map(pair).collect::<Option<_>>()?;
    Some(Coal { version: json["version"].as_str()?.to_string(), pairs })
}

/// A list of numbers; `null` is NaN.
pub fn numbers(json: &Value) -> Option<Vec<f64>> {
    Some(json.as_array()?.iter().map(|x| x.as_f64().unwrap_or(f64::NAN)).collect())
}

/// Writes a robot's scene and its states to a folder; the number of pairs that MuJoCo tests in it.
pub fn mujoco_scene(
    python: &Path,
    name: &str,
    file: &Path,
    folder: &Path,
    pairs: Option<&Path>,
) -> Result<usize, String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("mujoco/scene.py");
    let json = ask(python, Command::new(python).arg(script).arg(name).arg(file).arg(folder).args(pairs))?;
    json["pairs"].as_u64().map(|n| n as usize).ok_or_else(|| strange(python))
}

/// Times MuJoCo's collision detection on every `every`-th configuration of a file.
pub fn mujoco_collision(
    program: &Path,
    scene: &Path,
    states: &Path,
    every: usize,
    repeats: usize,
) -> Result<(String, Detection), String> {
    let numbers_of = [every.to_string(), repeats.to_string()];
    let json = ask(program, Command::new(program).arg(scene).arg(states).args(numbers_of))?;
    let detection = || {
        let list = |name: &str| numbers(&json[name]);
        let detection = Detection { best_us: list("best_us")?, contacts: list("contacts")?, nearest: list("nearest")? };
        Some((json["version"].as_str()?.to_string(), detection))
    };
    detection().ok_or_else(|| strange(program))
}
