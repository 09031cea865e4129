//! Torques that hold a quadruped with 10 kg on its back: Gauss–Newton through contact.
//!
//! ```text
//! cargo run --release -p slipstick-experiments --example quadruped_payload [FOLDER WITH REAL ROBOTS]
//! ```
#![allow(clippy::print_stdout)] // an example tells what it does

use slipstick_experiments::{ExperimentError, Settings, quadruped_payload};

fn main() -> Result<(), ExperimentError> {
    let mut settings = Settings::default();
    settings.models = std::env::args_os().nth(1).map(Into::into);
    let report = quadruped_payload(&settings, &mut |line| println!("{line}"))?;
    println!("{}", report.to_text());
    assert!(report.holds(), "a claim does not hold");
    Ok(())
}
