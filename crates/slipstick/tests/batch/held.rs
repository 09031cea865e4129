//! Control steps of several engine steps: the motion of single ones, and derivatives of all of them together.

use super::scene::{Scene, row, same_bits};
use slipstick::gradient::InputGrad;
use slipstick::model::ParameterGroup;
use slipstick::rollout::*;
use slipstick::*;

const N: usize = 4;
const HOLD: usize = 5;

/// A batch shortly before the robots land, their states, controls and forces.
fn falling(differing: bool) -> (Scene, Batch, Vec<f64>, Vec<f64>) {
    let mut scene = Scene::falling("quadruped", N, differing);
    let mut batch = scene.batch(2);
    let (ctrl, tau) = scene.input();
    let (mut q, mut v) = (scene.q.clone(), scene.v.clone());
    for _ in 0..12 {
        let (before_q, before_v) = (q.clone(), v.clone());
        batch.step(&before_q, &before_v, &Input::ctrl(&ctrl), &mut q, &mut v).unwrap();
    }
    (scene.q, scene.v) = (q, v);
    (scene, batch, ctrl, tau)
}

fn hold(batch: &mut Batch, scene: &Scene, input: &Input) -> [Vec<f64>; 2] {
    let mut next = [scene.q.clone(), scene.v.clone()];
    let [q, v] = &mut next;
    batch.step_held(HOLD, [&scene.q, &scene.v], input, [q, v]).unwrap();
    next
}

/// Gradients of `w` by v at the end: of state and input, and by friction.
fn gradient(batch: &mut Batch, model: &Model, w: &[f64]) -> [Vec<f64>; 5] {
    let groups = [ParameterGroup::Friction];
    let (nv, nu, np) = (model.nv(), model.nu(), model.parameters().group(groups[0]).len());
    let mut out = [nv, nv, nv, nu, np].map(|width| vec![0.0; N * width]);
    let [q, v, tau, ctrl, parameters] = &mut out;
    let inputs = InputGrad { q, v, tau, ctrl, ..Default::default() };
    batch
        .vjp(StateGrad { q: w, v: w, ..StateGrad::default() }, BatchGrad { inputs, groups: &groups, parameters })
        .unwrap();
    out
}

#[test]
fn a_control_step_is_as_many_steps_under_one_input() {
    let (scene, mut batch, ctrl, tau) = falling(true);
    let mut single = scene.batch(1);
    single.set_warm_starts(&batch.warm_starts()).unwrap();
    let input = Input::tau(&tau).with_ctrl(&ctrl);
    let (mut q, mut v) = (scene.q.clone(), scene.v.clone());
    let mut largest = [0.0; N];
    for _ in 0..HOLD {
        let (before_q, before_v) = (q.clone(), v.clone());
        single.step(&before_q, &before_v, &input, &mut q, &mut v).unwrap();
        largest.iter_mut().zip(single.reports()).for_each(|(most, r)| *most = f64::max(*most, r.impulse));
    }
    let next = hold(&mut batch, &scene, &input);
    assert!(same_bits(&next[0], &q) && same_bits(&next[1], &v));
    for (report, most) in batch.reports().zip(largest) {
        assert_eq!((report.steps, report.impulse, report.mode_changes), (HOLD, most, None));
    }
    assert!(largest.iter().any(|most| *most > 1.0), "nothing lands: {largest:?}");
    assert_eq!(batch.warm_starts(), single.warm_starts());
}

#[test]
fn a_cold_control_step_is_that_of_the_function_of_arrays() {
    let (scene, mut batch, ctrl, _) = falling(false);
    batch.clear_warm_start(&[true; N]).unwrap();
    batch.vjp(StateGrad::default(), InputGrad::default()).unwrap_err(); // from now on steps are recorded
    let next = hold(&mut batch, &scene, &Input::ctrl(&ctrl));
    let control_step = ControlStep::new(&scene.models[0], HOLD).unwrap();
    let inputs = Inputs { q: &scene.q, v: &scene.v, ctrl: &ctrl, ..Inputs::default() };
    let (mut q, mut v, mut report, mut outcomes) =
        (scene.q.clone(), scene.v.clone(), vec![0.0; N * REPORT.len()], vec![0; N]);
    control_step.step(&inputs, [&mut q, &mut v], &mut report, &mut outcomes).unwrap();
    assert!(same_bits(&next[0], &q) && same_bits(&next[1], &v));
    for (i, expected) in batch.reports().enumerate() {
        let row = row(&report, N, i);
        assert_eq!((expected.mode_changes, expected.impulse), (Some(row[1] as usize), row[2]));
        assert_eq!((expected.worst.residual, expected.worst.margin), (row[5], row[3]));
    }
    assert!(batch.reports().any(|r| r.mode_changes > Some(0)));
}

