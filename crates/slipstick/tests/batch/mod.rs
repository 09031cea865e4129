//! Batches compute what single simulations compute, bit for bit.
#![allow(non_snake_case)]

mod failures;
mod held;
mod jacobians;
mod reports;
mod rollouts;
mod scene;

use scene::{Scene, row, same_bits};
use slipstick::dynamics::Wrench;
use slipstick::gradient::{InputGrad, OutputGrad};
use slipstick::model::BodyId;
use slipstick::rollout::{BatchJacobian, StateGrad};
use slipstick::*;

/// What a batch says about a step: states, gradients, all blocks of the Jacobian.
struct Answer {
    q: Vec<f64>,
    v: Vec<f64>,
    gradient: [Vec<f64>; 4],
    blocks: [Vec<f64>; 8],
}

impl Answer {
    fn zeros(model: &Model, n: usize) -> Answer {
        let (nv, nu) = (model.nv(), model.nu());
        let widths = [nv, nv, nv, nu];
        Answer {
            q: vec![0.0; n * model.nq()],
            v: vec![0.0; n * nv],
            gradient: widths.map(|w| vec![0.0; n * w]),
            blocks: std::array::from_fn(|k| vec![0.0; n * nv * widths[k % 4]]),
        }
    }

    /// The blocks, by their names.
    fn jacobian(&mut self) -> BatchJacobian<'_> {
        let [dq_dq, dq_dv, dq_dtau, dq_dctrl, dv_dq, dv_dv, dv_dtau, dv_dctrl] =
            self.blocks.each_mut().map(|b| &mut b[..]);
        BatchJacobian { dq_dq, dq_dv, dq_dtau, dq_dctrl, dv_dq, dv_dv, dv_dtau, dv_dctrl }
    }

    fn gradient(&mut self) -> InputGrad<'_> {
        let [q, v, tau, ctrl] = self.gradient.each_mut().map(|g| &mut g[..]);
        InputGrad { q, v, tau, ctrl, ..Default::default() }
    }

    fn parts(&self) -> impl Iterator<Item = &Vec<f64>> {
        [&self.q, &self.v].into_iter().chain(&self.gradient).chain(&self.blocks)
    }
}

/// The step of a simulator, in the same form.
fn single(sim: &mut Simulator, ctrl: &[f64], tau: &[f64], w: [&[f64]; 2]) -> (Answer, usize) {
    let mut answer = Answer::zeros(sim.model(), 1);
    let mut step = sim.step(&Input::tau(tau).with_ctrl(ctrl)).unwrap();
    step.vjp(OutputGrad { q: w[0], v: w[1], ..Default::default() }, answer.gradient()).unwrap();
    let J = step.jacobian().unwrap();
    let blocks = [J.dq_dq, J.dq_dv, J.dq_dtau, J.dq_dctrl, J.dv_dq, J.dv_dv, J.dv_dtau, J.dv_dctrl];
    answer.blocks = blocks.map(|m| (0..m.rows()).flat_map(|i| m.row(i).to_vec()).collect());
    let contacts = step.contacts().count();
    (answer.q, answer.v) = (sim.state().q.clone(), sim.state().v.clone());
    (answer, contacts)
}

/// Steps of a batch beside as many simulators; every third environment begins anew in the middle. Returns contacts.
fn beside_simulators(mut scene: Scene, threads: usize, steps: usize) -> usize {
    let (n, mut batch, mut sims) = (scene.n(), scene.batch(threads), scene.simulators());
    let (mut q, mut v, mut contacts) = (scene.q.clone(), scene.v.clone(), 0);
    for t in 0..steps {
        let (ctrl, tau) = scene.input();
        let w = [scene.numbers(v.len()), scene.numbers(v.len())];
        let mut answer = Answer::zeros(&scene.models[0], n);
        let (mut q_next, mut v_next) = (q.clone(), v.clone());
        batch.step(&q, &v, &Input::tau(&tau).with_ctrl(&ctrl), &mut q_next, &mut v_next).unwrap();
        (answer.q, answer.v) = (q_next, v_next);
        batch.vjp(StateGrad { q: &w[0], v: &w[1], ..StateGrad::default() }, answer.gradient()).unwrap();
        batch.jacobian(answer.jacobian()).unwrap();
        for (i, sim) in sims.iter_mut().enumerate() {
            let rows = [&w[0], &w[1]].map(|w| row(w, n, i));
            let (expected, touching) = single(sim, row(&ctrl, n, i), row(&tau, n, i), rows);
            contacts += touching;
            for (k, (batched, alone)) in answer.parts().zip(expected.parts()).enumerate() {
                assert!(same_bits(row(batched, n, i), alone), "step {t}, environment {i} of {n}, part {k}");
            }
        }
        (q, v) = (answer.q, answer.v);
        if t == steps / 2 {
            let mask: Vec<bool> = (0..n).map(|i| i % 3 == 0).collect();
            batch.reset(&mask, &mut q, &mut v).unwrap();
            let anew = sims.iter_mut().zip(&mask).filter(|(_, m)| **m);
            anew.for_each(|(sim, _)| *sim = Simulator::new(&sim.model().clone()));
        }
    }
    contacts
}

#[test]
fn every_environment_does_what_its_simulator_does_for_any_number_of_threads() {
    for n in [1, 5, 64] {
        for threads in [1, 2, 3] {
            let contacts =
                beside_simulators(Scene::falling("quadruped", n, false), threads, if n > 5 { 24 } else { 48 });
            assert!(contacts > 20 * n, "hardly anything touched: {contacts}");
        }
    }
}

