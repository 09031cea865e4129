//! Towers at rest: equal cubes, light under heavy, heavy under light.

use super::scene::*;
use slipstick_core::model::BodyId;
use slipstick_core::spatial::*;

const HALF: f64 = 0.05;

/// Cubes of the given masses on top of each other, the first one on the ground.
fn stack(masses: &[f64]) -> Run {
    let mut w = World::new();
    let s = surface(0.6, 0.0);
    w.plane(Pose::IDENTITY, s);
    for (k, mass) in masses.iter().enumerate() {
        let at = Pose::translation(vec3(0.0, 0.0, (2 * k + 1) as f64 * HALF));
        w.block(&format!("cube{k}"), *mass, vec3(HALF, HALF, HALF), at, s);
    }
    w.run()
}

/// The stack stands for a second; the ground carries its weight.
fn stands(masses: &[f64]) {
    let mut run = stack(masses);
    let start = run.x.q.clone();
    let said = run.go(1000);
    for (k, (now, before)) in run.x.q.iter().zip(&start).enumerate() {
        assert!((now - before).abs() < 1e-6, "coordinate {k} moved by {:e}", now - before);
    }
    assert!(largest(&run.x.v) < 1e-7, "moves with {:e}", largest(&run.x.v));
    let ground = said.contacts.iter().filter(|c| c.bodies.contains(&BodyId::WORLD));
    let force = ground.fold(0.0, |sum, c| sum + c.impulse.z * 1e3);
    let weight = masses.iter().sum::<f64>() * G;
    assert!((force / weight - 1.0).abs() < 1e-6, "{force} N for {weight} N");
}

#[test]
fn ten_cubes_stand() {
    stands(&[1.0; 10]);
}

#[test]
fn a_cube_carries_a_thousand_times_its_mass() {
    stands(&[1.0, 1000.0]);
}

#[test]
fn a_cube_carries_a_thousandth_of_its_mass() {
    stands(&[1000.0, 1.0]);
}

#[test]
fn towers_stand_whichever_way_their_masses_grow() {
    let rising: Vec<f64> = (0..10).map(|k| 1000.0_f64.powf(k as f64 / 9.0)).collect();
    let falling: Vec<f64> = rising.iter().rev().copied().collect();
    stands(&rising);
    stands(&falling);
}

#[test]
fn a_wall_of_bricks_stands() {
    let mut w = World::new();
    let (s, half) = (surface(0.6, 0.0), vec3(0.1, 0.05, 0.05));
    w.plane(Pose::IDENTITY, s);
    for row in 0..4 {
        for k in 0..4 - row {
            let at = vec3(0.202 * k as f64 + 0.101 * row as f64, 0.0, 0.05 + 0.1 * row as f64);
            w.block(&format!("brick{row}{k}"), 1.0, half, Pose::translation(at), s);
        }
    }
    let mut run = w.run();
    let start = run.x.q.clone();
    run.go(500);
    let moved = run.x.q.iter().zip(&start).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
    assert!(moved < 1e-6 && largest(&run.x.v) < 1e-7, "moved {moved:e} m, moves with {:e}", largest(&run.x.v));
}

#[test]
fn masses_of_any_size_move_alike() {
    let fall = |mass: f64| {
        let mut w = World::new();
        let ground = slope(0.5, 0.3);
        let s = surface(0.3, 0.0);
        w.plane(ground, s);
        w.block("block", mass, vec3(0.1, 0.1, 0.05), ground * Pose::translation(vec3(0.0, 0.0, 0.05)), s);
        w.ball("ball", 0.3 * mass, 0.05, ground.point(vec3(0.3, 0.0, 0.09)), s);
        let mut run = w.run();
        run.go(400);
        run.x
    };
    let one = fall(1.0);
    for mass in [1e-6, 1e-3, 1e3, 1e6] {
        let other = fall(mass);
        for (a, b) in one.v.iter().chain(&one.q).zip(other.v.iter().chain(&other.q)) {
            assert!((a - b).abs() < 1e-7, "with {mass} kg {b}, with 1 kg {a}");
        }
    }
}

#[test]
fn a_grain_rests_on_a_mountain_and_a_mountain_is_not_moved_by_it() {
    let mut w = World::new();
    let s = surface(0.6, 0.0);
    w.plane(Pose::IDENTITY, s);
    w.block("mountain", 1e6, vec3(1.0, 1.0, 0.5), Pose::translation(vec3(0.0, 0.0, 0.5)), s);
    w.ball("grain", 1e-6, 1e-3, vec3(0.2, 0.1, 1.011), s);
    let mut run = w.run();
    run.go(500);
    assert!((run.position(2).z - 1.001).abs() < 1e-7 && run.velocity(2).norm() < 1e-7, "{:?}", run.x);
    assert!((run.position(1).z - 0.5).abs() < 1e-7 && run.velocity(1).norm() < 1e-7, "{:?}", run.x);
}

#[test]
fn a_soft_contact_moves_as_its_compliance_says() {
    for (mass, compliance) in [(1.0, 1.0), (0.1, 5.0), (20.0, 0.2)] {
        let mut w = World::new();
        w.plane(Pose::IDENTITY, surface(0.5, 0.0));
        let mut soft = surface(0.5, 0.0);
        soft.compliance = compliance;
        w.ball("ball", mass, 0.1, vec3(0.0, 0.0, 0.1), soft);
        let mut run = w.run();
        run.go(500);
        // velocity per impulse, made up for by the correction of the depth: Φ / dt + R m g dt = 0
        let (depth, want) = (0.1 - run.position(1).z, compliance * mass * G * 1e-6);
        assert!((depth / want - 1.0).abs() < 1e-6, "{depth:e} m, not {want:e}");
    }
}
