//! An episode: some hundred steps of one robot, interrupted by teleports and blows.

use super::checks::{self, Wrong};
use super::energy::{Balance, Before};
use super::replay;
use super::robot::Robot;
use super::table::Tally;
use crate::case::numbers;
use crate::clock::Stopwatch;
use slipstick::model::JointKind;
use slipstick::random::Rng;
use slipstick::{Input, Model, Simulator, State};
use std::path::Path;
use std::time::Duration;

const MOST_STEPS: usize = 400;
/// An episode ends after so long: a few robots would take all the time.
const LONGEST: Duration = Duration::from_secs(4);
/// Every so often a step is graded, which costs as much as many steps.
const GRADED: usize = 10;
/// Findings of an episode that are kept.
const MOST_KEPT: u64 = 3;

/// What acts in a step.
#[derive(Debug, Clone)]
pub struct Blow {
    pub tau: Vec<f64>,
    pub ctrl: Option<Vec<f64>>,
}

impl Blow {
    pub fn input(&self) -> Input<'_> {
        Input { tau: &self.tau, ctrl: self.ctrl.as_deref(), wrenches: &[], mocap: &[] }
    }
}

/// Runs episode number `case`; what is wrong is saved in `out`.
pub fn episode(robot: &Robot, seed: u64, case: u64, out: &Path) -> Tally {
    let mut rng = numbers(seed, "chaos", case);
    let model = robot.model(&mut rng);
    let (mut sim, mut balance) = (Simulator::new(&model), Balance::new(&model));
    let mut tally = Tally { robot: robot.name().into(), ..Tally::default() };
    let (begin, steps, mut blow) = (Stopwatch::start(), 50 + rng.below(MOST_STEPS - 50), quiet(&model));
    for k in 0..steps {
        if begin.elapsed() > LONGEST {
            break;
        }
        if k == 0 || rng.chance(0.02) {
            teleport(&mut sim, &mut rng);
        }
        if rng.chance(0.1) {
            blow = next_blow(&model, &mut rng);
        }
        let before = Before { state: sim.state().clone(), warm: sim.warm_start() };
        let grade = k % GRADED == 0;
        if let Some(wrong) = step(&mut sim, &mut balance, &blow, grade, &mut tally) {
            wrong.count(&mut tally);
            if tally.findings() <= MOST_KEPT {
                replay::save(
                    &replay::Saved {
                        robot: robot.name(),
                        seed,
                        case,
                        step: k,
                        wrong: &wrong,
                        before: &before,
                        blow: &blow,
                    },
                    out,
                );
            }
            teleport(&mut sim, &mut rng);
        }
    }
    tally
}

/// One step and its checks.
pub fn step(sim: &mut Simulator, balance: &mut Balance, blow: &Blow, grade: bool, tally: &mut Tally) -> Option<Wrong> {
    let (x, begin) = (sim.state().clone(), Stopwatch::start());
    let done = sim.step(&blow.input());
    tally.worst = tally.worst.max(begin.elapsed().as_micros() as u64);
    tally.steps += 1;
    let status = match done {
        Ok(mut done) => {
            let status = done.report().status;
            if let Some(wrong) = checks::finished(&mut done, grade, tally) {
                return Some(wrong);
            }
            status
        }
        Err(error) => {
            let wrong = checks::error(&error, tally);
            // from where it stands the next step would diverge again
            sim.reset();
            return wrong;
        }
    };
    let model = sim.model().clone();
    checks::moved(&model, balance, &x, sim.state(), (&blow.tau, blow.ctrl.as_deref()), status)
}

fn quiet(model: &Model) -> Blow {
    Blow { tau: vec![0.0; model.nv()], ctrl: None }
}

/// Forces of up to 1e6, or none; controls in and beyond their ranges, or none.
fn next_blow(model: &Model, rng: &mut Rng) -> Blow {
    let mut blow = quiet(model);
    if rng.chance(0.4) {
        let force = 10f64.powf(rng.between(-1.0, 6.0));
        blow.tau.iter_mut().for_each(|t| *t = force * rng.sign());
    }
    if rng.chance(0.6) {
        let scale = if rng.chance(0.2) { 100.0 } else { 1.0 };
        blow.ctrl = Some((0..model.nu()).map(|_| scale * rng.sign()).collect());
    }
    blow
}

/// Another state: near the initial one or anywhere, at rest or fast, apart or with all free bodies in one place.
fn teleport(sim: &mut Simulator, rng: &mut Rng) {
    let model = sim.model().clone();
    let far = [0.1, 1.0, 3.0][rng.below(3)];
    let change: Vec<f64> = (0..model.nv()).map(|_| far * rng.sign()).collect();
    let start = Simulator::initial_state(&model);
    let mut q = start.q.clone();
    model.integrate(&start.q, &change, &mut q).expect("a tangent of the right length");
    if rng.chance(0.3) {
        gather(&model, &mut q, rng);
    }
    let speed = if rng.chance(0.3) { 0.0 } else { 10f64.powf(rng.between(-2.0, 4.0)) };
    let v: Vec<f64> = (0..model.nv()).map(|_| speed * rng.sign()).collect();
    let state = State::new(&model, &q, &v).expect("a valid state");
    sim.set_state(state).expect("a valid state");
}

/// All free bodies within some centimeters of one place near the floor.
fn gather(model: &Model, q: &mut [f64], rng: &mut Rng) {
    let (center, height) = (rng.vector(), rng.between(-0.2, 0.5));
    for joint in model.joints().iter().filter(|j| j.kind == JointKind::Free) {
        let at = joint.q.start;
        let near = rng.vector() * 0.05;
        q[at..at + 3].copy_from_slice(&[center.x + near.x, center.y + near.y, height + near.z]);
    }
}
