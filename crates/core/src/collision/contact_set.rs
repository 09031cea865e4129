//! The contacts of a model and the memory of the search for them, which can be saved and restored.

use super::broadphase::Broadphase;
use super::contact::Contact;
use super::narrow::Warm;
use super::narrow::epa::Polytope;
use super::pair::Side;
use super::terrain::TerrainMemory;
use crate::error::InputError;
use crate::footprint::{Growths, footprint};
use crate::model::{Model, StructureId};
use crate::spatial::Vec3;

/// Pairs for which search memory is allocated from the start.
const REMEMBERED_PAIRS: usize = 256;

/// The contacts of a model at one configuration, and the memory of the search for them.
#[derive(Debug, Clone)]
pub struct ContactSet {
    pub(super) structure: StructureId,
    pub(super) broad: Broadphase,
    pub(super) candidates: Vec<u32>,
    /// Per candidate: the distance up to which it was looked for (m).
    pub(super) limits: Vec<f64>,
    /// Distance up to which the last search looked for all pairs (m).
    pub(super) distance: f64,
    /// Scratch: the reach of each body (m).
    pub(super) reached: Vec<f64>,
    /// Per pair: where the last search ended. It speeds up the next one without changing its result.
    pub(super) warm: Vec<Warm>,
    /// Pairs with an entry in the search memory.
    pub(super) searched: Vec<u32>,
    pub(super) memory: Polytope,
    pub(super) contacts: Vec<Contact>,
    /// Per patch: the touching features.
    pub(super) touches: Vec<[Side; 2]>,
    /// Per patch: which triangle of the ground touches; `NO_GROUND` if none does.
    pub(super) triangles: Vec<u32>,
    pub(super) ground: TerrainMemory,
    pub(super) unconverged: usize,
    pub(super) growths: Growths,
}

footprint!(ContactSet: broad, candidates, limits, reached, warm, searched, memory, contacts, touches, triangles, ground);

/// No triangle.
pub(super) const NO_GROUND: u32 = u32::MAX;
/// Contacts for which memory is allocated from the start.
const INITIAL_CONTACTS: usize = 64;

impl ContactSet {
    /// Memory for the contacts of a model.
    pub fn new(model: &Model) -> ContactSet {
        let n = model.pairs().len();
        let mut set = ContactSet {
            structure: model.structure_id(),
            broad: Broadphase::new(model),
            candidates: Vec::with_capacity(n),
            limits: Vec::with_capacity(n),
            distance: 0.0,
            reached: vec![0.0; model.n_bodies()],
            warm: vec![Warm::default(); n],
            searched: Vec::with_capacity(n.min(REMEMBERED_PAIRS)),
            memory: Polytope::new(),
            contacts: Vec::with_capacity(INITIAL_CONTACTS),
            touches: Vec::with_capacity(INITIAL_CONTACTS),
            triangles: Vec::with_capacity(INITIAL_CONTACTS),
            ground: TerrainMemory::default(),
            unconverged: 0,
            growths: Growths::default(),
        };
        set.growths = Growths::of(&set);
        set
    }

    /// Contacts of the last search, by rising number of their pairs.
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// How many pairs of the last search ended at the iteration limit, with the best result found.
    pub fn unconverged(&self) -> usize {
        self.unconverged
    }

    /// How often the memory had to grow since it was made.
    pub fn growths(&self) -> usize {
        self.growths.count
    }

    /// Which geom of a contact is ground (0 or 1), and the triangle that touches.
    pub(super) fn triangle(&self, model: &Model, contact: &Contact) -> Option<(usize, u32)> {
        let triangle = self.triangles[contact.witness as usize];
        let which = usize::from(!model.shape(contact.geoms[0]).is_terrain());
        (triangle != NO_GROUND).then_some((which, triangle))
    }

    /// Clears the memory of earlier searches.
    pub fn clear_searches(&mut self) {
        self.searched.drain(..).for_each(|k| self.warm[k as usize] = Warm::default());
    }
}

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
    /// The memory of earlier searches.
    pub(crate) fn searches(&self) -> SearchMemory {
        let mut out = SearchMemory::default();
        self.copy_searches(&mut out);
        out
    }

    /// Copies the search memory into existing memory.
    pub(crate) fn copy_searches(&self, out: &mut SearchMemory) {
        out.0.clear();
        let of = |k: &u32| (*k, self.warm[*k as usize].axis, self.warm[*k as usize].start);
        out.0.extend(self.searched.iter().map(of));
    }

    /// Restores the memory of earlier searches.
    pub(crate) fn restore(&mut self, memory: &SearchMemory) -> Result<(), InputError> {
        if let Some((pair, ..)) = memory.0.iter().find(|(k, ..)| *k as usize >= self.warm.len()) {
            let (what, count) = ("pair of the warm start", self.warm.len());
            return Err(InputError::OutOfRange { what, count, got: *pair as usize });
        }
        self.clear_searches();
        for (pair, axis, start) in &memory.0 {
            self.warm[*pair as usize] = Warm { axis: *axis, start: *start };
            self.searched.push(*pair);
        }
        Ok(())
    }
}
