//! Momentum: free flight keeps it, and what one body loses in a collision the others gain.

use super::scene::*;
use crate::properties::random_tree::Rng;
use slipstick_core::model::{PairRule, Shape};
use slipstick_core::spatial::*;
use slipstick_core::*;

/// Bodies of several shapes that fly towards the middle, without gravity.
fn swarm(seed: u64, restitution: f64) -> Run {
    let mut rng = Rng::new(seed);
    let mut w = World::new();
    let s = surface(0.5, restitution);
    let mut v = Vec::new();
    for k in 0..6 {
        let out = Vec3::UNITS[k % 3] * if k < 3 { 1.0 } else { -1.0 } + rng.vec3(0.1);
        let pose = Pose::new(out * rng.uniform(0.5, 0.7), Quat::exp(rng.vec3(2.0)));
        let size = rng.uniform(0.06, 0.12);
        let shape = match k % 4 {
            0 => Shape::Sphere { radius: size },
            1 => Shape::Box { half_size: vec3(size, 0.7 * size, 1.3 * size) },
            2 => Shape::Capsule { radius: 0.5 * size, half_length: size },
            _ => Shape::Cylinder { radius: size, half_length: size },
        };
        let inertia = solid_box(rng.uniform(0.2, 3.0), vec3(size, 0.7 * size, 1.3 * size));
        w.free(&format!("body{k}"), inertia, shape, pose, s);
        v.extend((out * rng.uniform(-3.0, -1.0)).to_array());
        v.extend(rng.vec3(3.0).to_array());
    }
    Run::new(w.build(|o| o.gravity = [0.0; 3])).thrown(&v)
}

#[test]
fn impulses_between_free_bodies_keep_linear_and_angular_momentum() {
    for (seed, restitution) in [(1, 0.0), (2, 0.0), (3, 0.6), (4, 1.0)] {
        let mut run = swarm(seed, restitution);
        let ghost = run.model.with_pair_rule(PairRule::List(Vec::new())).expect("no pairs are a sound list");
        let (mut data, mut free) = (Data::new(&ghost), run.x.clone());
        let mut hits = 0;
        for _ in 0..600 {
            let x = run.x.clone();
            step(&ghost, &mut data, &x, &Input::default(), &mut free).unwrap();
            let said = run.step();
            hits += usize::from(said.contacts.iter().any(|c| c.impulse.norm() > 1e-3));
            let without = run.work.momentum(&run.model, &x.q, &free.v).unwrap();
            let with = run.work.momentum(&run.model, &x.q, &run.x.v).unwrap();
            assert!((with.lin - without.lin).norm() < 1e-12, "linear momentum: {:?} {:?}", with.lin, without.lin);
            assert!((with.ang - without.ang).norm() < 1e-12, "angular momentum: {:?} {:?}", with.ang, without.ang);
        }
        assert!(hits >= 3, "only {hits} hits in swarm {seed}");
    }
}

#[test]
fn bodies_that_meet_keep_their_linear_momentum_over_the_whole_flight() {
    for seed in 10..13 {
        let mut run = swarm(seed, 0.3);
        let start = run.work.momentum(&run.model, &run.x.q, &run.x.v).unwrap();
        run.go(800);
        let end = run.work.momentum(&run.model, &run.x.q, &run.x.v).unwrap();
        assert!((end.lin - start.lin).norm() < 1e-11, "{:?} {:?}", start.lin, end.lin);
    }
}

#[test]
fn gravity_is_all_that_changes_the_momentum_of_bodies_in_flight() {
    let mut run = swarm(20, 0.0);
    let up = run.model.options().clone();
    let model = run.model.with_options({
        let mut o = up;
        o.gravity = [1.0, -2.0, 3.0];
        o
    });
    run.model = model.unwrap();
    run.x.v.chunks_mut(6).for_each(|v| v[..3].iter_mut().for_each(|v| *v *= -1.0)); // away from each other
    let start = run.work.momentum(&run.model, &run.x.q, &run.x.v).unwrap();
    for _ in 0..500 {
        assert!(run.step().contacts.iter().all(|c| c.impulse == Vec3::ZERO));
    }
    let end = run.work.momentum(&run.model, &run.x.q, &run.x.v).unwrap();
    let gained = vec3(1.0, -2.0, 3.0) * (0.5 * run.model.total_mass());
    assert!((end.lin - start.lin - gained).norm() < 1e-11, "{:?}", end.lin - start.lin - gained);
}

#[test]
fn a_smooth_hit_between_equal_balls_exchanges_their_speeds_along_the_line_of_centers() {
    let mut w = World::new();
    let s = surface(0.0, 1.0);
    let offset = 0.06;
    w.ball("cue", 1.0, 0.05, vec3(-0.3, offset, 0.0), s);
    w.ball("red", 1.0, 0.05, Vec3::ZERO, s);
    let mut run = Run::new(w.build(|o| o.gravity = [0.0; 3]));
    run.x.v[0] = 2.0;
    let said = loop {
        let said = run.step();
        if said.contacts.iter().any(|c| c.impulse.norm() > 0.0) {
            break said;
        }
    };
    let normal = said.contacts[0].frame.c[2];
    let hit = normal * vec3(2.0, 0.0, 0.0).dot(normal);
    assert!((run.velocity(2) - hit).norm() < 1e-12, "{:?} {hit:?}", run.velocity(2));
    assert!((run.velocity(1) - (vec3(2.0, 0.0, 0.0) - hit)).norm() < 1e-12);
    assert!(run.velocity(1).dot(run.velocity(2)).abs() < 1e-12, "they part at a right angle");
}
