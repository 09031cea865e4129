//! Times steps and derivatives of models of many sizes.

use crate::error::BenchError;
use crate::gradient::ours::watch_alone;
use crate::growth::chart::{Curve, Point};
use crate::report::median;
use slipstick::error::BuildError;
use slipstick::gradient::{InputGrad, OutputGrad};
use slipstick::random::Rng;
use slipstick::{Data, Input, Model, State, Status, Step};
use std::time::{Duration, Instant};

const SETTLE: usize = 10; // steps before the first that is timed
const STATES: usize = 9; // that are timed
const REPEATS: usize = 5; // of each
/// Random forces on all dofs, far below what moves a body of a pile: at rest the last solution would already be the next.
const NOISE: f64 = 0.01; // (N or N·m)
/// No size takes much longer than this, but one state is always timed.
const PATIENCE: Duration = Duration::from_secs(4);

/// Times of step, jacobian and vjp over sizes.
pub fn curve(
    name: &'static str,
    x_label: &'static str,
    sizes: &[usize],
    make: impl Fn(usize) -> Result<Model, BuildError>,
    tick: &mut impl FnMut(),
) -> Result<Curve, BenchError> {
    let mut points = Vec::new();
    for size in sizes {
        let failed = |got: String| BenchError::Measure { what: format!("{name} of {size}"), got };
        let model = make(*size).map_err(|e| failed(e.to_string()))?;
        points.push(time(&model, *size).map_err(failed)?);
        tick();
    }
    Ok(Curve { name, x_label, series: &["step", "jacobian", "vjp"], points })
}

/// Medians over states of the least time at each.
fn time(model: &Model, size: usize) -> Result<Point, String> {
    let begin = Instant::now();
    let (mut data, mut x) = (Data::new(model), start(model));
    let (mut next, mut tau, mut random) = (x.clone(), vec![0.0; model.nv()], Rng(1));
    let mut times: [Vec<f64>; 3] = Default::default();
    let mut unsolved = 0;
    for k in 0..SETTLE + STATES {
        tau.iter_mut().for_each(|t| *t = NOISE * random.sign());
        if k >= SETTLE {
            let best = time_state(model, &mut data, &x, &tau, &mut next)?;
            times.iter_mut().zip(best).for_each(|(list, t)| list.push(t));
        }
        let step = step(model, &mut data, &x, &tau, &mut next)?;
        unsolved += usize::from(k >= SETTLE && step.report().status != Status::Converged);
        std::mem::swap(&mut x, &mut next);
        if k >= SETTLE && begin.elapsed() > PATIENCE {
            break;
        }
    }
    Ok(Point { x: size as f64, times_us: times.iter().map(|t| median(t)).collect(), states: times[0].len(), unsolved })
}

fn start(model: &Model) -> State {
    State::keyframe(model, "home").unwrap_or_else(|_| State::neutral(model))
}

fn step<'d>(
    model: &'d Model,
    data: &'d mut Data,
    x: &State,
    tau: &[f64],
    next: &mut State,
) -> Result<Step<'d>, String> {
    slipstick::step(model, data, x, &Input::tau(tau), next).map_err(|e| e.to_string())
}

/// Least times of the step, of what a Jacobian and of what a reverse pass adds to it. The data stay as they were before.
fn time_state(model: &Model, data: &mut Data, x: &State, tau: &[f64], next: &mut State) -> Result<[f64; 3], String> {
    let (n, warm) = (model.nv(), data.warm_start());
    let weights = vec![1.0; n];
    let mut out = vec![0.0; 3 * n];
    let mut best = [f64::INFINITY; 3];
    let begin = Instant::now();
    for _ in 0..REPEATS {
        let (us, _, taken) = watch_alone(|| step(model, data, x, tau, next));
        best[0] = best[0].min(us);
        let (us, _, done) = watch_alone(|| taken.map(|mut s| s.jacobian().map(|_| ()).map_err(|e| e.to_string())));
        done??;
        best[1] = best[1].min(us);
        data.restore(&warm).map_err(|e| e.to_string())?;
        // after a step of its own: nothing is left over from the Jacobian
        let mut taken = step(model, data, x, tau, next)?;
        let (q, rest) = out.split_at_mut(n);
        let (v, forces) = rest.split_at_mut(n);
        let w = OutputGrad { q: &weights, v: &weights, ..OutputGrad::default() };
        let (us, _, done) = watch_alone(|| taken.vjp(w, InputGrad { q, v, tau: forces, ..InputGrad::default() }));
        done.map_err(|e| e.to_string())?;
        best[2] = best[2].min(us);
        data.restore(&warm).map_err(|e| e.to_string())?;
        if begin.elapsed() > PATIENCE {
            break;
        }
    }
    Ok(best)
}
