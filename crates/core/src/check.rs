//! The door: lengths and finiteness of what users hand in. Behind it kernels trust.

use crate::error::InputError;

/// A vector of the right length with finite numbers only.
pub(crate) fn vector(what: &'static str, x: &[f64], expected: usize) -> Result<(), InputError> {
    length(what, x.len(), expected)?;
    // without a branch per number: this runs before every call
    if x.iter().fold(true, |ok, v| ok & v.is_finite()) {
        return Ok(());
    }
    match x.iter().position(|v| !v.is_finite()) {
        Some(index) => Err(InputError::NotFinite { what, index }),
        None => Ok(()),
    }
}

/// A length that the model needs.
pub(crate) fn length(what: &'static str, got: usize, expected: usize) -> Result<(), InputError> {
    if got == expected { Ok(()) } else { Err(InputError::Length { what, expected, got }) }
}
