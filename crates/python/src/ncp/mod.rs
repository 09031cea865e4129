//! The bare contact problem, without a robot: a Delassus matrix, a free velocity and the laws of its constraints.

pub mod gradient;

use crate::arguments::arg;
use crate::arrays::{Input, Vector, matrix, optional_vector, vector, wrong_shape};
use crate::errors::Failure;
use crate::model::options::{count, solver as named};
use crate::option_class::option_class;
use gradient::{Direction, ProblemGrad, SolutionJacobian, Weights};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use slipstick::gradient::SolutionGradient;
use slipstick::ncp::{Cone, Problem};
use slipstick::{GradientError, InputError, SolveReport, ncp};
use std::collections::BTreeMap;

/// Impulses that solve a contact problem.
///
/// Attributes: impulse (rows,) [N·s], velocity (rows,) [m/s], residual (float, scaled), modes (list of "break", "stick" or
/// "slide", one per constraint), status ("converged"; "acceptable": residual at most 1e-8 at the end of the budget;
/// "infeasible": the demands contradict each other, and the impulses violate them as little as possible; "not_converged": the
/// best iterate), stage (the solver that found the answer: "newton", "proximal", "restart", "admm" or "pgs"), iterations
/// (int: factorizations), stages (dict: factorizations of each stage). Rows of a contact are two tangents and the normal.
/// jacobian, jvp and vjp differentiate impulse and velocity with respect to what the problem was made from.
#[pyclass(frozen, module = "slipstick.ncp")]
pub struct Solution {
    #[pyo3(get)]
    impulse: Py<PyArray1<f64>>,
    #[pyo3(get)]
    velocity: Py<PyArray1<f64>>,
    #[pyo3(get)]
    modes: Vec<&'static str>,
    #[pyo3(get)]
    stages: BTreeMap<&'static str, u32>,
    problem: Problem,
    solution: ncp::Solution,
    report: SolveReport,
}

#[pymethods]
impl Solution {
    #[getter]
    fn residual(&self) -> f64 {
        self.report.residual
    }

    #[getter]
    fn iterations(&self) -> u32 {
        self.report.iterations
    }

    #[getter]
    fn status(&self) -> &'static str {
        self.report.status.name()
    }

    #[getter]
    fn stage(&self) -> &'static str {
        self.report.stage.name()
    }

    /// All derivatives of impulse and velocity (SolutionJacobian).
    ///
    /// Raises GradientError if the status is neither "converged" nor "acceptable".
    fn jacobian(&self, py: Python<'_>) -> Result<SolutionJacobian, Failure> {
        let (jacobian, counts) = py.detach(|| {
            let mut gradient = self.gradient()?;
            Ok::<_, GradientError>((gradient.jacobian()?, [gradient.degenerate(), gradient.redundant()]))
        })?;
        Ok(SolutionJacobian::new(py, jacobian, counts)?)
    }

    /// The change of impulse and velocity along a change of G (rows, rows), g (rows,), mu (n,) and compliance (n,).
    ///
    /// mu: of the coefficients of contacts and the bounds of boxes; entries of other constraints do not count. What is left
    /// out does not change. Returns (dimpulse, dvelocity), (rows,) each. Raises GradientError as jacobian does.
    #[pyo3(signature = (*, G=None, g=None, mu=None, compliance=None))]
    fn jvp<'py>(
        &self,
        py: Python<'py>,
        G: Option<Input>,
        g: Option<Input>,
        mu: Option<Input>,
        compliance: Option<Input>,
    ) -> Result<(Vector<'py>, Vector<'py>), Failure> {
        let rows = self.problem.rows();
        let along = Direction::new(rows, self.modes.len(), G, g, mu, compliance)?;
        let (mut impulse, mut velocity) = (vec![0.0; rows], vec![0.0; rows]);
        py.detach(|| {
            let jacobian = self.gradient()?.jacobian()?;
            Ok::<_, GradientError>(jacobian.jvp(along.borrow(), &mut impulse, &mut velocity)?)
        })?;
        Ok((impulse.into_pyarray(py), velocity.into_pyarray(py)))
    }

    /// The gradient of a number with respect to what the problem was made from: vector times Jacobian, by one adjoint solve.
    ///
    /// impulse (rows,), velocity (rows,): the number's gradient with respect to them; what is left out counts as zero.
    /// Returns a ProblemGrad. Raises GradientError as jacobian does.
    #[pyo3(signature = (*, impulse=None, velocity=None))]
    fn vjp(&self, py: Python<'_>, impulse: Option<Input>, velocity: Option<Input>) -> Result<ProblemGrad, Failure> {
        let w = Weights::new(self.problem.rows(), impulse, velocity)?;
        let (gradient, counts) = py.detach(|| {
            let mut gradient = self.gradient()?;
            Ok::<_, GradientError>((gradient.vjp(w.borrow())?, [gradient.degenerate(), gradient.redundant()]))
        })?;
        Ok(ProblemGrad::new(py, gradient, counts)?)
    }

    fn __repr__(&self) -> String {
        let SolveReport { status, stage, iterations, residual, .. } = self.report;
        let (status, stage, count) = (status.name(), stage.name(), self.modes.len());
        format!(
            "<slipstick.ncp.Solution: {status} by {stage}, {count} constraints, {iterations} iterations, residual={residual:e}>"
        )
    }
}

