//! What batches take in memory: every byte of this binary is counted.

mod counting;

use counting::measured;
use slipstick::gradient::InputGrad;
use slipstick::random::Rng;
use slipstick::rollout::{BatchJacobian, Memory, StateGrad};
use slipstick::*;

/// Rows of a batch on one thread, and room for what comes out.
struct Rows {
    batch: Batch,
    q: Vec<f64>,
    v: Vec<f64>,
    ctrl: Vec<f64>,
    draw: Rng,
}

impl Rows {
    fn new(model: &Model, n: usize) -> Rows {
        let batch = Batch::new(model, n).unwrap().threads(1);
        let [q, v, ctrl] = [model.nq(), model.nv(), model.nu()].map(|width| vec![0.0; n * width]);
        let mut rows = Rows { batch, q, v, ctrl, draw: Rng(0) };
        rows.begin();
        rows
    }

    /// Everything from the beginning.
    fn begin(&mut self) {
        self.draw = Rng(3);
        self.batch.reset(&vec![true; self.batch.len()], &mut self.q, &mut self.v).unwrap();
    }

    /// Controls at random, and a step in place. Now and then a robot begins anew, spinning; tells whether one did.
    fn step(&mut self, model: &Model, next: &mut [Vec<f64>; 2], mask: &mut [bool]) -> bool {
        for c in &mut self.ctrl {
            *c = self.draw.sign();
        }
        let (anew, chosen) = (self.draw.chance(1.0 / 128.0), self.draw.below(mask.len()));
        if anew {
            mask.iter_mut().enumerate().for_each(|(i, m)| *m = i == chosen);
            self.batch.reset(mask, &mut self.q, &mut self.v).unwrap();
            self.v[chosen * model.nv() + 3] = 10.0 * self.draw.sign();
        }
        let [q, v] = next;
        self.batch.step(&self.q, &self.v, &Input::ctrl(&self.ctrl), q, v).unwrap();
        std::mem::swap(&mut self.q, q);
        std::mem::swap(&mut self.v, v);
        anew
    }

    fn next(&self) -> [Vec<f64>; 2] {
        [self.q.clone(), self.v.clone()]
    }
}

#[test]
fn control_steps_readings_and_contacts_of_a_batch_allocate_nothing() {
    let model = builtin("quadruped").unwrap();
    let (mut rows, nv) = (Rows::new(&model, 3), 3 * model.nv());
    let (mut next, w, mut g) = (rows.next(), vec![1.0; nv], vec![0.0; nv]);
    let mut readings = vec![0.0; 3 * rows.batch.readings_per_environment()];
    for round in 0..2 {
        rows.begin();
        for t in 0..200 {
            rows.ctrl.iter_mut().for_each(|c| *c = rows.draw.sign());
            let ((), count, _) = measured(|| {
                let [q, v] = &mut next;
                rows.batch.step_held(4, [&rows.q, &rows.v], &Input::ctrl(&rows.ctrl), [q, v]).unwrap();
                let out = InputGrad { tau: &mut g, ..Default::default() };
                rows.batch.vjp(StateGrad { q: &w, v: &w, ..StateGrad::default() }, out).unwrap();
                rows.batch.sensors(&mut readings).unwrap();
                rows.batch.read_contacts().unwrap();
            });
            assert!(round == 0 || count == 0, "{count} allocations in control step {t}");
            std::mem::swap(&mut rows.q, &mut next[0]);
            std::mem::swap(&mut rows.v, &mut next[1]);
        }
    }
}

#[test]
fn steps_and_gradients_of_a_batch_allocate_nothing() {
    for name in ["quadruped", "humanoid"] {
        let model = builtin(name).unwrap();
        let (mut rows, nv) = (Rows::new(&model, 3), 3 * model.nv());
        let (mut next, mut mask) = (rows.next(), vec![false; 3]);
        let (w, mut g, mut dv_dq) = (vec![1.0; nv], vec![0.0; nv], vec![0.0; nv * model.nv()]);
        // the second time the same way: nothing touches that did not touch before
        for round in 0..2 {
            rows.begin();
            for t in 0..800 {
                let (anew, count, _) = measured(|| {
                    let anew = rows.step(&model, &mut next, &mut mask);
                    let out = InputGrad { tau: &mut g, ..Default::default() };
                    rows.batch.vjp(StateGrad { q: &w, v: &w, ..StateGrad::default() }, out).unwrap();
                    rows.batch.jacobian(BatchJacobian { dv_dq: &mut dv_dq, ..Default::default() }).unwrap();
                    anew
                });
                assert!(round == 0 || anew || count == 0, "{name}: {count} allocations in step {t}");
            }
        }
    }
}

