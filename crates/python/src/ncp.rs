//! The bare contact problem, without a robot: a Delassus matrix, a free velocity and the laws of its constraints.

use crate::arrays::{Input, matrix, optional_vector, vector, wrong_shape};
use crate::errors::Failure;
use crate::options::{count, solver as named};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use slipstick::InputError;
use slipstick::constraint::{self, Cone, Problem};
use std::collections::BTreeMap;

/// Impulses that solve a contact problem.
///
/// Attributes: impulse (rows,) [N·s], velocity (rows,) [m/s], residual (float, scaled), modes (list of "break", "stick" or
/// "slide", one per constraint), status ("converged"; "acceptable": residual at most 1e-8 at the end of the budget;
/// "infeasible": the demands contradict each other, and the impulses violate them as little as possible; "not_converged": the
/// best iterate), stage (the solver that found the answer: "newton", "proximal", "restart", "admm" or "pgs"), iterations
/// (int: factorizations), stages (dict: factorizations of each stage). Rows of a contact are two tangents and the normal.
#[pyclass(frozen, get_all, module = "slipstick.ncp")]
pub struct Solution {
    impulse: Py<PyArray1<f64>>,
    velocity: Py<PyArray1<f64>>,
    residual: f64,
    modes: Vec<&'static str>,
    iterations: u32,
    stages: BTreeMap<&'static str, u32>,
    status: &'static str,
    stage: &'static str,
}

#[pymethods]
impl Solution {
    fn __repr__(&self) -> String {
        let Solution { status, stage, iterations, residual, modes, .. } = self;
        format!(
            "<slipstick.ncp.Solution: {status} by {stage}, {} constraints, {iterations} iterations, residual={residual:e}>",
            modes.len()
        )
    }
}

/// Iterations by the names of their stages.
pub fn stages(iterations: &constraint::Iterations) -> BTreeMap<&'static str, u32> {
    let constraint::Iterations { newton, proximal, restart, other, .. } = *iterations;
    BTreeMap::from([("newton", newton), ("proximal", proximal), ("restart", restart), ("other", other)])
}

/// The law of a constraint: ("contact", mu), "one_sided", ("box", bound) or "bilateral".
#[derive(FromPyObject)]
pub enum Law {
    Numbered(String, f64),
    Named(String),
}

impl Law {
    fn cone(&self, k: usize) -> Result<Cone, Failure> {
        let (name, number) = match self {
            Law::Numbered(name, x) => (name.as_str(), Some(*x)),
            Law::Named(name) => (name.as_str(), None),
        };
        match (name, number) {
            ("contact", Some(mu)) => Ok(Cone::Friction { mu }),
            ("box", Some(bound)) => Ok(Cone::Box { bound }),
            ("one_sided", None) => Ok(Cone::Unilateral),
            ("bilateral", None) => Ok(Cone::Bilateral),
            _ => {
                let expected = "('contact', mu), 'one_sided', ('box', bound) or 'bilateral'";
                let got = number.map_or(format!("'{name}'"), |x| format!("('{name}', {x})"));
                Err(PyValueError::new_err(format!("cones[{k}]: expected {expected}, got {got}")).into())
            }
        }
    }
}

fn problem(
    G: Input,
    g: Input,
    mu: Option<Input>,
    cones: Option<Vec<Law>>,
    compliance: Option<Input>,
) -> Result<Problem, Failure> {
    let ((G, shape), g, mu) = (matrix("G", G)?, vector("g", g)?, optional_vector("mu", mu)?);
    let cones: Vec<Cone> = match (mu, cones) {
        (Some(mu), None) => {
            if let Some(index) = mu.iter().position(|m| !m.is_finite()) {
                return Err(InputError::NotFinite { what: "mu", index }.into());
            }
            mu.iter().map(|mu| Cone::Friction { mu: *mu }).collect()
        }
        (None, Some(cones)) => cones.iter().enumerate().map(|(k, law)| law.cone(k)).collect::<Result<_, _>>()?,
        _ => {
            let message = "expected either mu (contacts only) or cones (any constraints)";
            return Err(PyValueError::new_err(message).into());
        }
    };
    let rows: usize = cones.iter().map(|c| c.rows()).sum();
    if shape != [rows, rows] {
        let expected = format!("({rows}, {rows}): three rows for each contact, one for any other constraint");
        return Err(wrong_shape("G", &expected, &shape).into());
    }
    let compliance = optional_vector("compliance", compliance)?.unwrap_or_else(|| vec![0.0; cones.len()]);
    Ok(Problem::new(&cones, &G, &g, &compliance)?)
}

/// Solves a contact problem: impulses in the friction cone, perpendicular to the velocities they lead to, which are
/// corrected by De Saxcé's term; Coulomb's law without relaxation.
///
/// G (rows, rows): inverse inertia seen by the constraints, symmetric and positive semidefinite; g (rows,): their velocity
/// without impulses. mu (n,): coefficients of friction, for contacts only, whose rows are two tangents and the normal. Or
/// cones: a list with ("contact", mu), "one_sided" (a limit: pushes only), ("box", bound) (dry friction) or "bilateral" for
/// each constraint; all but contacts have one row. compliance (n,) [1/kg]: of the last row of each. solver: "auto", "cold"
/// (hard problems from zero impulses), "admm" or "pgs"; tolerance: scaled residual at which it stops; max_iterations: budget
/// of factorizations (sweeps, for "pgs"); warm (rows,): impulses to start from. Returns a Solution.
#[pyfunction]
#[pyo3(signature = (G, g, mu=None, *, cones=None, compliance=None, solver="auto", tolerance=1e-10, max_iterations=170,
    warm=None))]
pub fn ncp_solve(
    py: Python<'_>,
    G: Input,
    g: Input,
    mu: Option<Input>,
    cones: Option<Vec<Law>>,
    compliance: Option<Input>,
    solver: &str,
    tolerance: f64,
    max_iterations: i64,
    warm: Option<Input>,
) -> Result<Solution, Failure> {
    let problem = problem(G, g, mu, cones, compliance)?;
    let (solver, warm) = (named(solver)?, optional_vector("warm", warm)?);
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
        stages: stages(&report.stages),
        status: report.status.name(),
        stage: report.stage.name(),
    })
}

/// How far impulses are from solving a contact problem.
///
/// G, g, mu or cones and compliance as in solve; impulse (rows,). Returns a float: the largest change, in units of velocity,
/// that a projected step along the corrected velocity makes to the impulse of a contact, divided by the larger of 1 m/s
/// and the largest entry of g. It is zero for solutions and for nothing else.
#[pyfunction]
#[pyo3(signature = (G, g, mu=None, impulse=None, *, cones=None, compliance=None))]
pub fn ncp_residual(
    G: Input,
    g: Input,
    mu: Option<Input>,
    impulse: Option<Input>,
    cones: Option<Vec<Law>>,
    compliance: Option<Input>,
) -> Result<f64, Failure> {
    let problem = problem(G, g, mu, cones, compliance)?;
    let Some(impulse) = optional_vector("impulse", impulse)? else {
        return Err(PyValueError::new_err("impulse: expected the impulses to grade, got nothing").into());
    };
    let (what, expected, got) = ("impulse", problem.rows(), impulse.len());
    if got != expected {
        return Err(InputError::Length { what, expected, got }.into());
    }
    if let Some(index) = impulse.iter().position(|x| !x.is_finite()) {
        return Err(InputError::NotFinite { what, index }.into());
    }
    Ok(constraint::residual(&problem, &impulse)?)
}
