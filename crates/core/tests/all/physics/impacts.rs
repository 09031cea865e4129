//! Fast bodies: nothing passes through anything between two steps, and what passes by is not touched.

use super::scene::*;
use crate::gradients::oracle::Lab;
use crate::properties::random_tree::Rng;
use slipstick_core::model::{GeomSpec, JointKind, JointSpec, Shape, Surface};
use slipstick_core::spatial::*;
use slipstick_core::*;

/// Without gravity, in steps of `dt`.
fn floating(dt: f64) -> impl FnOnce(&mut Options) {
    move |o| (o.dt, o.gravity) = (dt, [0.0; 3])
}

fn wall(w: &mut World, thickness: f64, x: f64, s: Surface) {
    let half_size = vec3(0.5 * thickness, 2.0, 2.0);
    w.fixed("wall", Shape::Box { half_size }, Pose::translation(vec3(x + 0.5 * thickness, 0.0, 0.0)), s);
}

#[test]
fn nothing_passes_a_thin_wall() {
    let (s, mut rng) = (surface(0.3, 0.0), Rng::new(5));
    let shapes = [
        (Shape::Sphere { radius: 0.01 }, 0.01),
        (Shape::Box { half_size: vec3(0.01, 0.02, 0.01) }, 0.025),
        (Shape::Capsule { radius: 0.01, half_length: 0.02 }, 0.03),
        (Shape::Cylinder { radius: 0.02, half_length: 0.01 }, 0.0224),
    ];
    for (shape, radius) in shapes {
        for (speed, dt) in [(5.0, 1e-3), (20.0, 2e-3), (20.0, 5e-3), (50.0, 5e-3), (100.0, 1e-3), (100.0, 5e-3)] {
            for thickness in [1e-3, 1e-2] {
                let mut w = World::new();
                wall(&mut w, thickness, 0.0, s);
                let start = vec3(-radius - 1e-3 - 0.6 * rng.uniform(0.0, 1.0), 0.0, 0.0);
                w.free("body", solid_ball(0.1, 0.01), shape, Pose::translation(start), s);
                let mut run = Run::new(w.build(floating(dt)));
                let aside = 0.2 * speed;
                run.x.v[..3].copy_from_slice(&[speed, rng.uniform(-aside, aside), rng.uniform(-aside, aside)]);
                let said = (0..(1.0 / (speed * dt)) as usize + 10).map(|_| run.step().report.residual);
                let worst = said.fold(0.0, f64::max);
                let (x, v) = (run.position(1).x, run.velocity(1).x);
                assert!(x < 0.0 && v <= 1e-9 && worst <= 1e-10, "{shape:?} {speed} m/s {dt} s: at {x} m, {v} m/s");
            }
        }
    }
}

#[test]
fn fast_bodies_land_on_a_plane_without_dipping_into_it() {
    for (speed, dt) in [(5.0, 2e-3), (20.0, 2e-3), (20.0, 5e-3), (100.0, 5e-3)] {
        let (mut w, s) = (World::new(), surface(0.5, 0.0));
        w.plane(Pose::IDENTITY, s);
        w.ball("ball", 1.0, 0.02, vec3(0.0, 0.0, 0.3), s);
        let mut run = Run::new(w.build(|o| o.dt = dt));
        run.x.v[2] = -speed;
        for _ in 0..100 {
            run.step();
            assert!(run.position(1).z > 0.02 - 1e-9, "{speed} m/s, {dt} s: {} m", run.position(1).z);
        }
    }
}

#[test]
fn fast_spheres_share_their_momentum() {
    for (e, masses) in [(0.0, [1.0, 1.0]), (0.0, [1.0, 3.0]), (1.0, [1.0, 1.0]), (0.5, [2.0, 1.0])] {
        let (mut w, s) = (World::new(), surface(0.5, e));
        w.ball("a", masses[0], 0.02, vec3(0.0, 0.0, 0.0), s);
        w.ball("b", masses[1], 0.02, vec3(0.5, 0.0, 0.0), s);
        let mut run = Run::new(w.build(floating(5e-3)));
        (run.x.v[0], run.x.v[6]) = (50.0, -10.0);
        run.go(20);
        let ([a, b], closing) = (masses, 60.0);
        let mean = (50.0 * a - 10.0 * b) / (a + b);
        let wanted = [mean - e * b * closing / (a + b), mean + e * a * closing / (a + b)];
        let got = [run.velocity(1).x, run.velocity(2).x];
        assert!((got[0] - wanted[0]).abs() + (got[1] - wanted[1]).abs() < 1e-8, "{e} {masses:?}: {got:?} {wanted:?}");
    }
}

