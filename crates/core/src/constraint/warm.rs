//! The warm start of a step: impulses under the keys of their constraints, and the end points of collision searches.
//! (contact-13)

use crate::bytes::{Kind, open, seal};
use crate::collision::SearchMemory;
use crate::error::InputError;
use crate::footprint::{Footprint, footprint};
use crate::input_check::LARGEST;
use crate::spatial::Vec3;

/// Key of a constraint: pair and feature of a contact, or a number beyond all pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Key(pub u64, pub u64);

impl Key {
    /// Rows of joints begin here.
    pub const JOINT: u64 = 1 << 40;
    /// Equality constraints begin here.
    pub const EQUALITY: u64 = 1 << 41;
}

/// Impulse of a constraint (of a contact in world axes, of others in x), and its relaxation where the problem was
/// infeasible (1/kg).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StoredImpulse {
    pub key: Key,
    pub impulse: Vec3,
    pub relaxation: f64,
}

/// Constraints of the last step.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct WarmImpulses(Vec<StoredImpulse>);

footprint!(WarmImpulses: 0);

impl WarmImpulses {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn push(&mut self, stored: StoredImpulse) {
        self.0.push(stored);
    }

    /// Copies the impulses of another into the existing memory.
    pub fn copy_from(&mut self, other: &WarmImpulses) {
        self.0.clone_from(&other.0);
    }

    /// Finds impulses by their keys, quickly if keys come in the stored order.
    pub fn finder(&self) -> Finder<'_> {
        Finder { list: &self.0, next: 0 }
    }
}

/// See [`WarmImpulses::finder`].
pub(crate) struct Finder<'a> {
    list: &'a [StoredImpulse],
    next: usize,
}

impl Finder<'_> {
    pub fn find(&mut self, key: Key) -> Option<StoredImpulse> {
        let n = self.list.len();
        let found = (0..n).map(|k| (self.next + k) % n).find(|&k| self.list[k].key == key)?;
        self.next = found + 1;
        Some(self.list[found])
    }
}

/// Everything a step takes from the step before, apart from its state. State and warm start repeat a step bit for bit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WarmStart {
    pub(crate) impulses: WarmImpulses,
    pub(crate) searches: SearchMemory,
    /// Key of the structure that it is for; `None`: empty, for all.
    pub(crate) structure: Option<u64>,
}

const KIND: Kind = Kind { what: "warm start", magic: *b"slipwarm", version: 3 };
/// Numbers of 8 bytes per impulse and per search.
const IMPULSE_WORDS: usize = 6;
const SEARCH_WORDS: usize = 5;

impl WarmStart {
    /// Clears everything; memory stays.
    pub fn clear(&mut self) {
        self.impulses.clear();
        self.searches.clear();
        self.structure = None;
    }

    /// Bytes that it takes on the heap.
    pub fn bytes(&self) -> usize {
        self.impulses.heap() + self.searches.heap()
    }

