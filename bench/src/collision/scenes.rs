//! Whole scenes: every pair of six robots and the floor, along a fall and while standing, compared with MuJoCo.
#![allow(non_snake_case)] // X_wb: poses as in the notation

use crate::paper::{PaperRobot, ROBOTS};
use crate::report::{mean, median};
use crate::{Collision, peer};
use serde_json::{Value, json};
use slipstick::Model;
use slipstick::collision::{ContactSet, detect};
use slipstick::dynamics::Workspace;
use slipstick::model::BodyId;
use slipstick::spatial::Pose;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

const BANKS: [&str; 2] = ["drop", "hold"];
/// Ours / MuJoCo's, both without a distance of activation.
const GOAL: f64 = 0.7;

/// What an engine did with the states of a bank.
#[derive(Clone, Default)]
pub struct Detection {
    /// Least time of each state (µs).
    pub best_us: Vec<f64>,
    /// Number of points in each state.
    pub contacts: Vec<f64>,
    /// Least distance of the points in each state (m); NaN if there are none.
    pub nearest: Vec<f64>,
}

impl Detection {
    fn mean(&self) -> f64 {
        mean(&self.best_us)
    }

    fn median(&self) -> f64 {
        median(&self.best_us)
    }

    /// A second measurement of the states.
    fn keep_better(&mut self, again: Detection) {
        if self.best_us.is_empty() {
            *self = again;
        } else {
            self.best_us.iter_mut().zip(&again.best_us).for_each(|(best, t)| *best = best.min(*t));
        }
    }
}

/// A robot in one of its banks.
pub struct Scene {
    name: String,
    bank: &'static str,
    source: String,
    pairs: usize,
    mujoco: Detection,
    /// Ours, without a distance of activation.
    touching: Detection,
    /// Ours, at the default distance of activation.
    near: Detection,
}

impl Scene {
    /// Ours / MuJoCo's time.
    fn ratio(&self) -> f64 {
        self.touching.mean() / self.mujoco.mean()
    }

    /// Largest difference of the deepest points over all states in which both engines have one (m).
    fn difference(&self) -> f64 {
        let both = self.mujoco.nearest.iter().zip(&self.touching.nearest);
        both.map(|(a, b)| (a - b).abs()).filter(|d| !d.is_nan()).fold(0.0, f64::max)
    }
}

/// All scenes, and the version of MuJoCo if there was one.
pub struct Scenes {
    pub scenes: Vec<Scene>,
    mujoco: Option<String>,
}

pub fn run(arguments: &Collision) -> Result<Scenes, String> {
    let mut out = Scenes { scenes: Vec::new(), mujoco: None };
    let (Some(python), Some(program)) = (&arguments.python, &arguments.mujoco) else {
        eprintln!("scenes are NOT timed: they need --python (with MuJoCo, which computes the states) and --mujoco");
        return Ok(out);
    };
    let folder = std::env::temp_dir().join(format!("slipstick-bench-scenes-{}", std::process::id()));
    for robot in ROBOTS.iter().filter(|r| r.name.contains(&arguments.only)) {
        let timed = prepare(arguments, python, &folder, robot).and_then(|p| time_robot(arguments, program, &p));
        match timed {
            Ok((version, scenes)) => {
                out.mujoco = Some(version);
                out.scenes.extend(scenes);
            }
            Err(message) => {
                let _ = fs::remove_dir_all(&folder);
                return Err(format!("{}: {message}", robot.name));
            }
        }
    }
    let _ = fs::remove_dir_all(&folder);
    Ok(out)
}

/// A robot's scene as both engines load it.
struct Prepared {
    name: &'static str,
    source: String,
    xml: PathBuf,
    /// Configurations, a file per bank.
    banks: [PathBuf; 2],
    pairs: usize,
}

fn prepare(arguments: &Collision, python: &Path, folder: &Path, robot: &PaperRobot) -> Result<Prepared, String> {
    let (name, place) = (robot.name, robot.find(&arguments.models));
    let pairs = peer::mujoco_scene(python, name, &place.file, folder, place.pairs.as_deref())?;
    let banks = BANKS.map(|bank| folder.join(format!("{name}.{bank}.txt")));
    Ok(Prepared { name, source: place.source, xml: folder.join(format!("{name}.xml")), banks, pairs })
}

fn time_robot(arguments: &Collision, program: &Path, p: &Prepared) -> Result<(String, Vec<Scene>), String> {
    let model = slipstick::load(&p.xml).map_err(|e| e.to_string())?;
    if model.pairs().len() != p.pairs {
        return Err(format!("we test {} pairs, MuJoCo {}", model.pairs().len(), p.pairs));
    }
    let mut options = model.options().clone();
    options.contact_distance = 0.0;
    let touching = model.with_options(options).map_err(|e| e.to_string())?;
    let mut version = String::new();
    let mut scenes = Vec::new();
    for (bank, file) in BANKS.iter().zip(&p.banks) {
        let states = read_states(&model, file, arguments.every)?;
        let mut scene = Scene {
            name: p.name.to_string(),
            bank,
            source: p.source.clone(),
            pairs: p.pairs,
            mujoco: Detection::default(),
            touching: Detection::default(),
            near: Detection::default(),
        };
        // in turns, so that a slow spell of the machine meets all
        for _ in 0..arguments.rounds {
            scene.touching.keep_better(time(&touching, &states, arguments.repeats)?);
            scene.near.keep_better(time(&model, &states, arguments.repeats)?);
            let (v, detection) = peer::mujoco_collision(program, &p.xml, file, arguments.every, arguments.repeats)?;
            scene.mujoco.keep_better(detection);
            version = v;
        }
        if scene.mujoco.best_us.len() != states.len() {
            return Err(format!("MuJoCo timed {} states instead of {}", scene.mujoco.best_us.len(), states.len()));
        }
        scenes.push(scene);
    }
    Ok((version, scenes))
}

