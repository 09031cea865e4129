//! Smoothed steps and smoothed derivatives of exact steps.

use super::oracle::*;
use super::puck::{DT, MASS, puck};
use super::worlds::*;
use crate::physics::scene::*;
use crate::properties::random_tree::Rng;
use slipstick_core::gradient::{InputGrad, OutputGrad};
use slipstick_core::model::{
    CollisionGradient, EqualityKind, GradientMode, JointId, JointKind, JointSpec, Order, Shape,
};
use slipstick_core::spatial::*;
use slipstick_core::*;

/// The lab with another gradient mode.
fn with(lab: &Lab, change: impl FnOnce(&mut Options)) -> Lab {
    let mut options = lab.model.options().clone();
    change(&mut options);
    Lab::with(&lab.model.with_options(options).expect("sound"), lab.at.clone())
}

fn central(lab: &Lab, kappa: f64) -> Lab {
    with(lab, |o| o.gradient = GradientMode::Central { kappa })
}

fn backward(lab: &Lab, kappa: f64) -> Lab {
    with(lab, |o| o.gradient = GradientMode::ExactForwardCentral { kappa })
}

/// A smooth step has no modes: differences without regard to them.
fn smooth_error(lab: &mut Lab) -> f64 {
    lab.without_modes = true;
    let errors = lab.audit().expect("a derivative").expect("no feature changes");
    errors.into_iter().fold(0.0, f64::max)
}

fn cases() -> Vec<(&'static str, Lab)> {
    let at = |mu: f64, q: [f64; 3], v: [f64; 3]| Lab::new(&puck(surface(mu, 0.0), |_| ()), &q, &v);
    let mut tripod = World::new();
    tripod.plane(Pose::IDENTITY, surface(0.4, 0.0));
    tripod.tripod(1.0, 0.1, Pose::translation(vec3(0.0, 0.0, 0.1)), surface(0.4, 0.0));
    let tripod = tripod.build(|_| ());
    vec![
        ("sticking", at(0.5, [0.0; 3], [1e-4, 0.0, 0.0])),
        ("sliding", at(0.3, [0.0; 3], [0.2, -0.1, 0.0])),
        ("landing", at(0.3, [0.0, 0.0, 1e-4], [0.2, -0.1, -0.5])),
        ("hovering", at(0.3, [0.0, 0.0, 1e-4], [0.1, 0.0, 0.0])),
        ("tripod at rest", Lab::new(&tripod, tripod.neutral(), &[0.0; 6])),
        ("tripod sliding", Lab::new(&tripod, tripod.neutral(), &[0.3, 0.1, 0.0, 0.0, 0.0, 0.5])),
    ]
}

#[test]
fn a_smoothed_step_has_the_derivative_of_its_own_differences() {
    for (what, lab) in cases() {
        for kappa in [1e-2, 1e-3, 1e-4] {
            let e = smooth_error(&mut central(&lab, kappa));
            assert!(e <= 1e-5, "{what}, kappa {kappa}: {e:e}");
        }
    }
}

#[test]
fn random_worlds_have_smoothed_steps_with_the_derivative_of_their_differences() {
    let mut checked = 0;
    for seed in [1, 2, 4, 5, 7, 8, 10, 11] {
        for (k, lab) in fall(seed, 120, 3).into_iter().enumerate() {
            let mut lab = central(&lab, 1e-3);
            if lab.evaluate().status != Status::Converged {
                continue;
            }
            // features of contacts may still change
            lab.without_modes = true;
            if let Some(errors) = lab.audit().expect("a derivative") {
                checked += 1;
                let e = errors.into_iter().fold(0.0, f64::max);
                assert!(e <= 1e-5, "world {seed}, sample {k}: {e:e}");
            }
        }
    }
    assert!(checked > 15, "{checked} states");
}

#[test]
fn with_less_smoothing_the_step_and_its_derivative_become_the_exact_ones() {
    for (what, mut lab) in cases() {
        let (exact, goal) = (lab.evaluate(), lab.jacobian());
        let off = |kappa: f64| {
            let mut smooth = central(&lab, kappa);
            let (out, blocks) = (smooth.evaluate(), smooth.jacobian());
            let step = out.v.iter().zip(&exact.v).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
            (step, blocks.distance(&goal))
        };
        let (coarse, fine) = (off(1e-4), off(1e-8));
        assert!(coarse.0 > 1e-9, "{what}: nothing was smoothed");
        assert!(fine.0 <= 1e-2 * coarse.0 + 1e-12, "{what}: step {coarse:?} {fine:?}");
        assert!(fine.1 <= 1e-3, "{what}: derivative {coarse:?} {fine:?}");
        assert!(fine.1 <= 0.1 * coarse.1 + 1e-9, "{what}: derivative {coarse:?} {fine:?}");
    }
}

