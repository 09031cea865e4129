//! States to check derivatives in: half of them from motions, where contacts rest at gaps of zero give or take a
//! rounding, half of them random poses on the floor. The same seed gives the same states.

use super::GradCheckError;
use super::poses::Poses;
use super::sample::Sample;
use super::signature::is_at_limit;
use crate::control::{Command, Control, Controller, Hold, Random};
use crate::random::Rng;
use crate::simulator::Simulator;
use slipstick_core::dynamics::Wrench;
use slipstick_core::model::BodyId;
use slipstick_core::{Data, Mode, Model, State, WarmStart};

/// Simulated time of a motion (s), and its steps at most.
const DURATION: f64 = 1.2;
const LONGEST: usize = 1500;
/// Steps between two states of a motion, at least and at most.
const STRIDE: [f64; 2] = [10.0, 60.0];
/// Share of states without any contact that is taken, and how many are passed over for that at most.
const FREE: f64 = 0.1;
const PATIENCE: usize = 40;
/// How far the joints of a keyframe are bent (rad or m).
const BEND: f64 = 0.05;
/// Gaps between a random pose and the floor (m).
const GAPS: [f64; 6] = [0.0, 1e-7, -1e-7, -5e-5, -5e-4, 2e-3];

/// What happens to the robot in a motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A keyframe, held: it settles.
    Stand,
    /// A random pose that falls without any control.
    Fall,
    /// A random pose that falls and is held.
    Land,
    /// Random controls, or pushes if there are no actuators.
    Wriggle,
    /// Held and pushed.
    Push,
    /// Zero controls.
    Rest,
}

impl Kind {
    const ALL: [Kind; 6] = [Kind::Stand, Kind::Fall, Kind::Land, Kind::Wriggle, Kind::Push, Kind::Rest];
}

/// Makes states of a model without end.
pub(super) struct States {
    model: Model,
    poses: Poses,
    data: Data,
    next: State,
    draw: Rng,
    homes: Vec<(String, State)>,
    /// States of the present motion that are still to be handed out.
    waiting: Vec<Sample>,
    made: usize,
    /// States passed over since the last one with contact.
    passed: usize,
}

impl States {
    pub fn new(model: &Model, seed: u64) -> States {
        let keyframe =
            |k: &slipstick_core::model::Keyframe| Some((k.name.clone(), State::keyframe(model, &k.name).ok()?));
        let mut homes: Vec<(String, State)> = model.keyframes().iter().filter_map(keyframe).collect();
        if homes.is_empty() {
            homes.push(("the neutral pose".into(), State::neutral(model)));
        }
        States {
            model: model.clone(),
            poses: Poses::new(model),
            data: Data::new(model),
            next: State::neutral(model),
            draw: Rng(seed ^ 0x5eed_0f57_a7e5),
            homes,
            waiting: Vec::new(),
            made: 0,
            passed: 0,
        }
    }

    /// The next state: in turns one of a motion and one random pose.
    pub fn next(&mut self) -> Result<Sample, GradCheckError> {
        self.made += 1;
        loop {
            let sample = if self.made.is_multiple_of(2) { self.random()? } else { self.moving()? };
            if self.is_wanted(&sample) {
                return Ok(sample);
            }
        }
    }

    /// States that touch nothing are all alike: few of them will do, unless the robot never touches anything.
    fn is_wanted(&mut self, sample: &Sample) -> bool {
        let touches = self.touches(sample);
        let wanted = touches || self.passed >= PATIENCE || self.draw.chance(FREE);
        // patience that was lost once comes back with the first contact only
        self.passed = if touches { 0 } else { self.passed + 1 };
        wanted
    }

    fn touches(&mut self, sample: &Sample) -> bool {
        self.data.clear_warm_start();
        let step = sample.arguments().step(&self.model, &mut self.data, &mut self.next);
        step.is_ok_and(|mut step| step.contacts().any(|c| c.mode != Mode::Break) || is_at_limit(&mut step))
    }

