//! Energy: contact takes it and never gives it.

use super::scene::*;
use slipstick_core::spatial::*;

#[test]
fn dropped_and_tumbling_boxes_never_gain_energy() {
    for seed in 0..20 {
        let friction = [0.0, 0.3, 0.6, 1.0][seed as usize % 4];
        let mut run = tumbling(100 + seed, 1, friction, |_| ());
        let start = run.energy();
        for _ in 0..1500 {
            run.step();
            let now = run.energy();
            assert!(now < start * (1.0 + 1e-3), "box {seed}: {start} J became {now} J at {} s", run.x.time);
        }
    }
}

#[test]
fn boxes_that_tumble_over_each_other_never_gain_energy() {
    for seed in 0..6 {
        let mut run = tumbling(200 + seed, 4, 0.5, |_| ());
        let start = run.energy();
        for _ in 0..1500 {
            run.step();
            let now = run.energy();
            assert!(now < start * (1.0 + 1e-3), "boxes {seed}: {start} J became {now} J at {} s", run.x.time);
        }
        let speed = (1..=4).map(|k| run.velocity(k).norm()).fold(0.0, f64::max);
        assert!(speed < 1.0, "after 1.5 s boxes still move with {speed} m/s");
    }
}

#[test]
fn a_box_comes_to_rest_on_a_face() {
    for seed in 0..10 {
        let mut run = tumbling(300 + seed, 1, 0.7, |_| ());
        run.go(4000);
        assert!(largest(&run.x.v) < 1e-7, "box {seed} moves with {:?}", run.x.v);
        let axes = Quat::from_slice(&run.x.q[3..]).to_matrix();
        let upright = (0..3).map(|k| axes.c[k].z.abs()).fold(0.0, f64::max);
        assert!((upright - 1.0).abs() < 1e-9, "box {seed} leans: {upright}");
    }
}

#[test]
fn a_box_never_sinks_into_the_ground() {
    for seed in 0..10 {
        let mut run = tumbling(400 + seed, 1, 0.5, |_| ());
        for _ in 0..1000 {
            for c in run.step().contacts {
                // corners move on arcs: a step of 1 ms at 10 rad/s misses the chord by 5e-5 of the radius
                assert!(c.distance > -2e-5, "box {seed}: {:e} m deep at {} s", c.distance, run.x.time);
            }
        }
    }
}
