//! Poses that can rest, and poses that cannot.

use slipstick::control::Command;
use slipstick::files::load_mjcf_str;
use slipstick::model::ParameterGroup;
use slipstick::spatial::{BodyInertia, Vec3};
use slipstick::{InputError, Model, Simulator, State, builtin};
use slipstick_experiments::balance::{BalanceError, Touch, balance, rest};
use slipstick_experiments::holding::{HANDSTAND, PUSH_UP, STAND, Stance};

/// A robot with the trunk's center of mass elsewhere: by `shift` meters along x.
fn shifted(model: &Model, shift: f64) -> Model {
    let mut parameters = model.parameters().clone();
    let trunk = model.inertias()[1];
    let moved = BodyInertia { com: trunk.com + Vec3::new(shift, 0.0, 0.0), ..trunk };
    parameters.group_mut(ParameterGroup::Inertial)[..10].copy_from_slice(&moved.to_parameters());
    model.with_parameters(parameters).unwrap()
}

fn keyframe(stance: &Stance) -> (Model, Vec<f64>) {
    let model = stance.robot(None).unwrap();
    let q = State::keyframe(&model, stance.keyframe).unwrap().q;
    (model, q)
}

#[test]
fn the_keyframes_are_the_poses_that_the_balance_finds_and_can_rest() {
    for stance in [STAND, HANDSTAND, PUSH_UP] {
        let (model, q) = keyframe(&stance);
        let kept = rest(&model, &q).unwrap_or_else(|e| panic!("{}: {e}", stance.name));
        assert!(kept.acceleration < 1e-9, "{}: {:e}", stance.name, kept.acceleration);
        assert!(kept.supports.iter().all(|s| s.distance.abs() < 1e-12), "{}: {:?}", stance.name, kept.supports);
        let found = stance.find(&model).unwrap();
        let mut away = vec![0.0; model.nv()];
        model.difference(&q, &found.q, &mut away).unwrap();
        assert!(away.iter().all(|x| x.abs() < 1e-9), "{}: {away:?}", stance.name);
    }
}

#[test]
fn the_commands_of_the_keyframes_hold_them_for_a_second() {
    for stance in [STAND, HANDSTAND, PUSH_UP] {
        let model = builtin(stance.builtin).unwrap();
        let mut sim = Simulator::at_keyframe(&model, stance.keyframe).unwrap();
        let ctrl = model.keyframe(stance.keyframe).unwrap().ctrl.clone();
        let begin = sim.state().q.clone();
        let hold = |_: &Model, _: &State, command: &mut Command| command.ctrl.copy_from_slice(&ctrl);
        sim.rollout(1000, hold).unwrap();
        let way = (0..3).map(|k| (sim.state().q[k] - begin[k]).powi(2)).sum::<f64>().sqrt();
        assert!(way < 1e-3, "{}: the base moves by {way:e} m", stance.name);
    }
}

#[test]
fn the_forces_of_a_pose_that_rests_carry_its_weight_inside_their_cones() {
    let (model, q) = keyframe(&STAND);
    let found = rest(&model, &q).unwrap();
    let sum = found.supports.iter().fold(Vec3::ZERO, |s, c| s + c.force);
    assert!((sum - Vec3::new(0.0, 0.0, 9.81 * model.total_mass())).norm() < 1e-6, "{sum:?}");
    for c in &found.supports {
        assert!(c.force.x.hypot(c.force.y) <= 0.8 * c.force.z * (1.0 + 1e-9), "{c:?}");
    }
}

#[test]
fn a_center_of_mass_beside_the_feet_is_reported_with_its_distance() {
    let (model, q) = keyframe(&STAND);
    // 5.561 of 13.1 kg, a meter forward: 0.42 m, and the front feet are 0.19 m before the middle
    match rest(&shifted(&model, 1.0), &q) {
        Err(BalanceError::OutOfBalance { distance, accelerations }) => {
            assert!((distance - 0.234).abs() < 2e-3, "{distance}");
            assert!(accelerations.iter().any(|(name, a)| name.contains("root") && a.abs() > 1.0), "{accelerations:?}");
        }
        other => panic!("{other:?}"),
    }
    let text = rest(&shifted(&model, 1.0), &q).unwrap_err().to_string();
    assert!(text.contains("out of balance") && text.contains("outside its supports"), "{text}");
    assert!(rest(&shifted(&model, 0.2), &q).is_ok(), "8 cm forward it still stands");
}

