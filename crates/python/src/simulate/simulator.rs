//! `Simulator`: a robot that moves, and `step`, a step without one.

use crate::arguments::arg;
use crate::arrays::{Input, optional_vector, wrenches};
use crate::errors::{Failure, StepWarning};
use crate::gradient::step::numbers;
use crate::interrupt::interruptible;
use crate::model::Model;
use crate::model::options::{Options, count};
use crate::simulate::memory::{Memory, Origin, Shared};
use crate::simulate::mocap::{self, Mocap};
use crate::simulate::sensors::{self, Reading};
use crate::simulate::state::{self, State};
use crate::simulate::step::{Finished, Step};
use crate::simulate::trajectory::{Drive, Trajectory};
use crate::simulate::warm_start::WarmStart;
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use slipstick::control::Command;
use slipstick::dynamics::Wrench;
use slipstick::{InputError, SolveReport, Status, interrupt};
use std::ffi::CString;
use std::sync::Arc;

/// A robot that moves: a model, its state, the clock and the warm start of the next step.
///
/// model: Model; dt: time step (s); the other keywords are those of Model.with_options. What is left out is the model's.
/// It begins in the keyframe "home" if there is one, else in the neutral configuration.
///
///     sim = slipstick.Simulator(slipstick.builtin("quadruped"))
///     step = sim.step(ctrl=ctrl)                 # sim.state, sim.time are those of its end
///     run = sim.rollout(1000, ctrl=ctrl)         # goes on from there
///     sim.reset(keyframe="home")
///
/// The first step that did not converge or was given less than its position correction raises a StepWarning, later ones do not: Step.report
/// and Trajectory count them. Two threads in one Simulator get a RuntimeError.
#[pyclass(frozen, module = "slipstick")]
pub struct Simulator {
    shared: Arc<Shared>,
    /// The model that moves, with the options of this Simulator (Model).
    #[pyo3(get)]
    model: Py<Model>,
    mocap: Mocap,
}

#[pymethods]
impl Simulator {
    #[new]
    #[pyo3(signature = (model, dt=None, **options))]
    fn new(
        #[pyo3(from_py_with = arg::model)] model: &Bound<'_, Model>,
        #[pyo3(from_py_with = arg::dt)] dt: Option<f64>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Simulator> {
        let all = options.map_or_else(|| Ok(PyDict::new(model.py())), |given| given.copy())?;
        if let Some(dt) = dt {
            all.set_item("dt", dt)?;
        }
        let model = model.call_method("with_options", (), Some(&all))?.cast_into::<Model>()?;
        let shared = Shared::new(model.get().inner.clone());
        let mocap = Mocap::new(model.py(), shared.enter()?.simulator.mocap());
        Ok(Simulator { shared, model: model.unbind(), mocap })
    }

    /// Positions of the mocap bodies (n, 3) (m), in the order of Model.mocap_names: an array to write to, as in MuJoCo.
    #[getter]
    fn mocap_pos(&self, py: Python<'_>) -> Py<PyArray2<f64>> {
        self.mocap.pos(py)
    }

    #[setter]
    fn set_mocap_pos(&self, mocap_pos: Input) -> Result<(), Failure> {
        self.mocap.assign("mocap_pos", mocap_pos)
    }

    /// Quaternions (w, x, y, z) of the mocap bodies (n, 4): an array to write to. A step normalizes what it takes from it.
    #[getter]
    fn mocap_quat(&self, py: Python<'_>) -> Py<PyArray2<f64>> {
        self.mocap.quat(py)
    }

    #[setter]
    fn set_mocap_quat(&self, mocap_quat: Input) -> Result<(), Failure> {
        self.mocap.assign("mocap_quat", mocap_quat)
    }