#[test]
fn threads_without_work_are_not_started() {
    let scene = Scene::falling("cube", 2, false);
    let (mut batch, mut q, mut v) = (scene.batch(usize::MAX), scene.q.clone(), scene.v.clone());
    batch.step(&scene.q, &scene.v, &Input::default(), &mut q, &mut v).unwrap();
    let mut alone = [scene.q.clone(), scene.v.clone()];
    let [q_alone, v_alone] = &mut alone;
    scene.batch(1).step(&scene.q, &scene.v, &Input::default(), q_alone, v_alone).unwrap();
    assert!(same_bits(&q, &alone[0]) && same_bits(&v, &alone[1]));
}

#[test]
fn parameters_may_differ_from_one_environment_to_the_other() {
    let scene = Scene::falling("quadruped", 7, true);
    let same = Scene { models: vec![scene.models[0].clone(); 7], ..scene.clone() };
    beside_simulators(scene.clone(), 2, 30);
    // else the test above would say nothing
    let ends = [scene, same].map(|mut scene| {
        let (mut batch, (ctrl, _)) = (scene.batch(1), scene.input());
        let (mut q, mut v) = (scene.q.clone(), scene.v.clone());
        batch.step(&scene.q, &scene.v, &Input::ctrl(&ctrl), &mut q, &mut v).unwrap();
        v
    });
    assert!(
        same_bits(row(&ends[0], 7, 0), row(&ends[1], 7, 0)) && !same_bits(row(&ends[0], 7, 1), row(&ends[1], 7, 1))
    );
}

#[test]
fn other_robots_move_in_batches_too() {
    for name in ["humanoid", "ant", "cube"] {
        let mut scene = Scene::falling(name, 4, false);
        let (mut batch, mut sims) = (scene.batch(2), scene.simulators());
        let (mut q, mut v) = (scene.q.clone(), scene.v.clone());
        for _ in 0..100 {
            let tau = scene.numbers(v.len());
            let (before_q, before_v) = (q.clone(), v.clone());
            batch.step(&before_q, &before_v, &Input::tau(&tau), &mut q, &mut v).unwrap();
            for (i, sim) in sims.iter_mut().enumerate() {
                sim.step(&Input::tau(row(&tau, 4, i))).unwrap();
                assert!(same_bits(row(&q, 4, i), &sim.state().q) && same_bits(row(&v, 4, i), &sim.state().v), "{name}");
            }
        }
    }
}

#[test]
fn wrenches_act_on_every_environment() {
    let scene = Scene::falling("cube", 3, false);
    let (mut batch, mut sims) = (scene.batch(2), scene.simulators());
    let wrenches = [Wrench::new(BodyId(1), spatial::vec3(3.0, 0.0, 2.0), spatial::vec3(0.0, 0.1, 0.0))];
    let input = Input::default().with_wrenches(&wrenches);
    let (mut q, mut v) = (scene.q.clone(), scene.v.clone());
    batch.step(&scene.q, &scene.v, &input, &mut q, &mut v).unwrap();
    let (w, mut g) = (vec![1.0; v.len()], vec![0.0; v.len()]);
    batch.vjp(StateGrad { v: &w, ..StateGrad::default() }, InputGrad { q: &mut g, ..Default::default() }).unwrap();
    for (i, sim) in sims.iter_mut().enumerate() {
        let mut expected = vec![0.0; sim.model().nv()];
        let (w, out) = (OutputGrad { v: row(&w, 3, i), ..Default::default() }, &mut expected);
        sim.step(&input).unwrap().vjp(w, InputGrad { q: out, ..Default::default() }).unwrap();
        assert!(same_bits(row(&v, 3, i), &sim.state().v) && same_bits(row(&g, 3, i), &expected), "environment {i}");
    }
    let without = [scene.q, scene.v];
    let [mut q, mut free] = without.clone();
    batch.step(&without[0], &without[1], &Input::default(), &mut q, &mut free).unwrap();
    assert!(!same_bits(&v, &free), "the wrenches do nothing, or stay");
}

#[test]
fn environments_that_forget_begin_cold_where_the_caller_puts_them() {
    let mut scene = Scene::falling("quadruped", 3, false);
    let (mut batch, (ctrl, _)) = (scene.batch(1), scene.input());
    let (mut q, mut v) = (scene.q.clone(), scene.v.clone());
    for _ in 0..40 {
        let (before_q, before_v) = (q.clone(), v.clone());
        batch.step(&before_q, &before_v, &Input::ctrl(&ctrl), &mut q, &mut v).unwrap();
    }
    batch.clear_warm_start(&[false, true, false]).unwrap();
    let (before, mut next) = (Scene { q: q.clone(), v: v.clone(), ..scene.clone() }, (q.clone(), v.clone()));
    batch.step(&q, &v, &Input::ctrl(&ctrl), &mut next.0, &mut next.1).unwrap();
    let mut cold = before.simulators();
    for (i, sim) in cold.iter_mut().enumerate() {
        sim.step(&Input::ctrl(row(&ctrl, 3, i))).unwrap();
    }
    assert!(same_bits(row(&next.1, 3, 1), &cold[1].state().v));
    assert!(!same_bits(&next.1, &cold.iter().flat_map(|s| s.state().v.clone()).collect::<Vec<_>>()), "all began cold");
}
