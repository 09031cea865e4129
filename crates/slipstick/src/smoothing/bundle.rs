//! Means over random inputs of a step: pairs ±z around the middle.

use super::estimate::Estimate;
use super::sample::{Middle, Pair};
use super::sum::Sum;
use super::{Bundled, SmoothingError};
use crate::check::perturbed::StepArguments;
use crate::interrupt;
use crate::random::Normal;
use crate::workers::WorkerPool;
use slipstick_core::{Data, Input, InputError, Model, State};

/// What [`Bundle::step`] finds.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Smoothed {
    /// The state after the step in the middle.
    pub exact: State,
    /// The mean of the states after the samples' steps (of configurations as seen from `exact`).
    pub mean: State,
    /// Mean derivatives. Configurations count as tangents at the middle: at q, and at `exact.q`.
    pub jacobian: Estimate,
    /// Standard errors of `jacobian`: how far another seed would lie from it. Infinite if there was a single pair.
    pub error: Estimate,
    /// Samples that count.
    pub used: usize,
    /// Samples without a state or a derivative; the other one of their pair is skipped with them.
    pub left_out: usize,
}

/// Memory to smooth steps of a model.
///
/// ```
/// use slipstick::smoothing::{Bundle, Bundled, Sigma};
/// use slipstick::{Data, Input, State};
/// use slipstick::model::Order;
/// let model = slipstick::builtin("sphere")?;
/// let (mut data, mut x) = (Data::new(&model), State::keyframe(&model, "home")?);
/// x.q[2] += 1e-4; // so high that it does not touch within a step
/// let how = Bundled { sigma: Sigma { q: 1e-4, ..Sigma::ZERO }, samples: 64, order: Order::First, seed: 1 };
/// let smoothed = Bundle::new(&model, how)?.step(&mut data, &x, &Input::default())?;
/// let dv_dq = smoothed.jacobian.dv_dq().unwrap();
/// assert!(dv_dq[(2, 2)] < 0.0); // nearby it does: lower means faster upwards
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Bundle {
    model: Model,
    how: Bundled,
    workers: WorkerPool,
    /// Pairs that are made at a time.
    pairs: Vec<Pair>,
}

/// Pairs per thread that are made before their results are added up, in the order in which they were drawn.
const AHEAD: usize = 2;

impl Bundle {
    /// Refuses numbers that make no mean.
    pub fn new(model: &Model, how: Bundled) -> Result<Bundle, SmoothingError> {
        how.sigma.check()?;
        model.without_activations("smoothing")?;
        if how.samples == 0 {
            let (what, got) = ("samples".into(), 0.0);
            return Err(InputError::Value { what, expected: "at least one pair", got }.into());
        }
        Ok(Bundle { model: model.clone(), how, workers: WorkerPool::new(1), pairs: vec![Pair::new(model)] })
    }

    /// On how many threads samples are made, the one that calls included; zero stands for as many as there are cores.
    /// One is the default. The result does not depend on it, not in a single bit.
    pub fn threads(mut self, threads: usize) -> Bundle {
        self.workers = WorkerPool::new(threads);
        let pairs = if self.workers.threads() > 1 { AHEAD * self.workers.threads() } else { 1 };
        self.pairs = vec![Pair::new(&self.model); pairs];
        self
    }

    /// The step from `x`, and the mean of the steps around it. Every sample starts from the solution in the middle;
    /// `data` is left as that step leaves it.
    pub fn step(&mut self, data: &mut Data, x: &State, input: &Input) -> Result<Smoothed, SmoothingError> {
        let Bundle { model, how, workers, pairs } = self;
        let (mut exact, arguments) = (State::neutral(model), StepArguments { x, input: *input });
        arguments.step(model, data, &mut exact)?;
        let (warm, nu) = (data.warm_start(), input.ctrl.map_or(0, <[f64]>::len));
        let middle = Middle { model, sigma: &how.sigma, order: how.order, arguments, exact: &exact, warm: &warm };
        let (mut draw, mut sum) = (Normal::new(how.seed), Sum::new(model, how, nu));
        let mut left = how.samples.div_ceil(2) as usize;
        while left > 0 {
            let count = left.min(pairs.len());
            let pairs = &mut pairs[..count];
            pairs.iter_mut().flat_map(|p| &mut p.z).for_each(|z| *z = draw.sample());
            let started = workers.run(&mut *pairs, |pairs| {
                pairs.iter_mut().filter(|_| interrupt::check().is_ok()).for_each(|p| p.run(&middle));
            });
            started.map_err(|e| SmoothingError::Threads { wanted: workers.threads(), reason: e.to_string() })?;
            interrupt::check()?; // samples that were left out are those of the call before
            for pair in pairs {
                match std::mem::replace(&mut pair.done, Ok(Ok(())))? {
                    Ok(()) => sum.add(&pair.z, &pair.values, &pair.derivatives),
                    Err(reason) => sum.leave_out(reason),
                }
            }
            left -= count;
        }
        sum.finish(model, how, exact)
    }
}
