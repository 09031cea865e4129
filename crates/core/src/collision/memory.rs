//! Where searches for contacts ended, to be saved and put back.

use super::detect::ContactSet;
use super::narrow::Warm;
use crate::error::InputError;
use crate::footprint::footprint;
use crate::spatial::Vec3;

/// Where the searches of some pairs ended: number of the pair, direction, first atoms.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct SearchMemory(Vec<(u32, Vec3, [u32; 2])>);

footprint!(SearchMemory: 0);

impl SearchMemory {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn entries(&self) -> &[(u32, Vec3, [u32; 2])] {
        &self.0
    }

    pub fn from_entries(entries: Vec<(u32, Vec3, [u32; 2])>) -> SearchMemory {
        SearchMemory(entries)
    }
}

impl ContactSet {
    /// What is remembered of earlier searches.
    pub(crate) fn searches(&self) -> SearchMemory {
        let mut out = SearchMemory::default();
        self.copy_searches(&mut out);
        out
    }

    /// A copy into the memory of an earlier one.
    pub(crate) fn copy_searches(&self, out: &mut SearchMemory) {
        out.0.clear();
        let of = |k: &u32| (*k, self.warm[*k as usize].axis, self.warm[*k as usize].start);
        out.0.extend(self.searched.iter().map(of));
    }

    /// Puts it back.
    pub(crate) fn restore(&mut self, memory: &SearchMemory) -> Result<(), InputError> {
        if let Some((pair, ..)) = memory.0.iter().find(|(k, ..)| *k as usize >= self.warm.len()) {
            let (what, count) = ("pair of the warm start", self.warm.len());
            return Err(InputError::OutOfRange { what, count, got: *pair as usize });
        }
        self.forget();
        for (pair, axis, start) in &memory.0 {
            self.warm[*pair as usize] = Warm { axis: *axis, start: *start };
            self.searched.push(*pair);
        }
        Ok(())
    }
}
