//! Derivatives of the bare contact problem: what goes in, checked by its Python names, and the arrays that come out.

use crate::arrays::{Input, matrix, to_matrix, wrong_shape};
use crate::errors::Failure;
use crate::gradient::step::{finite, numbers};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods};
use pyo3::prelude::*;
use slipstick::gradient::{self, ProblemDirection, RowDerivatives, SolutionGrad};
use slipstick::linalg::MatRef;

/// All derivatives of a solution; rows are outputs.
///
/// Attributes: dimpulse_dg, dvelocity_dg (rows, rows); dimpulse_dmu, dvelocity_dmu (rows, n): with respect to the
/// coefficients of contacts and the bounds of boxes, zero for other constraints; dimpulse_dcompliance,
/// dvelocity_dcompliance (rows, n); degenerate (int): constraints that are undecided between two modes, where the solution
/// has derivatives to either side only; redundant (int): equations of the constraints that repeat others, in which case
/// the derivative of impulse is one of many, and velocity has one along changes that all constraints can follow. Methods
/// dimpulse_dG and dvelocity_dG.
#[pyclass(frozen, module = "slipstick.ncp")]
pub struct SolutionJacobian {
    #[pyo3(get)]
    dimpulse_dg: Py<PyArray2<f64>>,
    #[pyo3(get)]
    dimpulse_dmu: Py<PyArray2<f64>>,
    #[pyo3(get)]
    dimpulse_dcompliance: Py<PyArray2<f64>>,
    #[pyo3(get)]
    dvelocity_dg: Py<PyArray2<f64>>,
    #[pyo3(get)]
    dvelocity_dmu: Py<PyArray2<f64>>,
    #[pyo3(get)]
    dvelocity_dcompliance: Py<PyArray2<f64>>,
    #[pyo3(get)]
    degenerate: usize,
    #[pyo3(get)]
    redundant: usize,
    jacobian: gradient::SolutionJacobian,
}

#[pymethods]
impl SolutionJacobian {
    /// The derivative of impulse with respect to every entry of G on its own (rows, rows, rows): [i, a, b] is that of
    /// impulse[i] with respect to G[a, b], which is dimpulse_dg[i, a] * impulse[b].
    ///
    /// Much memory; Solution.jvp and Solution.vjp need none of it. For G that stays symmetric, average over both orders of
    /// the last two axes.
    fn dimpulse_dG<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray3<f64>>, Failure> {
        by_matrix(py, &self.jacobian.lambda)
    }

    /// The derivative of velocity with respect to every entry of G on its own (rows, rows, rows); see dimpulse_dG.
    fn dvelocity_dG<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray3<f64>>, Failure> {
        by_matrix(py, &self.jacobian.sigma)
    }

    fn __repr__(&self) -> String {
        let (J, SolutionJacobian { degenerate, redundant, .. }) = (self.jacobian.lambda.dmu(), self);
        let (rows, constraints) = (J.rows(), J.cols());
        format!(
            "<slipstick.ncp.SolutionJacobian: {rows} rows, {constraints} constraints, {degenerate} degenerate, {redundant} redundant>"
        )
    }
}

impl SolutionJacobian {
    pub fn new(
        py: Python<'_>,
        jacobian: gradient::SolutionJacobian,
        [degenerate, redundant]: [usize; 2],
    ) -> PyResult<SolutionJacobian> {
        let array = |m: MatRef| {
            let numbers = (0..m.rows()).flat_map(|i| m.row(i)).copied().collect();
            Ok::<_, PyErr>(to_matrix(py, m.rows(), m.cols(), numbers)?.unbind())
        };
        Ok(SolutionJacobian {
            dimpulse_dg: array(jacobian.lambda.dg())?,
            dimpulse_dmu: array(jacobian.lambda.dmu())?,
            dimpulse_dcompliance: array(jacobian.lambda.dcompliance())?,
            dvelocity_dg: array(jacobian.sigma.dg())?,
            dvelocity_dmu: array(jacobian.sigma.dmu())?,
            dvelocity_dcompliance: array(jacobian.sigma.dcompliance())?,
            degenerate,
            redundant,
            jacobian,
        })
    }
}