#[test]
fn its_gradient_goes_back_through_all_steps_recorded_or_not() {
    let (mut scene, mut batch, ctrl, tau) = falling(true);
    let (model, w) = (scene.models[0].clone(), scene.numbers(scene.v.len()));
    let warm = batch.warm_starts();
    let (steps, nv, nu) = (HOLD, model.nv(), model.nu());
    // a recorded rollout whose inputs are the same in every step
    let spread = |x: &[f64]| -> Vec<f64> { (0..N).flat_map(|i| row(x, N, i).repeat(steps)).collect() };
    let (ctrls, taus) = (spread(&ctrl), spread(&tau));
    let (mut q, mut v) = (vec![0.0; scene.q.len() * (steps + 1)], vec![0.0; scene.v.len() * (steps + 1)]);
    let input = Input::tau(&taus).with_ctrl(&ctrls);
    batch.rollout(steps, Some(Memory::Recompute), [&scene.q, &scene.v], &input, [&mut q, &mut v]).unwrap();
    let mut expected = [nv, nv, steps * nv, steps * nu].map(|width| vec![0.0; N * width]);
    let [gq, gv, gtau, gctrl] = &mut expected;
    batch
        .rollout_vjp(
            StateGrad { q: &w, v: &w, ..StateGrad::default() },
            InputGrad { q: gq, v: gv, tau: gtau, ctrl: gctrl, ..Default::default() },
        )
        .unwrap();
    let sum = |x: &[f64], width: usize| -> Vec<f64> {
        let of = |i: usize| (0..width).map(move |k| (0..steps).map(|t| row(x, N, i)[t * width + k]).sum());
        (0..N).flat_map(of).collect()
    };
    for kept in [false, true] {
        let mut fresh = scene.batch(2);
        if kept {
            fresh.vjp(StateGrad::default(), InputGrad::default()).unwrap_err();
        }
        fresh.set_warm_starts(&warm).unwrap();
        hold(&mut fresh, &scene, &Input::tau(&tau).with_ctrl(&ctrl));
        let found = gradient(&mut fresh, &model, &w);
        assert!(same_bits(&found[0], &expected[0]) && same_bits(&found[1], &expected[1]));
        for (found, expected, width) in [(&found[2], &expected[2], nv), (&found[3], &expected[3], nu)] {
            let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12 * (1.0 + b.abs());
            assert!(found.iter().zip(&sum(expected, width)).all(close));
        }
        // the same numbers from the matrices, and along a direction
        let dx = scene.numbers(N * nv);
        let dctrl = scene.numbers(N * nu);
        let mut ends = [vec![0.0; N * nv], vec![0.0; N * nv]];
        let [dq, dv] = &mut ends;
        let along = BatchDirection { q: &dx, v: &dx, tau: &dx, ctrl: &dctrl, ..Default::default() };
        fresh.jvp(along, [dq, dv]).unwrap();
        let mut blocks = [nv, nv, nv, nu].map(|width| vec![0.0; N * nv * width]);
        let [dv_dq, dv_dv, dv_dtau, dv_dctrl] = &mut blocks;
        fresh.jacobian(BatchJacobian { dv_dq, dv_dv, dv_dtau, dv_dctrl, ..Default::default() }).unwrap();
        for i in 0..N {
            let product = |block: &[f64], x: &[f64], j: usize| -> f64 {
                let row = &row(block, N, i)[j * x.len()..(j + 1) * x.len()];
                row.iter().zip(x).map(|(a, b)| a * b).sum()
            };
            let (dx, dctrl) = (row(&dx, N, i), row(&dctrl, N, i));
            for j in 0..nv {
                let all = blocks[..3].iter().map(|b| product(b, dx, j)).sum::<f64>() + product(&blocks[3], dctrl, j);
                let found = row(&ends[1], N, i)[j];
                assert!((found - all).abs() < 1e-9 * (1.0 + all.abs()), "{found} {all}");
            }
            let back = (0..4).map(|k| row(&found[k], N, i).iter().zip(if k < 3 { dx } else { dctrl }));
            let back: f64 = back.flatten().map(|(a, b)| a * b).sum();
            let there: f64 =
                (0..2).flat_map(|k| row(&ends[k], N, i).iter().zip(row(&w, N, i))).map(|(a, b)| a * b).sum();
            assert!((back - there).abs() < 1e-9 * (1.0 + there.abs()), "{back} {there}");
        }
    }
}

