//! `ControlStep`: control steps of many robots, as a function of arrays.

use crate::arguments::arg;
use crate::arrays::{Input, shaped_array};
use crate::errors::Failure;
use crate::fork::Owner;
use crate::gradient::object::Gradient;
use crate::gradient::rollout::shaped;
use crate::interrupt::interruptible;
use crate::model::Model;
use crate::model::options::count;
use numpy::{IntoPyArray, PyArray1, PyArrayDyn};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use slipstick::rollout::{Inputs, InputsGrad, Outcome, REPORT};
use std::sync::Arc;

/// Control steps of many robots as a function of arrays: `hold` engine steps under one control, from a cold start.
///
/// Nothing is kept from call to call. Derivatives are with respect to the numbers of q, quaternions included.
///
/// model: Model; hold (int): engine steps in a control step; threads (int): None stands for as many as there are cores.
///
///     control_step = gradient.ControlStep(slipstick.builtin("hopper"), hold=4)
///     after = control_step.step(q, v, ctrl)               # (n, nq), (n, nv), (n, nu); after.q, after.v, after.status
///     grad = control_step.vjp(q, v, ctrl, wq=wq, wv=wv)    # grad.q (n, nq), grad.v, grad.ctrl
///
/// A step that fails keeps the last finite state, has the status 3 and gradients of zero; one that does not converge
/// has the status 2 and gradients of zero.
#[pyclass(frozen, module = "slipstick.gradient")]
pub struct ControlStep {
    pub inner: Arc<slipstick::rollout::ControlStep>,
    /// Its threads do not survive os.fork.
    owner: Owner,
}

/// What control steps lead to.
///
/// Attributes: q (n, nq), v (n, nv), status (n,) int32: numbers of the words in ControlStep.STATUS; report (n, 7): columns
/// ControlStep.REPORT: contacts that carry a force in the last step, changes of their modes, the largest normal impulse over that of the weight,
/// the least margin (m/s), iterations, the largest residual, and undecided constraints. failed (n,) of bool.
#[pyclass(frozen, get_all, module = "slipstick.types")]
pub struct ControlResult {
    q: Py<PyArrayDyn<f64>>,
    v: Py<PyArrayDyn<f64>>,
    status: Py<PyArray1<i32>>,
    report: Py<PyArrayDyn<f64>>,
}

#[pymethods]
impl ControlResult {
    /// Which environments have no state after the step, (n,) of bool.
    #[getter]
    fn failed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.status.bind(py).call_method1("__eq__", (Outcome::Failed as i32,))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<slipstick.types.ControlResult of {} environments>", self.status.bind(py).len()?))
    }
}

type Array<'py> = Bound<'py, PyArrayDyn<f64>>;

/// Arrays that control steps are made from, as Rust takes them.
struct Given {
    n: usize,
    q: Vec<f64>,
    v: Vec<f64>,
    ctrl: Vec<f64>,
    tau: Vec<f64>,
    parameters: Vec<f64>,
    smoothing: Vec<f64>,
}

impl Given {
    fn inputs(&self) -> Inputs<'_> {
        let Given { q, v, ctrl, tau, parameters, smoothing, .. } = self;
        Inputs { q, v, ctrl, tau, parameters, smoothing }
    }
}

impl ControlStep {
    fn given(
        &self,
        [q, v]: [Input; 2],
        [ctrl, tau, parameters, smoothing]: [Option<Input>; 4],
    ) -> Result<Given, Failure> {
        self.owner.check("ControlStep")?;
        let m = self.inner.model();
        let (nq, nv, nu, np) = (m.nq(), m.nv(), m.nu(), m.parameters().values().len());
        let (v, shape) = shaped_array("v", v, &format!("(n, {nv})"), |s| s.len() == 2 && s[1] == nv)?;
        let n = shape[0];
        let optional = |what, x: Option<Input>, width| x.map_or(Ok(Vec::new()), |x| rows(what, x, n, width));
        let parameters = parameters.map_or(Ok(Vec::new()), |x| {
            let expected = format!("({np},) or ({n}, {np})");
            Ok::<_, Failure>(shaped_array("parameters", x, &expected, |s| s == [np] || s == [n, np])?.0)
        })?;
        let smoothing = smoothing.map_or(Ok(Vec::new()), |x| {
            let expected = format!("a number or ({n},)");
            Ok::<_, Failure>(shaped_array("smoothing", x, &expected, |s| s.is_empty() || s == [n])?.0)
        })?;
        let (q, ctrl, tau) = (rows("q", q, n, nq)?, optional("ctrl", ctrl, nu)?, optional("tau", tau, nv)?);
        Ok(Given { n, q, v, ctrl, tau, parameters, smoothing })
    }
}

