//! `Replay`: a motion as a page that plays it.

mod given;

use crate::arguments::arg;
use crate::arrays::{Input, shaped_array, vector};
use crate::errors::Failure;
use crate::gradient::step::numbers;
use crate::model::Model;
use crate::simulate::step::Step;
use crate::simulate::trajectory::Trajectory;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use slipstick::InputError;
use slipstick::spatial::Vec3;
use slipstick_view::{Output, Perturbation};
use std::path::PathBuf;

/// A motion to be looked at: one HTML page that plays it in a browser, from disk and without a network.
///
/// model: Model; title: str, default the model's name; frame_rate: frames per second of simulated time, states between
/// them are left out. States come in the order of time; a time before the last one begins another motion, which is shown
/// after it, and steps that all begin at time zero follow each other. In a notebook a Replay shows itself; show() does so
/// anywhere. warnings (list of str): what the page does not show although it was asked for.
#[pyclass(module = "slipstick")]
pub struct Replay {
    inner: slipstick_view::Replay,
    /// Time of the last state (s), and that from one frame to the next.
    last: Option<f64>,
    interval: f64,
    /// Whether record() needs the memory of the step.
    differentiates: bool,
}

#[pymethods]
impl Replay {
    #[new]
    #[pyo3(signature = (model, *, title=None, frame_rate=60.0))]
    fn new(
        #[pyo3(from_py_with = arg::model)] model: &Model,
        #[pyo3(from_py_with = arg::title)] title: Option<String>,
        #[pyo3(from_py_with = arg::frame_rate)] frame_rate: f64,
    ) -> Result<Replay, Failure> {
        let inner = slipstick_view::Replay::new(&model.inner).with_frame_rate(frame_rate)?;
        let inner = match title {
            Some(title) => inner.with_title(title),
            None => inner,
        };
        Ok(Replay { inner, last: None, interval: 1.0 / frame_rate, differentiates: false })
    }

    /// Shows the gradient of a number at the end of each step: arrows for forces on bodies and torques of joints, discs for friction.
    ///
    /// quantity ("position" or "velocity") of the origin of body (str) along axis ("x", "y", "z" or three numbers, world axes);
    /// name (str): what the page calls it. Steps are to be told to record().
    #[pyo3(signature = (quantity, body, axis, *, name=None))]
    fn gradient_of(
        &mut self,
        #[pyo3(from_py_with = arg::quantity)] quantity: &str,
        #[pyo3(from_py_with = arg::body)] body: &str,
        axis: Input,
        #[pyo3(from_py_with = arg::name)] name: Option<String>,
    ) -> Result<(), Failure> {
        let (model, axis) = (self.inner.model(), direction(axis)?);
        let output = match quantity {
            "position" => Output::position(model, body, axis)?,
            "velocity" => Output::velocity(model, body, axis)?,
            other => {
                let text = format!("quantity: expected 'position' or 'velocity', got '{other}'");
                return Err(PyValueError::new_err(text).into());
            }
        };
        let output = match name {
            Some(name) => output.named(name),
            None => output,
        };
        self.inner = self.inner.clone().with_gradient_of(output)?;
        self.differentiates = true;
        Ok(())
    }

    /// Shows how the motion changes, to first order: a ghost whose size of change is set on the page.
    ///
    /// q, v (nv,): change of the state in which the motion begins, q as a tangent; tau (nv,), ctrl (nu,): of what acts in every
    /// step; name (str): what the page calls it. To be called before the first step; every step is to be told to record().
    #[pyo3(signature = (*, q=None, v=None, tau=None, ctrl=None, name=None))]
    fn perturb(
        &mut self,
        q: Option<Input>,
        v: Option<Input>,
        tau: Option<Input>,
        ctrl: Option<Input>,
        #[pyo3(from_py_with = arg::name)] name: Option<String>,
    ) -> Result<(), Failure> {
        let name = name.unwrap_or_else(|| "perturbed motion".into());
        let (nv, nu) = (self.inner.model().nv(), self.inner.model().nu());
        let (q, v) = (numbers("q", q, nv)?, numbers("v", v, nv)?);
        let (tau, ctrl) = (numbers("tau", tau, nv)?, numbers("ctrl", ctrl, nu)?);
        self.inner = self.inner.clone().with_perturbation(&name, Perturbation { q, v, tau, ctrl })?;
        self.differentiates = true;
        Ok(())
    }

