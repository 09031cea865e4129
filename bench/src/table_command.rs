//! `slipstick-bench table`: how long steps and gradients take, as in the paper's table.

use crate::error::BenchError;
use crate::growth::{self, Growth, Sizes};
use crate::table::{self, Candidate, Effort, PeerOptions, Table};
use crate::throughput::ThroughputOptions;
use crate::{markdown, page};
use clap::builder::RangedU64ValueParser;
use serde_json::Value;
use std::io::{IsTerminal, Write, stderr};
use std::path::{Path, PathBuf};

/// Arguments of `slipstick-bench table`.
#[derive(clap::Args)]
#[command(after_help = "Example: slipstick-bench table\n         \
                        slipstick-bench table quadruped robot.xml --quick --json\n         \
                        slipstick-bench table --models ../shared/models --json=figures.json\n         \
                        slipstick-bench table go1 atlas --models ../shared/models\n         \
                        slipstick-bench table --models ../shared/models --peers --python venv/bin/python --throughput --growth --html bench.html\n\n\
                        Every robot falls from 2 cm (drop) and stands under joint gains (hold). Timed at every 10th step: the step with the\n\
                        warm start of the one before; what Step::jacobian adds to it (∂(q⁺, v⁺)/∂(q, v, τ)); what Step::vjp adds to it;\n\
                        central finite differences. At each state the least time of all repeats counts. The table has mean, standard\n\
                        deviation, median and least over the states. One thread. docs/benchmarks.md has the protocol and the last results.\n\n\
                        Exit codes: 0 success, 1 a robot does not load or a measurement failed, 2 usage error.")]
pub struct TableArguments {
    /// Built-in robots, files (MJCF or URDF) or, with --models, robots of that folder; default: the six robots of the
    /// paper's table.
    #[arg(value_name = "MODELS")]
    robots: Vec<String>,
    /// Folder with half_cheetah, humanoid, ur5, go1, h1 and atlas, each with its scene and paper_pairs.json; without it
    /// built-in robots are used.
    #[arg(long, value_name = "FOLDER")]
    models: Option<PathBuf>,
    /// A short run: 200 steps, 2 repeats, 1 round.
    #[arg(long)]
    quick: bool,
    /// Steps per motion; default: 1000.
    #[arg(long, value_name = "N", value_parser = at_least_one(100_000))]
    steps: Option<usize>,
    /// Repeats per round, of which the least time counts; default: 4.
    #[arg(long, value_name = "R", value_parser = at_least_one(10_000))]
    repeats: Option<usize>,
    /// Rounds, in which the robots take turns; default: 3.
    #[arg(long, value_name = "R", value_parser = at_least_one(10_000))]
    rounds: Option<usize>,
    /// Seed of the motions.
    #[arg(long, default_value_t = Effort::WHOLE.seed)]
    seed: u64,
    /// Time other engines too, on the same scenes and states (the six robots of the table): MuJoCo, the Pinocchio baseline
    /// (the paper's pipeline from Pinocchio and coal), Nimble, MJX. Engines that are not available are named and skipped.
    #[arg(long)]
    peers: bool,
    /// Python interpreter that has mujoco, pin and coal, for --peers.
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
    /// Python interpreter that has nimblephysics (with numpy below 2); default: that of --python.
    #[arg(long, value_name = "PROGRAM")]
    nimble: Option<PathBuf>,
    /// Python interpreter that has mujoco-mjx; default: that of --python.
    #[arg(long, value_name = "PROGRAM")]
    mjx: Option<PathBuf>,
    /// Folder for compiled programs of peers.
    #[arg(long, value_name = "FOLDER", default_value = "target/bench")]
    programs: PathBuf,
    /// Measure steps and gradients per second of batches too, for several numbers of threads.
    #[arg(long)]
    throughput: bool,
    /// Numbers of threads for --throughput, which they imply: 1,2,4; default: powers of two up to the cores.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = at_least_one(1024))]
    threads: Vec<usize>,
    /// Environments of a batch for --throughput; default: 256.
    #[arg(long, value_name = "N", value_parser = at_least_one(100_000))]
    environments: Option<usize>,
    /// Measure the growth of costs too: with dofs, with contacts in one and in many islands, with environments of a batch, with the steps
    /// of a rollout.
    #[arg(long)]
    growth: bool,
    /// Write tables and plots to this file as one page of HTML.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write tables, plots and how they were made to this file as Markdown; plots go to the folder figures next to it.
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Print JSON, or write it to a file (--json=FILE) and print the table.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    json: Option<Option<PathBuf>>,
}

fn at_least_one(most: u64) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=most)
}