fn rows(what: &'static str, x: Input, n: usize, width: usize) -> Result<Vec<f64>, Failure> {
    Ok(shaped_array(what, x, &format!("({n}, {width})"), |shape| shape == [n, width])?.0)
}

#[pymethods]
impl ControlStep {
    #[new]
    #[pyo3(signature = (model, hold=1, *, threads=None))]
    fn new(
        #[pyo3(from_py_with = arg::model)] model: &Model,
        #[pyo3(from_py_with = arg::hold)] hold: i64,
        #[pyo3(from_py_with = arg::threads)] threads: Option<i64>,
    ) -> Result<ControlStep, Failure> {
        let threads = threads.map_or(Ok(0), |k| count("threads", k))? as usize;
        let inner = slipstick::rollout::ControlStep::new(&model.inner, count("hold", hold)? as usize)?.threads(threads);
        let owner = Owner::of(inner.n_threads());
        Ok(ControlStep { inner: Arc::new(inner), owner })
    }

    /// Words of the numbers in status.
    #[classattr]
    #[pyo3(name = "STATUS")]
    fn status_words(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        PyTuple::new(py, Outcome::ALL.map(Outcome::name))
    }

    /// Names of the columns of report.
    #[classattr]
    #[pyo3(name = "REPORT")]
    fn report_names(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        PyTuple::new(py, REPORT)
    }

    /// Engine steps in a control step.
    #[getter]
    fn hold(&self) -> usize {
        self.inner.hold()
    }

    /// The control steps of n environments.
    ///
    /// q (n, nq), v (n, nv); ctrl (n, nu), without which the actuators are off; tau (n, nv): generalized forces; parameters
    /// (n_parameters,) or (n, n_parameters), default: those of the model. Returns a ControlResult. Derivatives take
    /// smoothing besides, a number or (n,) (m/s): zero for exact ones, else those of contact that acts at a distance.
    #[pyo3(signature = (q, v, ctrl=None, *, tau=None, parameters=None, smoothing=None))]
    fn step(
        &self,
        py: Python<'_>,
        q: Input,
        v: Input,
        ctrl: Option<Input>,
        tau: Option<Input>,
        parameters: Option<Input>,
        smoothing: Option<Input>,
    ) -> Result<ControlResult, Failure> {
        let given = self.given([q, v], [ctrl, tau, parameters, smoothing])?;
        let (n, m) = (given.n, self.inner.model());
        let (mut q, mut v) = (vec![0.0; n * m.nq()], vec![0.0; n * m.nv()]);
        let (mut report, mut status) = (vec![0.0; n * REPORT.len()], vec![0; n]);
        interruptible(py, || self.inner.step(&given.inputs(), [&mut q, &mut v], &mut report, &mut status))?;
        Ok(ControlResult {
            q: shaped(py, &[n, m.nq()], q)?.unbind(),
            v: shaped(py, &[n, m.nv()], v)?.unbind(),
            status: status.into_pyarray(py).unbind(),
            report: shaped(py, &[n, REPORT.len()], report)?.unbind(),
        })
    }