#[test]
fn two_round_feet_bear_nothing_beside_their_line() {
    let (model, q) = keyframe(&HANDSTAND);
    for shift in [1e-6, 1e-3] {
        // forward is down when the head is down; a shift along z of the trunk moves the center of mass off the line
        let mut parameters = model.parameters().clone();
        let trunk = model.inertias()[1];
        let moved = BodyInertia { com: trunk.com + Vec3::new(0.0, 0.0, shift), ..trunk };
        parameters.group_mut(ParameterGroup::Inertial)[..10].copy_from_slice(&moved.to_parameters());
        let other = model.with_parameters(parameters).unwrap();
        match rest(&other, &q) {
            Err(BalanceError::OutOfBalance { distance, .. }) => {
                assert!(distance > 0.3 * shift && distance < shift, "{shift}: {distance}");
            }
            other => panic!("{shift}: {other:?}"),
        }
    }
}

/// A leg that ends in a ball of 0.1 m, and around it the ball of another body, which turns against the leg.
fn leg_in_a_ball(radius: f64) -> (Model, [Touch; 2]) {
    let xml = format!(
        r#"<mujoco><worldbody><geom type="plane" size="1 1 1"/><body name="leg" pos="0 0 1"><freejoint/>
        <geom size="0.1" mass="1"/><body name="ball"><joint name="turn" axis="0 0 1"/>
        <geom size="{radius}" mass="1"/></body></body></worldbody><actuator><motor joint="turn"/></actuator></mujoco>"#
    );
    let model = load_mjcf_str("leg", &xml, &Default::default()).unwrap();
    let touches = ["leg", "ball"].map(|name| Touch { body: model.body(name).unwrap(), points: 1 });
    (model, touches)
}

#[test]
fn a_balance_that_no_pose_has_is_not_found() {
    let (model, touches) = leg_in_a_ball(0.12);
    let got = balance(&model, model.neutral(), &touches);
    assert!(matches!(got, Err(BalanceError::NotFound { gap, .. }) if (gap - 0.01).abs() < 1e-6), "{got:?}");
}

#[test]
fn what_is_not_meant_to_touch_is_named() {
    let (model, touches) = leg_in_a_ball(0.1);
    assert_eq!(balance(&model, model.neutral(), &touches).unwrap().supports.len(), 2);
    match balance(&model, model.neutral(), &touches[..1]) {
        Err(BalanceError::Touches { bodies, distance }) => {
            assert!(bodies.contains(&"ball".to_string()) && distance.abs() < 1e-9, "{bodies:?} {distance}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_robot_in_the_floor_or_above_it_does_not_rest() {
    let (model, mut q) = keyframe(&STAND);
    q[2] -= 1e-6;
    assert!(matches!(rest(&model, &q), Err(BalanceError::Overlap { depth, .. }) if (depth - 1e-6).abs() < 1e-12));
    q[2] += 2e-6;
    let text = rest(&model, &q).unwrap_err().to_string();
    assert!(text.contains("it touches nothing") && text.contains("root[2] -9.81"), "{text}");
}

#[test]
fn three_feet_are_enough_if_the_fourth_is_lifted() {
    let (model, q) = keyframe(&STAND);
    let touch = |name: &str| Touch { body: model.body(name).unwrap(), points: 1 };
    let found = balance(&model, &q, &["FL_calf", "FR_calf", "RL_calf"].map(touch)).unwrap();
    assert!(found.supports.len() == 3 && found.supports.iter().all(|s| s.force.z > 1.0), "{:?}", found.supports);
}

#[test]
fn robots_without_floor_feet_or_the_right_numbers_are_refused() {
    let xml = |floor: &str, shape: &str| {
        format!(
            r#"<mujoco><worldbody>{floor}<body name="foot" pos="0 0 1"><freejoint/>
            <geom {shape} mass="1"/></body></worldbody></mujoco>"#
        )
    };
    let load = |floor, shape| load_mjcf_str("foot", &xml(floor, shape), &Default::default()).unwrap();
    let (plane, ball, disc) =
        (r#"<geom type="plane" size="1 1 1"/>"#, r#"size="0.1""#, r#"type="cylinder" size="0.1 0.1""#);
    let find =
        |model: &Model| balance(model, model.neutral(), &[Touch { body: model.body("foot").unwrap(), points: 1 }]);
    assert!(find(&load(plane, ball)).is_ok());
    assert_eq!(find(&load("", ball)), Err(BalanceError::NoFloor { model: "foot".into() }));
    assert_eq!(find(&load(plane, disc)), Err(BalanceError::NoSupport { body: "foot".into() }));
    let model = load(plane, ball);
    assert!(matches!(rest(&model, &[0.0]), Err(BalanceError::Input(InputError::Length { .. }))));
    let aloft = rest(&model, model.neutral());
    assert!(matches!(aloft, Err(BalanceError::OutOfBalance { distance: f64::INFINITY, .. })), "{aloft:?}");
}
