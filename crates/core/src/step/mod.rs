//! The life of a step: the stages in order, each found in the folder of its name.

mod constraints;
mod contacts;
mod data;
mod derivatives;
mod explain;
mod mocap;
mod mode_key;
mod state;

pub use constraints::{ConstraintView, Margins};
pub use contacts::ContactView;
pub use data::Data;
pub use state::{Input, State};

use crate::collision::{self, Lookahead};
use crate::constraint::{self, Problem, Scene, SolveReport, Status, WarmStart};
use crate::dynamics;
use crate::error::{InputError, StepError};
use crate::input_check;
use crate::model::{GradientMode, Joint, Model, ParameterGroup, Transmission};
use crate::spatial::Motion;

/// Contacts are sought as far as bodies come in this many steps, so that impulses may make them faster.
const CONTACT_LOOKAHEAD: f64 = 2.0;
/// How often contacts are sought again with the velocities that came out.
const EXTRA_SEARCHES: i32 = 3;

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
    /// The model that was stepped.
    pub fn model(&self) -> &Model {
        self.model
    }

    /// Configuration and velocity that the step began with (nq, nv).
    pub fn start(&self) -> (&[f64], &[f64]) {
        (&self.data.given.q, &self.data.given.v)
    }

    /// Activations that the step began with (na).
    pub fn act(&self) -> &[f64] {
        &self.data.given.act
    }

    /// Forces and controls of the step: forces of zero where none were given.
    pub fn input(&self) -> Input<'_> {
        let given = &self.data.given;
        Input { tau: &given.tau, ctrl: given.ctrl(), wrenches: &given.wrenches, mocap: &given.mocap }
    }

    /// Velocity at its end (nv).
    pub fn v_next(&self) -> &[f64] {
        &self.data.end.v
    }

    /// Writes the activations at its end (na).
    pub fn act_next(&self, out: &mut [f64]) -> Result<(), InputError> {
        input_check::length("out", out.len(), self.model.na())?;
        dynamics::advance(self.model, self.act(), self.data.given.ctrl(), out);
        Ok(())
    }

    /// The warm start that it leaves for the next one.
    pub fn warm_start(&self) -> WarmStart {
        self.data.warm_start()
    }

    /// Acceleration over the step, `(v_next − v) / dt` (nv).
    pub fn acceleration(&self) -> &[f64] {
        &self.data.acceleration
    }

    /// How contact was solved.
    pub fn report(&self) -> &SolveReport {
        &self.data.report
    }

    /// The complementarity problem of the step with all rows in one dense matrix, in the order of [`Step::constraints`], and
    /// the impulses that solve it: for other solvers, and to grade this one.
    pub fn problem(&mut self) -> Result<(Problem, &[f64]), InputError> {
        let Data { mass, assembly, solution, kin, .. } = &mut *self.data;
        mass.complete(self.model, kin);
        Ok((assembly.bare(self.model, mass)?, solution.lambda()))
    }

    /// How deep the deepest contact of the step overlaps (m); zero where nothing does.
    pub fn penetration(&self) -> f64 {
        self.data.contacts.contacts().iter().fold(0.0, |d: f64, c| d.max(-c.distance))
    }

    /// The largest normal impulse of a contact (N·s); zero without contacts.
    pub fn largest_normal_impulse(&self) -> f64 {
        let Data { assembly, solution, .. } = &*self.data;
        let blocks = assembly.sources.iter().zip(&assembly.problem.blocks);
        let contacts = blocks.filter(|(source, _)| matches!(source, constraint::Source::Contact(_)));
        contacts.fold(0.0, |largest: f64, (_, b)| largest.max(solution.lambda()[b.row + 2]))
    }

    /// Every contact candidate of the step: of pairs that the velocities could close, all points nearer than the contact
    /// distance. In the order of their pairs.
    pub fn contacts(&self) -> impl Iterator<Item = ContactView> + '_ {
        contacts::views(self.model, self.data)
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
    check_input(model, data, x, input, next)?;
    data.given.keep(model, [&x.q, &x.v, &x.act], x.time, [input.tau, input.mocap], input.ctrl, input.wrenches);
    data.kin.set_mocap(input.mocap);
    data.invalidate_derivatives();
    data.finished = false;
    let Data { given, kin, mass, free, .. } = &mut *data;
    let dt = model.options().dt;

    dynamics::bias(model, &x.q, &x.v, input.wrenches, kin, free); // poses, dof axes, velocities, b
    dynamics::forces(model, kin, &x.q, &x.v, input.tau, given.drive(), free); // input, actuators, springs, dampers
    dynamics::factor_mass(model, free, kin, mass); // M̂ = M + dt D + dt² K, factored once
    dynamics::check_positive_definite(model, mass.broken_pivot())?; // a dof without inertia has no motion to compute
    dynamics::free_velocity(model, kin, &x.v, mass, free); // v_free = v + dt M̂⁻¹ (tau − b − dt K v) + u
    let report = collide(model, &x.q, data)?; // contacts, impulses, v_next
    let Data { free, end, acceleration, forced, .. } = &mut *data;
    let v_next = &end.v;
    model.integrate_unchecked(&x.q, v_next, dt, &mut next.q); // q_next = q ⊕ dt v_next
    for (a, (new, old)) in acceleration.iter_mut().zip(v_next.iter().zip(&x.v)) {
        *a = (new - old) / dt;
    }
    for (a, (all, turn)) in forced.iter_mut().zip(acceleration.iter().zip(&free.turn)) {
        *a = all - turn / dt;
    }
    next.v.copy_from_slice(v_next);
    dynamics::advance(model, &x.act, input.ctrl, &mut next.act); // act_next: what follows the controls
    next.time = x.time + dt;
    check_bounded(model, x.time, next, report.status)?;
    data.report = report;
    data.finished = true;
    Ok(Step { model, data })
}

