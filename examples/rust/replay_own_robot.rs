//! A page that plays a motion of an own robot, with its contacts; and the motion as a file.

use slipstick::control::Command;
use slipstick::{LoadOptions, Model, Simulator, State, Trajectory};
use slipstick_view::Replay;
use std::path::PathBuf;

const URDF: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../robots/arm.urdf");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let out = PathBuf::from(std::env::args().nth(1).unwrap_or(".".into()));
    let arm = slipstick::load_with(URDF, &LoadOptions::default().with_ground())?.with_servos(200.0, 20.0)?;
    let mut options = arm.options().clone();
    options.dt = 0.002; // (s)
    let arm = arm.with_options(options)?;

    let mut sim = Simulator::new(&arm);
    let mut run = Trajectory::new(&arm).with_contacts();
    let targets = |_: &Model, x: &State, command: &mut Command| {
        command.ctrl = vec![0.3, 0.4 + 0.4 * x.time];
    };
    sim.rollout_into(800, targets, &mut run)?;

    let mut replay = Replay::new(&arm).with_title("An arm touches the floor");
    replay.record_trajectory(&run)?;
    replay.save(out.join("arm.html"))?;
    run.save(out.join("arm.npz"))?;
    let again = Trajectory::load(out.join("arm.npz"), &arm)?;
    println!("{} frames of {} steps; open {}", replay.frames(), again.steps(), out.join("arm.html").display());
    Ok(())
}
