//! Derivatives of readings, sensor by sensor as `Step.sensors` has the readings.

use crate::arrays::{Input, to_matrix, vector};
use crate::errors::Failure;
use crate::sensors::name;
use numpy::PyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use slipstick::linalg::MatRef;
use slipstick::{InputError, Model, SensorError, Sensors, Step};

/// Derivatives of the readings of a sensor: a row for each of its numbers, configurations count as tangents.
///
/// Attributes: dq, dv, dtau (size, nv), dctrl (size, nu; without columns if the step was made without ctrl): with
/// respect to q, v, tau and ctrl.
#[pyclass(frozen, get_all, module = "slipstick")]
pub struct SensorJacobian {
    dq: Py<PyArray2<f64>>,
    dv: Py<PyArray2<f64>>,
    dtau: Py<PyArray2<f64>>,
    dctrl: Py<PyArray2<f64>>,
}

#[pymethods]
impl SensorJacobian {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let shape = |x: &Py<PyArray2<f64>>| x.bind(py).getattr("shape")?.extract::<(usize, usize)>();
        Ok(format!("<slipstick.SensorJacobian: dq {:?}, dctrl {:?}>", shape(&self.dq)?, shape(&self.dctrl)?))
    }
}

/// Numbers row by row, rows and columns.
type Block = (Vec<f64>, usize, usize);

/// Names and blocks of all sensors that can be read, taken out of the memory of the step.
pub fn blocks(model: &Model, step: &mut Step, sensors: &mut Sensors) -> Result<Vec<(String, [Block; 4])>, SensorError> {
    let all = step.sensor_jacobian(sensors)?;
    let block = |m: MatRef| ((0..m.rows()).flat_map(|i| m.row(i)).copied().collect(), m.rows(), m.cols());
    let of = |k: usize| {
        let rows = all.get(k).ok()?;
        Some((name(model, k), [rows.dq, rows.dv, rows.dtau, rows.dctrl].map(block)))
    };
    Ok((0..model.sensors().len()).filter_map(of).collect())
}

/// A SensorJacobian for each name.
pub fn to_dict(py: Python<'_>, all: Vec<(String, [Block; 4])>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (name, blocks) in all {
        let array = |(numbers, rows, columns): Block| Ok::<_, PyErr>(to_matrix(py, rows, columns, numbers)?.unbind());
        let [dq, dv, dtau, dctrl] = blocks;
        let jacobian = SensorJacobian { dq: array(dq)?, dv: array(dv)?, dtau: array(dtau)?, dctrl: array(dctrl)? };
        dict.set_item(name, Py::new(py, jacobian)?)?;
    }
    Ok(dict)
}

/// Weights by the names of sensors, as one vector over all numbers. Whether a sensor can be read is for the step to say.
pub fn weights(model: &Model, by_name: &Bound<'_, PyDict>) -> Result<Vec<f64>, Failure> {
    let sizes: Vec<usize> = model.sensors().iter().map(|s| s.quantity.size(s.object)).collect();
    let mut all = vec![0.0; sizes.iter().sum()];
    for (key, x) in by_name {
        let key: String = key.extract()?;
        let number = (0..sizes.len()).find(|k| name(model, *k) == key);
        let Some(k) = number else { return Err(InputError::UnknownName { what: "sensor", name: key }.into()) };
        let first: usize = sizes[..k].iter().sum();
        all[first..first + sizes[k]].copy_from_slice(&of_size(&key, &x, sizes[k])?);
    }
    Ok(all)
}

/// Weights of one sensor.
fn of_size(sensor: &str, x: Input, size: usize) -> PyResult<Vec<f64>> {
    let numbers = vector("weights", x)?;
    if numbers.len() == size && numbers.iter().all(|x| x.is_finite()) {
        return Ok(numbers);
    }
    let text = format!("weights of sensor '{sensor}': expected {size} finite numbers, got {numbers:?}");
    Err(PyValueError::new_err(text))
}
