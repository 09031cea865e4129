//! `Replay`: a motion as a page that plays it.

use crate::arguments::arg;
use crate::arrays::{Input, vector};
use crate::errors::Failure;
use crate::model::Model;
use crate::simulate::step::Step;
use crate::simulate::trajectory::Trajectory;
use pyo3::prelude::*;
use slipstick::{InputError, State};
use std::path::PathBuf;

/// A motion to be looked at: one HTML page that plays it in a browser, from disk and without a network.
///
/// model: Model; title: str, default the model's name; frame_rate: frames per second of simulated time, states between
/// them are left out. States come in the order of time; a time before the last one begins another motion, which is shown
/// after it, and steps that all begin at time zero follow each other. In a notebook a Replay shows itself.
#[pyclass(module = "slipstick")]
pub struct Replay {
    inner: slipstick_view::Replay,
    /// Time of the last state (s), and that from one frame to the next.
    last: Option<f64>,
    interval: f64,
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
        Ok(Replay { inner, last: None, interval: 1.0 / frame_rate })
    }

    /// Adds a configuration, without contacts.
    ///
    /// q (nq,); time (s), default: one frame after the last one.
    #[pyo3(signature = (q, *, time=None))]
    fn record_state(&mut self, q: Input, #[pyo3(from_py_with = arg::time)] time: Option<f64>) -> Result<(), Failure> {
        let model = self.inner.model();
        let mut x = State::new(model, &vector("q", q)?, &vec![0.0; model.nv()])?;
        x.time = time.unwrap_or_else(|| self.last.map_or(0.0, |last| last + self.interval));
        self.inner.record_state(&x)?;
        self.last = Some(x.time);
        Ok(())
    }

    /// Adds the state at the end of a step, with the contacts of the step.
    ///
    /// step: Step of a Simulator of this model.
    fn record(&mut self, py: Python<'_>, #[pyo3(from_py_with = arg::step)] step: &Step) -> Result<(), Failure> {
        let (model, x) = (step.model(), step.next(py)?);
        if !model.shares_structure(self.inner.model()) {
            return Err(InputError::WrongModel { what: "replay", got: model.name().into() }.into());
        }
        self.inner.set_mocap(step.mocap())?;
        self.inner.record_contacts(&x, step.views().iter().copied(), model.options().dt)?;
        self.last = Some(x.time);
        Ok(())
    }

    /// Adds all states of a Trajectory, without contacts.
    fn record_trajectory(
        &mut self,
        #[pyo3(from_py_with = arg::trajectory)] trajectory: &Trajectory,
    ) -> Result<(), Failure> {
        self.inner.record_trajectory(trajectory.recorded())?;
        self.last = trajectory.recorded().time.last().copied().or(self.last);
        Ok(())
    }

    /// The page (str).
    fn html(&self) -> Result<String, Failure> {
        Ok(self.inner.to_html()?)
    }

    /// Writes the page into a file.
    fn save(&self, py: Python<'_>, #[pyo3(from_py_with = arg::path)] path: PathBuf) -> Result<(), Failure> {
        Ok(py.detach(|| self.inner.save(path))?)
    }

    fn _repr_html_(&self) -> Result<String, Failure> {
        let page = self.html()?.replace('&', "&amp;").replace('"', "&quot;");
        Ok(format!(
            "<iframe srcdoc=\"{page}\" style=\"width: 100%; height: 480px; border: 0\" sandbox=\"allow-scripts\"></iframe>"
        ))
    }

    fn __len__(&self) -> usize {
        self.inner.frames()
    }

    fn __repr__(&self) -> String {
        format!("<slipstick.Replay of '{}': {} frames>", self.inner.model().name(), self.inner.frames())
    }
}
