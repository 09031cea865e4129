//! Stops and dry friction of joints.

use super::scene::*;
use slipstick_core::model::{GeomSpec, JointKind, JointSpec, Shape};
use slipstick_core::spatial::*;
use slipstick_core::*;

const LENGTH: f64 = 0.8;

/// A point mass on a massless rod; it hangs at zero.
fn pendulum(change: impl FnOnce(&mut JointSpec)) -> Run {
    let mut w = World::new();
    let bob = BodyInertia { mass: 1.3, com: vec3(0.0, 0.0, -LENGTH), about_com: Sym3::ZERO };
    let mut hinge = JointSpec::new("swing", JointKind::Revolute { axis: Vec3::UNITS[1] });
    change(&mut hinge);
    w.0.add_link(ModelBuilder::WORLD, "bob", Pose::IDENTITY, bob, vec![hinge]);
    w.run()
}

/// A mass on a horizontal rail.
fn slider(mass: f64, change: impl FnOnce(&mut JointSpec)) -> Run {
    let mut w = World::new();
    let mut rail = JointSpec::new("rail", JointKind::Prismatic { axis: Vec3::UNITS[0] });
    change(&mut rail);
    w.0.add_link(ModelBuilder::WORLD, "car", Pose::IDENTITY, solid_ball(mass, 0.1), vec![rail]);
    w.run()
}

#[test]
fn a_stop_is_not_felt_before_it_is_reached_and_then_it_holds() {
    for limit in [-0.3, 0.4] {
        let mut free = pendulum(|_| ());
        let mut run = pendulum(|j| j.range = Some([limit, 2.0]));
        (free.x.q[0], run.x.q[0]) = (1.5, 1.5);
        while free.x.q[0] > limit {
            assert!((free.x.q[0] - run.x.q[0]).abs() < 1e-12 && (free.x.v[0] - run.x.v[0]).abs() < 1e-11);
            free.step();
            run.step();
        }
        let fall = (2.0 * G / LENGTH * (limit.cos() - 1.5_f64.cos())).sqrt();
        assert!((free.x.v[0] / -fall - 1.0).abs() < 0.01, "{} rad/s at the stop", free.x.v[0]);
        assert!((run.x.q[0] - limit).abs() < 1e-12, "stopped {:e} rad away from the stop", run.x.q[0] - limit);
        run.step();
        let said = run.step();
        if limit > 0.0 {
            run.go(500);
            assert!((run.x.q[0] - limit).abs() < 1e-12 && run.x.v[0].abs() < STILL, "{:?}", run.x);
        } else {
            // beyond the lowest point: gravity takes it off the stop again
            assert!((said.acceleration[0] - G / LENGTH * 0.3_f64.sin()).abs() < 1e-6, "{:?}", said.acceleration);
        }
    }
}

#[test]
fn both_stops_hold_against_any_push() {
    let mut run = pendulum(|j| (j.range, j.reference) = (Some([-0.2, 0.7]), 0.1));
    for (torque, limit) in [(1e3, 0.7), (-1e3, -0.2), (1e3, 0.7)] {
        (0..400).for_each(|_| drop(run.push(&[torque])));
        assert!((run.x.q[0] - limit).abs() < 1e-12 && run.x.v[0].abs() < STILL, "{:?}", run.x);
    }
}

#[test]
fn a_joint_beyond_its_stop_comes_back_no_faster_than_allowed() {
    for (beyond, deep) in [(5e-5, false), (1e-3, false), (0.05, true)] {
        let mut run = slider(2.0, |j| j.range = Some([-0.5, 0.5]));
        run.x.q[0] = 0.5 + beyond;
        run.step();
        // full correction down to 1e-4, a fifth of what is deeper, never faster than 1 m/s
        let speed = if deep { 1.0 } else { beyond.min(1e-4) / 1e-3 + 0.2 * f64::max(beyond - 1e-4, 0.0) / 1e-3 };
        assert!((run.x.v[0] + speed).abs() < STILL, "{beyond}: {} m/s, not {speed}", -run.x.v[0]);
        for _ in 0..200 {
            run.step();
            assert!((-1.0 - STILL..STILL).contains(&run.x.v[0]), "{:?}", run.x);
        }
        assert!(run.x.q[0] <= 0.5 + 1e-12, "{}", run.x.q[0]);
    }
}

/// A rod that stands on a ball joint and may lean by up to 0.6 rad.
fn standing_rod(inertia: BodyInertia) -> Run {
    let mut w = World::new();
    let inertia = BodyInertia { com: vec3(0.0, 0.0, 0.5), ..inertia };
    let joint = JointSpec { range: Some([0.0, 0.6]), ..JointSpec::new("ball", JointKind::Spherical) };
    w.0.add_link(ModelBuilder::WORLD, "rod", Pose::IDENTITY, inertia, vec![joint]);
    w.run()
}

fn lean(run: &Run) -> f64 {
    Quat::from_slice(&run.x.q).log().norm()
}

#[test]
fn a_rod_on_a_ball_joint_falls_upon_its_cone_and_stays() {
    let mut run = standing_rod(solid_ball(1.0, 0.1)).thrown(&[0.3, 0.4, 0.0]);
    run.go(2000);
    assert!((lean(&run) - 0.6).abs() < STILL && largest(&run.x.v) < STILL, "leans {} rad, {:?}", lean(&run), run.x);
    let axis = Quat::from_slice(&run.x.q).log() * (1.0 / 0.6);
    assert!((axis - vec3(0.6, 0.8, 0.0)).norm() < 1e-8, "it fell aside: {axis:?}");
}

