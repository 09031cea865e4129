//! Simple controllers for first steps, tests and the command line.

mod hold;
mod resistance;
mod table;

pub use hold::Hold;
pub(crate) use table::control_names;
pub use table::{Table, TableError};

use crate::random::Rng;
use slipstick_core::dynamics::Wrench;
use slipstick_core::{Input, Model, State};

/// What acts on a robot during a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// Controls (nu).
    pub ctrl: Vec<f64>,
    /// Whether the actuators work. Zero controls are not the same: position servos then pull to zero.
    pub actuated: bool,
    /// Generalized forces in addition to the actuators' (nv).
    pub tau: Vec<f64>,
    /// Forces and torques on bodies, world axes.
    pub wrenches: Vec<Wrench>,
    /// Poses of the mocap bodies (7 each, as in [`Input::mocap`]); empty: they stay where they are.
    pub mocap: Vec<f64>,
}

impl Command {
    /// Controls and forces of zero, actuators on.
    pub fn new(model: &Model) -> Command {
        Command {
            ctrl: vec![0.0; model.nu()],
            actuated: true,
            tau: vec![0.0; model.nv()],
            wrenches: Vec::new(),
            mocap: Vec::new(),
        }
    }

    /// The input of a step under it.
    pub fn input(&self) -> Input<'_> {
        let ctrl = self.actuated.then_some(&self.ctrl[..]);
        Input { tau: &self.tau, ctrl, wrenches: &self.wrenches, mocap: &self.mocap }
    }
}

/// Something that commands a robot: a [`Controller`], controls that stay as they are (`[0.9, -0.9]`), or any function of
/// model, state and command.
pub trait Control {
    /// Fills the command of the next step. It still holds that of the step before.
    fn command(&mut self, model: &Model, x: &State, command: &mut Command);
}

impl<F: FnMut(&Model, &State, &mut Command)> Control for F {
    fn command(&mut self, model: &Model, x: &State, command: &mut Command) {
        self(model, x, command);
    }
}

/// Constant controls.
impl<const N: usize> Control for [f64; N] {
    fn command(&mut self, model: &Model, x: &State, command: &mut Command) {
        (&self[..]).command(model, x, command);
    }
}

/// Constant controls.
impl Control for &[f64] {
    fn command(&mut self, _: &Model, _: &State, command: &mut Command) {
        command.ctrl.clear();
        command.ctrl.extend_from_slice(self);
    }
}

/// A simple controller.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Controller {
    /// Actuators do nothing at all.
    Off,
    /// All controls are zero.
    Zero,
    /// The starting pose is held.
    Hold(Hold),
    /// Controls at random.
    Random(Random),
    /// Controls of a file, one row per step; the last one stays.
    Table(Table),
}

impl Control for Controller {
    fn command(&mut self, model: &Model, x: &State, command: &mut Command) {
        match self {
            Controller::Off => command.actuated = false,
            Controller::Zero => command.ctrl.fill(0.0),
            Controller::Hold(hold) => hold.fill(model, x, command),
            Controller::Random(random) => random.fill(model, x, command),
            Controller::Table(table) => table.fill(command),
        }
    }
}

impl Control for &mut Controller {
    fn command(&mut self, model: &Model, x: &State, command: &mut Command) {
        (**self).command(model, x, command);
    }
}

/// Controls drawn evenly from their ranges (−1 … 1 where there is none), drawn again every [`Random::PERIOD`].
#[derive(Debug, Clone)]
pub struct Random {
    draw: Rng,
    /// Time of the next draw (s).
    next: f64,
    /// Controls until then (nu).
    ctrl: Vec<f64>,
}

impl Random {
    /// How long a control stays (s): long enough for a robot to move.
    pub const PERIOD: f64 = 0.1;

    /// A random controller with a seed.
    pub fn new(seed: u64) -> Random {
        Random { draw: Rng(seed), next: f64::NEG_INFINITY, ctrl: Vec::new() }
    }

    fn fill(&mut self, model: &Model, x: &State, command: &mut Command) {
        // half a step early: times are sums of time steps
        if x.time + 0.5 * model.options().dt >= self.next {
            self.next = x.time + Random::PERIOD;
            self.ctrl.clear();
            for a in model.actuators() {
                let [lo, hi] = a.ctrl_range.unwrap_or([-1.0, 1.0]);
                self.ctrl.push(self.draw.between(lo, hi));
            }
        }
        command.ctrl.copy_from_slice(&self.ctrl);
    }
}
