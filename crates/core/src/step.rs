//! The life of a step: the stages in order, each found in the folder of its name.

use crate::check;
use crate::collision;
use crate::constraint::{self, SolveReport, Status};
use crate::contact::{self, ContactView};
use crate::data::Data;
use crate::dynamics;
use crate::error::{InputError, StepError};
use crate::model::{Joint, Model};
use crate::state::{Input, State};

/// A finished step: proof that its `Data` belongs to it.
#[derive(Debug)]
pub struct Step<'d> {
    pub(crate) model: &'d Model,
    pub(crate) data: &'d mut Data,
}

impl<'d> Step<'d> {
    /// The last step that was made in `data`, taken up again with the model it was made with. `None` before the first step,
    /// after one that failed, and for a model of another structure.
    pub fn last(model: &'d Model, data: &'d mut Data) -> Option<Step<'d>> {
        let is_there = data.finished && data.structure.check(model, "data").is_ok();
        is_there.then_some(Step { model, data })
    }
}

impl Step<'_> {
    /// Acceleration over the step, `(v_next − v) / dt` (nv).
    pub fn acceleration(&self) -> &[f64] {
        &self.data.acceleration
    }

    /// How contact was solved.
    pub fn report(&self) -> &SolveReport {
        &self.data.report
    }

    /// Every contact nearer than the contact distance, by rising numbers of their pairs.
    pub fn contacts(&self) -> impl Iterator<Item = ContactView> + '_ {
        contact::views(self.model, self.data)
    }
}

/// One time step of semi-implicit Euler: forces and contacts at `x`, velocities at its end, then
/// `q_next = q ⊕ dt v_next`.   (step-1)
pub fn step<'d>(
    model: &'d Model,
    data: &'d mut Data,
    x: &State,
    input: &Input,
    next: &mut State,
) -> Result<Step<'d>, StepError> {
    run(model, data, x, None, input, next)
}

/// The same, with forces of the model's actuators under the controls `ctrl` added to the input.
pub fn step_ctrl<'d>(
    model: &'d Model,
    data: &'d mut Data,
    x: &State,
    ctrl: &[f64],
    input: &Input,
    next: &mut State,
) -> Result<Step<'d>, StepError> {
    check::vector("ctrl", ctrl, model.nu())?;
    run(model, data, x, Some(ctrl), input, next)
}

fn run<'d>(
    model: &'d Model,
    data: &'d mut Data,
    x: &State,
    ctrl: Option<&[f64]>,
    input: &Input,
    next: &mut State,
) -> Result<Step<'d>, StepError> {
    check_input(model, data, x, input, next)?;
    data.given.keep(&x.q, &x.v, input.tau, ctrl, input.wrenches);
    data.forget_derivatives();
    data.finished = false;
    let Data { kin, mass, free, contacts, assembly, solution, warm, v_next, acceleration, forced, .. } = &mut *data;
    let dt = model.options().dt;

    dynamics::bias(model, &x.q, &x.v, input.wrenches, kin, free); // poses, dof axes, velocities, b
    dynamics::forces(model, kin, &x.q, &x.v, input.tau, ctrl, free); // input, actuators, springs, dampers
    dynamics::factor_mass(model, free, kin, mass); // M̂ = M + dt D + dt² K, factored once
    dynamics::sound(model, mass.broken_pivot())?; // a dof without inertia has no motion to compute
    dynamics::free_velocity(model, kin, &x.v, mass, free); // v_free = v + dt M̂⁻¹ (tau − b − dt K v) + u
    collision::detect(model, &kin.X_wb, contacts)?; // broad phase, narrow phase, patches, frames
    let report = constraint::resolve(model, &x.q, kin, mass, &free.v, contacts, warm, assembly, solution, v_next);
    model.integrate_unchecked(&x.q, v_next, dt, &mut next.q); // q_next = q ⊕ dt v_next
    for (a, (new, old)) in acceleration.iter_mut().zip(v_next.iter().zip(&x.v)) {
        *a = (new - old) / dt;
    }
    for (a, (all, turn)) in forced.iter_mut().zip(acceleration.iter().zip(&free.turn)) {
        *a = all - turn / dt;
    }
    next.v.copy_from_slice(v_next);
    next.time = x.time + dt;
    check_bounded(model, x.time, next, report.status)?;
    data.report = report;
    data.finished = true;
    Ok(Step { model, data })
}

fn check_input(model: &Model, data: &Data, x: &State, input: &Input, next: &State) -> Result<(), InputError> {
    data.structure.check(model, "data")?;
    model.check_q(&x.q)?;
    check::vector("v", &x.v, model.nv())?;
    if !input.tau.is_empty() {
        check::vector("tau", input.tau, model.nv())?;
    }
    dynamics::check_wrenches(model, input.wrenches)?;
    check::length("next.q", next.q.len(), model.nq())?;
    check::length("next.v", next.v.len(), model.nv())
}

/// Names the body whose motion is beyond all bounds. What passes is accepted by the next step.
fn check_bounded(model: &Model, time: f64, next: &State, status: Status) -> Result<(), StepError> {
    let beyond = |x: &[f64], limit: f64| x.iter().position(|x| x.is_nan() || x.abs() > limit);
    let speed = model.options().speed_limit.min(check::LARGEST);
    let (found, quantity, limit) = match beyond(&next.v, speed) {
        Some(i) => (Some((i, next.v[i])), "velocity", speed),
        None => (beyond(&next.q, check::LARGEST).map(|i| (i, next.q[i])), "position", check::LARGEST),
    };
    let Some((i, value)) = found else { return Ok(()) };
    let is_of = |j: &&Joint| if quantity == "velocity" { j.v.contains(&i) } else { j.q.contains(&i) };
    let joint = model.joints().iter().find(is_of);
    let body = joint.map_or(String::new(), |j| model.bodies()[j.body.0].name.clone());
    Err(StepError::Diverged { body, quantity, value, limit, time, status })
}
