//! How a scene is driven: where it starts, the noise on its joints, the gains; and our own way through it.

use super::scene::{Phase, Scene};
use super::statistics::{Observation, Statistics};
use crate::tree;
use slipstick::model::JointKind;
use slipstick::random::Rng;
use slipstick::{Data, Input, Model, State, Status};
use std::fmt::Write;
use std::time::Instant;

const NOISE: f64 = 0.2; // of the force on every held joint (N·m)

/// Several motions of a robot in a phase.
pub struct Drive {
    held: Vec<Held>,
    motions: Vec<Motion>,
}

/// A joint that gains hold where its motion starts; without gains only noise acts on it.
#[derive(Clone)]
pub struct Held {
    /// Its numbers in q and in v.
    pub q: usize,
    pub v: usize,
    /// (N·m/rad) and (N·m·s/rad).
    pub gains: [f64; 2],
}

/// What a robot does, and how often: the same numbers give the same motions.
pub struct Plan {
    pub phase: Phase,
    pub motions: usize,
    /// Per motion.
    pub steps: usize,
    pub seed: u64,
}

struct Motion {
    q: Vec<f64>,
    v: Vec<f64>,
    /// Forces in addition to the gains, a row of nv per step (N·m).
    noise: Vec<f64>,
}

/// States that we went through, with the forces at each.
pub struct Recording {
    /// One per step: q, v, tau.
    states: Vec<[Vec<f64>; 3]>,
}

impl Recording {
    /// One per step: q, v, tau.
    pub fn states(self) -> Vec<[Vec<f64>; 3]> {
        self.states
    }
}

/// What an engine's steps took and met; one number per step.
#[derive(Clone, Default)]
pub struct Steps {
    /// Least time of all repetitions (µs).
    pub best_us: Vec<f64>,
    /// Points in the contact problem.
    pub contacts: Vec<f64>,
    pub iterations: Vec<f64>,
    /// 1 where the solver reached its tolerance.
    pub converged: Vec<f64>,
    /// Velocity after the first step (nv).
    pub first_velocity: Vec<f64>,
}

impl Steps {
    /// A second measurement of the steps.
    pub fn keep_better(&mut self, again: Steps) {
        if self.best_us.is_empty() {
            *self = again;
        } else {
            self.best_us.iter_mut().zip(&again.best_us).for_each(|(best, t)| *best = best.min(*t));
        }
    }
}

/// Our own steps, beside their times: where they went, and what the solver reported.
pub struct Ours {
    pub steps: Steps,
    pub recording: Recording,
    /// Points that carry an impulse, per step.
    pub touching: Vec<f64>,
    pub statistics: Statistics,
    /// Cosine of the tilt of a free root at the end, least of all motions; 1 without such a root.
    pub upright: f64,
}

impl Drive {
    pub fn new(model: &Model, start: &[f64], held: Vec<Held>, plan: &Plan) -> Drive {
        let speed = if plan.phase == Phase::Hold { 0.01 } else { 0.1 };
        let motion = |k: usize| {
            let mut random = Rng(plan.seed.wrapping_mul(1_000_003).wrapping_add(k as u64));
            let v = (0..model.nv()).map(|_| speed * random.sign()).collect();
            let mut noise = vec![0.0; plan.steps * model.nv()];
            for row in noise.chunks_exact_mut(model.nv().max(1)) {
                held.iter().for_each(|h| row[h.v] = NOISE * random.sign());
            }
            Motion { q: start.to_vec(), v, noise }
        };
        let motions = (0..plan.motions).map(motion).collect();
        Drive { held, motions }
    }

    /// As in a prepared scene.
    pub fn of_scene(scene: &Scene, phase: Phase, motions: usize, steps: usize, seed: u64) -> Drive {
        let gains = scene.gains(phase);
        let held = held(&scene.model).map(|(q, v)| Held { q, v, gains }).collect();
        Drive::new(&scene.model, scene.start(phase), held, &Plan { phase, motions, steps, seed })
    }

    /// For peers that go their own way with the gains of a scene (`bench/mujoco/step.hpp` reads it).
    pub fn write(&self, model: &Model, gains: [f64; 2], coordinates: Coordinates) -> String {
        let mut out = format!("gains {:?} {:?}\n", gains[0], gains[1]);
        for motion in &self.motions {
            line(&mut out, "start", &[&coordinates.of(model, &motion.q), &motion.v]);
            motion.noise.chunks_exact(model.nv()).for_each(|row| line(&mut out, "noise", &[row]));
        }
        out
    }

    /// For peers that take one step from each of our states.
    pub fn write_states(&self, model: &Model, recording: &Recording, coordinates: Coordinates) -> String {
        let mut out = String::new();
        let mut states = recording.states.iter();
        for motion in &self.motions {
            line(&mut out, "start", &[&coordinates.of(model, &motion.q), &motion.v]);
            for [q, v, tau] in states.by_ref().take(motion.noise.len() / model.nv()) {
                line(&mut out, "state", &[&coordinates.of(model, q), v, tau]);
            }
        }
        out
    }

