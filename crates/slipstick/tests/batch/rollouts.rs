//! Rollouts of batches and their gradients.

use super::scene::{Scene, row, same_bits};
use slipstick::gradient::InputGrad;
use slipstick::rollout::{Memory, RolloutGradient, StateGrad};
use slipstick::*;

const STEPS: usize = 40;

/// Input of a rollout: controls and forces of every step, environment by environment.
fn input(scene: &mut Scene) -> (Vec<f64>, Vec<f64>) {
    let model = scene.models[0].clone();
    let (n, home) = (scene.n(), model.keyframe("home").unwrap().ctrl.clone());
    let numbers = scene.numbers(n * STEPS * model.nu());
    let ctrl = numbers.iter().enumerate().map(|(k, x)| home[k % model.nu()] + 0.2 * x).collect();
    (ctrl, scene.numbers(n * STEPS * model.nv()))
}

struct States {
    q: Vec<f64>,
    v: Vec<f64>,
}

fn rolled(batch: &mut Batch, scene: &Scene, memory: Option<Memory>, input: &Input) -> States {
    let mut out = States { q: vec![0.0; scene.q.len() * (STEPS + 1)], v: vec![0.0; scene.v.len() * (STEPS + 1)] };
    batch.rollout(STEPS, memory, [&scene.q, &scene.v], input, [&mut out.q, &mut out.v]).unwrap();
    out
}

/// Gradients with respect to q, v, tau and ctrl.
fn back(batch: &mut Batch, scene: &Scene, w: StateGrad) -> [Vec<f64>; 4] {
    let (n, nu) = (scene.v.len(), scene.models[0].nu() * scene.n());
    let mut g = [n, n, STEPS * n, STEPS * nu].map(|size| vec![0.0; size]);
    let [q, v, tau, ctrl] = g.each_mut().map(|g| &mut g[..]);
    batch.rollout_vjp(w, InputGrad { q, v, tau, ctrl, ..Default::default() }).unwrap();
    g
}

#[test]
fn gradients_through_time_are_those_of_single_rollouts() {
    for (memory, threads, differing) in
        [(Memory::Recompute, 2, true), (Memory::Store, 3, false), (Memory::Recompute, 1, false)]
    {
        let mut scene = Scene::falling("quadruped", 5, differing);
        let (n, nv) = (scene.n(), scene.models[0].nv());
        let (ctrl, tau) = input(&mut scene);
        let mut batch = scene.batch(threads);
        let states = rolled(&mut batch, &scene, Some(memory), &Input::tau(&tau).with_ctrl(&ctrl));
        // all states count, or the last configurations alone
        let (all, last) = (scene.numbers(n * (STEPS + 1) * nv), scene.numbers(n * nv));
        let w = StateGrad { q: &last, v: &all, ..StateGrad::default() };
        let gradients = back(&mut batch, &scene, w);
        let mut contacts = 0;
        for i in 0..n {
            let mut x0 = State::neutral(&scene.models[i]);
            (x0.q, x0.v) = (row(&scene.q, n, i).to_vec(), row(&scene.v, n, i).to_vec());
            let mut alone = RolloutGradient::new(&scene.models[i], STEPS, memory);
            let input = Input::tau(row(&tau, n, i)).with_ctrl(row(&ctrl, n, i));
            let mut rollout = alone.run(&x0, &input).unwrap();
            assert!(same_bits(row(&states.q, n, i), &rollout.trajectory().q), "{memory:?}: environment {i}");
            assert!(same_bits(row(&states.v, n, i), &rollout.trajectory().v), "{memory:?}: environment {i}");
            contacts += rollout.trajectory().contacts.iter().sum::<usize>();
            let mut expected = rollout.zeros();
            rollout
                .vjp(StateGrad { q: row(&last, n, i), v: row(&all, n, i), ..StateGrad::default() }, &mut expected)
                .unwrap();
            let expected = [&expected.q, &expected.v, &expected.tau, &expected.ctrl];
            for (k, (g, expected)) in gradients.iter().zip(expected).enumerate() {
                assert!(same_bits(row(g, n, i), expected), "{memory:?}: environment {i}, part {k}");
            }
        }
        assert!(contacts > 100, "hardly anything touched: {contacts}");
    }
}

