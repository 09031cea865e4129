//! A mocap body drags a gripper, which lifts a cube. Writes a page that plays the motion if a folder is given.

use slipstick::{Input, Simulator};
use slipstick_view::Replay;
use std::path::Path;

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../robots/dragged_gripper.xml");
/// Time (s), position of the target (m), and how far the fingers close (m).
const WAY: [[f64; 5]; 5] = [
    [0.0, 0.0, 0.0, 0.3, 0.0],
    [1.0, 0.0, 0.0, 0.125, 0.0],
    [1.4, 0.0, 0.0, 0.125, 0.03],
    [2.4, 0.2, 0.1, 0.3, 0.03],
    [3.0, 0.2, 0.1, 0.3, 0.03],
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = slipstick::load(MODEL)?;
    let (mut sim, mut replay) =
        (Simulator::new(&model), Replay::new(&model).with_title("A mocap body drags a gripper"));
    let mut mocap = sim.mocap().to_vec();
    let mut lag: f64 = 0.0;
    for _ in 0..1500 {
        let [x, y, z, closed] = on_way(sim.time());
        mocap[..3].copy_from_slice(&[x, y, z]);
        sim.step(&Input::ctrl(&[closed]).with_mocap(&mocap))?;
        let next = sim.state().clone();
        if let Some(mut step) = sim.last_step() {
            replay.record(&mut step, &next)?;
        }
        lag = lag.max((0..3).map(|k| (next.q[k] - mocap[k]).powi(2)).sum::<f64>().sqrt());
    }
    let first = model.joints()[model.joint("cube")?.0].q.start;
    let cube = &sim.state().q[first..first + 3];
    println!("the palm is never farther than {:.2} mm from its target; the cube ends at {cube:.3?}", 1e3 * lag);
    assert!(lag < 0.004, "the palm does not follow");
    assert!((cube[0] - 0.2).abs() < 0.01 && (cube[1] - 0.1).abs() < 0.01 && cube[2] > 0.15, "the cube was lost");
    if let Some(folder) = std::env::args().nth(1) {
        replay.save(Path::new(&folder).join("dragged_gripper.html"))?;
    }
    Ok(())
}

/// Position and closing of the gripper at a time.
fn on_way(time: f64) -> [f64; 4] {
    let k = WAY.iter().rposition(|row| row[0] <= time).unwrap_or(0).min(WAY.len() - 2);
    let share = ((time - WAY[k][0]) / (WAY[k + 1][0] - WAY[k][0])).min(1.0);
    std::array::from_fn(|i| WAY[k][i + 1] + share * (WAY[k + 1][i + 1] - WAY[k][i + 1]))
}
