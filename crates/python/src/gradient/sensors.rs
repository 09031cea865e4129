//! Derivatives of readings, sensor by sensor as `Step.sensors` has the readings.

use crate::arguments::wrong_type;
use crate::arrays::{Input, array, to_matrix};
use crate::errors::Failure;
use crate::simulate::sensors::name;
use numpy::PyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use slipstick::linalg::MatRef;
use slipstick::sensors::{SensorError, Sensors};
use slipstick::{InputError, Model, Step};
use std::ops::Range;

/// Derivatives of the readings of a sensor: a row for each of its numbers, configurations count as tangents.
///
/// Attributes: dq, dv, dtau (size, nv), dctrl (size, nu; without columns if the step was made without ctrl), dact (size, na): with
/// respect to q, v, tau, ctrl and act.
#[pyclass(frozen, get_all, module = "slipstick.types")]
pub struct SensorJacobian {
    dq: Py<PyArray2<f64>>,
    dv: Py<PyArray2<f64>>,
    dtau: Py<PyArray2<f64>>,
    dctrl: Py<PyArray2<f64>>,
    dact: Py<PyArray2<f64>>,
}

#[pymethods]
impl SensorJacobian {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let shape = |x: &Py<PyArray2<f64>>| x.bind(py).getattr("shape")?.extract::<(usize, usize)>();
        Ok(format!("<slipstick.types.SensorJacobian: dq {:?}, dctrl {:?}>", shape(&self.dq)?, shape(&self.dctrl)?))
    }
}

/// Numbers row by row, rows and columns.
type Block = (Vec<f64>, usize, usize);

/// Names and blocks of all sensors that can be read, taken out of the memory of the step.
pub fn blocks(model: &Model, step: &mut Step, sensors: &mut Sensors) -> Result<Vec<(String, [Block; 5])>, SensorError> {
    let all = step.sensor_jacobian(sensors)?;
    let block = |m: MatRef| ((0..m.rows()).flat_map(|i| m.row(i)).copied().collect(), m.rows(), m.cols());
    let of = |k: usize| {
        let rows = all.get(k).ok()?;
        Some((name(model, k), [rows.dq, rows.dv, rows.dtau, rows.dctrl, rows.dact].map(block)))
    };
    Ok((0..model.sensors().len()).filter_map(of).collect())
}

/// A SensorJacobian for each name.
pub fn to_dict(py: Python<'_>, all: Vec<(String, [Block; 5])>) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    for (name, blocks) in all {
        let array = |(numbers, rows, columns): Block| Ok::<_, PyErr>(to_matrix(py, rows, columns, numbers)?.unbind());
        let [dq, dv, dtau, dctrl, dact] = blocks.map(array);
        let jacobian = SensorJacobian { dq: dq?, dv: dv?, dtau: dtau?, dctrl: dctrl?, dact: dact? };
        dict.set_item(name, Py::new(py, jacobian)?)?;
    }
    Ok(dict)
}

/// Weights by the names of sensors, as one vector over all numbers. Whether a sensor can be read is for the step to say.
pub fn weights(model: &Model, by_name: &Bound<'_, PyDict>) -> Result<Vec<f64>, Failure> {
    let sensors = Sensors::new(model);
    let mut all = vec![0.0; sensors.ranges().last().map_or(0, |r| r.end)];
    for (key, x) in by_name {
        let (key, range) = find(model, &sensors, &key)?;
        all[range.clone()].copy_from_slice(&of_size(&key, &x, range.len())?);
    }
    Ok(all)
}

/// Weights (steps, size) by the names of sensors, as rows over all numbers; none where nothing is given.
pub fn weights_of_steps(model: &Model, steps: usize, by_name: Option<&Bound<'_, PyDict>>) -> Result<Vec<f64>, Failure> {
    let Some(by_name) = by_name.filter(|d| !d.is_empty()) else { return Ok(Vec::new()) };
    let sensors = Sensors::new(model);
    let width = sensors.ranges().last().map_or(0, |r| r.end);
    let mut all = vec![0.0; steps * width];
    for (key, x) in by_name {
        let (key, range) = find(model, &sensors, &key)?;
        let (numbers, shape) = array(&format!("sensors['{key}']"), &x)?;
        if *shape != [steps, range.len()] || numbers.iter().any(|x| !x.is_finite()) {
            let expected = format!("finite numbers of shape ({steps}, {})", range.len());
            let text = format!("sensors['{key}']: expected {expected}, got an array of shape {shape:?}");
            return Err(PyValueError::new_err(text).into());
        }
        let rows = all.chunks_exact_mut(width).zip(numbers.chunks_exact(range.len()));
        rows.for_each(|(row, x)| row[range.clone()].copy_from_slice(x));
    }
    Ok(all)
}

/// The name of a sensor and where its numbers are among all.
fn find(model: &Model, sensors: &Sensors, key: &Bound<'_, PyAny>) -> Result<(String, Range<usize>), Failure> {
    let key: String = key.extract().map_err(|_| wrong_type("sensors", "names of sensors as keys", key))?;
    let names: Vec<String> = (0..sensors.ranges().len()).map(|k| name(model, k)).collect();
    let unknown = || InputError::unknown_name("sensor", &key, names.iter().map(String::as_str));
    let k = names.iter().position(|n| *n == key).ok_or_else(unknown)?;
    Ok((key, sensors.ranges()[k].clone()))
}

/// Weights of one sensor.
fn of_size(sensor: &str, x: Input, size: usize) -> PyResult<Vec<f64>> {
    let (numbers, shape) = array(&format!("sensors['{sensor}']"), x)?;
    if shape.len() == 1 && numbers.len() == size && numbers.iter().all(|x| x.is_finite()) {
        return Ok(numbers);
    }
    let text = format!("sensors['{sensor}']: expected {size} finite numbers, got {numbers:?}");
    Err(PyValueError::new_err(text))
}
