//! `slipstick solve`: the paper's inverse problems.

use crate::output::{Failure, say};
use clap::builder::PossibleValue;
use clap::builder::PossibleValuesParser;
use slipstick_experiments::{EXPERIMENTS, Motion, Report, Settings};
use std::io::{Write, stderr};
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
    /// Folder with descriptions of real robots; without it built-in ones are used.
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
    PossibleValuesParser::new(EXPERIMENTS.iter().map(|e| PossibleValue::new(e.name).help(e.about)))
}

pub fn main(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut settings = Settings::default();
    settings.models.clone_from(&arguments.models);
    settings.limits = arguments.limits;
    let mut progress = |line: &str| {
        if !arguments.quiet {
            _ = writeln!(stderr(), "{line}"); // nobody may be listening
        }
    };
    let report = slipstick_experiments::run(&arguments.name, &settings, &mut progress).map_err(|e| e.to_string())?;
    if let Some(folder) = &arguments.out {
        write_all(folder, &report)?;
    }
    match arguments.json {
        true => say!("{:#}", report.to_json()),
        false => say!("{}", report.to_text()),
    }
    Ok(if report.holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn write_all(folder: &Path, report: &Report) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let write = |name: &str, text: &str| {
        let file = folder.join(name);
        std::fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))
    };
    for (name, svg) in &report.figures {
        write(name, svg)?;
    }
    write(&format!("{}.json", report.name), &format!("{:#}\n", report.to_json()))?;
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
