//! A cart with a range finder that stops before a wall: feedback of a reading, and the reading's derivative. With a folder as
//! argument, also a page that plays the motion.

use slipstick::sensors::Sensors;
use slipstick::{Input, LoadOptions, Simulator};
use slipstick_view::Replay;
use std::path::PathBuf;

const SCENE: &str = r#"
<mujoco model="cart before a wall">
  <option timestep="0.005"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1"/>
    <geom name="wall" type="box" size="0.1 1 0.5" pos="3 0 0.5"/>
    <body name="cart" pos="0 0 0.2">
      <joint name="rail" type="slide" axis="1 0 0" damping="1"/>
      <geom name="cart" type="box" size="0.2 0.15 0.1" mass="2"/>
      <site name="eye" pos="0.2 0 0.05" euler="0 90 0"/>
    </body>
  </worldbody>
  <actuator><motor name="drive" joint="rail" ctrlrange="-10 10"/></actuator>
  <sensor><rangefinder name="range" site="eye"/><velocimeter name="speed" site="eye"/></sensor>
</mujoco>"#;

/// Where to stop before the wall (m).
const GAP: f64 = 0.5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = slipstick::files::load_str("cart", SCENE, &LoadOptions::default())?;
    let (mut sim, mut sensors, mut replay) = (Simulator::new(&model), Sensors::new(&model), Replay::new(&model));
    let (mut push, mut gap, mut by_place) = (0.0, 0.0, 0.0);
    for _ in 0..1600 {
        let mut step = sim.step(&Input::ctrl(&[push]))?;
        step.sensors(&mut sensors)?;
        gap = sensors.named("range")?[0];
        let forward = sensors.named("speed")?[2]; // the site looks along its z axis
        push = (8.0 * (gap - GAP) - 8.0 * forward).clamp(-10.0, 10.0);
        by_place = step.sensor_jacobian(&mut sensors)?.named("range")?.dq[(0, 0)];
        replay.record_state(sim.state())?;
    }
    println!("the cart stands {gap:.4} m before the wall; the range changes by {by_place:.3} m per meter");
    assert!((gap - GAP).abs() < 1e-3 && sim.state().v[0].abs() < 1e-3 && (by_place + 1.0).abs() < 1e-12);
    if let Some(folder) = std::env::args().nth(1) {
        replay.save(PathBuf::from(folder).join("range_finder.html"))?;
    }
    Ok(())
}