    /// Moves the mocap body with a name; pos (3,) (m), quat (4,): what is left out stays.
    #[pyo3(signature = (name, *, pos=None, quat=None))]
    fn set_mocap(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arg::name)] name: &str,
        pos: Option<Input>,
        quat: Option<Input>,
    ) -> Result<(), Failure> {
        let (pos, quat) = (numbers("pos", pos, 3)?, numbers("quat", quat, 4)?);
        let first = 7 * self.shared.model.mocap(name)?;
        let mut poses = self.mocap.read(py);
        poses[first..first + pos.len()].copy_from_slice(&pos);
        poses[first + 3..first + 3 + quat.len()].copy_from_slice(&quat);
        self.shared.model.check_mocap(&poses)?;
        self.mocap.write(py, &poses);
        Ok(())
    }

    /// Time step (s).
    #[getter]
    fn dt(&self) -> f64 {
        self.shared.model.options().dt
    }

    /// Numerical choices (Options).
    #[getter]
    fn options(&self) -> Options {
        Options(self.shared.model.options().clone())
    }

    /// Where it is now (State): q (nq,), v (nv,), act (na,), time (s).
    #[getter]
    fn state(&self, py: Python<'_>) -> Result<State, Failure> {
        Ok(State::new(py, self.shared.enter()?.simulator.state()))
    }

    /// Its activations (na,), of actuators with dynamics; Model.act_names says whose.
    #[getter]
    fn act<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<f64>>, Failure> {
        Ok(PyArray1::from_slice(py, &self.shared.enter()?.simulator.state().act))
    }

    /// Its clock (s).
    #[getter]
    fn time(&self) -> Result<f64, Failure> {
        Ok(self.shared.enter()?.simulator.time())
    }

    /// Puts it into another state and clears the warm start.
    ///
    /// keyframe (str): a keyframe of the model, or q (nq,), v (nv,) and act (na,), of which those left out are those of the beginning; time (s).
    /// Without a keyframe, q, v and act it returns to where it began. warm_start (WarmStart): what the next step starts from instead of nothing.
    #[pyo3(signature = (keyframe=None, *, q=None, v=None, act=None, time=0.0, warm_start=None))]
    fn reset(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arg::keyframe)] keyframe: Option<&str>,
        q: Option<Input>,
        v: Option<Input>,
        act: Option<Input>,
        #[pyo3(from_py_with = arg::time)] time: f64,
        #[pyo3(from_py_with = arg::warm_start)] warm_start: Option<&WarmStart>,
    ) -> Result<(), Failure> {
        let model = &self.shared.model;
        let start = match keyframe {
            Some(_) if q.is_some() || v.is_some() || act.is_some() => {
                return Err(PyValueError::new_err("keyframe: expected None where q, v or act is given").into());
            }
            Some(name) => slipstick::State::keyframe(model, name)?,
            None => slipstick::Simulator::initial_state(model),
        };
        let x = state::changed(model, start, q, v, act, time)?;
        let mut memory = self.shared.enter()?;
        memory.steps += 1; // what the memory holds is not a step from here
        match keyframe {
            Some(name) => memory.simulator.reset_to_keyframe(name)?, // mocap bodies as well
            None if q.is_none() && v.is_none() => memory.simulator.reset(),
            None => {}
        }
        memory.simulator.set_state(x)?;
        self.mocap.write(py, memory.simulator.mocap());
        warm_start.map_or(Ok(()), |warm| Ok(memory.simulator.restore(&warm.0)?))
    }

    /// One step of semi-implicit Euler: forces and contacts at its beginning, velocities at its end.
    ///
    /// tau (nv,): generalized forces; ctrl (nu,): controls, without which the actuators are off; wrenches (n_bodies, 6):
    /// [force; torque] on each body, world axes, at its center of mass. Returns a Step, whose derivatives can be taken
    /// until the next one. Raises DivergenceError if the next state is not finite: the state stays as it was.
    /// mocap (n, 7): poses of the mocap bodies (position, quaternion), which mocap_pos and mocap_quat then are.
    #[pyo3(signature = (*, tau=None, ctrl=None, wrenches=None, mocap=None))]
    fn step(
        &self,
        py: Python<'_>,
        tau: Option<Input>,
        ctrl: Option<Input>,
        wrenches: Option<Input>,
        mocap: Option<Input>,
    ) -> Result<Step, Failure> {
        let mut acting = Acting::new(&self.shared.model, tau, ctrl, wrenches, mocap)?;
        match acting.mocap.is_empty() {
            true => acting.mocap = self.mocap.read(py),
            false => self.mocap.write(py, &acting.mocap),
        }
        let (done, news) = py.detach(|| advance(&self.shared, &acting))?;
        warn(py, news)?;
        Ok(Step::new(py, done))
    }

    /// Many steps from its state, recorded.
    ///
    /// steps (int); ctrl: (nu,) for all steps, (steps, nu), or a function of (time, q, v) that returns (nu,); tau: likewise
    /// with nv; wrenches (n_bodies, 6) for all steps; mocap: likewise with 7 numbers per mocap body (position,
    /// quaternion), without which they stay where they are; contacts: whether the Trajectory keeps the contacts of every step, for
    /// replays. Returns a Trajectory. Raises DivergenceError if a state is not finite, with the steps before it as its
    /// attribute `trajectory`.
    #[pyo3(signature = (steps, *, ctrl=None, tau=None, wrenches=None, mocap=None, contacts=true))]
    fn rollout(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arg::steps)] steps: i64,
        ctrl: Option<Input>,
        tau: Option<Input>,
        wrenches: Option<Input>,
        mocap: Option<Input>,
        #[pyo3(from_py_with = arg::contacts)] contacts: bool,
    ) -> Result<Trajectory, Failure> {
        let (model, steps) = (&self.shared.model, count("steps", steps)? as usize);
        slipstick::Trajectory::check_room(model, steps)?;
        let ctrl = Drive::new("ctrl", ctrl, steps, model.nu())?;
        let tau = Drive::new("tau", tau, steps, model.nv())?;
        let poses = Drive::new("mocap", mocap, steps, 7 * model.n_mocap())?;
        let held = self.mocap.read(py);
        let wrenches = self::wrenches(wrenches, model.n_bodies())?;
        let recorded = slipstick::Trajectory::new(model);
        let mut record =
            Record { recorded: if contacts { recorded.with_contacts() } else { recorded }, readings: Vec::new() };
        let done = interruptible(py, || self.record(steps, [&ctrl, &tau, &poses], wrenches, held, &mut record));
        self.mocap.write(py, self.shared.enter()?.simulator.mocap());
        let sensors = sensors::to_dict(py, &record.readings, Some(record.recorded.steps()))?;
        let trajectory = Trajectory::new(py, model, record.recorded, sensors.unbind())?;
        match done {
            Ok(news) => warn(py, news).map(|()| trajectory).map_err(Failure::from),
            Err(failure) => {
                let error = PyErr::from(failure);
                error.value(py).setattr("trajectory", trajectory)?;
                Err(error.into())
            }
        }
    }

    /// Drops the warm start: the next step is solved as if it were the first.
    fn clear_warm_start(&self) -> Result<(), Failure> {
        self.shared.enter()?.simulator.clear_warm_start();
        Ok(())
    }

    /// A copy of what the next step will start from (WarmStart).
    fn warm_start(&self) -> Result<WarmStart, Failure> {
        Ok(WarmStart(self.shared.enter()?.simulator.warm_start()))
    }

    /// Puts a WarmStart back: with the same state and input, the next step is then the same bit for bit.
    fn restore(&self, #[pyo3(from_py_with = arg::warm_start)] warm_start: &WarmStart) -> Result<(), Failure> {
        Ok(self.shared.enter()?.simulator.restore(&warm_start.0)?)
    }

    fn __repr__(&self) -> Result<String, Failure> {
        let (name, dt, time) = (self.shared.model.name(), self.dt(), self.time()?);
        Ok(format!("<slipstick.Simulator of '{name}': dt={dt}, time={time:.6}>"))
    }
}

