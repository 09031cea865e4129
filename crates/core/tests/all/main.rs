//! Integration tests of the core, in one binary.
mod architecture;
mod builder;
mod gradients;
mod large;
mod physics;
mod properties;
