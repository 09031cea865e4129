//! `RolloutGradient`: many steps, and derivatives through all of them.

use crate::arguments::{arg, wrong_type};
use crate::arrays::{Input, array, vector, wrenches, wrong_shape};
use crate::errors::Failure;
use crate::gradient::object::Gradient;
use crate::gradient::sensors::weights_of_steps;
use crate::gradient::step::{Groups, group};
use crate::interrupt::interruptible;
use crate::model::Model;
use crate::model::options::{count, unknown};
use crate::simulate::sensors;
use crate::simulate::trajectory::Trajectory;
use crate::simulate::warm_start::WarmStart;
use numpy::ndarray::{ArrayD, IxDyn};
use numpy::{IntoPyArray, PyArray1, PyArrayDyn};
use pyo3::exceptions::{PyArithmeticError, PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use slipstick::linalg::MatRef;
use slipstick::model::ParameterGroup;
use slipstick::rollout::{Memory, RolloutDirection, RolloutGradientError, Sensitivities, StateGrad, Wanted};
use slipstick::{InputError, State};
use std::sync::{Mutex, MutexGuard, TryLockError};

type Array<'py> = Bound<'py, PyArrayDyn<f64>>;

/// Rollouts of a number of steps, and their derivatives.
///
/// model (Model); steps (int); memory: "recompute" (keep what repeats each step, make it again for its derivative) or
/// "store" (keep its derivatives); parameters: names of groups of Model.parameters to differentiate by, or "all".
/// run() comes first; vjp, jvp and sensitivities belong to the last run. Two threads in one get a RuntimeError.
#[pyclass(frozen, module = "slipstick.gradient")]
pub struct RolloutGradient {
    model: slipstick::Model,
    steps: usize,
    groups: Vec<ParameterGroup>,
    /// Boxed: it holds vectors aligned to 32 bytes, and Python aligns what is in its objects to 16.
    inner: Mutex<Box<slipstick::rollout::RolloutGradient>>,
}

#[pymethods]
impl RolloutGradient {
    #[new]
    #[pyo3(signature = (model, steps, *, memory="recompute", parameters=None))]
    fn new(
        #[pyo3(from_py_with = arg::model)] model: &Model,
        #[pyo3(from_py_with = arg::steps)] steps: i64,
        #[pyo3(from_py_with = arg::memory)] memory: &str,
        #[pyo3(from_py_with = arg::parameters)] parameters: Option<Groups>,
    ) -> Result<RolloutGradient, Failure> {
        let memory = self::memory(memory)?;
        let steps = count("steps", steps)? as usize;
        let groups = parameters.map_or(Ok(Vec::new()), Groups::all)?;
        let inner = slipstick::rollout::RolloutGradient::new(&model.inner, steps, memory)
            .with_parameters(&groups)
            .with_sensors();
        Ok(RolloutGradient { model: model.inner.clone(), steps, groups, inner: Mutex::new(Box::new(inner)) })
    }

    /// Number of steps.
    #[getter]
    fn steps(&self) -> usize {
        self.steps
    }

    /// Bytes that grow with the number of steps. With "recompute", those of warm starts are known after a run.
    #[getter]
    fn bytes(&self) -> Result<usize, Failure> {
        Ok(self.enter()?.bytes())
    }

    /// The steps from (q, v, act): q (nq,), v (nv,), act (na,; without it zeros); ctrl (nu,) for all steps or (steps, nu), without it the actuators are
    /// off; tau (nv,) or (steps, nv); wrenches (n_bodies, 6) for all steps; time (s) at the beginning.
    /// Returns a Trajectory. Raises DivergenceError if a state is not finite.
    #[pyo3(signature = (q, v, *, ctrl=None, tau=None, wrenches=None, act=None, time=0.0))]
    fn run(
        &self,
        py: Python<'_>,
        q: Input,
        v: Input,
        ctrl: Option<Input>,
        tau: Option<Input>,
        wrenches: Option<Input>,
        act: Option<Input>,
        #[pyo3(from_py_with = arg::time)] time: f64,
    ) -> Result<Trajectory, Failure> {
        let mut x0 = State::new(&self.model, &vector("q", q)?, &vector("v", v)?)?;
        if let Some(act) = act {
            x0 = x0.with_act(&self.model, &vector("act", act)?)?;
        }
        if !time.is_finite() {
            return Err(InputError::Value { what: "time".into(), expected: "a finite number", got: time }.into());
        }
        x0.time = time;
        let ctrl = rows("ctrl", ctrl, self.steps, self.model.nu())?;
        let tau = rows("tau", tau, self.steps, self.model.nv())?;
        let wrenches = self::wrenches(wrenches, self.model.n_bodies())?;
        let (recorded, readings) = interruptible(py, || {
            let mut inner = self.enter()?;
            let ctrl = (!ctrl.is_empty()).then_some(&ctrl[..]);
            let input = slipstick::Input { tau: &tau, ctrl, wrenches: &wrenches, mocap: &[] };
            let rollout = inner.run(&x0, &input);
            let rollout = rollout.map_err(failure)?;
            let rows: Vec<f64> = (0..self.steps).flat_map(|t| rollout.readings(t)).copied().collect();
            Ok::<_, Failure>((rollout.trajectory().clone(), sensors::of_steps(&self.model, &rows)))
        })?;
        let sensors = sensors::to_dict(py, &readings, Some(recorded.steps()))?;
        Ok(Trajectory::new(py, &self.model, recorded, sensors.unbind())?)
    }

    /// What the constraints of each step did (steps,) uint64: two rollouts with the same keys follow the same formula.
    #[getter]
    fn mode_keys<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<u64>>, Failure> {
        let keys = self.last(py, |rollout| Ok(rollout.mode_keys().to_vec()))?;
        Ok(PyArray1::from_vec(py, keys))
    }

    /// Steps whose derivative is a choice (int), because something is undecided between two modes or more holds than can along
    /// some change of q: of all steps with memory="store", else of those that the last derivative has visited.
    #[getter]
    fn choices(&self, py: Python<'_>) -> Result<usize, Failure> {
        self.last(py, |rollout| Ok(rollout.choices()))
    }

    /// What the last step hands on (WarmStart).
    fn warm_start(&self, py: Python<'_>) -> Result<WarmStart, Failure> {
        Ok(WarmStart(self.last(py, |rollout| Ok(rollout.warm_start().clone()))?))
    }

    /// What runs begin with beside their state; without it they begin cold.
    fn set_warm_start(&self, #[pyo3(from_py_with = arg::warm_start)] warm_start: &WarmStart) -> Result<(), Failure> {
        Ok(self.enter()?.set_warm_start(warm_start.0.clone())?)
    }

    /// The Gradient of a loss whose gradient with respect to the states is (q, v, act): (steps + 1, nv) for
    /// all states, the first included, or (nv,) for the last one only (act: na); q as tangents. sensors: its gradient with respect
    /// to the readings, a dict of names in Trajectory.sensors to (steps, size); needs memory="recompute". What is left out
    /// is zero.
    #[pyo3(signature = (*, q=None, v=None, act=None, sensors=None))]
    fn vjp(
        &self,
        py: Python<'_>,
        q: Option<Input>,
        v: Option<Input>,
        act: Option<Input>,
        #[pyo3(from_py_with = arg::sensors)] sensors: Option<&Bound<'_, PyDict>>,
    ) -> Result<Gradient, Failure> {
        let (nv, na) = (self.model.nv(), self.model.na());
        let (q, v, act) = (self.weights("q", q, nv)?, self.weights("v", v, nv)?, self.weights("act", act, na)?);
        let readings = weights_of_steps(&self.model, self.steps, sensors)?;
        let (grad, actuated) = self.last(py, |rollout| {
            let mut grad = rollout.zeros();
            rollout.vjp_sensors(StateGrad { q: &q, v: &v, act: &act }, &readings, &mut grad)?;
            Ok((grad, rollout.is_actuated()))
        })?;
        let sizes: Vec<_> = grad.parameters.iter().map(|(_, x)| [x.len()]).collect();
        let groups = grad.parameters.into_iter().zip(&sizes).map(|((group, x), size)| (group.name(), (&size[..], x)));
        let (nv, tau, ctrl) = ([self.model.nv()], [self.steps, self.model.nv()], [self.steps, self.model.nu()]);
        let ctrl = actuated.then_some((&ctrl[..], grad.ctrl));
        let parts = [(&nv[..], grad.q), (&nv[..], grad.v), (&tau[..], grad.tau)];
        Ok(Gradient::new(py, parts, ctrl, groups)?.with_act(py, (&[na], grad.act))?)
    }

    /// The change of every state along a change of what the rollout is made from: q, v (nv,), act (na,): of the first state; tau
    /// (steps, nv), ctrl (steps, nu); parameters: dict of the name of a group to an array. What is left out is zero.
    /// Returns (dq, dv), (steps + 1, nv) each.
    #[pyo3(signature = (*, q=None, v=None, tau=None, ctrl=None, act=None, parameters=None))]
    fn jvp<'py>(
        &self,
        py: Python<'py>,
        q: Option<Input>,
        v: Option<Input>,
        tau: Option<Input>,
        ctrl: Option<Input>,
        act: Option<Input>,
        #[pyo3(from_py_with = arg::parameters)] parameters: Option<&Bound<'py, PyDict>>,
    ) -> Result<(Array<'py>, Array<'py>), Failure> {
        let (nv, nu) = (self.model.nv(), self.model.nu());
        let (q, v) = (rows("q", q, 1, nv)?, rows("v", v, 1, nv)?);
        let (tau, ctrl) = (rows("tau", tau, self.steps, nv)?, rows("ctrl", ctrl, self.steps, nu)?);
        let act = rows("act", act, 1, self.model.na())?;
        let mut values = Vec::new();
        for (name, x) in parameters.iter().flat_map(|p| p.iter()) {
            let name: String =
                name.extract().map_err(|_| wrong_type("parameters", "names of groups as keys", &name))?;
            values.push((group(&name)?, vector("parameters", &x)?));
        }
        let size = (self.steps + 1) * nv;
        let (dq, dv) = self.last(py, |rollout| {
            let parameters: Vec<_> = values.iter().map(|(g, x)| (*g, &x[..])).collect();
            let dx = RolloutDirection { q: &q, v: &v, tau: &tau, ctrl: &ctrl, act: &act, parameters: &parameters };
            let (mut dq, mut dv) = (vec![0.0; size], vec![0.0; size]);
            rollout.jvp(dx, &mut dq, &mut dv).map(|()| (dq, dv))
        })?;
        let shape = [self.steps + 1, nv];
        Ok((shaped(py, &shape, dq)?, shaped(py, &shape, dv)?))
    }

    /// Derivatives of the last state, rows (q as a tangent, v, act), n = 2nv + na: dict with initial (n, n), tau (steps, n, nv),
    /// ctrl (steps, n, nu), each unless switched off, and the chosen groups of parameters (n, …) by their names.
    /// every=True: of every state, along a first axis of steps + 1.
    #[pyo3(signature = (*, initial=true, tau=true, ctrl=true, every=false))]
    fn sensitivities<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = arg::initial)] initial: bool,
        #[pyo3(from_py_with = arg::tau)] tau: bool,
        #[pyo3(from_py_with = arg::ctrl)] ctrl: bool,
        #[pyo3(from_py_with = arg::every)] every: bool,
    ) -> Result<Bound<'py, PyDict>, Failure> {
        let wanted = Wanted { initial, tau, ctrl };
        let mut blocks = self.blocks(&wanted);
        self.last(py, |rollout| {
            let last = rollout.sensitivities_of_states(wanted, |_, s| {
                if every {
                    append(&mut blocks, s)
                }
            })?;
            if !every {
                append(&mut blocks, &last);
            }
            Ok(())
        })?;
        let out = PyDict::new(py);
        for block in blocks {
            let states = if every { Some(self.steps + 1) } else { None };
            let shape: Vec<usize> = states.into_iter().chain(block.shape).collect();
            out.set_item(block.name, shaped(py, &shape, block.numbers)?)?;
        }
        Ok(out)
    }

    fn __repr__(&self) -> String {
        let groups = self.groups.iter().map(|g| g.name()).collect::<Vec<_>>().join(", ");
        format!(
            "<slipstick.gradient.RolloutGradient of '{}': {} steps, parameters [{groups}]>",
            self.model.name(),
            self.steps
        )
    }
}

