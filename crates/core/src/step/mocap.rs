//! Poses of mocap bodies in a finished step, and derivatives with respect to them.   (grad-23)
//!
//! A change of a pose has six numbers: position in world axes (m), rotation in the axes of the body (rad), as the velocity of
//! a free joint has them.

use super::Step;
use crate::gradient::{GradientError, OutputGrad};
use crate::input_check;
use crate::model::BodyId;
use crate::spatial::Pose;

/// Directions of a pose.
const TANGENT: usize = 6;

impl Step<'_> {
    /// Pose of a body at the beginning of the step, world axes; `None` for a number that no body has.
    pub fn body_pose(&self, body: BodyId) -> Option<Pose> {
        self.data.kin.X_wb.get(body.0).copied()
    }

    /// Poses of the mocap bodies during the step (7 numbers each).
    pub fn mocap(&self) -> impl Iterator<Item = f64> + '_ {
        let given = &self.data.given.mocap;
        let missing = if given.is_empty() { self.model.tree().mocap.as_slice() } else { &[] };
        let of_model = missing.iter().flat_map(|i| crate::model::mocap::numbers_of(&self.data.kin.X_wb[*i]));
        given.iter().copied().chain(of_model)
    }

    /// Adds to `out` (6 per mocap body) the gradient with respect to the poses of the mocap bodies of a number whose gradient
    /// with respect to (q_next, v_next, impulses) is `w`. One adjoint solve.
    pub fn vjp_mocap(&mut self, w: OutputGrad, out: &mut [f64]) -> Result<(), GradientError> {
        self.check_output(&w)?;
        input_check::length("gradient of mocap", out.len(), TANGENT * self.model.n_mocap())?;
        let (mut record, gradient) = self.differentiable()?;
        gradient.vjp_mocap(&mut record, &w, out)
    }

    /// The change of (q_next, v_next) along a change of the poses of the mocap bodies (6 each). One adjoint solve per dof.
    pub fn jvp_mocap(&mut self, dmocap: &[f64], dq_next: &mut [f64], dv_next: &mut [f64]) -> Result<(), GradientError> {
        let nv = self.model.nv();
        input_check::vector("dmocap", dmocap, TANGENT * self.model.n_mocap())?;
        input_check::length("dq_next", dq_next.len(), nv)?;
        input_check::length("dv_next", dv_next.len(), nv)?;
        let (mut record, gradient) = self.differentiable()?;
        gradient.jvp_mocap(&mut record, dmocap, dq_next, dv_next)
    }

    /// Derivatives of q_next and v_next with respect to the poses of the mocap bodies: nv rows of 6 numbers per mocap body.
    /// One adjoint solve per dof.
    pub fn mocap_jacobian(&mut self, dq_next: &mut [f64], dv_next: &mut [f64]) -> Result<(), GradientError> {
        let size = TANGENT * self.model.nv() * self.model.n_mocap();
        input_check::length("dq_next", dq_next.len(), size)?;
        input_check::length("dv_next", dv_next.len(), size)?;
        let (mut record, gradient) = self.differentiable()?;
        gradient.mocap_jacobian(&mut record, dq_next, dv_next)
    }
}