impl Simulator {
    /// A rollout that fails keeps what came before, and the simulator its last state.
    fn record(
        &self,
        steps: usize,
        [ctrl, tau, mocap]: [&Drive; 3],
        wrenches: Vec<Wrench>,
        held: Vec<f64>,
        out: &mut Record,
    ) -> Result<Option<SolveReport>, Failure> {
        let mut memory = self.shared.enter()?;
        memory.steps += 1; // for steps made before, a rollout is a step like any other
        let Memory { simulator, sensors, warned, .. } = &mut *memory;
        let (model, mut impaired) = (&self.shared.model, None);
        let mut command = Command { actuated: !ctrl.is_none(), wrenches, mocap: held, ..Command::new(model) };
        out.recorded.push_state(simulator.state());
        for k in 0..steps {
            interrupt::check()?;
            ctrl.fill("ctrl", k, simulator.state(), &mut command.ctrl)?;
            tau.fill("tau", k, simulator.state(), &mut command.tau)?;
            mocap.fill("mocap", k, simulator.state(), &mut command.mocap)?;
            let step = simulator.step(&command.input())?;
            step.sensors(sensors)?;
            out.recorded.push_step(&step);
            impaired = impaired.or(step.report().is_impaired().then_some(*step.report()));
            out.recorded.push_state(simulator.state());
            sensors::append(&mut out.readings, model, sensors);
        }
        Ok(impaired.filter(|_| !std::mem::replace(warned, true)))
    }
}

/// What a rollout leaves.
struct Record {
    recorded: slipstick::Trajectory,
    readings: Vec<Reading>,
}

