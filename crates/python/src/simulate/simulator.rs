//! `Simulator`: a model that moves in time.

use crate::arrays::{Input, optional_vector, vector, wrenches};
use crate::errors::Failure;
use crate::model::Model;
use crate::model::gradient_options::{Collision, Gradient};
use crate::model::options::{Changes, Options, count};
use crate::simulate::memory::{Memory, Origin, Shared};
use crate::simulate::sensors::{self, Reading};
use crate::simulate::step::{Finished, Step};
use crate::simulate::trajectory::{Drive, Trajectory};
use crate::simulate::warm_start::WarmStart;
use pyo3::prelude::*;
use slipstick::control::Command;
use slipstick::dynamics::Wrench;
use slipstick::{InputError, State};
use std::sync::Arc;

/// Steps after which a rollout looks whether the user wants it to stop.
const PATIENCE: usize = 64;

/// Steps of a model in time: joints, actuators, frictional contact, joint limits, dry friction and equality constraints.
///
/// model: Model; dt: time step (s); the other keywords are those of Model.with_options. What is left out is the model's.
/// Holds memory for one step and the warm start of the next; two threads in one Simulator get a RuntimeError.
#[pyclass(frozen, module = "slipstick")]
pub struct Simulator(Arc<Shared>);

#[pymethods]
impl Simulator {
    #[new]
    #[pyo3(signature = (model, dt=None, *, gravity=None, contact_distance=None, implicit=None, integrator=None, solver=None,
        tolerance=None, max_iterations=None, correction=None, restitution_threshold=None, patch_compliance=None, speed_limit=None,
        gradient=None, collision_gradient=None, gradient_of_failed_steps=None))]
    fn new(
        model: &Model,
        dt: Option<f64>,
        gravity: Option<Input>,
        contact_distance: Option<f64>,
        implicit: Option<&str>,
        integrator: Option<&str>,
        solver: Option<&str>,
        tolerance: Option<f64>,
        max_iterations: Option<i64>,
        correction: Option<Input>,
        restitution_threshold: Option<f64>,
        patch_compliance: Option<f64>,
        speed_limit: Option<f64>,
        gradient: Option<Gradient>,
        collision_gradient: Option<Collision>,
        gradient_of_failed_steps: Option<bool>,
    ) -> Result<Simulator, Failure> {
        let changes = Changes {
            dt,
            gravity,
            contact_distance,
            implicit,
            integrator,
            solver,
            tolerance,
            max_iterations,
            correction,
            restitution_threshold,
            patch_compliance,
            speed_limit,
            gradient,
            collision_gradient,
            gradient_of_failed_steps,
        };
        let model = model.inner.with_options(changes.apply(model.inner.options())?)?;
        Ok(Simulator(Shared::new(model)))
    }

    /// Time step (s).
    #[getter]
    fn dt(&self) -> f64 {
        self.model().options().dt
    }

    /// Numerical choices (Options).
    #[getter]
    fn options(&self) -> Options {
        Options(self.model().options().clone())
    }

    /// One step of semi-implicit Euler: forces and contacts at its beginning, velocities at its end.
    ///
    /// q (nq,), v (nv,); tau (nv,): generalized forces; ctrl (nu,): controls, without which the actuators are off;
    /// wrenches (n_bodies, 6): [force; torque] on each body, world axes, at its center of mass; time (s) at the
    /// beginning. Returns a Step, whose derivatives can be taken until the next one. Raises DivergenceError if the next
    /// state is not finite.
    #[pyo3(signature = (q, v, tau=None, ctrl=None, wrenches=None, *, time=0.0))]
    fn step(
        &self,
        py: Python<'_>,
        q: Input,
        v: Input,
        tau: Option<Input>,
        ctrl: Option<Input>,
        wrenches: Option<Input>,
        time: f64,
    ) -> Result<Step, Failure> {
        let x = self.state(q, v, time)?;
        let (tau, ctrl) = (optional_vector("tau", tau)?, optional_vector("ctrl", ctrl)?);
        let wrenches = self::wrenches(wrenches, self.model().n_bodies())?;
        let done = py.detach(|| self.advance(&x, tau, ctrl, &wrenches))?;
        Ok(Step::new(py, done))
    }

    /// Steps from (q, v), recorded.
    ///
    /// q (nq,), v (nv,), steps (int); ctrl: (nu,) for all steps, (steps, nu), or a function of (time, q, v) that returns
    /// (nu,); tau: likewise with nv; wrenches (n_bodies, 6) for all steps; time (s) at the beginning.
    /// Returns a Trajectory. Raises DivergenceError if a state is not finite.
    #[pyo3(signature = (q, v, steps, *, ctrl=None, tau=None, wrenches=None, time=0.0))]
    fn rollout(
        &self,
        py: Python<'_>,
        q: Input,
        v: Input,
        steps: i64,
        ctrl: Option<Input>,
        tau: Option<Input>,
        wrenches: Option<Input>,
        time: f64,
    ) -> Result<Trajectory, Failure> {
        let (x, steps) = (self.state(q, v, time)?, count("steps", steps)? as usize);
        let ctrl = Drive::new("ctrl", ctrl, steps, self.model().nu())?;
        let tau = Drive::new("tau", tau, steps, self.model().nv())?;
        let wrenches = self::wrenches(wrenches, self.model().n_bodies())?;
        let (recorded, readings) = py.detach(|| self.record(x, steps, &ctrl, &tau, wrenches))?;
        Ok(Trajectory::new(py, recorded, &readings)?)
    }

    /// Drops the warm start: the next step is solved as if it were the first.
    fn clear_warm_start(&self) -> Result<(), Failure> {
        self.0.enter()?.data.clear_warm_start();
        Ok(())
    }

    /// A copy of what the next step will start from (WarmStart).
    fn warm_start(&self) -> Result<WarmStart, Failure> {
        Ok(WarmStart(self.0.enter()?.data.warm_start()))
    }

    /// Puts a WarmStart back: with the same state and input, the next step is then the same bit for bit.
    fn restore(&self, warm_start: &WarmStart) -> Result<(), Failure> {
        Ok(self.0.enter()?.data.restore(&warm_start.0)?)
    }

    fn __repr__(&self) -> String {
        format!("<slipstick.Simulator of '{}': dt={}>", self.model().name(), self.dt())
    }
}

