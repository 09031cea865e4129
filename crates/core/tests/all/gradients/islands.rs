//! Bodies that do not touch know nothing of each other: neither their motion nor its derivative.

use super::oracle::*;
use crate::physics::scene::*;
use nalgebra::DMatrix;
use slipstick_core::model::Shape;
use slipstick_core::spatial::*;
use slipstick_core::*;

const HALF: Vec3 = Vec3 { x: 0.1, y: 0.12, z: 0.08 };

/// Some of four boxes, each of a mass of its own, at the given places on a plane.
fn some(chosen: &[usize], places: &[Vec3]) -> Model {
    let mut w = World::new();
    w.plane(Pose::IDENTITY, surface(0.6, 0.0));
    for &k in chosen {
        w.block(&format!("box{k}"), 1.0 + k as f64, HALF, Pose::translation(places[k]), surface(0.6, 0.0));
    }
    w.build(|_| ())
}

fn boxes(places: &[Vec3]) -> Model {
    some(&[0, 1, 2, 3], places)
}

/// The first and the last of four lie on each other, between them in the list a box that slides and one in the air.
fn four() -> Vec<Vec3> {
    vec![vec3(0.0, 0.0, 0.08), vec3(2.0, 0.0, 0.08), vec3(4.0, 0.0, 3.0), vec3(0.02, 0.01, 0.24)]
}

fn velocities() -> Vec<f64> {
    let slow = [0.0; 6];
    let slides = [0.7, -0.2, 0.0, 0.0, 0.0, 0.3];
    let turns = [0.1, 0.2, -0.3, 1.0, -2.0, 0.5];
    [slow, slides, turns, slow].concat()
}

/// Rows and columns of some boxes.
fn part(whole: &DMatrix<f64>, boxes: &[usize]) -> DMatrix<f64> {
    let dof = |n: usize| 6 * boxes[n / 6] + n % 6;
    DMatrix::from_fn(6 * boxes.len(), 6 * boxes.len(), |i, j| whole[(dof(i), dof(j))])
}

#[test]
fn each_island_moves_and_is_differentiated_as_if_it_were_alone() {
    let (places, v) = (four(), velocities());
    let model = boxes(&places);
    let mut lab = Lab::new(&model, model.neutral(), &v);
    let (together, all) = (lab.evaluate(), lab.jacobian());
    for group in [&[0, 3][..], &[1], &[2]] {
        let alone = some(group, &places);
        let own: Vec<f64> = group.iter().flat_map(|k| v[6 * k..6 * k + 6].to_vec()).collect();
        let mut lab = Lab::new(&alone, alone.neutral(), &own);
        let (single, blocks) = (lab.evaluate(), lab.jacobian());
        let got: Vec<f64> = group.iter().flat_map(|k| together.v[6 * k..6 * k + 6].to_vec()).collect();
        assert!(single.v.iter().zip(&got).all(|(a, b)| (a - b).abs() < 1e-13), "{group:?}: {got:?} {:?}", single.v);
        for (whole, own) in all.0.iter().zip(&blocks.0).filter(|(b, _)| b.ncols() > 0) {
            let error = (part(whole, group) - own).amax();
            assert!(error < 1e-9 * own.amax().max(1.0), "{group:?}: {error:e}");
        }
    }
}

#[test]
fn nothing_depends_on_what_it_does_not_touch() {
    let model = boxes(&four());
    let all = Lab::new(&model, model.neutral(), &velocities()).jacobian();
    let islands: [&[usize]; 3] = [&[0, 3], &[1], &[2]];
    for whole in all.0.iter().filter(|b| b.ncols() > 0) {
        for (i, j) in (0..24 * 24).map(|k| (k / 24, k % 24)) {
            let joined = islands.iter().any(|g| g.contains(&(i / 6)) && g.contains(&(j / 6)));
            assert!(joined || whole[(i, j)] == 0.0, "({i}, {j}): {}", whole[(i, j)]);
        }
    }
    assert!(all.dv_dtau()[(2, 20)] != 0.0, "boxes on each other do");
}

#[test]
fn derivatives_of_islands_are_those_of_their_differences() {
    let model = boxes(&four());
    Lab::new(&model, model.neutral(), &velocities()).check(1e-5, "two islands and a box in the air");
}

#[test]
fn memory_forgets_who_touched_whom() {
    let model = boxes(&four());
    let apart = {
        let mut q = model.neutral().to_vec();
        q[21] = 6.0;
        q
    };
    let (mut data, mut next) = (Data::new(&model), State::neutral(&model));
    let mut blocks_of = |data: &mut Data, q: &[f64]| {
        let x = State::new(&model, q, &velocities()).expect("sound");
        let mut done = step(&model, data, &x, &Input::default(), &mut next).expect("a step");
        Blocks::new(&done.jacobian().expect("a derivative"))
    };
    for q in [model.neutral(), &apart, model.neutral()] {
        data.clear_warm_start();
        let (used, fresh) = (blocks_of(&mut data, q), blocks_of(&mut Data::new(&model), q));
        assert!(used.0 == fresh.0, "distance {}", used.distance(&fresh));
    }
}

#[test]
fn what_is_wedged_leaves_the_correction_of_others_alone() {
    let s = surface(0.5, 0.0);
    let build = |wedged: bool| {
        let mut w = World::new();
        w.plane(Pose::IDENTITY, s);
        w.ball("sunk", 1.0, 0.1, vec3(0.0, 0.0, 0.09), s);
        // as in `deep.rs`: walls nearer to each other than the ball is thick
        if wedged {
            for (k, side) in [-1.0, 1.0].into_iter().enumerate() {
                let wall = Shape::Box { half_size: vec3(0.5, 1.0, 1.0) };
                w.fixed(&format!("wall{k}"), wall, Pose::translation(vec3(3.0 + side * 0.58, 0.0, 1.0)), s);
            }
            w.ball("wedged", 1.0, 0.1, vec3(3.0, 0.0, 1.0), s);
        }
        Run::new(w.build(|_| ()))
    };
    let (mut alone, mut beside) = (build(false), build(true));
    let (first, second) = (alone.attempt(&Input::default()), beside.attempt(&Input::default()));
    assert_eq!([first.report.status, second.report.status], [Status::Converged, Status::Infeasible]);
    let (rises, also) = (alone.velocity(1).z, beside.velocity(1).z);
    assert!(rises > 0.1 && (rises - also).abs() < 1e-12, "{rises} {also}");
}
