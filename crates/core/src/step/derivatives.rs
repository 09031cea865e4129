//! Derivatives of a finished step, checked at the public boundary.
#![allow(non_snake_case)]

use super::Step;
use crate::constraint::Status;
use crate::dynamics::push_next;
use crate::error::InputError;
use crate::gradient::{Gradient, GradientError, InputDirection, InputGrad, OutputGrad, StepJacobian, StepRecord};
use crate::input_check;
use crate::model::{GradientMode, ParameterGroup};
use crate::sensors::{SensorError, SensorJacobian, Sensors};

impl Step<'_> {
    /// All derivatives of (q_next, v_next, act_next) with respect to (q, v, act, tau) and, after a step with actuators, ctrl.
    /// Computed once
    /// per step; asked for again it is only looked up.
    pub fn jacobian(&mut self) -> Result<StepJacobian<'_>, GradientError> {
        let (mut record, gradient) = self.differentiable()?;
        gradient.jacobian(&mut record)
    }

    /// Whether the derivative is a choice: a constraint is undecided between two modes, the constraints are infeasible and
    /// have a least violation, or they are over-determined along some change of the configuration. No matrix is right on
    /// both sides there. Free after a derivative of the step.   (grad-18)
    pub fn is_choice(&mut self) -> Result<bool, GradientError> {
        if self.report().degenerate > 0 || self.report().status == Status::Infeasible {
            return Ok(true);
        }
        let (mut record, gradient) = self.differentiable()?;
        gradient.is_choice(&mut record)
    }

    /// The change of (q_next, v_next) along a change of (q, v, tau, ctrl, act): the Jacobian times a vector.
    pub fn jvp(&mut self, dx: InputDirection, dq_next: &mut [f64], dv_next: &mut [f64]) -> Result<(), GradientError> {
        let nv = self.model.nv();
        self.check_direction(&dx)?;
        input_check::length("dq_next", dq_next.len(), nv)?;
        input_check::length("dv_next", dv_next.len(), nv)?;
        let J = self.jacobian()?;
        J.write_dq(&dx, dq_next);
        J.write_dv(&dx, dv_next);
        Ok(())
    }

    /// The change of act_next along a change of (ctrl, act): of the activations, which nothing else reaches. Where a range clamps, it is
    /// that of the inside.   (act-10)
    pub fn jvp_act(&mut self, dx: InputDirection, dact_next: &mut [f64]) -> Result<(), GradientError> {
        self.check_direction(&dx)?;
        input_check::length("dact_next", dact_next.len(), self.model.na())?;
        let given = &self.data.given;
        push_next(self.model, &given.act, given.ctrl(), [dx.act, dx.ctrl], dact_next);
        Ok(())
    }

    /// The change of (q_next, v_next) along a change of (q, v, tau, ctrl, act), on the side to which it leads. Where the step
    /// lies on a corner (something is about to slip, to open or to close, or the active constraints are over-determined)
    /// that is not the Jacobian times the change. With a `length` h it is the difference quotient
    /// `(step(x + h dx) − step(x))/h` of the true step, as far as contacts keep their places; without, the limit for short
    /// ones. It solves the contact problem once more; [`GradientError::Jammed`]: along the change it has no
    /// solution.   (grad-14)
    pub fn jvp_one_sided(
        &mut self,
        dx: InputDirection,
        length: Option<f64>,
        dq_next: &mut [f64],
        dv_next: &mut [f64],
    ) -> Result<(), GradientError> {
        if self.model.options().gradient != GradientMode::Exact {
            return self.jvp(dx, dq_next, dv_next);
        }
        let nv = self.model.nv();
        self.check_direction(&dx)?;
        input_check::length("dq_next", dq_next.len(), nv)?;
        input_check::length("dv_next", dv_next.len(), nv)?;
        length.map_or(Ok(()), check_length)?;
        let (mut record, gradient) = self.differentiable()?;
        gradient.jvp_one_sided(&mut record, &dx, length, dq_next, dv_next)
    }

    /// The Jacobian of difference quotients: each column is the mean of both sides. Changes move a dof by `length` within
    /// the step (m or rad), as far as contacts keep their places. On a corner that is nearer to the step than any other
    /// matrix; changes along several dofs at once are not its sums. Two small contact problems per column; `contradicts` is
    /// that of the last Jacobian. [`GradientError::Jammed`]: the step has no solution along one of the columns.   (grad-21)
    pub fn jacobian_of_sides(&mut self, length: f64) -> Result<StepJacobian<'_>, GradientError> {
        check_length(length)?;
        if self.model.options().gradient != GradientMode::Exact {
            return self.jacobian();
        }
        let (mut record, gradient) = self.differentiable()?;
        gradient.jacobian_of_sides(&mut record, length)
    }

    /// Adds to `out` the gradient with respect to (q, v, tau, ctrl, act) of a number whose gradient with respect to
    /// (q_next, v_next, impulses, act_next) is `w`. One adjoint solve; no matrix is formed.
    pub fn vjp(&mut self, w: OutputGrad, mut out: InputGrad) -> Result<(), GradientError> {
        self.check_output(&w)?;
        self.check_input_gradient(&out)?;
        let (mut record, gradient) = self.differentiable()?;
        gradient.vjp(&mut record, &w, &mut out)
    }

    /// Adds to `out` the gradient with respect to a group of the model's parameters; `out` has the layout of the group.
    pub fn vjp_parameters(
        &mut self,
        w: OutputGrad,
        group: ParameterGroup,
        out: &mut [f64],
    ) -> Result<(), GradientError> {
        self.check_output(&w)?;
        input_check::length("gradient of the parameters", out.len(), self.model.parameters().group(group).len())?;
        let (mut record, gradient) = self.differentiable()?;
        gradient.vjp_parameters(&mut record, &w, group, out)
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
        input_check::length("dq_next", dq_next.len(), size)?;
        input_check::length("dv_next", dv_next.len(), size)?;
        let (mut record, gradient) = self.differentiable()?;
        gradient.parameter_jacobian(&mut record, group, dq_next, dv_next)
    }

    /// Derivatives of the impulse of a contact (world axes, by its number in [`Step::contacts`]) with respect to q, v and
    /// tau: three rows of nv numbers each. Compliance distributes the load of redundant points, and these derivatives too.
    pub fn impulse_jacobian(&mut self, contact: usize, out: [&mut [f64]; 3]) -> Result<(), GradientError> {
        let count = self.data.contacts.contacts().len();
        if contact >= count {
            return Err(InputError::OutOfRange { what: "contact", count, got: contact }.into());
        }
        for x in &out {
            input_check::length("derivative of an impulse", x.len(), 3 * self.model.nv())?;
        }
        let (mut record, gradient) = self.differentiable()?;
        gradient.impulse_jacobian(&mut record, contact, out)
    }

    /// Derivatives of all readings of [`Step::sensors`] with respect to q, v, tau and, after a step with actuators, ctrl.
    /// `sensors` is memory only; what it has read stays. Where a reading has a kink, the derivative is that of the side on
    /// which the step lies: the nearer limit, the contacts that a touch sensor measures.   (sens-7)
    pub fn sensor_jacobian<'s>(&mut self, sensors: &'s mut Sensors) -> Result<SensorJacobian<'s>, SensorError> {
        sensors.check(self.model)?;
        let (mut record, gradient) = self.differentiable()?;
        sensors.differentiate(gradient, &mut record)
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
        let (mut record, gradient) = self.differentiable()?;
        sensors.vjp(gradient, &mut record, weights, &mut out)
    }

    /// Adds to `out` the gradient of a weighted sum of readings with respect to a group of the model's parameters; weights
    /// as in [`Step::sensor_vjp`], `out` has the layout of the group. A reading depends on parameters through the motion
    /// and the impulses of the step, and directly: loads on inertias, accelerometers on gravity, poses on placements. At
    /// most one adjoint solve.   (sens-13)
    pub fn sensor_vjp_parameters(
        &mut self,
        weights: &[f64],
        group: ParameterGroup,
        sensors: &mut Sensors,
        out: &mut [f64],
    ) -> Result<(), SensorError> {
        sensors.check(self.model)?;
        sensors.check_weights(weights)?;
        input_check::length("gradient of the parameters", out.len(), self.model.parameters().group(group).len())?;
        let (mut record, gradient) = self.differentiable()?;
        sensors.vjp_parameters(gradient, &mut record, weights, group, out)
    }

    /// What derivatives are computed from, and memory for them. A step that did not converge has none unless asked for.
    pub(super) fn differentiable(&mut self) -> Result<(StepRecord<'_>, &mut Gradient), GradientError> {
        let report = self.report();
        if report.status == Status::NotConverged && !self.model.options().gradient_of_failed_steps {
            return Err(GradientError::FailedStep { residual: report.residual });
        }
        Ok(self.data.differentiate(self.model)?)
    }

    fn check_input_gradient(&self, out: &InputGrad) -> Result<(), InputError> {
        let nv = self.model.nv();
        for (what, x) in [("gradient of q", &out.q), ("gradient of v", &out.v), ("gradient of tau", &out.tau)] {
            input_check::length_or_none(what, x.len(), nv)?;
        }
        input_check::length_or_none("gradient of act", out.act.len(), self.model.na())?;
        self.check_ctrl("gradient of ctrl", out.ctrl.len())
    }

    fn check_direction(&self, dx: &InputDirection) -> Result<(), InputError> {
        for (what, x) in [("dq", dx.q), ("dv", dx.v), ("dtau", dx.tau)] {
            input_check::vector_or_none(what, x, self.model.nv())?;
        }
        input_check::vector_or_none("dctrl", dx.ctrl, dx.ctrl.len())?;
        input_check::vector_or_none("dact", dx.act, self.model.na())?;
        self.check_ctrl("dctrl", dx.ctrl.len())
    }

    pub(super) fn check_output(&self, w: &OutputGrad) -> Result<(), InputError> {
        input_check::vector_or_none("gradient of q_next", w.q, self.model.nv())?;
        input_check::vector_or_none("gradient of v_next", w.v, self.model.nv())?;
        input_check::vector_or_none("gradient of act_next", w.act, self.model.na())?;
        input_check::vector_or_none("gradient of impulses", w.impulses, 3 * self.data.contacts.contacts().len())
    }

    /// Controls are part of the step only if it was made with them.
    fn check_ctrl(&self, what: &'static str, got: usize) -> Result<(), InputError> {
        input_check::length_or_none(what, got, self.data.given.ctrl().map_or(0, <[f64]>::len))
    }
}

fn check_length(length: f64) -> Result<(), InputError> {
    let wrong = || InputError::Value { what: "length".into(), expected: "a positive length", got: length };
    if length.is_finite() && length > 0.0 { Ok(()) } else { Err(wrong()) }
}
