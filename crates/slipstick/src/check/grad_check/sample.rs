//! A state with all arguments of a step from it: the unit that is checked, saved and loaded.

use crate::check::perturbed::StepArguments;
use slipstick_core::dynamics::Wrench;
use slipstick_core::model::BodyId;
use slipstick_core::spatial::Vec3;
use slipstick_core::{Input, InputError, Model, State, WarmStart};
use std::fmt;
use std::fmt::Write;

/// A state, the forces of a step and the warm start that it began with.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// How it came about.
    pub origin: String,
    /// The state.
    pub x: State,
    /// Controls (nu); `None`: the actuators do nothing.
    pub ctrl: Option<Vec<f64>>,
    /// Generalized forces (nv).
    pub tau: Vec<f64>,
    /// Forces and torques on bodies.
    pub wrenches: Vec<Wrench>,
    /// Warm start of the step.
    pub warm: WarmStart,
}

/// A saved state that cannot be read.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SampleError {
    /// A line is not what it should be.
    Line {
        /// Its number, from one.
        line: usize,
        /// What was expected.
        expected: &'static str,
    },
    /// It is for another robot.
    Model {
        /// Name of the robot that came.
        expected: String,
        /// Name in the file.
        got: String,
    },
    /// Its numbers do not fit the robot.
    Input(InputError),
}

impl fmt::Display for SampleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SampleError::Line { line, expected } => write!(f, "line {line}: expected {expected}"),
            SampleError::Model { expected, got } => write!(f, "expected a state of '{expected}', got one of '{got}'"),
            SampleError::Input(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for SampleError {}

impl From<InputError> for SampleError {
    fn from(e: InputError) -> SampleError {
        SampleError::Input(e)
    }
}

/// First line of a saved state.
const HEAD: &str = "slipstick-grad-check-state 1";

impl Sample {
    pub(crate) fn arguments(&self) -> StepArguments<'_> {
        let input = Input { tau: &self.tau, ctrl: self.ctrl.as_deref(), wrenches: &self.wrenches, mocap: &[] };
        StepArguments { x: &self.x, input }
    }

    /// Lines of a name and numbers, which come back as they were to the last digit.
    pub fn to_text(&self, model: &Model) -> String {
        let one_line = |text: &str| text.replace(['\n', '\r'], " ");
        let mut out = format!("{HEAD}\nmodel {}\norigin {}\n", one_line(model.name()), one_line(&self.origin));
        let mut line = |name: &str, numbers: &[f64]| {
            let words: Vec<String> = numbers.iter().map(|x| format!("{x:?}")).collect();
            let _ = writeln!(out, "{name} {}", words.join(" ")); // writing to a string does not fail
        };
        line("time", &[self.x.time]);
        line("q", &self.x.q);
        line("v", &self.x.v);
        if !self.x.act.is_empty() {
            line("act", &self.x.act);
        }
        if let Some(ctrl) = &self.ctrl {
            line("ctrl", ctrl);
        }
        line("tau", &self.tau);
        for w in &self.wrenches {
            let point = w.point.map_or(Vec::new(), |p| p.to_array().to_vec());
            let numbers = [w.force.to_array(), w.torque.to_array()].concat();
            line("wrench", &[vec![w.body.0 as f64], numbers, point].concat());
        }
        let bytes: String = self.warm.to_bytes().iter().map(|b| format!("{b:02x}")).collect();
        out + "warm " + &bytes + "\n"
    }

    /// From saved text.
    pub fn from_text(model: &Model, text: &str) -> Result<Sample, SampleError> {
        let x = State::neutral(model);
        let mut out = Sample {
            origin: String::new(),
            x,
            ctrl: None,
            tau: vec![0.0; model.nv()],
            wrenches: Vec::new(),
            warm: WarmStart::default(),
        };
        let mut lines = text.lines().zip(1..);
        if lines.next().is_none_or(|(head, _)| head.trim() != HEAD) {
            return Err(SampleError::Line { line: 1, expected: HEAD });
        }
        for (text, line) in lines {
            let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
            out.read(model, line, name, rest.trim())?;
        }
        check(model, &out)?;
        Ok(out)
    }

    fn read(&mut self, model: &Model, line: usize, name: &str, rest: &str) -> Result<(), SampleError> {
        let numbers = || -> Result<Vec<f64>, SampleError> {
            let parse = |w: &str| w.parse().map_err(|_| SampleError::Line { line, expected: "numbers" });
            rest.split_whitespace().map(parse).collect()
        };
        match name {
            "" => {}
            "model" if rest != model.name() => {
                return Err(SampleError::Model { expected: model.name().into(), got: rest.into() });
            }
            "model" => {}
            "origin" => self.origin = rest.into(),
            "time" => self.x.time = numbers()?.first().copied().unwrap_or(0.0),
            "q" => self.x.q = numbers()?,
            "v" => self.x.v = numbers()?,
            "act" => self.x.act = numbers()?,
            "ctrl" => self.ctrl = Some(numbers()?),
            "tau" => self.tau = numbers()?,
            "wrench" => self.wrenches.push(wrench(line, &numbers()?)?),
            "warm" => self.warm = WarmStart::from_bytes(&bytes(line, rest)?)?,
            _ => return Err(SampleError::Line { line, expected: "time, q, v, act, ctrl, tau, wrench or warm" }),
        }
        Ok(())
    }
}

/// Only looked at: to normalize a quaternion twice may change its last digit.
fn check(model: &Model, sample: &Sample) -> Result<(), InputError> {
    State::new(model, &sample.x.q, &sample.x.v)?.with_act(model, &sample.x.act)?;
    let length =
        |what, expected, got| if expected == got { Ok(()) } else { Err(InputError::Length { what, expected, got }) };
    length("tau", model.nv(), sample.tau.len())?;
    length("ctrl", model.nu(), sample.ctrl.as_ref().map_or(model.nu(), Vec::len))?;
    match sample.wrenches.iter().find(|w| w.body.0 >= model.n_bodies()) {
        Some(w) => Err(InputError::OutOfRange { what: "body", count: model.n_bodies(), got: w.body.0 }),
        None => Ok(()),
    }
}

fn wrench(line: usize, x: &[f64]) -> Result<Wrench, SampleError> {
    let wrong = SampleError::Line { line, expected: "a body, a force, a torque and perhaps a point: 7 or 10 numbers" };
    if !matches!(x.len(), 7 | 10) || x[0] < 0.0 || x[0].fract() != 0.0 {
        return Err(wrong);
    }
    let mut wrench = Wrench::new(BodyId(x[0] as usize), Vec3::from_slice(&x[1..4]), Vec3::from_slice(&x[4..7]));
    wrench.point = x.get(7..10).map(Vec3::from_slice);
    Ok(wrench)
}

fn bytes(line: usize, text: &str) -> Result<Vec<u8>, SampleError> {
    let wrong = || SampleError::Line { line, expected: "pairs of hexadecimal digits" };
    let digits: Option<Vec<u8>> = text.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect();
    let digits = digits.filter(|d| d.len().is_multiple_of(2)).ok_or_else(wrong)?;
    Ok(digits.chunks(2).map(|d| d[0] << 4 | d[1]).collect())
}
