//! The page about replays. Its Rust block is a doctest of this crate; the item exists for nothing else.

#[doc = include_str!("../../../docs/replays.md")]
struct Replays;