    /// Derivatives of (q, v) after the control steps: with respect to (q, v) before them, (n, nq + nv, nq + nv), and with respect to ctrl,
    /// (n, nq + nv, nu). Those of a step that failed or did not converge are zero.
    #[pyo3(signature = (q, v, ctrl=None, *, tau=None, parameters=None, smoothing=None))]
    fn jacobian<'py>(
        &self,
        py: Python<'py>,
        q: Input,
        v: Input,
        ctrl: Option<Input>,
        tau: Option<Input>,
        parameters: Option<Input>,
        smoothing: Option<Input>,
    ) -> Result<(Array<'py>, Array<'py>), Failure> {
        let given = self.given([q, v], [ctrl, tau, parameters, smoothing])?;
        let (n, m) = (given.n, self.inner.model());
        let (rows, nu) = (m.nq() + m.nv(), if given.ctrl.is_empty() { 0 } else { m.nu() });
        let (mut q, mut v, mut status) = (vec![0.0; n * m.nq()], vec![0.0; n * m.nv()], vec![0; n]);
        let (mut A, mut B) = (vec![0.0; n * rows * rows], vec![0.0; n * rows * nu]);
        interruptible(py, || {
            let blocks = [&mut A[..], &mut B];
            self.inner.step_and_jacobian(&given.inputs(), [&mut q, &mut v], &mut [], blocks, &mut status)
        })?;
        Ok((shaped(py, &[n, rows, rows], A)?, shaped(py, &[n, rows, nu], B)?))
    }

    /// Changes of q (n, nq) and v (n, nv) after the control steps along changes dq (n, nq), dv (n, nv), dctrl (n, nu), dtau (n, nv),
    /// dparameters (n, n_parameters) of what they are made from.
    #[pyo3(signature = (q, v, ctrl=None, *, dq, dv, dctrl=None, dtau=None, dparameters=None, tau=None, parameters=None,
        smoothing=None))]
    fn jvp<'py>(
        &self,
        py: Python<'py>,
        q: Input,
        v: Input,
        ctrl: Option<Input>,
        dq: Input,
        dv: Input,
        dctrl: Option<Input>,
        dtau: Option<Input>,
        dparameters: Option<Input>,
        tau: Option<Input>,
        parameters: Option<Input>,
        smoothing: Option<Input>,
    ) -> Result<(Array<'py>, Array<'py>), Failure> {
        let given = self.given([q, v], [ctrl, tau, parameters, smoothing])?;
        let (n, m) = (given.n, self.inner.model());
        let (nq, nv, nu, np) = (m.nq(), m.nv(), m.nu(), m.parameters().values().len());
        let optional = |what, x: Option<Input>, width| x.map_or(Ok(Vec::new()), |x| rows(what, x, n, width));
        let changes = Given {
            n,
            q: rows("dq", dq, n, nq)?,
            v: rows("dv", dv, n, nv)?,
            ctrl: optional("dctrl", dctrl, nu)?,
            tau: optional("dtau", dtau, nv)?,
            parameters: optional("dparameters", dparameters, np)?,
            smoothing: Vec::new(),
        };
        let (mut q, mut v, mut status) = (vec![0.0; n * nq], vec![0.0; n * nv], vec![0; n]);
        interruptible(py, || self.inner.jvp(&given.inputs(), &changes.inputs(), [&mut q, &mut v], &mut status))?;
        Ok((shaped(py, &[n, nq], q)?, shaped(py, &[n, nv], v)?))
    }

    /// Gradients of n numbers whose gradients with respect to q and v after the control steps are wq (n, nq) and wv (n, nv).
    ///
    /// Returns a Gradient: q (n, nq), v, tau (n, nv), ctrl (n, nu) or None, and with parameters given parameters["all"]
    /// (n, n_parameters).
    #[pyo3(signature = (q, v, ctrl=None, *, wq, wv, tau=None, parameters=None, smoothing=None))]
    fn vjp(
        &self,
        py: Python<'_>,
        q: Input,
        v: Input,
        ctrl: Option<Input>,
        wq: Input,
        wv: Input,
        tau: Option<Input>,
        parameters: Option<Input>,
        smoothing: Option<Input>,
    ) -> Result<Gradient, Failure> {
        let given = self.given([q, v], [ctrl, tau, parameters, smoothing])?;
        let (n, m) = (given.n, self.inner.model());
        let (nq, nv, nu, np) = (m.nq(), m.nv(), m.nu(), m.parameters().values().len());
        let (wq, wv) = (rows("wq", wq, n, nq)?, rows("wv", wv, n, nv)?);
        let room = |wanted: bool, width: usize| vec![0.0; if wanted { n * width } else { 0 }];
        let (mut q, mut v, mut tau) = (room(true, nq), room(true, nv), room(true, nv));
        let (mut ctrl, mut parameters) = (room(!given.ctrl.is_empty(), nu), room(!given.parameters.is_empty(), np));
        let mut status = vec![0; n];
        interruptible(py, || {
            let out = InputsGrad { q: &mut q, v: &mut v, ctrl: &mut ctrl, tau: &mut tau, parameters: &mut parameters };
            self.inner.vjp(&given.inputs(), [&wq, &wv], out, &mut status)
        })?;
        let (of_q, of_v, of_ctrl, of_parameters) = ([n, nq], [n, nv], [n, nu], [n, np]);
        let ctrl = (!ctrl.is_empty()).then_some((&of_ctrl[..], ctrl));
        let parameters = (!parameters.is_empty()).then_some(("all", (&of_parameters[..], parameters)));
        Ok(Gradient::new(py, [(&of_q[..], q), (&of_v, v), (&of_v, tau)], ctrl, parameters)?)
    }

    fn __repr__(&self) -> String {
        let name = self.inner.model().name();
        format!("<slipstick.gradient.ControlStep of '{name}': {} engine steps>", self.inner.hold())
    }
}
