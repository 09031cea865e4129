//! `slipstick solve`: the paper's inverse problems.

use crate::output::{Failure, check_writable, make_folder, say, tell, write};
use clap::builder::PossibleValue;
use clap::builder::PossibleValuesParser;
use slipstick_experiments::{EXPERIMENTS, Experiment, Motion, Report, Settings};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `slipstick solve`.
#[derive(clap::Args)]
#[command(after_help = "Example: slipstick solve cube-velocity\n         \
                        slipstick solve cube-impulse --out figures --json\n         \
                        slipstick solve quadruped-handstand --limits\n\n\
                        Each experiment ends with claims about its result. With --out its figures (SVG), its report (JSON) and the\n\
                        motion (CSV, and HTML for a browser) are written to a folder. docs/experiments.md has the protocol and the last results.\n\n\
                        Exit codes: 0 all claims confirmed, 1 a claim not confirmed or the experiment failed, 2 usage error.")]
pub struct Arguments {
    /// Which experiment.
    #[arg(value_name = "NAME", value_parser = names())]
    name: String,
    /// Folder with descriptions of real robots; without it built-in ones are used (robots only).
    #[arg(long, value_name = "FOLDER")]
    models: Option<PathBuf>,
    /// Keep torques within the limits of the drives (robots only).
    #[arg(long)]
    limits: bool,
    /// Folder for figures, report and motion; created if missing.
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Do not print progress.
    #[arg(long, short)]
    quiet: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(
        EXPERIMENTS.iter().map(|e| PossibleValue::new(e.name).help(e.about).alias(e.name.replace('-', "_"))),
    )
}

pub fn main(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let experiment = experiment(arguments).map_err(Failure::Use)?;
    if let Some(folder) = &arguments.out {
        make_folder(folder)?;
        check_writable(&report_file(folder, experiment.name))?;
    }
    let mut settings = Settings::default();
    settings.models.clone_from(&arguments.models);
    settings.limits = arguments.limits;
    let mut progress = |line: &str| {
        if !arguments.quiet {
            tell!("{line}");
        }
    };
    let report = experiment.run(&settings, &mut progress).map_err(|e| e.to_string())?;
    if let Some(folder) = &arguments.out {
        write_all(folder, &report)?;
    }
    match arguments.json {
        true => say!("{:#}", report.to_json()),
        false => say!("{}", report.to_text()),
    }
    Ok(if report.holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The experiment, if it takes the options. Names may be written as in Rust, with underscores.
fn experiment(arguments: &Arguments) -> Result<&'static Experiment, String> {
    let name = arguments.name.replace('_', "-");
    let found =
        EXPERIMENTS.iter().find(|e| e.name == name).ok_or_else(|| format!("there is no experiment '{name}'"))?;
    let given = [(arguments.limits, "--limits"), (arguments.models.is_some(), "--models")];
    match given.into_iter().find(|(given, _)| *given && !found.robot) {
        Some((_, option)) => {
            let robots: Vec<&str> = EXPERIMENTS.iter().filter(|e| e.robot).map(|e| e.name).collect();
            Err(format!("{option} is for robots ({}); '{name}' has none", robots.join(", ")))
        }
        None => Ok(found),
    }
}

fn report_file(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.json"))
}

fn write_all(folder: &Path, report: &Report) -> Result<(), String> {
    for (name, svg) in &report.figures {
        write(&folder.join(name), svg)?;
    }
    write(&report_file(folder, report.name), format!("{:#}\n", report.to_json()))?;
    match &report.motion {
        Some(motion) => write_motion(folder, report.name, motion),
        None => Ok(()),
    }
}

/// The numbers of a motion, and a page that plays it.
fn write_motion(folder: &Path, name: &str, motion: &Motion) -> Result<(), String> {
    motion.trajectory.save(folder.join(format!("{name}.csv"))).map_err(|e| e.to_string())?;
    let replay = motion.replay(name).map_err(|e| e.to_string())?;
    replay.save(folder.join(format!("{name}.html"))).map_err(|e| e.to_string())
}
