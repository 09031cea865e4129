//! Times a robot along its motions.

use crate::error::BenchError;
use crate::gradient::ours::Ours;
use crate::machine::Machine;
use crate::paper::PaperRobot;
use crate::report::mean;
use crate::step::drive::{Drive, Held, Plan};
use crate::step::robot::Robot;
use crate::step::scene::{Phase, Scene};
use crate::table::peers::{self, PeerOptions, PeerPhase, PeerPrograms};
use crate::table::report::{Row, RowPhase, Table};
use crate::table::robots::Candidate;
use crate::table::settle::settle;
use crate::throughput::{self, RobotThroughput, Starts, ThroughputOptions};
use slipstick::Model;
use slipstick::model::Shape;

/// How much is measured.
#[derive(Clone, Copy)]
pub struct Effort {
    /// Steps per motion; a robot has two, `drop` and `hold`.
    pub steps: usize,
    /// Derivatives and steps are timed at every so many-th step.
    pub every: usize,
    /// Repetitions per round; the least time counts.
    pub repeats: usize,
    /// Rounds, in which robots take turns, so that a slow spell of the machine meets all.
    pub rounds: usize,
    /// Of the motions: the same seed gives the same motions.
    pub seed: u64,
}

impl Effort {
    /// What the figures of the documentation are taken with.
    pub const WHOLE: Effort = Effort { steps: 1000, every: 10, repeats: 4, rounds: 3, seed: 1 };
    /// For a first look.
    pub const QUICK: Effort = Effort { steps: 200, every: 20, repeats: 2, rounds: 1, seed: 1 };
}

const FALL: f64 = 0.02; // height of the lowest point at the start of a fall (m)
const PRESS: f64 = 1e-4; // depth of the lowest point at the start of standing (m)

/// Times all robots, and peers if requested. `progress` hears how many measurements of how many are done.
pub fn measure(
    robots: Vec<Candidate>,
    effort: &Effort,
    peers: Option<PeerOptions>,
    throughput: Option<&ThroughputOptions>,
    mut progress: impl FnMut(usize, usize),
) -> Result<Table, BenchError> {
    let machine = Machine::look();
    let programs = peers.map(PeerPrograms::new);
    let subjects = robots.into_iter().map(|r| Subject::new(r, effort, programs.as_ref()));
    let mut subjects: Vec<Subject> = subjects.collect::<Result<_, _>>()?;
    let total = measurements(subjects.len(), effort, throughput);
    for round in 0..effort.rounds {
        for k in 0..subjects.len() {
            subjects[k].time(effort, programs.as_ref())?;
            progress(round * subjects.len() + k + 1, total);
        }
    }
    for k in 0..subjects.len() {
        if let Some(options) = throughput {
            subjects[k].run_batches(options, programs.as_ref())?;
            progress(effort.rounds * subjects.len() + k + 1, total);
        }
    }
    let rows = subjects.into_iter().map(|s| s.into_row(programs.as_ref())).collect();
    Ok(Table::new(rows, machine, *effort, throughput.cloned()))
}

/// How many measurements [`measure`] tells of.
fn measurements(robots: usize, effort: &Effort, throughput: Option<&ThroughputOptions>) -> usize {
    robots * (effort.rounds + usize::from(throughput.is_some()))
}

/// A robot, its motions and their times.
struct Subject {
    name: String,
    source: String,
    model: Model,
    /// What peers load, or why they are not run.
    scene: Result<Scene, String>,
    motions: Vec<Motion>,
    throughput: Option<RobotThroughput>,
}

struct Motion {
    phase: Phase,
    drive: Drive,
    ours: Ours,
    peers: PeerPhase,
}

impl Subject {
    fn new(candidate: Candidate, effort: &Effort, programs: Option<&PeerPrograms>) -> Result<Subject, BenchError> {
        let Candidate { name, source, model, paper } = candidate;
        if model.nv() == 0 {
            return Err(BenchError::NoDofs { robot: name });
        }
        let failed = |got| BenchError::Measure { what: name.clone(), got };
        let scene = match (programs, &paper) {
            (None, _) => Err(String::new()),
            (Some(_), None) => Err("scenes for peers are made of the six robots of the table only".to_string()),
            (Some(programs), Some((robot, place))) => programs.scene(robot, place.clone()),
        };
        let of_scene = |scene: &Scene| {
            let drive = |phase| Drive::of_scene(scene, phase, 1, effort.steps, effort.seed);
            (scene.model.clone(), Phase::ALL.map(drive))
        };
        let (model, drives) = match &scene {
            Ok(scene) => of_scene(scene),
            Err(_) => own(&name, model, paper.as_ref().map(|p| p.0), effort).map_err(failed)?,
        };
        let motion = |(phase, drive)| Motion { phase, drive, ours: Ours::default(), peers: PeerPhase::default() };
        let motions = Phase::ALL.into_iter().zip(drives).map(motion).collect();
        Ok(Subject { name, source, model, scene, motions, throughput: None })
    }