/// The second ball is at rest until the first one hits it; then it would pass the wall in the same step.
#[test]
fn what_an_impact_makes_fast_is_stopped_as_well() {
    let (mut w, s) = (World::new(), surface(0.0, 0.0));
    w.ball("a", 1.0, 0.02, vec3(-0.20, 0.0, 0.0), s);
    w.ball("b", 1.0, 0.02, vec3(-0.12, 0.0, 0.0), s);
    wall(&mut w, 1e-3, 0.0, s);
    let mut run = Run::new(w.build(floating(5e-3)));
    run.x.v[0] = 80.0;
    for _ in 0..5 {
        run.step();
        // three normals along one line share their loads by compliance, which yields by a millionth of the speed
        assert!(run.position(2).x < -0.02 + 1e-6 * 80.0 * 5e-3, "{:?}", run.x);
    }
}

#[test]
fn a_limit_far_away_holds_what_an_impact_makes_fast() {
    let (mut w, s) = (World::new(), surface(0.0, 0.0));
    let rail = JointSpec {
        range: Some([-1.0, 0.05]),
        ..JointSpec::new("rail", JointKind::Prismatic { axis: Vec3::UNITS[0] })
    };
    let car = w.0.add_link(ModelBuilder::WORLD, "car", Pose::IDENTITY, solid_ball(1.0, 0.02), vec![rail]);
    w.0.add_geom(car, GeomSpec { surface: s, ..GeomSpec::new("car", Shape::Sphere { radius: 0.02 }) });
    w.ball("ball", 1.0, 0.02, vec3(-0.05, 0.0, 0.0), s);
    let mut run = Run::new(w.build(floating(5e-3)));
    run.x.v[1] = 80.0;
    for _ in 0..5 {
        run.step();
        assert!(run.x.q[0] <= 0.05 + 1e-9, "{:?}", run.x);
    }
}

#[test]
fn what_passes_by_is_not_touched() {
    for (other, clearance) in [
        (Shape::Sphere { radius: 0.1 }, 0.13),
        (Shape::Box { half_size: vec3(0.1, 0.1, 0.1) }, 0.13),
        (Shape::Capsule { radius: 0.05, half_length: 0.05 }, 0.13),
    ] {
        for x in [0.15, 0.2, 0.3, 0.4] {
            let (mut w, s) = (World::new(), surface(0.5, 0.5));
            w.fixed("post", other, Pose::translation(vec3(x, clearance, 0.0)), s);
            w.ball("ball", 1.0, 0.01, Vec3::ZERO, s);
            let mut run = Run::new(w.build(floating(5e-3)));
            run.x.v[0] = 100.0;
            run.go(3);
            assert_eq!(run.velocity(1).to_array(), [100.0, 0.0, 0.0], "{other:?} at {x} m");
        }
    }
}

#[test]
fn a_robot_at_rest_has_contacts_where_it_touches_and_nowhere_else() {
    let (mut w, s) = (World::new(), surface(0.5, 0.0));
    w.plane(Pose::IDENTITY, s);
    w.ball("on", 1.0, 0.1, vec3(0.0, 0.0, 0.1), s);
    w.ball("beside", 1.0, 0.1, vec3(0.205, 0.0, 0.1), s);
    let said = w.run().go(100);
    assert_eq!(said.contacts.len(), 2, "{:?}", said.contacts);
}

#[test]
fn impacts_from_afar_are_differentiated() {
    let (mut w, s) = (World::new(), surface(0.3, 0.4));
    wall(&mut w, 1e-3, 0.0, s);
    w.ball("a", 1.0, 0.02, vec3(-0.3, 0.0, 0.0), s);
    w.block("b", 0.5, vec3(0.02, 0.03, 0.04), Pose::new(vec3(-0.5, 0.1, 0.0), Quat::exp(vec3(0.3, -0.2, 0.1))), s);
    let model = w.build(floating(5e-3));
    let x = State::neutral(&model);
    let v = [90.0, 3.0, 1.0, 0.0, 0.0, 0.0, 110.0, 2.0, -3.0, 4.0, 5.0, 6.0];
    Lab::new(&model, &x.q, &v).check(1e-6, "two bodies and a wall half a meter away");
}
