//! What is wrong with a file: where, what was expected, what was found, and what to do about it.

use slipstick_core::error::BuildError;
use slipstick_core::model::Warning;
use std::fmt;

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// Path of the file as it was opened, or the name that was given for a text.
    pub file: String,
    /// Line, counted from 1; 0 stands for the whole file.
    pub line: u32,
    /// The element, for example `<joint name="hip">`; may be empty.
    pub element: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        if !self.element.is_empty() {
            write!(f, ": {}", self.element)?;
        }
        Ok(())
    }
}

/// Why a file makes no model. Hints may be empty.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum LoadError {
    /// A file cannot be read.
    Read {
        /// The file; the element that asks for it, if another file does.
        place: Box<Place>,
        /// What the system says, or where it was looked for.
        got: String,
        /// What to do.
        hint: String,
    },
    /// A file is of a kind that is not read.
    Format {
        /// The file.
        place: Box<Place>,
        /// Kinds that are read.
        expected: String,
        /// What the file is.
        got: String,
        /// What to do.
        hint: String,
    },
    /// A file is not well-formed.
    Syntax {
        /// Where.
        place: Box<Place>,
        /// What is wrong.
        got: String,
    },
    /// An attribute (or a number of a mesh) has a value that makes no sense.
    Value {
        /// Where.
        place: Box<Place>,
        /// Name of the attribute.
        attribute: String,
        /// What it must be.
        expected: String,
        /// What it is.
        got: String,
        /// What to do.
        hint: String,
    },
    /// An attribute or a child is missing.
    Missing {
        /// Where.
        place: Box<Place>,
        /// What is missing.
        expected: String,
        /// What to do.
        hint: String,
    },
    /// A name that nothing has.
    Unknown {
        /// Where it is used.
        place: Box<Place>,
        /// Kind of thing that is referred to.
        expected: &'static str,
        /// The name.
        got: String,
        /// What to do.
        hint: String,
    },
    /// The parts do not fit together.
    Structure {
        /// Where.
        place: Box<Place>,
        /// What must hold.
        expected: String,
        /// What holds instead.
        got: String,
        /// What to do.
        hint: String,
    },
    /// An option needs a part of this library that was left out when it was compiled.
    Feature {
        /// The file.
        place: Box<Place>,
        /// The field of [`LoadOptions`](crate::LoadOptions).
        option: &'static str,
        /// The cargo feature of `slipstick` and `slipstick-io` that has it.
        feature: &'static str,
    },
    /// The description is complete, and makes no model.
    Model {
        /// The file.
        place: Box<Place>,
        /// Why.
        error: BuildError,
    },
    /// The file makes a model, but with warnings, and `strict` allows none.
    Strict {
        /// The file.
        place: Box<Place>,
        /// What the model does not represent.
        warnings: Vec<Warning>,
    },
    /// The file describes more than is read, so that it cannot fill the memory: see [`Limits`](crate::Limits).
    Limit {
        /// Where.
        place: Box<Place>,
        /// The field of [`Limits`](crate::Limits).
        limit: &'static str,
        /// What is counted.
        what: &'static str,
        /// How many are allowed.
        allowed: usize,
        /// How many there are, or how that comes about.
        got: String,
    },
    /// Geoms that may collide overlap at the start, and the option `overlap` is `error`.
    Overlap {
        /// The file.
        place: Box<Place>,
        /// Each pair with its depth, the deepest first.
        pairs: Vec<String>,
    },
}

impl LoadError {
    /// Where it is.
    pub fn place(&self) -> &Place {
        match self {
            LoadError::Read { place, .. }
            | LoadError::Format { place, .. }
            | LoadError::Syntax { place, .. }
            | LoadError::Value { place, .. }
            | LoadError::Missing { place, .. }
            | LoadError::Unknown { place, .. }
            | LoadError::Structure { place, .. }
            | LoadError::Feature { place, .. }
            | LoadError::Model { place, .. }
            | LoadError::Limit { place, .. }
            | LoadError::Overlap { place, .. }
            | LoadError::Strict { place, .. } => place,
        }
    }

    /// What to do about it; empty where nothing general can be said.
    pub fn hint(&self) -> &str {
        match self {
            LoadError::Read { hint, .. }
            | LoadError::Format { hint, .. }
            | LoadError::Value { hint, .. }
            | LoadError::Missing { hint, .. }
            | LoadError::Unknown { hint, .. }
            | LoadError::Structure { hint, .. } => hint,
            LoadError::Syntax { .. }
            | LoadError::Feature { .. }
            | LoadError::Model { .. }
            | LoadError::Limit { .. }
            | LoadError::Overlap { .. }
            | LoadError::Strict { .. } => "",
        }
    }

    /// This error with a hint.
    pub(crate) fn with_hint(mut self, text: impl Into<String>) -> LoadError {
        match &mut self {
            LoadError::Read { hint, .. }
            | LoadError::Format { hint, .. }
            | LoadError::Value { hint, .. }
            | LoadError::Missing { hint, .. }
            | LoadError::Unknown { hint, .. }
            | LoadError::Structure { hint, .. } => *hint = text.into(),
            LoadError::Syntax { .. }
            | LoadError::Feature { .. }
            | LoadError::Model { .. }
            | LoadError::Limit { .. }
            | LoadError::Overlap { .. }
            | LoadError::Strict { .. } => {}
        }
        self
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place())?;
        match self {
            LoadError::Read { got, .. } => write!(f, "cannot read the file: {got}")?,
            LoadError::Format { expected, got, .. } => write!(f, "expected {expected}, got {got}")?,
            LoadError::Syntax { got, .. } => write!(f, "{got}")?,
            LoadError::Value { attribute, expected, got, .. } => {
                write!(f, "{attribute}: expected {expected}, got {got}")?
            }
            LoadError::Missing { expected, .. } => write!(f, "{expected} is missing")?,
            LoadError::Unknown { expected, got, .. } => write!(f, "there is no {expected} named '{got}'")?,
            LoadError::Structure { expected, got, .. } => write!(f, "expected {expected}, got {got}")?,
            LoadError::Feature { option, feature, .. } => {
                write!(f, "the option {option} needs slipstick compiled with the feature '{feature}'")?
            }
            LoadError::Model { error, .. } => write!(f, "{error}")?,
            LoadError::Limit { limit, what, allowed, got, .. } => {
                write!(f, "expected at most {allowed} {what}, got {got}; the limit '{limit}' can be raised")?
            }
            LoadError::Overlap { pairs, .. } => {
                write!(f, "expected no geoms that overlap at the start, got {}: {}", pairs.len(), pairs.join(", "))?
            }
            LoadError::Strict { warnings, .. } => {
                write!(f, "strict loading allows no warnings, got {}", warnings.len())?;
                warnings.iter().try_for_each(|w| write!(f, "\n  {w}"))?;
            }
        }
        if self.hint().is_empty() { Ok(()) } else { write!(f, "; {}", self.hint()) }
    }
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LoadError::Model { error, .. } => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_sentence_that_begins_with_the_place() {
        let place = Place { file: "arm.xml".into(), line: 7, element: "<joint name=\"elbow\">".into() };
        let error = LoadError::Value {
            place: Box::new(place),
            attribute: "axis".into(),
            expected: "3 numbers".into(),
            got: "'0 1'".into(),
            hint: String::new(),
        };
        assert_eq!(error.to_string(), "arm.xml:7: <joint name=\"elbow\">: axis: expected 3 numbers, got '0 1'");
        let error = error.with_hint("write all three components");
        assert!(error.to_string().ends_with("got '0 1'; write all three components"));
    }
}
