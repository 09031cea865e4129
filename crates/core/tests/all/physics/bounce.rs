//! Restitution: heights of rebounds, exchange of speed, rest below the threshold.

use super::scene::*;
use slipstick_core::spatial::*;
use slipstick_core::*;

const RADIUS: f64 = 0.05;

fn ball_above(height: f64, restitution: f64, options: impl FnOnce(&mut Options)) -> Run {
    let mut w = World::new();
    let s = surface(0.5, restitution);
    w.plane(Pose::IDENTITY, s);
    w.ball("ball", 0.2, RADIUS, vec3(0.0, 0.0, height + RADIUS), s);
    Run::new(w.build(options))
}

/// Height of the ball's lowest point at its highest after the first bounce; the ball starts at rest.
fn rebound(run: &mut Run) -> f64 {
    while run.velocity(1).z <= 0.0 {
        run.step();
    }
    while run.velocity(1).z > 0.0 {
        run.step();
    }
    run.position(1).z - RADIUS
}

#[test]
fn a_ball_returns_to_the_square_of_its_restitution() {
    for restitution in [0.5, 0.8, 1.0] {
        for k in 0..20 {
            let height = 0.7 + 0.0613 * k as f64;
            let share = rebound(&mut ball_above(height, restitution, |_| ())) / (restitution * restitution * height);
            assert!((share - 1.0).abs() < 0.02, "e = {restitution}, h = {height}: {share} of e² h");
        }
    }
}

#[test]
fn rebounds_from_any_height_are_first_order_in_the_time_step() {
    for restitution in [0.5, 0.8, 1.0] {
        for k in 0..20 {
            let height = 0.02 + 0.0371 * k as f64;
            for dt in [2e-3, 1e-3, 2.5e-4] {
                let e2 = restitution * restitution;
                let top = rebound(&mut ball_above(height, restitution, |o| o.dt = dt));
                // it turns round at most one step above the ground and keeps what gravity would have done meanwhile
                let way = (2.0 * G * height).sqrt() * dt;
                let bound = (1.0 - e2) * way + 0.5 * (restitution - e2) * way;
                // or misses the ground by less than gravity adds in a step, and meets it one step late
                let late = e2 * way + 2.0 * G * dt * dt;
                let error = top - e2 * height;
                assert!(
                    error < bound + G * dt * dt && error > -late,
                    "e {restitution}, h {height}, dt {dt}: {error:e}"
                );
            }
        }
    }
}

#[test]
fn a_perfect_ball_bounces_for_ever_at_the_same_height() {
    let mut run = ball_above(0.8123, 1.0, |_| ());
    for bounce in 0..20 {
        let top = rebound(&mut run);
        assert!((top / 0.8123 - 1.0).abs() < 0.01, "{top} m after bounce {bounce}");
    }
}

#[test]
fn a_slow_ball_does_not_bounce() {
    // from 2 µm it arrives with 6 mm/s, less than the threshold of 10
    let mut run = ball_above(2e-6, 1.0, |_| ());
    run.go(50);
    for _ in 0..200 {
        run.step();
        assert!((run.position(1).z - RADIUS).abs() < 1e-12 && largest(&run.x.v) < STILL, "{:?}", run.x);
    }
}

#[test]
fn a_ball_without_restitution_stays_where_it_lands() {
    let mut run = ball_above(0.5, 0.0, |_| ());
    run.go(400);
    assert!((run.position(1).z - RADIUS).abs() < 1e-12, "{:e}", run.position(1).z - RADIUS);
    assert!(largest(&run.x.v) < STILL, "{:?}", run.x);
}

#[test]
fn balls_that_meet_part_with_the_restitution_of_their_approach() {
    for (restitution, masses) in [(0.0, [1.0, 1.0]), (0.5, [1.0, 3.0]), (0.9, [1e-3, 1.0]), (1.0, [2.0, 2.0])] {
        let mut w = World::new();
        let s = surface(0.0, restitution);
        w.ball("left", masses[0], RADIUS, vec3(-0.2, 0.0, 0.0), s);
        w.ball("right", masses[1], RADIUS, vec3(0.2, 0.0, 0.0), s);
        let mut run = Run::new(w.build(|o| o.gravity = [0.0; 3]));
        run.x.v[0] = 1.5;
        run.x.v[6] = -0.5;
        run.go(300);
        let (a, b) = (run.velocity(1).x, run.velocity(2).x);
        let whole = (1.5 * masses[0] - 0.5 * masses[1]) / (masses[0] + masses[1]);
        assert!((b - a - 2.0 * restitution).abs() < 1e-10, "e = {restitution}: {a} {b}");
        assert!(((a * masses[0] + b * masses[1]) / (masses[0] + masses[1]) - whole).abs() < 1e-12);
    }
}

#[test]
fn a_spinning_ball_is_kicked_along_by_no_more_than_friction_allows() {
    for (friction, spin) in [(0.1, 40.0), (0.5, 8.0)] {
        let mut w = World::new();
        let s = surface(friction, 0.6);
        w.plane(Pose::IDENTITY, s);
        w.ball("ball", 0.2, RADIUS, vec3(0.0, 0.0, 0.4 + RADIUS), s);
        let mut run = w.run().thrown(&[0.0, 0.0, 0.0, 0.0, spin, 0.0]);
        let (before, arm) = loop {
            let (before, high) = (run.velocity(1).z, run.position(1).z);
            let said = run.step();
            if run.velocity(1).z > 0.0 {
                break (before, high - said.contacts[0].point.z);
            }
        };
        // gravity of the step itself is taken up as well
        let normal = -1.6 * before + G * 1e-3;
        let sliding = friction * normal;
        // it grips if that is more than what ends the slip: two sevenths of it, but for the gap that is left below the ball
        let inertia = 0.4 * RADIUS * RADIUS;
        assert!((arm - RADIUS).abs() < 2e-3);
        let want = sliding.min(spin * arm * inertia / (inertia + arm * arm));
        assert!((run.velocity(1).x - want).abs() < STILL, "{} m/s, not {want}", run.velocity(1).x);
    }
}

#[test]
fn a_box_that_falls_flat_bounces_flat() {
    for restitution in [0.5, 1.0] {
        let mut w = World::new();
        let (s, half) = (surface(0.5, restitution), vec3(0.1, 0.15, RADIUS));
        w.plane(Pose::IDENTITY, s);
        w.block("box", 1.0, half, Pose::translation(vec3(0.0, 0.0, 1.0 + RADIUS)), s);
        let mut run = w.run();
        let share = rebound(&mut run) / (restitution * restitution);
        assert!((share - 1.0).abs() < 0.02, "e = {restitution}: {share} of e² h");
        assert!(run.spin(1).norm() < 1e-6, "it turns: {:?}", run.spin(1));
    }
}