#[test]
fn an_exact_step_with_a_smoothed_derivative_is_the_exact_step_bit_for_bit() {
    for seed in 0..6 {
        let end = |mode: GradientMode| {
            let model = world(seed);
            let mut options = model.options().clone();
            options.gradient = mode;
            let mut run = Run::new(model.with_options(options).expect("sound"));
            run.x.v = Rng::new(seed).vector(run.model.nv(), 1.0);
            let mut next = run.x.clone();
            for _ in 0..200 {
                let mut done = step(&run.model, &mut run.data, &run.x, &Input::default(), &mut next).expect("finite");
                assert!(Blocks::new(&done.jacobian().expect("a derivative")).is_finite());
                std::mem::swap(&mut run.x, &mut next);
            }
            bits(&run.x)
        };
        let smoothed = end(GradientMode::ExactForwardCentral { kappa: 1e-3 });
        assert_eq!(end(GradientMode::Exact), smoothed, "world {seed}");
    }
}

#[test]
fn a_smoothed_derivative_of_the_exact_step_is_near_that_of_the_smoothed_step() {
    for (what, lab) in cases() {
        let (a, b) = (central(&lab, 1e-4).jacobian(), backward(&lab, 1e-4).jacobian());
        assert!(a.distance(&b) < 0.05, "{what}: {:e}", a.distance(&b));
        let (mut exact, mut fine) = (with(&lab, |_| ()), backward(&lab, 1e-8));
        assert!(exact.jacobian().distance(&fine.jacobian()) < 1e-3, "{what}");
    }
}

#[test]
fn a_contact_that_nearly_touches_is_felt_by_smoothed_derivatives_only() {
    let lab = Lab::new(&puck(surface(0.3, 0.0), |_| ()), &[0.0, 0.0, 1e-4], &[0.1, 0.0, 0.0]);
    let exact = with(&lab, |_| ()).jacobian();
    assert_eq!(exact.dv_dq()[(2, 2)], 0.0);
    for mut smooth in [central(&lab, 1e-3), backward(&lab, 1e-3)] {
        let got = smooth.jacobian();
        // nearer to the ground it is pushed up more, faster towards it as well
        assert!(got.dv_dq()[(2, 2)] < -1e-3, "{}", got.dv_dq());
        assert!(got.dv_dv()[(2, 2)] < 1.0 - 1e-6 && got.dv_dv()[(2, 2)] > 0.0, "{}", got.dv_dv());
        assert!(got.dv_dtau()[(2, 2)] < DT / MASS, "{}", got.dv_dtau());
        // and the little friction that comes with it brakes
        assert!(got.dv_dv()[(0, 0)] < 1.0, "{}", got.dv_dv());
    }
}

#[test]
fn adjoints_of_smoothed_derivatives_are_products_with_their_matrix() {
    for (what, lab) in cases() {
        for mut lab in [central(&lab, 1e-3), backward(&lab, 1e-3)] {
            let (blocks, nv) = (lab.jacobian(), lab.model.nv());
            let w = Rng::new(1).vector(nv, 1.0);
            let mut q = vec![0.0; nv];
            let adjoint = OutputGrad { v: &w, ..OutputGrad::default() };
            lab.step().vjp(adjoint, InputGrad { q: &mut q, ..InputGrad::default() }).expect("a derivative");
            for j in 0..nv {
                let want: f64 = (0..nv).map(|i| w[i] * blocks.dv_dq()[(i, j)]).sum();
                assert!((q[j] - want).abs() < 1e-9 * blocks.dv_dq().amax().max(1.0), "{what}: {} and {want}", q[j]);
            }
        }
    }
}

#[test]
fn ways_to_differentiate_collisions_change_nothing_but_what_shapes_do_when_they_move() {
    let ways = [
        CollisionGradient::Smoothed { eps: 1e-3 },
        CollisionGradient::Randomized { sigma: 1e-3, samples: 20, seed: 3, order: Order::First },
        CollisionGradient::Frozen,
    ];
    let mut rng = Rng::new(6);
    let mut w = World::new();
    w.plane(Pose::IDENTITY, surface(0.2, 0.0));
    w.block("box", 1.0, vec3(0.1, 0.07, 0.05), Pose::translation(vec3(0.0, 0.0, 0.2)), surface(0.4, 0.0));
    let mut run = Run::new(w.build(|_| ())).thrown(&[0.3, 0.1, 0.0, 3.0, 2.0, 1.0]);
    for _ in 0..20 {
        (0..20).for_each(|_| drop(run.attempt(&Input::tau(&rng.vector(6, 0.1)))));
        let mut lab = Lab::new(&run.model, &run.x.q, &run.x.v);
        let (exact, out) = (lab.jacobian(), lab.evaluate());
        for way in ways {
            let mut other = with(&lab, |o| o.collision_gradient = way);
            assert!(other.evaluate() == out, "{way:?}: the same step");
            let got = other.jacobian();
            assert!(got.is_finite(), "{way:?}");
            for k in [1, 2, 5, 6] {
                let off = (&got.0[k] - &exact.0[k]).amax();
                assert!(off <= 1e-12, "{way:?}: {} differs by {off:e}", NAMES[k]);
            }
        }
    }
    // a puck does not turn and the ground is flat: no collision term is left
    let lab = Lab::new(&puck(surface(0.3, 0.0), |_| ()), &[0.0; 3], &[0.2, -0.1, 0.0]);
    let (mut exact, mut frozen) =
        (with(&lab, |_| ()), with(&lab, |o| o.collision_gradient = CollisionGradient::Frozen));
    assert!(exact.jacobian().distance(&frozen.jacobian()) < 1e-12);
}

