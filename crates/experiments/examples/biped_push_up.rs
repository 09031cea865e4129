//! Torques that hold a biped on hands and toes: Gauss–Newton through contact.
//!
//! ```text
//! cargo run --release -p slipstick-experiments --example biped_push_up [FOLDER WITH REAL ROBOTS]
//! ```
#![allow(clippy::print_stdout)] // an example tells what it does

use slipstick_experiments::{ExperimentError, Settings, biped_push_up};

fn main() -> Result<(), ExperimentError> {
    let mut settings = Settings::default();
    settings.models = std::env::args_os().nth(1).map(Into::into);
    let report = biped_push_up(&settings, &mut |line| println!("{line}"))?;
    println!("{}", report.to_text());
    assert!(report.holds(), "a claim does not hold");
    Ok(())
}
