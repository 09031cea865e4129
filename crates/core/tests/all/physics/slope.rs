//! Coulomb's law on slopes and floors: what sticks, what slides and how far, what tips.

use super::scene::*;
use crate::properties::random_tree::Rng;
use slipstick_core::model::{BodyId, GeomSpec, JointKind, JointSpec, Shape};
use slipstick_core::spatial::*;
use slipstick_core::*;

const HALF: Vec3 = vec3(0.1, 0.15, 0.05);

/// A block that lies on a slope, turned about the slope's normal by `yaw`.
fn block_on(ground: Pose, yaw: f64, friction: f64) -> World {
    let mut w = World::new();
    let s = surface(friction, 0.0);
    w.plane(ground, s);
    let lying = Pose::new(vec3(0.0, 0.0, HALF.z), Quat::exp(Vec3::UNITS[2] * yaw));
    w.block("block", 2.0, HALF, ground * lying, s);
    w
}

#[test]
fn a_block_below_the_friction_angle_does_not_creep() {
    let mut rng = Rng::new(1);
    for _ in 0..10 {
        let friction = rng.uniform(0.1, 0.9);
        let ground = slope((0.98 * friction).atan(), rng.uniform(-3.0, 3.0));
        let mut run = block_on(ground, rng.uniform(-3.0, 3.0), friction).run();
        let start = run.position(1);
        run.go(100);
        let settled = run.position(1);
        run.go(1000);
        assert!((settled - start).norm() < 1e-8, "moved {:e} m at first", (settled - start).norm());
        // 1e-8 m in a minute
        assert!((run.position(1) - settled).norm() < 1.6e-10, "crept {:e} m", (run.position(1) - settled).norm());
        assert!(largest(&run.x.v) < STILL, "{:?}", run.x.v);
    }
}

#[test]
fn a_block_above_the_friction_angle_slides_as_galileo_and_coulomb_say() {
    let mut rng = Rng::new(2);
    for _ in 0..10 {
        let friction = rng.uniform(0.05, 0.7);
        let angle = friction.atan() + rng.uniform(0.02, 0.3);
        let ground = slope(angle, rng.uniform(-3.0, 3.0));
        let mut run = block_on(ground, rng.uniform(-3.0, 3.0), friction).run();
        let said = run.go(500);
        let want = ground.rotation.c[0] * (0.5 * G * (angle.sin() - friction * angle.cos()));
        // four corners share the load by a compliance of 1e-6
        assert!((run.velocity(1) - want).norm() < 2e-6 * want.norm(), "{:?} {want:?}", run.velocity(1));
        assert!(run.spin(1).norm() < 1e-6, "it turns: {:?}", run.spin(1));
        assert_eq!(said.contacts.len(), 4);
        assert!(said.contacts.iter().all(|c| c.mode == Mode::Slide));
    }
}

#[test]
fn three_feet_slide_exactly_and_their_forces_carry_the_weight() {
    let mut rng = Rng::new(3);
    for _ in 0..10 {
        let (friction, mass) = (rng.uniform(0.05, 0.7), rng.uniform(0.1, 10.0));
        let angle = friction.atan() + rng.uniform(0.02, 0.3);
        let ground = slope(angle, rng.uniform(-3.0, 3.0));
        let mut w = World::new();
        w.plane(ground, surface(friction, 0.0));
        w.tripod(mass, 0.05, ground * Pose::translation(vec3(0.0, 0.0, 0.05)), surface(friction, 0.0));
        let mut run = w.run();
        let said = run.go(500);
        let want = ground.rotation.c[0] * (0.5 * G * (angle.sin() - friction * angle.cos()));
        assert!((run.velocity(1) - want).norm() < 1e-9, "{:?} {want:?}", run.velocity(1));
        let force = ground.rotation.tmul(said.impulse_on(BodyId(1))) * 1e3;
        let load = mass * G * angle.cos();
        let error = force - vec3(-friction * load, 0.0, load);
        assert!(error.norm() < 1e-7 * load, "{error:?} of {load} N");
    }
}

