//! `slipstick run`: simulates a robot; reports contact modes and solver residuals.

use crate::output::Failure;
use crate::recording::{self, Recording};
use crate::run_loop::{self, Extras, Outcome};
use crate::run_report;
use crate::source::{self, Source};
use slipstick::control::{Controller, Hold, Random, Table};
use slipstick::model::Solver;
use slipstick::{Model, State, Trajectory};
use std::path::{Path, PathBuf};

/// Arguments of `slipstick run`.
#[derive(clap::Args)]
#[command(after_help = "Example: slipstick run quadruped\n         \
                        slipstick run humanoid --controller random --seed 3 --time 5 --out fall.npz\n         \
                        slipstick run quadruped --time 5 --out stand.html\n         \
                        slipstick run robot.urdf --ground --free-root --steps 2000 --json\n\n\
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
                        compliance_shift  change of velocity by compliance (m/s)")]
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
    /// Print JSON: the summary and eleven states.
    #[arg(long)]
    json: bool,
}

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

pub fn main(arguments: &Arguments) -> Result<(), Failure> {
    let model = with_options(source::load(&arguments.source)?, arguments)?;
    let start = start(&model, arguments.keyframe.as_deref()).map_err(Failure::Use)?;
    let steps = steps(&model, arguments).map_err(Failure::Use)?;
    let mut controller = controller(&model, &start, arguments)?;
    let mut recording = arguments.out.as_deref().map(|path| Recording::new(&model, path));
    let extras = Extras { audit: arguments.audit, seed: arguments.seed, explain: arguments.explain };
    let outcome = run_loop::run(&model, start, steps, &mut controller, recording.as_mut(), extras);
    // what was recorded before a divergence shows how it came about
    if let (Some(path), Some(recording)) = (&arguments.out, &recording) {
        recording.save(path)?;
    }
    let outcome: Outcome = outcome?;
    match arguments.json {
        true => run_report::print_json(&model, &arguments.controller, &outcome),
        false => run_report::print(&model, &arguments.controller, &outcome),
    }
    Ok(())
}

/// The state of a keyframe; without one, that of home, else the neutral one.
pub fn start(model: &Model, keyframe: Option<&str>) -> Result<State, String> {
    match keyframe {
        Some(name) => State::keyframe(model, name).map_err(|e| e.to_string()),
        None => Ok(State::keyframe(model, "home").unwrap_or_else(|_| State::neutral(model))),
    }
}

fn with_options(model: Model, arguments: &Arguments) -> Result<Model, String> {
    let mut options = model.options().clone();
    options.dt = arguments.dt.unwrap_or(options.dt);
    options.solver = arguments.solver.unwrap_or(options.solver);
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
