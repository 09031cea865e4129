//! Loading of files: robots compared with MuJoCo's compiler, and chains of up to thousands of links.

use crate::Loading;
use crate::report::{Timing, write};
use serde_json::{Value, json};
use slipstick::LoadOptions;
use slipstick_plot::Series;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Name, file in the models folder, goal in milliseconds with hulls from the cache.
const ROBOTS: [(&str, &str, Option<f64>); 5] = [
    ("humanoid", "humanoid/humanoid.xml", Some(5.0)),
    ("go1 (MJCF)", "go1/paper_scene.xml", Some(5.0)),
    ("go1 (URDF)", "go1/example-robot-data/robots/go1_description/urdf/go1.urdf", Some(5.0)),
    ("h1 (MJCF)", "h1/paper_scene.xml", Some(50.0)),
    ("h1 (URDF)", "h1/unitree_ros/h1_description/urdf/h1_paper.urdf", Some(50.0)),
];
/// Longer chains take MuJoCo minutes.
const PEER_LINKS: usize = 800;
const LINKS: [usize; 6] = [100, 200, 400, 800, 1600, 3000];

pub fn run(arguments: &Loading) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("slipstick-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let result = robots(arguments).and_then(|robots| Ok((robots, chains(arguments, &folder)?)));
    let _ = fs::remove_dir_all(&folder);
    let (robots, chains) = result?;
    if let Some(file) = &arguments.plot {
        write(file, &slipstick_plot::log_log("links", "milliseconds", &chains, slipstick_plot::exponent))?;
    }
    if let Some(file) = &arguments.json {
        let chains: Vec<Value> = chains.iter().map(|s| json!({ "name": s.name, "points": s.points })).collect();
        write(
            file,
            &format!(
                "{:#}\n",
                json!({ "format": "slipstick-bench-loading", "version": 1,
            "slipstick": env!("CARGO_PKG_VERSION"), "robots": robots, "chains": chains })
            ),
        )?;
    }
    Ok(())
}

/// Robots with hulls from the cache, with newly computed hulls, and in MuJoCo.
fn robots(arguments: &Loading) -> Result<Vec<Value>, String> {
    println!(
        "{:<12} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}  goal",
        "robot", "ours min", "median", "no cache", "median", "MuJoCo", "median", "no cache", "median"
    );
    let mut out = Vec::new();
    for (name, file, goal) in ROBOTS {
        let path = arguments.models.join(file);
        if !path.is_file() {
            println!("{name:<12} not timed: {} is not there", path.display());
            continue;
        }
        let mut fresh = LoadOptions::default();
        fresh.cache = false;
        let (mut warm, mut cold, mut peer, mut peer_cold) = (None, None, None, None);
        // in turns, so that a slow spell of the machine meets all
        for _ in 0..arguments.rounds {
            keep_better(&mut warm, Some(time(&path, &LoadOptions::default(), arguments.repeats)?));
            keep_better(&mut cold, Some(time(&path, &fresh, arguments.repeats.div_ceil(4))?));
            if let Some((cached, fresh)) = mujoco(arguments, std::slice::from_ref(&path))?.remove(&path) {
                keep_better(&mut peer, Some(cached));
                keep_better(&mut peer_cold, Some(fresh));
            }
        }
        let (Some(warm), Some(cold)) = (warm, cold) else { continue };
        print!("{name:<12} {:>10.3} {:>10.3} {:>10.3} {:>10.3}", warm.min, warm.median, cold.min, cold.median);
        match (peer, peer_cold) {
            (Some(p), Some(c)) => print!(" {:>10.3} {:>10.3} {:>10.3} {:>10.3}", p.min, p.median, c.min, c.median),
            _ => print!(" {:>10} {:>10} {:>10} {:>10}", "-", "-", "-", "-"),
        }
        let verdict = goal.map(|g| if warm.median < g { format!("< {g} reached") } else { format!("< {g} missed") });
        println!("  {}", verdict.unwrap_or_default());
        let shown = |t: Timing| json!({ "min_ms": t.min, "median_ms": t.median });
        out.push(json!({ "name": name, "file": file, "cached": shown(warm), "fresh": shown(cold),
            "mujoco": peer.map(shown), "mujoco_fresh": peer_cold.map(shown), "goal_ms": goal }));
    }
    println!("milliseconds; the goal is for the median with hulls from the cache");
    Ok(out)
}

fn keep_better(best: &mut Option<Timing>, new: Option<Timing>) {
    *best = match (*best, new) {
        (Some(a), Some(b)) => Some(a.better(b)),
        (a, b) => a.or(b),
    };
}

/// Milliseconds per load; two loads to warm up.
fn time(path: &Path, options: &LoadOptions, repeats: usize) -> Result<Timing, String> {
    let mut times = Vec::with_capacity(repeats);
    for pass in 0..repeats + 2 {
        let start = Instant::now();
        let model = slipstick::load_with(path, options).map_err(|e| e.to_string())?;
        let elapsed = start.elapsed().as_secs_f64() * 1e3;
        drop(std::hint::black_box(model));
        if pass >= 2 {
            times.push(elapsed);
        }
    }
    Ok(Timing::of(times))
}

