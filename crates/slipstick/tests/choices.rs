//! Derivatives that are a choice are counted, and the mean of both sides is nearer to the step.
#![allow(non_snake_case)]

use slipstick::gradient::InputGrad;
use slipstick::rollout::{Memory, RolloutGradient, StateGrad};
use slipstick::{Batch, Data, Input, Model, State, builtin, step};

/// The quadruped after some time at home, and its controls.
fn standing(steps: usize) -> (Model, Data, State, Vec<f64>) {
    let model = builtin("quadruped").unwrap();
    let ctrl = model.keyframes().iter().find(|k| k.name == "home").unwrap().ctrl.clone();
    let (mut data, mut x) = (Data::new(&model), State::keyframe(&model, "home").unwrap());
    let mut next = x.clone();
    for _ in 0..steps {
        step(&model, &mut data, &x, &Input::ctrl(&ctrl), &mut next).unwrap();
        std::mem::swap(&mut x, &mut next);
    }
    (model, data, x, ctrl)
}

#[test]
fn rollouts_and_batches_count_steps_whose_derivative_is_a_choice() {
    let (model, mut data, x, ctrl) = standing(1500);
    let mut next = x.clone();
    assert!(step(&model, &mut data, &x, &Input::ctrl(&ctrl), &mut next).unwrap().is_choice().unwrap());
    let steps = 5;
    let input = ctrl.repeat(steps);
    for memory in [Memory::Store, Memory::Recompute] {
        let mut gradient = RolloutGradient::new(&model, steps, memory);
        let mut rollout = gradient.run(&x, &Input::ctrl(&input)).unwrap();
        let (w, mut out) = (vec![1.0; model.nv()], rollout.zeros());
        rollout.vjp(StateGrad { v: &w, ..StateGrad::default() }, &mut out).unwrap();
        assert!(rollout.choices() >= 3, "{memory:?}: {} of {steps}", rollout.choices());
    }
    // in the air nothing is held
    let mut free = x.clone();
    free.q[2] += 1.0;
    let mut batch = Batch::new(&model, 2).unwrap();
    let (q, v) = ([x.q.clone(), free.q].concat(), x.v.repeat(2));
    let (mut q_next, mut v_next) = (q.clone(), v.clone());
    batch.step(&q, &v, &Input::ctrl(&ctrl.repeat(2)), &mut q_next, &mut v_next).unwrap();
    let w = vec![1.0; 2 * model.nv()];
    let mut g = vec![0.0; 2 * model.nv()];
    batch.vjp(StateGrad { v: &w, ..StateGrad::default() }, InputGrad { q: &mut g, ..Default::default() }).unwrap();
    assert_eq!(batch.choices().collect::<Vec<_>>(), [1, 0]);
}

#[test]
fn the_mean_of_both_sides_is_the_central_difference_of_the_step() {
    let (model, mut data, x, ctrl) = standing(1500);
    let (nv, h) = (model.nv(), 1e-6);
    let mut options = model.options().clone();
    options.tolerance = 1e-13;
    let model = model.with_options(options).unwrap();
    let mut next = x.clone();
    let mut done = step(&model, &mut data, &x, &Input::ctrl(&ctrl), &mut next).unwrap();
    let warm = done.warm_start();
    let copied = |m: slipstick::linalg::MatRef| (0..nv).flat_map(|i| m.row(i).to_vec()).collect::<Vec<f64>>();
    let own = copied(done.jacobian().unwrap().dv_dq);
    let mean = copied(done.jacobian_of_sides(h).unwrap().dv_dq);
    assert_eq!(own, copied(done.jacobian().unwrap().dv_dq), "the Jacobian comes back");
    assert!(done.jacobian_of_sides(0.0).is_err() && done.jacobian_of_sides(f64::NAN).is_err());
    let (mut right, mut of_own) = (0, 0);
    for j in 0..nv {
        let sides = [h, -h].map(|h| {
            let (mut beside, mut dq) = (x.clone(), vec![0.0; nv]);
            dq[j] = h;
            model.integrate(&x.q, &dq, &mut beside.q).unwrap();
            data.restore(&warm).unwrap();
            step(&model, &mut data, &beside, &Input::ctrl(&ctrl), &mut next).unwrap();
            next.v.clone()
        });
        let central: Vec<f64> = sides[0].iter().zip(&sides[1]).map(|(a, b)| (a - b) / (2.0 * h)).collect();
        let far = |J: &[f64]| (0..nv).map(|i| (J[i * nv + j] - central[i]).abs()).fold(0.0, f64::max);
        let size = central.iter().fold(0.1, |m: f64, x| m.max(x.abs()));
        right += usize::from(far(&mean) < 0.01 * size);
        of_own += usize::from(far(&own) < 0.01 * size);
    }
    assert!(right >= 17 && of_own < right, "{right} and {of_own} of {nv} columns");
}

#[test]
fn a_step_says_in_words_what_is_about_to_give_way_and_what_the_derivative_means() {
    let (model, mut data, x, ctrl) = standing(1500);
    let mut next = x.clone();
    let text = step(&model, &mut data, &x, &Input::ctrl(&ctrl), &mut next).unwrap().explain();
    assert!(
        text.contains("Nearest to a change: ") && text.contains("active constraints are over-determined"),
        "{text}"
    );
    let cube = builtin("cube").unwrap();
    let (mut data, x) = (Data::new(&cube), State::keyframe(&cube, "home").unwrap());
    let mut next = x.clone();
    let text = step(&cube, &mut data, &x, &Input::default(), &mut next).unwrap().explain();
    assert!(text.contains("derivative on both sides") && text.contains(" N) make it slip"), "{text}");
}
