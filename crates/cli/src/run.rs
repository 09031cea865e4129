//! `slipstick run`: simulates a robot; reports contact modes and solver residuals.

use crate::derivatives;
use crate::names;
use crate::output::{Failure, INTERRUPTED, NOT_CONVERGED, check_writable, tell};
use crate::recording::{self, Recording};
use crate::run_loop::{self, Extras, Outcome};
use crate::run_report;
use crate::settings;
use crate::source::{self, Source};
use slipstick::control::{Controller, Hold, Random, Table};
use slipstick::model::Solver;
use slipstick::{Model, State, Status, Trajectory};
use slipstick_view::Replay;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `slipstick run`.
#[derive(clap::Args)]
#[command(after_help = "Example: slipstick run quadruped\n         \
                        slipstick run humanoid --controller random --seed 3 --time 5 --out fall.npz\n         \
                        slipstick run quadruped --time 5 --out stand.html\n         \
                        slipstick run robot.urdf --ground --free-root --steps 2000 --json\n         \
                        slipstick run quadruped --set friction.floor=0.2 --set mass.trunk=12 --gravity -1.62\n         \
                        slipstick run quadruped --out page.html --gradient velocity:trunk:x --perturb v:root[0]=1\n         \
                        slipstick run quadruped --out run.npz --contacts && slipstick view run.npz quadruped\n\n\
                        Controllers:\n  \
                        hold    keeps the starting pose. Position servos get it as their target; other actuators act as\n          \
                        critically damped springs m w^2 (q0 - q) - 2 m w v with w = 25 rad/s and m the joint-space\n          \
                        inertia along them (of the heavier side of the joint if the robot floats), at most what the\n          \
                        time step allows. Without actuators, such torques act at the joints.\n  \
                        zero    all controls are zero: motors give no force, position servos pull to zero.\n  \
                        off     actuators are switched off.\n  \
                        random  controls drawn uniformly from their ranges every 0.1 s; --seed sets the seed.\n  \
                        FILE    one row of controls per step, numbers separated by commas or blanks, the last row stays;\n          \
                        or a recorded .csv, whose columns ctrl:NAME are used.\n\n\
                        worst_residual    largest violation of the contact laws, scaled (1 m/s counts as one)\n\
                        penetration       deepest overlap (m)\n\
                        compliance_shift  change of velocity by compliance (m/s)\n\n\
                        Exit codes: 0 success, 1 failure, 2 usage error, 3 finished, but steps did not converge,\n\
                        130 ended early by Ctrl-C: --out and the report have the steps until then; a second Ctrl-C ends at once.")]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Number of steps; default: as many as --time needs.
    #[arg(long, value_name = "N", conflicts_with = "time")]
    steps: Option<u64>,
    /// Simulated time (s).
    #[arg(long, value_name = "T", default_value_t = 1.0, allow_negative_numbers = true, value_parser = zero_or_more)]
    time: f64,
    /// Time step (s); default: the model's.
    #[arg(long, allow_negative_numbers = true, value_parser = time_step)]
    dt: Option<f64>,
    /// Another value of a parameter, or of all of a group; may be repeated. Groups and names: `slipstick info --parameters`.
    /// The group mass scales the whole inertia of a body.
    #[arg(long = "set", value_name = "GROUP.NAME=VALUE")]
    settings: Vec<String>,
    /// Gravity (m/s²): three numbers, or one along z.
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = gravity)]
    gravity: Option<Gravity>,
    /// Keyframe to start from; default: home, else the neutral pose.
    #[arg(long)]
    keyframe: Option<String>,
    /// Controller: hold, zero, off, random, or a file.
    #[arg(long, value_name = "hold|zero|off|random|FILE", default_value = "hold")]
    controller: String,
    /// Seed of the random controller.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Contact solver: auto, cold, admm, pgs.
    #[arg(long, value_name = "SOLVER", value_parser = solver)]
    solver: Option<Solver>,
    /// Compare derivatives with finite differences along a random direction in every N-th step; --seed sets the directions.
    #[arg(long, value_name = "N", default_value_t = 0)]
    audit: usize,
    /// Describe every contact and limit of the last step: mode, force, margin to a change of mode.
    #[arg(long)]
    explain: bool,
    /// File for the whole motion; the extension selects the format: .npz, .csv or .json for numbers, .html for a page that
    /// plays it in a browser, with contacts and their forces.
    #[arg(long, value_name = "FILE", value_parser = motion_file)]
    out: Option<PathBuf>,
    /// Keep the contacts of every step in the file, for `slipstick view` (.npz; a page has them in any case).
    #[arg(long, requires = "out")]
    contacts: bool,
    /// Show on the page (--out FILE.html) how a number at the end of each step changes with forces, torques and friction: velocity or
    /// position of a body along x, y or z; may be repeated.
    #[arg(long = "gradient", value_name = "QUANTITY:BODY:AXIS", requires = "out")]
    gradients: Vec<String>,
    /// Show on the page a ghost of the motion that begins or is driven otherwise, to first order; group: q, v, tau, ctrl; may be repeated.
    #[arg(long = "perturb", value_name = "GROUP:NAME=NUMBER", requires = "out")]
    changes: Vec<String>,
    /// Print neither report nor progress; warnings and errors stay, and so does JSON if it is asked for.
    #[arg(long, short)]
    quiet: bool,
    /// Print JSON: the summary and eleven states.
    #[arg(long)]
    json: bool,
}

