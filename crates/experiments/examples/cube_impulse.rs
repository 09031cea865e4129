//! The impulses that send a sliding cube to given poses: where exact derivatives get stuck, smoothed ones lead on.
//!
//! ```text
//! cargo run --release --package slipstick-experiments --example cube_impulse
//! ```
#![allow(clippy::print_stdout)] // an example tells what it does

use slipstick_experiments::{ExperimentError, Settings};

fn main() -> Result<(), ExperimentError> {
    let report = slipstick_experiments::cube_impulse(&Settings::default(), &mut |line| println!("{line}"))?;
    println!("{}", report.to_text());
    assert!(report.holds(), "a claim does not hold");
    Ok(())
}
