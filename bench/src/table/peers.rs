//! Other engines on the same scenes and from the same states, in the same run. One that cannot be had is named with the
//! reason and stops nothing.

use crate::gradient::peers::PeerTimes;
use crate::gradient::times::Times;
use crate::motion_arguments::Motions;
use crate::paper::{PaperRobot, Place};
use crate::step::drive::{Drive, Recording};
use crate::step::peers::{Peers, Way};
use crate::step::scene::{Phase, Scene, prepare_one};
use crate::table::Effort;
use crate::table::scripts::{Script, build, here, reason};
use crate::throughput::{self, Starts, ThroughputOptions};
use std::fs;
use std::path::PathBuf;

/// Where peers are.
pub struct PeerOptions {
    /// Interpreter that has the packages mujoco, pin and coal; it prepares the scenes.
    pub python: PathBuf,
    /// Interpreter that has nimblephysics.
    pub nimble: PathBuf,
    /// Interpreter that has mujoco-mjx and jax.
    pub mjx: PathBuf,
    /// Folder for compiled programs, which are made once.
    pub programs: PathBuf,
}

/// In our states contacts rest at a distance of zero: so much thicker shapes (m), or a floor so much
/// higher, let peers see them.
pub(super) const THICKER: f64 = 5e-5;

/// Scripts that compile a peer, in the folder of this benchmark.
const MUJOCO: &str = "mujoco/gradient.sh";
const BASELINE: &str = "pinocchio/gradient.sh";
/// Programs in Python.
const ROLLOUT: &str = "mujoco/rollout.py";
const NIMBLE: &str = "nimble/step.py";
const MJX: &str = "mjx/step.py";

/// What a peer measured in one motion.
#[derive(Clone)]
pub(crate) struct PeerFigures {
    /// Its name, version and compiler.
    pub who: String,
    /// Per timed step.
    pub contacts: f64,
    /// By what is timed.
    pub times: Vec<(String, Times)>,
    /// What is different from the scene that the others have.
    pub note: Option<String>,
}

