//! Rolling without slipping, and how sliding becomes rolling.

use super::scene::*;
use crate::properties::random_tree::Rng;
use slipstick_core::model::Shape;
use slipstick_core::spatial::*;
use slipstick_core::*;

const RADIUS: f64 = 0.1;

fn ball_on(ground: Pose, friction: f64) -> Run {
    let mut w = World::new();
    w.plane(ground, surface(friction, 0.0));
    w.ball("ball", 0.5, RADIUS, ground.point(vec3(0.0, 0.0, RADIUS)), surface(friction, 0.0));
    w.run()
}

/// Velocity of the lowest point of a ball.
fn slip(run: &Run, normal: Vec3) -> f64 {
    (run.velocity(1) + run.spin(1).cross(normal * -RADIUS)).norm()
}

#[test]
fn a_ball_set_sliding_rolls_with_five_sevenths_of_its_speed() {
    let mut rng = Rng::new(5);
    for _ in 0..10 {
        let (friction, speed, way) = (rng.uniform(0.1, 1.0), rng.uniform(0.5, 3.0), rng.uniform(-3.0, 3.0));
        let direction = vec3(way.cos(), way.sin(), 0.0);
        let start = direction * speed;
        let mut run = ball_on(Pose::IDENTITY, friction).thrown(&[start.x, start.y, 0.0, 0.0, 0.0, 0.0]);
        // slipping ends when v − μ g t = (5/2) μ g t
        let grips = 2.0 * speed / (7.0 * friction * G);
        let mut first = None;
        for _ in 0..(2.0 * grips / 1e-3) as usize {
            let said = run.step();
            if said.contacts[0].mode == Mode::Stick {
                first.get_or_insert(run.x.time);
            }
        }
        let first = first.expect("it grips");
        assert!((first - grips).abs() <= 1e-3, "grips at {first} s, not {grips}");
        let error = (run.velocity(1) - direction * (5.0 / 7.0 * speed)).norm();
        assert!(error < STILL && slip(&run, Vec3::UNITS[2]) < STILL, "{error:e}");
    }
}

#[test]
fn a_rolling_ball_keeps_rolling() {
    let spin = [0.3, 0.7];
    let roll = vec3(spin[0], spin[1], 0.0).cross(vec3(0.0, 0.0, RADIUS));
    let mut run = ball_on(Pose::IDENTITY, 0.3).thrown(&[roll.x, roll.y, 0.0, spin[0], spin[1], 0.0]);
    run.go(3000);
    assert!((run.velocity(1) - roll).norm() < STILL, "{:?}", run.velocity(1));
    assert!((run.position(1) - roll * 3.0 - vec3(0.0, 0.0, RADIUS)).norm() < 3.0 * STILL);
}

#[test]
fn a_ball_on_a_slope_loses_two_sevenths_of_gravity_to_its_spin_while_it_grips() {
    let mut rng = Rng::new(6);
    for _ in 0..10 {
        let (friction, azimuth) = (rng.uniform(0.1, 0.5), rng.uniform(-3.0, 3.0));
        // it grips while tan α ≤ 7/2 μ
        let limit = (3.5 * friction).atan();
        for (angle, grips) in [(0.95 * limit, true), (1.05 * limit, false)] {
            let ground = slope(angle, azimuth);
            let mut run = ball_on(ground, friction);
            run.go(500);
            let (s, c) = angle.sin_cos();
            let pull = if grips { 5.0 / 7.0 * s } else { s - friction * c };
            let want = ground.rotation.c[0] * (0.5 * G * pull);
            assert!((run.velocity(1) - want).norm() < 1e-9, "{:?} {want:?}", run.velocity(1));
            assert_eq!(slip(&run, ground.rotation.c[2]) < 1e-9, grips);
        }
    }
}

#[test]
fn a_roller_on_a_slope_loses_a_third_of_gravity_to_its_spin() {
    let (angle, half_length) = (0.3_f64, 0.15);
    let ground = slope(angle, 0.5);
    let mut w = World::new();
    w.plane(ground, surface(0.8, 0.0));
    let across = Pose::new(vec3(0.0, 0.0, RADIUS), Quat::exp(vec3(std::f64::consts::FRAC_PI_2, 0.0, 0.0)));
    let side = RADIUS * RADIUS / 4.0 + half_length * half_length / 3.0;
    let about_com = Sym3::diagonal(vec3(side, side, 0.5 * RADIUS * RADIUS)) * 3.0;
    let inertia = BodyInertia { mass: 3.0, com: Vec3::ZERO, about_com };
    let shape = Shape::Cylinder { radius: RADIUS, half_length };
    w.free("roller", inertia, shape, ground * across, surface(0.8, 0.0));
    let mut run = w.run();
    run.go(500);
    let want = ground.rotation.c[0] * (0.5 * G * angle.sin() * 2.0 / 3.0);
    // a line of contact may have four points, which share the load by a compliance of 1e-6
    assert!((run.velocity(1) - want).norm() < 2e-6, "{:?} {want:?}", run.velocity(1));
    assert!(slip(&run, ground.rotation.c[2]) < 1e-8);
}

#[test]
fn spin_about_the_normal_meets_no_resistance() {
    let mut run = ball_on(Pose::IDENTITY, 1.0).thrown(&[0.0, 0.0, 0.0, 0.0, 0.0, 9.0]);
    run.go(500);
    assert!((run.spin(1) - vec3(0.0, 0.0, 9.0)).norm() < 10.0 * STILL && run.velocity(1).norm() < STILL);
}
