//! Loops, welds, levers, tendons: constraints that hold at all times.

use super::oracle::*;
use crate::physics::scene::*;
use crate::properties::random_tree::Rng;
use slipstick_core::model::{Actuator, EqualityKind, Implicit, JointId, JointKind, JointSpec, Tendon, Transmission};
use slipstick_core::spatial::*;
use slipstick_core::*;

const DT: f64 = 1e-3;

/// Masses on rails along x, y and z.
fn rails(masses: &[f64]) -> World {
    let mut w = World::new();
    for (k, mass) in masses.iter().enumerate() {
        let rail = JointSpec::new(format!("rail{k}"), JointKind::Prismatic { axis: Vec3::UNITS[k] });
        w.0.add_link(ModelBuilder::WORLD, format!("car{k}"), Pose::IDENTITY, solid_ball(*mass, 0.1), vec![rail]);
    }
    w
}

#[test]
fn a_lever_has_the_inertia_of_both_its_ends_and_closes_by_a_fifth() {
    let (m, ratio) = ([2.0, 0.5], -3.0);
    let mut w = rails(&m);
    let coefficients = [0.1, ratio, 0.0, 0.0, 0.0];
    w.0.add_equality(equality(EqualityKind::Joint { joint: JointId(1), other: Some(JointId(0)), coefficients }));
    // an error of 0.1 m is taken back at a fifth of it per step, 20 m/s
    let fast = |o: &mut Options| o.correction.max_speed = 100.0;
    let mut lab = Lab::new(&w.build(fast), &[0.2, -0.4], &[0.3, -0.5]).tau(&[1.0, 2.0]);
    // J = (−r, 1): v_next = v_free − M⁻¹Jᵀ (J v_free + 0.2 e/dt) / G
    let j = [-ratio, 1.0];
    let g = j[0] * j[0] / m[0] + j[1] * j[1] / m[1];
    let take = |i: usize, k: usize| j[i] / m[i] * j[k] / g;
    let mut want = [[0.0; 4]; 3];
    for i in 0..2 {
        for k in 0..2 {
            want[0][2 * i + k] = -0.2 / DT * take(i, k);
            want[1][2 * i + k] = f64::from(u8::from(i == k)) - take(i, k);
            want[2][2 * i + k] = DT / m[k] * want[1][2 * i + k];
        }
    }
    let got = lab.jacobian();
    expect("dv_dq", got.dv_dq(), &want[0], 1e-9);
    expect("dv_dv", got.dv_dv(), &want[1], 1e-12);
    expect("dv_dtau", got.dv_dtau(), &want[2], 1e-15);
    lab.check(1e-6, "lever");
}

#[test]
fn a_cam_turns_its_row_as_it_moves() {
    let mut w = rails(&[1.0, 2.0]);
    let coefficients = [0.1, 0.5, -0.4, 0.2, 0.1];
    w.0.add_equality(equality(EqualityKind::Joint { joint: JointId(1), other: Some(JointId(0)), coefficients }));
    let mut lab = Lab::new(&w.build(|_| ()), &[0.7, 0.3], &[1.5, -0.5]).tau(&[1.0, 2.0]);
    lab.check(1e-6, "cam");
    // x moves by itself: the slope of the cam changes with it
    assert!(lab.jacobian().dv_dq()[(0, 0)].abs() > 0.1);
}

#[test]
fn coupled_tendons_and_their_stops_springs_and_friction_have_the_derivative_of_their_step() {
    let mut w = rails(&[1.0, 2.0, 1.5]);
    let a = Tendon {
        stiffness: 300.0,
        damping: 4.0,
        rest: [-0.1, 0.1],
        ..Tendon::new("a", vec![(JointId(0), 2.0), (JointId(2), -0.5)])
    };
    let b = Tendon { range: Some([-0.2, 0.4]), ..Tendon::new("b", vec![(JointId(1), 1.0), (JointId(2), 1.5)]) };
    let c = Tendon { dry_friction: 0.8, ..Tendon::new("c", vec![(JointId(0), 1.0), (JointId(1), 0.7)]) };
    let (a, _, c) = (w.0.add_tendon(a), w.0.add_tendon(b), w.0.add_tendon(c));
    let coefficients = [0.0, 0.8, 0.3, 0.0, 0.0];
    w.0.add_equality(equality(EqualityKind::Tendon { tendon: c, other: Some(a), coefficients }));
    w.0.add_actuator(Actuator {
        transmission: Transmission::Tendon(0),
        ..Actuator::position("winch", JointId(0), 50.0, 2.0)
    });
    for implicit in [Implicit::None, Implicit::Velocity, Implicit::All] {
        let model = World(w.0.clone()).build(|o| o.implicit = implicit);
        // the second tendon at its stop and inside, moving out
        for (q, v) in
            [([0.3, 0.4, 0.0], [0.1, 0.2, 0.3]), ([-0.3, 0.1, -0.15], [0.5, -0.2, -0.3]), ([0.01; 3], [0.0; 3])]
        {
            let mut lab = Lab::new(&model, &q, &v).tau(&[0.3, -0.1, 0.2]).ctrl(&[0.25]);
            lab.check(1e-6, &format!("{implicit:?} at {q:?}"));
        }
    }
}