    fn home(&mut self) -> (String, State) {
        self.homes[self.draw.below(self.homes.len())].clone()
    }

    /// A random pose on the floor, with random velocities and forces.
    fn random(&mut self) -> Result<Sample, GradCheckError> {
        let (name, home) = self.home();
        let mut q = self.poses.random(&self.model, &home.q, &mut self.draw)?;
        let gap = GAPS[self.draw.below(GAPS.len())];
        self.poses.place(&self.model, &mut q, gap)?;
        let speed = [0.0, 0.01, 1.0, 1.0][self.draw.below(4)];
        let v = self.velocity(speed);
        let x = State::new(&self.model, &q, &v)?.with_act(&self.model, &home.act)?;
        let inertias = self.poses.inertias(&self.model, &q)?;
        let push = if self.draw.chance(0.5) { 5.0 } else { 0.0 };
        let tau = inertias.iter().map(|m| push * m * self.draw.sign()).collect();
        let ctrl = (self.model.nu() > 0 && self.draw.chance(0.7)).then(|| self.controls());
        let wrenches = if self.draw.chance(0.3) { vec![self.wrench()] } else { Vec::new() };
        let origin = format!("random pose around {name}, {gap:e} m above the floor, speed {speed}");
        Ok(Sample { origin, x, ctrl, tau, wrenches, warm: WarmStart::default() })
    }

    /// Linear velocities up to `speed` (m/s), others up to three times that (rad/s).
    fn velocity(&mut self, speed: f64) -> Vec<f64> {
        let mut v = vec![0.0; self.model.nv()];
        for joint in self.model.joints() {
            for (k, i) in joint.v.clone().enumerate() {
                let linear = joint.v.len() == 6 && k < 3;
                v[i] = speed * if linear { 1.0 } else { 3.0 } * self.draw.sign();
            }
        }
        v
    }

    fn controls(&mut self) -> Vec<f64> {
        let draw = &mut self.draw;
        let ranges = self.model.actuators().iter().map(|a| a.ctrl_range.unwrap_or([-1.0, 1.0]));
        ranges.map(|[low, high]| draw.between(low, high)).collect()
    }

    /// A push up to the weight of the robot, a tenth of a meter from a center of mass.
    fn wrench(&mut self) -> Wrench {
        let body = BodyId(1 + self.draw.below(self.model.n_bodies() - 1));
        let weight = 9.81 * self.model.total_mass();
        let (force, torque) = (self.draw.vector() * weight, self.draw.vector() * (0.1 * weight));
        Wrench::new(body, force, torque)
    }

    /// The next state of a motion: any of one of each kind, so that few states are of many kinds, too.
    fn moving(&mut self) -> Result<Sample, GradCheckError> {
        while self.waiting.is_empty() {
            for kind in Kind::ALL {
                self.record(kind)?;
            }
        }
        let k = self.draw.below(self.waiting.len());
        Ok(self.waiting.swap_remove(k))
    }

    /// Runs a motion and keeps states of it. One that diverges ends there.
    fn record(&mut self, kind: Kind) -> Result<(), GradCheckError> {
        let (start, name) = self.start(kind)?;
        let mut controller = self.controller(kind, &start)?;
        let mut sim = Simulator::new(&self.model);
        sim.set_state(start)?;
        let mut command = Command::new(&self.model);
        let steps = ((DURATION / self.model.options().dt) as usize).min(LONGEST);
        let (mut push, mut take) = (0, self.stride());
        for k in 0..steps {
            if k >= push {
                push = k + 1 + self.draw.between(20.0, 120.0) as usize;
                let pushed = kind == Kind::Push || (kind == Kind::Wriggle && self.model.nu() == 0);
                command.wrenches.clear();
                if pushed && self.draw.chance(0.5) {
                    command.wrenches.push(self.wrench());
                }
            }
            controller.command(&self.model, sim.state(), &mut command);
            if k >= take {
                take = k + self.stride();
                self.waiting.push(Sample {
                    origin: format!("{kind:?} from {name}, step {k}"),
                    x: sim.state().clone(),
                    ctrl: command.input().ctrl.filter(|_| self.model.nu() > 0).map(|ctrl| within(&self.model, ctrl)),
                    tau: command.tau.clone(),
                    wrenches: command.wrenches.clone(),
                    warm: sim.warm_start(),
                });
            }
            if sim.step(&command.input()).is_err() {
                break;
            }
        }
        Ok(())
    }

