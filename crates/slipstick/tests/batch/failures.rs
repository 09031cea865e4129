//! What goes wrong in one environment stays there.

use super::scene::{Scene, row, same_bits};
use slipstick::gradient::InputGrad;
use slipstick::rollout::BatchError;
use slipstick::rollout::{BatchJacobian, EnvironmentError, Memory, StateGrad};
use slipstick::*;

fn failed(error: BatchError) -> Vec<(usize, EnvironmentError)> {
    let BatchError::Environments(failed) = error else { panic!("{error}") };
    failed.into_iter().map(|f| (f.environment, f.error)).collect()
}

/// Ways to fail, by environment: forces that are no numbers, a velocity that leads beyond all numbers, a configuration
/// that is none, a quaternion without direction.
const BROKEN: [usize; 4] = [1, 3, 4, 7];

fn break_rows(scene: &Scene, tau: &mut [f64]) -> (Vec<f64>, Vec<f64>) {
    let (nq, nv) = (scene.models[0].nq(), scene.models[0].nv());
    let (mut q, mut v) = (scene.q.clone(), scene.v.clone());
    tau[nv + 2] = f64::NAN;
    v[3 * nv + 5] = 1e70;
    q[4 * nq + 1] = f64::INFINITY;
    q[7 * nq + 3..7 * nq + 7].fill(0.0);
    (q, v)
}

#[test]
fn environments_that_fail_keep_their_state_and_leave_the_others_alone() {
    for threads in [1, 3] {
        let mut scene = Scene::falling("quadruped", 9, false);
        let (n, (ctrl, mut tau)) = (scene.n(), scene.input());
        let (mut sound, mut batch) = (scene.batch(1), scene.batch(threads));
        let (mut q_sound, mut v_sound) = (scene.q.clone(), scene.v.clone());
        sound.step(&scene.q, &scene.v, &Input::tau(&tau).with_ctrl(&ctrl), &mut q_sound, &mut v_sound).unwrap();
        let (q, v) = break_rows(&scene, &mut tau);
        let (mut q_next, mut v_next) = (vec![9.0; q.len()], vec![9.0; v.len()]);
        let error = batch.step(&q, &v, &Input::tau(&tau).with_ctrl(&ctrl), &mut q_next, &mut v_next).unwrap_err();
        let told = error.to_string();
        assert!(
            told.starts_with(
                "environment 1: tau[2] is not a finite number; environment 3: v[5]: expected a number below"
            ),
            "{told}"
        );
        assert!(told.ends_with("environment 4: q[1] is not a finite number; and 1 more environments"), "{told}");
        assert_eq!(failed(error).iter().map(|f| f.0).collect::<Vec<_>>(), BROKEN);
        let start = Simulator::new(&scene.models[0]).state().clone();
        for i in 0..n {
            let (got_q, got_v) = (row(&q_next, n, i), row(&v_next, n, i));
            let expected = match i {
                4 => (&start.q[..], &start.v[..]), // where it was before: its row is no state
                i if BROKEN.contains(&i) => (row(&q, n, i), row(&v, n, i)),
                i => (row(&q_sound, n, i), row(&v_sound, n, i)),
            };
            assert!(same_bits(got_q, expected.0) && same_bits(got_v, expected.1), "environment {i}");
        }
        derivatives_of_the_others_are_there(&mut batch, &mut sound, &scene);
    }
}

fn derivatives_of_the_others_are_there(batch: &mut Batch, sound: &mut Batch, scene: &Scene) {
    let (n, w) = (scene.n(), vec![1.0; scene.v.len()]);
    let (mut g, mut g_sound) = (vec![0.5; w.len()], vec![0.5; w.len()]);
    let out = |g| InputGrad { v: g, ..Default::default() };
    let error = batch.vjp(StateGrad { v: &w, ..StateGrad::default() }, out(&mut g)).unwrap_err();
    let expected: Vec<_> = BROKEN.iter().map(|i| (*i, EnvironmentError::NoStep)).collect();
    assert_eq!(failed(error), expected);
    sound.vjp(StateGrad { v: &w, ..StateGrad::default() }, out(&mut g_sound)).unwrap();
    for i in 0..n {
        match BROKEN.contains(&i) {
            true => assert!(row(&g, n, i).iter().all(|x| *x == 0.5), "environment {i} was written"),
            false => assert!(same_bits(row(&g, n, i), row(&g_sound, n, i)), "environment {i}"),
        }
    }
}

#[test]
fn a_rollout_that_breaks_off_stays_where_it_was() {
    let mut scene = Scene::falling("quadruped", 3, false);
    let (n, nv, steps) = (3, scene.models[0].nv(), 5);
    let mut tau = scene.numbers(n * steps * nv);
    tau[steps * nv + 2 * nv] = f64::NAN; // environment 1, step 2
    let (mut q, mut v) = (vec![0.0; scene.q.len() * 6], vec![0.0; scene.v.len() * 6]);
    let mut batch = scene.batch(2);
    let input = Input::tau(&tau);
    let (start, memory) = ([&scene.q[..], &scene.v[..]], Some(Memory::Recompute));
    let error = batch.rollout(steps, memory, start, &input, [&mut q, &mut v]).unwrap_err();
    assert_eq!(error.to_string(), "environment 1: step 2: tau[0] is not a finite number");
    let states: Vec<&[f64]> = row(&q, n, 1).chunks_exact(q.len() / 18).collect();
    assert!(states[1] != states[2] && states[2..].iter().all(|q| *q == states[2]));
    let w = vec![1.0; scene.v.len()];
    let mut g = vec![0.0; w.len()];
    let error = batch
        .rollout_vjp(StateGrad { q: &w, ..StateGrad::default() }, InputGrad { q: &mut g, ..Default::default() })
        .unwrap_err();
    assert_eq!(failed(error), [(1, EnvironmentError::NoRollout)]);
    assert!(row(&g, n, 1).iter().all(|x| *x == 0.0) && row(&g, n, 2).iter().any(|x| *x != 0.0));
}

