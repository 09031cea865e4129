//! Random worlds by the rule of the project, and everything that must hold in any of them.

use super::oracle::*;
use super::worlds::*;
use crate::physics::scene::*;
use crate::properties::random_tree::Rng;
use slipstick_core::gradient::{InputGrad, OutputGrad};
use slipstick_core::*;

#[test]
fn random_worlds_that_fall_and_roll_have_the_derivative_of_their_step() {
    let mut tally = Tally::default();
    for seed in 0..40 {
        for (k, mut lab) in fall(seed, 60, 8).into_iter().enumerate() {
            if lab.evaluate().status == Status::Converged {
                tally.add(&format!("world {seed}, sample {k}"), lab.audit());
            }
        }
    }
    tally.judge("random worlds");
}

#[test]
fn no_state_of_a_random_world_has_a_derivative_that_is_not_a_number() {
    let (mut states, mut touching) = (0, 0);
    for seed in 100..160 {
        let model = world(seed);
        let mut rng = Rng::new(seed);
        let mut run = Run::new(model);
        run.x.v = rng.vector(run.model.nv(), 2.0);
        let nv = run.model.nv();
        let (mut next, mut x, ones) = (run.x.clone(), run.x.clone(), vec![1.0; nv]);
        for k in 0..120 {
            let mut done = step(&run.model, &mut run.data, &x, &Input::default(), &mut next).expect("finite");
            let blocks = done.jacobian().map(|j| Blocks::new(&j));
            let blocks = blocks.unwrap_or_else(|e| panic!("world {seed}, step {k}: {e}"));
            assert!(blocks.is_finite(), "world {seed}, step {k}");
            let mut grad = vec![0.0; nv];
            let w = OutputGrad { q: &ones, v: &ones, ..OutputGrad::default() };
            done.vjp(w, InputGrad { q: &mut grad, ..InputGrad::default() }).expect("a derivative");
            assert!(grad.iter().all(|g| g.is_finite()));
            states += 1;
            touching += usize::from(done.contacts().any(|c| c.mode != Mode::Break));
            std::mem::swap(&mut x, &mut next);
            // now and then thrown into a random place, deep in the floor or far above it
            if k % 40 == 39 {
                let (d, q) = (rng.vector(nv, 0.3), x.q.clone());
                run.model.integrate(&q, &d, &mut x.q).expect("sound");
                x.v = rng.vector(nv, 3.0);
            }
        }
    }
    assert!(states == 7200 && touching > 1500, "{touching} of {states} touch");
}

#[test]
fn a_derivative_repeats_itself_bit_for_bit() {
    for seed in 0..10 {
        let run = || {
            let mut labs = fall(seed, 90, 4);
            labs.iter_mut().map(|lab| bits_of(&lab.jacobian())).collect::<Vec<_>>()
        };
        assert_eq!(run(), run(), "world {seed}");
        let mut lab = fall(seed, 150, 1).remove(0);
        let nv = lab.model.nv();
        let mut done = lab.step();
        let first = bits_of(&Blocks::new(&done.jacobian().expect("a derivative")));
        // what is asked for in between changes nothing
        let (ones, mut grad) = (vec![1.0; nv], vec![0.0; nv]);
        let w = OutputGrad { v: &ones, ..OutputGrad::default() };
        done.vjp(w, InputGrad { q: &mut grad, ..InputGrad::default() }).expect("a derivative");
        assert_eq!(first, bits_of(&Blocks::new(&done.jacobian().expect("a derivative"))), "world {seed}, asked again");
    }
}

fn bits_of(b: &Blocks) -> Vec<u64> {
    b.0.iter().flat_map(|m| m.iter().map(|x| x.to_bits())).collect()
}

#[test]
fn asking_for_a_derivative_does_not_change_the_motion() {
    for seed in 0..6 {
        let end = |ask: bool| {
            let mut run = Run::new(world(seed));
            run.x.v = Rng::new(seed).vector(run.model.nv(), 1.0);
            let mut next = run.x.clone();
            for _ in 0..200 {
                let mut done = step(&run.model, &mut run.data, &run.x, &Input::default(), &mut next).expect("finite");
                if ask {
                    done.jacobian().expect("a derivative");
                }
                std::mem::swap(&mut run.x, &mut next);
            }
            bits(&run.x)
        };
        assert_eq!(end(true), end(false), "world {seed}");
    }
}
