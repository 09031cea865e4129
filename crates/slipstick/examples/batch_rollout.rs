//! Sixty-four balls are bowled at the same place from sixty-four states, sliding until they roll, and every throw is mended
//! by its own gradient: rollouts and the way back through them, friction included, all balls at once on all cores.
//!
//! ```text
//! cargo run --release --example batch_rollout
//! ```
#![allow(clippy::print_stdout)] // an example tells what it does

use slipstick::gradient::InputGrad;
use slipstick::rollout::{Memory, StateGrad};
use slipstick::{Batch, Input, Model, State};
use std::error::Error;

const BALLS: usize = 64;
const STEPS: usize = 500;
const ROUNDS: usize = 12;
/// Where the balls are to be after the last step (m).
const TARGET: [f64; 2] = [1.0, 0.0];
/// How far a throw follows its gradient: without friction a ball moves by v t, so that 1 / t² would do.
const RATE: f64 = 4.0;

fn main() -> Result<(), Box<dyn Error>> {
    let model = slipstick::builtin("sphere")?;
    let (q, mut v) = throws(&model)?;
    let mut batch = Batch::new(&model, BALLS)?;
    let mut misses = Vec::new();
    for round in 0..ROUNDS {
        let (miss, gradient) = throw(&mut batch, &model, &q, &v)?;
        println!(
            "round {round:2}: the balls miss by {:.4} m on average, by {:.4} m at most",
            mean(&miss),
            worst(&miss)
        );
        for (v, g) in v.chunks_exact_mut(model.nv()).zip(gradient.chunks_exact(model.nv())) {
            (0..2).for_each(|k| v[k] -= RATE * g[k]);
        }
        misses.push(mean(&miss));
    }
    let (again, _) = throw(&mut Batch::new(&model, BALLS)?.threads(1), &model, &q, &v)?;
    let (last, _) = throw(&mut batch, &model, &q, &v)?;
    assert_eq!(again, last, "one thread and several do the same, bit for bit");
    assert!(mean(&last) < 0.05 * misses[0], "the throws were to become better: {misses:?}");
    println!("{} threads, {} bytes per ball", batch.n_threads(), batch.bytes_per_environment());
    Ok(())
}

/// States to throw from: beside each other, each with a spin of its own.
fn throws(model: &Model) -> Result<(Vec<f64>, Vec<f64>), Box<dyn Error>> {
    let (x, mut q, mut v) = (State::keyframe(model, "sliding")?, Vec::new(), Vec::new());
    for i in 0..BALLS {
        let along = i as f64 / BALLS as f64;
        let mut x = x.clone();
        x.q[1] += along - 0.5;
        x.v[3..].copy_from_slice(&[10.0 * along, 10.0 * along - 5.0, 3.0]);
        q.extend(x.q);
        v.extend(x.v);
    }
    Ok((q, v))
}

/// By how much every ball misses (m), and the gradient of half its square with respect to the first velocity.
fn throw(batch: &mut Batch, model: &Model, q: &[f64], v: &[f64]) -> Result<(Vec<f64>, Vec<f64>), Box<dyn Error>> {
    let (nq, nv) = (model.nq(), model.nv());
    let (mut q_out, mut v_out) = (vec![0.0; q.len() * (STEPS + 1)], vec![0.0; v.len() * (STEPS + 1)]);
    batch.clear_warm_start(&[true; BALLS])?;
    let memory = Some(Memory::Recompute);
    batch.rollout(STEPS, memory, [q, v], &Input::default(), [&mut q_out, &mut v_out])?;
    let (mut w, mut miss, mut gradient) = (vec![0.0; v.len()], Vec::new(), vec![0.0; v.len()]);
    for (w, q) in w.chunks_exact_mut(nv).zip(q_out.chunks_exact(nq * (STEPS + 1))) {
        (0..2).for_each(|k| w[k] = q[STEPS * nq + k] - TARGET[k]);
        miss.push(w[0].hypot(w[1]));
    }
    batch.rollout_vjp(
        StateGrad { q: &w, ..StateGrad::default() },
        InputGrad { v: &mut gradient, ..Default::default() },
    )?;
    Ok((miss, gradient))
}

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

fn worst(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |w, x| w.max(*x))
}
