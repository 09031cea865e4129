//! Figures of the gradient benchmark and how they are shown.

use super::goals::{RATIOS, Ratio, number};
use super::ours::Ours;
use super::peers::{Baseline, Mujoco};
use super::times::Times;
use crate::machine::Machine;
use crate::report::median;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;

/// A scene in one of its phases. Peers on their own trajectories, then from our states.
pub struct Row {
    pub name: &'static str,
    pub phase: &'static str,
    pub source: String,
    pub nv: usize,
    /// Steps that are timed.
    pub states: usize,
    pub ours: Ours,
    pub mujoco: [Option<Mujoco>; 2],
    pub baseline: [Option<Baseline>; 2],
}

impl Row {
    /// All times by name.
    fn times(&self) -> Vec<(&'static str, &Times)> {
        let o = &self.ours;
        let mut all = vec![
            ("step", &o.step),
            ("jacobian", &o.jacobian),
            ("vjp", &o.vjp),
            ("forward_differences", &o.forward),
            ("central_differences", &o.central),
        ];
        if let [Some(own), Some(given)] = &self.mujoco {
            all.extend([("mujoco_step_own_way", &own.step), ("mujoco_step", &given.step)]);
            all.extend([("mujoco_forward_own_way", &own.forward), ("mujoco_forward", &given.forward)]);
            all.extend([("mujoco_centered_own_way", &own.centered), ("mujoco_centered", &given.centered)]);
        }
        if let [Some(own), Some(given)] = &self.baseline {
            all.extend([("recipe_step_own_way", &own.step), ("recipe_step", &given.step)]);
            all.extend([("recipe_own_way", &own.gradient), ("recipe", &given.gradient)]);
            all.push(("aba_derivatives", &given.smooth));
        }
        all
    }

    fn title(&self) -> String {
        format!("{} {}", self.name, self.phase)
    }

    fn to_json(&self) -> Value {
        let times: Map<String, Value> = self.times().iter().map(|(n, t)| ((*n).to_string(), t.to_json())).collect();
        let ratio = |r: &Ratio| {
            let [mean, median] = r.of(self).map_or([None; 2], |both| both.map(Some));
            let figures = json!({ "mean": mean, "median": median, "goal": r.goal(), "met": r.is_met(self) });
            (r.name.to_string(), figures)
        };
        let [open, stick, slide] = self.ours.met.modes;
        let mujoco = |k: usize| self.mujoco[k].as_ref().map(|p| p.contacts);
        let baseline = |k: usize| self.baseline[k].as_ref().map(|p| p.contacts);
        json!({ "name": self.name, "phase": self.phase, "source": self.source, "nv": self.nv, "states": self.states,
            "contacts": { "break": open, "stick": stick, "slide": slide, "mujoco_own_way": mujoco(0), "mujoco": mujoco(1),
                "recipe_own_way": baseline(0), "recipe": baseline(1) },
            "mujoco_columns": self.mujoco[1].as_ref().map(|p| p.columns),
            "times": times, "ratios": RATIOS.iter().map(ratio).collect::<Map<_, _>>(),
            "difference_from_central": self.ours.met.difference(), "refusal": self.ours.met.refusal })
    }
}

/// All rows; names, versions and compilers of the peers.
#[derive(Default)]
pub struct Figures {
    pub rows: Vec<Row>,
    pub peers: BTreeSet<String>,
}

impl Figures {
    /// Tables with a row per scene and phase, the goals, and the noise.
    pub fn to_markdown(&self) -> String {
        [self.ours(), self.peers(), self.ratios(), self.missed(), self.noise(), self.checks()].join("\n")
    }

    fn ours(&self) -> String {
        let head = "scene | phase | nv | contacts: open, stick, slide | step | jacobian | vjp | forward differences | central differences";
        let mut out = table("Ours", head);
        for r in &self.rows {
            let ([open, stick, slide], o) = (r.ours.met.modes, &r.ours);
            let contacts = format!("{open:.1}, {stick:.1}, {slide:.1}");
            let cells = [
                cell(&o.step),
                named(&o.jacobian, "jacobian"),
                named(&o.vjp, "vjp"),
                cell(&o.forward),
                cell(&o.central),
            ];
            let _ = writeln!(out, "| {} | {} | {} | {contacts} | {} |", r.name, r.phase, r.nv, cells.join(" | "));
        }
        out
    }

