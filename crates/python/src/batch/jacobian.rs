//! `BatchJacobian`: derivatives of every environment.

use super::failure::clear_rows;
use super::rows::zeros;
use crate::errors::Failure;
use numpy::PyArrayDyn;
use pyo3::prelude::*;

/// All derivatives of every environment of a Batch, along a first axis of n environments.
///
/// Attributes: dq_dq, dq_dv, dq_dtau, dv_dq, dv_dv, dv_dtau (n, nv, nv), dq_dctrl, dv_dctrl (n, nv, nu), as those of
/// StepJacobian. Those of a rollout are of its last states: with respect to the first states (n, nv, nv), and to what acted in
/// every step (n, steps, nv, nv) and (n, steps, nv, nu); with every=True of all states, along an axis of steps + 1 behind the
/// first one. What is not wanted has no columns, as ctrl has none without controls.
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
        let blocks = [("dv_dq", &self.dv_dq), ("dv_dtau", &self.dv_dtau), ("dv_dctrl", &self.dv_dctrl)];
        let blocks = blocks.map(|(name, x)| Ok::<_, PyErr>(format!("{name} {}", shape(x)?)));
        let blocks = blocks.into_iter().collect::<PyResult<Vec<_>>>()?;
        Ok(format!("<slipstick.types.BatchJacobian: {}>", blocks.join(", ")))
    }
}

/// Room for the blocks: numbers of q and v with respect to q, v, tau and ctrl.
pub struct Blocks {
    of_q: [Vec<f64>; 4],
    of_v: [Vec<f64>; 4],
    shapes: [Vec<usize>; 4],
}

impl Blocks {
    /// `states` are the axes of environments and states, `steps` is that of what acted; columns of q, v, tau and ctrl.
    pub fn new(states: &[usize], steps: Option<usize>, nv: usize, columns: [usize; 4]) -> Result<Blocks, Failure> {
        let shape = |k: usize| {
            let steps = steps.filter(|_| k >= 2);
            states.iter().copied().chain(steps).chain([nv, columns[k]]).collect::<Vec<usize>>()
        };
        let shapes = [0, 1, 2, 3].map(shape);
        let room = || -> Result<[Vec<f64>; 4], Failure> {
            let [q, v, tau, ctrl] = shapes.each_ref().map(|shape| zeros(shape));
            Ok([q?, v?, tau?, ctrl?])
        };
        Ok(Blocks { of_q: room()?, of_v: room()?, shapes })
    }

    pub fn borrow(&mut self) -> slipstick::rollout::BatchJacobian<'_> {
        let [dq_dq, dq_dv, dq_dtau, dq_dctrl] = self.of_q.each_mut().map(|b| &mut b[..]);
        let [dv_dq, dv_dv, dv_dtau, dv_dctrl] = self.of_v.each_mut().map(|b| &mut b[..]);
        slipstick::rollout::BatchJacobian { dq_dq, dq_dv, dq_dtau, dq_dctrl, dv_dq, dv_dv, dv_dtau, dv_dctrl }
    }

    /// Zeros in the rows of environments that failed.
    pub fn clear(&mut self, failed: &[usize], n: usize) {
        self.of_q.iter_mut().chain(&mut self.of_v).for_each(|block| clear_rows(block, failed, n));
    }

    pub fn into_python(self, py: Python<'_>) -> PyResult<BatchJacobian> {
        let [a, b, c, d] = &self.shapes;
        let array = |numbers, shape: &[usize]| Ok::<_, PyErr>(super::shaped(py, shape, numbers)?.unbind());
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
