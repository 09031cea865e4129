//! What rollouts with derivatives take in memory: every byte of this binary is counted.

mod counting;

use counting::measured;
use slipstick::model::ParameterGroup;
use slipstick::rollout::{Memory, RolloutGradient, StateGrad};
use slipstick::*;

const GROUPS: [ParameterGroup; 2] = [ParameterGroup::Friction, ParameterGroup::Damping];

/// A robot that stands: where it begins, and the controls of a number of steps.
fn standing(model: &Model, steps: usize) -> (State, Vec<f64>) {
    (State::keyframe(model, "home").unwrap(), model.keyframe("home").unwrap().ctrl.repeat(steps))
}

fn ran(model: &Model, steps: usize, memory: Memory) -> RolloutGradient {
    let (x0, ctrl) = standing(model, steps);
    let mut memory = RolloutGradient::new(model, steps, memory).with_parameters(&GROUPS);
    memory.run(&x0, &Input::ctrl(&ctrl)).unwrap();
    memory
}

#[test]
fn the_stated_memory_is_what_is_taken() {
    let model = builtin("quadruped").unwrap();
    model.pairs(); // made when first asked for, once per model
    for memory in [Memory::Store, Memory::Recompute] {
        let (short, _, a) = measured(|| ran(&model, 100, memory));
        let (long, _, b) = measured(|| ran(&model, 300, memory));
        // memory for one step is in both
        let (stated, taken) = ((long.bytes() - short.bytes()) as f64, (b - a) as f64);
        assert!((stated / taken - 1.0).abs() < 0.05, "{memory:?}: {stated} stated, {taken} taken");
    }
}

#[test]
fn gradients_do_not_allocate_by_themselves() {
    let model = builtin("quadruped").unwrap();
    for memory in [Memory::Store, Memory::Recompute] {
        let mut memory = ran(&model, 300, memory);
        let mut rollout = memory.last().unwrap();
        let (w, mut out) = (vec![1.0; model.nv()], rollout.zeros());
        let grad = StateGrad { q: &w, v: &w, ..StateGrad::default() };
        rollout.vjp(grad, &mut out).unwrap(); // memory for one adjoint solve is made once
        let ((), count, left) = measured(|| rollout.vjp(grad, &mut out).unwrap());
        assert!(count <= 2 && left == 0, "{count} allocations, {left} bytes left");
    }
}

#[test]
fn runs_allocate_nothing_the_second_time() {
    let model = builtin("quadruped").unwrap();
    let (x0, ctrl) = standing(&model, 200);
    for memory in [Memory::Store, Memory::Recompute] {
        let mut memory = RolloutGradient::new(&model, 200, memory);
        let input = Input::ctrl(&ctrl);
        memory.run(&x0, &input).unwrap();
        let ((), count, left) = measured(|| memory.run(&x0, &input).map(|_| ()).unwrap());
        assert!(count <= 10 && left == 0, "{count} allocations in 200 steps, {left} bytes left");
    }
}