#[test]
fn a_rod_that_swings_round_its_cone_does_not_leave_it() {
    let mut run = standing_rod(solid_box(1.0, vec3(0.1, 0.05, 0.08))).thrown(&[0.3, 0.4, 0.0]);
    run.go(600);
    run.x.v.iter_mut().zip([1.0, -0.8, 0.5]).for_each(|(v, w)| *v += w);
    let mut touched = 0;
    for _ in 0..2000 {
        run.step();
        let over = lean(&run) - 0.6;
        // a step along the tangent of the cone leaves it by ½ dt² θ̈, and θ̈ = ½ ω² cot(θ/2) for a rotation vector of length θ
        let angle = 1e-3 * Vec3::from_slice(&run.x.v).norm();
        let beyond = 0.25 * angle * angle / 0.3_f64.tan();
        assert!(over < 1.001 * beyond + STILL, "{over:e} rad beyond the cone, not {beyond:e}");
        touched += usize::from(over > 0.0);
    }
    assert!(touched > 500, "it leans on the cone, {touched} of 2000 steps");
}

#[test]
fn dry_friction_sticks_up_to_its_bound_and_slides_beyond() {
    let (mass, dry) = (2.0, 7.0);
    for sign in [1.0, -1.0] {
        let mut run = slider(mass, |j| j.dry_friction = dry);
        (0..500).for_each(|_| drop(run.push(&[0.999 * sign * dry])));
        assert!(run.x.v[0].abs() < STILL && run.x.q[0].abs() < 0.5 * STILL, "{:?}", run.x);
        (0..500).for_each(|_| drop(run.push(&[1.01 * sign * dry])));
        let want = 0.5 * sign * 0.01 * dry / mass;
        assert!((run.x.v[0] - want).abs() < STILL, "{} m/s, not {want}", run.x.v[0]);
    }
}

#[test]
fn dry_friction_stops_a_car_as_it_would_a_block() {
    let (mass, dry, speed) = (2.0, 7.0, 1.5);
    let mut run = slider(mass, |j| j.dry_friction = dry).thrown(&[speed]);
    run.go(600);
    let far = speed * speed * mass / (2.0 * dry) - 0.5 * speed * 1e-3;
    assert!((run.x.q[0] - far).abs() < dry / mass * 1e-6, "{} m, not {far}", run.x.q[0]);
    assert!(run.x.v[0].abs() < STILL, "{:?}", run.x);
}

#[test]
fn a_rusty_pendulum_rests_off_the_vertical() {
    let hold = 1.3 * G * LENGTH * 0.5_f64.sin();
    for (share, stays) in [(1.01, true), (0.99, false)] {
        let mut run = pendulum(|j| j.dry_friction = share * hold);
        run.x.q[0] = 0.5;
        run.go(1000);
        let moved = (run.x.q[0] - 0.5).abs();
        assert!(if stays { moved < STILL } else { moved > 1e-3 }, "with {share} of the torque it moved {moved:e} rad");
    }
}

#[test]
fn a_stop_and_rust_share_the_load() {
    let mut run = slider(2.0, |j| (j.dry_friction, j.range) = (3.0, Some([-1.0, 0.2])));
    (0..1000).for_each(|_| drop(run.push(&[50.0])));
    assert!((run.x.q[0] - 0.2).abs() < 1e-12 && run.x.v[0].abs() < STILL, "{:?}", run.x);
    (0..200).for_each(|_| drop(run.push(&[-2.9])));
    assert!((run.x.q[0] - 0.2).abs() < STILL, "rust holds it at the stop: {:?}", run.x);
    (0..200).for_each(|_| drop(run.push(&[-5.0])));
    assert!((run.x.v[0] + 0.2).abs() < 2.0 * STILL, "{:?}", run.x);
}

#[test]
fn friction_and_damping_together_leave_a_terminal_speed() {
    let (mass, friction, damping, force) = (2.0, 0.4, 3.0, 12.0);
    let mut w = World::new();
    let s = surface(friction, 0.0);
    w.plane(Pose::IDENTITY, s);
    let rail = JointSpec { damping, ..JointSpec::new("along", JointKind::Prismatic { axis: Vec3::UNITS[0] }) };
    let lift = JointSpec::new("up", JointKind::Prismatic { axis: Vec3::UNITS[2] });
    let at = Pose::translation(vec3(0.0, 0.0, 0.1));
    let sledge = w.0.add_link(ModelBuilder::WORLD, "sledge", at, solid_ball(mass, 0.1), vec![rail, lift]);
    w.0.add_geom(sledge, GeomSpec { surface: s, ..GeomSpec::new("runner", Shape::Sphere { radius: 0.1 }) });
    let mut run = w.run();
    let (pull, mut speed) = (force - friction * mass * G, 0.0);
    for _ in 0..5000 {
        run.push(&[force, 0.0]);
        // damping acts at the end of the step
        speed = (speed + 1e-3 * pull / mass) / (1.0 + 1e-3 * damping / mass);
        assert!((run.x.v[0] - speed).abs() < STILL, "{} m/s, not {speed}", run.x.v[0]);
    }
    assert!((run.x.v[0] - pull / damping).abs() < 1e-3 * speed);
}