/// What MuJoCo's compiler takes for each file that it does not refuse, with its cache of meshes and without; nothing without a Python that has it.
fn mujoco(arguments: &Loading, files: &[PathBuf]) -> Result<BTreeMap<PathBuf, (Timing, Timing)>, String> {
    let Some(python) = &arguments.python else { return Ok(BTreeMap::new()) };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("mujoco_loading.py");
    let run = Command::new(python).arg(script).arg(arguments.repeats.div_ceil(4).to_string()).args(files).output();
    let run = run.map_err(|e| format!("{}: {e}", python.display()))?;
    if !run.status.success() {
        return Err(format!("{}: {}", python.display(), String::from_utf8_lossy(&run.stderr).trim()));
    }
    let json: Value = serde_json::from_slice(&run.stdout).map_err(|e| format!("{}: {e}", python.display()))?;
    let timing = |t: &Value| Some(Timing { min: 1e3 * t["min"].as_f64()?, median: 1e3 * t["median"].as_f64()? });
    let both = |t: &Value| Some((timing(&t["cached"])?, timing(&t["fresh"])?));
    Ok(files.iter().filter_map(|f| Some((f.clone(), both(&json["files"][&*f.to_string_lossy()])?))).collect())
}

/// Chains of hinges, as nested MJCF and as flat URDF. MuJoCo gets the URDF: its parser refuses deep nesting.
fn chains(arguments: &Loading, folder: &Path) -> Result<Vec<Series>, String> {
    let mut series = ["slipstick, MJCF", "slipstick, URDF", "MuJoCo, URDF"].map(|name| Series::new(name, vec![]));
    println!(
        "\n{:>6} {:>18} {:>18} {:>18}   milliseconds, minimum (microseconds per link)",
        "links", series[0].name, series[1].name, series[2].name
    );
    for n in LINKS {
        let (mjcf, urdf) = (folder.join(format!("chain{n}.xml")), folder.join(format!("chain{n}.urdf")));
        write(&mjcf, &mjcf_chain(n))?;
        write(&urdf, &urdf_chain(n))?;
        let repeats = arguments.repeats.div_ceil(4);
        let times = [
            Some(time(&mjcf, &LoadOptions::default(), repeats)?),
            Some(time(&urdf, &LoadOptions::default(), repeats)?),
            if n <= PEER_LINKS {
                mujoco(arguments, std::slice::from_ref(&urdf))?.remove(&urdf).map(|t| t.0)
            } else {
                None
            },
        ];
        print!("{n:>6}");
        for (line, t) in series.iter_mut().zip(times) {
            match t {
                Some(t) => {
                    line.points.push((n as f64, t.min));
                    print!(" {:>9.3} ({:>6.2})", t.min, 1e3 * t.min / n as f64);
                }
                None => print!(" {:>18}", "-"),
            }
        }
        println!();
    }
    for line in series.iter().filter(|s| s.points.len() > 1) {
        println!(
            "{}: time grows with the power {:.2} of the number of links",
            line.name,
            slipstick_plot::exponent(&line.points)
        );
    }
    Ok(series.into_iter().filter(|s| !s.points.is_empty()).collect())
}

fn mjcf_chain(n: usize) -> String {
    let mut text = String::from("<mujoco model=\"chain\"><worldbody>");
    for i in 0..n {
        let _ = writeln!(
            text,
            "<body name=\"l{i}\" pos=\"0 0 0.1\"><joint name=\"j{i}\" axis=\"0 1 0\" damping=\"0.1\"/>\
            <geom name=\"g{i}\" type=\"capsule\" size=\"0.02\" fromto=\"0 0 0 0 0 0.1\"/>"
        );
    }
    text.push_str(&"</body>".repeat(n));
    text.push_str("</worldbody></mujoco>\n");
    text
}

fn urdf_chain(n: usize) -> String {
    let mut text = String::from("<robot name=\"chain\"><link name=\"base\"/>\n");
    for i in 0..n {
        let parent = if i == 0 { "base".to_string() } else { format!("l{}", i - 1) };
        let _ = writeln!(
            text,
            "<link name=\"l{i}\"><inertial><mass value=\"1\"/><inertia ixx=\"0.01\" iyy=\"0.01\" \
            izz=\"0.01\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial><collision><geometry><sphere radius=\"0.02\"/>\
            </geometry></collision></link>\n<joint name=\"j{i}\" type=\"continuous\"><parent link=\"{parent}\"/>\
            <child link=\"l{i}\"/><origin xyz=\"0 0 0.1\"/><axis xyz=\"0 1 0\"/></joint>"
        );
    }
    text.push_str("</robot>\n");
    text
}
