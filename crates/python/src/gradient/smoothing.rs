//! `bundled_jacobian` and `compliance_schedule`: smoothing around the step.

use crate::arguments::arg;
use crate::arrays::{Input, optional_vector, to_matrix, vector, wrenches};
use crate::collision::order;
use crate::errors::Failure;
use crate::interrupt::interruptible;
use crate::model::Model;
use crate::model::options::count;
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyArithmeticError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use slipstick::linalg::MatRef;
use slipstick::smoothing::{Bundle, Bundled, ComplianceSchedule, Estimate, Sigma, SmoothingError};
use slipstick::{Data, InputError, State};

/// The derivative of a step, averaged over random inputs.
///
/// Attributes: jacobian, error (dicts of "dq_dq", "dq_dv", "dq_dtau", "dq_dctrl", "dv_dq", "dv_dv", "dv_dtau",
/// "dv_dctrl" to arrays): mean derivatives and their standard errors; what is not known, because it was not displaced
/// or the actuators are off, is missing. q, v: the state after the step in the middle; mean_q, mean_v: the mean of the
/// states after the samples' steps; used, left_out (int): samples that count, and those without a state or a
/// derivative.
#[pyclass(frozen, get_all, module = "slipstick.gradient")]
pub struct BundledJacobian {
    jacobian: Py<PyDict>,
    error: Py<PyDict>,
    q: Py<PyArray1<f64>>,
    v: Py<PyArray1<f64>>,
    mean_q: Py<PyArray1<f64>>,
    mean_v: Py<PyArray1<f64>>,
    used: usize,
    left_out: usize,
}

#[pymethods]
impl BundledJacobian {
    fn __repr__(&self) -> String {
        format!("<slipstick.gradient.BundledJacobian of {} samples, {} left out>", self.used, self.left_out)
    }
}

/// Standard deviations: one number for everything, or by name.
pub enum Spread {
    One(f64),
    Named(std::collections::BTreeMap<String, f64>),
}

impl Spread {
    fn sigma(self) -> Result<Sigma, Failure> {
        let named = match self {
            Spread::One(sigma) => return Ok(Sigma::all(sigma)),
            Spread::Named(named) => named,
        };
        let mut sigma = Sigma::ZERO;
        for (name, value) in named {
            match name.as_str() {
                "q" => sigma.q = value,
                "v" => sigma.v = value,
                "tau" => sigma.tau = value,
                "ctrl" => sigma.ctrl = value,
                other => return Err(crate::model::options::unknown("sigma", ["q", "v", "tau", "ctrl"], other)),
            }
        }
        Ok(sigma)
    }
}

/// The derivative of the step from (q, v), averaged over random inputs.
///
/// q (nq,), v (nv,); tau (nv,), ctrl (nu,), wrenches (n_bodies, 6) as in Simulator.step. sigma: standard deviations of
/// the displacements of q, v, tau and ctrl, one float or a dict with some of these names (what is missing is not
/// displaced); samples (int), drawn in pairs; order 1: mean of derivatives, 0: linear fit to values of the step, which
/// needs more pairs than displaced numbers; seed (int); threads (int) on which samples are made, 0 for all cores: the
/// result does not depend on it. Returns a BundledJacobian.
#[pyfunction]
#[pyo3(signature = (model, q, v, *, sigma, samples=64, order=1, seed=0, tau=None, ctrl=None, wrenches=None,
    threads=1))]