    /// Goes through all motions. `take` takes each step: from a state, under forces, to the next. The states at their ends.
    pub fn walk(
        &self,
        model: &Model,
        mut take: impl FnMut(&mut Data, &State, &[f64], &mut State) -> Result<(), String>,
    ) -> Result<Vec<State>, String> {
        let mut tau = vec![0.0; model.nv()];
        let mut ends = Vec::new();
        for motion in &self.motions {
            let mut data = Data::new(model);
            let mut x = State::new(model, &motion.q, &motion.v).map_err(|e| e.to_string())?;
            let mut next = x.clone();
            for noise in motion.noise.chunks_exact(model.nv()) {
                tau.copy_from_slice(noise);
                for h in &self.held {
                    tau[h.v] += h.gains[0] * (motion.q[h.q] - x.q[h.q]) - h.gains[1] * x.v[h.v];
                }
                take(&mut data, &x, &tau, &mut next)?;
                std::mem::swap(&mut x, &mut next);
            }
            ends.push(x);
        }
        Ok(ends)
    }

    /// Goes through all motions `repeats` times and times every step.
    pub fn follow(&self, model: &Model, repeats: usize) -> Result<Ours, String> {
        let mut ours = Ours {
            steps: Steps::default(),
            recording: Recording { states: Vec::new() },
            touching: Vec::new(),
            statistics: Statistics::default(),
            upright: 1.0,
        };
        for repeat in 0..repeats {
            let mut again = Steps::default();
            let ends =
                self.walk(model, |data, x, tau, next| ours.take(model, data, x, tau, next, repeat == 0, &mut again))?;
            ours.upright = ends.iter().map(|x| upright(model, x)).fold(1.0, f64::min);
            ours.steps.keep_better(again);
        }
        Ok(ours)
    }

    /// Velocity after the first step of the first motion.
    pub fn first_velocity(&self, model: &Model) -> Result<Vec<f64>, String> {
        let only = Motion {
            q: self.motions[0].q.clone(),
            v: self.motions[0].v.clone(),
            noise: self.motions[0].noise[..model.nv()].to_vec(),
        };
        let drive = Drive { held: self.held.clone(), motions: vec![only] };
        drive.follow(model, 1).map(|ours| ours.steps.first_velocity)
    }
}

impl Ours {
    fn take(
        &mut self,
        model: &Model,
        data: &mut Data,
        x: &State,
        tau: &[f64],
        next: &mut State,
        first: bool,
        steps: &mut Steps,
    ) -> Result<(), String> {
        let start = Instant::now();
        let step = slipstick::step(model, data, x, &Input::tau(tau), next);
        let elapsed = start.elapsed().as_secs_f64() * 1e6;
        let step = step.map_err(|e| e.to_string())?;
        steps.best_us.push(elapsed);
        if first {
            let report = step.report();
            steps.contacts.push(report.contacts as f64);
            steps.iterations.push(f64::from(report.iterations));
            steps.converged.push(f64::from(u8::from(report.status == Status::Converged)));
            self.statistics.add(Observation::of(report));
            self.touching.push(step.contacts().filter(|c| c.impulse.norm() > 0.0).count() as f64);
            self.recording.states.push([x.q.clone(), x.v.clone(), tau.to_vec()]);
            if steps.first_velocity.is_empty() {
                steps.first_velocity = next.v.clone();
            }
        }
        Ok(())
    }
}

/// Cosine of the tilt of a free root; 1 without such a root.
fn upright(model: &Model, x: &State) -> f64 {
    let root = model.joints().first().filter(|j| matches!(j.kind, JointKind::Free));
    root.map_or(1.0, |root| {
        let [x, y] = [x.q[root.q.start + 4], x.q[root.q.start + 5]]; // of the quaternion
        1.0 - 2.0 * (x * x + y * y)
    })
}

/// Whose configurations.
#[derive(Clone, Copy)]
pub enum Coordinates {
    /// As in the file, MuJoCo's and ours.
    File,
    /// Counted from the pose of the file.
    FromPose,
}

impl Coordinates {
    fn of(self, model: &Model, q: &[f64]) -> Vec<f64> {
        match self {
            Coordinates::File => q.to_vec(),
            Coordinates::FromPose => tree::from_pose_of_file(model, q),
        }
    }
}

/// Position and velocity numbers of the joints that gains can hold.
fn held(model: &Model) -> impl Iterator<Item = (usize, usize)> + '_ {
    let single = |k: &JointKind| matches!(k, JointKind::Revolute { .. } | JointKind::Prismatic { .. });
    model.joints().iter().filter(move |j| single(&j.kind)).map(|j| (j.q.start, j.v.start))
}

fn line(out: &mut String, key: &str, parts: &[&[f64]]) {
    out.push_str(key);
    for x in parts.iter().flat_map(|p| p.iter()) {
        let _ = write!(out, " {x:?}");
    }
    out.push('\n');
}
