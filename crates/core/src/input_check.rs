//! The public boundary: lengths and finiteness of user input are checked here, and trusted inside.

use crate::error::InputError;

/// Numbers beyond it overflow in products such as m r v², so that results would not be finite.
pub(crate) const LARGEST: f64 = 1e60;

/// A vector of the right length with finite numbers of sensible size only.
pub fn vector(what: &'static str, x: &[f64], expected: usize) -> Result<(), InputError> {
    length(what, x.len(), expected)?;
    // without a branch per number: this runs before every call
    if x.iter().fold(true, |ok, v| ok & (v.abs() <= LARGEST)) {
        return Ok(());
    }
    match x.iter().position(|v| v.is_nan() || v.abs() > LARGEST) {
        Some(index) if !x[index].is_finite() => Err(InputError::NotFinite { what, index }),
        Some(index) => Err(InputError::TooLarge { what, index, got: x[index] }),
        None => Ok(()),
    }
}

/// A vector, or nothing: empty slices stand for zeros.
pub fn vector_or_none(what: &'static str, x: &[f64], expected: usize) -> Result<(), InputError> {
    if x.is_empty() { Ok(()) } else { vector(what, x, expected) }
}

/// A length that the model needs.
pub(crate) fn length(what: &'static str, got: usize, expected: usize) -> Result<(), InputError> {
    if got == expected { Ok(()) } else { Err(InputError::Length { what, expected, got }) }
}

/// A length that the model needs, or nothing.
pub(crate) fn length_or_none(what: &'static str, got: usize, expected: usize) -> Result<(), InputError> {
    if got == 0 { Ok(()) } else { length(what, got, expected) }
}
