//! The loop of `slipstick run`: steps, samples, a bar that moves.

use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::recording::Recording;
use slipstick::control::{Command, Control, Controller};
use slipstick::dynamics::Workspace;
use slipstick::rollout::{RolloutError, Summary};
use slipstick::{Model, Simulator, State};
use std::time::{Duration, Instant};

/// What a run has to tell.
pub struct Outcome {
    pub summary: Summary,
    /// The start, and ten states on the way.
    pub samples: Vec<Sample>,
    /// Time that the steps took on the clock.
    pub elapsed: Duration,
    /// What the constraints of the last step did, if that was asked for.
    pub explanation: Option<String>,
    /// Whether Ctrl-C ended it before all steps were done.
    pub interrupted: bool,
}

/// What is wanted beside the motion.
pub struct Extras {
    /// Steps from one comparison of derivatives to the next; zero: none.
    pub audit: usize,
    /// Of the comparisons.
    pub seed: u64,
    /// Whether the last step is explained.
    pub explain: bool,
    /// Whether no bar is shown.
    pub quiet: bool,
}

/// A state on the way.
pub struct Sample {
    pub state: State,
    /// Height of the center of mass (m).
    pub com_height: f64,
    /// Energies (J).
    pub kinetic: f64,
    pub potential: f64,
    /// Contacts of the step that led to it.
    pub contacts: usize,
}

/// Steps the robot from `start`; the error of a divergence names body and step.
pub fn run(
    model: &Model,
    start: State,
    steps: usize,
    controller: &mut Controller,
    mut recording: Option<&mut Recording>,
    extras: Extras,
) -> Result<Outcome, String> {
    let mut sim = Simulator::new(model);
    sim.set_state(start).map_err(|e| e.to_string())?;
    sim.audit(extras.audit, extras.seed).map_err(|e| e.to_string())?;
    let (mut command, mut work) = (Command::new(model), Workspace::new(model));
    let mut summary = Summary::new();
    let mut samples = vec![sample(model, &mut work, sim.state(), 0)?];
    let every = steps.div_ceil(10).max(1);
    let (mut progress, interrupt) = (Progress::new(steps).quiet(extras.quiet), Interrupt::watch());
    let (mut elapsed, mut interrupted) = (Duration::ZERO, false);
    if let Some(r) = recording.as_deref_mut() {
        r.begin(sim.state()).map_err(|e| e.to_string())?;
    }
    for k in 1..=steps {
        controller.command(model, sim.state(), &mut command);
        let begin = Instant::now();
        let done = sim.step(&command.input());
        elapsed += begin.elapsed();
        let done = done.map_err(|error| RolloutError { step: k - 1, error }.to_string())?;
        summary.add(&done);
        let contacts = done.report().contacts;
        if let Some(r) = recording.as_deref_mut() {
            r.push(&mut sim).map_err(|e| e.to_string())?;
        }
        interrupted = k < steps && interrupt.came();
        if k % every == 0 || k == steps || interrupted {
            samples.push(sample(model, &mut work, sim.state(), contacts)?);
        }
        if interrupted {
            break;
        }
        progress.show(k);
    }
    let last = if extras.explain { sim.last_step() } else { None };
    let explanation = last.map(|mut step| step.explain());
    summary.audit = sim.audit_report().cloned();
    Ok(Outcome { summary, samples, elapsed, explanation, interrupted })
}

fn sample(model: &Model, work: &mut Workspace, x: &State, contacts: usize) -> Result<Sample, String> {
    let (kinetic, potential) = work.energy(model, &x.q, &x.v).map_err(|e| e.to_string())?;
    let com = work.center_of_mass(model, &x.q).map_err(|e| e.to_string())?;
    Ok(Sample { state: x.clone(), com_height: com.z, kinetic, potential, contacts })
}
