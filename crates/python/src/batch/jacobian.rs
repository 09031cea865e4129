//! `BatchJacobian`: derivatives of a step of every environment.

use numpy::PyArrayDyn;
use pyo3::prelude::*;

/// All derivatives of a step of every environment of a Batch, along a first axis of n environments.
///
/// Attributes: dq_dq, dq_dv, dq_dtau, dv_dq, dv_dv, dv_dtau (n, nv, nv), dq_dctrl, dv_dctrl (n, nv, nu; without columns
/// if the step was made without ctrl), as those of StepJacobian.
#[pyclass(frozen, get_all, module = "slipstick.types")]
pub struct BatchJacobian {
    pub dq_dq: Py<PyArrayDyn<f64>>,
    pub dq_dv: Py<PyArrayDyn<f64>>,
    pub dq_dtau: Py<PyArrayDyn<f64>>,
    pub dq_dctrl: Py<PyArrayDyn<f64>>,
    pub dv_dq: Py<PyArrayDyn<f64>>,
    pub dv_dv: Py<PyArrayDyn<f64>>,
    pub dv_dtau: Py<PyArrayDyn<f64>>,
    pub dv_dctrl: Py<PyArrayDyn<f64>>,
}

#[pymethods]
impl BatchJacobian {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let shape = |x: &Py<PyArrayDyn<f64>>| x.bind(py).getattr("shape")?.repr().map(|r| r.to_string());
        Ok(format!(
            "<slipstick.types.BatchJacobian: dv_dq {}, dv_dctrl {}>",
            shape(&self.dv_dq)?,
            shape(&self.dv_dctrl)?
        ))
    }
}

/// Room for the blocks: numbers of q and v with respect to q, v, tau and ctrl.
pub struct Blocks {
    of_q: [Vec<f64>; 4],
    of_v: [Vec<f64>; 4],
    shapes: [[usize; 3]; 4],
}

impl Blocks {
    pub fn new(n: usize, nv: usize, nu: usize) -> Blocks {
        let shapes = [nv, nv, nv, nu].map(|width| [n, nv, width]);
        let zeros = || shapes.map(|[a, b, c]| vec![0.0; a * b * c]);
        Blocks { of_q: zeros(), of_v: zeros(), shapes }
    }

    pub fn borrow(&mut self) -> slipstick::rollout::BatchJacobian<'_> {
        let [dq_dq, dq_dv, dq_dtau, dq_dctrl] = self.of_q.each_mut().map(|b| &mut b[..]);
        let [dv_dq, dv_dv, dv_dtau, dv_dctrl] = self.of_v.each_mut().map(|b| &mut b[..]);
        slipstick::rollout::BatchJacobian { dq_dq, dq_dv, dq_dtau, dq_dctrl, dv_dq, dv_dv, dv_dtau, dv_dctrl }
    }

    pub fn into_python(self, py: Python<'_>) -> PyResult<BatchJacobian> {
        let [a, b, c, d] = self.shapes;
        let array = |numbers, shape: [usize; 3]| Ok::<_, PyErr>(super::shaped(py, &shape, numbers)?.unbind());
        let ([dq_dq, dq_dv, dq_dtau, dq_dctrl], [dv_dq, dv_dv, dv_dtau, dv_dctrl]) = (self.of_q, self.of_v);
        Ok(BatchJacobian {
            dq_dq: array(dq_dq, a)?,
            dq_dv: array(dq_dv, b)?,
            dq_dtau: array(dq_dtau, c)?,
            dq_dctrl: array(dq_dctrl, d)?,
            dv_dq: array(dv_dq, a)?,
            dv_dv: array(dv_dv, b)?,
            dv_dtau: array(dv_dtau, c)?,
            dv_dctrl: array(dv_dctrl, d)?,
        })
    }
}