    /// Another round.
    fn time(&mut self, effort: &Effort, programs: Option<&PeerPrograms>) -> Result<(), BenchError> {
        let mut refusals = Vec::new();
        for Motion { phase, drive, ours, peers } in &mut self.motions {
            let failed = |got| BenchError::Measure { what: format!("{} {}", self.name, phase.name()), got };
            ours.time(drive, &self.model, effort.every, effort.repeats).map_err(failed)?;
            if let (Some(programs), Ok(scene)) = (programs, &self.scene) {
                let recording = drive.follow(&self.model, 1).map_err(failed)?.recording;
                peers.ask(programs, scene, *phase, drive, &recording, effort, &mut refusals).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Batches that start from states of both motions.
    fn run_batches(&mut self, options: &ThroughputOptions, programs: Option<&PeerPrograms>) -> Result<(), BenchError> {
        let failed = |got| BenchError::Measure { what: self.name.clone(), got };
        let mut states = Vec::new();
        for motion in &self.motions {
            states.extend(motion.drive.follow(&self.model, 1).map_err(failed)?.recording.states());
        }
        let starts = Starts::spread(&states, options.environments);
        let mut figures = throughput::measure(&self.name, &self.model, &starts, options)?;
        if let Some(programs) = programs {
            figures.mujoco =
                self.scene.as_ref().map_err(String::clone).and_then(|s| programs.rollout(s, &starts, options));
        }
        self.throughput = Some(figures);
        Ok(())
    }

    fn into_row(self, programs: Option<&PeerPrograms>) -> Row {
        let (model, scene) = (&self.model, &self.scene);
        let phase = |m: Motion| RowPhase {
            name: m.phase.name(),
            ours: m.ours,
            peers: match (programs, scene) {
                (None, _) => Vec::new(),
                (Some(_), Err(why)) => peers::none(why),
                (Some(programs), Ok(_)) => m.peers.verdicts(programs),
            },
        };
        Row {
            nv: model.nv(),
            geometries: geometries(model),
            pairs: model.pairs().len(),
            vertices: vertices(model),
            phases: self.motions.into_iter().map(phase).collect(),
            throughput: self.throughput,
            name: self.name,
            source: self.source,
        }
    }
}

/// A robot without a scene for peers, and its motions.
fn own(name: &str, model: Model, paper: Option<&PaperRobot>, effort: &Effort) -> Result<(Model, [Drive; 2]), String> {
    let robot = match paper {
        Some(paper) => settle(paper, model),
        None => Robot::new(name.to_string(), model),
    }?;
    let drives = [drive(&robot, Phase::Drop, effort)?, drive(&robot, Phase::Hold, effort)?];
    Ok((robot.model, drives))
}

/// A motion of a robot: held by gains at home, or limp just above the floor.
fn drive(robot: &Robot, phase: Phase, effort: &Effort) -> Result<Drive, String> {
    let (lift, held) = match phase {
        Phase::Drop => (FALL, 0.0),
        Phase::Hold => (-PRESS, 1.0),
    };
    let mut start = robot.home.clone();
    robot.place(&mut start, lift)?;
    let held = robot.held.iter().map(|h| Held { q: h.q, v: h.v, gains: [held * h.stiffness, held * h.damping] });
    let plan = Plan { phase, motions: 1, steps: effort.steps, seed: effort.seed };
    Ok(Drive::new(&robot.model, &start, held.collect(), &plan))
}

/// Shapes that may touch another.
fn geometries(model: &Model) -> usize {
    let mut meets = vec![false; model.geoms().len()];
    model.pairs().iter().flat_map(|p| p.geoms).for_each(|g| meets[g.0] = true);
    meets.into_iter().filter(|m| *m).count()
}

/// Vertices per mesh that may touch something, on average.
fn vertices(model: &Model) -> Option<f64> {
    let counts: Vec<f64> = model
        .geoms()
        .iter()
        .filter_map(|g| match g.shape {
            Shape::Mesh { mesh } => Some(model.meshes()[mesh.0].vertices.len() as f64),
            _ => None,
        })
        .collect();
    (!counts.is_empty()).then(|| mean(&counts))
}
