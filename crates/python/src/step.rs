//! What a finished step shows: the next state, contacts, the report of the solver.

use crate::arrays::{Matrix, Vector};
use crate::sensors::{self, Reading};
use crate::solids::kept;
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use slipstick::spatial::Vec3;
use slipstick::{GeomId, Model};

/// A finished step.
///
/// Attributes: q (nq,) and v (nv,) at its end, time (s) at its end, acceleration (nv,), which is the change of v divided
/// by dt, contacts (list of ContactView: every pair of shapes nearer than the contact distance at its beginning), report
/// (SolveReport), sensors (dict of name to array: readings at its beginning, accelerations and forces those of the step).
#[pyclass(frozen, module = "slipstick")]
pub struct Step {
    #[pyo3(get)]
    q: Py<PyArray1<f64>>,
    #[pyo3(get)]
    v: Py<PyArray1<f64>>,
    #[pyo3(get)]
    time: f64,
    #[pyo3(get)]
    acceleration: Py<PyArray1<f64>>,
    report: slipstick::SolveReport,
    model: Model,
    contacts: Vec<slipstick::ContactView>,
    sensors: Vec<Reading>,
}

/// What `Simulator.step` takes out of the memory of a step.
pub struct Finished {
    pub next: slipstick::State,
    pub acceleration: Vec<f64>,
    pub report: slipstick::SolveReport,
    pub contacts: Vec<slipstick::ContactView>,
    pub sensors: Vec<Reading>,
}

impl Step {
    pub fn new(py: Python<'_>, model: &Model, done: Finished) -> Step {
        let kept = |x: Vec<f64>| x.into_pyarray(py).unbind();
        Step {
            q: kept(done.next.q),
            v: kept(done.next.v),
            time: done.next.time,
            acceleration: kept(done.acceleration),
            report: done.report,
            model: model.clone(),
            contacts: done.contacts,
            sensors: done.sensors,
        }
    }
}

#[pymethods]
impl Step {
    /// Contacts, by rising numbers of their pairs (list of ContactView).
    #[getter]
    fn contacts(&self) -> Vec<ContactView> {
        self.contacts.iter().map(|c| ContactView { view: *c, model: self.model.clone() }).collect()
    }

    /// How contact was solved (SolveReport).
    #[getter]
    fn report(&self) -> SolveReport {
        SolveReport::from(&self.report)
    }

    /// Readings of the model's sensors (dict of name to array). Sensors without a name go by their number; those that
    /// cannot be read are left out.
    #[getter]
    fn sensors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        sensors::to_dict(py, &self.sensors, None)
    }

    fn __repr__(&self) -> String {
        let (time, n, status) = (self.time, self.contacts.len(), self.report.status.name());
        format!("<slipstick.Step: time={time}, {n} contacts, {status}>")
    }
}

/// A contact of a finished step. Place and distance belong to its beginning, force and velocity to its end.
///
/// Attributes: geoms (two names, may be empty), geom_numbers (two ints), bodies (two names), point (3,) (m), normal (3,)
/// from the first shape to the second, frame (3, 3) with two tangents and the normal as columns, distance (float, m;
/// negative when they overlap), feature (int: the same while the same features touch), friction (float, Coulomb's
/// coefficient), impulse (3,) [N·s] and force (3,) (N) on the second body, velocity (3,) [m/s] of the second body against
/// the first, mode ("break", "stick" or "slide"), margin (float, m/s: the change of velocity that would change the mode).
/// Point, normal, impulse and force have world axes; velocity is along the columns of frame.
#[pyclass(frozen, module = "slipstick")]
pub struct ContactView {
    view: slipstick::ContactView,
    model: Model,
}

#[pymethods]
impl ContactView {
    #[getter]
    fn geoms(&self) -> (&str, &str) {
        let name = |id: GeomId| self.model.geoms()[id.0].name.as_str();
        (name(self.view.geoms[0]), name(self.view.geoms[1]))
    }

    #[getter]
    fn geom_numbers(&self) -> (usize, usize) {
        (self.view.geoms[0].0, self.view.geoms[1].0)
    }

    #[getter]
    fn bodies(&self) -> (&str, &str) {
        let [a, b] = self.view.bodies.map(|id| self.model.bodies()[id.0].name.as_str());
        (a, b)
    }

    #[getter]
    fn point(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        kept(py, self.view.point)
    }

    #[getter]
    fn normal<'py>(&self, py: Python<'py>) -> Vector<'py> {
        PyArray1::from_slice(py, &[0, 1, 2].map(|i| self.view.frame.at(i, 2)))
    }

    #[getter]
    fn frame<'py>(&self, py: Python<'py>) -> Matrix<'py> {
        Array2::from_shape_fn((3, 3), |(i, j)| self.view.frame.at(i, j)).into_pyarray(py)
    }

    #[getter]
    fn distance(&self) -> f64 {
        self.view.distance
    }

    #[getter]
    fn feature(&self) -> u64 {
        self.view.feature
    }

    #[getter]
    fn friction(&self) -> f64 {
        self.view.friction
    }

    #[getter]
    fn impulse(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        kept(py, self.view.impulse)
    }

    #[getter]
    fn force(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        let dt = self.model.options().dt;
        let Vec3 { x, y, z } = self.view.impulse;
        kept(py, Vec3 { x: x / dt, y: y / dt, z: z / dt })
    }

    #[getter]
    fn velocity(&self, py: Python<'_>) -> Py<PyArray1<f64>> {
        kept(py, self.view.velocity)
    }

    #[getter]
    fn mode(&self) -> &'static str {
        self.view.mode.name()
    }

    #[getter]
    fn margin(&self) -> f64 {
        self.view.margin
    }

    fn __repr__(&self) -> String {
        let ((a, b), (i, j), mode) = (self.geoms(), self.geom_numbers(), self.mode());
        let distance = self.view.distance;
        format!("<slipstick.ContactView of '{a}' ({i}) and '{b}' ({j}): {mode}, distance={distance}>")
    }
}

/// How the contacts of a step were solved.
///
/// Attributes: status ("converged"; "correction_dropped": converged, after position correction and restitution, which
/// contradicted each other, were left out; "not_converged": the best iterate), stage (the solver that found the answer:
/// "empty", "newton", "interior_point", "polish", "admm" or "pgs"), iterations (int), residual (float, scaled),
/// compliance_shift (float, m/s: how far compliance moves velocities from those of rigid contacts), contacts (int: in the
/// problem), rows (int), degenerate (int: constraints about to change their mode), margin (float, m/s: the smallest one).
#[pyclass(frozen, get_all, module = "slipstick")]
pub struct SolveReport {
    status: &'static str,
    stage: &'static str,
    iterations: u32,
    residual: f64,
    compliance_shift: f64,
    contacts: usize,
    rows: usize,
    degenerate: usize,
    margin: f64,
}

impl From<&slipstick::SolveReport> for SolveReport {
    fn from(r: &slipstick::SolveReport) -> SolveReport {
        SolveReport {
            status: r.status.name(),
            stage: r.stage.name(),
            iterations: r.iterations,
            residual: r.residual,
            compliance_shift: r.compliance_shift,
            contacts: r.contacts,
            rows: r.rows,
            degenerate: r.degenerate,
            margin: r.margin,
        }
    }
}

#[pymethods]
impl SolveReport {
    fn __repr__(&self) -> String {
        let SolveReport { status, stage, iterations, residual, contacts, .. } = self;
        format!(
            "<slipstick.SolveReport: {status} by {stage}, {contacts} contacts, {iterations} iterations, \
             residual={residual:e}>"
        )
    }
}