impl RolloutGradient {
    fn enter(&self) -> Result<MutexGuard<'_, Box<slipstick::rollout::RolloutGradient>>, Failure> {
        match self.inner.try_lock() {
            Ok(inner) => Ok(inner),
            Err(TryLockError::WouldBlock) => {
                Err(PyRuntimeError::new_err("this RolloutGradient is at work in another thread; make one per thread")
                    .into())
            }
            Err(TryLockError::Poisoned(inner)) => {
                self.inner.clear_poison();
                Ok(inner.into_inner())
            }
        }
    }

    /// Works on the last run without the interpreter's lock.
    fn last<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut slipstick::rollout::Rollout) -> Result<T, RolloutGradientError> + Send,
    ) -> Result<T, Failure> {
        interruptible(py, || {
            let mut inner = self.enter()?;
            let missing = || PyRuntimeError::new_err("there is no finished rollout: call run() first");
            work(&mut inner.last().ok_or_else(missing)?).map_err(failure)
        })
    }

    /// A gradient of the states: (width,), (steps + 1, width), or none.
    fn weights(&self, what: &'static str, x: Option<Input>, nv: usize) -> Result<Vec<f64>, Failure> {
        let states = self.steps + 1;
        let Some(x) = x else { return Ok(Vec::new()) };
        let (numbers, shape) = array(what, x)?;
        match *shape {
            [n] if n == nv => finite(what, numbers),
            [n, m] if (n, m) == (states, nv) => finite(what, numbers),
            _ => Err(wrong_shape(what, &format!("({nv},) or ({states}, {nv})"), &shape).into()),
        }
    }

    /// Empty blocks of sensitivities.
    fn blocks(&self, wanted: &Wanted) -> Vec<Block> {
        let (steps, nv, nu) = (self.steps, self.model.nv(), self.model.nu());
        let state = 2 * nv + self.model.na();
        let block = |name, kind, shape| Block { name, kind, shape, numbers: Vec::new() };
        let mut blocks = Vec::new();
        if wanted.initial {
            blocks.push(block("initial", Kind::Initial, vec![state, state]));
        }
        if wanted.tau {
            blocks.push(block("tau", Kind::Tau, vec![steps, state, nv]));
        }
        if wanted.ctrl {
            blocks.push(block("ctrl", Kind::Ctrl, vec![steps, state, nu]));
        }
        for group in &self.groups {
            let n = self.model.parameters().group(*group).len();
            blocks.push(block(group.name(), Kind::Parameters(*group), vec![state, n]));
        }
        blocks
    }
}

