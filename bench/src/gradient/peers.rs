//! Results of the peers in the gradient benchmark.

use super::times::Times;
use crate::peer::{ask, numbers, strange};
use crate::report::mean;
use crate::step::peers::{Peers, Way};
use crate::step::scene::{Phase, Scene};
use std::path::Path;
use std::process::Command;

/// PeerTimes of MuJoCo and of the baseline, each on its own trajectory, then from our states.
#[derive(Default)]
pub struct PeerTimes {
    pub mujoco: [Option<Mujoco>; 2],
    pub baseline: [Option<Baseline>; 2],
}

impl PeerTimes {
    /// Asks once more at every so many-th step. Name and compiler of the peer; `None` if it does not take part.
    pub fn ask(
        &mut self,
        peers: &Peers,
        way: Way,
        scene: &Scene,
        phase: Phase,
        every: usize,
        states: usize,
    ) -> Result<Option<String>, String> {
        let Some((program, mut command)) = peers.command(way, &scene.motors) else { return Ok(None) };
        command.arg(every.to_string());
        let from_ours = usize::from(matches!(way, Way::MujocoGiven | Way::BaselineGiven));
        let answered = if way.is_mujoco() {
            self.mujoco[from_ours].get_or_insert_with(Mujoco::default).ask(program, command, states)?
        } else {
            self.baseline[from_ours].get_or_insert_with(Baseline::default).ask(program, command, states)?
        };
        peers.check(way, phase, &answered.first_velocity)?;
        Ok(Some(format!("{} ({})", answered.peer, answered.compiler)))
    }
}

/// Times of MuJoCo's finite differences on one trajectory.
#[derive(Default)]
pub struct Mujoco {
    pub step: Times,
    pub forward: Times,
    pub centered: Times,
    /// Per timed step.
    pub contacts: f64,
    /// Of A and B together.
    pub columns: usize,
}

/// Times of Pinocchio and of the paper's baseline on one trajectory.
#[derive(Default)]
pub struct Baseline {
    pub step: Times,
    /// `computeABADerivatives` alone.
    pub smooth: Times,
    /// The baseline's whole derivative of v_next.
    pub gradient: Times,
    /// Per timed step.
    pub contacts: f64,
}

/// Name of the peer, and the velocity after its first step.
struct Answered {
    peer: String,
    compiler: String,
    first_velocity: Vec<f64>,
}

impl Mujoco {
    fn ask(&mut self, program: &Path, mut command: Command, states: usize) -> Result<Answered, String> {
        let answer = Answer::of(program, &mut command, states)?;
        self.step.keep_better(answer.times("step")?);
        self.forward.keep_better(answer.times("forward")?);
        self.centered.keep_better(answer.times("centered")?);
        self.contacts = mean(&answer.times("contacts")?);
        self.columns = answer.json["columns"].as_u64().ok_or_else(|| strange(program))? as usize;
        answer.answered()
    }
}

impl Baseline {
    fn ask(&mut self, program: &Path, mut command: Command, states: usize) -> Result<Answered, String> {
        let answer = Answer::of(program, &mut command, states)?;
        self.step.keep_better(answer.times("step")?);
        self.smooth.keep_better(answer.times("aba_derivatives")?);
        self.gradient.keep_better(answer.times("recipe")?);
        self.contacts = mean(&answer.times("contacts")?);
        answer.answered()
    }
}

/// What a program printed.
struct Answer<'a> {
    program: &'a Path,
    json: serde_json::Value,
    states: usize,
}

impl<'a> Answer<'a> {
    fn of(program: &'a Path, command: &mut Command, states: usize) -> Result<Answer<'a>, String> {
        Ok(Answer { program, json: ask(program, command)?, states })
    }

    /// A number per timed step.
    fn times(&self, name: &str) -> Result<Vec<f64>, String> {
        let list = numbers(&self.json[name]).filter(|l| l.len() == self.states);
        list.ok_or_else(|| strange(self.program))
    }

    fn answered(&self) -> Result<Answered, String> {
        let text = |name: &str| self.json[name].as_str().ok_or_else(|| strange(self.program));
        let first_velocity = numbers(&self.json["first_velocity"]).ok_or_else(|| strange(self.program))?;
        let peer = format!("{} {}", text("peer")?, text("version")?);
        Ok(Answered { peer, compiler: text("compiler")?.to_string(), first_velocity })
    }
}