fn hinge(name: &str) -> Vec<JointSpec> {
    vec![JointSpec { damping: 0.1, ..JointSpec::new(name, JointKind::Revolute { axis: Vec3::UNITS[1] }) }]
}

/// Two cranks and a coupler; the loop is closed between the coupler and the second crank.
fn four_bar() -> Model {
    let mut w = World::new();
    let rod = |along: Vec3| BodyInertia { com: along * 0.5, ..solid_box(0.8, vec3(0.1, 0.02, 0.1)) };
    let [first, across, second] = [vec3(0.0, 0.0, -0.4), vec3(0.6, 0.0, 0.0), vec3(0.0, 0.0, -0.45)];
    let (world, apart) = (ModelBuilder::WORLD, Pose::translation(vec3(0.6, 0.0, 0.0)));
    let a = w.0.add_link(world, "a", Pose::IDENTITY, rod(first), hinge("a"));
    let b = w.0.add_link(a, "b", Pose::translation(first), rod(across), hinge("b"));
    let c = w.0.add_link(world, "c", apart, rod(second), hinge("c"));
    w.0.add_equality(equality(EqualityKind::Connect { frames: [b, c], points: [across, second] }));
    w.build(|_| ())
}

#[test]
fn a_closed_linkage_has_the_derivative_of_its_step_open_or_closed() {
    // a plane linkage closed in space has rows that contradict nothing and say nothing
    let model = four_bar();
    let mut rng = Rng::new(5);
    for k in 0..20 {
        let (q, v) = (rng.vector(3, if k < 10 { 0.3 } else { 1e-3 }), rng.vector(3, 1.0));
        Lab::new(&model, &q, &v).tau(&rng.vector(3, 2.0)).check(1e-6, &format!("linkage {k}"));
    }
}

#[test]
fn bodies_pinned_and_welded_to_each_other_and_to_the_world_have_the_derivative_of_their_step() {
    let mut rng = Rng::new(11);
    for k in 0..12 {
        let mut w = World::new();
        let half = vec3(0.1, 0.06, 0.15);
        let at = |k: f64| Pose::translation(vec3(k, 0.0, 1.0));
        let a = w.block("a", 1.3, half, at(0.0), surface(0.5, 0.0));
        let b = w.block("b", 0.7, half, at(0.8), surface(0.5, 0.0));
        let points = [vec3(0.5, 0.0, 0.1), vec3(-0.3, 0.0, 0.1)];
        let link = match k % 3 {
            0 => EqualityKind::Connect { frames: [a, b], points },
            _ => EqualityKind::Weld {
                frames: [a, b],
                pose: Pose::new(vec3(0.8, 0.0, 0.0), Quat::exp(vec3(0.1, 0.2, 0.0))),
                anchor: points[1],
                torque_scale: 0.7,
            },
        };
        w.0.add_equality(equality(link));
        if k % 2 == 0 {
            let points = [vec3(0.0, 0.0, 1.15), vec3(0.0, 0.0, 0.15)];
            w.0.add_equality(equality(EqualityKind::Connect { frames: [ModelBuilder::WORLD, a], points }));
        }
        let model = w.build(|_| ());
        let mut q = model.neutral().to_vec();
        let open = rng.vector(12, if k < 6 { 0.2 } else { 1e-4 });
        model.integrate(model.neutral(), &open, &mut q).expect("sound");
        Lab::new(&model, &q, &rng.vector(12, 1.0)).check(1e-6, &format!("pins and welds {k}"));
    }
}

#[test]
fn a_welded_pair_moves_as_one() {
    let mut w = World::new();
    let half = vec3(0.1, 0.1, 0.1);
    let place = |k: f64| Pose::translation(vec3(k, 0.0, 0.0));
    let (a, b) = (
        w.block("a", 1.0, half, place(0.0), surface(0.0, 0.0)),
        w.block("b", 3.0, half, place(1.0), surface(0.0, 0.0)),
    );
    let kind = EqualityKind::Weld { frames: [a, b], pose: place(1.0), anchor: Vec3::ZERO, torque_scale: 1.0 };
    w.0.add_equality(equality(kind));
    let mut lab = Lab::new(
        &w.build(|o| o.gravity = [0.0; 3]),
        &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        &[0.0; 12],
    );
    let got = lab.jacobian();
    // a push along the line of both: the momentum is shared by the whole mass
    for (i, j) in [(0, 0), (0, 6), (6, 0), (6, 6)] {
        assert!((got.dv_dtau()[(i, j)] - DT / 4.0).abs() < 1e-14, "({i}, {j})");
        let mass = [1.0, 3.0][j / 6];
        assert!((got.dv_dv()[(i, j)] - mass / 4.0).abs() < 1e-11, "({i}, {j})");
    }
}
