//! `slipstick view`: a recorded motion, or a robot at rest, in the browser.

use crate::browser;
use crate::output::{Failure, check_writable, say, tell};
use crate::recording;
use crate::run;
use crate::source::{self, Options};
use slipstick::files::TrajectoryFormat;
use slipstick::spatial::Vec3;
use slipstick::{Model, Trajectory};
use slipstick_view::Replay;
use std::path::{Path, PathBuf};

/// Arguments of `slipstick view`.
#[derive(clap::Args)]
#[command(after_help = "Example: slipstick run quadruped --out run.npz --contacts\n         \
                        slipstick view run.npz quadruped\n         \
                        slipstick view robot.urdf --ground --keyframe home\n         \
                        slipstick view run.npz quadruped --out page.html --no-open\n         \
                        slipstick view first.npz quadruped --ghost second.npz --beside third.npz\n\n\
                        A trajectory becomes a page that plays it, with its contacts if the file has them (slipstick run --contacts).\n\
                        A robot alone becomes a page with one picture, at its keyframe. Without --out the page is a temporary file.\n\
                        The path of the page is printed.\n\n\
                        Exit codes: 0 success (also without a browser), 1 failure, 2 usage error.")]
pub struct Arguments {
    /// A trajectory (.npz) of `slipstick run --out`, or a robot: a built-in one or a file (MJCF or URDF).
    #[arg(value_name = "FILE|MODEL")]
    what: String,
    /// The robot of the trajectory, loaded as it was for the run.
    #[arg(value_name = "MODEL")]
    model: Option<String>,
    #[command(flatten)]
    options: Options,
    /// Keyframe of a robot alone; default: home, else the neutral pose.
    #[arg(long)]
    keyframe: Option<String>,
    /// Another recorded motion (.npz) of the robot, shown as a translucent ghost; may be repeated.
    #[arg(long, value_name = "FILE")]
    ghost: Vec<PathBuf>,
    /// Another recorded motion (.npz) of the robot, shown beside the first one; may be repeated.
    #[arg(long, value_name = "FILE")]
    beside: Vec<PathBuf>,
    /// Distance between motions that are shown side by side, along y (m).
    #[arg(long, value_name = "D", default_value_t = 1.0, allow_negative_numbers = true)]
    distance: f64,
    /// File for the page (.html).
    #[arg(long, value_name = "FILE", value_parser = page)]
    out: Option<PathBuf>,
    /// Do not open a browser.
    #[arg(long)]
    no_open: bool,
}

fn page(text: &str) -> Result<PathBuf, String> {
    if recording::is_page(Path::new(text)) { Ok(text.into()) } else { Err("expected a name that ends in .html".into()) }
}

pub fn main(arguments: &Arguments) -> Result<(), Failure> {
    let file = trajectory_file(arguments).map_err(Failure::Use)?;
    let name = arguments.model.as_ref().unwrap_or(&arguments.what);
    if let Some(out) = &arguments.out {
        check_writable(out)?;
    }
    let model = source::load_named(name, &arguments.options).map_err(String::from)?;
    let replay = match file {
        Some(file) => companions(motion(&model, file)?, arguments)?,
        None => pose(&model, arguments.keyframe.as_deref())?,
    };
    let out = arguments.out.clone().unwrap_or_else(|| temporary(&model));
    replay.save(&out).map_err(|e| e.to_string())?;
    say!("{}", out.display());
    if !arguments.no_open
        && let Err(why) = browser::open(&out)
    {
        tell!("no browser was opened ({why}): open {} in one", out.display());
    }
    Ok(())
}

/// The trajectory, if there is one.
fn trajectory_file(arguments: &Arguments) -> Result<Option<&Path>, String> {
    let what = &arguments.what;
    let is_trajectory = TrajectoryFormat::of_path(what) == Some(TrajectoryFormat::Npz);
    match (is_trajectory, &arguments.model) {
        (true, None) => Err(format!("a trajectory needs its robot: slipstick view {what} MODEL")),
        (true, Some(_)) if arguments.keyframe.is_some() => Err("--keyframe is for a robot alone".into()),
        (true, Some(_)) => Ok(Some(Path::new(what))),
        (false, None) if !arguments.ghost.is_empty() || !arguments.beside.is_empty() => {
            Err("--ghost, --beside: expected a trajectory before the robot".into())
        }
        (false, Some(_)) => Err(format!("{what}: expected a trajectory whose name ends in .npz before the robot")),
        (false, None) => Ok(None),
    }
}

fn motion(model: &Model, file: &Path) -> Result<Replay, Failure> {
    let trajectory = Trajectory::load(file, model).map_err(|e| e.to_string())?;
    if trajectory.steps() > 0 && trajectory.contacts_of(0).is_none() {
        tell!("note: {} has no contacts; slipstick run --contacts keeps them", file.display());
    }
    let mut replay = Replay::new(model);
    replay.record_trajectory(&trajectory).map_err(|e| e.to_string())?;
    Ok(replay)
}

/// With the other motions, each titled by its file.
fn companions(mut replay: Replay, arguments: &Arguments) -> Result<Replay, Failure> {
    let Arguments { ghost, beside, distance, .. } = arguments;
    if !distance.is_finite() {
        return Err(Failure::Use(format!("--distance: expected a finite number, got {distance}")));
    }
    let titled =
        |model: &Model, file: &Path| Ok::<_, Failure>(motion(model, file)?.with_title(file.display().to_string()));
    for file in ghost {
        let other = titled(replay.model(), file)?;
        replay = replay.with_ghost(other);
    }
    for (k, file) in beside.iter().enumerate() {
        let other = titled(replay.model(), file)?;
        replay = replay.with_companion(other, Vec3::new(0.0, distance * (k + 1) as f64, 0.0));
    }
    Ok(replay)
}

fn pose(model: &Model, keyframe: Option<&str>) -> Result<Replay, Failure> {
    let x = run::start(model, keyframe).map_err(Failure::Use)?;
    let mut replay = Replay::new(model);
    replay.record_state(&x).map_err(|e| e.to_string())?;
    Ok(replay)
}

/// A file for this process, with the robot's name as far as file systems take it.
fn temporary(model: &Model) -> PathBuf {
    let name: String =
        model.name().chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).take(60).collect();
    std::env::temp_dir().join(format!("slipstick-{name}-{}.html", std::process::id()))
}
