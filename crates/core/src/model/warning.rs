//! What a file says and the model does not represent.

use core::fmt;

/// Something that the model does not represent and that would change the motion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What was found, for example `<tendon>`.
    pub what: String,
    /// Where: file, line, element.
    pub place: String,
    /// What follows from it.
    pub effect: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.as_str() {
            "" => write!(f, "{}: {}", self.what, self.effect),
            place => write!(f, "{place}: {}: {}", self.what, self.effect),
        }
    }
}