/// World axes (m/s²).
type Gravity = [f64; 3];

/// More steps than anyone waits for: a mistyped time step.
const MOST_STEPS: f64 = 1e9;
/// A trajectory that takes more memory than this is not recorded (bytes).
const MOST_MEMORY: usize = 4 << 30;

/// Zero or a positive number.
pub fn zero_or_more(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|e| format!("{e}"))?;
    if seconds >= 0.0 && seconds.is_finite() { Ok(seconds) } else { Err("expected zero or a positive number".into()) }
}

fn time_step(text: &str) -> Result<f64, String> {
    match zero_or_more(text)? {
        0.0 => Err("expected a positive number".into()),
        dt => Ok(dt),
    }
}

fn gravity(text: &str) -> Result<Gravity, String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|x| x.trim().parse()).collect();
    match numbers.as_deref() {
        Ok(&[z]) if z.is_finite() => Ok([0.0, 0.0, z]),
        Ok(&[x, y, z]) if [x, y, z].iter().all(|x| x.is_finite()) => Ok([x, y, z]),
        _ => Err("expected three numbers X,Y,Z, or one along z".into()),
    }
}

fn solver(text: &str) -> Result<Solver, String> {
    let names = Solver::ALL.map(Solver::name).join(", ");
    let found = Solver::ALL.into_iter().find(|s| s.name() == text);
    found.ok_or_else(|| format!("expected one of {names}"))
}

fn motion_file(text: &str) -> Result<PathBuf, String> {
    match recording::is_known(Path::new(text)) {
        true => Ok(text.into()),
        false => Err("expected a name that ends in .npz, .csv, .json or .html".into()),
    }
}

pub fn main(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if let Some(path) = &arguments.out {
        check_out(path, arguments.contacts)?;
    }
    let model = settings::apply(source::load(&arguments.source)?, &arguments.settings).map_err(Failure::Use)?;
    let model = with_options(model, arguments).map_err(Failure::Use)?;
    let start = start(&model, arguments.keyframe.as_deref()).map_err(Failure::Use)?;
    let steps = steps(&model, arguments).map_err(Failure::Use)?;
    let mut controller = controller(&model, &start, arguments)?;
    let mut recording = recording(&model, arguments).map_err(Failure::Use)?;
    let Arguments { audit, seed, explain, quiet, .. } = *arguments;
    let extras = Extras { audit, seed, explain, quiet };
    let outcome = run_loop::run(&model, start, steps, &mut controller, recording.as_mut(), extras);
    // what was recorded before a divergence shows how it came about
    if let (Some(path), Some(recording)) = (&arguments.out, &recording) {
        recording.save(path)?;
        recording.warnings().iter().for_each(|warning| tell!("warning: {warning}"));
    }
    let outcome: Outcome = outcome?;
    match (arguments.json, quiet) {
        (true, _) => run_report::print_json(&model, &arguments.controller, &outcome),
        (false, false) => run_report::print(&model, &arguments.controller, &outcome),
        (false, true) => {}
    }
    Ok(verdict(&outcome, steps, arguments.out.as_deref()))
}

/// Before the work: whether the file can be written, and with contacts if they are wanted.
fn check_out(path: &Path, contacts: bool) -> Result<(), Failure> {
    if contacts && !recording::takes_contacts(path) {
        let wrong = format!("--contacts: expected a file whose name ends in .npz or .html, got {}", path.display());
        return Err(Failure::Use(wrong));
    }
    Ok(check_writable(path)?)
}

