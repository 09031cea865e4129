//! Nearest points of two shapes, for every combination of kinds, compared with coal.

use super::pairs::{self as pairs, Class, Pairs};
use crate::report::Timing;
use crate::{Collision, CollisionKind, peer};
use serde_json::{Value, json};
use slipstick::InputError;
use slipstick::collision::{ClosestPoints, PairQuery};
use slipstick_plot::Series;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

/// Ours may take as long as coal.
const GOAL: f64 = 1.0;
/// coal's own guesses at the start of its iteration; the fastest counts. Its fourth figure, queries repeated at the same
/// poses from where they ended, is reported apart: ours have no memory.
const GUESSES: [&str; 3] = ["default", "bounds", "cached"];
/// coal's tolerance is 1e-6; a median difference beyond this is another problem.
const SAME: f64 = 1e-5;

/// One kind of pair in one class, nanoseconds per query.
pub struct Figure {
    name: String,
    class: Class,
    ours: Timing,
    coal: BTreeMap<String, Timing>,
    /// |ours − coal| of the distances: median, largest (m).
    difference: [f64; 2],
    /// How many queries ended without reaching their tolerance.
    unfinished: usize,
}

impl Figure {
    fn peer(&self) -> Option<Timing> {
        GUESSES.iter().filter_map(|g| self.coal.get(*g)).copied().reduce(Timing::better)
    }

    fn ratio(&self) -> Option<f64> {
        self.peer().map(|p| self.ours.min / p.min)
    }
}

/// All kinds, and the version of coal if there was one.
pub struct Kinds {
    pub figures: Vec<Figure>,
    pub coal: Option<String>,
}

pub fn run(arguments: &Collision) -> Result<Kinds, String> {
    let names = pairs::combinations().filter(|[a, b]| format!("{a}-{b}").contains(&arguments.only));
    let both = names.flat_map(|kinds| Class::ALL.map(|class| (kinds, class)));
    let problems: Vec<Pairs> = both
        .map(|(kinds, class)| pairs::sample(kinds, class, arguments.poses, arguments.seed))
        .collect::<Result<_, _>>()?;
    let mut kinds = Kinds { figures: problems.iter().map(measure_once).collect::<Result<_, _>>()?, coal: None };
    // in turns, so that a slow spell of the machine meets both
    for _ in 0..arguments.rounds {
        for (p, figure) in problems.iter().zip(&mut kinds.figures) {
            let ours = time(p, arguments.repeats).map_err(|e| e.to_string())?;
            figure.ours = figure.ours.better(ours);
        }
        if let (Some(program), false) = (&arguments.coal, problems.is_empty()) {
            let answer = peer::coal(program, &pairs::write_text(&problems), arguments.repeats)?;
            add_coal(&problems, &mut kinds.figures, answer.pairs)?;
            kinds.coal = Some(answer.version);
        }
    }
    Ok(kinds)
}

/// Nearest points at all poses.
fn nearest_points(p: &Pairs) -> Result<Vec<ClosestPoints>, InputError> {
    let mut query = PairQuery::new(&p.bodies[0].solid, &p.bodies[1].solid)?;
    p.poses().iter().map(|[x_a, x_b]| query.closest_points(x_a, x_b).copied()).collect()
}

fn measure_once(p: &Pairs) -> Result<Figure, String> {
    let wrong = |e: InputError| format!("{}: {e}", p.name());
    let mut unfinished = 0;
    for found in nearest_points(p).map_err(wrong)? {
        unfinished += usize::from(!found.converged);
    }
    let ours = Timing { min: f64::INFINITY, median: f64::INFINITY };
    Ok(Figure { name: p.name(), class: p.class, ours, coal: BTreeMap::new(), difference: [0.0; 2], unfinished })
}

/// Nanoseconds per query over passes through all poses; three passes to warm up.
fn time(p: &Pairs, repeats: usize) -> Result<Timing, InputError> {
    let mut query = PairQuery::new(&p.bodies[0].solid, &p.bodies[1].solid)?;
    let poses = p.poses();
    let mut passes = Vec::with_capacity(repeats);
    for pass in 0..repeats + 3 {
        let start = Instant::now();
        for [x_a, x_b] in &poses {
            black_box(black_box(&mut query).closest_points(x_a, x_b)?);
        }
        if pass >= 3 {
            passes.push(start.elapsed().as_secs_f64() * 1e9 / poses.len() as f64);
        }
    }
    Ok(Timing::of(passes))
}

fn add_coal(problems: &[Pairs], figures: &mut [Figure], answers: Vec<peer::CoalPair>) -> Result<(), String> {
    if answers.len() != problems.len() {
        return Err(format!("coal timed {} pairs instead of {}", answers.len(), problems.len()));
    }
    for ((p, figure), answer) in problems.iter().zip(figures).zip(answers) {
        let ours = nearest_points(p).map_err(|e| e.to_string())?.into_iter().map(|c| c.distance);
        // a distance that is not a number counts as an infinite error
        let gap = |(a, b): (f64, f64)| if (a - b).is_nan() { f64::INFINITY } else { (a - b).abs() };
        let mut gaps: Vec<f64> = ours.zip(answer.distances).map(gap).collect();
        gaps.sort_by(f64::total_cmp);
        figure.difference = [gaps[gaps.len() / 2], gaps[gaps.len() - 1]];
        for (name, t) in answer.timings {
            figure.coal.entry(name).and_modify(|best| *best = best.better(t)).or_insert(t);
        }
    }
    Ok(())
}

