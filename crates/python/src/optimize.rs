//! `slipstick.optimize`: least squares on functions of Python.

use crate::arguments::{arg, function, pair};
use crate::arrays::{Input, matrix, optional_vector, vector, wrong_shape};
use crate::errors::Failure;
use crate::model::options::{count, unknown};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::{PyArithmeticError, PyValueError};
use pyo3::prelude::*;
use slipstick::check::Difference;
use slipstick::linalg::MatMut;
use slipstick::optimize::{self, ByDifferences, LeastSquares, Method, OptimizeError};
use std::cell::RefCell;

/// A line of the log of a search: a point, and the step that led to it.
///
/// Attributes: iteration (int, 0: the first point), error (‖r‖), gradient (norm of that of ½‖r‖²), step (length),
/// fraction (of the proposed step that was taken), damping, trials (int: points tried), seconds (since the search
/// began).
#[pyclass(frozen, get_all, module = "slipstick.optimize")]
pub struct Iteration {
    iteration: usize,
    error: f64,
    gradient: f64,
    step: f64,
    fraction: f64,
    damping: f64,
    trials: usize,
    seconds: f64,
}

impl From<&optimize::Iteration> for Iteration {
    fn from(i: &optimize::Iteration) -> Iteration {
        Iteration {
            iteration: i.iteration,
            error: i.error,
            gradient: i.gradient,
            step: i.step,
            fraction: i.fraction,
            damping: i.damping,
            trials: i.trials,
            seconds: i.seconds,
        }
    }
}

#[pymethods]
impl Iteration {
    fn __repr__(&self) -> String {
        format!("<slipstick.optimize.Iteration {}: error={:e}, step={:e}>", self.iteration, self.error, self.step)
    }
}

/// Where a search ended, and how it went.
///
/// Attributes: x, residual (arrays), error (‖r‖), iterations (list of Iteration, the first point included), stop
/// ("tolerance", "gradient", "step", "stalled", "max_iterations" or "not_finite").
#[pyclass(frozen, get_all, module = "slipstick.optimize")]
pub struct Outcome {
    x: Py<PyArray1<f64>>,
    residual: Py<PyArray1<f64>>,
    error: f64,
    iterations: Vec<Py<Iteration>>,
    stop: &'static str,
}

#[pymethods]
impl Outcome {
    fn __repr__(&self) -> String {
        let Outcome { error, stop, iterations, .. } = self;
        format!("<slipstick.optimize.Outcome: {stop} after {} iterations, error={error:e}>", iterations.len() - 1)
    }
}

/// Functions of Python as a problem.
struct Functions<'a, 'py> {
    residual: Input<'a, 'py>,
    jacobian: Option<Input<'a, 'py>>,
    retract: Option<Input<'a, 'py>>,
    bounds: Option<(Vec<f64>, Vec<f64>)>,
    /// Residuals, unknowns, numbers of a point.
    sizes: [usize; 3],
    /// What a function raised that cannot say so itself; the next residual does.
    raised: &'a RefCell<Option<PyErr>>,
}

impl Functions<'_, '_> {
    fn evaluate(&self, x: &[f64]) -> PyResult<Vec<f64>> {
        let py = self.residual.py();
        vector("residual", &self.residual.call1((x.to_vec().into_pyarray(py),))?)
    }
}

impl LeastSquares for Functions<'_, '_> {
    type Error = PyErr;

    fn unknowns(&self) -> usize {
        self.sizes[1]
    }

    fn residuals(&self) -> usize {
        self.sizes[0]
    }

    fn coordinates(&self) -> usize {
        self.sizes[2]
    }

    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> PyResult<()> {
        if let Some(error) = self.raised.take() {
            return Err(error);
        }
        let numbers = self.evaluate(x)?;
        if numbers.len() != r.len() {
            return Err(wrong_shape("residual", &format!("({},), as at first", r.len()), &[numbers.len()]));
        }
        r.copy_from_slice(&numbers);
        Ok(())
    }