    fn stride(&mut self) -> usize {
        self.draw.between(STRIDE[0], STRIDE[1]) as usize
    }

    fn start(&mut self, kind: Kind) -> Result<(State, String), GradCheckError> {
        let (name, home) = self.home();
        if !matches!(kind, Kind::Fall | Kind::Land) {
            return self.near(name, home);
        }
        let mut q = self.poses.random(&self.model, &home.q, &mut self.draw)?;
        let height = self.draw.between(0.0, 0.05);
        self.poses.place(&self.model, &mut q, height)?;
        let v = self.velocity(0.5);
        Ok((State::new(&self.model, &q, &v)?, format!("a random pose around {name}")))
    }

    /// A keyframe as it is, or a little bent: many stand so evenly that their legs share loads in no way in particular.
    fn near(&mut self, name: String, home: State) -> Result<(State, String), GradCheckError> {
        if self.draw.chance(0.5) {
            return Ok((home, name));
        }
        let bend: Vec<f64> = (0..self.model.nv()).map(|_| BEND * self.draw.sign()).collect();
        let mut q = home.q.clone();
        self.model.integrate(&home.q, &bend, &mut q)?;
        self.poses.place(&self.model, &mut q, 0.0)?;
        Ok((State::new(&self.model, &q, &home.v)?.with_act(&self.model, &home.act)?, format!("{name}, bent")))
    }

    fn controller(&mut self, kind: Kind, start: &State) -> Result<Controller, GradCheckError> {
        Ok(match kind {
            Kind::Fall => Controller::Off,
            Kind::Rest => Controller::Zero,
            Kind::Wriggle if self.model.nu() > 0 => Controller::Random(Random::new(self.draw.bits())),
            _ => Controller::Hold(Hold::new(&self.model, start)?),
        })
    }
}

/// Controls a hundredth of their range away from its ends: exactly there they have a derivative to one side only.
fn within(model: &Model, ctrl: &[f64]) -> Vec<f64> {
    let inside = |(c, range): (&f64, Option<[f64; 2]>)| match range {
        Some([low, high]) => c.clamp(low + 0.01 * (high - low), high - 0.01 * (high - low)),
        None => *c,
    };
    ctrl.iter().zip(model.actuators().iter().map(|a| a.ctrl_range)).map(inside).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin;

    #[test]
    fn a_seed_gives_the_same_states_and_most_of_them_touch_something() {
        let model = builtin("quadruped").unwrap();
        let states = |seed| {
            let mut states = States::new(&model, seed);
            (0..40).map(|_| states.next().unwrap()).collect::<Vec<_>>()
        };
        let first = states(3);
        assert!(first == states(3) && first != states(4));
        let mut makers = States::new(&model, 0);
        let touching = first.iter().filter(|s| makers.touches(s)).count();
        assert!(touching >= 30, "{touching} of 40");
        assert!(first.iter().filter(|s| s.origin.starts_with("random pose")).count() == 20);
    }

    #[test]
    fn resting_states_are_among_them() {
        let model = builtin("cube").unwrap();
        let mut states = States::new(&model, 0);
        let samples: Vec<Sample> = (0..60).map(|_| states.next().unwrap()).collect();
        let mut data = Data::new(&model);
        let mut next = State::neutral(&model);
        let resting = samples.iter().filter(|s| {
            let step = s.arguments().step(&model, &mut data, &mut next).unwrap();
            // 1e-11 m is how deep the compliance of a patch lets the cube rest
            step.contacts().filter(|c| c.distance.abs() < 1e-10 && c.mode == Mode::Stick).count() >= 3
        });
        assert!(resting.count() >= 5);
    }
}
