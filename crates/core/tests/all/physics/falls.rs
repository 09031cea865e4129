//! Things of every shape fall, roll and come to rest, alone and in heaps.

use super::scene::*;
use crate::properties::random_tree::Rng;
use slipstick_core::model::{Mesh, Shape};
use slipstick_core::spatial::*;
use slipstick_core::*;

const SIZE: f64 = 0.1;

/// One of each convex shape, about as large as a cube of 0.2 m.
fn shapes(w: &mut World) -> Vec<Shape> {
    let corners = [[1.0, 1.0, 1.0], [-1.0, -1.0, 1.0], [-1.0, 1.0, -1.0], [1.0, -1.0, -1.0]];
    let vertices = corners.iter().map(|c| Vec3::from(*c) * SIZE).collect();
    let triangles = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let mesh = w.0.add_mesh(Mesh { name: "caltrop".into(), vertices, triangles });
    vec![
        Shape::Sphere { radius: SIZE },
        Shape::Capsule { radius: 0.6 * SIZE, half_length: SIZE },
        Shape::Cylinder { radius: SIZE, half_length: 0.7 * SIZE },
        Shape::Cone { radius: SIZE, half_length: SIZE },
        Shape::Box { half_size: vec3(SIZE, 0.8 * SIZE, 0.6 * SIZE) },
        Shape::Ellipsoid { radii: vec3(SIZE, 0.8 * SIZE, 0.6 * SIZE) },
        Shape::Mesh { mesh },
    ]
}

#[test]
fn things_of_every_shape_fall_without_gaining_energy_or_sinking_in() {
    for kind in 0..7 {
        for seed in 0..6 {
            let mut rng = Rng::new(2000 + 10 * seed + kind);
            let mut w = World::new();
            let s = surface(rng.uniform(0.2, 1.0), 0.0);
            w.plane(Pose::IDENTITY, s);
            let shape = shapes(&mut w)[kind as usize];
            let pose = Pose::new(vec3(0.0, 0.0, rng.uniform(0.3, 0.8)), Quat::exp(rng.vec3(2.0)));
            w.free("thing", solid_box(1.0, vec3(SIZE, 0.8 * SIZE, 0.6 * SIZE)), shape, pose, s);
            let mut run = w.run();
            let thrown = [rng.vec3(1.0).to_array(), rng.vec3(3.0).to_array()].concat();
            run.x.v.copy_from_slice(&thrown);
            let start = run.energy();
            for _ in 0..1500 {
                for c in run.step().contacts {
                    // the lowest point of a rim runs round it faster than the body turns, past those that were seen
                    assert!(c.distance > -1e-3, "{shape:?} {seed}: {:e} m deep at {} s", c.distance, run.x.time);
                }
                let now = run.energy();
                assert!(now < start * (1.0 + 1e-3), "{shape:?} {seed}: {start} J, {now} J at {} s", run.x.time);
            }
        }
    }
}

/// A heap of things thrown into a box without a lid.
fn heap(seed: u64, things: usize, friction: f64) -> Run {
    let mut rng = Rng::new(seed);
    let mut w = World::new();
    let s = surface(friction, 0.0);
    w.plane(Pose::IDENTITY, s);
    for k in 0..4 {
        let turn = Quat::exp(Vec3::UNITS[2] * (std::f64::consts::FRAC_PI_2 * k as f64));
        let wall = Pose::new(Vec3::ZERO, turn) * Pose::translation(vec3(0.5, 0.0, 1.0));
        w.fixed(&format!("wall{k}"), Shape::Box { half_size: vec3(0.1, 0.6, 1.0) }, wall, s);
    }
    let shapes = shapes(&mut w);
    for k in 0..things {
        let at = vec3(rng.uniform(-0.2, 0.2), rng.uniform(-0.2, 0.2), 0.25 + 0.35 * k as f64);
        let inertia = solid_box(rng.uniform(0.5, 2.0), vec3(SIZE, 0.8 * SIZE, 0.6 * SIZE));
        let shape = shapes[(k + seed as usize) % shapes.len()];
        w.free(&format!("thing{k}"), inertia, shape, Pose::new(at, Quat::exp(rng.vec3(2.0))), s);
    }
    w.run()
}

#[test]
fn a_heap_of_things_in_a_box_is_solved_step_by_step() {
    // heaps are chaotic: of 60,000 steps of 24 seeds two or three end their budget, one or two of them above 1e-8
    let mut above = 0;
    for seed in 0..3 {
        let mut run = heap(2100 + seed, 10, 0.6);
        let start = run.energy();
        let mut off = 0;
        for _ in 0..2500 {
            let said = run.attempt(&Input::default());
            assert!(said.report.residual < 1e-6, "heap {seed} at {} s: {:?}", run.x.time, said.report);
            above += usize::from(said.report.residual >= 1e-8);
            off += usize::from(said.report.status != Status::Converged);
            let now = run.energy();
            assert!(now < start * (1.0 + 1e-3), "heap {seed}: {start} J became {now} J at {} s", run.x.time);
        }
        assert!(off <= 2, "heap {seed}: {off} of 2500 steps did not converge");
        assert!((1..=10).all(|k| run.position(k).z > 0.0), "heap {seed}: something fell through the floor");
    }
    assert!(above <= 1, "{above} of 7500 steps above 1e-8");
}

#[test]
fn every_step_of_a_limp_arm_on_the_ground_is_solved() {
    let default = (|_| ()) as fn(&mut Options);
    // without correction gaps of several capsules contradict each other in the tenth digit more often, and a single step ends
    // its budget at 1.2e-7
    for (name, options, bound) in [("default", default, 1e-8), ("no correction", without_correction, 2e-7)] {
        let (mut rng, mut worst, mut off) = (Rng::new(7), 0.0_f64, 0);
        for _ in 0..20 {
            let mut run = limp_arm(&mut rng, options);
            for _ in 0..1500 {
                let report = run.attempt(&Input::default()).report;
                worst = worst.max(report.residual);
                off += usize::from(report.status != Status::Converged);
            }
        }
        assert!(worst < bound && off <= 3, "{name}: {off} of 30000 steps did not converge, worst residual {worst:e}");
    }
}