/// A peer of the table and what it measured, or why it was not run.
pub(crate) type Verdict = (&'static str, Result<PeerFigures, String>);

/// Peers that are ready.
pub(crate) struct PeerPrograms {
    options: PeerOptions,
    mujoco: Result<PathBuf, String>,
    baseline: Result<PathBuf, String>,
    folder: PathBuf,
}

/// A folder of this program's own, removed at the end.
impl Drop for PeerPrograms {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl PeerPrograms {
    /// Compiles what is compiled; that takes minutes the first time.
    pub fn new(options: PeerOptions) -> PeerPrograms {
        let folder = std::env::temp_dir().join(format!("slipstick-bench-table-{}", std::process::id()));
        let build = |script: &str| build(script, &options.python, &options.programs);
        let (mujoco, baseline) = (build(MUJOCO), build(BASELINE));
        PeerPrograms { options, mujoco, baseline, folder }
    }

    /// The robot's scene as all engines load it.
    pub fn scene(&self, robot: &'static PaperRobot, place: Place) -> Result<Scene, String> {
        prepare_one(&self.options.python, robot, place, &self.folder)
    }

    /// MuJoCo's batches.
    pub fn rollout(&self, scene: &Scene, starts: &Starts, options: &ThroughputOptions) -> Result<Vec<f64>, String> {
        let run = throughput::mujoco(&self.options.python, &here(ROLLOUT)?, &scene.xml, &self.folder, starts, options);
        run.map_err(|e| reason(&e, &self.options.python))
    }

    fn motions(&self, effort: &Effort) -> Motions {
        Motions {
            python: Some(self.options.python.clone()),
            mujoco: self.mujoco.clone().ok(),
            baseline: self.baseline.clone().ok(),
            models: PathBuf::new(),
            only: String::new(),
            count: 1,
            steps: effort.steps,
            repeats: effort.repeats,
            rounds: effort.rounds,
            thicker: THICKER,
            seed: effort.seed,
            quick: false,
            json: None,
        }
    }
}

/// Peers along one motion of a scene.
#[derive(Default)]
pub(crate) struct PeerPhase {
    answers: PeerTimes,
    who: [String; 2],
    failures: [Option<String>; 2],
    /// Asked once: they compile at every start, or take long.
    scripts: Vec<Verdict>,
}

impl PeerPhase {
    /// Asks all once more.
    pub fn ask(
        &mut self,
        programs: &PeerPrograms,
        scene: &Scene,
        phase: Phase,
        drive: &Drive,
        recording: &Recording,
        effort: &Effort,
        refusals: &mut Vec<(&'static str, String)>,
    ) -> Result<(), String> {
        let motions = programs.motions(effort);
        let peers = Peers::new(&motions, &programs.folder, scene, phase, drive, recording)?;
        let states = effort.steps.div_ceil(effort.every);
        for way in Way::ALL {
            let k = usize::from(!way.is_mujoco());
            match self.answers.ask(&peers, way, scene, phase, effort.every, states) {
                Ok(who) => self.who[k] = who.unwrap_or_default(),
                Err(why) => self.failures[k] = Some(why),
            }
        }
        if self.scripts.is_empty() {
            let nimble = [&scene.tree, &scene.shapes, peers.file(Way::BaselineGiven)];
            let mjx = [&scene.motors, peers.file(Way::MujocoGiven)];
            let options = &programs.options;
            let scripts = [("nimble", &options.nimble, NIMBLE, &nimble[..]), ("mjx", &options.mjx, MJX, &mjx[..])];
            for (name, python, file, files) in scripts {
                let script = Script { python, file, effort, states, cache: &programs.folder };
                // what failed in another motion of the robot would fail again, and may take minutes to do so
                let verdict = match refusals.iter().find(|(who, _)| *who == name) {
                    Some((_, why)) => Err(why.clone()),
                    None => script.ask(files, &peers, phase),
                };
                refusals.extend(verdict.as_ref().err().map(|why| (name, why.clone())));
                self.scripts.push((name, verdict));
            }
        }
        Ok(())
    }

    /// Everything that was measured.
    pub fn verdicts(self, programs: &PeerPrograms) -> Vec<Verdict> {
        let failure = |program: &Result<PathBuf, String>, k: usize| match program {
            Err(why) => Some(why.clone()),
            Ok(_) => self.failures[k].clone(),
        };
        let mujoco = match (failure(&programs.mujoco, 0), self.answers.mujoco) {
            (None, [Some(own), Some(given)]) => Ok(PeerFigures {
                who: self.who[0].clone(),
                contacts: given.contacts,
                times: named([
                    ("step", given.step),
                    ("fd_forward", given.forward),
                    ("fd", given.centered),
                    ("step_own_way", own.step),
                    ("fd_forward_own_way", own.forward),
                    ("fd_own_way", own.centered),
                ]),
                note: None,
            }),
            (why, _) => Err(why.unwrap_or_default()),
        };
        let baseline = match (failure(&programs.baseline, 1), self.answers.baseline) {
            (None, [Some(own), Some(given)]) => Ok(PeerFigures {
                who: self.who[1].clone(),
                contacts: given.contacts,
                times: named([
                    ("step", given.step),
                    ("jacobian", given.gradient),
                    ("aba_derivatives", given.smooth),
                    ("step_own_way", own.step),
                    ("jacobian_own_way", own.gradient),
                ]),
                note: None,
            }),
            (why, _) => Err(why.unwrap_or_default()),
        };
        let mut all: Vec<Verdict> = vec![("mujoco", mujoco), ("pinocchio", baseline)];
        all.extend(self.scripts);
        all
    }
}

fn named<const N: usize>(times: [(&str, Times); N]) -> Vec<(String, Times)> {
    times.into_iter().map(|(name, t)| (name.to_string(), t)).collect()
}

/// Why no peer is run on a robot.
pub(crate) fn none(why: &str) -> Vec<Verdict> {
    ["mujoco", "pinocchio", "nimble", "mjx"].map(|name| (name, Err(why.to_string()))).into()
}
