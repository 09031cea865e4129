//! Models in pickles: the text of a MJCF file, and what the text does not hold to the last bit.

use crate::errors::Failure;
use crate::model::{Model, Remarks, with_numbers};
use crate::scene::Warning;
use pyo3::prelude::*;
use slipstick::LoadOptions;

/// Text, parameters, time step and contact distance, warnings, notes, content hash.
pub type State = (String, Vec<f64>, (f64, f64), Vec<Warning>, Vec<String>, String);

pub fn state(model: &slipstick::Model, remarks: &Remarks, hash: String) -> State {
    let (numbers, o) = (model.parameters().values().to_vec(), model.options());
    let options = (o.dt, o.contact_distance);
    (slipstick::to_mjcf(model), numbers, options, remarks.warnings.clone(), remarks.notes.clone(), hash)
}

/// The model that was pickled.
#[pyfunction]
#[pyo3(name = "_restore")]
pub fn restore(
    py: Python<'_>,
    mjcf: &str,
    numbers: Vec<f64>,
    options: (f64, f64),
    warnings: Vec<Warning>,
    notes: Vec<String>,
    hash: String,
) -> Result<Model, Failure> {
    let inner = py.detach(|| slipstick::load_mjcf_str("pickled model", mjcf, &LoadOptions::default()))?;
    let inner = with_numbers(&inner, &numbers)?;
    let mut all = inner.options().clone();
    (all.dt, all.contact_distance) = options;
    Ok(Model::restored(inner.with_options(all)?, Remarks { warnings, notes }, hash))
}
