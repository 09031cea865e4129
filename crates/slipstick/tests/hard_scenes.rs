//! Closed loops and demands that contradict each other: bounded work, bounded impulses, and what a robot would do.

use slipstick::Status;
use slipstick::{Data, Input, Model, State, Step};
use std::path::Path;

/// A model of `bench/scenes`.
pub fn scene(name: &str) -> Model {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/scenes").join(name).with_extension("xml");
    slipstick::load(file).expect(name)
}

/// Steps from the keyframe `home`, or from the neutral pose; returns the last state.
fn run(model: &Model, steps: usize, mut look: impl FnMut(usize, &mut Step)) -> State {
    let home = State::keyframe(model, "home");
    let ctrl = model.keyframes().iter().find(|k| k.name == "home").map_or(vec![0.0; model.nu()], |k| k.ctrl.clone());
    let mut x = home.unwrap_or_else(|_| State::neutral(model));
    let (mut data, mut next) = (Data::new(model), x.clone());
    for k in 0..steps {
        let mut step = slipstick::step(model, &mut data, &x, &Input::ctrl(&ctrl), &mut next).expect("a step");
        assert!(step.report().iterations <= model.options().max_iterations, "step {k}: {:?}", step.report());
        look(k, &mut step);
        std::mem::swap(&mut x, &mut next);
    }
    x
}

#[test]
fn loops_are_solved_in_few_iterations_without_absurd_impulses() {
    for name in ["four_bar", "four_bar_turned", "gripper", "loop_leg", "delta"] {
        let model = scene(name);
        let (mut spent, mut off, steps) = (0, 0, 300);
        run(&model, steps, |k, step| {
            spent += step.report().iterations;
            off += usize::from(step.report().status != Status::Converged);
            let most = step.constraints().into_iter().flat_map(|c| c.impulse).fold(0.0, |m: f64, x| m.max(x.abs()));
            assert!(most < 10.0, "{name}, step {k}: an impulse of {most} N s");
        });
        assert!(off <= 1, "{name}: {off} steps did not converge");
        assert!(f64::from(spent) < 4.0 * steps as f64, "{name}: {spent} iterations in {steps} steps");
    }
}

#[test]
fn a_foot_with_fifty_loops_stands() {
    run(&scene("soft_foot"), 60, |k, step| {
        assert!(step.report().residual <= 1e-8, "step {k}: {:?}", step.report());
    });
}

#[test]
fn friction_holds_a_box_that_is_pressed_between_walls() {
    let x = run(&scene("press_fit"), 500, |_, _| ());
    assert!((x.q[2] - 0.6).abs() < 1e-6, "{:?}", x.q);
}

#[test]
fn an_overlap_that_cannot_be_undone_leaves_the_limit_of_the_same_robot_alone() {
    let x = run(&scene("stuck_arm"), 500, |k, step| {
        assert_eq!(step.report().status, Status::Converged, "step {k}");
    });
    assert!((x.q[1] - 1.0).abs() < 1e-6, "the arm stays beyond its limit: {:?}", x.q);
}

#[test]
fn boxes_that_overlap_come_apart_within_the_budget() {
    run(&scene("boxes_40"), 1, |_, step| assert!(step.report().residual.is_finite()));
}

#[test]
fn a_rod_longer_than_any_number_squared_is_refused() {
    let scene = |half: &str| {
        let rod = format!(r#"<geom type="capsule" size="0.04 {half}" euler="90 0 0"/>"#);
        let xml = format!(
            r#"<mujoco><worldbody><geom type="plane" size="1 1 1"/><body name="rod" pos="0 0 0.5"><freejoint/>
            <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>{rod}</body><body pos="0.01 0 0.5"><freejoint/>
            <geom type="box" size="0.1 0.1 0.1"/></body></worldbody></mujoco>"#
        );
        slipstick::files::load_mjcf_str("rod", &xml, &Default::default())
    };
    let error = scene("5e307").unwrap_err().to_string();
    assert!(error.contains("size: expected a positive number up to 1e60, got 5000"), "{error}");
    // what is let in is stepped, or a typed error
    let model = scene("1e60").unwrap();
    let (mut data, x) = (Data::new(&model), State::neutral(&model));
    let mut next = x.clone();
    if let Ok(step) = slipstick::step(&model, &mut data, &x, &Input::default(), &mut next) {
        assert!(
            step.report().residual.is_finite() && step.v_next().iter().all(|v| v.is_finite()),
            "{:?}",
            step.report()
        );
    }
}

#[test]
fn an_angle_without_a_rotation_is_refused() {
    // the length of such a rotation vector overflows, and its axes are no numbers
    let turned = |angle: &str| {
        let xml = format!(
            r#"<mujoco><compiler angle="radian"/><worldbody><body><freejoint/><inertial pos="0 0 0" mass="1"
            diaginertia="1 1 1"/><geom type="box" size="1 1 1" euler="{angle} 0 0"/></body></worldbody></mujoco>"#
        );
        slipstick::files::load_mjcf_str("box", &xml, &Default::default()).map(|_| ()).map_err(|e| e.to_string())
    };
    assert_eq!(turned("1e6"), Ok(()));
    assert!(
        turned("-1e308").is_err_and(|e| e.contains("deviation of its axes from a rotation")),
        "{:?}",
        turned("-1e308")
    );
}

#[test]
fn a_time_step_whose_inverse_overflows_is_refused() {
    let model = slipstick::builtin("cube").unwrap();
    let with = |dt: f64| {
        let mut options = model.options().clone();
        options.dt = dt;
        model.with_options(options).map_err(|e| e.to_string())
    };
    for dt in [1e-320, 0.0, f64::NAN, f64::INFINITY] {
        assert!(with(dt).is_err_and(|e| e.starts_with("dt: expected a time step from 1e-60 to 1e60 s")), "{dt}");
    }
    let xml = "<mujoco><option timestep='1e-320'/></mujoco>";
    let error = slipstick::files::load_mjcf_str("model", xml, &Default::default()).unwrap_err().to_string();
    assert!(error.contains("a time step from 1e-60 to 1e60 s"), "{error}");
    run(&with(1e-60).unwrap(), 3, |_, step| assert!(step.report().residual.is_finite()));
}
