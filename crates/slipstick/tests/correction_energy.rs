//! Position correction near a singular pose: bounded energy, said in the report, with the derivative of the step.

use slipstick::Status;
use slipstick::dynamics::Workspace;
use slipstick::{Data, Input, LoadOptions, Model, State};

/// A leg of two links, nearly straight, whose foot is 7 mm in the floor: to lift it at 1 m/s the knee would have to bend at
/// hundreds of rad/s.
const LEG: &str = "<mujoco><worldbody><geom type='plane' size='1 1 1' pos='0 0 0.007'/>
    <body pos='0 0 1.02'><joint axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0 0 -.5' size='.02' mass='1'/>
    <body pos='0 0 -.5'><joint axis='0 1 0'/><geom type='capsule' fromto='0 0 0 0 0 -.5' size='.02' mass='1'/>
    </body></body></worldbody></mujoco>";

fn leg() -> Model {
    slipstick::files::load_mjcf_str("leg", LEG, &LoadOptions::default()).expect("a leg")
}

fn bent(model: &Model, angle: f64) -> State {
    let mut x = State::neutral(model);
    x.q.copy_from_slice(&[angle, -2.0 * angle]);
    x
}

#[test]
fn a_leg_that_is_nearly_straight_is_lifted_calmly() {
    let model = leg();
    let most = 0.5 * model.total_mass() * model.options().correction.max_speed.powi(2);
    let mut reduced = 0;
    for angle in [0.3, 1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4] {
        let (mut data, mut work, mut x) = (Data::new(&model), Workspace::new(&model), bent(&model, angle));
        let mut next = x.clone();
        for k in 0..50 {
            let step = slipstick::step(&model, &mut data, &x, &Input::default(), &mut next).expect("a step");
            let report = *step.report();
            assert_ne!(report.status, Status::NotConverged, "{angle}, step {k}: {report:?}");
            reduced += usize::from(report.correction < 1.0);
            let energy = |work: &mut Workspace, v: &[f64]| work.energy(&model, &x.q, v).expect("a state").0;
            let (before, after) = (energy(&mut work, &x.v), energy(&mut work, &next.v));
            // gravity adds a little
            assert!(after <= before + most + 0.1, "{angle}, step {k}: {before} J to {after} J");
            std::mem::swap(&mut x, &mut next);
        }
    }
    assert!(reduced > 0, "the bound was never met");
}

#[test]
fn the_derivative_is_that_of_the_step_with_its_share() {
    let (model, h) = (leg(), 1e-8);
    let x = bent(&model, 0.03);
    let next_velocity = |x: &State| {
        let (mut data, mut next) = (Data::new(&model), x.clone());
        let step = slipstick::step(&model, &mut data, x, &Input::default(), &mut next).expect("a step");
        (step.report().correction, next.v)
    };
    let (share, _) = next_velocity(&x);
    assert!(share > 0.0 && share < 1.0, "a share of {share}");
    let (mut data, mut next) = (Data::new(&model), x.clone());
    let mut step = slipstick::step(&model, &mut data, &x, &Input::default(), &mut next).expect("a step");
    let jacobian = step.jacobian().expect("a Jacobian");
    for j in 0..2 {
        let moved = |h: f64| {
            let mut x = x.clone();
            x.q[j] += h;
            next_velocity(&x)
        };
        let ((same, plus), (again, minus)) = (moved(h), moved(-h));
        assert_eq!((same, again), (share, share), "differences stay on one share");
        for i in 0..2 {
            let (exact, quotient) = (jacobian.dv_dq.row(i)[j], (plus[i] - minus[i]) / (2.0 * h));
            assert!((exact - quotient).abs() < 1e-4 * exact.abs().max(1.0), "({i}, {j}): {exact} and {quotient}");
        }
    }
}
