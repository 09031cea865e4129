//! Exact bytes: what is written is read back bit for bit. Numbers are little-endian, counts come first.
//!
//! A file has a head: what it is, the version of its form, and a checksum of the rest. The checksum finds damage, not
//! malice: whoever can write a file can write its checksum too.

mod codec;
mod sealed;

pub(crate) use codec::{Bytes, Reader, enum_bytes, newtype_bytes, struct_bytes};
pub use sealed::fnv1a;
pub(crate) use sealed::{Kind, open, seal};