impl Simulator {
    fn model(&self) -> &slipstick::Model {
        &self.0.model
    }

    fn state(&self, q: Input, v: Input, time: f64) -> Result<State, Failure> {
        let (q, v) = (vector("q", q)?, vector("v", v)?);
        let mut x = State::new(self.model(), &q, &v)?;
        // what a step returned goes into the next one as it is, so that steps repeat a rollout bit for bit
        if x.q.iter().zip(&q).all(|(unit, given)| (unit - given).abs() <= 4.0 * f64::EPSILON) {
            x.q = q;
        }
        if !time.is_finite() {
            return Err(InputError::Value { what: "time".into(), expected: "a finite number", got: time }.into());
        }
        x.time = time;
        Ok(x)
    }

    fn advance(
        &self,
        x: &State,
        tau: Option<Vec<f64>>,
        ctrl: Option<Vec<f64>>,
        wrenches: &[Wrench],
    ) -> Result<Finished, Failure> {
        let mut memory = self.0.enter()?;
        let (expected, tau) = (self.model().nv(), tau.unwrap_or_else(|| vec![0.0; self.model().nv()]));
        if tau.len() != expected {
            // checked here: to the step an empty tau means none
            return Err(InputError::Length { what: "tau", expected, got: tau.len() }.into());
        }
        memory.steps += 1; // what the memory held is gone, also if the step fails
        let Memory { data, sensors, steps } = &mut *memory;
        let input = slipstick::Input { tau: &tau, ctrl: ctrl.as_deref(), wrenches };
        let mut next = x.clone();
        let step = slipstick::step(self.model(), data, x, &input, &mut next)?;
        step.sensors(sensors)?;
        Ok(Finished {
            next,
            acceleration: step.acceleration().to_vec(),
            mode_key: step.mode_key(),
            report: *step.report(),
            contacts: step.contacts().collect(),
            sensors: sensors::readings(self.model(), sensors),
            actuated: ctrl.is_some(),
            origin: Origin { shared: self.0.clone(), step: *steps },
        })
    }

    /// The warm start goes in and out; a rollout that fails leaves it as it was.
    fn record(
        &self,
        x: State,
        steps: usize,
        ctrl: &Drive,
        tau: &Drive,
        wrenches: Vec<Wrench>,
    ) -> Result<(slipstick::Trajectory, Vec<Reading>), Failure> {
        let mut memory = self.0.enter()?;
        memory.steps += 1; // for steps made before, a rollout is a step like any other
        let Memory { data, sensors, .. } = &mut *memory;
        let mut robot = slipstick::Simulator::new(self.model());
        robot.set_state(x)?;
        robot.restore(&data.warm_start())?;
        let (mut recorded, mut readings) = (slipstick::Trajectory::new(self.model()), Vec::new());
        let mut command = Command { actuated: !ctrl.is_none(), wrenches, ..Command::new(self.model()) };
        recorded.push_state(robot.state());
        for k in 0..steps {
            if k % PATIENCE == 0 {
                Python::attach(|py| py.check_signals())?;
            }
            ctrl.fill("ctrl", k, robot.state(), &mut command.ctrl)?;
            tau.fill("tau", k, robot.state(), &mut command.tau)?;
            let step = robot.step(&command.input())?;
            step.sensors(sensors)?;
            recorded.push_step(&step);
            recorded.push_state(robot.state());
            sensors::append(&mut readings, self.model(), sensors);
        }
        data.restore(&robot.warm_start())?;
        Ok((recorded, readings))
    }
}
