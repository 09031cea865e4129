//! Torques that hold a quadruped on its two front feet, which it can do only with its center of mass above their line.
//!
//! ```text
//! cargo run --release -p slipstick-experiments --example quadruped_handstand [FOLDER WITH REAL ROBOTS]
//! ```
#![allow(clippy::print_stdout)] // an example tells what it does

use slipstick_experiments::{ExperimentError, Settings, quadruped_handstand};

fn main() -> Result<(), ExperimentError> {
    let mut settings = Settings::default();
    settings.models = std::env::args_os().nth(1).map(Into::into);
    let report = quadruped_handstand(&settings, &mut |line| println!("{line}"))?;
    println!("{}", report.to_text());
    assert!(report.holds(), "a claim does not hold");
    Ok(())
}