impl Kinds {
    /// Both engines must have been given the same shapes and poses.
    pub fn check(&self) -> Result<(), String> {
        let differ = self.figures.iter().filter(|f| f.difference[0] > SAME);
        let names: Vec<String> =
            differ.map(|f| format!("{} {} ({:.1e} m)", f.name, f.class.name(), f.difference[0])).collect();
        let message = || format!("coal's distances differ, not the same problem: {}", names.join(", "));
        if names.is_empty() { Ok(()) } else { Err(message()) }
    }

    /// A table with a row per kind, as Markdown.
    pub fn print(&self) {
        if self.figures.is_empty() {
            return;
        }
        println!("\n| {:<19} | {:<27} | {:<27} | {:<27} |", "ns per pair", "separated", "shallow", "deep");
        println!("|---|---|---|---|");
        for row in self.figures.chunks(Class::ALL.len()) {
            print!("| {:<19} |", row[0].name);
            for f in row {
                print!(" {:<27} |", cell(f));
            }
            println!();
        }
        if self.coal.is_some() {
            println!("\nslipstick / coal = ratio of minima (ratio of medians)");
            Class::ALL.iter().for_each(|class| self.summarize(*class));
        }
        let unfinished: usize = self.figures.iter().map(|f| f.unfinished).sum();
        println!("queries of ours that ended without reaching their tolerance: {unfinished}");
    }

    fn summarize(&self, class: Class) {
        let mut of: Vec<&Figure> = self.figures.iter().filter(|f| f.class == class).collect();
        let ratio = |f: &Figure| f.ratio().unwrap_or(f64::NAN);
        of.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
        let reached = of.iter().filter(|f| ratio(f) <= GOAL).count();
        let mean = (of.iter().map(|f| ratio(f).ln()).sum::<f64>() / of.len() as f64).exp();
        let worst: Vec<String> = of.iter().take(5).map(|f| format!("{} {:.2}", f.name, ratio(f))).collect();
        let farthest = of.iter().max_by(|a, b| a.difference[1].total_cmp(&b.difference[1]));
        let repeated = of.iter().filter_map(|f| Some(f.ours.min / f.coal.get("repeated")?.min)).fold(0.0, f64::max);
        println!(
            "{}: {reached} of {} kinds at most {GOAL}, geometric mean {mean:.2}, highest {}; highest against coal's own \
             last solution as its start {repeated:.2}",
            class.name(),
            of.len(),
            worst.join(", ")
        );
        if let Some(f) = farthest {
            println!("  largest difference of the distances {:.1e} m ({})", f.difference[1], f.name);
        }
    }

    /// Points of a plot, a series per class.
    pub fn series(&self) -> Vec<Series> {
        let points = |class| {
            let of = self.figures.iter().filter(move |f| f.class == class);
            of.filter_map(|f| Some((f.peer()?.min, f.ours.min))).collect()
        };
        Class::ALL.iter().map(|class| Series::new(class.name(), points(*class))).collect()
    }

    pub fn to_json(&self) -> Value {
        let shown = |t: &Timing| json!({ "min_ns": t.min, "median_ns": t.median });
        let figure = |f: &Figure| {
            let coal: BTreeMap<&String, Value> = f.coal.iter().map(|(name, t)| (name, shown(t))).collect();
            json!({ "kind": f.name, "class": f.class.name(), "slipstick": shown(&f.ours), "coal": coal,
                "ratio": f.ratio(), "goal": GOAL, "unfinished": f.unfinished,
                "difference_m": { "median": f.difference[0], "max": f.difference[1] } })
        };
        json!({ "coal": self.coal, "figures": self.figures.iter().map(figure).collect::<Vec<_>>() })
    }
}

fn cell(f: &Figure) -> String {
    match f.peer() {
        Some(p) => format!(
            "{:.0} / {:.0} = **{:.2}** ({:.2})",
            f.ours.min,
            p.min,
            f.ours.min / p.min,
            f.ours.median / p.median
        ),
        None => format!("{:.0}", f.ours.min),
    }
}

/// Passes over one kind of pair and nothing else, for profilers.
pub fn run_one(arguments: &CollisionKind) -> Result<(), String> {
    let known = |kind: &str| pairs::KINDS.iter().find(|k| **k == kind).copied();
    let unknown = |kind: &str| format!("unknown kind of shape '{kind}' (expected one of {})", pairs::KINDS.join(", "));
    let first = known(&arguments.first).ok_or_else(|| unknown(&arguments.first))?;
    let second = known(&arguments.second).ok_or_else(|| unknown(&arguments.second))?;
    let p = pairs::sample([first, second], arguments.class, arguments.poses, arguments.seed)?;
    let figure = measure_once(&p)?;
    let t = time(&p, arguments.repeats).map_err(|e| e.to_string())?;
    println!("{} {}: {:.1} ns minimum, {:.1} ns median", p.name(), p.class.name(), t.min, t.median);
    println!("{} of {} queries ended without reaching their tolerance", figure.unfinished, arguments.poses);
    Ok(())
}