    fn jacobian(&mut self, x: &[f64], mut J: MatMut<'_>) -> PyResult<()> {
        let Some(jacobian) = self.jacobian else { return Ok(()) };
        let (numbers, shape) = matrix("jacobian", &jacobian.call1((x.to_vec().into_pyarray(jacobian.py()),))?)?;
        let (rows, columns) = (J.rows(), J.cols());
        if shape != [rows, columns] {
            return Err(wrong_shape("jacobian", &format!("({rows}, {columns})"), &shape));
        }
        (0..rows).for_each(|i| J.row_mut(i).copy_from_slice(&numbers[i * columns..(i + 1) * columns]));
        Ok(())
    }

    fn retract(&self, x: &[f64], d: &[f64], out: &mut [f64]) {
        let Some(retract) = self.retract else {
            out.iter_mut().zip(x.iter().zip(d)).for_each(|(out, (x, d))| *out = x + d);
            return;
        };
        let (py, expected) = (retract.py(), out.len());
        let arrays = (x.to_vec().into_pyarray(py), d.to_vec().into_pyarray(py));
        match retract.call1(arrays).and_then(|y| vector("retract", &y)) {
            Ok(numbers) if numbers.len() == expected => out.copy_from_slice(&numbers),
            Ok(numbers) => {
                let error = wrong_shape("retract", &format!("({expected},), as x0"), &[numbers.len()]);
                *self.raised.borrow_mut() = Some(error);
            }
            Err(error) => *self.raised.borrow_mut() = Some(error),
        }
    }

    fn bounds(&self) -> Option<(&[f64], &[f64])> {
        self.bounds.as_ref().map(|(low, high)| (&low[..], &high[..]))
    }
}

/// The point that makes the sum of the squares of residuals least, as far as a search finds it.
///
/// residual: function of x (array) that returns the residuals (m,); x0: where to begin. jacobian: function of x that
/// returns their derivatives (m, n); None: central differences over difference_step. method: "gauss_newton",
/// "levenberg_marquardt" or "gradient_descent". bounds: (lower, upper), each a number or an array like x0, infinite
/// where there is none. retract: function of x and a step d (n,) that returns the point d leads to, for points on a
/// manifold (slipstick.integrate for configurations); unknowns: n, if it is not the length of x0. callback: function of
/// an Iteration, called for each; what it raises ends the search. line_search: whether steps are halved until the error
/// falls. It ends when ‖r‖ ≤ tolerance, when the cosine between the residuals and each column of the Jacobian is ≤
/// gradient_tolerance, when a step is ≤ step_tolerance, or after max_iterations. rank_tolerance: singular values of the
/// Jacobian below this part of the largest count as zero, and steps are then the shortest; units (n,): what counts as a
/// step of length one along each unknown, None: one; damping: first price of a step
/// of Levenberg–Marquardt, relative to the Jacobian; rate: length of steps of gradient descent over that of the gradient,
/// None: the best for the linearized problem. A residual that is not finite counts as infinitely bad, except at x0 where
/// it is an ArithmeticError. Returns an Outcome.
#[pyfunction]
#[pyo3(signature = (residual, x0, *, jacobian=None, method="gauss_newton", bounds=None, retract=None, unknowns=None,
    callback=None, line_search=true, tolerance=1e-12, gradient_tolerance=1e-12, step_tolerance=0.0, max_iterations=100,
    rank_tolerance=1e-10, units=None, damping=1e-3, rate=None, difference_step=1e-6))]
