//! Models in pickles: the text of a MJCF file, and what the text does not hold to the last bit.

use crate::errors::Failure;
use crate::model::edits::with_numbers;
use crate::model::scene::ModelWarning;
use crate::model::{Model, Remarks, options};
use pyo3::prelude::*;
use slipstick::LoadOptions;

/// Text, parameters, options, warnings, notes, content hash.
pub type State = (String, Vec<f64>, options::Saved, Vec<ModelWarning>, Vec<String>, String);

pub fn state(model: &slipstick::Model, remarks: &Remarks, hash: String) -> PyResult<State> {
    let (numbers, options) = (model.parameters().values().to_vec(), options::save(model.options())?);
    Ok((slipstick::files::to_mjcf(model), numbers, options, remarks.warnings.clone(), remarks.notes.clone(), hash))
}

/// The model that was pickled.
#[pyfunction]
#[pyo3(name = "_restore")]
pub fn restore(
    py: Python<'_>,
    mjcf: &str,
    numbers: Vec<f64>,
    saved: options::Saved,
    warnings: Vec<ModelWarning>,
    notes: Vec<String>,
    hash: String,
) -> Result<Model, Failure> {
    let inner = py.detach(|| slipstick::files::load_mjcf_str("pickled model", mjcf, &LoadOptions::default()))?;
    let inner = with_numbers(&inner, &numbers)?;
    let mut all = inner.options().clone();
    options::restore(saved, &mut all)?;
    Ok(Model::restored(inner.with_options(all)?, Remarks { warnings, notes }, hash))
}