impl Solution {
    fn gradient(&self) -> Result<SolutionGradient<'_>, GradientError> {
        SolutionGradient::new(&self.problem, &self.solution, &self.report)
    }
}

/// Iterations by the names of their stages.
pub fn stages(iterations: &ncp::Iterations) -> BTreeMap<&'static str, u32> {
    let ncp::Iterations { newton, proximal, restart, other, .. } = *iterations;
    BTreeMap::from([("newton", newton), ("proximal", proximal), ("restart", restart), ("other", other)])
}

option_class! {
    /// The law of a contact: two tangents and the normal. It pushes only, and its friction is at most mu times its normal.
    "slipstick.ncp" Friction { mu: f64 }
}

option_class! {
    /// The law of dry friction of a joint: one row, an impulse of at most `bound` in either direction.
    "slipstick.ncp" Box { bound: f64 }
}

/// The law of constraint `k`: Friction(mu), Box(bound), "unilateral" or "bilateral".
fn cone(k: usize, x: &Bound<'_, PyAny>) -> Result<Cone, Failure> {
    if let Ok(friction) = x.cast::<Friction>() {
        return Ok(Cone::Friction { mu: friction.get().mu });
    }
    if let Ok(dry) = x.cast::<Box>() {
        return Ok(Cone::Box { bound: dry.get().bound });
    }
    match x.extract() {
        Ok("unilateral") => Ok(Cone::Unilateral),
        Ok("bilateral") => Ok(Cone::Bilateral),
        _ => {
            let expected = "ncp.Friction(mu), ncp.Box(bound), 'unilateral' or 'bilateral'";
            Err(PyValueError::new_err(format!("cones[{k}]: expected {expected}, got {}", x.repr()?)).into())
        }
    }
}

fn problem(
    G: Input,
    g: Input,
    mu: Option<Input>,
    cones: Option<Vec<Bound<'_, PyAny>>>,
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
        (None, Some(cones)) => cones.iter().enumerate().map(|(k, law)| cone(k, law)).collect::<Result<_, _>>()?,
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
/// cones: a list with Friction(mu) (a contact), "unilateral" (a limit: pushes only), Box(bound) (dry friction) or "bilateral"
/// for each constraint; all but contacts have one row. compliance (n,) [1/kg]: of the last row of each. solver: "auto", "cold"
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
    #[pyo3(from_py_with = arg::cones)] cones: Option<Vec<Bound<'_, PyAny>>>,
    compliance: Option<Input>,
    #[pyo3(from_py_with = arg::solver)] solver: &str,
    #[pyo3(from_py_with = arg::tolerance)] tolerance: f64,
    #[pyo3(from_py_with = arg::max_iterations)] max_iterations: i64,
    warm: Option<Input>,
) -> Result<Solution, Failure> {
    let problem = problem(G, g, mu, cones, compliance)?;
    let (solver, warm) = (named(solver)?, optional_vector("warm", warm)?);
    let limit = count("max_iterations", max_iterations)?;
    if !(tolerance > 0.0 && tolerance.is_finite()) {
        let (what, expected) = ("tolerance".into(), "a positive residual");
        return Err(InputError::Value { what, expected, got: tolerance }.into());
    }
    let mut solution = ncp::Solution::default();
    let report = py.detach(|| ncp::solve(&problem, solver, tolerance, limit, warm.as_deref(), &mut solution))?;
    Ok(Solution {
        impulse: solution.lambda().to_vec().into_pyarray(py).unbind(),
        velocity: solution.sigma().to_vec().into_pyarray(py).unbind(),
        modes: solution.modes().iter().map(|(mode, _)| mode.name()).collect(),
        stages: stages(&report.stages),
        problem,
        solution,
        report,
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
    #[pyo3(from_py_with = arg::cones)] cones: Option<Vec<Bound<'_, PyAny>>>,
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
    Ok(ncp::residual(&problem, &impulse)?)
}