#[test]
fn a_frozen_normal_does_not_turn_with_a_ball_on_an_edge() {
    let mut w = World::new();
    let table = Pose::translation(vec3(-0.5, 0.0, -0.5));
    w.fixed("table", Shape::Box { half_size: vec3(0.5, 0.5, 0.5) }, table, surface(0.0, 0.0));
    w.ball("ball", MASS, 0.1, vec3(0.0, 0.0, 0.1), surface(0.0, 0.0));
    let model = w.build(|o| o.collision_gradient = CollisionGradient::Frozen);
    let n = vec3(0.6, 0.0, 0.8);
    let c = n * 0.1;
    let mut lab = Lab::new(&model, &[c.x, 0.0, c.z, 1.0, 0.0, 0.0, 0.0], &[0.1, 0.2, -0.5, 0.0, 0.0, 0.0]);
    // what remains is the gap: dv = −n nᵀ/dt
    for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
        let want = -n[i] * n[j] / DT;
        let got = lab.jacobian().dv_dq()[(i, j)];
        assert!((got - want).abs() < 1e-9, "({i}, {j}): {got} instead of {want}");
    }
}

#[test]
fn smoothed_stops_dry_friction_and_loops_have_the_derivative_of_their_differences() {
    let mut w = World::new();
    for k in 0..3 {
        let kind = JointKind::Prismatic { axis: Vec3::UNITS[k] };
        let joint = JointSpec {
            range: (k == 0).then_some([-0.5, 0.5]),
            dry_friction: if k == 1 { 0.4 } else { 0.0 },
            ..JointSpec::new(format!("rail{k}"), kind)
        };
        w.0.add_link(
            ModelBuilder::WORLD,
            format!("car{k}"),
            Pose::IDENTITY,
            solid_ball(1.0 + k as f64, 0.1),
            vec![joint],
        );
    }
    let coefficients = [0.0, 0.5, 0.3, 0.0, 0.0];
    w.0.add_equality(equality(EqualityKind::Joint { joint: JointId(2), other: Some(JointId(1)), coefficients }));
    let model = w.build(|o| o.gravity = [0.0; 3]);
    // at the stop, near it, away from it; held, about to move, moving
    for (gap, v, tau) in [(0.0, 0.1, 0.2), (1e-4, 0.0, 0.39), (1e-3, 0.5, 0.6), (0.3, -0.2, -0.4)] {
        let lab = Lab::new(&model, &[0.5 - gap, 0.1, 0.053], &[v, 0.0, 0.0]).tau(&[0.0, tau, 0.0]);
        for kappa in [1e-2, 1e-3] {
            let e = smooth_error(&mut central(&lab, kappa));
            assert!(e <= 1e-5, "gap {gap}, kappa {kappa}: {e:e}");
            let (a, b) = (central(&lab, 1e-5).jacobian(), backward(&lab, 1e-5).jacobian());
            assert!(a.distance(&b) < 0.05, "gap {gap}: {:e}", a.distance(&b));
        }
    }
}

#[test]
fn every_way_to_differentiate_collisions_gives_finite_numbers_in_random_worlds() {
    let ways = [
        CollisionGradient::Smoothed { eps: 2e-3 },
        CollisionGradient::Randomized { sigma: 1e-3, samples: 8, seed: 3, order: Order::First },
        CollisionGradient::Frozen,
    ];
    let mut touching = 0;
    for seed in 0..20 {
        for (k, mut lab) in fall(seed, 120, 3).into_iter().enumerate() {
            let (exact, out) = (lab.jacobian(), lab.evaluate());
            touching += usize::from(lab.step().contacts().any(|c| c.mode != Mode::Break));
            for way in ways {
                let mut other = with(&lab, |o| o.collision_gradient = way);
                let got = other.try_jacobian().unwrap_or_else(|e| panic!("world {seed}, sample {k}, {way:?}: {e}"));
                assert!(got.is_finite() && other.evaluate() == out, "world {seed}, sample {k}, {way:?}");
                for b in [1, 2, 3, 5, 6, 7] {
                    assert!(got.0[b] == exact.0[b], "world {seed}, sample {k}, {way:?}: {}", NAMES[b]);
                }
            }
        }
    }
    assert!(touching > 20, "{touching} states touch");
}