#[test]
fn other_modes_of_derivatives_are_those_of_models_that_have_them() {
    let (mut scene, mut batch, ctrl, _) = falling(true);
    let (w, warm) = (scene.numbers(scene.v.len()), batch.warm_starts());
    let choices = [GradientChoice::Central { kappa: 1.0 }, GradientChoice::CentralAtSpeed { speed: 0.05 }];
    for (choice, steps) in choices.into_iter().flat_map(|c| [(c, 1), (c, HOLD)]) {
        let models = scene.models.iter().map(|m| choice.model(m).unwrap().unwrap()).collect();
        let smooth = Scene { models, ..scene.clone() };
        let mut answers = Vec::new();
        for (of, chosen) in [(&smooth, None), (&scene, Some(choice)), (&scene, None)] {
            let mut batch = of.batch(1);
            batch.set_warm_starts(&warm).unwrap();
            for _ in 0..2 {
                let mut next = [scene.q.clone(), scene.v.clone()];
                let [q, v] = &mut next;
                batch.step_held(steps, [&scene.q, &scene.v], &Input::ctrl(&ctrl), [q, v]).unwrap();
                answers.push(match chosen {
                    Some(choice) => {
                        let model = &scene.models[0];
                        let exact = gradient(&mut batch, model, &w);
                        let smooth = batch.with_gradient(choice, |batch| gradient(batch, model, &w)).unwrap();
                        assert_eq!(gradient(&mut batch, model, &w), exact, "what was chosen for one call stays");
                        smooth
                    }
                    None => gradient(&mut batch, &scene.models[0], &w),
                });
            }
        }
        assert_eq!(answers[0], answers[2], "{choice:?}, {steps}");
        assert_eq!(answers[1], answers[3], "{choice:?}, {steps}, kept");
        assert_ne!(answers[0], answers[4]);
    }
    assert!(batch.with_gradient(GradientChoice::Central { kappa: -1.0 }, |_| ()).is_err());
}

#[test]
fn warm_starts_that_are_saved_go_on_bit_for_bit() {
    let (scene, mut batch, ctrl, _) = falling(true);
    batch.vjp(StateGrad { v: &scene.v, ..StateGrad::default() }, InputGrad::default()).unwrap(); // steps are kept
    let first = hold(&mut batch, &scene, &Input::ctrl(&ctrl));
    let after = Scene { q: first[0].clone(), v: first[1].clone(), ..scene };
    let bytes: Vec<Vec<u8>> = batch.warm_starts().iter().map(WarmStart::to_bytes).collect();
    let expected = hold(&mut batch, &after, &Input::ctrl(&ctrl));
    for mut other in [after.batch(1), batch] {
        let warm: Vec<WarmStart> = bytes.iter().map(|b| WarmStart::from_bytes(b).unwrap()).collect();
        other.set_warm_starts(&warm).unwrap();
        assert_eq!(hold(&mut other, &after, &Input::ctrl(&ctrl)), expected);
    }
    let mut cold = after.batch(1);
    assert_ne!(hold(&mut cold, &after, &Input::ctrl(&ctrl)), expected, "the warm start says nothing");
    assert!(cold.set_warm_starts(&[]).is_err());
}

#[test]
fn wrenches_differ_from_one_environment_to_the_other() {
    let scene = Scene::falling("cube", 3, false);
    let (mut batch, mut sims, bodies) = (scene.batch(2), scene.simulators(), scene.models[0].n_bodies());
    let mut wrenches = vec![0.0; 3 * bodies * 6];
    (0..3).for_each(|i| wrenches[(i * bodies + 1) * 6] = i as f64);
    let (mut q, mut v) = (scene.q.clone(), scene.v.clone());
    let input = BatchInput { wrenches: &wrenches, ..Default::default() };
    batch.step(&scene.q, &scene.v, input, &mut q, &mut v).unwrap();
    for (i, sim) in sims.iter_mut().enumerate() {
        let force = spatial::vec3(i as f64, 0.0, 0.0);
        let wrenches = [dynamics::Wrench::new(model::BodyId(1), force, spatial::Vec3::ZERO)];
        sim.step(&Input::default().with_wrenches(&wrenches)).unwrap();
        assert!(same_bits(row(&v, 3, i), &sim.state().v), "environment {i}");
    }
}

#[test]
fn rollouts_of_another_mode_may_see_other_contacts() {
    let mut scene = Scene::falling("atlas", 8, false);
    let (mut batch, steps, choice) = (scene.batch(2), 60, GradientChoice::CentralAtSpeed { speed: 0.05 });
    let (model, n) = (scene.models[0].clone(), scene.n());
    let ctrl = scene.numbers(n * steps * model.nu());
    let (mut q, mut v) = (vec![0.0; scene.q.len() * (steps + 1)], vec![0.0; scene.v.len() * (steps + 1)]);
    let input = Input::ctrl(&ctrl);
    batch.rollout(steps, Some(Memory::Recompute), [&scene.q, &scene.v], &input, [&mut q, &mut v]).unwrap();
    let (w, mut out) = (vec![1.0; scene.v.len()], vec![0.0; scene.v.len()]);
    let into = InputGrad { v: &mut out, ..Default::default() };
    batch
        .with_gradient(choice, |batch| batch.rollout_vjp(StateGrad { v: &w, ..StateGrad::default() }, into))
        .unwrap()
        .unwrap();
    assert!(out.iter().all(|x| x.is_finite()) && out.iter().any(|x| *x != 0.0));
}