pub fn run(arguments: &TableArguments) -> Result<(), BenchError> {
    let robots = robots(arguments)?;
    let effort = arguments.effort();
    let throughput = arguments.throughput();
    let show = |done, count| progress(done, count, "measurements");
    let table = table::measure(robots, &effort, arguments.peers(), throughput.as_ref(), show)?;
    let growth = arguments.growth.then(|| grow(arguments)).transpose()?;
    let mut json = table.to_json();
    json["growth"] = growth.as_ref().map_or(Value::Null, Growth::to_json);
    if let Some(Some(file)) = &arguments.json {
        write(file, &format!("{json:#}\n"))?;
    }
    if let Some(file) = &arguments.html {
        write(file, &page::html(&table, growth.as_ref()))?;
    }
    if let Some(file) = &arguments.page {
        write_page(file, &table, growth.as_ref())?;
    }
    if let Some(None) = arguments.json {
        println!("{json:#}");
        return Ok(());
    }
    println!("{}", table.to_text());
    if let Some(growth) = &growth {
        println!("\n{}", growth.to_text());
    }
    Ok(())
}

fn grow(arguments: &TableArguments) -> Result<Growth, BenchError> {
    let sizes = if arguments.quick { Sizes::Few } else { Sizes::All };
    growth::measure(sizes, |done| progress(done, growth::count(sizes), "sizes"))
}

impl TableArguments {
    fn peers(&self) -> Option<PeerOptions> {
        self.peers.then(|| PeerOptions {
            python: self.python.clone(),
            nimble: self.nimble.clone().unwrap_or_else(|| self.python.clone()),
            mjx: self.mjx.clone().unwrap_or_else(|| self.python.clone()),
            programs: self.programs.clone(),
        })
    }

    fn throughput(&self) -> Option<ThroughputOptions> {
        if !self.throughput && self.threads.is_empty() {
            return None;
        }
        let mut options = ThroughputOptions::new();
        if !self.threads.is_empty() {
            options.threads.clone_from(&self.threads);
        }
        if self.quick {
            (options.environments, options.repeats) = (16, 1);
        }
        options.environments = self.environments.unwrap_or(options.environments);
        Some(options)
    }

    fn effort(&self) -> Effort {
        let default = if self.quick { Effort::QUICK } else { Effort::WHOLE };
        Effort {
            steps: self.steps.unwrap_or(default.steps),
            repeats: self.repeats.unwrap_or(default.repeats),
            rounds: self.rounds.unwrap_or(default.rounds),
            seed: self.seed,
            ..default
        }
    }
}

/// A line that counts, where someone can see it move.
fn progress(done: usize, count: usize, what: &str) {
    if stderr().is_terminal() {
        eprint!("\r{done}/{count} {what}{}", if done >= count { "\n" } else { "" });
    }
}

fn robots(arguments: &TableArguments) -> Result<Vec<Candidate>, BenchError> {
    let models = arguments.models.as_deref();
    if arguments.robots.is_empty() {
        return table::paper_robots(models);
    }
    arguments.robots.iter().map(|name| robot(name, models)).collect()
}

/// One of the models folder if there is one, else a built-in robot, else a file.
fn robot(name: &str, models: Option<&Path>) -> Result<Candidate, BenchError> {
    if let Some(found) = models.and_then(|m| table::paper_robot(name, m)) {
        return found;
    }
    let is_builtin = slipstick::builtin_names().any(|n| n == name);
    if models.is_none() && table::paper_names().any(|n| n == name) && !is_builtin {
        return Err(BenchError::NoModels { robot: name.into() });
    }
    let is_file = !is_builtin && (name.contains(['/', '.', '\\']) || Path::new(name).exists());
    if is_file {
        let failed = |e| BenchError::Load { robot: name.into(), error: Box::new(e) };
        return Ok(Candidate::new(&short(name), name, slipstick::load(name).map_err(failed)?));
    }
    let model = slipstick::builtin(name).map_err(BenchError::Builtin)?;
    Ok(Candidate::new(name, &format!("built-in {name}"), model))
}

/// A file without its folders and ending.
fn short(name: &str) -> String {
    Path::new(name).file_stem().map_or(name.to_string(), |s| s.to_string_lossy().into_owned())
}

fn write_page(file: &Path, table: &Table, growth: Option<&Growth>) -> Result<(), BenchError> {
    write(file, &markdown::page(table, growth))?;
    let folder = file.with_file_name(markdown::FIGURES);
    std::fs::create_dir_all(&folder).map_err(|e| not_written(&folder, &e))?;
    growth.into_iter().flat_map(markdown::figures).try_for_each(|(name, svg)| write(&folder.join(name), &svg))
}

fn write(file: &Path, text: &str) -> Result<(), BenchError> {
    slipstick::files::write_file(file, |out| out.write_all(text.as_bytes())).map_err(|e| not_written(file, &e))
}

fn not_written(file: &Path, error: &std::io::Error) -> BenchError {
    BenchError::Write { file: file.into(), got: error.to_string() }
}
