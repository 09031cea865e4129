//! Batches of more and more environments.

use crate::error::BenchError;
use crate::gradient::ours::watch_alone;
use crate::growth::chart::{Curve, Point};
use slipstick::gradient::InputGrad;
use slipstick::rollout::StateGrad;
use slipstick::{Batch, Input, Model};
use std::time::{Duration, Instant};

const ROBOT: &str = "quadruped";
const SETTLE: usize = 5; // steps before the first that is timed
const REPEATS: usize = 9;
const PATIENCE: Duration = Duration::from_secs(4);

/// Times of one step and of one step with its gradient of all environments, on one thread and on all.
pub fn curve(sizes: &[usize], tick: &mut impl FnMut()) -> Result<Curve, BenchError> {
    let model = slipstick::builtin(ROBOT).map_err(BenchError::Builtin)?;
    let mut points = Vec::new();
    for n in sizes {
        let failed = |got: String| BenchError::Measure { what: format!("batch of {n}"), got };
        let one = time(&model, *n, 1).map_err(failed)?;
        let all = time(&model, *n, 0).map_err(failed)?;
        points.push(Point { x: *n as f64, times_us: [one, all].concat(), states: REPEATS, unsolved: 0 });
        tick();
    }
    let series = &["step, 1 thread", "step and vjp, 1 thread", "step, all threads", "step and vjp, all threads"];
    Ok(Curve { name: "batch", x_label: "environments of a batch of quadrupeds", series, points })
}

/// Least times of a step and of a step and its reverse pass; no threads stands for all.
fn time(model: &Model, n: usize, threads: usize) -> Result<[f64; 2], String> {
    let mut batch = Batch::new(model, n).map_err(|e| e.to_string())?.threads(threads);
    let (nq, nv) = (model.nq(), model.nv());
    let (mut q, mut v) = (vec![0.0; n * nq], vec![0.0; n * nv]);
    batch.reset(&vec![true; n], &mut q, &mut v).map_err(|e| e.to_string())?;
    let (mut q_next, mut v_next) = (q.clone(), v.clone());
    let ctrl = model.keyframe("home").map_err(|e| e.to_string())?.ctrl.repeat(n);
    let (weights, mut out) = (vec![1.0; n * nv], vec![0.0; n * nv]);
    let mut best = [f64::INFINITY; 2];
    let begin = Instant::now();
    for k in 0..SETTLE + REPEATS {
        let (step_us, _, done) = watch_alone(|| batch.step(&q, &v, &Input::ctrl(&ctrl), &mut q_next, &mut v_next));
        done.map_err(|e| e.to_string())?;
        let w = StateGrad { q: &weights, v: &weights, ..StateGrad::default() };
        let (vjp_us, _, done) = watch_alone(|| batch.vjp(w, InputGrad { v: &mut out, ..InputGrad::default() }));
        done.map_err(|e| e.to_string())?;
        if k >= SETTLE {
            best = [best[0].min(step_us), best[1].min(step_us + vjp_us)];
        }
        std::mem::swap(&mut q, &mut q_next);
        std::mem::swap(&mut v, &mut v_next);
        if k >= SETTLE && begin.elapsed() > PATIENCE {
            break;
        }
    }
    Ok(best)
}
