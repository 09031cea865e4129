//! `Gradient`: the gradient of a number with respect to all that a step, a batch or a rollout was made from.

use super::rollout::shaped;
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyTuple};

/// A shape, and numbers row by row.
pub type Part<'a> = (&'a [usize], Vec<f64>);

/// The gradient of a number with respect to all that a step or rollout was made from; of a Batch one number per
/// environment, along a first axis of n.
///
/// Attributes: q, v (…, nv): with respect to the first state, q as a tangent; tau (…, nv), ctrl (…, nu): what acted, of a
/// rollout along an axis of steps; ctrl is None if there were no controls; parameters: dict of the name of a group to an
/// array, empty unless asked for; act (na,): with respect to the first activations, None of a Batch, which has none; mocap (n, 6): of a
/// step, poses of the mocap bodies (position in world axes, rotation in those of the body), else None.
/// `gq, gv, gtau, gctrl = gradient` works too.
#[pyclass(frozen, get_all, module = "slipstick.gradient")]
pub struct Gradient {
    q: Py<PyArrayDyn<f64>>,
    v: Py<PyArrayDyn<f64>>,
    tau: Py<PyArrayDyn<f64>>,
    ctrl: Option<Py<PyArrayDyn<f64>>>,
    parameters: Py<PyDict>,
    act: Option<Py<PyArrayDyn<f64>>>,
    mocap: Option<Py<PyArrayDyn<f64>>>,
}

impl Gradient {
    /// Of (q, v, tau), of controls if there were some, and of groups of parameters by their names.
    pub fn new<'a>(
        py: Python<'_>,
        [q, v, tau]: [Part; 3],
        ctrl: Option<Part>,
        parameters: impl IntoIterator<Item = (&'static str, Part<'a>)>,
    ) -> PyResult<Gradient> {
        let array = |(shape, numbers): Part| Ok::<_, PyErr>(shaped(py, shape, numbers)?.unbind());
        let groups = PyDict::new(py);
        for (name, part) in parameters {
            groups.set_item(name, array(part)?)?;
        }
        let ctrl = ctrl.map(array).transpose()?;
        Ok(Gradient {
            q: array(q)?,
            v: array(v)?,
            tau: array(tau)?,
            ctrl,
            parameters: groups.unbind(),
            act: None,
            mocap: None,
        })
    }

    /// With the part of the activations.
    pub fn with_act(self, py: Python<'_>, (shape, numbers): Part) -> PyResult<Gradient> {
        Ok(Gradient { act: Some(shaped(py, shape, numbers)?.unbind()), ..self })
    }

    /// With the part of the poses of mocap bodies (6 numbers each).
    pub fn with_mocap(self, py: Python<'_>, numbers: Vec<f64>) -> PyResult<Gradient> {
        let mocap = Some(shaped(py, &[numbers.len() / 6, 6], numbers)?.unbind());
        Ok(Gradient { mocap, ..self })
    }
}

#[pymethods]
impl Gradient {
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let Gradient { q, v, tau, ctrl, .. } = self;
        PyTuple::new(py, [Some(q), Some(v), Some(tau), ctrl.as_ref()])?.try_iter()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let shape = |x: &Bound<'_, PyAny>| x.getattr("shape")?.repr().map(|r| r.to_string());
        let mut text = String::from("<slipstick.gradient.Gradient:");
        for (name, x) in [("q", &self.q), ("v", &self.v), ("tau", &self.tau)] {
            text += &format!(" {name} {},", shape(x.bind(py))?);
        }
        text += &match &self.ctrl {
            Some(ctrl) => format!(" ctrl {}", shape(ctrl.bind(py))?),
            None => " no ctrl".into(),
        };
        for (name, x) in self.parameters.bind(py) {
            text += &format!(", {name} {}", shape(&x)?);
        }
        Ok(text + ">")
    }
}
