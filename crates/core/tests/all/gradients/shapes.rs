//! Every pair of shapes at the moment when they meet, and every shape on a floor.

use super::oracle::*;
use super::worlds::*;
use crate::physics::scene::*;
use crate::properties::random_tree::Rng;
use slipstick_core::spatial::*;
use slipstick_core::*;

/// Two free bodies of the given shapes without gravity, 0.6 m apart.
fn pair(kinds: [usize; 2], rng: &mut Rng) -> Model {
    let mut w = World::new();
    for (k, kind) in kinds.into_iter().enumerate() {
        let shape = shape(&mut w.0, rng, kind);
        let at = vec3(0.6 * k as f64, 0.0, 0.0);
        let half = vec3(0.05, 0.07, 0.09);
        let pose = Pose::new(at, Quat::exp(rng.vec3(2.0)));
        w.free(
            &format!("body{k}"),
            solid_box(rng.uniform(0.5, 2.0), half),
            shape,
            pose,
            surface(rng.uniform(0.1, 0.9), 0.0),
        );
    }
    w.build(|o| o.gravity = [0.0; 3])
}

/// Runs until something touches; `None` if nothing does.
fn meet(run: &mut Run) -> Option<State> {
    for _ in 0..600 {
        let before = run.x.clone();
        if run.attempt(&Input::default()).contacts.iter().any(|c| c.mode != Mode::Break) {
            return Some(before);
        }
    }
    None
}

#[test]
fn every_pair_of_moving_shapes_that_meet_has_the_derivative_of_its_step() {
    let (mut tally, mut met) = (Tally::default(), 0);
    for (a, b) in (0..N_SHAPES).flat_map(|a| (a..N_SHAPES).map(move |b| (a, b))) {
        for seed in 0..3 {
            let mut rng = Rng::new(100 * seed + 10 * a as u64 + b as u64);
            let model = pair([a, b], &mut rng);
            let mut v = rng.vector(12, 1.0);
            (v[0], v[6]) = (1.0, -0.5);
            (1..3).for_each(|k| (v[k], v[6 + k]) = (0.02 * v[k], 0.02 * v[6 + k]));
            let Some(x) = meet(&mut Run::new(model.clone()).thrown(&v)) else { continue };
            met += 1;
            tally.add(&format!("shapes {a} and {b}, seed {seed}"), Lab::new(&model, &x.q, &x.v).audit());
        }
    }
    assert!(met > 50, "only {met} pairs met");
    tally.judge("pairs of shapes");
}

#[test]
fn every_shape_that_tumbles_over_a_floor_has_the_derivative_of_its_step() {
    let mut tally = Tally::default();
    for kind in 0..N_SHAPES {
        for seed in 0..3 {
            let mut rng = Rng::new(77 + 10 * seed + kind as u64);
            let mut w = World::new();
            w.plane(Pose::IDENTITY, surface(0.1, 0.0));
            let shape = shape(&mut w.0, &mut rng, kind);
            let pose = Pose::new(vec3(0.0, 0.0, 0.2), Quat::exp(rng.vec3(2.0)));
            w.free("body", solid_box(1.0, vec3(0.05, 0.07, 0.09)), shape, pose, surface(rng.uniform(0.2, 0.9), 0.0));
            let mut run = Run::new(w.build(|_| ())).thrown(&rng.vector(6, 1.0));
            run.x.v[3..].copy_from_slice(&rng.vector(3, 5.0));
            for k in 0..40 {
                (0..12).for_each(|_| drop(run.attempt(&Input::default())));
                let what = format!("shape {kind}, seed {seed}, sample {k}");
                tally.add(&what, Lab::new(&run.model, &run.x.q, &run.x.v).audit());
            }
        }
    }
    tally.judge("shapes on a floor");
}

/// Two boxes crossed on a floor, at rest or, two of three times, sliding and spinning: how four points share the load then
/// decides the torque.
fn stack(k: u64) -> Lab {
    let mut rng = Rng::new(3 + k);
    let mut w = World::new();
    w.plane(Pose::IDENTITY, surface(0.3, 0.0));
    let half = vec3(0.2, 0.15, 0.05);
    w.block("low", 2.0, half, Pose::translation(vec3(0.0, 0.0, 0.05)), surface(0.2, 0.0));
    let turn = Quat::exp(vec3(0.0, 0.0, rng.uniform(0.1, 1.4)));
    w.block("high", 1.0, half, Pose::new(vec3(0.03, 0.01, 0.15), turn), surface(0.2, 0.0));
    let mut v = vec![0.0; 12];
    if !k.is_multiple_of(3) {
        v[..2].copy_from_slice(&rng.vector(2, 0.5));
        v[6..8].copy_from_slice(&rng.vector(2, 0.5));
        (v[5], v[11]) = (rng.uniform(-1.0, 1.0), rng.uniform(-1.0, 1.0));
    }
    let mut run = Run::new(w.build(|_| ())).thrown(&v);
    (0..5).for_each(|_| drop(run.attempt(&Input::default())));
    Lab::new(&run.model, &run.x.q, &run.x.v)
}

/// Features of faces that lie on each other change with every tilt, and with them the share of the load: where they slide,
/// only what keeps them parallel is compared, but for all of that the derivative is one.
#[test]
fn boxes_that_lie_on_each_other_and_slide_have_one_derivative() {
    for k in 0..30 {
        let mut lab = stack(k);
        let (blocks, base) = (lab.jacobian(), lab.evaluate());
        for (kind, j) in (0..3).flat_map(|kind| (0..12).map(move |j| (kind, j))) {
            let tilts = kind == 0 && [3, 4].contains(&(j % 6));
            if tilts && k % 3 > 0 {
                continue;
            }
            let (scale, floor) = ([1.0, 1.0, 1e3][kind], [1.0, 1.0, 1e-3][kind]);
            let errors = [1e-4, 1e-5, 1e-6, 1e-7, 1e-8].map(|h| {
                let [mut plus, mut minus] = [h, -h].map(|h| lab.moved(kind, j, scale * h));
                (plus.modes, minus.modes) = (base.modes.clone(), base.modes.clone());
                let d = central(&lab.model, &base, &plus, &minus, scale * h).expect("no modes");
                column_error(&blocks.0[4 + kind], j, &d[1]) / blocks.0[4 + kind].amax().max(floor)
            });
            let best = errors.into_iter().fold(f64::INFINITY, f64::min);
            // a tilt moves corners by more than the compliance that shares the load between them
            let most = if tilts { 1e-4 } else { 1e-5 };
            assert!(best < most, "stack {k}: {} {j} is {best:e} off", NAMES[4 + kind]);
        }
    }
}
