//! `Simulator.rollout`: many steps, and the trajectory they leave.

use crate::arguments::arg;
use crate::arrays::{Input, array, to_matrix, vector, wrong_shape};
use crate::errors::Failure;
use crate::replay::Replay;
use crate::simulate::views::StepContact;
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use slipstick::files::{SaveError, TrajectoryFormat};
use slipstick::{InputError, Model, State};
use std::path::PathBuf;

/// A motion: the states of a rollout and what its steps report.
///
/// Attributes, for n steps: time (n + 1,) (s), q (n + 1, nq), v (n + 1, nv), act (n + 1, na): states, the first one included; ctrl (n, nu)
/// and tau (n, nv): what acted during each step (zeros where nothing was given); contacts (n,) int64: contacts in the
/// problem of each step; penetration (n,) (m): the deepest overlap at its beginning; residual (n,), compliance_shift (n,)
/// [m/s], iterations (n,) int64, status and stage (lists of str): from its report; sensors (dict of name to (n, size)).
/// It has contacts_of(step), which a Replay of it shows, unless it was made with contacts=False. show() plays it.
#[pyclass(frozen, module = "slipstick")]
pub struct Trajectory {
    #[pyo3(get)]
    time: Py<PyArray1<f64>>,
    #[pyo3(get)]
    q: Py<PyArray2<f64>>,
    #[pyo3(get)]
    v: Py<PyArray2<f64>>,
    #[pyo3(get)]
    act: Py<PyArray2<f64>>,
    #[pyo3(get)]
    ctrl: Py<PyArray2<f64>>,
    #[pyo3(get)]
    tau: Py<PyArray2<f64>>,
    #[pyo3(get)]
    contacts: Py<PyArray1<i64>>,
    #[pyo3(get)]
    penetration: Py<PyArray1<f64>>,
    #[pyo3(get)]
    residual: Py<PyArray1<f64>>,
    #[pyo3(get)]
    compliance_shift: Py<PyArray1<f64>>,
    #[pyo3(get)]
    iterations: Py<PyArray1<i64>>,
    /// Fraction of its position correction that each step was given (steps,).
    #[pyo3(get)]
    correction: Py<PyArray1<f64>>,
    #[pyo3(get)]
    status: Vec<&'static str>,
    #[pyo3(get)]
    stage: Vec<&'static str>,
    #[pyo3(get)]
    sensors: Py<PyDict>,
    recorded: slipstick::Trajectory,
    model: Model,
}

impl Trajectory {
    pub fn new(py: Python<'_>, model: &Model, t: slipstick::Trajectory, sensors: Py<PyDict>) -> PyResult<Trajectory> {
        let ([nq, nv, nu], n) = (t.sizes, t.steps());
        let numbers = |x: &[f64]| PyArray1::from_slice(py, x).unbind();
        let rows =
            |rows: usize, width: usize, x: &[f64]| Ok::<_, PyErr>(to_matrix(py, rows, width, x.to_vec())?.unbind());
        Ok(Trajectory {
            time: numbers(&t.time),
            q: rows(n + 1, nq, &t.q)?,
            v: rows(n + 1, nv, &t.v)?,
            act: rows(n + 1, t.na(), &t.act)?,
            ctrl: rows(n, nu, &t.ctrl)?,
            tau: rows(n, nv, &t.tau)?,
            contacts: PyArray1::from_iter(py, t.contacts.iter().map(|n| *n as i64)).unbind(),
            penetration: numbers(&t.penetration),
            residual: numbers(&t.residual),
            compliance_shift: numbers(&t.compliance_shift),
            iterations: PyArray1::from_iter(py, t.iterations.iter().map(|n| i64::from(*n))).unbind(),
            correction: numbers(&t.correction),
            status: t.status.iter().map(|s| s.name()).collect(),
            stage: t.stage.iter().map(|s| s.name()).collect(),
            sensors,
            recorded: t,
            model: model.clone(),
        })
    }

    pub fn recorded(&self) -> &slipstick::Trajectory {
        &self.recorded
    }
}

#[pymethods]
impl Trajectory {
    /// Steps that did not converge (int).
    #[getter]
    fn not_converged(&self) -> usize {
        self.recorded.not_converged()
    }

    /// Steps that were given less than their whole position correction (int).
    #[getter]
    fn reduced_corrections(&self) -> usize {
        self.recorded.reduced_corrections()
    }

    /// Contacts of a step (list of StepContact). Rollouts of a Simulator keep them unless told contacts=False.
    fn contacts_of(&self, #[pyo3(from_py_with = arg::step)] step: i64) -> Result<Vec<StepContact>, Failure> {
        let number = usize::try_from(step).unwrap_or(usize::MAX);
        let Some(views) = self.recorded.contacts_of(number) else {
            let steps = self.recorded.steps();
            let text = match number < steps {
                true => "this trajectory has no contacts: Simulator.rollout(…, contacts=True)".to_string(),
                false => format!("step: expected a number from 0 to less than {steps}, got {step}"),
            };
            return Err(PyValueError::new_err(text).into());
        };
        let model = &self.model;
        Ok(views.iter().map(|view| StepContact { view: *view, model: model.clone() }).collect())
    }

