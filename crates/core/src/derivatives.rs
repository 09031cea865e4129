//! Derivatives of a finished step, checked at the door.
#![allow(non_snake_case)]

use crate::check;
use crate::error::InputError;
use crate::gradient::{GradientError, InputDirection, InputGrad, OutputGrad, StepJacobian};
use crate::linalg::MatRef;
use crate::model::{GradientMode, ParameterGroup};
use crate::one_sided;
use crate::sensors::{SensorError, SensorJacobian, Sensors};
use crate::step::Step;

impl Step<'_> {
    /// All derivatives of (q_next, v_next) with respect to (q, v, tau) and, after a step with actuators, ctrl. Computed once
    /// per step; asked for again it is only looked up.
    pub fn jacobian(&mut self) -> Result<StepJacobian<'_>, GradientError> {
        let (mut finished, gradient) = self.data.differentiate(self.model);
        gradient.jacobian(&mut finished)
    }

    /// The change of (q_next, v_next) along a change of (q, v, tau, ctrl): the Jacobian times a vector.
    pub fn jvp(&mut self, dx: InputDirection, dq_next: &mut [f64], dv_next: &mut [f64]) -> Result<(), GradientError> {
        let nv = self.model.nv();
        self.check_direction(&dx)?;
        check::length("dq_next", dq_next.len(), nv)?;
        check::length("dv_next", dv_next.len(), nv)?;
        let J = self.jacobian()?;
        let rows = [
            (dq_next, [(J.dq_dq, dx.q), (J.dq_dv, dx.v), (J.dq_dtau, dx.tau), (J.dq_dctrl, dx.ctrl)]),
            (dv_next, [(J.dv_dq, dx.q), (J.dv_dv, dx.v), (J.dv_dtau, dx.tau), (J.dv_dctrl, dx.ctrl)]),
        ];
        for (out, blocks) in rows {
            for (i, o) in out.iter_mut().enumerate() {
                let product = |m: &MatRef, x: &[f64]| m.row(i).iter().zip(x).fold(0.0, |s, (m, x)| s + m * x);
                *o = blocks.iter().fold(0.0, |s, (m, x)| s + product(m, x));
            }
        }
        Ok(())
    }

    /// The same where constraints are undecided between two modes: they take the mode that the change leads into. Which one
    /// is seen by a step from a state a little further on; it costs that step and a copy of the memory.   (grad-14)
    pub fn jvp_one_sided(
        &mut self,
        dx: InputDirection,
        dq_next: &mut [f64],
        dv_next: &mut [f64],
    ) -> Result<(), GradientError> {
        self.jvp(dx, dq_next, dv_next)?;
        let undecided: Vec<bool> = self.constraints().map(|c| c.degenerate).collect();
        if self.model.options().gradient != GradientMode::Exact || !undecided.contains(&true) {
            return Ok(());
        }
        let modes = one_sided::modes(self.model, self.data, &dx, dv_next, &undecided)?;
        let (mut finished, gradient) = self.data.differentiate(self.model);
        gradient.prepare_modes(&mut finished, &modes)?;
        let done = self.jvp(dx, dq_next, dv_next);
        self.data.forget_derivatives();
        done
    }

    /// Adds to `out` the gradient with respect to (q, v, tau, ctrl) of a number whose gradient with respect to
    /// (q_next, v_next, impulses) is `w`. One adjoint solve; no matrix is formed.
    pub fn vjp(&mut self, w: OutputGrad, mut out: InputGrad) -> Result<(), GradientError> {
        self.check_output(&w)?;
        self.check_input_gradient(&out)?;
        let (mut finished, gradient) = self.data.differentiate(self.model);
        gradient.vjp(&mut finished, &w, &mut out)
    }

    /// Adds to `out` the gradient with respect to a group of the model's parameters; `out` has the layout of the group.
    pub fn vjp_parameters(
        &mut self,
        w: OutputGrad,
        group: ParameterGroup,
        out: &mut [f64],
    ) -> Result<(), GradientError> {
        self.check_output(&w)?;
        check::length("gradient of the parameters", out.len(), self.model.parameters().group(group).len())?;
        let (mut finished, gradient) = self.data.differentiate(self.model);
        gradient.vjp_parameters(&mut finished, &w, group, out)
    }

    /// Derivatives of q_next and v_next with respect to a group of n parameters: nv rows of n numbers each. Costs one
    /// adjoint solve per dof; for many parameters and few outputs [`Step::vjp_parameters`] is cheaper.
    pub fn parameter_jacobian(
        &mut self,
        group: ParameterGroup,
        dq_next: &mut [f64],
        dv_next: &mut [f64],
    ) -> Result<(), GradientError> {
        let size = self.model.nv() * self.model.parameters().group(group).len();
        check::length("dq_next", dq_next.len(), size)?;
        check::length("dv_next", dv_next.len(), size)?;
        let (mut finished, gradient) = self.data.differentiate(self.model);
        gradient.parameter_jacobian(&mut finished, group, dq_next, dv_next)
    }

    /// Derivatives of the impulse of a contact (world axes, by its number in [`Step::contacts`]) with respect to q, v and
    /// tau: three rows of nv numbers each. The load of redundant points is shared by their compliance, and so are these.
    pub fn impulse_jacobian(&mut self, contact: usize, out: [&mut [f64]; 3]) -> Result<(), GradientError> {
        let count = self.data.contacts.contacts().len();
        if contact >= count {
            return Err(InputError::OutOfRange { what: "contact", count, got: contact }.into());
        }
        for x in &out {
            check::length("derivative of an impulse", x.len(), 3 * self.model.nv())?;
        }
        let (mut finished, gradient) = self.data.differentiate(self.model);
        gradient.impulse_jacobian(&mut finished, contact, out)
    }

    /// Derivatives of all readings of [`Step::sensors`] with respect to q, v, tau and, after a step with actuators, ctrl.
    /// `sensors` is memory only; what it has read stays. Where a reading has a kink, the derivative is that of the side on
    /// which the step lies: the nearer limit, the contacts that a touch sensor feels.   (sens-7)
    pub fn sensor_jacobian<'s>(&mut self, sensors: &'s mut Sensors) -> Result<SensorJacobian<'s>, SensorError> {
        sensors.check(self.model)?;
        let (mut finished, gradient) = self.data.differentiate(self.model);
        sensors.differentiate(gradient, &mut finished)
    }

    /// Adds to `out` the gradient with respect to (q, v, tau, ctrl) of a weighted sum of readings: a weight for each number
    /// of [`Sensors::values`]. At most one adjoint solve; none if only places, velocities and actuators count. A sensor that
    /// cannot be read must have weights of zero.
    pub fn sensor_vjp(
        &mut self,
        weights: &[f64],
        mut out: InputGrad,
        sensors: &mut Sensors,
    ) -> Result<(), SensorError> {
        sensors.check(self.model)?;
        sensors.check_weights(weights)?;
        self.check_input_gradient(&out)?;
        let (mut finished, gradient) = self.data.differentiate(self.model);
        sensors.vjp(gradient, &mut finished, weights, &mut out)
    }

    fn check_input_gradient(&self, out: &InputGrad) -> Result<(), InputError> {
        let nv = self.model.nv();
        for (what, x) in [("gradient of q", &out.q), ("gradient of v", &out.v), ("gradient of tau", &out.tau)] {
            length_or_none(what, x.len(), nv)?;
        }
        self.check_ctrl("gradient of ctrl", out.ctrl.len())
    }

    fn check_direction(&self, dx: &InputDirection) -> Result<(), InputError> {
        for (what, x) in [("dq", dx.q), ("dv", dx.v), ("dtau", dx.tau)] {
            vector_or_none(what, x, self.model.nv())?;
        }
        vector_or_none("dctrl", dx.ctrl, dx.ctrl.len())?;
        self.check_ctrl("dctrl", dx.ctrl.len())
    }

    fn check_output(&self, w: &OutputGrad) -> Result<(), InputError> {
        vector_or_none("gradient of q_next", w.q, self.model.nv())?;
        vector_or_none("gradient of v_next", w.v, self.model.nv())?;
        vector_or_none("gradient of impulses", w.impulses, 3 * self.data.contacts.contacts().len())
    }

    /// Controls are part of the step only if it was made with them.
    fn check_ctrl(&self, what: &'static str, got: usize) -> Result<(), InputError> {
        length_or_none(what, got, self.data.given.ctrl().map_or(0, <[f64]>::len))
    }
}

fn length_or_none(what: &'static str, got: usize, expected: usize) -> Result<(), InputError> {
    if got == 0 { Ok(()) } else { check::length(what, got, expected) }
}

fn vector_or_none(what: &'static str, x: &[f64], expected: usize) -> Result<(), InputError> {
    if x.is_empty() { Ok(()) } else { check::vector(what, x, expected) }
}
