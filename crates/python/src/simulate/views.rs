//! Contacts, constraints and the solver's report of a finished step.

use crate::arrays::{Matrix, Vector};
use crate::collision::solids::kept;
use crate::ncp::stages;
use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use slipstick::Model;
use slipstick::model::GeomId;
use slipstick::spatial::Vec3;
use std::collections::BTreeMap;

/// A contact of a finished step. Place and distance belong to its beginning, force and velocity to its end.
///
/// Attributes: geoms (two names, may be empty), geom_numbers (two ints), bodies (two names), point (3,) (m), normal (3,)
/// from the first shape to the second, frame (3, 3) with two tangents and the normal as columns, distance (float, m;
/// negative when they overlap), feature (int: the same while the same features touch), friction (float, Coulomb's
/// coefficient), compliance (float, 1/kg: of its normal, that of its surfaces and the share of points that bear a load
/// together), impulse (3,) [N·s] and force (3,) (N) on the second body, velocity (3,) [m/s] of the second body against
/// the first, mode ("break", "stick" or "slide"), margin (float, m/s: the change of velocity that would change the mode).
/// Point, normal, impulse and force have world axes; velocity is along the columns of frame.
#[pyclass(frozen, module = "slipstick.types")]
pub struct StepContact {
    pub view: slipstick::step::ContactView,
    pub model: Model,
}

#[pymethods]
impl StepContact {
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
    fn compliance(&self) -> f64 {
        self.view.compliance
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
        format!("<slipstick.types.StepContact of '{a}' ({i}) and '{b}' ({j}): {mode}, distance={distance:.3e}>")
    }
}

/// A constraint of a finished step: an equality, a limit or dry friction of a joint, a contact.
///
/// Attributes: name (str, such as "contact of 'floor' and 'foot'"), unit (str, of its force: "N" or "N·m"), mode ("break", "stick" or "slide"), impulse (3,)
/// [N·s or N·m·s] and velocity (3,) [m/s or rad/s]: of a contact along two tangents and the normal, of others their one
/// number first; opening (float, m/s or rad/s: change of velocity that would open it or, if it is open, close it),
/// slipping (likewise: that would make it slip or, if it slips, hold; inf for what cannot slip), reserve (two floats, N or
/// N·m: forces that would open it and make it slip while it holds; inf for what cannot), corner (float, m or
/// rad: distance of its gap from the next corner of the position correction), degenerate (bool: undecided between two
/// modes, so that a derivative may hold for one side only).
#[pyclass(frozen, module = "slipstick.types")]
pub struct StepConstraint(pub slipstick::step::ConstraintView);

#[pymethods]
impl StepConstraint {
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    #[getter]
    fn mode(&self) -> &'static str {
        self.0.mode.name()
    }

    #[getter]
    fn impulse<'py>(&self, py: Python<'py>) -> Vector<'py> {
        PyArray1::from_slice(py, &self.0.impulse)
    }

    #[getter]
    fn velocity<'py>(&self, py: Python<'py>) -> Vector<'py> {
        PyArray1::from_slice(py, &self.0.velocity)
    }

    #[getter]
    fn opening(&self) -> f64 {
        self.0.opening
    }

    #[getter]
    fn slipping(&self) -> f64 {
        self.0.slipping
    }

    #[getter]
    fn unit(&self) -> &'static str {
        self.0.unit
    }

    #[getter]
    fn reserve(&self) -> (f64, f64) {
        self.0.reserve.into()
    }

    #[getter]
    fn corner(&self) -> f64 {
        self.0.corner
    }

    #[getter]
    fn degenerate(&self) -> bool {
        self.0.degenerate
    }

    fn __repr__(&self) -> String {
        let (name, mode, opening, slipping) = (self.name(), self.mode(), self.0.opening, self.0.slipping);
        format!("<slipstick.types.StepConstraint: {name}: {mode}, opening={opening:.2e}, slipping={slipping:.2e}>")
    }
}

/// How the contacts of a step were solved.
///
/// Attributes: status ("converged"; "acceptable": residual at most 1e-8 at the end of the budget; "infeasible": the demands
/// contradict each other, and are violated as little as possible; "not_converged": the best iterate), stage (the solver that
/// found the answer: "empty", "newton", "proximal", "restart", "interior_point", "admm" or "pgs"), iterations (int:
/// factorizations of the island of bodies that took most), stages (dict: of each stage), total_iterations (int: of all
/// islands), residual (float, scaled; by how much demands are violated if infeasible),
/// compliance_shift (float, m/s: how far compliance moves velocities from those of rigid contacts), contacts (int: in the
/// problem), rows (int), degenerate (int: constraints about to change their mode), margin (float, m/s: the smallest one),
/// correction (float: the least share of its position correction that an island was given; less than 1 where all of it would
/// have added too much energy).
#[pyclass(frozen, get_all, module = "slipstick.types")]
pub struct SolveReport {
    status: &'static str,
    stage: &'static str,
    iterations: u32,
    stages: BTreeMap<&'static str, u32>,
    total_iterations: u32,
    residual: f64,
    compliance_shift: f64,
    contacts: usize,
    rows: usize,
    degenerate: usize,
    margin: f64,
    correction: f64,
}

impl From<&slipstick::SolveReport> for SolveReport {
    fn from(r: &slipstick::SolveReport) -> SolveReport {
        SolveReport {
            status: r.status.name(),
            stage: r.stage.name(),
            iterations: r.iterations,
            stages: stages(&r.stages),
            total_iterations: r.total_iterations,
            residual: r.residual,
            compliance_shift: r.compliance_shift,
            contacts: r.contacts,
            rows: r.rows,
            degenerate: r.degenerate,
            margin: r.margin,
            correction: r.correction,
        }
    }
}

#[pymethods]
impl SolveReport {
    fn __repr__(&self) -> String {
        let SolveReport { status, stage, iterations, residual, contacts, .. } = self;
        format!(
            "<slipstick.types.SolveReport: {status} by {stage}, {contacts} contacts, {iterations} iterations, \
             residual={residual:e}>"
        )
    }
}