/// Derivatives with respect to one kind of thing.
struct Block {
    name: &'static str,
    kind: Kind,
    shape: Vec<usize>,
    numbers: Vec<f64>,
}

#[derive(Clone, Copy)]
enum Kind {
    Initial,
    Tau,
    Ctrl,
    Parameters(ParameterGroup),
}

/// Appends those of a state.
fn append(blocks: &mut [Block], s: &Sensitivities) {
    for block in blocks {
        let steps = block.shape[0];
        let mut add = |m: Option<MatRef>| {
            let rows = m.iter().flat_map(|m| (0..m.rows()).flat_map(|i| m.row(i).iter().copied()));
            block.numbers.extend(rows);
        };
        match block.kind {
            Kind::Initial => add(s.initial()),
            Kind::Tau => (0..steps).for_each(|t| add(s.tau(t))),
            Kind::Ctrl => (0..steps).for_each(|t| add(s.ctrl(t))),
            Kind::Parameters(group) => add(s.parameters(group)),
        }
    }
}

/// Rows for all steps: (width,) stands for the same in every step; none is empty.
fn rows(what: &'static str, x: Option<Input>, steps: usize, width: usize) -> Result<Vec<f64>, Failure> {
    let Some(x) = x else { return Ok(Vec::new()) };
    let (numbers, shape) = array(what, x)?;
    match *shape {
        [n] if n == width => finite(what, numbers.repeat(steps)),
        [n, m] if (n, m) == (steps, width) => finite(what, numbers),
        _ => Err(wrong_shape(what, &format!("({width},) or ({steps}, {width})"), &shape).into()),
    }
}