/// Poses of all bodies at every `every`-th configuration of a bank.
fn read_states(model: &Model, file: &Path, every: usize) -> Result<Vec<Vec<Pose>>, String> {
    let text = fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let mut work = Workspace::new(model);
    let mut states = Vec::new();
    for line in text.lines().step_by(every) {
        let q = line.split_whitespace().map(str::parse).collect::<Result<Vec<f64>, _>>();
        let q = q.map_err(|e| format!("{}: {e}", file.display()))?;
        work.kinematics(model, &q).map_err(|e| e.to_string())?;
        let poses = (0..model.n_bodies()).map(|b| work.body_pose(BodyId(b))).collect::<Result<_, _>>();
        states.push(poses.map_err(|e| e.to_string())?);
    }
    Ok(states)
}

/// Detection from poses of bodies, in the order of the bank, as in a simulation.
fn time(model: &Model, states: &[Vec<Pose>], repeats: usize) -> Result<Detection, String> {
    let mut set = ContactSet::new(model);
    let mut out = Detection {
        best_us: vec![f64::INFINITY; states.len()],
        contacts: vec![0.0; states.len()],
        nearest: vec![f64::NAN; states.len()],
    };
    let mut X_wb = vec![Pose::IDENTITY; model.n_bodies()];
    for _ in 0..repeats {
        for (k, state) in states.iter().enumerate() {
            // as fresh in the cache as kinematics would leave them
            X_wb.copy_from_slice(state);
            let start = Instant::now();
            let result = detect(model, &X_wb, &mut set);
            let elapsed = start.elapsed().as_secs_f64() * 1e6;
            result.map_err(|e| e.to_string())?;
            out.best_us[k] = out.best_us[k].min(elapsed);
            out.contacts[k] = set.contacts().len() as f64;
            out.nearest[k] = set.contacts().iter().map(|c| c.distance).fold(f64::NAN, f64::min);
        }
    }
    Ok(out)
}

impl Scenes {
    /// A table with a row per bank, as Markdown.
    pub fn print(&self) {
        if self.scenes.is_empty() {
            return;
        }
        println!(
            "\n| {:<13} | bank | pairs | points MuJoCo | ours | ours, {:<6} | {:<15} | {:<15} | ratio | {:<15} | ratio |",
            "scene", "near", "MuJoCo", "ours", "ours, near"
        );
        println!("|---|---|---|---|---|---|---|---|---|---|---|");
        for s in &self.scenes {
            let points = |d: &Detection| format!("{:.1}", mean(&d.contacts));
            let times = |d: &Detection| format!("{:.2} ({:.2})", d.mean(), d.median());
            println!(
                "| {:<13} | {} | {:>5} | {:>13} | {:>4} | {:>12} | {:>15} | {:>15} | {:>5} | {:>15} | {:>5.2} |",
                s.name,
                s.bank,
                s.pairs,
                points(&s.mujoco),
                points(&s.touching),
                points(&s.near),
                times(&s.mujoco),
                times(&s.touching),
                format!("**{:.2}**", s.ratio()),
                times(&s.near),
                s.near.mean() / s.mujoco.mean()
            );
        }
        let missed: Vec<String> =
            self.scenes.iter().filter(|s| s.ratio() > GOAL).map(|s| format!("{} {}", s.name, s.bank)).collect();
        println!(
            "\nmicroseconds per detection: mean (median) over the states of the least time of each state; goal {GOAL}"
        );
        println!("goal missed: {}", if missed.is_empty() { "nowhere".into() } else { missed.join(", ") });
        for s in self.scenes.iter().filter(|s| s.difference() > 1e-6) {
            println!("{} {}: depth of the deepest point differs by up to {:.1e} m", s.name, s.bank, s.difference());
        }
    }

    pub fn to_json(&self) -> Value {
        let shown =
            |d: &Detection| json!({ "mean_us": d.mean(), "median_us": d.median(), "points": mean(&d.contacts) });
        let scene = |s: &Scene| {
            json!({ "name": s.name, "bank": s.bank, "source": s.source, "pairs": s.pairs, "states": s.near.best_us.len(),
                "mujoco": shown(&s.mujoco), "slipstick": shown(&s.touching), "slipstick_near": shown(&s.near),
                "ratio": s.ratio(), "goal": GOAL, "depth_difference_m": s.difference() })
        };
        json!({ "mujoco": self.mujoco, "figures": self.scenes.iter().map(scene).collect::<Vec<_>>() })
    }
}