    /// Shows another Replay behind this one as a ghost; its title is its name on the page.
    fn add_ghost(&mut self, #[pyo3(from_py_with = arg::other)] other: &Bound<'_, Replay>) -> PyResult<()> {
        let other = other.try_borrow()?.inner.clone();
        self.inner = self.inner.clone().with_ghost(other);
        Ok(())
    }

    /// Shows another Replay beside this one, moved by offset (3,) (m).
    #[pyo3(signature = (other, *, offset))]
    fn add_beside(
        &mut self,
        #[pyo3(from_py_with = arg::other)] other: &Bound<'_, Replay>,
        offset: Input,
    ) -> PyResult<()> {
        let other = other.try_borrow()?.inner.clone();
        self.inner = self.inner.clone().with_companion(other, three("offset", offset)?);
        Ok(())
    }

    /// Adds a configuration, without contacts.
    ///
    /// q (nq,); time (s), default: one frame after the last one.
    #[pyo3(signature = (q, *, time=None))]
    fn record_state(&mut self, q: Input, #[pyo3(from_py_with = arg::time)] time: Option<f64>) -> Result<(), Failure> {
        let time = time.unwrap_or_else(|| self.last.map_or(0.0, |last| last + self.interval));
        self.inner.record_configuration(&vector("q", q)?, time)?;
        self.last = Some(time);
        Ok(())
    }

    /// Adds the state at the end of a step, with the contacts of the step.
    ///
    /// step: Step of a Simulator of this model. gradients: dict of names to the gradient of a number (such as a loss) with respect
    /// to what acts in this step: a Gradient of Step.vjp, whose parameters may have "friction", or an array (nv,) by tau. With
    /// gradient_of(), perturb() or gradients the step must be the Simulator's last one, else StaleStep is raised.
    #[pyo3(signature = (step, *, gradients=None))]
    fn record(
        &mut self,
        py: Python<'_>,
        #[pyo3(from_py_with = arg::step)] step: &Step,
        #[pyo3(from_py_with = arg::gradients)] gradients: Option<&Bound<'_, PyDict>>,
    ) -> Result<(), Failure> {
        let (model, x) = (step.model(), step.next(py)?);
        if !model.shares_structure(self.inner.model()) {
            return Err(InputError::WrongModel { what: "replay", got: model.name().into() }.into());
        }
        let given = given::gradients(gradients, None, model.nv())?;
        let inner = &mut self.inner;
        let mut start = Vec::new();
        let recorded = step.resume_step(|step| {
            start.extend_from_slice(step.start().0);
            Ok::<_, Failure>(inner.record(step, &x)?)
        });
        match recorded {
            Err(Failure::Stale) if !self.differentiates && given.is_empty() => {
                self.inner.set_mocap(step.mocap())?;
                self.inner.record_contacts(&x, step.views().iter().copied(), model.options().dt)?;
            }
            done => done?,
        }
        self.last = Some(x.time);
        given.iter().try_for_each(|g| Ok(self.inner.attach_gradient(&g.name, "", &start, g.of_step(0))?))
    }

