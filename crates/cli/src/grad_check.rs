//! `slipstick grad-check`: exact derivatives of the step compared with finite differences.

use crate::grad_check_report;
use crate::interrupt::Interrupt;
use crate::output::{Failure, INTERRUPTED, check_writable, say, tell, write};
use crate::progress::Progress;
use crate::run;
use crate::source::{self, Source};
use slipstick::Model;
use slipstick::check::grad_check;
use slipstick::check::grad_check::{GradCheck, GradReport, Sample};
use slipstick::files::{Limits, read_file};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `slipstick grad-check`.
#[derive(clap::Args)]
#[command(after_help = "Example: slipstick grad-check quadruped\n         \
                        slipstick grad-check robot.urdf --free-root --ground --states 2000 --parameters\n         \
                        slipstick grad-check arm --save worst.txt && slipstick grad-check arm --replay worst.txt\n\n\
                        Half of the states are sampled from motions (standing, falling, pushed, random controls). The other half are\n\
                        random poses on the floor, at joint limits or in self-contact. Every column of the Jacobian is compared with\n\
                        finite differences of several step sizes on both sides, of which the best counts. Errors are relative to the\n\
                        largest entry of the block (at least that of free motion). Columns at a corner (a contact about to slip,\n\
                        redundant constraints, …) have two derivatives; they are flagged and counted. Only states in which contact\n\
                        was not solved are skipped.\n\n\
                        Exit codes: 0 success, 1 a bound of --median, --worst or --unflagged is exceeded or a derivative failed,\n\
                        2 usage error, 130 ended early by Ctrl-C: the report is about the states until then.")]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Number of states.
    #[arg(long, value_name = "N", default_value_t = 200)]
    states: usize,
    /// Seed of the states.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Check derivatives with respect to all groups of parameters too, in every ninth state.
    #[arg(long)]
    parameters: bool,
    /// Fail if the median error of a block is larger than this.
    #[arg(long, value_name = "E", value_parser = run::zero_or_more)]
    median: Option<f64>,
    /// Fail if an error is larger than this.
    #[arg(long, value_name = "E", value_parser = run::zero_or_more)]
    worst: Option<f64>,
    /// Fail if more columns than this are wrong on a side and not flagged.
    #[arg(long, value_name = "N")]
    unflagged: Option<usize>,
    /// File for the state with the largest error, or the first in which a derivative failed. With --parameters the state
    /// with the largest parameter error is written next to it, with the extension .parameters.
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Check a saved state only.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["states", "save"])]
    replay: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// In every how many-th state parameters are looked at.
const PARAMETERS: usize = 9;

pub fn main(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let model = source::load(&arguments.source)?;
    if model.nv() == 0 {
        return Err(Failure::Use(format!("'{}' has no degrees of freedom", model.name())));
    }
    match &arguments.replay {
        Some(file) => replay(&model, file, arguments),
        None => check(&model, arguments),
    }
}

fn check(model: &Model, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut options = GradCheck::default();
    (options.states, options.seed) = (arguments.states, arguments.seed);
    options.parameters_every = if arguments.parameters { PARAMETERS } else { 0 };
    if let Some(file) = &arguments.save {
        check_writable(file)?;
    }
    let (mut progress, interrupt) = (Progress::of(options.states, "states", 1), Interrupt::watch());
    let tick = |done| {
        progress.show(done);
        if interrupt.came() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let report = grad_check::check(model, &options, tick).map_err(|e| e.to_string())?;
    drop(progress);
    let saved = save(model, &report, arguments.save.as_deref())?;
    match arguments.json {
        true => say!("{:#}", grad_check_report::to_json(model, &report, saved)),
        false => grad_check_report::print(model, &report, saved),
    }
    if interrupt.came() {
        tell!("interrupted after {} of {} states", report.states, arguments.states);
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let flagged = arguments.unflagged.is_none_or(|bound| report.wrong_unflagged <= bound);
    let sound = report.failures.is_empty() && flagged;
    Ok(verdict(sound, report.median_error(), report.worst_error(), arguments))
}

fn verdict(sound: bool, median: f64, worst: f64, arguments: &Arguments) -> ExitCode {
    let kept = arguments.median.is_none_or(|b| median <= b) && arguments.worst.is_none_or(|b| worst <= b);
    if sound && kept { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Saves the worst state and says where.
fn save<'a>(model: &Model, report: &GradReport, file: Option<&'a Path>) -> Result<Option<&'a Path>, String> {
    let failed = report.failures.first().map(|(sample, _)| sample);
    let sample: Option<&Sample> = failed.or(report.worst.first().map(|w| &w.sample));
    let (Some(file), Some(sample)) = (file, sample) else { return Ok(None) };
    write(file, sample.to_text(model))?;
    if let Some((sample, _)) = report.worst_parameter() {
        write(&file.with_extension("parameters"), sample.to_text(model))?;
    }
    Ok(Some(file))
}

fn replay(model: &Model, file: &Path, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let wrong = |e: String| Failure::Use(format!("--replay {}: {e}", file.display()));
    let bytes = read_file(file, &Limits::default()).map_err(|e| wrong(e.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|e| wrong(e.to_string()))?;
    let sample = Sample::from_text(model, &text).map_err(|e| wrong(e.to_string()))?;
    let state =
        grad_check::check_state(model, &sample, arguments.parameters, arguments.seed).map_err(|e| e.to_string())?;
    match arguments.json {
        true => say!("{:#}", grad_check_report::state_to_json(model, &sample, &state)),
        false => grad_check_report::print_state(model, &sample, &state),
    }
    let errors = || state.errors.iter().flatten().copied();
    let worst = if state.left_out { 0.0 } else { errors().fold(0.0, f64::max) };
    Ok(verdict(true, worst, worst, arguments))
}
