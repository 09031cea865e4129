//! Figures of `grad_check` beside those of ratchet.txt: they may get better, not worse. All built-in robots, closed loops, a
//! press fit, a stuck arm, and a mount inside the floor, whose steps violate their demands as little as possible.
//!
//! `cargo xtask test --full` takes all of them, `cargo test` one of each kind. `SLIPSTICK_RATCHET=write cargo nextest run
//! ratchet` writes the file anew.

use crate::hard_scenes::scene;
use slipstick::check::grad_check::{GradCheck, GradReport, check};
use slipstick::{Model, builtin, builtin_names};
use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::Path;

/// Files of `bench/scenes`.
const SCENES: [&str; 6] = ["four_bar", "gripper", "delta", "press_fit", "stuck_arm", "mount"];
/// One of each kind: legs that bounce and stand, an arm, a closed loop, demands that contradict each other.
const FEW_MODELS: [&str; 5] = ["half_cheetah", "quadruped", "arm", "four_bar", "press_fit"];
const STATES: usize = 60;
const SEED: u64 = 11;
/// Errors below these are as good as any; above, one may grow by the factor, as rounding of another machine makes it.
const MEDIAN: f64 = 1e-8;
const WORST: f64 = 1e-5;
const ADJOINT: f64 = 1e-10;
const FACTOR: f64 = 10.0;
/// States more than before that may be at a corner or unsolved: motions are chaotic, and another machine rounds otherwise.
const ROOM: usize = 3;

/// Columns more that may be wrong and not flagged, of some thousand.
const FEW: usize = 2;

/// Figures of a robot.
#[derive(Debug, PartialEq)]
struct Row {
    name: String,
    /// States left out, states at a corner, columns that are wrong and not flagged.
    counts: [usize; 3],
    /// Median and worst error, and that of the adjoint.
    errors: [f64; 3],
}

impl Row {
    fn of(name: &str, report: &GradReport) -> Row {
        Row {
            name: name.into(),
            counts: [report.left_out, report.flagged, report.wrong_unflagged],
            errors: [report.median_error(), report.worst_error(), report.adjoint_error],
        }
    }

    fn parse(line: &str) -> Row {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |k: usize| words[k].parse::<f64>().unwrap_or_else(|_| panic!("a number in '{line}'"));
        Row { name: words[0].into(), counts: [1, 2, 3].map(|k| number(k) as usize), errors: [4, 5, 6].map(number) }
    }

    fn is_worse_than(&self, kept: &Row) -> bool {
        let grown = |k: usize, good: f64| self.errors[k] > good.max(FACTOR * kept.errors[k]);
        let more = self.counts[0] > kept.counts[0] + ROOM || self.counts[1] > kept.counts[1] + ROOM;
        more || self.counts[2] > kept.counts[2] + FEW || grown(0, MEDIAN) || grown(1, WORST) || grown(2, ADJOINT)
    }
}

fn models(all: bool) -> impl Iterator<Item = (&'static str, Model)> {
    let robots = builtin_names().map(|name| (name, builtin(name).unwrap()));
    let models = robots.chain(SCENES.map(|name| (name, scene(name))));
    models.filter(move |(name, _)| all || FEW_MODELS.contains(name))
}

#[test]
fn derivatives_get_no_worse() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ratchet.txt");
    let mut options = GradCheck::default();
    (options.states, options.seed) = (STATES, SEED);
    let write = std::env::var("SLIPSTICK_RATCHET").is_ok_and(|x| x == "write");
    let all = write || std::env::var_os("SLIPSTICK_FULL").is_some();
    let rows: Vec<Row> = models(all)
        .map(|(name, model)| {
            let report = check(&model, &options, |_| ControlFlow::Continue(())).unwrap();
            assert!(report.failures.is_empty(), "{name}: {:?}", report.failures[0]);
            Row::of(name, &report)
        })
        .collect();
    if write {
        let mut text =
            format!("# {STATES} states, seed {SEED}: left_out flagged wrong_unflagged median worst adjoint\n");
        for Row { name, counts: [out, flagged, wrong], errors: [median, worst, adjoint] } in &rows {
            writeln!(text, "{name} {out} {flagged} {wrong} {median:.1e} {worst:.1e} {adjoint:.1e}").unwrap();
        }
        return std::fs::write(&file, text).unwrap();
    }
    let text = std::fs::read_to_string(&file).unwrap();
    let kept: Vec<Row> = text.lines().filter(|l| !l.starts_with('#')).map(Row::parse).collect();
    assert_eq!(rows.len(), if all { kept.len() } else { FEW_MODELS.len() }, "a row for each model");
    for row in &rows {
        let kept = kept.iter().find(|kept| kept.name == row.name).unwrap_or_else(|| panic!("no row for {}", row.name));
        assert!(!row.is_worse_than(kept), "{row:?} is worse than {kept:?}");
    }
}