    /// Adds all states of a Trajectory, with contacts if it has them.
    ///
    /// gradients: dict of names to the gradient of a number with respect to what acts in each step: a Gradient of a rollout
    /// (tau (steps, nv); parameters may have "friction"), or an array (steps, nv). changes: dict of names to changes of
    /// its configurations (states, nv), tangents, such as those of a jvp: each is shown as a ghost.
    #[pyo3(signature = (trajectory, *, gradients=None, changes=None))]
    fn record_trajectory(
        &mut self,
        #[pyo3(from_py_with = arg::trajectory)] trajectory: &Trajectory,
        #[pyo3(from_py_with = arg::gradients)] gradients: Option<&Bound<'_, PyDict>>,
        #[pyo3(from_py_with = arg::changes)] changes: Option<&Bound<'_, PyDict>>,
    ) -> Result<(), Failure> {
        let t = trajectory.recorded();
        let [nq, nv, _] = t.sizes;
        let given = given::gradients(gradients, Some(t.steps()), nv)?;
        let changes = given::changes(changes, t.states(), nv)?;
        for k in 0..t.states() {
            self.inner.record_state_of(t, k)?;
            if let Some(step) = k.checked_sub(1) {
                let start = &t.q[nq * step..nq * (step + 1)];
                given.iter().try_for_each(|g| self.inner.attach_gradient(&g.name, "", start, g.of_step(step)))?;
            }
            let q = &t.q[nq * k..nq * (k + 1)];
            changes.iter().try_for_each(|(name, dq)| self.inner.attach_change(name, q, &dq[nv * k..nv * (k + 1)]))?;
        }
        self.last = t.time.last().copied().or(self.last);
        Ok(())
    }

    /// What the page does not show: parts of the model's look, with file and reason, and gradients that do not exist (list of
    /// str); the page shows it, too.
    #[getter]
    fn warnings(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.inner.warnings())
    }

    /// The page (str).
    fn html(&self) -> Result<String, Failure> {
        Ok(self.inner.to_html()?)
    }

    /// Writes the page into a file.
    fn save(&self, py: Python<'_>, #[pyo3(from_py_with = arg::path)] path: PathBuf) -> Result<(), Failure> {
        Ok(py.detach(|| self.inner.save(path))?)
    }

    /// Shows it: inline in a notebook, else in the browser, as a temporary file whose path is returned (str, None in a notebook).
    fn show<'py>(slf: &Bound<'py, Replay>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("slipstick._show")?.call_method1("show", (slf,))
    }

    fn _repr_html_(&self) -> Result<String, Failure> {
        let page = self.html()?.replace('&', "&amp;").replace('"', "&quot;");
        Ok(format!(
            "<iframe srcdoc=\"{page}\" style=\"width: 100%; height: 520px; border: 0\" sandbox=\"allow-scripts allow-downloads\" \
             allowfullscreen></iframe>"
        ))
    }

    fn __len__(&self) -> usize {
        self.inner.frames()
    }

    fn __repr__(&self) -> String {
        format!("<slipstick.Replay of '{}': {} frames>", self.inner.model().name(), self.inner.frames())
    }
}

impl Replay {
    /// All of a trajectory.
    pub fn of(
        t: &slipstick::Trajectory,
        model: &slipstick::Model,
        title: Option<String>,
        rate: f64,
    ) -> Result<Replay, Failure> {
        let mut inner = slipstick_view::Replay::new(model).with_frame_rate(rate)?;
        if let Some(title) = title {
            inner = inner.with_title(title);
        }
        inner.record_trajectory(t)?;
        Ok(Replay { inner, last: t.time.last().copied(), interval: 1.0 / rate, differentiates: false })
    }
}

fn three(what: &'static str, x: Input) -> PyResult<Vec3> {
    let (numbers, _) = shaped_array(what, x, "(3,)", |shape| shape == [3])?;
    match numbers.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(PyValueError::new_err(format!("{what}[{index}] is not a finite number"))),
        None => Ok(Vec3::from_slice(&numbers)),
    }
}

/// "x", "y", "z" or three numbers.
fn direction(axis: Input) -> PyResult<Vec3> {
    let Ok(name) = axis.extract::<String>() else { return three("axis", axis) };
    let place = ["x", "y", "z"].iter().position(|word| *word == name);
    let text = || PyValueError::new_err(format!("axis: expected 'x', 'y', 'z' or three numbers, got '{name}'"));
    place.map(|k| Vec3::UNITS[k]).ok_or_else(text)
}
