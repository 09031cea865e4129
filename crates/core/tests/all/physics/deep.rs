//! Demands that are hard or impossible to meet: bodies that start inside each other, wedges, jamming rods, and
//! constraints that contradict each other. The answer is a report, never a panic, and impulses stay bounded.

use super::scene::*;
use crate::properties::random_tree::Rng;
use slipstick_core::model::Shape;
use slipstick_core::model::{EqualityKind, GeomSpec, JointKind, JointSpec};
use slipstick_core::spatial::*;
use slipstick_core::*;

#[test]
fn what_starts_inside_the_ground_comes_out_no_faster_than_allowed() {
    let s = surface(0.5, 0.0);
    let shapes = [
        Shape::Sphere { radius: 0.1 },
        Shape::Box { half_size: vec3(0.1, 0.1, 0.1) },
        Shape::Capsule { radius: 0.1, half_length: 0.2 },
        Shape::Cylinder { radius: 0.1, half_length: 0.1 },
    ];
    for shape in shapes {
        for depth in [1e-3, 1e-2] {
            for max_speed in [0.1, 1.0] {
                let mut w = World::new();
                w.plane(Pose::IDENTITY, s);
                let lying = if let Shape::Capsule { .. } = shape { std::f64::consts::FRAC_PI_2 } else { 0.0 };
                let pose = Pose::new(vec3(0.0, 0.0, 0.1 - depth), Quat::exp(vec3(0.0, lying, 0.0)));
                w.free("body", solid_ball(1.0, 0.1), shape, pose, s);
                let mut run = Run::new(w.build(|o| o.correction.max_speed = max_speed));
                let mut fastest = 0.0_f64;
                for _ in 0..1000 {
                    run.step();
                    fastest = fastest.max(run.velocity(1).norm());
                }
                assert!(fastest <= max_speed * (1.0 + 1e-9), "{shape:?} {depth}: {fastest} m/s");
                let rest = run.position(1).z - 0.1;
                assert!(rest.abs() < 1e-8 && largest(&run.x.v) < 1e-7, "{shape:?} {depth}: rests {rest:e} m high");
            }
        }
    }
}

#[test]
fn contacts_that_are_only_seen_when_they_touch_are_taken_back_as_slowly() {
    let mut w = World::new();
    let s = surface(0.5, 0.0);
    w.plane(Pose::IDENTITY, s);
    w.ball("ball", 1.0, 0.1, vec3(0.0, 0.0, 0.6003), s);
    let mut run = Run::new(w.build(|o| o.contact_distance = 0.0));
    let (start, mut lowest) = (run.energy(), 0.0_f64);
    for _ in 0..1000 {
        run.step();
        assert!(run.energy() <= start && run.velocity(1).z <= 1.0 + STILL, "{:?}", run.x);
        lowest = lowest.min(run.position(1).z - 0.1);
    }
    // one step of its fall
    assert!(lowest < 0.0 && lowest > -(2.0 * G * 0.6_f64).sqrt() * 1e-3, "{lowest:e} m deep");
    assert!((run.position(1).z - 0.1).abs() < 1e-5, "{:?}", run.x);
}

#[test]
fn bodies_that_start_inside_each_other_part_no_faster_than_allowed() {
    for depth in [1e-3, 1e-2] {
        for masses in [[1.0, 1.0], [1.0, 1000.0]] {
            let mut w = World::new();
            let s = surface(0.5, 0.0);
            let half = vec3(0.1, 0.1, 0.1);
            w.block("a", masses[0], half, Pose::IDENTITY, s);
            w.block("b", masses[1], half, Pose::translation(vec3(0.2 - depth, 0.03, 0.02)), s);
            let mut run = Run::new(w.build(|o| o.gravity = [0.0; 3]));
            for _ in 0..200 {
                run.step();
                let apart = (run.velocity(2) - run.velocity(1)).x;
                assert!((-1e-9..=1.0 + 1e-9).contains(&apart), "{depth} m, {masses:?} kg: {apart} m/s");
            }
            let gap = run.position(2).x - run.position(1).x - 0.2;
            assert!(gap > -1e-6, "still {gap:e} m inside");
        }
    }
}

