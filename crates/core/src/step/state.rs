//! State and input of a step.

use crate::dynamics::Wrench;
use crate::error::InputError;
use crate::input_check;
use crate::model::Model;

/// Configuration, velocity, activations and time.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct State {
    /// Configuration (nq).
    pub q: Vec<f64>,
    /// Velocity (nv).
    pub v: Vec<f64>,
    /// Activations of actuators (na).
    pub act: Vec<f64>,
    /// Time (s).
    pub time: f64,
}

impl State {
    /// A state at time zero, activations of zero; quaternions are normalized.
    pub fn new(model: &Model, q: &[f64], v: &[f64]) -> Result<State, InputError> {
        input_check::vector("v", v, model.nv())?;
        let mut q = q.to_vec();
        model.normalize_q(&mut q)?;
        Ok(State { q, v: v.to_vec(), act: vec![0.0; model.na()], time: 0.0 })
    }

    /// This state with other activations (na).
    pub fn with_act(mut self, model: &Model, act: &[f64]) -> Result<State, InputError> {
        input_check::vector("act", act, model.na())?;
        self.act.clear();
        self.act.extend_from_slice(act);
        Ok(self)
    }

    /// The neutral configuration at rest.
    pub fn neutral(model: &Model) -> State {
        State { q: model.neutral().to_vec(), v: vec![0.0; model.nv()], act: vec![0.0; model.na()], time: 0.0 }
    }

    /// A named state of the model.
    pub fn keyframe(model: &Model, name: &str) -> Result<State, InputError> {
        let k = model.keyframe(name)?;
        Ok(State { q: k.q.clone(), v: k.v.clone(), act: k.act.clone(), time: 0.0 })
    }
}

/// Forces and controls that act during a step. [`Input::default`]: nothing, actuators off.
///
/// For several steps, or several robots, forces, controls and poses of mocap bodies are rows: one for each step of each robot, one after the
/// other. Wrenches are then the same for all.
///
/// ```
/// use slipstick_core::Input;
/// let (tau, ctrl) = ([0.0, 1.5], [0.3]);
/// let input = Input::tau(&tau).with_ctrl(&ctrl);
/// assert_eq!(input, Input { tau: &tau, ctrl: Some(&ctrl), wrenches: &[], mocap: &[] });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Input<'a> {
    /// Generalized forces in addition to the actuators' (nv); empty: none.
    pub tau: &'a [f64],
    /// Controls of the actuators (nu); `None`: they are off. Zeros are not the same: position servos then pull to zero.
    pub ctrl: Option<&'a [f64]>,
    /// Forces and torques on bodies, world axes.
    pub wrenches: &'a [Wrench],
    /// Poses of the mocap bodies during the step (7 each, in the order of
    /// [`Model::mocap_bodies`](crate::Model::mocap_bodies): position, quaternion; world axes); empty: those of the file.
    pub mocap: &'a [f64],
}

impl<'a> Input<'a> {
    /// Generalized forces only.
    pub const fn tau(tau: &'a [f64]) -> Input<'a> {
        Input { tau, ctrl: None, wrenches: &[], mocap: &[] }
    }

    /// Actuators under controls only.
    pub const fn ctrl(ctrl: &'a [f64]) -> Input<'a> {
        Input { tau: &[], ctrl: Some(ctrl), wrenches: &[], mocap: &[] }
    }

    /// With other generalized forces.
    pub const fn with_tau(self, tau: &'a [f64]) -> Input<'a> {
        Input { tau, ..self }
    }

    /// With actuators under controls.
    pub const fn with_ctrl(self, ctrl: &'a [f64]) -> Input<'a> {
        Input { ctrl: Some(ctrl), ..self }
    }

    /// With other wrenches on bodies.
    pub const fn with_wrenches(self, wrenches: &'a [Wrench]) -> Input<'a> {
        Input { wrenches, ..self }
    }

    /// With other poses of the mocap bodies.
    pub const fn with_mocap(self, mocap: &'a [f64]) -> Input<'a> {
        Input { mocap, ..self }
    }
}
