//! What goes into a step and comes out of it.

use crate::check;
use crate::dynamics::Wrench;
use crate::error::InputError;
use crate::model::Model;

/// Configuration, velocity and time.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct State {
    /// Configuration (nq).
    pub q: Vec<f64>,
    /// Velocity (nv).
    pub v: Vec<f64>,
    /// Time (s).
    pub time: f64,
}

impl State {
    /// A state at time zero; quaternions are normalized.
    pub fn new(model: &Model, q: &[f64], v: &[f64]) -> Result<State, InputError> {
        check::vector("v", v, model.nv())?;
        let mut q = q.to_vec();
        model.normalize_q(&mut q)?;
        Ok(State { q, v: v.to_vec(), time: 0.0 })
    }

    /// The neutral configuration at rest.
    pub fn neutral(model: &Model) -> State {
        State { q: model.neutral().to_vec(), v: vec![0.0; model.nv()], time: 0.0 }
    }

    /// A named state of the model.
    pub fn keyframe(model: &Model, name: &str) -> Result<State, InputError> {
        let k = model.keyframe(name)?;
        Ok(State { q: k.q.clone(), v: k.v.clone(), time: 0.0 })
    }
}

/// Forces during a step.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Input<'a> {
    /// Generalized forces (nv); empty: none.
    pub tau: &'a [f64],
    /// Forces and torques on bodies, world axes.
    pub wrenches: &'a [Wrench],
}

impl<'a> Input<'a> {
    /// Generalized forces only.
    pub fn tau(tau: &'a [f64]) -> Input<'a> {
        Input { tau, wrenches: &[] }
    }

    /// Adds wrenches on bodies.
    pub fn with_wrenches(self, wrenches: &'a [Wrench]) -> Input<'a> {
        Input { wrenches, ..self }
    }
}