/// A ball or a box between two walls that leave it less room than it needs.
fn wedged(shape: Shape, friction: f64) -> Run {
    let mut w = World::new();
    let s = surface(friction, 0.0);
    let wall = Shape::Box { half_size: vec3(0.1, 1.0, 1.0) };
    w.fixed("left", wall, Pose::translation(vec3(-0.19, 0.0, 0.0)), s);
    w.fixed("right", wall, Pose::translation(vec3(0.19, 0.0, 0.0)), s);
    w.free("body", solid_ball(1.0, 0.1), shape, Pose::IDENTITY, s);
    w.run()
}

#[test]
fn a_body_wedged_between_overlapping_walls_is_pressed_gently_and_sticks_by_friction() {
    for shape in [Shape::Sphere { radius: 0.1 }, Shape::Box { half_size: vec3(0.1, 0.1, 0.1) }] {
        for friction in [0.0, 0.5, 2.0] {
            let mut run = wedged(shape, friction);
            let mut spent = 0;
            for k in 0..200 {
                let said = run.attempt(&Input::default());
                assert_eq!(said.report.status, Status::Infeasible, "{shape:?} {friction} {:?}", said.report);
                // both walls ask for 1 m/s, and neither gets any of it
                assert!(said.report.residual > 0.4 && said.report.residual <= 1.0, "{:?}", said.report);
                let most = said.contacts.iter().map(|c| c.impulse.norm()).fold(0.0, f64::max);
                assert!(most < 10.0, "{shape:?} {friction}: an impulse of {most} N s on 1 kg");
                spent += if k > 0 { said.report.iterations } else { 0 };
            }
            assert!(spent < 8 * 199, "the step before is remembered: {spent} iterations");
            assert!(run.position(1).x.abs() < 1e-6, "{:?}", run.position(1));
            let falls = if friction == 0.0 { -0.2 * G } else { 0.0 };
            assert!((run.velocity(1).z - falls).abs() < 1e-6, "{shape:?} {friction}: {:?}", run.velocity(1));
        }
    }
}

#[test]
fn bodies_in_heaps_of_overlapping_walls_have_a_solution() {
    for seed in 0..40 {
        let mut rng = Rng::new(800 + seed);
        let mut w = World::new();
        let s = surface(rng.uniform(0.0, 1.5), 0.0);
        for k in 0..5 {
            let pose = Pose::new(rng.vec3(0.15), Quat::exp(rng.vec3(2.0)));
            let half_size = vec3(rng.uniform(0.02, 0.1), rng.uniform(0.02, 0.1), rng.uniform(0.02, 0.1));
            w.fixed(&format!("wall{k}"), Shape::Box { half_size }, pose, s);
        }
        let shape =
            if seed % 2 == 0 { Shape::Sphere { radius: 0.1 } } else { Shape::Box { half_size: vec3(0.1, 0.08, 0.06) } };
        w.free("body", solid_ball(1.0, 0.1), shape, Pose::IDENTITY, s);
        let mut run = w.run();
        for _ in 0..100 {
            let said = run.attempt(&Input::default());
            assert!(said.report.residual.is_finite());
            let most = said.contacts.iter().map(|c| c.impulse.norm()).fold(0.0, f64::max);
            assert!(most < 1e3, "heap {seed}: an impulse of {most} N s on 1 kg, {:?}", said.report);
            assert!(largest(&run.x.v) < 1e3, "heap {seed}: {:?}, {:?}", run.x.v, said.report);
        }
    }
}

