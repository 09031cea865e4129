//! Random motions of a robot: drops, pushes, controlled motion. The same seed gives the same motion.

use super::robot::Robot;
use slipstick::State;
use slipstick::dynamics::Wrench;
use slipstick::model::BodyId;
use slipstick::random::Rng;

/// What happens to the robot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Falls limp from a random pose with a random velocity.
    Drop,
    /// Held at home and pushed by random wrenches.
    Push,
    /// Its actuators get random commands; a robot without any follows random angles.
    Control,
}

impl Kind {
    pub const ALL: [Kind; 3] = [Kind::Drop, Kind::Push, Kind::Control];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Drop => "drop",
            Kind::Push => "push",
            Kind::Control => "control",
        }
    }
}

const TRIES: usize = 40; // to find a pose in which the robot does not run through itself
const CLEAR: f64 = 1e-3; // least distance of its parts then (m)
const HEIGHT: f64 = 0.1; // of a fall, at most (m)
const COMMAND: usize = 50; // steps between new commands
const REACH: f64 = 0.3; // of commanded angles around home (rad)

/// A motion under way.
pub struct Motion<'a> {
    robot: &'a Robot,
    kind: Kind,
    random: Rng,
    target: Vec<f64>,
    /// Steps until the push changes.
    left: usize,
    /// Forces of the present step.
    pub tau: Vec<f64>,
    pub ctrl: Vec<f64>,
    pub wrenches: Vec<Wrench>,
}

impl<'a> Motion<'a> {
    pub fn new(robot: &'a Robot, kind: Kind, seed: u64) -> Motion<'a> {
        let target = robot.held.iter().map(|h| robot.home[h.q]).collect();
        let (tau, ctrl) = (vec![0.0; robot.model.nv()], robot.ctrl.clone());
        Motion { robot, kind, random: Rng(seed), target, left: 0, tau, ctrl, wrenches: Vec::new() }
    }

    /// Whether the actuators drive the robot.
    pub fn is_actuated(&self) -> bool {
        self.kind == Kind::Control && self.robot.model.nu() > 0
    }

    pub fn start(&mut self) -> Result<State, String> {
        let robot = self.robot;
        let (q, speed) = match self.kind {
            Kind::Drop => (self.random_pose()?, [1.0, 3.0]),
            Kind::Push | Kind::Control => (robot.home.clone(), [0.01, 0.01]),
        };
        let mut v = vec![0.0; robot.model.nv()];
        for joint in robot.model.joints() {
            for (k, i) in joint.v.clone().enumerate() {
                let linear = joint.v.len() == 6 && k < 3;
                v[i] = speed[usize::from(!linear)] * self.random.sign();
            }
        }
        State::new(&robot.model, &q, &v).map_err(|e| e.to_string())
    }

    /// Around home, nearer with every try until no part of the robot runs through another; of any orientation if free.
    fn random_pose(&mut self) -> Result<Vec<f64>, String> {
        let robot = self.robot;
        let mut q = robot.home.clone();
        for attempt in 0..TRIES {
            q.copy_from_slice(&robot.home);
            let reach = 1.0 - attempt as f64 / TRIES as f64;
            for h in &robot.held {
                let angle = q[h.q] + reach * self.random.sign();
                q[h.q] = h.range.map_or(angle, |[low, high]| angle.clamp(low, high));
            }
            for joint in robot.model.joints().iter().filter(|j| j.q.len() == 7) {
                q[joint.q.start + 3..joint.q.end].copy_from_slice(&self.random.orientation().to_array());
            }
            if robot.clearance(&q)? > CLEAR {
                break;
            }
        }
        let height = self.random.between(0.0, HEIGHT);
        robot.place(&mut q, height)?;
        Ok(q)
    }

    /// Forces for the step from `x`.
    pub fn drive(&mut self, step: usize, x: &State) {
        match self.kind {
            Kind::Drop => {}
            Kind::Push => {
                self.push();
                self.hold(x);
            }
            Kind::Control => {
                if step.is_multiple_of(COMMAND) {
                    self.command();
                }
                if !self.is_actuated() {
                    self.hold(x);
                }
            }
        }
    }

    fn hold(&mut self, x: &State) {
        for (h, target) in self.robot.held.iter().zip(&self.target) {
            self.tau[h.v] = h.stiffness * (target - x.q[h.q]) - h.damping * x.v[h.v];
        }
    }

    /// Pushes and pauses take turns, each of random length.
    fn push(&mut self) {
        if self.left > 0 {
            self.left -= 1;
            return;
        }
        if self.wrenches.is_empty() {
            let n = self.robot.model.n_bodies();
            let body = BodyId(1 + (self.random.between(0.0, (n - 1) as f64) as usize).min(n - 2));
            let weight = self.robot.weight();
            let force = self.random.direction() * (weight * self.random.between(0.0, 2.0));
            let torque = self.random.direction() * (0.1 * weight * self.random.between(0.0, 1.0));
            self.wrenches.push(Wrench::new(body, force, torque));
            self.left = self.random.between(20.0, 100.0) as usize;
        } else {
            self.wrenches.clear();
            self.left = self.random.between(50.0, 150.0) as usize;
        }
    }

    fn command(&mut self) {
        let robot = self.robot;
        for (h, target) in robot.held.iter().zip(&mut self.target) {
            let angle = robot.home[h.q] + REACH * self.random.sign();
            *target = h.range.map_or(angle, |[low, high]| angle.clamp(low, high));
        }
        for (k, actuator) in robot.model.actuators().iter().enumerate() {
            // a position actuator moves around its command at home, a motor takes all that it may
            let reach = if actuator.bias[1] == 0.0 { 1.0 } else { REACH };
            let command = robot.ctrl[k] + reach * self.random.sign();
            self.ctrl[k] = actuator.ctrl_range.map_or(command, |[low, high]| command.clamp(low, high));
        }
    }
}