    /// Bytes to be saved: a head with version and checksum, then numbers of 8 bytes, little-endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let searches = self.searches.entries();
        let mut words = vec![u64::from(self.structure.is_some()), self.structure.unwrap_or(0)];
        words.extend([self.impulses.0.len() as u64, searches.len() as u64]);
        for StoredImpulse { key, impulse: x, relaxation } in &self.impulses.0 {
            words.extend([key.0, key.1, x.x.to_bits(), x.y.to_bits(), x.z.to_bits(), relaxation.to_bits()]);
        }
        for (pair, axis, start) in searches {
            let starts = u64::from(start[0]) << 32 | u64::from(start[1]);
            words.extend([*pair as u64, axis.x.to_bits(), axis.y.to_bits(), axis.z.to_bits(), starts]);
        }
        let body: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        seal(&KIND, &body)
    }

    /// From saved bytes. Those of another version and damaged ones are errors.
    pub fn from_bytes(bytes: &[u8]) -> Result<WarmStart, InputError> {
        let wrong = |expected, got| InputError::Value { what: "warm start".into(), expected, got };
        let body = open(&KIND, bytes)?;
        let words: Vec<u64> = body.as_chunks::<8>().0.iter().map(|b| u64::from_le_bytes(*b)).collect();
        let [known, structure, impulses, searches, rest @ ..] = &words[..] else {
            return Err(wrong("as many bytes as its head says", bytes.len() as f64));
        };
        let structure = (*known != 0).then_some(*structure);
        let needed = (*impulses as u128) * IMPULSE_WORDS as u128 + (*searches as u128) * SEARCH_WORDS as u128;
        if needed != rest.len() as u128 || !body.len().is_multiple_of(8) {
            return Err(wrong("as many bytes as its head says", bytes.len() as f64));
        }
        let (first, second) = rest.split_at(*impulses as usize * IMPULSE_WORDS);
        let vector = |w: &[u64]| Vec3 { x: f64::from_bits(w[0]), y: f64::from_bits(w[1]), z: f64::from_bits(w[2]) };
        let stored = |w: &[u64]| StoredImpulse {
            key: Key(w[0], w[1]),
            impulse: vector(&w[2..]),
            relaxation: f64::from_bits(w[5]),
        };
        let impulses: Vec<_> = first.chunks_exact(IMPULSE_WORDS).map(stored).collect();
        let entry = |w: &[u64]| (w[0] as u32, vector(&w[1..]), [(w[4] >> 32) as u32, w[4] as u32]);
        let searches: Vec<_> = second.chunks_exact(SEARCH_WORDS).map(entry).collect();
        let vectors = impulses.iter().map(|k| k.impulse).chain(searches.iter().map(|(_, x, _)| *x));
        if let Some(x) = vectors.flat_map(|v| v.to_array()).find(|x| x.is_nan() || x.abs() > LARGEST) {
            return Err(wrong("finite numbers of sensible size", x));
        }
        if let Some(k) = impulses.iter().find(|k| !(0.0..LARGEST).contains(&k.relaxation)) {
            return Err(wrong("compliances of zero or more", k.relaxation));
        }
        Ok(WarmStart { impulses: WarmImpulses(impulses), searches: SearchMemory::from_entries(searches), structure })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> WarmStart {
        let push = Vec3 { x: 0.1, y: -0.2, z: 3.0 };
        let stored = |key, impulse, relaxation| StoredImpulse { key, impulse, relaxation };
        let impulses =
            WarmImpulses(vec![stored(Key(4, 17), push, 0.25), stored(Key(Key::JOINT, 2), Vec3::UNITS[0], 0.0)]);
        WarmStart {
            impulses,
            searches: SearchMemory::from_entries(vec![(4, Vec3::UNITS[2], [3, 7])]),
            structure: Some(7),
        }
    }

    #[test]
    fn bytes_bring_a_warm_start_back() {
        assert_eq!(WarmStart::from_bytes(&example().to_bytes()), Ok(example()));
        assert_eq!(WarmStart::from_bytes(&WarmStart::default().to_bytes()), Ok(WarmStart::default()));
    }

    #[test]
    fn bytes_that_are_no_warm_start_are_refused_with_a_reason() {
        let good = example().to_bytes();
        let refused = |bytes: &[u8], reason: &str| {
            let text = WarmStart::from_bytes(bytes).map(|_| ()).expect_err(reason).to_string();
            assert!(text.contains("warm start") && text.contains(reason), "{text}");
        };
        // with a checksum that is right again
        let changed = |at: usize, word: u64| {
            let mut body = good[24..].to_vec();
            body[8 * at..8 * at + 8].copy_from_slice(&word.to_le_bytes());
            seal(&KIND, &body)
        };
        refused(&[], "got other bytes");
        refused(&good[..good.len() - 1], "got bytes with another checksum");
        refused(&seal(&Kind { version: 2, ..KIND }, &good[24..]), "expected version 3 of the format, got 2");
        refused(&seal(&KIND, &good[24..good.len() - 1]), "as many bytes as its head says");
        refused(&changed(2, u64::MAX), "as many bytes as its head says");
        refused(&changed(6, f64::NAN.to_bits()), "finite numbers");
        refused(&changed(6, 1e300_f64.to_bits()), "finite numbers");
        refused(&changed(9, (-1.0_f64).to_bits()), "compliances of zero or more");
    }
}
