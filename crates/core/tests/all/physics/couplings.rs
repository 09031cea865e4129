//! Constraints that hold at all times between joints: levers, cams, locks.

use super::scene::*;
use slipstick_core::model::{EqualityKind, JointId, JointKind, JointSpec, Tendon};
use slipstick_core::spatial::*;
use slipstick_core::*;

/// Two masses on rails, the second one following the first by a polynomial.
fn coupled(masses: [f64; 2], coefficients: [f64; 5]) -> Run {
    let mut w = World::new();
    for (k, mass) in masses.into_iter().enumerate() {
        let rail = JointSpec::new(format!("rail{k}"), JointKind::Prismatic { axis: Vec3::UNITS[k] });
        w.0.add_link(ModelBuilder::WORLD, format!("car{k}"), Pose::IDENTITY, solid_ball(mass, 0.1), vec![rail]);
    }
    let kind = EqualityKind::Joint { joint: JointId(1), other: Some(JointId(0)), coefficients };
    w.0.add_equality(equality(kind));
    w.run()
}

#[test]
fn coupled_joints_move_like_a_lever() {
    let (masses, ratio) = ([2.0, 0.5], -3.0);
    let mut run = coupled(masses, [0.0, ratio, 0.0, 0.0, 0.0]);
    (0..200).for_each(|_| drop(run.push(&[4.0, 1.0])));
    let speed = 0.2 * (4.0 + ratio) / (masses[0] + ratio * ratio * masses[1]);
    assert!((run.x.v[0] - speed).abs() < STILL && (run.x.v[1] - ratio * speed).abs() < STILL, "{:?}", run.x.v);
    assert!((run.x.q[1] - ratio * run.x.q[0]).abs() < 1e-12);
}

#[test]
fn a_curved_coupling_is_followed_to_second_order() {
    let mut run = coupled([1.0, 1.0], [0.1, 0.5, -0.4, 0.2, 0.1]);
    run.x.q[1] = 0.1;
    (run.x.v[0], run.x.v[1]) = (1.0, 0.5);
    let curve = |x: f64| 0.1 + x * (0.5 + x * (-0.4 + x * (0.2 + x * 0.1)));
    for _ in 0..800 {
        run.step();
        let off = run.x.q[1] - curve(run.x.q[0]);
        assert!(off.abs() < 1e-5, "{off:e} m off the curve");
    }
    // no force works on it: it keeps its kinetic energy
    let energy = 0.5 * (run.x.v[0] * run.x.v[0] + run.x.v[1] * run.x.v[1]);
    assert!((energy - 0.625).abs() < 0.002, "{energy} J");
}

#[test]
fn a_coupling_that_starts_open_closes_by_a_fifth_per_step() {
    let mut run = coupled([1.0, 2.0], [0.0, 2.0, 0.0, 0.0, 0.0]);
    run.x.q[1] = 1e-3;
    for k in 1..40 {
        run.step();
        let (off, want) = (run.x.q[1] - 2.0 * run.x.q[0], 1e-3 * 0.8_f64.powi(k));
        assert!((off - want).abs() < 1e-12, "step {k}: {off:e}, not {want:e}");
    }
}

#[test]
fn a_coupling_to_nothing_locks_the_joint() {
    let mut w = World::new();
    let rail = JointSpec::new("lift", JointKind::Prismatic { axis: Vec3::UNITS[2] });
    w.0.add_link(ModelBuilder::WORLD, "cabin", Pose::IDENTITY, solid_ball(3.0, 0.1), vec![rail]);
    let coefficients = [0.25, 0.0, 0.0, 0.0, 0.0];
    w.0.add_equality(equality(EqualityKind::Joint { joint: JointId(0), other: None, coefficients }));
    let mut run = w.run();
    run.x.q[0] = 0.25;
    run.go(300);
    assert!((run.x.q[0] - 0.25).abs() < 1e-12 && run.x.v[0].abs() < STILL, "{:?}", run.x);
}

#[test]
fn coupled_tendons_move_like_a_lever() {
    let mut w = World::new();
    for k in 0..2 {
        let rail = JointSpec::new(format!("rail{k}"), JointKind::Prismatic { axis: Vec3::UNITS[k] });
        w.0.add_link(ModelBuilder::WORLD, format!("car{k}"), Pose::IDENTITY, solid_ball(1.0, 0.1), vec![rail]);
    }
    let (a, b) = (Tendon::new("a", vec![(JointId(0), 2.0)]), Tendon::new("b", vec![(JointId(1), 1.0)]));
    let (a, b) = (w.0.add_tendon(a), w.0.add_tendon(b));
    let kind = EqualityKind::Tendon { tendon: b, other: Some(a), coefficients: [0.0, 1.5, 0.0, 0.0, 0.0] };
    w.0.add_equality(equality(kind));
    let mut run = w.run();
    (0..200).for_each(|_| drop(run.push(&[4.0, 0.0])));
    // q1 = 1.5 · 2 q0
    let speed = 0.2 * 4.0 / (1.0 + 9.0);
    assert!((run.x.v[0] - speed).abs() < STILL && (run.x.v[1] - 3.0 * speed).abs() < STILL, "{:?}", run.x.v);
}