    /// Reads a ".npz" file that save() wrote, with the Model that it was recorded with, or one of the same structure. It has the contacts if they were
    /// kept, and no sensors. Raises ValueError, with the entry of the file, if file and model do not fit.
    #[staticmethod]
    fn load(
        py: Python<'_>,
        #[pyo3(from_py_with = arg::path)] path: PathBuf,
        #[pyo3(from_py_with = arg::model)] model: &crate::model::Model,
    ) -> Result<Trajectory, Failure> {
        let loaded = py.detach(|| slipstick::Trajectory::load(path, &model.inner))?;
        Ok(Trajectory::new(py, &model.inner, loaded, PyDict::new(py).unbind())?)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> Result<(Bound<'py, PyAny>, Saved<'py>), Failure> {
        let mut file = Vec::new();
        let io = |error| SaveError::Io { path: "npz".into(), error };
        self.recorded.write(TrajectoryFormat::Npz, &mut file).map_err(io)?;
        let model = Bound::new(py, crate::model::Model::new(self.model.clone()))?;
        let restore = py.import("slipstick._native")?.getattr("_restore_trajectory")?;
        Ok((restore, (model, PyBytes::new(py, &file), self.sensors.clone_ref(py))))
    }

    /// A Replay of it: title (str), default the model's name; frame_rate: frames per second of simulated time.
    #[pyo3(signature = (*, title=None, frame_rate=60.0))]
    fn replay(
        &self,
        #[pyo3(from_py_with = arg::title)] title: Option<String>,
        #[pyo3(from_py_with = arg::frame_rate)] frame_rate: f64,
    ) -> Result<Replay, Failure> {
        Replay::of(&self.recorded, &self.model, title, frame_rate)
    }

    /// Shows it: inline in a notebook, else in the browser, as a temporary file whose path is returned (str, None in a notebook).
    #[pyo3(signature = (*, title=None, frame_rate=60.0))]
    fn show(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arg::title)] title: Option<String>,
        #[pyo3(from_py_with = arg::frame_rate)] frame_rate: f64,
    ) -> Result<Py<PyAny>, Failure> {
        let replay = Bound::new(py, self.replay(title, frame_rate)?)?;
        Ok(replay.call_method0("show")?.unbind())
    }

    /// Writes it, without sensors, into a file whose name ends in ".npz" (for numpy.load and Trajectory.load), ".csv" or ".json".
    fn save(&self, py: Python<'_>, #[pyo3(from_py_with = arg::path)] path: PathBuf) -> Result<(), Failure> {
        Ok(py.detach(|| self.recorded.save(path))?)
    }

    fn __len__(&self) -> usize {
        self.status.len()
    }

    fn __repr__(&self) -> String {
        let mut text = format!("<slipstick.Trajectory of '{}': {} steps", self.recorded.model, self.status.len());
        for (count, what) in
            [(self.not_converged(), "not converged"), (self.reduced_corrections(), "with a reduced correction")]
        {
            if count > 0 {
                text += &format!(", {count} {what}");
            }
        }
        text + ">"
    }
}

/// What a pickle holds: model, npz file, sensors.
type Saved<'py> = (Bound<'py, crate::model::Model>, Bound<'py, PyBytes>, Py<PyDict>);

/// The trajectory that was pickled.
#[pyfunction]
#[pyo3(name = "_restore_trajectory")]
pub fn restore(
    py: Python<'_>,
    model: &crate::model::Model,
    file: &[u8],
    sensors: Bound<'_, PyDict>,
) -> Result<Trajectory, Failure> {
    let loaded = slipstick::Trajectory::from_npz(file, &model.inner)?;
    Ok(Trajectory::new(py, &model.inner, loaded, sensors.unbind())?)
}

/// Where the controls or forces of each step come from.
pub enum Drive {
    /// Nowhere.
    None,
    /// Constant over the steps.
    Constant(Vec<f64>),
    /// A row for each step.
    Rows(Vec<f64>),
    /// A function of time, q and v.
    Function(Py<PyAny>),
}

impl Drive {
    /// Nothing, (width,), (steps, width) or a function.
    pub fn new(what: &'static str, x: Option<Input>, steps: usize, width: usize) -> Result<Drive, Failure> {
        let Some(x) = x else { return Ok(Drive::None) };
        if x.is_callable() {
            return Ok(Drive::Function(x.clone().unbind()));
        }
        let (numbers, shape) = array(what, x)?;
        if let Some(index) = numbers.iter().position(|x| !x.is_finite()) {
            return Err(InputError::NotFinite { what, index }.into());
        }
        match *shape {
            [n] if n == width => Ok(Drive::Constant(numbers)),
            [n, m] if (n, m) == (steps, width) => Ok(Drive::Rows(numbers)),
            _ => Err(wrong_shape(what, &format!("({width},), ({steps}, {width}) or a function"), &shape).into()),
        }
    }

    pub fn is_none(&self) -> bool {
        matches!(self, Drive::None)
    }

    /// Writes what acts in step k, which begins at x; nothing leaves zeros.
    pub fn fill(&self, what: &'static str, k: usize, x: &State, out: &mut [f64]) -> Result<(), Failure> {
        let width = out.len();
        match self {
            Drive::None => {}
            Drive::Constant(numbers) => out.copy_from_slice(numbers),
            Drive::Rows(numbers) => out.copy_from_slice(&numbers[k * width..(k + 1) * width]),
            Drive::Function(f) => {
                let numbers = Python::attach(|py| asked(py, f, what, x))?;
                if numbers.len() != width {
                    return Err(InputError::Length { what, expected: width, got: numbers.len() }.into());
                }
                out.copy_from_slice(&numbers);
            }
        }
        Ok(())
    }
}

fn asked(py: Python<'_>, f: &Py<PyAny>, what: &'static str, x: &State) -> PyResult<Vec<f64>> {
    let (q, v) = (PyArray1::from_slice(py, &x.q), PyArray1::from_slice(py, &x.v));
    vector(what, f.bind(py).call1((x.time, q, v))?.as_any())
}
