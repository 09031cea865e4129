//! Derivatives on the picture: a quadruped is pushed; what would make it faster, and how would it move if it began faster?

use slipstick::dynamics::Wrench;
use slipstick::spatial::Vec3;
use slipstick::{Input, Simulator};
use slipstick_view::{Output, Perturbation, Replay};
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let out = PathBuf::from(std::env::args().nth(1).unwrap_or(".".into()));
    let model = slipstick::builtin("quadruped")?;
    let (ctrl, trunk) = (model.keyframes()[0].ctrl.clone(), model.body("trunk")?);
    let mut sim = Simulator::at_keyframe(&model, "home")?;

    let speed = Output::velocity(&model, "trunk", Vec3::new(1.0, 0.0, 0.0))?; // arrows: forces on bodies, torques of joints
    let mut faster = vec![0.0; model.nv()];
    faster[0] = 1.0;
    let faster = Perturbation { v: faster, ..Perturbation::default() }; // a ghost with a slider
    let mut replay = Replay::new(&model)
        .with_title("A quadruped is pushed")
        .with_gradient_of(speed)?
        .with_perturbation("begins 1 m/s faster", faster)?;
    replay.record_state(sim.state())?;

    let push = [Wrench::new(trunk, Vec3::new(60.0, 25.0, 0.0), Vec3::ZERO)]; // (N)
    for k in 0..600 {
        let wrenches = if (200..300).contains(&k) { &push[..] } else { &[] };
        sim.step(&Input { wrenches, ..Input::ctrl(&ctrl) })?;
        let next = sim.state().clone();
        if let Some(mut step) = sim.last_step() {
            replay.record(&mut step, &next)?;
        }
    }
    replay.save(out.join("pushed.html"))?;
    println!("{} frames; open {}", replay.frames(), out.join("pushed.html").display());
    assert!(replay.warnings().is_empty(), "{:?}", replay.warnings());
    assert_eq!(replay.frames(), 37, "60 per second, and the last");
    Ok(())
}
