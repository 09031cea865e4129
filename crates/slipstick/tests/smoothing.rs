//! Means over random inputs, and softer robots.
#![allow(non_snake_case)]

use crate::corners::scene;
use slipstick::gradient::StepJacobian;
use slipstick::model::GradientMode;
use slipstick::model::{Order, ParameterGroup};
use slipstick::smoothing::{Bundle, Bundled, ComplianceSchedule, Estimate, Sigma, Smoothed, SmoothingError};
use slipstick::*;

fn bundle(
    model: &Model,
    x: &State,
    tau: &[f64],
    ctrl: Option<&[f64]>,
    how: Bundled,
) -> Result<Smoothed, SmoothingError> {
    Bundle::new(model, how)?.step(&mut Data::new(model), x, &Input { tau, ctrl, ..Input::default() })
}

/// Blocks of an estimate with the names of their place.
fn blocks(e: &Estimate) -> Vec<linalg::MatRef<'_>> {
    let all = [e.dq_dq(), e.dq_dv(), e.dq_dtau(), e.dq_dctrl(), e.dv_dq(), e.dv_dv(), e.dv_dtau(), e.dv_dctrl()];
    all.into_iter().flatten().collect()
}

fn entries(m: &linalg::MatRef) -> Vec<f64> {
    (0..m.rows()).flat_map(|i| m.row(i).to_vec()).collect()
}

/// Largest deviation of a block from that of the exact derivative, relative to its largest number.
fn deviation(e: &Estimate, exact: &StepJacobian) -> f64 {
    let J = exact;
    let truth = [J.dq_dq, J.dq_dv, J.dq_dtau, J.dq_dctrl, J.dv_dq, J.dv_dv, J.dv_dtau, J.dv_dctrl];
    let mut worst = 0.0f64;
    for (a, b) in blocks(e).iter().zip(truth.iter().filter(|m| m.cols() > 0)) {
        let (a, b) = (entries(a), entries(b));
        let size = b.iter().fold(1e-3f64, |w, x| w.max(x.abs())); // blocks may be zero
        worst = worst.max(a.iter().zip(&b).fold(0.0f64, |w, (a, b)| w.max((a - b).abs())) / size);
    }
    worst
}

/// A spinning cube in the air: smooth, and on a curved manifold.
fn flying() -> (Model, State) {
    let model = builtin("cube").unwrap();
    let mut options = model.options().clone();
    options.dt = 0.02;
    let model = model.with_options(options).unwrap();
    let mut x = State::keyframe(&model, "thrown").unwrap();
    x.v[3..].copy_from_slice(&[4.0, -6.0, 5.0]);
    (model, x)
}

#[test]
fn a_narrow_mean_is_the_derivative_of_a_smooth_step() {
    let pendulum = builtin("double_pendulum").unwrap();
    let swinging = State::new(&pendulum, &[0.7, -1.1], &[3.0, -5.0]).unwrap();
    let (cube, thrown) = flying();
    for (model, x) in [(pendulum, swinging), (cube, thrown)] {
        let (ctrl, tau) = (vec![0.3; model.nu()], vec![0.1; model.nv()]);
        let (mut data, mut next) = (Data::new(&model), x.clone());
        let mut exact = step(&model, &mut data, &x, &Input::tau(&tau).with_ctrl(&ctrl), &mut next).unwrap();
        let exact = exact.jacobian().unwrap();
        for order in [Order::First, Order::Zeroth] {
            let error = |sigma: f64| {
                let how = Bundled { sigma: Sigma::all(sigma), samples: 100, order, seed: 3 };
                let smoothed = bundle(&model, &x, &tau, Some(&ctrl), how).unwrap();
                assert_eq!((smoothed.used, smoothed.left_out), (100, 0));
                deviation(&smoothed.jacobian, &exact)
            };
            // pairs ±z cancel the first order of σ
            let (wide, narrow) = (error(1e-2), error(1e-3));
            assert!(narrow < 1e-4 && narrow < wide / 50.0, "{} {order:?}: {wide} {narrow}", model.name());
        }
    }
}

/// Forces at the end, so that nothing but the push is random: a cube pushed exactly as hard as friction holds.
fn pushed(order: Order, samples: u32) -> Smoothed {
    let model = builtin("cube").unwrap();
    let x = State::keyframe(&model, "home").unwrap();
    let tau = [0.5 * 9.81, 0.0, 0.0, 0.0, 0.0, 0.0];
    let how = Bundled { sigma: Sigma { tau: 0.1, ..Sigma::ZERO }, samples, order, seed: 5 };
    bundle(&model, &x, &tau, None, how).unwrap()
}

