//! Models in pickles: the text of a MJCF file, and what the text does not hold to the last bit.

use crate::errors::Failure;
use crate::model::edits::with_numbers;
use crate::model::scene::ModelWarning;
use crate::model::{Model, Remarks, options};
use pyo3::prelude::*;
use slipstick::LoadOptions;

/// Told by replays of models whose look was lost on the way.
const NO_VISUALS: &str = "the model was pickled, without its visual shapes: load its file to see them";

/// Text, parameters, options, warnings, notes, content hash, whether it has a look of its own.
pub type State = (String, Vec<f64>, options::Saved, Vec<ModelWarning>, Vec<String>, String, bool);

pub fn state(model: &slipstick::Model, remarks: &Remarks, hash: String) -> PyResult<State> {
    let (numbers, options) = (model.parameters().values().to_vec(), options::save(model.options())?);
    let (warnings, notes) = (remarks.warnings.clone(), remarks.notes.clone());
    Ok((slipstick::files::to_mjcf(model), numbers, options, warnings, notes, hash, model.visuals().has_own_shapes()))
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
    has_look: bool,
) -> Result<Model, Failure> {
    let inner = py.detach(|| slipstick::files::load_mjcf_str("pickled model", mjcf, &LoadOptions::default()))?;
    let inner = with_numbers(&inner, &numbers)?;
    let mut all = inner.options().clone();
    options::restore(saved, &mut all)?;
    let mut look = inner.visuals().clone();
    look.warnings.extend(has_look.then(|| NO_VISUALS.to_string()));
    let inner = inner.with_visuals(look)?;
    Ok(Model::restored(inner.with_options(all)?, Remarks { warnings, notes }, hash))
}