/// One step from any state, without a Simulator: a function of its arguments alone.
///
/// model: Model; q (nq,), v (nv,), act (na,; without it zeros): where it begins; tau (nv,), ctrl (nu,), wrenches (n_bodies, 6) as in
/// Simulator.step; mocap (n, 7): poses of the mocap bodies, default: those of the file; time
/// (s) at its beginning; warm_start (WarmStart): impulses to start from, without which it starts from none. The Step has
/// memory of its own: its derivatives can be taken whenever they are needed. Raises DivergenceError.
#[pyfunction]
#[pyo3(signature = (model, q, v, *, tau=None, ctrl=None, wrenches=None, act=None, mocap=None, time=0.0, warm_start=None))]
pub fn step(
    py: Python<'_>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    v: Input,
    tau: Option<Input>,
    ctrl: Option<Input>,
    wrenches: Option<Input>,
    act: Option<Input>,
    mocap: Option<Input>,
    #[pyo3(from_py_with = arg::time)] time: f64,
    #[pyo3(from_py_with = arg::warm_start)] warm_start: Option<&WarmStart>,
) -> Result<Step, Failure> {
    let x = state::changed(&model.inner, slipstick::State::neutral(&model.inner), Some(q), Some(v), act, time)?;
    let mut acting = Acting::new(&model.inner, tau, ctrl, wrenches, mocap)?;
    if acting.mocap.is_empty() {
        acting.mocap = model.inner.mocap_poses(); // not those of the keyframe that a simulator begins with
    }
    let (done, news) = py.detach(|| {
        let shared = Shared::new(model.inner.clone());
        shared.enter()?.simulator.set_state(x)?;
        warm_start.map_or(Ok(()), |warm| shared.enter()?.simulator.restore(&warm.0).map_err(Failure::from))?;
        advance(&shared, &acting)
    })?;
    warn(py, news)?;
    Ok(Step::new(py, done))
}

/// What acts in a step.
struct Acting {
    tau: Vec<f64>,
    ctrl: Option<Vec<f64>>,
    wrenches: Vec<Wrench>,
    mocap: Vec<f64>,
}

impl Acting {
    fn new(
        model: &slipstick::Model,
        tau: Option<Input>,
        ctrl: Option<Input>,
        wrenches: Option<Input>,
        mocap: Option<Input>,
    ) -> Result<Acting, Failure> {
        let (tau, ctrl) = (optional_vector("tau", tau)?, optional_vector("ctrl", ctrl)?);
        let (expected, tau) = (model.nv(), tau.unwrap_or_else(|| vec![0.0; model.nv()]));
        if tau.len() != expected {
            // checked here: to the step an empty tau means none
            return Err(InputError::Length { what: "tau", expected, got: tau.len() }.into());
        }
        let mocap = mocap::poses(mocap, model.n_mocap())?;
        Ok(Acting { tau, ctrl, wrenches: self::wrenches(wrenches, model.n_bodies())?, mocap })
    }
}

/// A step of a simulator, and its report if the user should hear of it.
fn advance(shared: &Arc<Shared>, acting: &Acting) -> Result<(Finished, Option<SolveReport>), Failure> {
    let mut memory = shared.enter()?;
    memory.steps += 1; // what the memory held is gone, also if the step fails
    let Memory { simulator, sensors, steps, warned } = &mut *memory;
    let Acting { tau, ctrl, wrenches, mocap } = acting;
    let input = slipstick::Input { tau, ctrl: ctrl.as_deref(), wrenches, mocap };
    let step = simulator.step(&input)?;
    step.sensors(sensors)?;
    let report = *step.report();
    let finished = Finished {
        acceleration: step.acceleration().to_vec(),
        mode_key: step.mode_key(),
        report,
        contacts: step.contacts().collect(),
        sensors: sensors::readings(&shared.model, sensors),
        actuated: ctrl.is_some(),
        mocap: step.mocap().collect(),
        origin: Origin { shared: shared.clone(), step: *steps },
        next: simulator.state().clone(),
    };
    let news = report.is_impaired() && !std::mem::replace(warned, true);
    Ok((finished, news.then_some(report)))
}

/// Tells the user of the first step of a simulator that is not what it should be.
fn warn(py: Python<'_>, report: Option<SolveReport>) -> PyResult<()> {
    let Some(report) = report else { return Ok(()) };
    let what = match report.status {
        Status::NotConverged => format!("a step did not converge (residual {:.1e})", report.residual),
        _ => {
            let fraction = 100.0 * report.correction;
            format!("a step was given {fraction:.3} % of its position correction: all of it would have added energy")
        }
    };
    let text = format!("{what}; later steps of this Simulator do not warn: see Step.report and Trajectory.status");
    PyErr::warn(py, &py.get_type::<StepWarning>(), &CString::new(text)?, 2)
}