#[test]
fn at_the_friction_limit_the_mean_lies_between_the_two_sides() {
    let one_sided = |push: f64| {
        let model = builtin("cube").unwrap();
        let (mut data, x) = (Data::new(&model), State::keyframe(&model, "home").unwrap());
        let (mut next, tau) = (x.clone(), [push, 0.0, 0.0, 0.0, 0.0, 0.0]);
        let mut step = step(&model, &mut data, &x, &Input::tau(&tau), &mut next).unwrap();
        step.jacobian().unwrap().dv_dtau[(0, 0)]
    };
    let (holds, slips) = (one_sided(0.5 * 9.81 - 0.01), one_sided(0.5 * 9.81 + 0.01));
    assert!(holds.abs() < 1e-9 && (slips - 1e-3).abs() < 1e-9, "{holds} {slips}");
    let smoothed = pushed(Order::First, 400);
    let mean = smoothed.jacobian.dv_dtau().unwrap()[(0, 0)];
    // more than half: a torque or a lift makes it slip as well
    assert!(mean > 0.5e-3 && mean < 0.9e-3, "{mean}");
    assert!(smoothed.mean.v[0] > smoothed.exact.v[0] + 1e-6, "it moves on average");
    let error = smoothed.error.dv_dtau().unwrap()[(0, 0)];
    assert!(error > 0.0 && error < 0.05e-3, "{error}");
}

/// Share of the numbers of two estimates that lie within some of their joint standard errors, and the largest multiple.
fn within(a: &Smoothed, b: &Smoothed, errors: f64, floor: f64) -> (f64, f64) {
    let (mut inside, mut count, mut worst) = (0, 0, 0.0f64);
    let parts = [&a.jacobian, &b.jacobian, &a.error, &b.error].map(|e| e.dv_dtau().map_or(Vec::new(), |m| entries(&m)));
    for k in 0..parts[0].len() {
        let [x, y, ex, ey] = [0, 1, 2, 3].map(|p| parts[p][k]);
        let multiple = (x - y).abs() / (ex.hypot(ey) + floor);
        (worst, count) = (worst.max(multiple), count + 1);
        inside += usize::from(multiple <= errors);
    }
    (inside as f64 / count as f64, worst)
}

#[test]
fn values_alone_give_the_same_mean_within_the_stated_error() {
    let (zeroth, first) = (pushed(Order::Zeroth, 600), pushed(Order::First, 600));
    let (share, worst) = within(&zeroth, &first, 2.0, 1e-9);
    assert!(share >= 0.9 && worst < 4.0, "{share} {worst}");
    let error = zeroth.error.dv_dtau().unwrap()[(0, 0)];
    assert!(error > 1e-7 && error < 1e-4, "an error is stated: {error}");
    assert!(zeroth.jacobian.dv_dq().is_none(), "nothing is known about what was not displaced");
    assert!(zeroth.jacobian.dv_dctrl().is_none() && first.jacobian.dv_dctrl().is_none());
}

#[test]
fn stated_errors_are_those_between_seeds() {
    let model = builtin("cube").unwrap();
    let x = State::keyframe(&model, "home").unwrap();
    let tau = [0.5 * 9.81, 0.0, 0.0, 0.0, 0.0, 0.0];
    for order in [Order::First, Order::Zeroth] {
        let (mut sum, mut square, mut stated, n) = (0.0, 0.0, 0.0, 60);
        for seed in 0..n {
            let how = Bundled { sigma: Sigma { tau: 0.1, ..Sigma::ZERO }, samples: 80, order, seed: 100 + seed };
            let s = bundle(&model, &x, &tau, None, how).unwrap();
            let d = s.jacobian.dv_dtau().unwrap()[(0, 0)];
            sum += d / n as f64;
            square += d * d / n as f64;
            stated += s.error.dv_dtau().unwrap()[(0, 0)].powi(2) / n as f64;
        }
        // a variance from 60 numbers is known to about 20 %
        let ratio = stated / (square - sum * sum);
        assert!(ratio > 0.5 && ratio < 2.0, "{order:?}: {ratio}");
    }
}