#[test]
fn tilting_gravity_is_the_same_as_tilting_the_ground() {
    let (friction, angle) = (0.4, 0.5_f64);
    let mut tilted = block_on(slope(angle, 0.0), 0.3, friction).run();
    let flat = block_on(Pose::IDENTITY, 0.3, friction).build(|o| o.gravity = [G * angle.sin(), 0.0, -G * angle.cos()]);
    let mut flat = Run::new(flat);
    tilted.go(300);
    flat.go(300);
    let there = slope(angle, 0.0).rotation.tmul(tilted.velocity(1));
    assert!((there - flat.velocity(1)).norm() < 1e-7, "{there:?} {:?}", flat.velocity(1));
}

#[test]
fn a_thrown_block_stops_after_the_square_of_its_speed() {
    let mut rng = Rng::new(4);
    for _ in 0..8 {
        let (friction, speed) = (rng.uniform(0.2, 1.0), rng.uniform(0.5, 2.0));
        let far = speed * speed / (2.0 * friction * G);
        let stop = |dt: f64| {
            let mut w = World::new();
            w.plane(Pose::IDENTITY, surface(friction, 0.0));
            w.tripod(1.0, 0.05, Pose::translation(vec3(0.0, 0.0, 0.05)), surface(friction, 0.0));
            let mut run = Run::new(w.build(|o| o.dt = dt)).thrown(&[speed, 0.0, 0.0, 0.0, 0.0, 0.0]);
            run.go((1.2 * speed / (friction * G * dt)) as usize);
            let at = run.position(1).x;
            assert!(largest(&run.x.v) < STILL, "it never stops: {:?}", run.x.v);
            run.go(50);
            assert!((run.position(1).x - at).abs() < 1e-10, "it goes on");
            at
        };
        for dt in [2e-3, 1e-3, 5e-4] {
            // a sum of velocities at the ends of steps: v dt / 2 short of the integral, and the last step is cut
            let short = far - 0.5 * speed * dt - stop(dt);
            assert!(short.abs() < friction * G * dt * dt, "{short:e} m at {dt} s");
        }
    }
}

#[test]
fn without_friction_nothing_is_pulled_along() {
    let angle = 0.3_f64;
    for condim in [1, 3] {
        // friction of a frictionless contact is not looked at; a coefficient of zero is as good
        let mut s = surface(if condim == 1 { 0.8 } else { 0.0 }, 0.0);
        s.condim = condim;
        let mut w = World::new();
        w.plane(slope(angle, 0.4), s);
        w.block("block", 1.0, HALF, slope(angle, 0.4) * Pose::translation(vec3(0.0, 0.0, HALF.z)), s);
        let mut run = w.run();
        for _ in 0..300 {
            for c in run.step().contacts {
                let lambda = c.frame.tmul(c.impulse);
                assert!(lambda.x.hypot(lambda.y) < 1e-14 && lambda.z >= 0.0, "{lambda:?}");
            }
        }
        let want = slope(angle, 0.4).rotation.c[0] * (0.3 * G * angle.sin());
        assert!((run.velocity(1) - want).norm() < 1e-6, "{:?}", run.velocity(1));
    }
}

#[test]
fn a_smooth_floor_does_not_hold_what_leaves_it() {
    let mut w = World::new();
    w.plane(Pose::IDENTITY, surface(0.0, 0.0));
    w.ball("ball", 1.0, 0.1, vec3(0.0, 0.0, 0.1), surface(0.0, 0.0));
    let mut run = w.run().thrown(&[0.0, 0.0, 0.5, 0.0, 0.0, 0.0]);
    for k in 1..100 {
        assert!(run.step().contacts.iter().all(|c| c.impulse == Vec3::ZERO));
        assert!((run.velocity(1).z - 0.5 + 1e-3 * G * k as f64).abs() < 1e-12, "{:?}", run.x);
        if run.velocity(1).z < 0.0 {
            break;
        }
    }
    run.go(200);
    assert!((run.position(1).z - 0.1).abs() < 1e-12 && largest(&run.x.v) < STILL, "{:?}", run.x);
}