fn finite(what: &'static str, numbers: Vec<f64>) -> Result<Vec<f64>, Failure> {
    match numbers.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(InputError::NotFinite { what, index }.into()),
        None => Ok(numbers),
    }
}

/// An array of numbers that lie row by row.
pub fn shaped<'py>(py: Python<'py>, shape: &[usize], numbers: Vec<f64>) -> PyResult<Array<'py>> {
    let array = ArrayD::from_shape_vec(IxDyn(shape), numbers);
    Ok(array.map_err(|e| PyRuntimeError::new_err(e.to_string()))?.into_pyarray(py))
}

/// What is kept of every step.
pub fn memory(name: &str) -> Result<Memory, Failure> {
    match name {
        "recompute" => Ok(Memory::Recompute),
        "store" => Ok(Memory::Store),
        other => Err(unknown("memory", ["recompute", "store"], other)),
    }
}

/// The exception that says the same.
pub fn failure(e: RolloutGradientError) -> Failure {
    let text = e.to_string();
    match e {
        RolloutGradientError::Input(e) => e.into(),
        RolloutGradientError::Rollout(e) => of_step(e.step, e.error.into()),
        RolloutGradientError::Gradient { step, error } => of_step(step, error.into()),
        RolloutGradientError::Sensor(e) => e.into(),
        RolloutGradientError::Stored => PyValueError::new_err(text).into(),
        RolloutGradientError::Branch { step } => of_step(step, PyArithmeticError::new_err(text).into()),
        RolloutGradientError::Memory { .. } => PyMemoryError::new_err(text).into(),
        _ => PyRuntimeError::new_err(text).into(),
    }
}

/// The exception of a single step, with the attribute `step`.
fn of_step(step: usize, failure: Failure) -> Failure {
    Python::attach(|py| {
        let error = PyErr::from(failure);
        match error.value(py).setattr("step", step) {
            Ok(()) => error.into(),
            Err(other) => other.into(),
        }
    })
}