#[test]
fn a_ball_that_nearly_touches_feels_the_floor() {
    let model = builtin("sphere").unwrap();
    let mut x = State::keyframe(&model, "home").unwrap();
    x.q[2] += 2e-5;
    let (mut data, mut next) = (Data::new(&model), x.clone());
    let mut exact = step(&model, &mut data, &x, &Input::default(), &mut next).unwrap();
    assert_eq!(exact.jacobian().unwrap().dv_dq[(2, 2)], 0.0, "exactly it does not touch within the step");
    let how = |order| Bundled { sigma: Sigma { q: 1e-5, ..Sigma::ZERO }, samples: 400, order, seed: 2 };
    let [first, zeroth] = [Order::First, Order::Zeroth].map(|o| bundle(&model, &x, &[], None, how(o)).unwrap());
    // it touches below 9.81e-6 m, one standard deviation down; there dv = −dq/dt
    let expected = -0.154 / 1e-3;
    for s in [&first, &zeroth] {
        let (d, e) = (s.jacobian.dv_dq().unwrap()[(2, 2)], s.error.dv_dq().unwrap()[(2, 2)]);
        assert!((d - expected).abs() < 4.0 * e && e < 0.3 * expected.abs(), "{d} ± {e} instead of {expected}");
        assert!(s.mean.v[2] > s.exact.v[2], "the floor pushes on average");
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_and_leaves_the_warm_start_of_the_step() {
    let model = builtin("quadruped").unwrap();
    let home = model.keyframe("home").unwrap().clone();
    let x = State::keyframe(&model, "home").unwrap();
    let how = |seed| Bundled { sigma: Sigma::all(1e-3), samples: 8, order: Order::First, seed };
    let mut data = Data::new(&model);
    let mut run = |seed| {
        data.clear_warm_start();
        let smoothed = Bundle::new(&model, how(seed)).unwrap().step(&mut data, &x, &Input::ctrl(&home.ctrl));
        (smoothed.unwrap(), data.warm_start())
    };
    let (one, warm) = run(5);
    assert!(run(5) == (one.clone(), warm.clone()) && run(6).0.jacobian != one.jacobian);
    let (mut fresh, mut next) = (Data::new(&model), x.clone());
    step(&model, &mut fresh, &x, &Input::ctrl(&home.ctrl), &mut next).unwrap();
    assert!(fresh.warm_start() == warm && next == one.exact);
}

#[test]
fn samples_on_several_threads_give_the_same_bits() {
    let model = builtin("quadruped").unwrap();
    let home = model.keyframe("home").unwrap().clone();
    let x = State::keyframe(&model, "home").unwrap();
    for order in [Order::First, Order::Zeroth] {
        let how = Bundled { sigma: Sigma::all(1e-3), samples: 140, order, seed: 9 };
        let run = |threads: usize| {
            let (mut data, mut bundle) = (Data::new(&model), Bundle::new(&model, how).unwrap().threads(threads));
            let first = bundle.step(&mut data, &x, &Input::ctrl(&home.ctrl)).unwrap();
            let second = bundle.step(&mut data, &first.exact, &Input::ctrl(&home.ctrl)).unwrap();
            (first, second, data.warm_start())
        };
        let alone = run(1);
        assert!(run(2) == alone && run(3) == alone, "{order:?}");
    }
}

#[test]
fn what_makes_no_mean_is_refused() {
    let model = builtin("cube").unwrap();
    let x = State::keyframe(&model, "home").unwrap();
    let good = Bundled { sigma: Sigma::all(1e-3), samples: 50, order: Order::Zeroth, seed: 0 };
    let told = |how: Bundled| bundle(&model, &x, &[], None, how).unwrap_err().to_string();
    assert_eq!(
        told(Bundled { sigma: Sigma { v: -1.0, ..Sigma::ZERO }, ..good }),
        "sigma.v: expected zero or a positive number, got -1"
    );
    assert_eq!(told(Bundled { samples: 0, ..good }), "samples: expected at least one pair, got 0");
    assert_eq!(told(Bundled { sigma: Sigma::ZERO, ..good }), "sigma: expected something that is displaced, got 0");
    // 18 numbers are displaced: 19 pairs leave one to tell the error by
    assert!(bundle(&model, &x, &[], None, Bundled { samples: 38, ..good }).is_ok());
    let few = bundle(&model, &x, &[], None, Bundled { samples: 36, ..good }).unwrap_err();
    assert_eq!(few, SmoothingError::TooFew { needed: 38, used: 36 });
    let short = bundle(&model, &x, &[1.0], None, good).unwrap_err();
    assert_eq!(short.to_string(), "tau: expected 6 numbers, got 1");
}

#[test]
fn compliance_falls_geometrically_and_ends_at_the_model() {
    let model = builtin("quadruped").unwrap();
    let schedule = ComplianceSchedule { softest: 0.5, stiffest: 5e-4, levels: 4 };
    let models = schedule.models(&model, &model.keyframe("home").unwrap().q).unwrap();
    let of = |m: &Model| m.parameters().group(ParameterGroup::Compliance).to_vec();
    assert_eq!((models.len(), of(&models[4])), (5, of(&model)));
    for (g, geom) in model.geoms().iter().enumerate() {
        let c: Vec<f64> = models[..4].iter().map(|m| of(m)[g]).collect();
        if geom.body.0 == 0 {
            assert_eq!(c, [0.0; 4], "the floor stays as it is");
            continue;
        }
        // nothing of a robot of 13.1 kg is heavier than the whole, and no foot lighter than some grams
        assert!(c[0] / 0.5 > 1.0 / 13.2 && c[0] / 0.5 < 500.0, "{}: {}", geom.name, c[0]);
        c.windows(2).for_each(|w| assert!((w[0] / w[1] - 10.0).abs() < 1e-9, "{c:?}"));
    }
    let error = ComplianceSchedule { softest: 1e-3, stiffest: 1.0, levels: 2 }.models(&model, model.neutral());
    assert_eq!(error.unwrap_err().to_string(), "stiffest: expected no larger a fraction than the softest, got 1");
    let error = ComplianceSchedule { softest: 0.0, stiffest: 0.0, levels: 2 }.models(&model, model.neutral());
    assert_eq!(error.unwrap_err().to_string(), "softest: expected a positive fraction, got 0");
}

#[test]
fn a_share_is_a_share_of_the_contacts_own_inertia() {
    let model = builtin("sphere").unwrap();
    let x = State::keyframe(&model, "home").unwrap();
    let models = ComplianceSchedule { softest: 1.0, stiffest: 1e-2, levels: 3 }.models(&model, &x.q).unwrap();
    let mut data = Data::new(&model);
    for (model, share) in models.iter().zip([1.0, 0.1, 0.01, 0.0]) {
        let mut next = x.clone();
        step(model, &mut data, &x, &Input::default(), &mut next).unwrap();
        // λ (G + R) = g dt, so the ball gives way by R λ
        let expected = -9.81e-3 * share / (1.0 + share);
        assert!((next.v[2] - expected).abs() < 1e-9, "{share}: {} instead of {expected}", next.v[2]);
    }
}

#[test]
fn with_less_smoothing_over_determined_states_have_the_exact_derivative_too() {
    // a ball that rests between two planes, steep and flat
    let planes = "<geom type='plane' size='5 5 .1' zaxis='1 0 1' friction='.3'/>\
                  <geom type='plane' size='5 5 .1' zaxis='-1 0 2' friction='.6'/>";
    let ball = "<body pos='0 0 .16'><freejoint/><geom type='sphere' size='.1' mass='1' friction='.3'/></body>";
    let model = scene(&format!("{planes}{ball}"));
    let (mut data, mut x) = (Data::new(&model), State::neutral(&model));
    let mut next = x.clone();
    for _ in 0..600 {
        step(&model, &mut data, &x, &Input::default(), &mut next).unwrap();
        std::mem::swap(&mut x, &mut next);
    }
    let warm = data.warm_start();
    let mut jacobian = |mode: GradientMode| -> Vec<f64> {
        let mut options = model.options().clone();
        options.gradient = mode;
        let model = model.with_options(options).unwrap();
        data.restore(&warm).unwrap();
        let mut step = step(&model, &mut data, &x, &Input::default(), &mut next).unwrap();
        let of_q = step.jacobian().unwrap().dv_dq;
        (0..6).flat_map(|i| of_q.row(i).to_vec()).collect()
    };
    let exact = jacobian(GradientMode::Exact);
    let size = exact.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let mut off = |kappa: f64| {
        let smoothed = jacobian(GradientMode::ExactForwardCentral { kappa });
        smoothed.iter().zip(&exact).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs())) / size
    };
    assert!(off(1e-2) > 1e-2, "a lot of smoothing is seen");
    for kappa in [1e-8, 1e-10, 1e-12] {
        assert!(off(kappa) < 1e-4, "kappa {kappa:e}: {:e}", off(kappa));
    }
}