pub fn bundled_jacobian(
    py: Python<'_>,
    #[pyo3(from_py_with = arg::model)] model: &Model,
    q: Input,
    v: Input,
    #[pyo3(from_py_with = arg::sigma)] sigma: Spread,
    #[pyo3(from_py_with = arg::samples)] samples: i64,
    #[pyo3(from_py_with = arg::order)] order: u8,
    #[pyo3(from_py_with = arg::seed)] seed: u64,
    tau: Option<Input>,
    ctrl: Option<Input>,
    wrenches: Option<Input>,
    #[pyo3(from_py_with = arg::threads)] threads: i64,
) -> Result<BundledJacobian, Failure> {
    let model = &model.inner;
    let x = State::new(model, &vector("q", q)?, &vector("v", v)?)?;
    let (tau, ctrl) = (optional_vector("tau", tau)?, optional_vector("ctrl", ctrl)?);
    let tau = tau.unwrap_or_else(|| vec![0.0; model.nv()]);
    if tau.len() != model.nv() {
        // checked here: to the step an empty tau means none
        return Err(InputError::Length { what: "tau", expected: model.nv(), got: tau.len() }.into());
    }
    let wrenches = self::wrenches(wrenches, model.n_bodies())?;
    let how = Bundled { sigma: sigma.sigma()?, samples: count("samples", samples)?, order: self::order(order)?, seed };
    let threads = count("threads", threads)? as usize;
    let s = interruptible(py, || {
        let input = slipstick::Input { tau: &tau, ctrl: ctrl.as_deref(), wrenches: &wrenches, mocap: &[] };
        Bundle::new(model, how)?.threads(threads).step(&mut Data::new(model), &x, &input)
    })?;
    Ok(BundledJacobian {
        jacobian: blocks(py, &s.jacobian)?,
        error: blocks(py, &s.error)?,
        q: PyArray1::from_vec(py, s.exact.q).unbind(),
        v: PyArray1::from_vec(py, s.exact.v).unbind(),
        mean_q: PyArray1::from_vec(py, s.mean.q).unbind(),
        mean_v: PyArray1::from_vec(py, s.mean.v).unbind(),
        used: s.used,
        left_out: s.left_out,
    })
}

/// Models whose contacts give way, for continuation: from the softest to the stiffest, and the model itself as the
/// last.
///
/// q (nq,): where inverse inertias are taken; softest, stiffest: compliances added to each geom, as shares of its own
/// inverse inertia; levels (int): number of models with added compliance, in a geometric series. Returns a list of
/// Model.
#[pyfunction]
#[pyo3(signature = (model, q, *, softest=0.1, stiffest=1e-4, levels=4))]
pub fn compliance_schedule<'py>(
    #[pyo3(from_py_with = arg::model)] model: &Bound<'py, Model>,
    q: Input,
    #[pyo3(from_py_with = arg::softest)] softest: f64,
    #[pyo3(from_py_with = arg::stiffest)] stiffest: f64,
    #[pyo3(from_py_with = arg::levels)] levels: i64,
) -> Result<Vec<Bound<'py, PyAny>>, Failure> {
    let (py, levels) = (model.py(), count("levels", levels)? as usize);
    let schedule = ComplianceSchedule { softest, stiffest, levels };
    let (inner, q) = (&model.get().inner, vector("q", q)?);
    let models = interruptible(py, || schedule.models(inner, &q))?;
    let vectors = models.iter().map(|m| PyArray1::from_slice(py, m.parameters().values()));
    Ok(vectors.map(|x| model.call_method1("with_parameters", (x,))).collect::<PyResult<Vec<_>>>()?)
}

fn blocks(py: Python<'_>, e: &Estimate) -> PyResult<Py<PyDict>> {
    let named = [
        ("dq_dq", e.dq_dq()),
        ("dq_dv", e.dq_dv()),
        ("dq_dtau", e.dq_dtau()),
        ("dq_dctrl", e.dq_dctrl()),
        ("dv_dq", e.dv_dq()),
        ("dv_dv", e.dv_dv()),
        ("dv_dtau", e.dv_dtau()),
        ("dv_dctrl", e.dv_dctrl()),
    ];
    let out = PyDict::new(py);
    for (name, block) in named {
        if let Some(m) = block {
            out.set_item(name, to_array(py, m)?)?;
        }
    }
    Ok(out.unbind())
}

fn to_array<'py>(py: Python<'py>, m: MatRef) -> PyResult<Bound<'py, PyArray2<f64>>> {
    to_matrix(py, m.rows(), m.cols(), (0..m.rows()).flat_map(|i| m.row(i)).copied().collect())
}

impl From<SmoothingError> for Failure {
    fn from(e: SmoothingError) -> Failure {
        match e {
            SmoothingError::Input(e) => e.into(),
            SmoothingError::Step(e) => e.into(),
            SmoothingError::Gradient(e) => e.into(),
            e @ SmoothingError::TooFew { .. } => pyo3::exceptions::PyValueError::new_err(e.to_string()).into(),
            e @ SmoothingError::Threads { .. } => pyo3::exceptions::PyRuntimeError::new_err(e.to_string()).into(),
            e => PyArithmeticError::new_err(e.to_string()).into(),
        }
    }
}