#[test]
fn what_was_not_done_cannot_be_differentiated() {
    let mut scene = Scene::falling("quadruped", 2, false);
    let (mut batch, w) = (scene.batch(1), vec![1.0; scene.v.len()]);
    let grad = StateGrad { q: &w, ..StateGrad::default() };
    let none = |e: EnvironmentError| vec![(0, e.clone()), (1, e)];
    assert_eq!(failed(batch.vjp(grad, InputGrad::default()).unwrap_err()), none(EnvironmentError::NoStep));
    assert_eq!(failed(batch.jacobian(BatchJacobian::default()).unwrap_err()), none(EnvironmentError::NoStep));
    assert_eq!(failed(batch.rollout_vjp(grad, InputGrad::default()).unwrap_err()), none(EnvironmentError::NoRollout));
    let (ctrl, _) = scene.input();
    let (mut q, mut v) = (scene.q.clone(), scene.v.clone());
    batch.step(&scene.q, &scene.v, &Input::ctrl(&ctrl), &mut q, &mut v).unwrap();
    assert_eq!(failed(batch.rollout_vjp(grad, InputGrad::default()).unwrap_err()), none(EnvironmentError::NoRollout));
    batch.reset(&[true, false], &mut q, &mut v).unwrap();
    assert_eq!(failed(batch.vjp(grad, InputGrad::default()).unwrap_err()), [(0, EnvironmentError::NoStep)]);
    batch.set_model(1, &scene.models[1]).unwrap();
    assert_eq!(failed(batch.vjp(grad, InputGrad::default()).unwrap_err()), none(EnvironmentError::NoStep));
}

#[test]
fn arrays_that_do_not_fit_are_refused_by_name() {
    let mut scene = Scene::falling("quadruped", 3, false);
    let (mut batch, (ctrl, _)) = (scene.batch(1), scene.input());
    let (mut q, mut v) = (scene.q.clone(), scene.v.clone());
    let told = |e: BatchError| e.to_string();
    let short = batch.step(&scene.q[1..], &scene.v, &Input::default(), &mut q, &mut v).unwrap_err();
    assert_eq!(told(short), "q: expected 57 numbers, got 56");
    let short = batch.step(&scene.q, &scene.v, &Input::tau(&[0.0]), &mut q, &mut v).unwrap_err();
    assert_eq!(told(short), "tau: expected 54 numbers, got 1");
    let short = batch.step(&scene.q, &scene.v, &Input::ctrl(&[]), &mut q, &mut v).unwrap_err();
    assert_eq!(told(short), "ctrl: expected 36 numbers, got 0");
    let short = batch.step(&scene.q, &scene.v, &Input::ctrl(&ctrl), &mut q, &mut v[1..]).unwrap_err();
    assert_eq!(told(short), "v_next: expected 54 numbers, got 53");
    assert_eq!(told(batch.reset(&[true], &mut q, &mut v).unwrap_err()), "mask: expected 3 numbers, got 1");
    batch.step(&scene.q, &scene.v, &Input::default(), &mut q, &mut v).unwrap();
    let w = [f64::NAN; 54];
    let error = batch.vjp(StateGrad { v: &w, ..StateGrad::default() }, InputGrad::default()).unwrap_err();
    assert_eq!(told(error), "gradient of v_next[0] is not a finite number");
    let error = batch.jacobian(BatchJacobian { dv_dctrl: &mut vec![0.0; 3 * 18 * 12], ..Default::default() });
    assert_eq!(told(error.unwrap_err()), "dv_dctrl: expected 0 numbers, got 648");
    let error = batch.rollout(2, None, [&scene.q, &scene.v], &Input::ctrl(&ctrl), [&mut q, &mut v]).unwrap_err();
    assert_eq!(told(error), "ctrl: expected 72 numbers, got 36");
}

#[test]
fn environments_of_other_robots_are_refused() {
    let [a, b] = ["quadruped", "cube"].map(|name| builtin(name).unwrap());
    let error = Batch::with_models(&[a.clone(), b.clone()]).unwrap_err();
    assert_eq!(error.to_string(), "this batch was made for another model than 'cube'");
    let mut batch = Batch::new(&a, 2).unwrap();
    assert_eq!(batch.set_model(0, &b).unwrap_err(), error);
    assert_eq!(
        batch.set_model(2, &a).unwrap_err().to_string(),
        "environment: expected the number of one that exists, got 2"
    );
    let none = Batch::new(&a, 0).unwrap_err();
    assert_eq!(none.to_string(), "environments: expected at least one, got 0");
    assert_eq!(Batch::with_models(&[]).unwrap_err(), none);
    let many = Batch::new(&a, usize::MAX).unwrap_err();
    assert!(matches!(many, BatchError::Memory { bytes: usize::MAX }), "{many}");
}
