//! The bare contact problem, without a robot: a Delassus matrix, a free velocity and coefficients of friction.

use crate::arrays::{Input, matrix, optional_vector, vector, wrong_shape};
use crate::errors::Failure;
use crate::options::{count, solver as named};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use slipstick::InputError;
use slipstick::constraint::{self, Problem};

/// Impulses that solve a contact problem.
///
/// Attributes: impulse (3n,) [N·s], velocity (3n,) [m/s], residual (float, scaled), modes (list of "break", "stick" or
/// "slide", one per contact), iterations (int), status ("converged" or "not_converged": the best iterate), stage (the
/// solver that found the answer). Rows of a contact are two tangents and the normal.
#[pyclass(frozen, get_all, module = "slipstick.ncp")]
pub struct Solution {
    impulse: Py<PyArray1<f64>>,
    velocity: Py<PyArray1<f64>>,
    residual: f64,
    modes: Vec<&'static str>,
    iterations: u32,
    status: &'static str,
    stage: &'static str,
}

#[pymethods]
impl Solution {
    fn __repr__(&self) -> String {
        let Solution { status, stage, iterations, residual, modes, .. } = self;
        format!(
            "<slipstick.ncp.Solution: {status} by {stage}, {} contacts, {iterations} iterations, residual={residual:e}>",
            modes.len()
        )
    }
}

fn problem(G: Input, g: Input, mu: Input) -> Result<Problem, Failure> {
    let ((G, shape), g, mu) = (matrix("G", G)?, vector("g", g)?, vector("mu", mu)?);
    let rows = 3 * mu.len();
    if shape != [rows, rows] {
        let expected = format!("({rows}, {rows}), three rows for each number of mu");
        return Err(wrong_shape("G", &expected, &shape).into());
    }
    Ok(Problem::bare(&G, &g, &mu)?)
}

/// Solves a contact problem: impulses in the friction cone, perpendicular to the velocities they lead to, which are
/// corrected by De Saxcé's term; Coulomb's law without relaxation.
///
/// G (3n, 3n): inverse inertia seen by the contacts, symmetric and positive semidefinite; g (3n,): their velocity without
/// impulses; mu (n,): coefficients of friction. Rows of a contact are two tangents and the normal. solver: "auto",
/// "interior-point", "admm" or "pgs"; tolerance: scaled residual at which it stops; max_iterations of a solver; warm
/// (3n,): impulses to start from. Returns a Solution.
#[pyfunction]
#[pyo3(signature = (G, g, mu, *, solver="auto", tolerance=1e-10, max_iterations=1000, warm=None))]
pub fn ncp_solve(
    py: Python<'_>,
    G: Input,
    g: Input,
    mu: Input,
    solver: &str,
    tolerance: f64,
    max_iterations: i64,
    warm: Option<Input>,
) -> Result<Solution, Failure> {
    let (problem, solver, warm) = (problem(G, g, mu)?, named(solver)?, optional_vector("warm", warm)?);
    let limit = count("max_iterations", max_iterations)?;
    if !(tolerance > 0.0 && tolerance.is_finite()) {
        let (what, expected) = ("tolerance".into(), "a positive residual");
        return Err(InputError::Value { what, expected, got: tolerance }.into());
    }
    let mut solution = constraint::Solution::default();
    let report = py.detach(|| constraint::solve(&problem, solver, tolerance, limit, warm.as_deref(), &mut solution))?;
    Ok(Solution {
        impulse: solution.lambda().to_vec().into_pyarray(py).unbind(),
        velocity: solution.sigma().to_vec().into_pyarray(py).unbind(),
        residual: report.residual,
        modes: solution.modes().iter().map(|(mode, _)| mode.name()).collect(),
        iterations: report.iterations,
        status: report.status.name(),
        stage: report.stage.name(),
    })
}

/// How far impulses are from solving a contact problem.
///
/// G (3n, 3n), g (3n,), mu (n,) as in solve; impulse (3n,). Returns a float: the largest change, in units of velocity,
/// that a projected step along the corrected velocity makes to the impulse of a contact, divided by the larger of 1 m/s
/// and the largest entry of g. It is zero for solutions and for nothing else.
#[pyfunction]
pub fn ncp_residual(G: Input, g: Input, mu: Input, impulse: Input) -> Result<f64, Failure> {
    let (problem, impulse) = (problem(G, g, mu)?, vector("impulse", impulse)?);
    let (what, expected, got) = ("impulse", problem.rows(), impulse.len());
    if got != expected {
        return Err(InputError::Length { what, expected, got }.into());
    }
    if let Some(index) = impulse.iter().position(|x| !x.is_finite()) {
        return Err(InputError::NotFinite { what, index }.into());
    }
    Ok(constraint::residual(&problem, &impulse)?)
}
