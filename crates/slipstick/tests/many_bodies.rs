//! A row of balls that touch: an island of many bodies, which is solved through the sparse root of its Delassus matrix.

use slipstick::Status;
use slipstick::model::Solver;
use slipstick::{Data, Input, LoadOptions, Model, State};

const BALLS: usize = 24;

/// Balls in a row on a floor, each touching the next, pushed from one end.
fn row(solver: Solver) -> Model {
    let ball = |k: usize| {
        let x = 0.2 * k as f64;
        format!(
            "<body pos='{x} 0 0.1'><freejoint/><geom type='sphere' size='0.1' friction='0.2' density='{}'/></body>",
            500 + 40 * k
        )
    };
    let balls: String = (0..BALLS).map(ball).collect();
    let xml = format!(
        "<mujoco><option timestep='0.002'/><worldbody><geom type='plane' size='9 9 1' friction='0.2'/>{balls}</worldbody></mujoco>"
    );
    let model = slipstick::files::load_mjcf_str("row", &xml, &LoadOptions::default()).expect("a row");
    let mut options = model.options().clone();
    (options.solver, options.max_iterations) = (solver, 20_000);
    model.with_options(options).expect("options")
}

fn push(k: f64) -> Vec<f64> {
    let mut tau = vec![0.0; 6 * BALLS];
    (tau[0], tau[1]) = (4000.0 + k, 30.0);
    tau
}

fn next_velocity(model: &Model, tau: &[f64]) -> Vec<f64> {
    let x = State::neutral(model);
    let (mut data, mut next) = (Data::new(model), x.clone());
    let step = slipstick::step(model, &mut data, &x, &Input::tau(tau), &mut next).expect("a step");
    assert!(step.report().rows > 64, "{:?}", step.report());
    assert_ne!(step.report().status, Status::NotConverged);
    next.v
}

#[test]
fn a_method_that_takes_one_contact_after_the_other_finds_the_velocities_too() {
    let exact = next_velocity(&row(Solver::Auto), &push(0.0));
    let swept = next_velocity(&row(Solver::Pgs), &push(0.0));
    assert!(exact[0] > 0.005 && exact[6 * (BALLS - 1)] > 1e-4, "the push reaches the last: {exact:?}");
    for (a, b) in exact.iter().zip(&swept) {
        assert!((a - b).abs() < 1e-7, "{a} and {b}");
    }
}

#[test]
fn its_derivative_is_that_of_differences() {
    let (model, h) = (row(Solver::Auto), 0.1);
    let x = State::neutral(&model);
    let (mut data, mut next, tau) = (Data::new(&model), x.clone(), push(0.0));
    let mut step = slipstick::step(&model, &mut data, &x, &Input::tau(&tau), &mut next).expect("a step");
    let jacobian = step.jacobian().expect("a Jacobian");
    let (plus, minus) = (next_velocity(&model, &push(h)), next_velocity(&model, &push(-h)));
    for i in 0..model.nv() {
        let (exact, quotient) = (jacobian.dv_dtau.row(i)[0], (plus[i] - minus[i]) / (2.0 * h));
        assert!((exact - quotient).abs() < 1e-8, "dof {i}: {exact} and {quotient}");
    }
}

#[test]
fn constraints_between_bodies_that_cannot_move_are_left_alone() {
    let xml = "<mujoco><worldbody><geom type='plane' size='5 5 1'/>
        <body name='a' pos='0 0 3'><geom size='.1'/></body><body name='b' pos='0 0 3'><geom size='.1'/></body>
        <body pos='0 0 .1'><freejoint/><geom type='box' size='.1 .1 .1'/></body></worldbody>
        <equality><connect body1='a' body2='b' anchor='0 0 0'/><weld body1='a' body2='world'/></equality></mujoco>";
    let model = slipstick::files::load_mjcf_str("fixed", xml, &LoadOptions::default()).expect("a scene");
    let x = State::neutral(&model);
    let (mut data, mut next) = (Data::new(&model), x.clone());
    let mut step = slipstick::step(&model, &mut data, &x, &Input::default(), &mut next).expect("a step");
    assert_eq!(step.report().status, Status::Converged, "{:?}", step.report());
    step.jacobian().expect("a Jacobian");
}
