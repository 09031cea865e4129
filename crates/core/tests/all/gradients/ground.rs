//! Cones, whose side and rim are curved in one direction each, and rough ground made of triangles.

use super::oracle::*;
use super::worlds::*;
use crate::physics::scene::*;
use crate::properties::random_tree::Rng;
use slipstick_core::model::{Mesh, Shape};
use slipstick_core::spatial::*;
use slipstick_core::*;

/// Audits a run every few steps.
fn follow(run: &mut Run, what: &str, every: usize, count: usize, tally: &mut Tally) {
    for k in 0..count {
        (0..every).for_each(|_| drop(run.attempt(&Input::default())));
        tally.add(&format!("{what}, sample {k}"), Lab::new(&run.model, &run.x.q, &run.x.v).audit());
    }
}

#[test]
fn a_cone_that_tumbles_and_meets_a_ball_has_the_derivative_of_its_step() {
    let mut tally = Tally::default();
    for seed in 0..6 {
        let (mut rng, mut w) = (Rng::new(seed), World::new());
        w.plane(Pose::IDENTITY, surface(0.1, 0.0));
        let pose = Pose::new(vec3(0.0, 0.0, 0.2), Quat::exp(rng.vec3(2.0)));
        let cone = Shape::Cone { radius: 0.08, half_length: 0.07 };
        w.free("cone", solid_box(1.0, vec3(0.05, 0.07, 0.09)), cone, pose, surface(0.5, 0.0));
        w.ball("ball", 1.0, 0.06, vec3(0.1, 0.0, 0.15), surface(0.3, 0.0));
        let mut run = Run::new(w.build(|_| ())).thrown(&rng.vector(12, 1.0));
        follow(&mut run, &format!("cone {seed}"), 20, 20, &mut tally);
    }
    tally.judge("cones");
}

/// A square meter of triangles with corners up to 2 cm high or low.
fn rough(rng: &mut Rng) -> Mesh {
    let n = 12_u32;
    let height = |k: u32, rng: &mut Rng| {
        let (i, j) = (f64::from(k / n), f64::from(k % n));
        vec3(0.1 * i - 0.55, 0.1 * j - 0.55, rng.uniform(-0.02, 0.02))
    };
    let vertices = (0..n * n).map(|k| height(k, rng)).collect();
    let cells = (0..n - 1).flat_map(|i| (0..n - 1).map(move |j| i * n + j));
    let triangles = cells.flat_map(|a| [[a, a + n, a + n + 1], [a, a + n + 1, a + 1]]).collect();
    Mesh { name: "ground".into(), vertices, triangles }
}

#[test]
fn shapes_that_tumble_over_rough_ground_have_the_derivative_of_their_step() {
    let mut tally = Tally::default();
    for seed in 0..6 {
        let (mut rng, mut w) = (Rng::new(seed), World::new());
        let mesh = w.0.add_mesh(rough(&mut rng));
        w.fixed("ground", Shape::Terrain { mesh }, Pose::IDENTITY, surface(0.2, 0.0));
        for kind in 0..3 {
            let shape = shape(&mut w.0, &mut rng, kind);
            let at = vec3(0.25 * kind as f64 - 0.25, 0.0, 0.2);
            let pose = Pose::new(at, Quat::exp(rng.vec3(2.0)));
            w.free(&format!("body{kind}"), solid_box(1.0, vec3(0.05, 0.07, 0.09)), shape, pose, surface(0.5, 0.0));
        }
        let mut run = Run::new(w.build(|_| ())).thrown(&rng.vector(18, 0.3));
        follow(&mut run, &format!("ground {seed}"), 30, 15, &mut tally);
    }
    tally.judge("rough ground");
}
