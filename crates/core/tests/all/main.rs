//! Integration tests of the core, in one binary.
mod architecture;
mod builder;
mod physics;
mod properties;
