//! What goes into the steps of a batch and their derivatives: rows of numbers for every environment.

use super::Batch;
use super::environment::Acting;
use crate::rows::{Rows, RowsMut};
use slipstick_core::gradient::InputGrad;
use slipstick_core::model::ParameterGroup;
use slipstick_core::{Input, InputError};

/// What acts on the environments of a batch. An [`Input`] with rows is one, without wrenches that differ.
#[derive(Debug, Clone, Copy, Default)]
pub struct BatchInput<'a> {
    /// Forces, controls and poses of mocap bodies, one row after the other; its wrenches act on every environment.
    pub acting: Input<'a>,
    /// Further wrenches on every body of every environment (n × n_bodies × 6), or nothing: force and torque in world axes, at its
    /// center of mass.
    pub wrenches: &'a [f64],
}

impl<'a> From<&Input<'a>> for BatchInput<'a> {
    fn from(acting: &Input<'a>) -> BatchInput<'a> {
        BatchInput { acting: *acting, wrenches: &[] }
    }
}

impl BatchInput<'_> {
    /// What acts on an environment: its rows of forces, controls, wrenches and poses of mocap bodies.
    pub(super) fn row<'a>(&'a self, [tau, ctrl, wrenches, mocap]: [&'a [f64]; 4]) -> Acting<'a> {
        Acting { input: Input { tau, ctrl: self.acting.ctrl.map(|_| ctrl), mocap, ..self.acting }, wrenches }
    }
}

/// Where the gradient of a batch is added. An [`InputGrad`] with rows is one, without parameters.
#[derive(Debug, Default)]
pub struct BatchGrad<'a> {
    /// With respect to states and what acts, rows one after the other.
    pub inputs: InputGrad<'a>,
    /// Groups of parameters.
    pub groups: &'a [ParameterGroup],
    /// With respect to these: a row for each environment, in it one group after the other.
    pub parameters: &'a mut [f64],
}

impl<'a> From<InputGrad<'a>> for BatchGrad<'a> {
    fn from(inputs: InputGrad<'a>) -> BatchGrad<'a> {
        BatchGrad { inputs, groups: &[], parameters: &mut [] }
    }
}

/// A change of what the last step of a batch was made from, rows one after the other; what is empty does not change.
#[derive(Debug, Clone, Copy, Default)]
pub struct BatchDirection<'a> {
    /// Of the configurations, as tangents (n × nv).
    pub q: &'a [f64],
    /// Of the velocities (n × nv).
    pub v: &'a [f64],
    /// Of the generalized forces (n × nv).
    pub tau: &'a [f64],
    /// Of the controls (n × nu), after a step with controls.
    pub ctrl: &'a [f64],
    /// Groups of parameters.
    pub groups: &'a [ParameterGroup],
    /// Of these: a row for each environment, in it one group after the other.
    pub parameters: &'a [f64],
}

impl Batch {
    /// Rows of what acts in a number of steps: forces, controls, wrenches and poses of mocap bodies.
    pub(super) fn rows_of<'a>(&self, input: &BatchInput<'a>, steps: usize) -> Result<[Rows<'a>; 4], InputError> {
        let (n, [_, nv, nu]) = (self.len(), self.sizes);
        let (ctrl, nu) = input.acting.ctrl.map_or((&[][..], 0), |ctrl| (ctrl, nu));
        let tau = Rows::optional("tau", input.acting.tau, n, steps.saturating_mul(nv))?;
        let (bodies, poses) = (self.environments[0].model().n_bodies(), self.environments[0].model().n_mocap());
        let wrenches = Rows::optional("wrenches", input.wrenches, n, 6 * bodies)?;
        let mocap = Rows::optional("mocap", input.acting.mocap, n, steps.saturating_mul(7 * poses))?;
        Ok([tau, Rows::new("ctrl", ctrl, n, steps.saturating_mul(nu))?, wrenches, mocap])
    }

    /// Numbers of some groups of parameters.
    pub(super) fn size_of(&self, groups: &[ParameterGroup]) -> usize {
        let parameters = self.environments[0].model().parameters();
        groups.iter().map(|group| parameters.group(*group).len()).sum()
    }

    /// Rows of a gradient, with rows of so many numbers for what acts.
    pub(super) fn rows_of_grad<'a>(
        &self,
        out: BatchGrad<'a>,
        [tau, ctrl]: [usize; 2],
    ) -> Result<(&'a [ParameterGroup], [RowsMut<'a>; 5]), InputError> {
        let (n, nv) = (self.len(), self.sizes[1]);
        let BatchGrad { inputs, groups, parameters } = out;
        let rows = [
            RowsMut::optional("gradient of q", inputs.q, n, nv)?,
            RowsMut::optional("gradient of v", inputs.v, n, nv)?,
            RowsMut::optional("gradient of tau", inputs.tau, n, tau)?,
            RowsMut::optional("gradient of ctrl", inputs.ctrl, n, ctrl)?,
            RowsMut::new("gradient of parameters", parameters, n, self.size_of(groups))?,
        ];
        Ok((groups, rows))
    }
}
