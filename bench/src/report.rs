//! Figures and how they are shown.

use serde_json::{Value, json};
use slipstick::files::write_file;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

/// Time of one call, in the unit of its table.
#[derive(Clone, Copy)]
pub struct Timing {
    pub min: f64,
    pub median: f64,
}

impl Timing {
    /// Of several measurements of the same thing, at least one.
    pub fn of(mut times: Vec<f64>) -> Timing {
        times.sort_by(f64::total_cmp);
        Timing { min: times[0], median: times[times.len() / 2] }
    }

    /// The lower of two measurements of the same thing.
    pub fn better(self, b: Timing) -> Timing {
        Timing { min: self.min.min(b.min), median: self.median.min(b.median) }
    }
}

/// One algorithm of one robot. Peers may offer several variants; the fastest counts.
pub struct Row {
    pub algorithm: &'static str,
    pub ours: Timing,
    pub peer: Option<Timing>,
    pub goal: f64,
}

/// One robot.
pub struct Robot {
    pub name: String,
    pub source: String,
    pub nv: usize,
    pub rows: Vec<Row>,
    pub variants: BTreeMap<String, Timing>,
}

/// Prints a table of times and ratios.
pub fn print(robots: &[Robot]) {
    println!(
        "{:<14} {:>3}  {:<18} {:>10} {:>10} {:>10} {:>10}  {:>6} {:>6}  goal",
        "robot", "nv", "algorithm", "ours min", "median", "peer min", "median", "min", "median"
    );
    for r in robots {
        for row in &r.rows {
            print!(
                "{:<14} {:>3}  {:<18} {:>10.3} {:>10.3}",
                r.name, r.nv, row.algorithm, row.ours.min, row.ours.median
            );
            match row.peer {
                None => println!(),
                Some(p) => {
                    let (a, b) = (row.ours.min / p.min, row.ours.median / p.median);
                    let verdict = if a.max(b) <= row.goal { "reached" } else { "missed" };
                    println!("{:>11.3} {:>10.3}  {a:>6.2} {b:>6.2}  {} {verdict}", p.min, p.median, row.goal);
                }
            }
        }
    }
    println!("times in microseconds per call; the last three columns are ours / peer (minima, medians) and the goal");
}

/// The figures for programs.
pub fn to_json(robots: &[Robot], peer_version: Option<&str>) -> Value {
    let timing = |t: &Timing| json!({ "min_us": t.min, "median_us": t.median });
    let robot = |r: &Robot| {
        let rows: serde_json::Map<String, Value> = r
            .rows
            .iter()
            .map(|row| {
                let ratio =
                    row.peer.map(|p| json!({ "min": row.ours.min / p.min, "median": row.ours.median / p.median }));
                let peer = row.peer.as_ref().map(&timing);
                let entry = json!({ "slipstick": timing(&row.ours), "peer": peer, "ratio": ratio, "goal": row.goal });
                (row.algorithm.to_string(), entry)
            })
            .collect();
        let variants: serde_json::Map<String, Value> =
            r.variants.iter().map(|(name, t)| (name.clone(), timing(t))).collect();
        json!({ "name": r.name, "source": r.source, "nv": r.nv, "algorithms": rows, "peer_variants": variants })
    };
    json!({
        "format": "slipstick-bench-dynamics",
        "version": 1,
        "slipstick": env!("CARGO_PKG_VERSION"),
        "peer": peer_version.map(|v| format!("pinocchio {v}")),
        "robots": robots.iter().map(robot).collect::<Vec<_>>(),
    })
}

/// Writes a file and the folder it is in.
pub fn write(file: &Path, text: &str) -> Result<(), String> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    write_file(file, |out| out.write_all(text.as_bytes())).map_err(|e| format!("{}: {e}", file.display()))
}

pub fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// NaN of nothing.
pub fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
