//! How large what a file describes may be: checked before memory is taken, so that a few lines cannot fill it.

use crate::error::{LoadError, Place};
use slipstick_core::ModelBuilder;

/// How large what a file describes may be. Beyond it loading ends with [`LoadError::Limit`], which names the field.
///
/// The defaults are far above any robot that is in use; they keep the memory of a load in the range of a few gigabytes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a file: a description, a mesh, a height field, a list of pairs.
    pub file_bytes: usize,
    /// Elements of a description, with those that are included, attached and replicated.
    pub elements: usize,
    /// Attributes of an element.
    pub attributes: usize,
    /// Elements inside each other.
    pub depth: usize,
    /// Elements `<attach>` and `<replicate>`: each takes a look at the whole description.
    pub copies: usize,
    /// Heights of all height fields; pixels, where they come from pictures.
    pub heights: usize,
    /// Points and triangles of a mesh, each as often as its file places it.
    pub mesh_points: usize,
    /// Numbers in the joint-space inertia: one for every dof and every dof that moves it.
    pub inertia_numbers: usize,
    /// Pairs of geoms that may touch.
    pub pairs: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            file_bytes: 1 << 30,
            elements: 1_000_000,
            attributes: 256,
            depth: 5000,
            copies: 10_000,
            heights: 1 << 25,
            mesh_points: 20_000_000,
            inertia_numbers: 1 << 25,
            pairs: 15_000_000,
        }
    }
}

impl Limits {
    /// Fields by name, in the order of the documentation.
    fn fields(&mut self) -> [(&'static str, &mut usize); 9] {
        [
            ("file_bytes", &mut self.file_bytes),
            ("elements", &mut self.elements),
            ("attributes", &mut self.attributes),
            ("depth", &mut self.depth),
            ("copies", &mut self.copies),
            ("heights", &mut self.heights),
            ("mesh_points", &mut self.mesh_points),
            ("inertia_numbers", &mut self.inertia_numbers),
            ("pairs", &mut self.pairs),
        ]
    }

    /// Names of the fields.
    pub fn names() -> [&'static str; 9] {
        Limits::default().fields().map(|(name, _)| name)
    }

    /// A field by its name; `None` if there is none.
    pub fn by_name(&mut self, name: &str) -> Option<&mut usize> {
        self.fields().into_iter().find(|(n, _)| *n == name).map(|(_, value)| value)
    }

    /// The joint-space inertia of the links so far has room.
    pub(crate) fn check_inertia(&self, builder: &ModelBuilder, file: &str) -> Result<(), LoadError> {
        let (numbers, allowed) = (builder.inertia_numbers(), self.inertia_numbers);
        let place = || Place { file: file.into(), ..Place::default() };
        check(place, "inertia_numbers", "numbers in the joint-space inertia", allowed, numbers)
    }
}

/// An error if there is more than allowed; `what` are the things that are counted.
pub(crate) fn check(
    place: impl FnOnce() -> Place,
    limit: &'static str,
    what: &'static str,
    allowed: usize,
    got: usize,
) -> Result<(), LoadError> {
    if got <= allowed {
        return Ok(());
    }
    Err(LoadError::Limit { place: Box::new(place()), limit, what, allowed, got: got.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_found_by_its_name() {
        let mut limits = Limits::default();
        for name in Limits::names() {
            *limits.by_name(name).unwrap() = 7;
        }
        assert!(limits.fields().iter().all(|(_, value)| **value == 7));
        assert_eq!(format!("{limits:?}").matches(": 7").count(), Limits::names().len(), "no field is left out");
        assert_eq!(limits.by_name("height"), None);
    }
}
