//! Finite differences of the step, and the check that compares exact derivatives with them.

use slipstick::check::grad_check::{GradCheck, Sample, SampleError, check, check_state};
use slipstick::check::{Difference, StepDifferences, finite_differences, finite_differences_of_parameters};
use slipstick::control::{Controller, Hold};
use slipstick::linalg::MatRef;
use slipstick::model::ParameterGroup;
use slipstick::{Data, Input, InputError, Model, Simulator, State, StepError, builtin};
use std::ops::ControlFlow;

/// A robot that has settled, its controls, and its model solved as exactly as differences need.
fn settled(name: &str) -> (Model, State, Vec<f64>) {
    let model = builtin(name).unwrap();
    let mut options = model.options().clone();
    options.tolerance = 1e-13;
    let model = model.with_options(options).unwrap();
    let mut sim = Simulator::new(&model);
    let mut hold = Controller::Hold(Hold::new(&model, sim.state()).unwrap());
    let trajectory = sim.rollout(300, &mut hold).unwrap();
    let nu = model.nu();
    (model, sim.state().clone(), trajectory.ctrl[299 * nu..].to_vec())
}

fn largest(m: MatRef) -> f64 {
    (0..m.rows()).flat_map(|i| m.row(i)).fold(0.0, |a, x| a.max(x.abs()))
}

fn distance(a: MatRef, b: MatRef) -> f64 {
    assert_eq!((a.rows(), a.cols()), (b.rows(), b.cols()));
    let off = (0..a.rows()).flat_map(|i| a.row(i).iter().zip(b.row(i))).map(|(a, b)| (a - b).abs());
    off.fold(0.0, f64::max) / largest(b).max(1e-3)
}

#[test]
fn differences_of_a_standing_robot_are_its_jacobian() {
    let (model, x, ctrl) = settled("humanoid");
    let (mut data, mut next) = (Data::new(&model), x.clone());
    let mut out = StepDifferences::new(&model);
    let mut blocks = |difference| {
        data.clear_warm_start();
        finite_differences(&model, &mut data, &x, &Input::ctrl(&ctrl), difference, &mut out).unwrap();
        let mut step = slipstick::step(&model, &mut data, &x, &Input::ctrl(&ctrl), &mut next).unwrap();
        let j = step.jacobian().unwrap();
        [
            distance(out.dq_dq(), j.dq_dq),
            distance(out.dq_dv(), j.dq_dv),
            distance(out.dq_dtau(), j.dq_dtau),
            distance(out.dq_dctrl(), j.dq_dctrl),
            distance(out.dv_dq(), j.dv_dq),
            distance(out.dv_dv(), j.dv_dv),
            distance(out.dv_dtau(), j.dv_dtau),
            distance(out.dv_dctrl(), j.dv_dctrl),
        ]
    };
    // at shorter steps rounding shows: 5e-6 at 1e-7, 2e-4 at 1e-8
    let central = blocks(Difference::Central { step: 1e-6 });
    assert!(central.iter().all(|e| *e < 2e-6), "{central:?}");
    let forward = blocks(Difference::Forward { step: 1e-7 });
    assert!(forward.iter().all(|e| *e < 1e-4), "{forward:?}");
}

#[test]
fn differences_without_actuators_have_no_columns_for_them() {
    let model = builtin("quadruped").unwrap();
    let (mut data, mut out) = (Data::new(&model), StepDifferences::new(&model));
    let (x, central) = (State::keyframe(&model, "home").unwrap(), Difference::Central { step: 1e-6 });
    finite_differences(&model, &mut data, &x, &Input::default(), central, &mut out).unwrap();
    assert_eq!((out.dv_dctrl().cols(), out.dv_dtau().cols()), (0, 18));
    let ctrl = vec![0.0; model.nu()];
    finite_differences(&model, &mut data, &x, &Input::ctrl(&ctrl), central, &mut out).unwrap();
    assert_eq!((out.dv_dctrl().rows(), out.dv_dctrl().cols()), (18, 12));
    assert!(largest(out.dv_dctrl()) > 0.0);
}

#[test]
fn what_does_not_fit_is_refused() {
    let (model, other) = (builtin("quadruped").unwrap(), builtin("cube").unwrap());
    let x = State::neutral(&model);
    let mut data = Data::new(&model);
    let mut run = |difference, out: &mut StepDifferences| {
        finite_differences(&model, &mut data, &x, &Input::default(), difference, out).unwrap_err()
    };
    for step in [0.0, -1e-6, f64::NAN, f64::INFINITY] {
        let error = run(Difference::Forward { step }, &mut StepDifferences::new(&model));
        assert!(matches!(error, StepError::Input(InputError::Value { .. })), "{error:?}");
    }
    let error = run(Difference::Central { step: 1e-6 }, &mut StepDifferences::new(&other));
    assert!(error.to_string().contains("was made for another model"), "{error}");
}

