//! Physics that no algorithm here was written to satisfy: energy, momentum, invariance.

use super::random_tree::*;
use proptest::prelude::*;
use slipstick_core::dynamics::Workspace;
use slipstick_core::model::{JointKind, JointSpec};
use slipstick_core::spatial::{Quat, Vec3, vec3};
use slipstick_core::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn energy_changes_by_the_power_of_the_forces(seed: u64) {
        let model = model(seed, 10);
        let s = sample(&model, seed);
        let (mut work, nv, h) = (Workspace::new(&model), model.nv(), 1e-5);
        let mut a = vec![0.0; nv];
        // the springs' energy is counted, so their force must act as well
        let mut spring = vec![0.0; nv];
        work.passive(&model, &s.q, &vec![0.0; nv], &mut spring).unwrap();
        let tau: Vec<f64> = s.a.iter().zip(&spring).map(|(t, p)| t + p).collect();
        work.aba(&model, &s.q, &s.v, &tau, &[], &mut a).unwrap();
        let mut energy = |h: f64| {
            let d: Vec<f64> = s.v.iter().zip(&a).map(|(v, a)| h * v + 0.5 * h * h * a).collect();
            let v: Vec<f64> = s.v.iter().zip(&a).map(|(v, a)| v + h * a).collect();
            let mut q = s.q.clone();
            model.integrate(&s.q, &d, &mut q).unwrap();
            let (kinetic, potential) = work.energy(&model, &q, &v).unwrap();
            kinetic + potential
        };
        let rate = (energy(h) - energy(-h)) / (2.0 * h);
        let power: f64 = s.a.iter().zip(&s.v).map(|(t, v)| t * v).sum();
        let scale = energy(0.0).abs().max(power.abs()).max(1.0) * a.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
        prop_assert!((rate - power).abs() < 1e-7 * scale, "{rate} {power}");
    }

    #[test]
    fn joint_forces_do_not_change_the_momentum_of_a_floating_robot(seed: u64) {
        let model = floating(seed, 8);
        let s = sample(&model, seed);
        let (mut work, nv, h) = (Workspace::new(&model), model.nv(), 1e-5);
        let mut tau = s.a.clone();
        tau[..6].fill(0.0);
        let mut a = vec![0.0; nv];
        work.aba(&model, &s.q, &s.v, &tau, &[], &mut a).unwrap();
        let mut momentum = |h: f64| {
            let d: Vec<f64> = s.v.iter().zip(&a).map(|(v, a)| h * v + 0.5 * h * h * a).collect();
            let v: Vec<f64> = s.v.iter().zip(&a).map(|(v, a)| v + h * a).collect();
            let mut q = s.q.clone();
            model.integrate(&s.q, &d, &mut q).unwrap();
            work.momentum(&model, &q, &v).unwrap().to_array()
        };
        let (plus, minus, now) = (momentum(h), momentum(-h), momentum(0.0));
        let scale = now.iter().chain(&a).fold(1.0_f64, |m, x| m.max(x.abs()));
        for k in 0..6 {
            let rate = (plus[k] - minus[k]) / (2.0 * h);
            prop_assert!(rate.abs() < 1e-6 * scale, "{k}: {rate}");
        }
    }

    #[test]
    fn nothing_changes_when_a_floating_robot_is_elsewhere(seed: u64) {
        let model = floating(seed, 8);
        let s = sample(&model, seed);
        let (mut work, nv) = (Workspace::new(&model), model.nv());
        let mut far = s.q.clone();
        for (x, shift) in far.iter_mut().zip([1e4, -2e4, 3e3]) {
            *x += shift;
        }
        let (mut here, mut there) = (vec![0.0; nv], vec![0.0; nv]);
        work.aba(&model, &s.q, &s.v, &s.a, &s.wrenches, &mut here).unwrap();
        work.aba(&model, &far, &s.v, &s.a, &s.wrenches, &mut there).unwrap();
        // 20 km away a position has digits to 4e-12 m
        prop_assert!(error(&here, &there) < 1e-9, "{}", error(&here, &there));
    }
}

fn thrown_body() -> Model {
    let mut b = ModelBuilder::new("thrown");
    let inertia =
        spatial::BodyInertia { mass: 2.0, com: Vec3::ZERO, about_com: spatial::Sym3::diagonal(vec3(0.1, 0.2, 0.25)) };
    let free = vec![JointSpec::new("root", JointKind::Free)];
    b.add_link(ModelBuilder::WORLD, "body", spatial::Pose::IDENTITY, inertia, free);
    b.options.gravity = [0.0; 3];
    b.build().expect("sound")
}

#[test]
fn a_free_body_thrown_with_spin_keeps_its_linear_momentum() {
    let model = thrown_body();
    let mut data = Data::new(&model);
    let mut x = State::new(&model, model.neutral(), &[3.0, -4.0, 1.0, 5.0, 8.0, -3.0]).unwrap();
    let mut next = x.clone();
    for _ in 0..1000 {
        step(&model, &mut data, &x, &Input::default(), &mut next).unwrap();
        std::mem::swap(&mut x, &mut next);
    }
    for (v, start) in x.v.iter().zip([3.0, -4.0, 1.0]) {
        assert!((v - start).abs() < 1e-12, "{v} {start}");
    }
    for (p, v) in x.q.iter().zip([3.0, -4.0, 1.0]) {
        assert!((p - v).abs() < 1e-11, "after one second it is {p}, not {v} m away");
    }
}

#[test]
fn a_spinning_body_falls_like_a_stone() {
    let model = thrown_body();
    let falling = model.with_options({
        let mut o = model.options().clone();
        o.gravity = [0.0, 0.0, -9.81];
        o
    });
    let model = falling.unwrap();
    let mut data = Data::new(&model);
    let mut x = State::new(&model, model.neutral(), &[0.0, 0.0, 0.0, 1.0, 2.0, 3.0]).unwrap();
    let mut next = x.clone();
    for _ in 0..500 {
        let s = step(&model, &mut data, &x, &Input::default(), &mut next).unwrap();
        assert!((s.acceleration()[2] + 9.81).abs() < 1e-9);
        std::mem::swap(&mut x, &mut next);
    }
    assert!((x.v[2] + 0.5 * 9.81).abs() < 1e-11);
    let norm: f64 = Quat::from_slice(&x.q[3..]).to_array().iter().map(|c| c * c).sum();
    assert!((norm - 1.0).abs() < 1e-14);
}
