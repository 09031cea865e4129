//! Jacobians of recorded rollouts.

use super::scene::{Scene, row, same_bits};
use slipstick::gradient::InputGrad;
use slipstick::linalg::MatRef;
use slipstick::rollout::{
    BatchError, BatchJacobian, BatchRollout, EnvironmentError, Memory, RolloutGradient, Sensitivities, StateGrad,
    Wanted,
};
use slipstick::*;

const STEPS: usize = 12;

/// Blocks as in [`BatchJacobian`]: numbers of all environments.
struct Blocks([Vec<f64>; 8]);

impl Blocks {
    /// For a number of states of every environment.
    fn zeros(model: &Model, n: usize, states: usize) -> Blocks {
        let (nv, nu) = (model.nv(), model.nu());
        let widths = [nv, nv, STEPS * nv, STEPS * nu];
        Blocks(std::array::from_fn(|k| vec![0.0; n * states * nv * widths[k % 4]]))
    }

    fn borrow(&mut self) -> BatchJacobian<'_> {
        let [dq_dq, dq_dv, dq_dtau, dq_dctrl, dv_dq, dv_dv, dv_dtau, dv_dctrl] = self.0.each_mut().map(|b| &mut b[..]);
        BatchJacobian { dq_dq, dq_dv, dq_dtau, dq_dctrl, dv_dq, dv_dv, dv_dtau, dv_dctrl }
    }

    /// Appends those of a state of a single rollout.
    fn push(&mut self, s: &Sensitivities, nv: usize) {
        let half = |m: MatRef, rows: usize, columns: usize| -> Vec<f64> {
            let width = if columns == 2 { m.cols() } else { nv };
            let start = if columns == 1 { nv } else { 0 };
            (rows * nv..(rows + 1) * nv).flat_map(|i| m.row(i)[start..start + width].to_vec()).collect()
        };
        for rows in 0..2 {
            let initial = s.initial().unwrap();
            (0..2).for_each(|k| self.0[4 * rows + k].extend(half(initial, rows, k)));
            for t in 0..STEPS {
                self.0[4 * rows + 2].extend(half(s.tau(t).unwrap(), rows, 2));
                self.0[4 * rows + 3].extend(half(s.ctrl(t).unwrap(), rows, 2));
            }
        }
    }
}

/// Input of the rollouts: controls and forces of every step, environment by environment.
fn input(scene: &mut Scene) -> (Vec<f64>, Vec<f64>) {
    let (n, model) = (scene.n(), scene.models[0].clone());
    (scene.numbers(n * STEPS * model.nu()), scene.numbers(n * STEPS * model.nv()))
}

fn recorded(batch: &mut Batch, scene: &Scene, memory: Memory, input: &Input) -> BatchRollout {
    let (mut q, mut v) = (vec![0.0; scene.q.len() * (STEPS + 1)], vec![0.0; scene.v.len() * (STEPS + 1)]);
    batch.rollout(STEPS, Some(memory), [&scene.q, &scene.v], input, [&mut q, &mut v]).unwrap();
    batch.take_rollout().expect("it was recorded")
}

/// The Jacobians of single rollouts: of every state, or of the last ones.
fn alone(scene: &Scene, memory: Memory, (ctrl, tau): (&[f64], &[f64]), every: bool) -> Blocks {
    let (n, mut out) = (scene.n(), Blocks(Default::default()));
    for (i, model) in scene.models.iter().enumerate() {
        let mut x0 = State::neutral(model);
        (x0.q, x0.v) = (row(&scene.q, n, i).to_vec(), row(&scene.v, n, i).to_vec());
        let mut memory = RolloutGradient::new(model, STEPS, memory);
        let mut rollout = memory.run(&x0, &Input::tau(row(tau, n, i)).with_ctrl(row(ctrl, n, i))).unwrap();
        let visit = |_, s: &Sensitivities| {
            if every {
                out.push(s, model.nv())
            }
        };
        let last = rollout.sensitivities_of_states(Wanted::default(), visit).unwrap();
        if !every {
            out.push(&last, model.nv());
        }
    }
    out
}

