//! Mocap bodies in simulators, batches, rollouts and files.

use slipstick::control::Command;
use slipstick::files::load_mjcf_str;
use slipstick::rollout::{Memory, RolloutGradient, StateGrad};
use slipstick::spatial::{Pose, vec3};
use slipstick::{Batch, Input, Model, Simulator, State, Trajectory};

/// A ball welded to a target, over a floor.
fn model() -> Model {
    let xml = r#"<mujoco><worldbody><geom type="plane" size="0 0 1"/>
        <body name="target" mocap="true" pos="0 0 0.5"/>
        <body name="ball" pos="0 0 0.5"><freejoint name="ball"/><geom size="0.1"/></body></worldbody>
        <equality><weld body1="target" body2="ball"/></equality>
        <keyframe><key name="home" mpos="0 0 0.6" qpos="0 0 0.6 1 0 0 0"/></keyframe></mujoco>"#;
    load_mjcf_str("drag", xml, &Default::default()).unwrap()
}

/// Down into the floor and along it.
fn drag(_: &Model, x: &State, command: &mut Command) {
    command.mocap = vec![0.3 * x.time, 0.0, (0.6 - x.time).max(0.08), 1.0, 0.0, 0.0, 0.0];
}

#[test]
fn poses_stay_until_they_are_set_again() {
    let model = model();
    let mut sim = Simulator::new(&model);
    assert_eq!(sim.mocap()[2], 0.6, "those of the keyframe in which it begins");
    sim.set_mocap_pose("target", &Pose::translation(vec3(0.0, 0.0, 0.7))).unwrap();
    for _ in 0..400 {
        sim.step(&Input::default()).unwrap();
    }
    assert!((sim.state().q[2] - 0.7).abs() < 1e-6, "{:?}", sim.state().q);
    sim.step(&Input::default().with_mocap(&[0.0, 0.0, 0.8, 1.0, 0.0, 0.0, 0.0])).unwrap();
    assert_eq!(sim.mocap()[2], 0.8);
    sim.reset();
    assert_eq!(sim.mocap()[2], 0.6);
    let error = sim.set_mocap_pose("traget", &Pose::IDENTITY).unwrap_err().to_string();
    assert!(error.contains("'traget'") && error.contains("target"), "{error}");
}

#[test]
fn a_dragged_rollout_repeats_bit_for_bit_and_survives_a_file() {
    let model = model();
    let run = Simulator::new(&model).rollout(500, &mut drag).unwrap();
    assert_eq!(run.mocap.len(), 7 * 500);
    assert!(run.q[7 * 500] > 0.25, "it was not dragged");
    assert!(Simulator::new(&model).rollout(500, &mut drag).unwrap() == run, "it went another way");
    let mut file = Vec::new();
    run.write(slipstick::files::TrajectoryFormat::Npz, &mut file).unwrap();
    assert!(Trajectory::from_npz(&file, &model).unwrap() == run);
}

#[test]
fn batches_and_rollouts_with_derivatives_make_the_same_steps() {
    let model = model();
    let (steps, start) = (60, State::keyframe(&model, "home").unwrap());
    let run = Simulator::new(&model).rollout(steps, &mut drag).unwrap();
    let (mut q, mut v) = (vec![0.0; 7 * (steps + 1)], vec![0.0; 6 * (steps + 1)]);
    let mut batch = Batch::new(&model, 1).unwrap();
    let input = Input::default().with_mocap(&run.mocap).with_ctrl(&[]);
    batch.rollout(steps, None, [&start.q, &start.v], &input, [&mut q, &mut v]).unwrap();
    assert_eq!((q, v), (run.q.clone(), run.v.clone()));
    for memory in [Memory::Recompute, Memory::Store] {
        let mut gradient = RolloutGradient::new(&model, steps, memory);
        let mut rollout = gradient.run(&start, &input).unwrap();
        assert_eq!(rollout.q(steps), &run.q[7 * steps..]);
        let (w, mut out) = ([1.0; 6], rollout.zeros());
        rollout.vjp(StateGrad { q: &[], v: &w, act: &[] }, &mut out).unwrap();
        assert!(out.v.iter().all(|x| x.is_finite()));
    }
}
