//! The first velocities of a cube that slides to given poses, by least squares on exact derivatives and on differences.
//!
//! ```text
//! cargo run --release --package slipstick-experiments --example cube_velocity
//! ```
#![allow(clippy::print_stdout)] // an example tells what it does

use slipstick_experiments::{ExperimentError, Settings};

fn main() -> Result<(), ExperimentError> {
    let report = slipstick_experiments::cube_velocity(&Settings::default(), &mut |line| println!("{line}"))?;
    println!("{}", report.to_text());
    assert!(report.holds(), "a claim does not hold");
    Ok(())
}