#[test]
fn a_tall_block_tips_where_its_center_leaves_the_base() {
    let half = vec3(0.05, 0.05, 0.2);
    for (share, tips) in [(0.98, false), (1.02, true)] {
        let ground = slope((share * half.x / half.z).atan(), 0.0);
        let mut w = World::new();
        w.plane(ground, surface(1.0, 0.0));
        w.block("tower", 1.0, half, ground * Pose::translation(vec3(0.0, 0.0, half.z)), surface(1.0, 0.0));
        let mut run = w.run();
        run.go(1500);
        let up = Quat::from_slice(&run.x.q[3..]).to_matrix().c[2];
        let leans = up.dot(ground.rotation.c[2]).min(1.0).acos();
        assert!(if tips { leans > 0.3 } else { leans < 1e-7 }, "at {share} of the limit it leans by {leans} rad");
    }
}

#[test]
fn a_ladder_slips_when_the_floor_is_too_smooth() {
    let (radius, half_length, angle) = (0.02, 1.0, 1.0_f64);
    let (across, high) = (2.0 * half_length * angle.cos(), 2.0 * half_length * angle.sin());
    // moments about the lower end: weight at half length, push of the wall, friction one radius below
    let critical = 0.5 * across / (high + radius);
    for (share, slips) in [(0.97, true), (1.03, false)] {
        let mut w = World::new();
        w.plane(Pose::IDENTITY, surface(share * critical, 0.0));
        let wall = Pose::new(vec3(across + radius, 0.0, 0.0), Quat::exp(vec3(0.0, -std::f64::consts::FRAC_PI_2, 0.0)));
        w.fixed("wall", Shape::Plane, wall, surface(0.0, 0.0));
        let middle = vec3(0.5 * across, 0.0, 0.5 * high + radius);
        let leaning = Pose::new(middle, Quat::exp(vec3(0.0, std::f64::consts::FRAC_PI_2 - angle, 0.0)));
        let rod = solid_box(5.0, vec3(radius, radius, half_length));
        let shape = Shape::Capsule { radius, half_length };
        w.free("ladder", rod, shape, leaning, surface(0.0, 0.0));
        let mut run = w.run();
        run.go(1000);
        let moved = (run.position(1) - middle).norm();
        assert!(if slips { moved > 0.01 } else { moved < 1e-8 }, "at {share} of the limit it moved by {moved} m");
    }
}

#[test]
fn a_platform_carries_its_load_as_far_as_friction_goes() {
    let friction = 0.5;
    for (share, sticks) in [(0.98, true), (1.3, false)] {
        let mut w = World::new();
        let s = surface(friction, 0.0);
        let slide = JointSpec::new("rail", JointKind::Prismatic { axis: Vec3::UNITS[0] });
        let half = vec3(1.0, 1.0, 0.1);
        let deck = w.0.add_link(ModelBuilder::WORLD, "deck", Pose::IDENTITY, solid_box(5.0, half), vec![slide]);
        w.0.add_geom(deck, GeomSpec { surface: s, ..GeomSpec::new("deck", Shape::Box { half_size: half }) });
        w.tripod(1.0, 0.05, Pose::translation(vec3(0.0, 0.0, 0.15)), s);
        let mut run = w.run();
        let a = share * friction * G;
        let force = if sticks { 6.0 * a } else { 5.0 * a + friction * G };
        let tau = [force, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        (0..200).for_each(|_| drop(run.push(&tau)));
        let load = if sticks { 0.2 * a } else { 0.2 * friction * G };
        assert!((run.x.v[0] - 0.2 * a).abs() < 1e-9, "deck {} m/s", run.x.v[0]);
        assert!((run.x.v[1] - load).abs() < 1e-9, "load {} m/s, not {load}", run.x.v[1]);
    }
}