fn by_matrix<'py>(py: Python<'py>, of: &RowDerivatives) -> Result<Bound<'py, PyArray3<f64>>, Failure> {
    let rows = of.dg().rows();
    let mut out = vec![0.0; rows * rows * rows];
    of.copy_dG(&mut out)?;
    Ok(out.into_pyarray(py).reshape([rows, rows, rows])?)
}

/// The gradient of a number with respect to what a contact problem was made from.
///
/// Attributes: G (rows, rows): with respect to every entry on its own, for a G that stays symmetric take (G + G.T) / 2;
/// g (rows,); mu (n,): coefficients of contacts and bounds of boxes, zero for other constraints; compliance (n,);
/// degenerate and redundant (int) as in SolutionJacobian.
#[pyclass(frozen, get_all, module = "slipstick.ncp")]
pub struct ProblemGrad {
    G: Py<PyArray2<f64>>,
    g: Py<PyArray1<f64>>,
    mu: Py<PyArray1<f64>>,
    compliance: Py<PyArray1<f64>>,
    degenerate: usize,
    redundant: usize,
}

#[pymethods]
impl ProblemGrad {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (rows, contacts) = (self.g.bind(py).len()?, self.mu.bind(py).len()?);
        Ok(format!("<slipstick.ncp.ProblemGrad of {contacts} constraints with {rows} rows>"))
    }
}

impl ProblemGrad {
    pub fn new(
        py: Python<'_>,
        gradient: gradient::ProblemGrad,
        [degenerate, redundant]: [usize; 2],
    ) -> PyResult<ProblemGrad> {
        let rows = gradient.g.len();
        Ok(ProblemGrad {
            G: to_matrix(py, rows, rows, gradient.G)?.unbind(),
            g: gradient.g.into_pyarray(py).unbind(),
            mu: gradient.mu.into_pyarray(py).unbind(),
            compliance: gradient.compliance.into_pyarray(py).unbind(),
            degenerate,
            redundant,
        })
    }
}

/// A change of what a problem is made from; what is left out is empty.
pub struct Direction {
    G: Vec<f64>,
    g: Vec<f64>,
    mu: Vec<f64>,
    compliance: Vec<f64>,
}

impl Direction {
    pub fn new(
        rows: usize,
        constraints: usize,
        G: Option<Input>,
        g: Option<Input>,
        mu: Option<Input>,
        compliance: Option<Input>,
    ) -> Result<Direction, Failure> {
        let (g, mu) = (numbers("g", g, rows)?, numbers("mu", mu, constraints)?);
        let compliance = numbers("compliance", compliance, constraints)?;
        let Some(G) = G else { return Ok(Direction { G: Vec::new(), g, mu, compliance }) };
        let (G, shape) = matrix("G", G)?;
        if shape != [rows, rows] {
            return Err(wrong_shape("G", &format!("({rows}, {rows})"), &shape).into());
        }
        Ok(Direction { G: finite("G", G)?, g, mu, compliance })
    }

    pub fn borrow(&self) -> ProblemDirection<'_> {
        ProblemDirection { G: &self.G, g: &self.g, mu: &self.mu, compliance: &self.compliance }
    }
}

/// The gradient of a number with respect to a solution; what is left out is empty.
pub struct Weights {
    impulse: Vec<f64>,
    velocity: Vec<f64>,
}

impl Weights {
    pub fn new(rows: usize, impulse: Option<Input>, velocity: Option<Input>) -> Result<Weights, Failure> {
        Ok(Weights { impulse: numbers("impulse", impulse, rows)?, velocity: numbers("velocity", velocity, rows)? })
    }

    pub fn borrow(&self) -> SolutionGrad<'_> {
        SolutionGrad { lambda: &self.impulse, sigma: &self.velocity }
    }
}