#[test]
fn a_rollout_is_as_many_steps_and_goes_on_where_the_last_one_ended() {
    let mut scene = Scene::falling("quadruped", 4, false);
    let (n, (ctrl, tau)) = (scene.n(), input(&mut scene));
    let (mut stepped, mut rolling, mut recorded) = (scene.batch(1), scene.batch(2), scene.batch(2));
    let states = rolled(&mut rolling, &scene, None, &Input::tau(&tau).with_ctrl(&ctrl));
    let kept = rolled(&mut recorded, &scene, Some(Memory::Recompute), &Input::tau(&tau).with_ctrl(&ctrl));
    assert!(same_bits(&states.q, &kept.q) && same_bits(&states.v, &kept.v), "recording changes the motion");
    let of_step =
        |x: &[f64], t: usize| -> Vec<f64> { (0..n).flat_map(|i| row(row(x, n, i), STEPS, t).to_vec()).collect() };
    let (mut q, mut v) = (scene.q.clone(), scene.v.clone());
    for t in 0..STEPS {
        let (before_q, before_v) = (q.clone(), v.clone());
        let (tau, ctrl) = (of_step(&tau, t), of_step(&ctrl, t));
        stepped.step(&before_q, &before_v, &Input::tau(&tau).with_ctrl(&ctrl), &mut q, &mut v).unwrap();
        for i in 0..n {
            assert!(same_bits(row(&q, n, i), row(row(&states.q, n, i), STEPS + 1, t + 1)), "step {t}, environment {i}");
        }
    }
    // a gradient in between leaves no trace: warm starts are those of the rollout's end
    let w = scene.numbers(scene.v.len());
    let once = back(&mut recorded, &scene, StateGrad { q: &w, v: &w, ..StateGrad::default() });
    assert_eq!(
        once,
        back(&mut recorded, &scene, StateGrad { q: &w, v: &w, ..StateGrad::default() }),
        "a gradient that is asked for again"
    );
    let mut ends = Vec::new();
    for batch in [&mut stepped, &mut rolling, &mut recorded] {
        let (mut q_next, mut v_next) = (q.clone(), v.clone());
        batch.step(&q, &v, &Input::ctrl(&of_step(&ctrl, 0)), &mut q_next, &mut v_next).unwrap();
        ends.push(v_next);
    }
    assert!(same_bits(&ends[0], &ends[1]) && same_bits(&ends[0], &ends[2]));
}

#[test]
fn actuators_that_are_off_have_no_gradient() {
    let mut scene = Scene::falling("quadruped", 2, false);
    let mut batch = scene.batch(1);
    let (states, w) =
        (rolled(&mut batch, &scene, Some(Memory::Store), &Input::default()), scene.numbers(scene.v.len()));
    assert!(states.q.iter().all(|x| x.is_finite()));
    let mut ctrl = vec![0.0; 2 * STEPS * scene.models[0].nu()];
    let out = InputGrad { ctrl: &mut ctrl, ..Default::default() };
    let error = batch.rollout_vjp(StateGrad { q: &w, ..StateGrad::default() }, out).unwrap_err();
    assert_eq!(error.to_string(), format!("gradient of ctrl: expected 0 numbers, got {}", ctrl.len()));
}

#[test]
fn several_rollouts_can_be_differentiated_whatever_comes_between() {
    for memory in [Memory::Recompute, Memory::Store] {
        let mut scene = Scene::falling("quadruped", 3, false);
        let (n, nv) = (scene.n(), scene.models[0].nv());
        let (first, second) = (input(&mut scene), input(&mut scene));
        let w = scene.numbers(n * nv);
        let w = StateGrad { q: &w, ..StateGrad::default() };
        let of = |(ctrl, tau): &(Vec<f64>, Vec<f64>), with_ctrl: bool| {
            let mut batch = scene.batch(2);
            let input = Input::tau(tau);
            let input = if with_ctrl { input.with_ctrl(ctrl) } else { input };
            rolled(&mut batch, &scene, Some(memory), &input);
            batch
        };
        let alone = back(&mut of(&first, true), &scene, w);

        let mut batch = of(&first, true);
        let mut tape = batch.take_rollout().expect("it was recorded");
        assert!(batch.take_rollout().is_none(), "there is one");
        batch.clear_warm_start(&vec![true; n]).unwrap();
        // without controls, and with other forces
        rolled(&mut batch, &scene, Some(memory), &Input::tau(&second.1));
        let mut later = batch.take_rollout().expect("it was recorded");
        let (mut q, mut v) = (scene.q.clone(), scene.v.clone());
        batch.step(&scene.q, &scene.v, &Input::default(), &mut q, &mut v).unwrap();
        let warm = batch.step(&q.clone(), &v.clone(), &Input::default(), &mut q, &mut v).map(|()| q.clone()).unwrap();
        for _ in 0..2 {
            let (size, nu) = (scene.v.len(), scene.models[0].nu() * n);
            let mut g = [size, size, STEPS * size, STEPS * nu].map(|size| vec![0.0; size]);
            let [gq, gv, tau, ctrl] = g.each_mut().map(|g| &mut g[..]);
            batch.vjp_of(&mut tape, w, InputGrad { q: gq, v: gv, tau, ctrl, ..Default::default() }).unwrap();
            assert!(g.iter().zip(&alone).all(|(a, b)| same_bits(a, b)), "{memory:?}");
            let out = InputGrad { ..Default::default() };
            batch.vjp_of(&mut later, w, out).unwrap();
        }
        // derivatives moved nothing: the next steps are those of a batch that took none
        let (mut again, mut other) = (of(&first, true), Vec::new());
        again.clear_warm_start(&vec![true; n]).unwrap();
        rolled(&mut again, &scene, None, &Input::tau(&second.1));
        let (mut q2, mut v2) = (scene.q.clone(), scene.v.clone());
        again.step(&scene.q, &scene.v, &Input::default(), &mut q2, &mut v2).unwrap();
        again.step(&q2.clone(), &v2.clone(), &Input::default(), &mut q2, &mut v2).unwrap();
        other.extend_from_slice(&q2);
        assert!(same_bits(&warm, &other));
        let mut smaller = scene.batch(1);
        let tape_of_another = smaller.vjp_of(&mut later, StateGrad::default(), InputGrad::default());
        assert!(tape_of_another.is_ok(), "a batch of the same robots can do it too");
    }
}