#[test]
fn jacobians_of_several_rollouts_are_those_of_single_ones_whatever_comes_between() {
    for (memory, threads) in [(Memory::Recompute, 2), (Memory::Store, 1)] {
        let mut scene = Scene::falling("quadruped", 3, true);
        let (n, model) = (scene.n(), scene.models[0].clone());
        let (first, second) = (input(&mut scene), input(&mut scene));
        let mut batch = scene.batch(threads);
        let mut early = recorded(&mut batch, &scene, memory, &Input::tau(&first.1).with_ctrl(&first.0));
        batch.clear_warm_start(&[true; 3]).unwrap();
        let mut late = recorded(&mut batch, &scene, memory, &Input::tau(&second.1).with_ctrl(&second.0));
        batch.set_model(1, &model).unwrap(); // a record keeps its own
        let (mut q, mut v) = (scene.q.clone(), scene.v.clone());
        batch.step(&scene.q, &scene.v, &Input::default(), &mut q, &mut v).unwrap();
        batch.reset(&[true, false, false], &mut q, &mut v).unwrap();
        for _ in 0..2 {
            for (run, (ctrl, tau)) in [(&mut late, &second), (&mut early, &first)] {
                for every in [false, true] {
                    let mut blocks = Blocks::zeros(&model, n, if every { STEPS + 1 } else { 1 });
                    batch.jacobian_of(run, every, blocks.borrow()).unwrap();
                    let expected = alone(&scene, memory, (ctrl, tau), every);
                    for (k, (got, expected)) in blocks.0.iter().zip(&expected.0).enumerate() {
                        assert!(same_bits(got, expected), "{memory:?}: block {k}, every: {every}");
                    }
                }
            }
        }
        assert!(batch.choices().all(|n| n <= STEPS));
    }
}

