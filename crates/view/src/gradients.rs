//! Gradients on the picture: of a number of the robot with respect to forces, torques and friction.

use crate::encode;
use crate::error::ViewError;
use crate::frames::{Frames, Rows};
use crate::kinematics::{link_frames, velocities};
use serde_json::{Value, json};
use slipstick::dynamics::Workspace;
use slipstick::gradient::{InputGrad, OutputGrad};
use slipstick::model::{BodyId, ParameterGroup};
use slipstick::spatial::{Motion, Vec3};
use slipstick::{InputError, Model, State, Step, input_check};

/// A number of the robot at the end of a step, whose gradient a replay shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    name: String,
    body: BodyId,
    axis: Vec3,
    quantity: Quantity,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Quantity {
    Position,
    Velocity,
}

impl Output {
    /// Position of a body's origin along an axis of the world (m).
    pub fn position(model: &Model, body: &str, axis: Vec3) -> Result<Output, InputError> {
        Output::new(model, body, axis, Quantity::Position)
    }

    /// Velocity of a body's origin along an axis of the world (m/s).
    pub fn velocity(model: &Model, body: &str, axis: Vec3) -> Result<Output, InputError> {
        Output::new(model, body, axis, Quantity::Velocity)
    }

    fn new(model: &Model, body: &str, axis: Vec3, quantity: Quantity) -> Result<Output, InputError> {
        let unit = axis.is_finite().then(|| axis.normalized()).flatten();
        let Some(axis) = unit else {
            let expected = "a direction that is not zero";
            return Err(InputError::Value { what: "axis".into(), expected, got: axis.norm() });
        };
        let word = if quantity == Quantity::Position { "position" } else { "velocity" };
        let along = direction(axis);
        Ok(Output { name: format!("{word} of {body} along {along}"), body: model.body(body)?, axis, quantity })
    }

    /// Under another name.
    pub fn named(mut self, name: impl Into<String>) -> Output {
        self.name = name.into();
        self
    }

    fn unit(&self) -> &'static str {
        if self.quantity == Quantity::Position { "m" } else { "m/s" }
    }

    /// Its gradient with respect to (q, v) at the end of the step.
    fn weights(&self, model: &Model, work: &mut Workspace, next: &State) -> Result<[Vec<f64>; 2], InputError> {
        let nv = model.nv();
        let [mut by_q, mut by_v] = [vec![0.0; 6 * nv], vec![0.0; 6 * nv]];
        let frame = link_frames(model)[self.body.0];
        work.velocity_derivatives(model, &next.q, &next.v, frame, &mut by_q, &mut by_v)?;
        let along = |rows: &[f64]| -> Vec<f64> {
            (0..nv).map(|j| (0..3).map(|i| self.axis.to_array()[i] * rows[i * nv + j]).sum()).collect()
        };
        Ok(match self.quantity {
            Quantity::Velocity => [along(&by_q), along(&by_v)],
            // a velocity is linear in v: its derivative by v is that of the position by q
            Quantity::Position => [along(&by_v), vec![0.0; nv]],
        })
    }
}

/// "x", "−z", or the numbers.
fn direction(axis: Vec3) -> String {
    let names = ["x", "y", "z"].into_iter().zip(Vec3::UNITS);
    for (name, unit) in names {
        if (axis - unit).norm() < 1e-12 {
            return name.into();
        }
        if (axis + unit).norm() < 1e-12 {
            return format!("−{name}");
        }
    }
    format!("({:.3}, {:.3}, {:.3})", axis.x, axis.y, axis.z)
}

/// A gradient that the page offers: one row per frame.
#[derive(Debug, Clone)]
pub(crate) struct Channel {
    name: String,
    unit: String,
    /// `None`: rows are given from outside.
    output: Option<Output>,
    /// Which of the attached rows.
    rows: usize,
}

/// The gradient of a number at one step.
#[derive(Debug, Clone, Copy)]
pub struct InputGradient<'a> {
    /// With respect to tau (nv).
    pub tau: &'a [f64],
    /// With respect to the group `friction` of the parameters; `None`: not known.
    pub friction: Option<&'a [f64]>,
}

/// All gradients of a replay.
#[derive(Debug, Clone, Default)]
pub(crate) struct Channels {
    all: Vec<Channel>,
    /// Steps at which the gradient of an output does not exist, and the first reason.
    pub missing: usize,
    pub reason: Option<String>,
}

impl Channels {
    /// Adds one; its rows are as wide as [`widths`] says.
    fn add(&mut self, model: &Model, frames: &mut Frames, name: &str, unit: &str, output: Option<Output>) -> usize {
        frames.attached.push(Rows::unknown(widths(model).iter().sum(), frames.len()));
        let rows = frames.attached.len() - 1;
        self.all.push(Channel { name: name.into(), unit: unit.into(), output, rows });
        self.all.len() - 1
    }

