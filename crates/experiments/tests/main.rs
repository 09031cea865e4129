//! Tests of the experiments: one binary.

mod balance;
mod holding;
