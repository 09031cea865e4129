//! Gradients through time: a rollout of the quadruped and the reverse pass through all of its steps.

use crate::error::BenchError;
use crate::gradient::ours::watch_alone;
use crate::growth::chart::{Curve, Point};
use slipstick::rollout::{Memory, RolloutGradient, StateGrad};
use slipstick::{Input, Model, State};
use std::time::{Duration, Instant};

const ROBOT: &str = "quadruped";
const REPEATS: usize = 5;
const PATIENCE: Duration = Duration::from_secs(4);
const WAYS: [Memory; 2] = [Memory::Recompute, Memory::Store];

/// Times of runs and reverse passes, with steps repeated on the way back and with Jacobians stored on the way there.
pub fn curve(steps: &[usize], tick: &mut impl FnMut()) -> Result<Curve, BenchError> {
    let model = slipstick::builtin(ROBOT).map_err(BenchError::Builtin)?;
    let mut points = Vec::new();
    for n in steps {
        let failed = |got: String| BenchError::Measure { what: format!("rollout of {n} steps"), got };
        let mut times_us = Vec::new();
        for memory in WAYS {
            times_us.extend(time(&model, *n, memory).map_err(failed)?);
        }
        points.push(Point { x: *n as f64, times_us, states: REPEATS, unsolved: 0 });
        tick();
    }
    let series = &["run", "vjp, steps repeated", "run with Jacobians", "vjp, Jacobians stored"];
    Ok(Curve { name: "horizon", x_label: "steps of a rollout of the quadruped", series, points })
}

/// Least times of a run and of the gradient of its last state.
fn time(model: &Model, steps: usize, memory: Memory) -> Result<[f64; 2], String> {
    let x0 = State::keyframe(model, "home").map_err(|e| e.to_string())?;
    let ctrl = model.keyframe("home").map_err(|e| e.to_string())?.ctrl.repeat(steps);
    let input = Input::ctrl(&ctrl);
    let mut rollouts = RolloutGradient::new(model, steps, memory);
    let weights = vec![1.0; model.nv()];
    let mut best = [f64::INFINITY; 2];
    let begin = Instant::now();
    for _ in 0..REPEATS {
        let (us, _, run) = watch_alone(|| rollouts.run(&x0, &input));
        best[0] = best[0].min(us);
        let mut run = run.map_err(|e| e.to_string())?;
        let mut out = run.zeros();
        let (us, _, done) =
            watch_alone(|| run.vjp(StateGrad { q: &weights, v: &weights, ..StateGrad::default() }, &mut out));
        done.map_err(|e| e.to_string())?;
        best[1] = best[1].min(us);
        if begin.elapsed() > PATIENCE {
            break;
        }
    }
    Ok(best)
}