/// Contacts, their impulses and the velocities at the end of the step. Where those carry bodies farther than the search for
/// contacts looked, both are made again and look farther.   (collision-14)
fn collide(model: &Model, q: &[f64], data: &mut Data) -> Result<SolveReport, StepError> {
    let mut report = SolveReport::default();
    for round in 0..=EXTRA_SEARCHES {
        detect(model, data, round)?; // broad phase, narrow phase, patches, frames
        let Data { kin, mass, free, contacts, assembly, solution, warm, end, .. } = &mut *data;
        let scene = Scene { model, q, kin, free, contacts };
        report = constraint::resolve(&scene, round > 0, mass, warm, assembly, solution, end);
        if !overlooked(model, data) {
            return Ok(report);
        }
    }
    report.status = Status::NotConverged; // bodies go farther than the last search looked
    Ok(report)
}

/// A search for contacts, farther from round to round.
fn detect(model: &Model, data: &mut Data, round: i32) -> Result<(), InputError> {
    let Data { kin, free, contacts, end, .. } = &mut *data;
    let options = model.options();
    if options.contact_distance == 0.0 {
        return collision::detect(model, &kin.X_wb, contacts); // only what overlaps
    }
    // restitution asks for the velocity before the step, smoothing for contacts at a distance
    let bounces = model.parameters().group(ParameterGroup::Restitution).iter().any(|r| *r > 0.0);
    let exact = options.gradient == GradientMode::Exact;
    let distance = if exact { collision::ROOM.min(options.contact_distance) } else { options.contact_distance };
    let before = if bounces { &kin.V } else { &free.V };
    let after = if round > 0 { &end.V } else { &free.V };
    let all: [&[Motion]; 3] = [&free.V, after, before];
    let velocities = if bounces { &all[..] } else { &all[..1 + usize::from(round > 0)] };
    let ahead =
        Lookahead { time: CONTACT_LOOKAHEAD.powi(1 + round) * options.dt, distance, velocities, origin: &kin.origin };
    collision::detect_ahead(model, &kin.X_wb, &ahead, contacts);
    Ok(())
}

/// Whether the search for contacts may have missed what the velocities found since reach.
fn overlooked(model: &Model, data: &mut Data) -> bool {
    let Data { kin, contacts, assembly, end, .. } = data;
    let next = Lookahead { time: model.options().dt, distance: 0.0, velocities: &[&end.V], origin: &kin.origin };
    // without impulses the bodies move as the search assumed
    let moved = !assembly.sources.is_empty() && model.options().contact_distance > 0.0;
    moved && collision::overlooked(model, &kin.X_wb, &next, contacts)
}

fn check_input(model: &Model, data: &Data, x: &State, input: &Input, next: &State) -> Result<(), InputError> {
    data.structure.check(model, "data")?;
    model.check_q(&x.q)?;
    input_check::vector("v", &x.v, model.nv())?;
    input_check::vector("act", &x.act, model.na())?;
    input_check::vector_or_none("tau", input.tau, model.nv())?;
    if let Some(ctrl) = input.ctrl {
        input_check::vector("ctrl", ctrl, model.nu())?;
    }
    dynamics::check_wrenches(model, input.wrenches)?;
    model.check_mocap(input.mocap)?;
    input_check::length("next.q", next.q.len(), model.nq())?;
    input_check::length("next.act", next.act.len(), model.na())?;
    input_check::length("next.v", next.v.len(), model.nv())
}

/// Names the body on which an actuator acts whose activation is beyond all bounds.
fn check_activations(model: &Model, time: f64, next: &State, status: Status) -> Result<(), StepError> {
    let limit = input_check::LARGEST;
    let Some(n) = next.act.iter().position(|x| x.is_nan() || x.abs() > limit) else { return Ok(()) };
    let actuator = &model.actuators()[model.activated()[n].0];
    let body = match actuator.transmission {
        Transmission::Joint(id) => model.bodies()[model.joints()[id.0].body.0].name.clone(),
        _ => actuator.name.clone(),
    };
    Err(StepError::Diverged { body, quantity: "activation", value: next.act[n], limit, time, status })
}

/// Names the body whose motion is beyond all bounds. What passes is accepted by the next step.
fn check_bounded(model: &Model, time: f64, next: &State, status: Status) -> Result<(), StepError> {
    let beyond = |x: &[f64], limit: f64| x.iter().position(|x| x.is_nan() || x.abs() > limit);
    let speed = model.options().speed_limit.min(input_check::LARGEST);
    let (found, quantity, limit) = match beyond(&next.v, speed) {
        Some(i) => (Some((i, next.v[i])), "velocity", speed),
        None => (beyond(&next.q, input_check::LARGEST).map(|i| (i, next.q[i])), "position", input_check::LARGEST),
    };
    let Some((i, value)) = found else { return check_activations(model, time, next, status) };
    let is_of = |j: &&Joint| if quantity == "velocity" { j.v.contains(&i) } else { j.q.contains(&i) };
    let joint = model.joints().iter().find(is_of);
    let body = joint.map_or(String::new(), |j| model.bodies()[j.body.0].name.clone());
    Err(StepError::Diverged { body, quantity, value, limit, time, status })
}
