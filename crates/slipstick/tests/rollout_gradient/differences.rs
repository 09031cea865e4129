//! Against central differences of whole rollouts.

use super::scene::{Place, STEPS, Scene};
use slipstick::model::ParameterGroup;
use slipstick::rollout::{Memory, Wanted};

/// What share of a block's largest number a derivative may be off.
const TOLERANCE: f64 = 1e-5;

/// The best of three central differences inside one mode; `None` if even the smallest leaves it.
fn column(scene: &Scene, place: Place, q: &[f64], keys: &[u64], exact: &[f64]) -> Option<Vec<f64>> {
    let mut best: Option<(f64, Vec<f64>)> = None;
    for h in place.steps() {
        let ((a, keys_a), (b, keys_b)) = (scene.changed(place, h).end(q), scene.changed(place, -h).end(q));
        if keys_a != keys || keys_b != keys {
            continue;
        }
        let d: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (a - b) / (2.0 * h)).collect();
        let error = d.iter().zip(exact).fold(0.0f64, |w, (d, x)| w.max((d - x).abs()));
        if best.as_ref().is_none_or(|(least, _)| error < *least) {
            best = Some((error, d));
        }
    }
    best.map(|(_, d)| d)
}

/// Compares the derivatives of the last state with differences, block by block (rows of q, rows of v).
fn check(scene: &Scene, places: &[Vec<Place>]) {
    let groups = [ParameterGroup::Friction, ParameterGroup::Inertial, ParameterGroup::Damping, ParameterGroup::Gravity];
    let mut memory = scene.memory(Memory::Recompute, &groups);
    let mut rollout = memory.run(&scene.x0, &scene.input()).unwrap();
    let s = rollout.sensitivities(Wanted::default()).unwrap();
    let (q, keys, nv) = (rollout.q(STEPS).to_vec(), rollout.mode_keys().to_vec(), scene.model.nv());
    let (mut used, mut left_out) = (0, 0);
    for block in places {
        let exact: Vec<Vec<f64>> = block.iter().map(|p| p.column(&s)).collect();
        let (mut worst, mut size) = ([0.0f64; 2], [1e-300f64; 2]);
        for (place, exact) in block.iter().zip(&exact) {
            let Some(d) = column(scene, *place, &q, &keys, exact) else {
                left_out += 1;
                continue;
            };
            used += 1;
            for (i, (d, x)) in d.iter().zip(exact).enumerate() {
                worst[i / nv] = worst[i / nv].max((d - x).abs());
                size[i / nv] = size[i / nv].max(x.abs());
            }
        }
        for k in 0..2 {
            let (name, rows) = (scene.model.name(), ["q", "v"][k]);
            assert!(
                worst[k] <= TOLERANCE * size[k],
                "{name}, rows of {rows}, {:?}: {} of {}",
                block[0],
                worst[k],
                size[k]
            );
        }
    }
    assert!(left_out * 10 <= used + left_out, "{left_out} of {} left out", used + left_out);
}

fn states(nv: usize) -> [Vec<Place>; 2] {
    [(0..nv).map(Place::Q).collect(), (0..nv).map(Place::V).collect()]
}

/// A parameter of one owner: friction of the floor, mass and first moments of a body.
fn parameters(geom: usize, body: usize) -> [Vec<Place>; 2] {
    let inertial = (0..4).map(|k| Place::Parameter(ParameterGroup::Inertial, 10 * (body - 1) + k)).collect();
    [vec![Place::Parameter(ParameterGroup::Friction, geom)], inertial]
}

#[test]
fn a_ball_that_slides() {
    let scene = Scene::sphere();
    let tau = [0, 40, 99].into_iter().flat_map(|t| (0..6).map(move |j| Place::Tau(t, j))).collect();
    // the friction of floor and ball is the same: the larger one counts, so its derivative has two sides
    let lone = scene.changed(Place::Parameter(ParameterGroup::Friction, 0), -0.1);
    check(&lone, &[&states(6)[..], &[tau], &parameters(1, 1)].concat());
}

#[test]
fn a_cube_that_slides_and_turns_on_a_face() {
    for scene in [Scene::cube(), Scene::soft_cube()] {
        let scene = scene.changed(Place::Parameter(ParameterGroup::Friction, 0), -0.1);
        let gravity = (0..3).map(|k| Place::Parameter(ParameterGroup::Gravity, k)).collect();
        check(&scene, &[&states(6)[..], &parameters(1, 1), &[gravity]].concat());
    }
}

#[test]
fn a_cube_in_the_air() {
    check(&Scene::thrown(), &states(6));
}

#[test]
fn a_robot_on_four_feet() {
    let scene = Scene::quadruped();
    let ctrl = [0, 57, 98].into_iter().flat_map(|t| (0..12).step_by(4).map(move |k| Place::Ctrl(t, k))).collect();
    let tau = [3, 77].into_iter().flat_map(|t| (0..18).step_by(5).map(move |k| Place::Tau(t, k))).collect();
    let damping = vec![Place::Parameter(ParameterGroup::Damping, 7)];
    check(&scene, &[&states(18)[..], &[ctrl, tau, damping], &parameters(0, 2)[1..]].concat());
}