#[test]
fn differences_by_parameters_know_what_gravity_and_damping_do() {
    let model = builtin("double_pendulum").unwrap();
    let (mut data, dt) = (Data::new(&model), model.options().dt);
    let mut x = State::keyframe(&model, "released").unwrap();
    x.v.copy_from_slice(&[0.3, -0.2]);
    let mut of = |group| {
        let central = Difference::Central { step: 1e-6 };
        finite_differences_of_parameters(&model, &mut data, &x, &Input::default(), group, central).unwrap()
    };
    let gravity = of(ParameterGroup::Gravity);
    assert_eq!((gravity.dv().rows(), gravity.dv().cols()), (2, 3));
    let off = (0..2).flat_map(|i| (0..3).map(move |k| (i, k))).map(|k| (gravity.dq()[k] - dt * gravity.dv()[k]).abs());
    assert!(off.fold(0.0, f64::max) < 1e-9, "positions follow velocities");
    // dampers of both signs of velocity brake their own joint
    let damping = of(ParameterGroup::Damping);
    assert!(damping.dv()[(0, 0)] < 0.0 && damping.dv()[(1, 1)] > 0.0, "{:?}", damping.dv());
}

#[test]
fn exact_derivatives_pass_the_check_and_seeds_repeat() {
    let mut options = GradCheck::default();
    (options.states, options.seed, options.parameters_every) = (30, 5, 10);
    for name in ["sphere", "cube", "cartpole", "humanoid"] {
        let model = builtin(name).unwrap();
        let mut told = 0;
        let tick = |done| {
            told = done;
            ControlFlow::Continue(())
        };
        let report = check(&model, &options, tick).unwrap();
        assert_eq!((told, report.states, report.failures.len()), (30, 30, 0), "{name}");
        assert_eq!((report.left_out, report.wrong_unflagged), (0, 0), "{name}");
        assert!(report.median_error() <= 1e-8 && report.worst_error() <= 1e-5, "{name}: {:?}", report.worst[0].entry);
        // the compliance that shares the load of a cube is 3e-7 of its inverse inertia, and amplifies rounding by its inverse
        assert!(report.adjoint_error <= 1e-10, "{name}: {:e}", report.adjoint_error);
        assert!(!report.parameters.is_empty() && report.blocks.contains_key("dv_dq"));
        let again = check(&model, &options, |_| ControlFlow::Continue(())).unwrap();
        assert_eq!((report.blocks, report.worst[0].sample.clone()), (again.blocks, again.worst[0].sample.clone()));
    }
}

#[test]
fn a_check_may_be_ended_early() {
    let end = |done| if done == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let report = check(&builtin("cube").unwrap(), &GradCheck::default(), end).unwrap();
    assert_eq!(report.states, 2);
}

#[test]
fn states_whose_contact_is_not_solved_are_skipped_and_no_failure() {
    let mut options = GradCheck::default();
    options.states = 200;
    let report = check(&builtin("arm").unwrap(), &options, |_| ControlFlow::Continue(())).unwrap();
    assert!(report.left_out > 0 && report.failures.is_empty(), "{} {:?}", report.left_out, report.failures);
}

#[test]
fn a_saved_state_is_read_back_to_the_last_digit() {
    let model = builtin("quadruped").unwrap();
    let mut options = GradCheck::default();
    options.states = 12;
    let report = check(&model, &options, |_| ControlFlow::Continue(())).unwrap();
    for worst in &report.worst {
        let text = worst.sample.to_text(&model);
        let back = Sample::from_text(&model, &text).unwrap();
        assert_eq!(back, worst.sample);
        let state = check_state(&model, &back, false, 0).unwrap();
        assert_eq!(state.worst, Some(worst.entry), "the same state, the same error");
    }
}

#[test]
fn broken_files_of_states_are_refused_with_a_reason() {
    let model = builtin("cube").unwrap();
    let mut options = GradCheck::default();
    options.states = 3;
    let good = check(&model, &options, |_| ControlFlow::Continue(())).unwrap().worst[0].sample.to_text(&model);
    let refused = |text: &str, reason: &str| {
        let error = Sample::from_text(&model, text).expect_err(reason).to_string();
        assert!(error.contains(reason), "{error}");
    };
    refused("", "line 1: expected slipstick-grad-check-state 1");
    refused("slipstick-trajectory 1\n", "line 1: expected slipstick-grad-check-state 1");
    refused(&good.replace("model cube", "model ball"), "expected a state of 'cube', got one of 'ball'");
    refused(&good.replace("\nv ", "\nv x "), "expected numbers");
    refused(&good.replace("\nv ", "\nv 1 "), "expected 6 numbers, got 7");
    refused(&good.replace("\ntau", "\nforce"), "expected time, q, v, act, ctrl, tau, wrench or warm");
    refused(&(good.clone() + "wrench 1 2 3\n"), "7 or 10 numbers");
    refused(&(good.clone() + "wrench 9 0 0 0 0 0 0\n"), "body 9 does not exist");
    refused(&(good + "warm 0g\n"), "hexadecimal");
    assert!(matches!(Sample::from_text(&model, "x"), Err(SampleError::Line { line: 1, .. })));
}
