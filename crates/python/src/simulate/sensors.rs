//! Readings of sensors by name.

use crate::arrays::to_matrix;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use slipstick::Model;
use slipstick::sensors::Sensors;

/// Name and numbers of a sensor, those of several steps one after the other.
pub type Reading = (String, Vec<f64>);

/// Name of sensor `k`; without one it goes by its number.
pub fn name(model: &Model, k: usize) -> String {
    match model.sensors()[k].name.as_str() {
        "" => k.to_string(),
        name => name.to_string(),
    }
}

/// What can be read, in the order of the model.
pub fn readings(model: &Model, sensors: &Sensors) -> Vec<Reading> {
    let read = |k: usize| sensors.get(k).ok().map(|numbers| (name(model, k), numbers.to_vec()));
    (0..model.sensors().len()).filter_map(read).collect()
}

/// What can be read, from the numbers of all sensors step after step.
pub fn of_steps(model: &Model, rows: &[f64]) -> Vec<Reading> {
    let sensors = Sensors::new(model);
    let (ranges, size) = (sensors.ranges(), sensors.ranges().last().map_or(0, |r| r.end));
    let of = |k: usize| rows.chunks_exact(size).flat_map(|row| row[ranges[k].clone()].to_vec()).collect();
    let readable = (0..ranges.len()).filter(|k| sensors.get(*k).is_ok());
    readable.map(|k| (name(model, k), of(k))).collect()
}

/// Adds the numbers of one more step.
pub fn append(all: &mut Vec<Reading>, model: &Model, sensors: &Sensors) {
    if all.is_empty() {
        *all = readings(model, sensors);
        return;
    }
    let readable = (0..model.sensors().len()).filter_map(|k| sensors.get(k).ok());
    for ((_, numbers), new) in all.iter_mut().zip(readable) {
        numbers.extend_from_slice(new);
    }
}

/// Arrays by name: (size,) of one step, (steps, size) of several.
pub fn to_dict<'py>(py: Python<'py>, all: &[Reading], steps: Option<usize>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, numbers) in all {
        match steps {
            None => dict.set_item(name, PyArray1::from_slice(py, numbers))?,
            Some(n) => dict.set_item(name, to_matrix(py, n, numbers.len() / n.max(1), numbers.clone())?)?,
        }
    }
    Ok(dict)
}
