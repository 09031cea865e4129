//! Figures of the step benchmark and how they are shown.

use super::drive::{Ours, Steps};
use super::scene::{Phase, Scene};
use super::statistics::Statistics;
use crate::report::{mean, median};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Ours / MuJoCo's and ours / the baseline's time.
const GOALS: [f64; 2] = [0.7, 0.3];

/// A scene in one of its phases.
pub struct Row {
    name: &'static str,
    phase: &'static str,
    source: String,
    nv: usize,
    pairs: usize,
    ours: Steps,
    touching: f64,
    upright: f64,
    statistics: Statistics,
    /// MuJoCo on its own trajectory and from our states, then the baseline.
    peers: [Option<Steps>; 4],
}

impl Row {
    pub fn new(scene: &Scene, phase: Phase, ours: Ours, peers: [Option<Steps>; 4]) -> Row {
        Row {
            name: scene.name,
            phase: phase.name(),
            source: scene.source.clone(),
            nv: scene.model.nv(),
            pairs: scene.model.pairs().len(),
            ours: ours.steps,
            touching: mean(&ours.touching),
            upright: ours.upright,
            statistics: ours.statistics,
            peers,
        }
    }

    /// Ours / peer's, of means and of medians.
    fn ratios(&self, peer: usize) -> Option<[f64; 2]> {
        let p = self.peers[peer].as_ref()?;
        Some([mean(&self.ours.best_us) / mean(&p.best_us), median(&self.ours.best_us) / median(&p.best_us)])
    }
}

/// All rows, and the peers' names and versions.
#[derive(Default)]
pub struct Figures {
    pub rows: Vec<Row>,
    pub versions: BTreeSet<String>,
}

impl Figures {
    /// Tables with a row per scene and phase, as Markdown.
    pub fn print(&self) {
        self.print_times("Every engine along its own trajectory", [0, 2]);
        self.print_times("From our states", [1, 3]);
        println!("\nmicroseconds per step: mean (median) over the steps of the least time of each step");
        println!("contacts per step: ours in the problem (of which carry an impulse) / MuJoCo's / the baseline's");
        for (what, peer, goal) in [
            ("MuJoCo, own trajectories", 0, GOALS[0]),
            ("MuJoCo, our states", 1, GOALS[0]),
            ("baseline, own trajectories", 2, GOALS[1]),
            ("baseline, our states", 3, GOALS[1]),
        ] {
            self.print_missed(what, peer, goal);
        }
        let held = self.rows.iter().filter(|r| r.phase == Phase::Hold.name());
        let tilts: Vec<String> = held.map(|r| format!("{} {:.4}", r.name, r.upright)).collect();
        println!("cosine of our root's tilt at the end of hold: {}", tilts.join(", "));
        self.print_solves();
    }

    fn print_times(&self, title: &str, peers: [usize; 2]) {
        println!("\n**{title}**\n");
        println!(
            "| scene | phase | nv | contacts | ours | MuJoCo | ratio | baseline | ratio | baseline's iterations (converged) |"
        );
        println!("|{}", "---|".repeat(10));
        for row in &self.rows {
            let [mujoco, baseline] = peers.map(|k| row.peers[k].as_ref());
            let contacts = |p: Option<&Steps>| p.map_or("-".to_string(), |s| format!("{:.1}", mean(&s.contacts)));
            let ratio = |k| row.ratios(k).map_or("-".to_string(), |[a, b]| format!("**{a:.2}** ({b:.2})"));
            let iterations = |s: &Steps| format!("{:.0} ({:.1} %)", mean(&s.iterations), 100.0 * mean(&s.converged));
            println!(
                "| {} | {} | {} | {:.1} ({:.1}) / {} / {} | {} | {} | {} | {} | {} | {} |",
                row.name,
                row.phase,
                row.nv,
                mean(&row.ours.contacts),
                row.touching,
                contacts(mujoco),
                contacts(baseline),
                times(Some(&row.ours)),
                times(mujoco),
                ratio(peers[0]),
                times(baseline),
                ratio(peers[1]),
                baseline.map_or("-".to_string(), iterations)
            );
        }
    }

    fn print_missed(&self, what: &str, peer: usize, goal: f64) {
        let timed: Vec<(&Row, f64)> = self.rows.iter().filter_map(|r| Some((r, r.ratios(peer)?[0]))).collect();
        if timed.is_empty() {
            return;
        }
        let is_missed = |r: &&(&Row, f64)| r.1 > goal;
        let missed: Vec<String> =
            timed.iter().filter(is_missed).map(|(r, x)| format!("{} {} {x:.2}", r.name, r.phase)).collect();
        let missed = if missed.is_empty() { "nowhere".to_string() } else { missed.join(", ") };
        println!("goal {goal} ({what}) missed: {missed}");
    }

    fn print_solves(&self) {
        let mut all = Statistics::default();
        println!("\n**What the solver did in our steps**\n");
        for row in &self.rows {
            all.extend(&row.statistics);
        }
        all.print();
    }

    pub fn to_json(&self) -> Value {
        let steps = |s: &Steps| {
            json!({ "mean_us": mean(&s.best_us), "median_us": median(&s.best_us), "contacts": mean(&s.contacts),
                "iterations": mean(&s.iterations), "converged": mean(&s.converged) })
        };
        let row = |r: &Row| {
            let peer = |k: usize| r.peers[k].as_ref().map(steps);
            let ratio = |k: usize| r.ratios(k).map(|[a, b]| json!({ "mean": a, "median": b }));
            json!({ "name": r.name, "phase": r.phase, "source": r.source, "nv": r.nv, "pairs": r.pairs,
                "steps": r.ours.best_us.len(), "slipstick": steps(&r.ours), "touching": r.touching, "upright": r.upright,
                "mujoco": peer(0), "mujoco_our_states": peer(1), "recipe": peer(2), "recipe_our_states": peer(3),
                "ratios": { "mujoco": ratio(0), "mujoco_our_states": ratio(1), "recipe": ratio(2),
                    "recipe_our_states": ratio(3) },
                "solves": r.statistics.to_json() })
        };
        json!({ "format": "slipstick-bench-step", "version": 1, "slipstick": env!("CARGO_PKG_VERSION"),
            "peers": self.versions, "goals": { "mujoco": GOALS[0], "recipe": GOALS[1] },
            "rows": self.rows.iter().map(row).collect::<Vec<_>>() })
    }
}

fn times(steps: Option<&Steps>) -> String {
    steps.map_or("-".to_string(), |s| format!("{:.2} ({:.2})", mean(&s.best_us), median(&s.best_us)))
}
