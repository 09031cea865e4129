//! Losses on the readings of a rollout, against central differences of whole rollouts.

use super::{dot, numbers};
use slipstick::control::Command;
use slipstick::files::load_mjcf_str;
use slipstick::model::ParameterGroup;
use slipstick::rollout::{Memory, RolloutGradient, RolloutGradientError, StateGrad};
use slipstick::sensors::Sensors;
use slipstick::*;

const STEPS: usize = 40;

const MEASURED: &str = r#"<sensor>
    <accelerometer name="accelerometer" site="imu"/> <gyro name="gyro" site="imu"/>
    <force name="force" site="FL_foot"/> <torque name="torque" site="FR_foot"/>
    <touch name="touch" site="RR_foot"/> <jointpos name="hip" joint="RL_hip_joint"/>
    <jointvel name="knee" joint="RL_calf_joint"/> <actuatorfrc name="effort" actuator="FR_calf"/>
    <framequat name="blind" objtype="body" objname="trunk"/>
</sensor></mujoco>"#;

/// A rollout with sensors: where it begins and what drives it.
#[derive(Clone)]
struct Measured {
    model: Model,
    x0: State,
    ctrl: Vec<f64>,
}

impl Measured {
    /// A robot on four feet, moved by its servos; without dry friction the loads of its legs are decided.
    fn quadruped() -> Measured {
        let xml = include_str!("../../models/quadruped.xml").replace("frictionloss=\"0.2\"", "");
        let xml = xml.replace("size=\"0.005\"", "size=\"0.03\"").replace("</mujoco>", MEASURED);
        let model = solved_tightly(&load_mjcf_str("measured", &xml, &Default::default()).unwrap());
        let home = model.keyframe("home").unwrap().ctrl.clone();
        let at = |t: usize| (0..12).map(move |k| 0.05 * (0.07 * t as f64 + k as f64).sin());
        let ctrl = (0..STEPS).flat_map(|t| home.iter().zip(at(t)).map(|(c, d)| c + d).collect::<Vec<_>>()).collect();
        Measured { x0: State::keyframe(&model, "home").unwrap(), ctrl, model }
    }

    /// A ball that slides, with an accelerometer and a skin that feels.
    fn ball() -> Measured {
        let xml = r#"<mujoco><worldbody><geom type="plane" size="5 5 1" friction="0.1"/>
            <body pos="0 0 0.1"><freejoint/><geom size="0.1" mass="1.3" friction="0.4"/><site name="skin" size="0.12"/></body>
            </worldbody><sensor><accelerometer name="imu" site="skin"/><touch name="touch" site="skin"/>
            <force name="force" site="skin"/></sensor></mujoco>"#;
        let model = solved_tightly(&load_mjcf_str("ball", xml, &Default::default()).unwrap());
        let x0 = State::new(&model, model.neutral(), &[1.0, 0.5, 0.0, 0.3, 0.1, 0.2]).unwrap();
        Measured { x0, ctrl: Vec::new(), model }
    }

    fn input(&self) -> Input<'_> {
        Input::ctrl(&self.ctrl)
    }

    fn memory(&self, groups: &[ParameterGroup]) -> RolloutGradient {
        RolloutGradient::new(&self.model, STEPS, Memory::Recompute).with_parameters(groups).with_sensors()
    }

    /// Weights of all readings that there are.
    fn weights(&self) -> Vec<f64> {
        let sensors = Sensors::new(&self.model);
        let size = sensors.ranges().last().unwrap().end;
        let mut all = numbers(STEPS * size, 11);
        for blind in (0..sensors.ranges().len()).filter(|k| sensors.get(*k).is_err()) {
            let range = sensors.ranges()[blind].clone();
            all.chunks_exact_mut(size).for_each(|row| row[range.clone()].fill(0.0));
        }
        all
    }

    /// The weighted sum of all readings and of the last state's velocity, and the modes of the steps.
    fn loss(&self, w: &[f64], w_end: &[f64]) -> (f64, Vec<u64>) {
        let mut memory = self.memory(&[]);
        let rollout = memory.run(&self.x0, &self.input()).unwrap();
        let readings: Vec<f64> = (0..STEPS).flat_map(|t| rollout.readings(t).to_vec()).collect();
        (dot(w, &readings) + dot(w_end, rollout.v(STEPS)), rollout.mode_keys().to_vec())
    }

    /// One with something changed.
    fn with(&self, change: impl FnOnce(&mut Measured)) -> Measured {
        let mut other = self.clone();
        change(&mut other);
        other
    }

    fn with_parameters(&self, group: ParameterGroup, d: &[f64], h: f64) -> Measured {
        let mut parameters = self.model.parameters().clone();
        parameters.group_mut(group).iter_mut().zip(d).for_each(|(p, d)| *p += h * d);
        self.with(|s| s.model = self.model.with_parameters(parameters).unwrap())
    }
}

fn solved_tightly(model: &Model) -> Model {
    let mut options = model.options().clone();
    options.tolerance = 1e-13;
    model.with_options(options).unwrap()
}

/// Compares a derivative along a change with the best of its central differences inside one mode.
fn compare(what: &str, scene: &Measured, exact: f64, size: f64, h: f64, moved: impl Fn(f64) -> Measured) {
    let (w, w_end) = (scene.weights(), numbers(scene.model.nv(), 12));
    let keys = scene.loss(&w, &w_end).1;
    let mut best = f64::INFINITY;
    for h in [10.0 * h, h, 0.1 * h, 0.01 * h] {
        let [(a, keys_a), (b, keys_b)] = [moved(h), moved(-h)].map(|s| s.loss(&w, &w_end));
        if keys_a == keys && keys_b == keys {
            best = best.min(((a - b) / (2.0 * h) - exact).abs() / size);
        }
    }
    assert!(best < 1e-5, "{what} of '{}': {best:e} of {size}, {exact}", scene.model.name());
}

