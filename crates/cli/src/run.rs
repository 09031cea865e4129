//! `slipstick run`: a passive rollout.

use crate::info;
use crate::output::Failure;
use crate::output::say;
use crate::source::{self, Source};
use serde_json::{Value, json};
use slipstick::dynamics::Workspace;
use slipstick::{Data, Input, Model, State};

/// Arguments of `slipstick run`.
#[derive(clap::Args)]
#[command(
    after_help = "Example: slipstick run quadruped --time 0.5\n\nActuators are off. Contact, joint limits and dry friction \
                        are not part of the step yet: a robot without a fixed base falls freely."
)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Simulated time (s).
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true, value_parser = zero_or_more)]
    time: f64,
    /// Time step (s); default: the model's.
    #[arg(long, allow_negative_numbers = true, value_parser = time_step)]
    dt: Option<f64>,
    /// Keyframe to start from; default: home, else the neutral pose.
    #[arg(long)]
    keyframe: Option<String>,
    /// Print JSON: the recorded states.
    #[arg(long)]
    json: bool,
}

/// More steps than anyone waits for: a mistyped time step.
const MOST_STEPS: f64 = 1e9;

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

/// One line of the report.
struct Sample {
    time: f64,
    height: f64,
    kinetic: f64,
    potential: f64,
    q: Vec<f64>,
    v: Vec<f64>,
}

pub fn main(arguments: &Arguments) -> Result<(), Failure> {
    let mut model = source::load(&arguments.source)?;
    if let Some(dt) = arguments.dt {
        let mut options = model.options().clone();
        options.dt = dt;
        model = model.with_options(options).map_err(|e| e.to_string())?;
    }
    let start = start(&model, arguments.keyframe.as_deref()).map_err(Failure::Use)?;
    let steps = (arguments.time / model.options().dt).round();
    if steps > MOST_STEPS {
        let text =
            format!("--time {} with a time step of {:?} s takes {steps:e} steps", arguments.time, model.options().dt);
        return Err(Failure::Use(format!("{text}: expected at most {MOST_STEPS:e}")));
    }
    let samples = rollout(&model, start, arguments.time)?;
    if arguments.json {
        say!("{:#}", to_json(&model, &samples));
    } else {
        info::print_summary(&model);
        print(&samples);
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

/// Ten samples and the start, from steps without any input.
fn rollout(model: &Model, mut x: State, time: f64) -> Result<Vec<Sample>, String> {
    let (mut data, mut work, mut next) = (Data::new(model), Workspace::new(model), x.clone());
    let steps = (time / model.options().dt).round() as usize;
    let every = steps.div_ceil(10).max(1);
    let mut samples = vec![sample(model, &mut work, &x)?];
    for k in 1..=steps {
        slipstick::step(model, &mut data, &x, &Input::default(), &mut next).map_err(|e| e.to_string())?;
        std::mem::swap(&mut x, &mut next);
        if k % every == 0 || k == steps {
            samples.push(sample(model, &mut work, &x)?);
        }
    }
    Ok(samples)
}

fn sample(model: &Model, work: &mut Workspace, x: &State) -> Result<Sample, String> {
    let (kinetic, potential) = work.energy(model, &x.q, &x.v).map_err(|e| e.to_string())?;
    let com = work.centre_of_mass(model, &x.q).map_err(|e| e.to_string())?;
    Ok(Sample { time: x.time, height: com.z, kinetic, potential, q: x.q.clone(), v: x.v.clone() })
}

fn print(samples: &[Sample]) {
    say!("passive rollout (no contact yet)");
    say!("  {:>8} {:>14} {:>12} {:>12} {:>12}", "time s", "com height m", "kinetic J", "potential J", "total J");
    for s in samples {
        let total = s.kinetic + s.potential;
        say!("  {:>8.4} {:>14.6} {:>12.5} {:>12.5} {:>12.5}", s.time, s.height, s.kinetic, s.potential, total);
    }
}

fn to_json(model: &Model, samples: &[Sample]) -> Value {
    let rows = samples.iter().map(|s| {
        json!({ "time": s.time, "com_height": s.height, "kinetic": s.kinetic, "potential": s.potential, "q": s.q, "v": s.v })
    });
    json!({
        "format": "slipstick-run", "version": 1, "model": model.name(), "dt": model.options().dt,
        "contact": false, "warnings": model.warnings().iter().map(ToString::to_string).collect::<Vec<_>>(), "samples": rows.collect::<Vec<_>>(),
    })
}