pub fn least_squares(
    py: Python<'_>,
    residual: Input,
    x0: Input,
    jacobian: Option<Input>,
    #[pyo3(from_py_with = arg::method)] method: &str,
    bounds: Option<Input>,
    retract: Option<Input>,
    #[pyo3(from_py_with = arg::unknowns)] unknowns: Option<i64>,
    callback: Option<Input>,
    #[pyo3(from_py_with = arg::line_search)] line_search: bool,
    #[pyo3(from_py_with = arg::tolerance)] tolerance: f64,
    #[pyo3(from_py_with = arg::gradient_tolerance)] gradient_tolerance: f64,
    #[pyo3(from_py_with = arg::step_tolerance)] step_tolerance: f64,
    #[pyo3(from_py_with = arg::max_iterations)] max_iterations: i64,
    #[pyo3(from_py_with = arg::rank_tolerance)] rank_tolerance: f64,
    units: Option<Input>,
    #[pyo3(from_py_with = arg::damping)] damping: f64,
    #[pyo3(from_py_with = arg::rate)] rate: Option<f64>,
    #[pyo3(from_py_with = arg::difference_step)] difference_step: f64,
) -> Result<Outcome, Failure> {
    let residual = function("residual", residual)?;
    let jacobian = jacobian.map(|f| function("jacobian", f)).transpose()?;
    let retract = retract.map(|f| function("retract", f)).transpose()?;
    let callback = callback.map(|f| function("callback", f)).transpose()?;
    let options = optimize::Options {
        method: named(method)?,
        line_search,
        tolerance,
        gradient_tolerance,
        step_tolerance,
        max_iterations: count("max_iterations", max_iterations)? as usize,
        rank_tolerance,
        units: optional_vector("units", units)?.unwrap_or_default(),
        damping,
        rate,
    };
    let (x0, raised) = (vector("x0", x0)?, RefCell::new(None));
    let n = unknowns.map_or(Ok(x0.len()), |n| count("unknowns", n).map(|n| n as usize))?;
    if n != x0.len() && retract.is_none() {
        let text = format!("retract: expected a function, because a step has {n} numbers and x0 {}", x0.len());
        return Err(PyValueError::new_err(text).into());
    }
    let bounds = bounds.map(|bounds| self::bounds(bounds, x0.len())).transpose()?;
    let mut problem = Functions { residual, jacobian, retract, bounds, sizes: [0, n, x0.len()], raised: &raised };
    problem.sizes[0] = problem.evaluate(&x0)?.len();
    let progress = |i: &optimize::Iteration| {
        if let Some(Err(error)) = callback.map(|f| f.call1((Iteration::from(i),))) {
            *raised.borrow_mut() = Some(error);
        }
    };
    let outcome = match jacobian {
        Some(_) => optimize::minimize(&mut problem, &x0, &options, progress),
        None => {
            let difference = Difference::Central { step: difference_step };
            optimize::minimize(&mut ByDifferences::new(problem, difference)?, &x0, &options, progress)
        }
    };
    // what the last callback raised has not been seen by a residual
    match raised.take() {
        Some(error) => Err(error.into()),
        None => found(py, outcome.map_err(failure)?),
    }
}

fn named(word: &str) -> Result<Method, Failure> {
    let found = Method::ALL.into_iter().find(|m| m.name() == word);
    found.ok_or_else(|| unknown("method", Method::ALL.map(Method::name), word))
}

/// Lower and upper ends.
fn bounds(x: Input, n: usize) -> PyResult<(Vec<f64>, Vec<f64>)> {
    let [lower, upper] = pair("bounds", "(lower, upper)", x)?;
    Ok((ends(&lower, n)?, ends(&upper, n)?))
}

/// A number for all, or one for each.
fn ends(x: Input, n: usize) -> PyResult<Vec<f64>> {
    x.extract::<f64>().map(|x| vec![x; n]).or_else(|_| vector("bounds", x))
}

fn failure(error: OptimizeError<PyErr>) -> Failure {
    match error {
        OptimizeError::Input(e) => e.into(),
        OptimizeError::Problem { error, .. } => error.into(),
        error => PyArithmeticError::new_err(error.to_string()).into(),
    }
}

fn found(py: Python<'_>, outcome: optimize::Outcome) -> Result<Outcome, Failure> {
    let iterations = outcome.iterations.iter().map(|i| Py::new(py, Iteration::from(i)));
    Ok(Outcome {
        iterations: iterations.collect::<PyResult<_>>()?,
        x: outcome.x.into_pyarray(py).unbind(),
        residual: outcome.residual.into_pyarray(py).unbind(),
        error: outcome.error,
        stop: outcome.stop.name(),
    })
}