/// Along a random change of each thing that a rollout is made from.
fn check(scene: &Measured, groups: &[ParameterGroup]) {
    let (w, w_end, nv) = (scene.weights(), numbers(scene.model.nv(), 12), scene.model.nv());
    let mut memory = scene.memory(groups);
    let mut rollout = memory.run(&scene.x0, &scene.input()).unwrap();
    let mut g = rollout.zeros();
    rollout.vjp_sensors(StateGrad { q: &[], v: &w_end, ..StateGrad::default() }, &w, &mut g).unwrap();
    let size = |g: &[f64], d: &[f64]| g.iter().zip(d).fold(1e-3f64, |s, (g, d)| s.max((g * d).abs()));
    let d = numbers(nv, 13);
    compare("q0", scene, dot(&g.q, &d), size(&g.q, &d), 1e-7, |h| {
        let d: Vec<f64> = d.iter().map(|d| h * d).collect();
        scene.with(|s| scene.model.integrate(&scene.x0.q, &d, &mut s.x0.q).unwrap())
    });
    compare("v0", scene, dot(&g.v, &d), size(&g.v, &d), 1e-6, |h| {
        scene.with(|s| s.x0.v.iter_mut().zip(&d).for_each(|(v, d)| *v += h * d))
    });
    if !scene.ctrl.is_empty() {
        let d = numbers(scene.ctrl.len(), 14);
        compare("ctrl", scene, dot(&g.ctrl, &d), size(&g.ctrl, &d), 1e-6, |h| {
            scene.with(|s| s.ctrl.iter_mut().zip(&d).for_each(|(c, d)| *c += h * d))
        });
    }
    for group in groups {
        let got = g.group(*group).unwrap();
        // numbers that are zero may have no model below them
        let values = scene.model.parameters().group(*group);
        let d: Vec<f64> = numbers(got.len(), 15).iter().zip(values).map(|(d, x)| 0.1 * d * x).collect();
        let moved = |h: f64| scene.with_parameters(*group, &d, h);
        compare(group.name(), scene, dot(got, &d), size(got, &d), 1e-5, moved);
    }
}

#[test]
fn a_robot_on_four_feet_has_readings_with_the_gradient_of_their_differences() {
    use ParameterGroup::{Actuator, Armature, Damping, Gravity, Inertial};
    check(&Measured::quadruped(), &[Gravity, Inertial, Actuator, Damping, Armature]);
}

#[test]
fn a_sliding_ball_has_readings_with_the_gradient_of_their_differences() {
    use ParameterGroup::{Friction, Gravity, Inertial, ShapeSize};
    check(&Measured::ball(), &[Friction, Gravity, Inertial, ShapeSize]);
}

#[test]
fn readings_are_those_of_a_simulator_and_weights_of_zero_add_nothing() {
    let scene = Measured::quadruped();
    let (mut memory, mut sensors) = (scene.memory(&[]), Sensors::new(&scene.model));
    let mut rollout = memory.run(&scene.x0, &scene.input()).unwrap();
    let mut simulator = Simulator::new(&scene.model);
    simulator.set_state(scene.x0.clone()).unwrap();
    let mut command = Command { actuated: true, ..Command::new(&scene.model) };
    for t in 0..STEPS {
        command.ctrl.copy_from_slice(&scene.ctrl[12 * t..12 * (t + 1)]);
        simulator.step(&command.input()).unwrap().sensors(&mut sensors).unwrap();
        for (k, range) in sensors.ranges().iter().enumerate() {
            let zeros = vec![0.0; range.len()];
            assert_eq!(&rollout.readings(t)[range.clone()], sensors.get(k).unwrap_or(&zeros), "step {t}, sensor {k}");
        }
    }
    assert_eq!(rollout.readings(STEPS), &[] as &[f64]);
    let w = numbers(scene.model.nv(), 3);
    let (mut with, mut without) = (rollout.zeros(), rollout.zeros());
    rollout.vjp(StateGrad { q: &w, ..StateGrad::default() }, &mut without).unwrap();
    rollout
        .vjp_sensors(StateGrad { q: &w, ..StateGrad::default() }, &vec![0.0; scene.weights().len()], &mut with)
        .unwrap();
    assert_eq!(with, without);
}

#[test]
fn readings_that_have_no_gradient_are_refused_by_name() {
    let scene = Measured::quadruped();
    let (w, none) = (scene.weights(), StateGrad::default());
    let mut memory = scene.memory(&[]);
    let mut rollout = memory.run(&scene.x0, &scene.input()).unwrap();
    let mut out = rollout.zeros();
    let error = rollout.vjp_sensors(none, &w[1..], &mut out).unwrap_err();
    let (expected, got) = (w.len(), w.len() - 1);
    let what = "gradient of the readings";
    assert_eq!(error, RolloutGradientError::Input(InputError::Length { what, expected, got }));
    let error = rollout.vjp_sensors(none, &vec![1.0; w.len()], &mut out).unwrap_err();
    assert!(error.to_string().starts_with("sensor 'blind' cannot be read"), "{error}");
    assert_eq!(out, rollout.zeros(), "nothing was added");
    let mut stored = RolloutGradient::new(&scene.model, STEPS, Memory::Store).with_sensors();
    let mut rollout = stored.run(&scene.x0, &scene.input()).unwrap();
    assert_eq!(rollout.vjp_sensors(none, &w, &mut out).unwrap_err(), RolloutGradientError::Stored);
    assert!(rollout.vjp_sensors(none, &[], &mut out).is_ok() && rollout.readings(3).len() == w.len() / STEPS);
}