#[test]
fn jacobians_of_rollouts_are_their_central_differences() {
    let mut scene = Scene::falling("quadruped", 2, false);
    let (n, nv, model) = (2, scene.models[0].nv(), scene.models[0].clone());
    let (ctrl, tau) = input(&mut scene);
    let mut batch = scene.batch(1);
    let mut run = recorded(&mut batch, &scene, Memory::Recompute, &Input::tau(&tau).with_ctrl(&ctrl));
    let mut J = Blocks::zeros(&model, n, 1);
    batch.jacobian_of(&mut run, false, J.borrow()).unwrap();
    // one direction of everything, of each environment its own
    let change = [scene.v.len(), scene.v.len(), tau.len(), ctrl.len()].map(|size| scene.numbers(size));
    let moved = |h: f64| {
        let mut q = scene.q.clone();
        for (i, q) in q.chunks_exact_mut(model.nq()).enumerate() {
            let turn: Vec<f64> = row(&change[0], n, i).iter().map(|x| h * x).collect();
            model.integrate(row(&scene.q, n, i), &turn, q).unwrap();
        }
        let plus = |x: &[f64], dx: &[f64]| -> Vec<f64> { x.iter().zip(dx).map(|(x, dx)| x + h * dx).collect() };
        let (v, tau, ctrl) = (plus(&scene.v, &change[1]), plus(&tau, &change[2]), plus(&ctrl, &change[3]));
        let mut ends = [vec![0.0; q.len() * (STEPS + 1)], vec![0.0; v.len() * (STEPS + 1)]];
        let [q_out, v_out] = &mut ends;
        let input = Input::tau(&tau).with_ctrl(&ctrl);
        scene.batch(1).rollout(STEPS, None, [&q, &v], &input, [q_out, v_out]).unwrap();
        ends
    };
    let h = 1e-6;
    let [plus, minus] = [moved(h), moved(-h)];
    for i in 0..n {
        let last = |x: &[f64]| row(row(x, n, i), STEPS + 1, STEPS).to_vec();
        let mut dq = vec![0.0; nv];
        model.difference(&last(&minus[0]), &last(&plus[0]), &mut dq).unwrap();
        let dv = last(&plus[1]).into_iter().zip(last(&minus[1])).map(|(a, b)| a - b).collect();
        for (k, differences) in [dq, dv].into_iter().enumerate() {
            // blocks of steps lie one after the other
            let product = |r: usize| -> f64 {
                let of = |block: &Vec<f64>, x: &[f64], parts: usize| -> f64 {
                    let (block, x) = (row(block, n, i), row(x, n, i));
                    (0..parts).map(|t| dot(row(row(block, parts, t), nv, r), row(x, parts, t))).sum()
                };
                (0..4).map(|c| of(&J.0[4 * k + c], &change[c], if c < 2 { 1 } else { STEPS })).sum()
            };
            let scale = (0..nv).map(|r| product(r).abs()).fold(1.0, f64::max);
            for (r, difference) in differences.into_iter().enumerate() {
                let error = (product(r) - difference / (2.0 * h)).abs() / scale;
                assert!(error < 1e-6, "environment {i}, row {r} of {k}: {error:e}");
            }
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn only_the_blocks_that_are_wanted_are_written() {
    let mut scene = Scene::falling("cube", 2, false);
    let (mut batch, nv) = (scene.batch(1), scene.models[0].nv());
    let (_, tau) = input(&mut scene);
    let mut run = recorded(&mut batch, &scene, Memory::Recompute, &Input::tau(&tau));
    let mut all = Blocks::zeros(&scene.models[0], 2, 1);
    batch.jacobian_of(&mut run, false, BatchJacobian { dq_dctrl: &mut [], ..all.borrow() }).unwrap();
    let mut dv_dtau = vec![0.0; 2 * STEPS * nv * nv];
    batch.jacobian_of(&mut run, false, BatchJacobian { dv_dtau: &mut dv_dtau, ..Default::default() }).unwrap();
    assert!(same_bits(&dv_dtau, &all.0[6]) && dv_dtau.iter().any(|x| *x != 0.0));
    batch.jacobian_of(&mut run, true, BatchJacobian::default()).unwrap();
    let short = batch.jacobian_of(&mut run, true, BatchJacobian { dv_dtau: &mut dv_dtau, ..Default::default() });
    let expected = format!("dv_dtau: expected {} numbers, got {}", dv_dtau.len() * (STEPS + 1), dv_dtau.len());
    assert_eq!(short.unwrap_err().to_string(), expected);
}

#[test]
fn rollouts_of_other_robots_or_other_numbers_of_them_are_refused() {
    let scene = Scene::falling("cube", 2, false);
    for memory in [Memory::Recompute, Memory::Store] {
        let mut run = recorded(&mut scene.batch(1), &scene, memory, &Input::default());
        let told = |batch: &mut Batch, run: &mut BatchRollout| {
            let errors = [
                batch.jacobian_of(run, false, BatchJacobian::default()).unwrap_err(),
                batch.vjp_of(run, StateGrad::default(), InputGrad::default()).unwrap_err(),
            ];
            assert_eq!(errors[0], errors[1]);
            errors[0].to_string()
        };
        let mut three = Scene::falling("cube", 3, false).batch(1);
        assert_eq!(told(&mut three, &mut run), "environments of the rollout: expected as many as the batch has, got 2");
        let mut others = Scene::falling("quadruped", 2, false).batch(1);
        assert_eq!(told(&mut others, &mut run), "this batch was made for another model than 'cube'");
        // its own batch is gone; one of the same robots will do
        assert!(scene.batch(1).jacobian_of(&mut run, false, BatchJacobian::default()).is_ok());
    }
}

#[test]
fn environments_whose_record_ended_are_named() {
    let scene = Scene::falling("cube", 3, false);
    let mut batch = scene.batch(1);
    let (mut q, mut v) = (vec![0.0; scene.q.len() * (STEPS + 1)], vec![0.0; scene.v.len() * (STEPS + 1)]);
    let start = [&scene.q[..], &scene.v[..]];
    batch.rollout(STEPS, Some(Memory::Store), start, &Input::default(), [&mut q, &mut v]).unwrap();
    batch.set_model(1, &scene.models[1]).unwrap();
    let mut run = batch.take_rollout().expect("it was recorded");
    let error = batch.jacobian_of(&mut run, false, BatchJacobian::default()).unwrap_err();
    let BatchError::Environments(failed) = error else { panic!("{error}") };
    assert_eq!(failed.len(), 1);
    assert_eq!((failed[0].environment, &failed[0].error), (1, &EnvironmentError::NoRollout));
}
