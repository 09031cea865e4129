//! Turning the whole world turns its derivative: nothing depends on how the tangents of a contact are chosen.

use super::oracle::*;
use crate::physics::scene::*;
use crate::properties::random_tree::Rng;
use nalgebra::DMatrix;
use slipstick_core::spatial::*;
use slipstick_core::*;

/// A box and two balls on a slope, turned as a whole by `turn`.
fn turned(turn: Quat, seed: u64) -> Lab {
    let (mut rng, r) = (Rng::new(seed), turn.to_matrix());
    let mut w = World::new();
    let s = surface(0.4, 0.0);
    w.plane(Pose::new(Vec3::ZERO, turn), s);
    let mut v = Vec::new();
    for k in 0..3 {
        let own = Quat::exp(rng.vec3(1.0));
        let at = vec3(0.19 * k as f64, rng.uniform(-0.02, 0.02), 0.1 + rng.uniform(-5e-5, 5e-5));
        let pose = Pose::new(r * at, turn.compose(own));
        if k == 0 {
            w.block("box", 1.0, vec3(0.08, 0.06, 0.05), pose, s);
        } else {
            w.ball(&format!("ball{k}"), 0.7, 0.1, pose.position, s);
        }
        let (linear, angular) = (rng.vec3(0.5) + vec3(0.0, 0.0, -1.0), rng.vec3(1.0));
        v.extend((r * linear).to_array());
        // of a ball the rotation is not told: it starts unturned, so that its own axes are the world's
        v.extend(if k == 0 { angular } else { r * angular }.to_array());
    }
    let model = w.build(|o| o.gravity = (r * vec3(1.0, 2.0, -9.0)).to_array());
    let q = model.neutral().to_vec();
    Lab::new(&model, &q, &v)
}

#[test]
fn a_turned_world_has_the_turned_derivative() {
    let (mut slide, mut stick) = (0, 0);
    for seed in 0..12 {
        let mut straight = turned(Quat::IDENTITY, seed);
        slide += straight.step().contacts().filter(|c| c.mode == Mode::Slide).count();
        stick += straight.step().contacts().filter(|c| c.mode == Mode::Stick).count();
        let want = straight.jacobian();
        for turn in [vec3(0.0, 0.0, 0.7), vec3(0.0, 0.0, 2.4), vec3(1.0, -0.5, 0.3), vec3(3.0, 0.5, 0.0)] {
            let turn = Quat::exp(turn);
            let (got, r) = (turned(turn, seed).jacobian(), turn.to_matrix());
            // linear parts turn, angular parts too for balls, whose axes are the world's
            let mut t = DMatrix::identity(18, 18);
            for first in [0, 6, 9, 12, 15] {
                (0..9).for_each(|k| t[(first + k / 3, first + k % 3)] = r.at(k / 3, k % 3));
            }
            for k in [0, 1, 2, 4, 5, 6] {
                let turned = &t * &want.0[k] * t.transpose();
                let off = (&got.0[k] - &turned).amax() / turned.amax();
                assert!(off < 1e-8, "seed {seed}, {}: {off:e}", NAMES[k]);
            }
        }
    }
    assert!(slide > 5 && stick > 5, "{slide} slide, {stick} stick");
}

#[test]
fn a_world_elsewhere_has_the_same_derivative() {
    for seed in 0..6 {
        let mut here = turned(Quat::IDENTITY, seed);
        let want = here.jacobian();
        // along the plane nothing changes
        for body in 0..3 {
            here.at.x.q[7 * body] += 3.0;
            here.at.x.q[7 * body + 1] -= 5.0;
        }
        here.settle();
        let off = here.jacobian().distance(&want);
        assert!(off < 1e-9, "seed {seed}: {off:e}");
    }
}