    fn peers(&self) -> String {
        let head = "scene | phase | MuJoCo: contacts, own trajectory and our states | columns | forward, our states | centered, our states | centered, own trajectory \
                    | Pinocchio's ABA derivatives | baseline: contacts, our states | derivative, our states | derivative, own trajectory";
        let mut out = table("Peers", head);
        for r in &self.rows {
            let mujoco = match &r.mujoco {
                [Some(a), Some(b)] => {
                    let times = [&b.forward, &b.centered, &a.centered].map(cell).join(" | ");
                    format!("{:.1}, {:.1} | {} | {times}", a.contacts, b.contacts, b.columns)
                }
                _ => ["-"; 5].join(" | "),
            };
            let baseline = match &r.baseline {
                [Some(a), Some(b)] => {
                    let [smooth, given, own] = [&b.smooth, &b.gradient, &a.gradient].map(cell);
                    format!("{smooth} | {:.1} | {given} | {own}", b.contacts)
                }
                _ => ["-"; 4].join(" | "),
            };
            let _ = writeln!(out, "| {} | {} | {mujoco} | {baseline} |", r.name, r.phase);
        }
        out.push_str("\nMicroseconds: mean (median, least) over the states of the least time at each state.\n");
        out
    }

    fn ratios(&self) -> String {
        let names: Vec<String> = RATIOS.iter().map(|r| format!("{} ({})", r.name, r.goal())).collect();
        let mut out = table(
            "Ratios of means (of medians); a goal is met if both meet it",
            &format!("scene | phase | nv | {}", names.join(" | ")),
        );
        for row in &self.rows {
            let verdict = |r: &Ratio| match (r.words(row), r.is_met(row)) {
                (None, _) => "-".to_string(),
                (Some(x), None) => x,
                (Some(x), Some(true)) => format!("{x} met"),
                (Some(x), Some(false)) => format!("{x} **missed**"),
            };
            let cells: Vec<String> = RATIOS.iter().map(verdict).collect();
            let _ = writeln!(out, "| {} | {} | {} | {} |", row.name, row.phase, row.nv, cells.join(" | "));
        }
        out
    }

    fn missed(&self) -> String {
        let mut out = String::new();
        for ratio in &RATIOS {
            let judged: Vec<&Row> = self.rows.iter().filter(|r| ratio.is_met(r).is_some()).collect();
            if judged.is_empty() {
                let _ = writeln!(out, "- {} {}: not measured", ratio.name, ratio.goal());
                continue;
            }
            let missed = judged.iter().filter(|r| ratio.is_met(r) == Some(false));
            let missed: Vec<String> =
                missed.map(|r| format!("{} {}", r.title(), ratio.words(r).unwrap_or_default())).collect();
            let met = judged.len() - missed.len();
            let where_missed =
                if missed.is_empty() { String::new() } else { format!("; missed: {}", missed.join(", ")) };
            let _ = writeln!(out, "- {} {}: met by {met} of {}{where_missed}", ratio.name, ratio.goal(), judged.len());
        }
        out
    }

    /// How far the rounds' means of the same figure are apart.
    fn noise(&self) -> String {
        let spreads = |r: &Row| {
            r.times().iter().filter_map(|(n, t)| Some((t.spread()?, format!("{} {n}", r.title())))).collect::<Vec<_>>()
        };
        let mut all: Vec<(f64, String)> = self.rows.iter().flat_map(spreads).collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        if all.is_empty() {
            return "Noise: unknown after a single round.\n".to_string();
        }
        let middle = median(&all.iter().map(|s| s.0).collect::<Vec<_>>());
        let worst: Vec<String> = all.iter().take(5).map(|(x, what)| format!("{what} {:.0} %", 100.0 * x)).collect();
        format!(
            "Noise: the rounds' means of a figure differ by {:.1} % (median of all figures); most: {}.\n",
            100.0 * middle,
            worst.join(", ")
        )
    }

    /// Whether what is timed is the derivative: against central differences of the same step.
    fn checks(&self) -> String {
        let mut out = String::new();
        let differences: Vec<String> =
            self.rows.iter().filter_map(|r| Some(format!("{} {:.0e}", r.title(), r.ours.met.difference()?))).collect();
        if !differences.is_empty() {
            let _ = writeln!(
                out,
                "Difference of ∂v⁺/∂(q, v) between jacobian and central differences, relative to the block's largest entry, median over the states: {}.",
                differences.join(", ")
            );
        }
        for r in &self.rows {
            if let Some(why) = &r.ours.met.refusal {
                let _ = writeln!(out, "{}: no jacobian at some states: {why}", r.title());
            }
        }
        out
    }

    pub fn to_json(&self, machine: &Machine) -> Value {
        json!({ "format": "slipstick-bench-gradient", "version": 1, "slipstick": env!("CARGO_PKG_VERSION"),
            "machine": machine.to_json(), "peers": self.peers,
            "rows": self.rows.iter().map(Row::to_json).collect::<Vec<_>>() })
    }
}

fn table(title: &str, head: &str) -> String {
    format!("**{title}**\n\n| {head} |\n|{}\n", "---|".repeat(head.split(" | ").count()))
}

fn cell(times: &Times) -> String {
    named(times, "figure")
}

fn named(times: &Times, what: &str) -> String {
    if !times.is_there() {
        return format!("no {what}");
    }
    format!("{} ({}, {})", number(times.mean()), number(times.median()), number(times.min()))
}