#[test]
fn rollouts_of_a_batch_allocate_nothing_the_second_time() {
    let model = builtin("quadruped").unwrap();
    let (n, steps) = (2, 100);
    let mut rows = Rows::new(&model, n);
    let home = model.keyframe("home").unwrap().ctrl.repeat(n * steps);
    let (mut q, mut v) = (vec![0.0; rows.q.len() * (steps + 1)], vec![0.0; rows.v.len() * (steps + 1)]);
    let (w, mut g) = (vec![1.0; rows.v.len()], vec![0.0; home.len()]);
    // a mode key asks which actuators are at their limits: one small allocation, given back at once
    for (memory, most) in [(None, 0), (Some(Memory::Store), steps), (Some(Memory::Recompute), 2 * steps)] {
        let mut once = || {
            rows.batch.clear_warm_start(&[true; 2]).unwrap();
            let input = Input::ctrl(&home);
            rows.batch.rollout(steps, memory, [&rows.q, &rows.v], &input, [&mut q, &mut v]).unwrap();
            if memory.is_some() {
                let out = InputGrad { ctrl: &mut g, ..Default::default() };
                rows.batch.rollout_vjp(StateGrad { q: &w, v: &w, ..StateGrad::default() }, out).unwrap();
            }
        };
        once();
        let ((), count, left) = measured(&mut once);
        assert!(count <= n * most && left == 0, "{memory:?}: {count} allocations, {left} bytes left");
    }
}

#[test]
fn an_environment_that_only_steps_takes_a_few_kilobytes() {
    let model = builtin("quadruped").unwrap();
    let mut rows = Rows::new(&model, 256);
    let (mut next, mut mask) = (rows.next(), vec![false; 256]);
    (0..100).for_each(|_| _ = rows.step(&model, &mut next, &mut mask));
    let bytes = rows.batch.bytes_per_environment();
    assert!(bytes < 10_000, "{bytes} bytes");
}

#[test]
fn the_stated_bytes_are_those_that_are_taken() {
    for name in ["cube", "half_cheetah", "quadruped", "humanoid"] {
        let model = builtin(name).unwrap();
        model.pairs(); // made when first asked for, once per model
        let (n, w) = (8, vec![1.0; 8 * model.nv()]);
        for level in 0..3 {
            let make = || {
                let mut rows = Rows::new(&model, n);
                let (mut next, mut mask) = (rows.next(), vec![false; n]);
                (0..200).for_each(|_| _ = rows.step(&model, &mut next, &mut mask));
                if level > 0 {
                    rows.batch.vjp(StateGrad { q: &w, v: &w, ..StateGrad::default() }, InputGrad::default()).unwrap();
                    rows.batch.jacobian(BatchJacobian::default()).unwrap();
                }
                if level > 1 {
                    let (steps, memory) = (20, Some(Memory::Recompute));
                    let (mut q, mut v) = (vec![0.0; rows.q.len() * 21], vec![0.0; rows.v.len() * 21]);
                    let (start, input) = ([&rows.q[..], &rows.v[..]], Input::default());
                    rows.batch.rollout(steps, memory, start, &input, [&mut q, &mut v]).unwrap();
                    rows.batch.rollout_vjp(StateGrad { q: &w, ..StateGrad::default() }, InputGrad::default()).unwrap();
                }
                rows
            };
            let (rows, _, taken) = measured(make);
            let rest = 8 * (rows.q.capacity() + rows.v.capacity() + rows.ctrl.capacity());
            let (taken, stated) = ((taken as f64 - rest as f64) / n as f64, rows.batch.bytes_per_environment() as f64);
            assert!((stated / taken - 1.0).abs() < 0.03, "{name}, {level}: {stated} stated, {taken} taken");
        }
    }
}

/// Steps and gradients from the beginning on, and the bytes of an environment after them.
fn run(rows: &mut Rows, model: &Model, steps: usize) -> usize {
    let (mut next, n) = (rows.next(), rows.batch.len());
    let (mut mask, w) = (vec![false; n], vec![1.0; rows.v.len()]);
    for _ in 0..steps {
        rows.step(model, &mut next, &mut mask);
        rows.batch.vjp(StateGrad { q: &w, v: &w, ..StateGrad::default() }, InputGrad::default()).unwrap();
    }
    rows.batch.bytes_per_environment()
}

#[test]
fn memory_does_not_grow_with_the_number_of_steps() {
    let model = builtin("quadruped").unwrap();
    let mut rows = Rows::new(&model, 4);
    let bytes = run(&mut rows, &model, 3000);
    // the same way once more: nothing touches that did not touch before, so nothing needs more room
    let (again, _, left) = measured(|| {
        rows.begin();
        run(&mut rows, &model, 3000)
    });
    assert_eq!((again, left), (bytes, 0));
}

/// 169 kB after 10⁴ steps, 220 kB after 10⁵, 223 kB after 10⁶, the memory for derivatives included; about a minute:
/// `cargo test --release -p slipstick --test batch_memory -- --ignored`.
#[test]
#[ignore = "a million steps"]
fn memory_does_not_grow_in_a_million_steps() {
    let model = builtin("quadruped").unwrap();
    let mut rows = Rows::new(&model, 1);
    let bytes = [10_000, 90_000, 900_000].map(|steps| run(&mut rows, &model, steps));
    // room for a contact more than ever before is made rarely, and less and less so
    assert!(bytes[2] as f64 <= 1.05 * bytes[1] as f64, "{bytes:?}");
}
