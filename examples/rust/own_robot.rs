//! A robot from a URDF: load it, give its joints servos, let it wipe the floor with its hand.

use slipstick::control::Command;
use slipstick::{Input, LoadOptions, Mode, Model, Simulator, State};

const URDF: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../robots/arm.urdf");

/// Angles (rad) that press the hand onto the floor and draw it in.
fn targets(time: f64) -> [f64; 2] {
    [0.3, 0.4 + 0.4 * time]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // the base is fixed; with_free_root() for robots that walk
    let arm = slipstick::load_with(URDF, &LoadOptions::default().with_ground())?;
    println!("{} {:?} {} kg", arm.name(), arm.dof_names(), arm.inertias()[arm.body("fore")?.index()].mass);
    let mut options = arm.options().clone();
    options.dt = 0.002; // (s)
    // URDF has no actuators: a position servo for every joint
    let arm = arm.with_servos(200.0, 20.0)?.with_options(options)?;

    let mut sim = Simulator::new(&arm);
    let run = sim.rollout(500, |_: &Model, x: &State, command: &mut Command| command.ctrl = targets(x.time).into())?;
    println!("angles after 1 s: {:.4?} steps that did not converge: {}", sim.state().q, run.not_converged());

    let now = targets(sim.time());
    let mut step = sim.step(&Input::ctrl(&now))?;
    let contacts: Vec<_> = step.contacts().collect();
    for contact in &contacts {
        let bodies = contact.bodies.map(|b| &arm.bodies()[b.index()].name);
        let force = contact.impulse * (1.0 / arm.options().dt);
        println!("{bodies:?} {:?} force {:.2?} N", contact.mode, force.to_array());
    }
    println!("{}", step.explain());

    let through = step.jacobian()?.dv_dctrl; // velocities with respect to targets, through the contact
    println!("d(velocities)/d(targets):\n{:9.6?}\n{:9.6?}", through.row(0), through.row(1));
    assert!(contacts[0].mode == Mode::Slide && contacts[0].impulse.z > 10.0 * arm.options().dt);
    assert!(through.row(0).iter().any(|x| x.abs() > 0.1));
    Ok(())
}