    /// Adds an output, whose name must be new.
    pub fn add_output(&mut self, model: &Model, frames: &mut Frames, output: Output) -> Result<(), ViewError> {
        if self.all.iter().any(|c| c.name == output.name) {
            return Err(ViewError::SecondGradient { name: output.name });
        }
        let (name, unit) = (output.name.clone(), output.unit());
        self.add(model, frames, &name, unit, Some(output));
        Ok(())
    }

    /// Whether a step has to be differentiated.
    pub fn wanted(&self) -> bool {
        self.all.iter().any(|channel| channel.output.is_some())
    }

    /// The channel of a name that rows are given to, made where it is not there yet.
    pub fn given(&mut self, model: &Model, frames: &mut Frames, name: &str, unit: &str) -> Result<usize, ViewError> {
        match self.all.iter().position(|c| c.name == name) {
            Some(k) if self.all[k].output.is_none() => Ok(k),
            Some(_) => Err(ViewError::SecondGradient { name: name.into() }),
            None => Ok(self.add(model, frames, name, unit, None)),
        }
    }

    /// Where the rows of a channel are.
    pub fn rows(&self, channel: usize) -> usize {
        self.all[channel].rows
    }

    /// The gradients of all outputs at a step, with the place of their rows. A step without derivatives has none: it is
    /// counted.
    pub fn differentiate(
        &mut self,
        work: &mut Workspace,
        step: &mut Step,
        next: &State,
    ) -> Result<Vec<(usize, Vec<f64>)>, ViewError> {
        let mut found = Vec::new();
        for channel in &self.all {
            let Some(output) = &channel.output else { continue };
            let [by_q, by_v] = output.weights(step.model(), work, next)?;
            match row_of(work, step, &by_q, &by_v) {
                Ok(row) => found.push((channel.rows, row)),
                Err(error) => {
                    self.missing += 1;
                    self.reason.get_or_insert(error.to_string());
                }
            }
        }
        Ok(found)
    }

    /// Name, unit, and the numbers of all frames: by tau, by a force on each moving body, by friction.
    pub fn to_json(&self, model: &Model, frames: &Frames) -> Value {
        let told = |channel: &Channel| {
            let values = encode::floats(&frames.attached[channel.rows].numbers);
            json!({ "name": channel.name, "unit": channel.unit, "widths": widths(model), "values": values })
        };
        self.all.iter().map(told).collect()
    }
}

/// Numbers of a row: by tau, by forces on the moving bodies, by friction.
fn widths(model: &Model) -> [usize; 3] {
    let friction = model.parameters().group(ParameterGroup::Friction).len();
    [model.nv(), 3 * (model.n_bodies() - 1), friction]
}

fn row_of(work: &mut Workspace, step: &mut Step, by_q: &[f64], by_v: &[f64]) -> Result<Vec<f64>, ViewError> {
    let (model, nv) = (step.model().clone(), step.model().nv());
    let weights = OutputGrad { q: by_q, v: by_v, ..OutputGrad::default() };
    let (mut tau, mut friction) = (vec![0.0; nv], vec![0.0; widths(&model)[2]]);
    step.vjp(weights, InputGrad { tau: &mut tau, ..InputGrad::default() })?;
    step.vjp_parameters(weights, ParameterGroup::Friction, &mut friction)?;
    let start = step.start().0.to_vec();
    let gradient = InputGradient { tau: &tau, friction: Some(&friction) };
    Ok(row(&model, work, &start, gradient)?)
}

/// A row of a channel: the gradient by tau, by a force at the center of mass of each moving body, by friction. A force f
/// there acts as tau = Jᵀ f, so the gradient by f is J times that by tau: a velocity.
pub(crate) fn row(
    model: &Model,
    work: &mut Workspace,
    q: &[f64],
    gradient: InputGradient,
) -> Result<Vec<f64>, InputError> {
    input_check::vector("tau", gradient.tau, model.nv())?;
    let width = widths(model)[2];
    let center = |body: BodyId| model.inertias()[body.0].com;
    let forces = velocities(model, work, &link_frames(model), (q, gradient.tau), center)?;
    let mut row = gradient.tau.to_vec();
    row.extend(forces.iter().flat_map(|Motion { lin, .. }| lin.to_array()));
    match gradient.friction {
        Some(friction) => {
            input_check::vector("friction", friction, width)?;
            row.extend_from_slice(friction);
        }
        None => row.extend(std::iter::repeat_n(f64::NAN, width)),
    }
    Ok(row)
}