/// What is to be kept of the run. A page has contacts in any case.
fn recording(model: &Model, arguments: &Arguments) -> Result<Option<Recording>, String> {
    let Arguments { gradients, changes, contacts, .. } = arguments;
    let Some(path) = &arguments.out else { return Ok(None) };
    if !recording::is_page(path) {
        return match gradients.is_empty() && changes.is_empty() {
            true => Ok(Some(Recording::numbers(model, *contacts))),
            false => Err(format!(
                "--gradient, --perturb: expected --out with a name that ends in .html, got {}",
                path.display()
            )),
        };
    }
    let replay = derivatives::apply(Replay::new(model), gradients, changes)?;
    Ok(Some(Recording::Replay(Box::new(replay))))
}

/// What a user should know of a run beside its report, and the exit code.
fn verdict(outcome: &Outcome, steps: usize, out: Option<&Path>) -> ExitCode {
    let (done, count) = (outcome.summary.steps, |s: Status| outcome.summary.status.get(s.name()).copied().unwrap_or(0));
    let failed = count(Status::NotConverged);
    if failed > 0 {
        let worst = outcome.summary.worst_residual;
        tell!(
            "warning: {failed} of {done} steps did not converge (worst residual {worst:.1e}); a smaller --dt may help"
        );
    }
    if outcome.interrupted {
        let kept = out.map_or(String::new(), |path| format!("; {} has them", path.display()));
        tell!("interrupted after {done} of {steps} steps{kept}");
        return ExitCode::from(INTERRUPTED);
    }
    if failed > 0 { ExitCode::from(NOT_CONVERGED) } else { ExitCode::SUCCESS }
}

/// The state of a keyframe; without one, that of home, else the neutral one.
pub fn start(model: &Model, keyframe: Option<&str>) -> Result<State, String> {
    match keyframe {
        Some(name) => State::keyframe(model, name).map_err(|e| {
            let all = model.keyframes().iter().map(|k| k.name.as_str());
            format!("{e}: {}", names::hint(name, all))
        }),
        None => Ok(State::keyframe(model, "home").unwrap_or_else(|_| State::neutral(model))),
    }
}

fn with_options(model: Model, arguments: &Arguments) -> Result<Model, String> {
    let mut options = model.options().clone();
    options.dt = arguments.dt.unwrap_or(options.dt);
    options.solver = arguments.solver.unwrap_or(options.solver);
    options.gravity = arguments.gravity.unwrap_or(options.gravity);
    model.with_options(options).map_err(|e| e.to_string())
}

fn steps(model: &Model, arguments: &Arguments) -> Result<usize, String> {
    let dt = model.options().dt;
    let steps = arguments.steps.map_or((arguments.time / dt).round(), |n| n as f64);
    if steps > MOST_STEPS {
        let asked = match arguments.steps {
            Some(n) => format!("--steps {n}"),
            None => format!("--time {} with a time step of {dt:?} s takes {steps:e} steps", arguments.time),
        };
        return Err(format!("{asked}: expected at most {MOST_STEPS:e} steps"));
    }
    let steps = steps as usize;
    let bytes = Trajectory::bytes(model, steps);
    if arguments.out.is_some() && bytes > MOST_MEMORY {
        let (gigabytes, most) = (bytes >> 30, MOST_MEMORY >> 30);
        return Err(format!(
            "--out with {steps} steps takes {gigabytes} GiB: expected at most {most}; take fewer steps"
        ));
    }
    Ok(steps)
}

fn controller(model: &Model, start: &State, arguments: &Arguments) -> Result<Controller, Failure> {
    Ok(match arguments.controller.as_str() {
        "hold" => Controller::Hold(Hold::new(model, start).map_err(|e| e.to_string())?),
        "zero" => Controller::Zero,
        "off" => Controller::Off,
        "random" if model.nu() == 0 => {
            return Err(Failure::Use(format!("--controller random: '{}' has no actuators", model.name())));
        }
        "random" => Controller::Random(Random::new(arguments.seed)),
        file => {
            let wrong = |e: String| Failure::Use(format!("--controller {file}: {e}"));
            if !Path::new(file).is_file() {
                return Err(wrong("expected hold, zero, off, random or a file".into()));
            }
            let text = std::fs::read_to_string(file).map_err(|e| wrong(e.to_string()))?;
            Controller::Table(Table::parse(model, &text).map_err(|e| wrong(e.to_string()))?)
        }
    })
}
