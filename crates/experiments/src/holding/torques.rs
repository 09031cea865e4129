//! Which torques leave a robot at rest: the velocity after one step, as least squares in what the actuators do.
#![allow(non_snake_case)]

use crate::drives::Drives;
use slipstick::linalg::MatMut;
use slipstick::optimize::LeastSquares;
use slipstick::{Data, GradientError, Input, InputError, Model, State, Step, StepError};
use std::fmt;

/// The paper's contact inverse dynamics: `min ½ ‖v⁺(q, 0, Sᵀ τ)‖²` (bal-7). Residuals are velocities after one step
/// (m/s, rad/s), unknowns torques (N·m).
pub struct Torques<'m> {
    model: &'m Model,
    drives: &'m Drives,
    data: Data,
    x: State,
    next: State,
    /// Generalized forces of the last residual (nv).
    tau: Vec<f64>,
    /// Smallest and largest torques, if they count.
    bounds: Option<[Vec<f64>; 2]>,
    /// Where derivatives were asked for.
    visited: Vec<Vec<f64>>,
}

impl<'m> Torques<'m> {
    /// For a robot at rest in the configuration `q`.
    pub fn new(model: &'m Model, drives: &'m Drives, q: &[f64]) -> Result<Torques<'m>, InputError> {
        let x = State::new(model, q, &vec![0.0; model.nv()])?;
        let (data, next, tau) = (Data::new(model), x.clone(), vec![0.0; model.nv()]);
        Ok(Torques { model, drives, data, x, next, tau, bounds: None, visited: Vec::new() })
    }

    /// Torques within what the drives can give.
    pub fn within_limits(mut self) -> Torques<'m> {
        self.bounds = Some([0, 1].map(|end| self.drives.limits.iter().map(|l| l[end]).collect()));
        self
    }

    /// Torques at which derivatives were asked for: where a search has been.
    pub fn visited(&self) -> &[Vec<f64>] {
        &self.visited
    }

    /// The step under some torques.
    pub fn step(&mut self, torques: &[f64]) -> Result<Step<'_>, StepError> {
        self.drives.spread(torques, &mut self.tau);
        slipstick::step(self.model, &mut self.data, &self.x, &Input::tau(&self.tau), &mut self.next)
    }
}

/// A step or its derivative that is not there.
#[derive(Debug, Clone, PartialEq)]
pub enum TorquesError {
    /// The step.
    Step(StepError),
    /// Its derivative.
    Gradient(GradientError),
}

impl fmt::Display for TorquesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TorquesError::Step(e) => e.fmt(f),
            TorquesError::Gradient(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for TorquesError {}

impl LeastSquares for Torques<'_> {
    type Error = TorquesError;

    fn unknowns(&self) -> usize {
        self.drives.dofs.len()
    }

    fn residuals(&self) -> usize {
        self.model.nv()
    }

    fn residual(&mut self, torques: &[f64], r: &mut [f64]) -> Result<(), TorquesError> {
        match self.step(torques) {
            Ok(_) => r.copy_from_slice(&self.next.v),
            // too large a torque is a bad point, not the end
            Err(StepError::Diverged { .. }) => r.fill(f64::NAN),
            Err(e) => return Err(TorquesError::Step(e)),
        }
        Ok(())
    }

    fn jacobian(&mut self, torques: &[f64], mut J: MatMut<'_>) -> Result<(), TorquesError> {
        let drives = self.drives;
        self.visited.push(torques.to_vec());
        let mut step = self.step(torques).map_err(TorquesError::Step)?;
        let full = step.jacobian().map_err(TorquesError::Gradient)?.dv_dtau;
        for i in 0..full.rows() {
            let row = full.row(i);
            J.row_mut(i).iter_mut().zip(&drives.dofs).for_each(|(x, j)| *x = row[*j]);
        }
        Ok(())
    }

    fn bounds(&self) -> Option<(&[f64], &[f64])> {
        self.bounds.as_ref().map(|[low, high]| (low.as_slice(), high.as_slice()))
    }
}
