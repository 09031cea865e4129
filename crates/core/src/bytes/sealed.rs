//! The head of saved bytes: magic, version, checksum.

use crate::error::InputError;

/// Length of the head [bytes].
const HEAD: usize = 24;

/// What bytes are, and in which form.
pub(crate) struct Kind {
    /// In messages.
    pub what: &'static str,
    /// First bytes.
    pub magic: [u8; 8],
    /// To be raised whenever the form changes.
    pub version: u64,
}

/// Bytes with their head.
pub(crate) fn seal(kind: &Kind, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEAD + body.len());
    out.extend(kind.magic);
    out.extend(kind.version.to_le_bytes());
    out.extend(checksum(kind.version, body).to_le_bytes());
    out.extend(body);
    out
}

/// What follows the head, if it is whole.
pub(crate) fn open<'a>(kind: &Kind, bytes: &'a [u8]) -> Result<&'a [u8], InputError> {
    let damaged = |found| InputError::Damaged { what: kind.what, found };
    let Some((head, body)) = bytes.split_at_checked(HEAD).filter(|(head, _)| head.starts_with(&kind.magic)) else {
        return Err(damaged("other bytes"));
    };
    let word = |k: usize| head[8 * k..8 * k + 8].iter().rev().fold(0, |x, byte| x << 8 | u64::from(*byte));
    match (word(1), word(2)) {
        (version, sum) if sum != checksum(version, body) => Err(damaged("bytes with another checksum")),
        (version, _) if version != kind.version => {
            Err(InputError::Version { what: kind.what, expected: kind.version, got: version })
        }
        _ => Ok(body),
    }
}

/// Of version and body: a version that was damaged is no other version.
fn checksum(version: u64, body: &[u8]) -> u64 {
    let basis = fnv1a(OFFSET, &version.to_le_bytes());
    fnv1a(basis, body)
}

/// Start of a hash.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

/// 64 bits of FNV-1a (Fowler, Noll, Vo), going on from a hash. Any single byte that changes gives another one.
pub fn fnv1a(hash: u64, bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = Kind { what: "note", magic: *b"slipnote", version: 3 };

    #[test]
    fn the_hash_is_that_of_its_authors() {
        assert_eq!(fnv1a(OFFSET, b"a"), 0xaf63_dc4c_8601_ec8c);
    }

    #[test]
    fn what_was_sealed_opens_and_every_damage_is_found() {
        let sealed = seal(&KIND, b"some text");
        assert_eq!(open(&KIND, &sealed), Ok(&b"some text"[..]));
        for cut in 0..sealed.len() {
            assert!(open(&KIND, &sealed[..cut]).is_err(), "cut after {cut}");
            for bit in 0..8 {
                let mut flipped = sealed.clone();
                flipped[cut] ^= 1 << bit;
                assert!(matches!(open(&KIND, &flipped), Err(InputError::Damaged { .. })), "bit {bit} of byte {cut}");
            }
        }
    }

    #[test]
    fn another_version_names_both() {
        let sealed = seal(&Kind { version: 4, ..KIND }, b"some text");
        let error = open(&KIND, &sealed).unwrap_err();
        assert_eq!(error.to_string(), "note: expected version 3 of the format, got 4: it was saved by another version");
    }
}