#[test]
fn a_jammed_rod_has_a_solution_whatever_its_friction() {
    let (radius, half_length) = (0.01, 0.5);
    for k in 0..60 {
        let mut rng = Rng::new(900 + k);
        // a steep rod pushed point first over a rough floor has no solution in forces, or several: Painlevé
        let (friction, angle, speed) = (rng.uniform(0.5, 10.0), rng.uniform(0.2, 1.4), rng.uniform(-5.0, 5.0));
        let mut w = World::new();
        let s = surface(friction, 0.0);
        w.plane(Pose::IDENTITY, s);
        let lean = Quat::exp(vec3(0.0, std::f64::consts::FRAC_PI_2 - angle, 0.0));
        let pose = Pose::new(vec3(0.0, 0.0, half_length * angle.sin() + radius), lean);
        let rod = solid_box(1.0, vec3(radius, radius, half_length));
        w.free("rod", rod, Shape::Capsule { radius, half_length }, pose, s);
        let mut run = w.run().thrown(&[speed, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let start = run.energy();
        for _ in 0..400 {
            let said = run.attempt(&Input::default());
            assert!(said.report.residual < 1e-8, "rod {k}: {:?}", said.report);
            let most = said.contacts.iter().map(|c| c.impulse.norm()).fold(0.0, f64::max);
            assert!(most < 10.0, "rod {k}: an impulse of {most} N s on 1 kg at 5 m/s");
            let now = run.energy();
            assert!(now < start * (1.0 + 1e-3), "rod {k}: {start} J became {now} J");
        }
    }
}

#[test]
fn infeasible_constraints_are_reported() {
    let mut w = World::new();
    let body = w.block("torn", 1.0, vec3(0.1, 0.1, 0.1), Pose::IDENTITY, surface(0.0, 0.0));
    for x in [0.1, -0.1] {
        let frames = [ModelBuilder::WORLD, body];
        let points = [vec3(x, 0.0, 0.0), Vec3::ZERO];
        let kind = EqualityKind::Connect { frames, points };
        w.0.add_equality(equality(kind));
    }
    let mut run = w.run();
    for _ in 0..200 {
        let said = run.attempt(&Input::default());
        assert_ne!(said.report.status, Status::Converged, "{:?}", said.report);
        assert!(said.report.residual.is_finite() && largest(&run.x.v) < 1.0, "{:?} {:?}", said.report, run.x.v);
    }
    assert!(run.position(1).norm() < 0.2, "it stays between the two: {:?}", run.position(1));
}

#[test]
fn redundant_constraints_are_feasible() {
    let mut w = World::new();
    let body = w.block("held", 1.0, vec3(0.1, 0.1, 0.1), Pose::IDENTITY, surface(0.0, 0.0));
    for _ in 0..3 {
        let kind = EqualityKind::Weld {
            frames: [ModelBuilder::WORLD, body],
            pose: Pose::IDENTITY,
            anchor: Vec3::ZERO,
            torque_scale: 1.0,
        };
        w.0.add_equality(equality(kind));
    }
    let mut run = w.run();
    run.go(300);
    assert!(run.position(1).norm() < 1e-11 && largest(&run.x.v) < STILL, "{:?}", run.x);
}

#[test]
fn a_press_that_closes_on_a_block_has_a_solution() {
    // obstacles that move: no velocity of the block satisfies both jaws, which are driven by huge forces
    let mut w = World::new();
    let s = surface(0.5, 0.0);
    let half = vec3(0.1, 0.1, 0.1);
    for (name, x) in [("left", -0.2), ("right", 0.2)] {
        let rail = JointSpec::new(name, JointKind::Prismatic { axis: Vec3::UNITS[0] });
        let at = Pose::translation(vec3(x, 0.0, 0.0));
        let jaw = w.0.add_link(ModelBuilder::WORLD, name, at, solid_box(100.0, half), vec![rail]);
        w.0.add_geom(jaw, GeomSpec { surface: s, ..GeomSpec::new(name, Shape::Box { half_size: half }) });
    }
    w.block("block", 1.0, half, Pose::IDENTITY, s);
    let mut run = w.run();
    let mut tau = vec![0.0; 8];
    (tau[0], tau[1]) = (1e5, -1e5);
    for _ in 0..200 {
        run.push(&tau);
        assert!(largest(&run.x.v) < 1e-3, "{:?}", run.x.v);
    }
    assert!((run.x.q[1] - run.x.q[0]).abs() < 1e-6, "the jaws went through: {:?}", run.x.q);
}
