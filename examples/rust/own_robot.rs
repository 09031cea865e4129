//! A robot from a URDF: load it, give its joints servos, let it press its hand onto the floor.

use slipstick::{Input, LoadOptions, Simulator};

const URDF: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../robots/arm.urdf");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // the base is fixed; with_free_root() for robots that walk
    let arm = slipstick::load_with(URDF, &LoadOptions::default().with_ground())?;
    println!("{} {:?}", arm.name(), arm.dof_names());
    let mut options = arm.options().clone();
    options.dt = 0.002; // (s)
    // URDF has no actuators: a position servo for every joint
    let arm = arm.with_servos(200.0, 20.0)?.with_options(options)?;

    let mut sim = Simulator::new(&arm);
    let targets = [0.3, 0.2]; // (rad): the hand goes down, meets the floor and slides on it
    let run = sim.rollout(200, targets)?;
    println!("angles after 0.4 s: {:.4?} all solved: {}", sim.state().q, run.not_converged() == 0);

    let mut step = sim.step(&Input::ctrl(&targets))?;
    let contacts: Vec<_> = step.contacts().collect();
    for contact in &contacts {
        let bodies = contact.bodies.map(|b| &arm.bodies()[b.index()].name);
        let force = contact.impulse * (1.0 / arm.options().dt);
        println!("{bodies:?} {:?} force {:.2?} N", contact.mode, force.to_array());
    }
    println!("{}", step.explain());

    let slip = step.jacobian()?.dv_dctrl; // velocities with respect to targets, along the floor
    println!("d(velocities)/d(targets):\n{:9.6?}\n{:9.6?}", slip.row(0), slip.row(1));
    assert!(contacts[0].impulse.z > 10.0 * arm.options().dt && slip.row(0).iter().all(|x| x.is_finite() && *x != 0.0));
    Ok(())
}
