//! Our own derivatives along a scene's motions, timed right after the steps that they belong to.

use super::times::Times;
use crate::machine::waited_us;
use crate::report::median;
use crate::step::drive::Drive;
use slipstick::check::{Difference, StepDifferences, finite_differences};
use slipstick::gradient::{InputGrad, OutputGrad, StepJacobian};
use slipstick::linalg::MatRef;
use slipstick::{Data, Input, Mode, Model, State, Step};
use std::time::Instant;

const DIFFERENCES: [Difference; 2] = [Difference::Forward { step: 1e-6 }, Difference::Central { step: 1e-6 }];

/// Times of our derivatives at every so many-th step.
#[derive(Default)]
pub struct Ours {
    pub step: Times,
    /// What the full Jacobian adds to a finished step.
    pub jacobian: Times,
    /// What a reverse pass adds to a finished step.
    pub vjp: Times,
    pub forward: Times,
    pub central: Times,
    pub met: Met,
}

/// What was met at the timed steps.
#[derive(Default)]
pub struct Met {
    /// Contacts per step that open, stick and slide.
    pub modes: [f64; 3],
    /// Between Jacobian and central differences, per step.
    differences: Vec<f64>,
    /// The first step without a derivative.
    pub refusal: Option<String>,
}

impl Met {
    /// Points in the contact problem, per step.
    pub fn contacts(&self) -> f64 {
        self.modes.iter().sum()
    }

    pub fn difference(&self) -> Option<f64> {
        (!self.differences.is_empty()).then(|| median(&self.differences))
    }
}

/// One way through all motions, with a watch.
struct Round<'a> {
    drive: &'a Drive,
    model: &'a Model,
    every: usize,
}

impl Ours {
    /// Everything timed once more: finite differences once, the rest `repeats` times.
    pub fn time(&mut self, drive: &Drive, model: &Model, every: usize, repeats: usize) -> Result<(), String> {
        let round = Round { drive, model, every };
        let (mut steps, mut jacobians, mut vjps) = (Times::default(), Times::default(), Times::default());
        for _ in 0..repeats {
            let [step, jacobian] = round.jacobians(&mut self.met)?;
            steps.keep_better(step);
            jacobians.keep_better(jacobian);
            vjps.keep_better(round.vjps()?);
        }
        let [forward, central] = round.differences(&mut self.met)?;
        self.step.keep_better(steps.best());
        self.jacobian.keep_better(jacobians.best());
        self.vjp.keep_better(vjps.best());
        self.forward.keep_better(forward);
        self.central.keep_better(central);
        Ok(())
    }
}

impl Round<'_> {
    /// Takes all steps, those to be timed by `timed`.
    fn walk(
        &self,
        mut timed: impl FnMut(&mut Data, &State, &[f64], &mut State) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut k = 0;
        let walked = self.drive.walk(self.model, |data, x, tau, next| {
            k += 1;
            match (k - 1) % self.every {
                0 => timed(data, x, tau, next),
                _ => self.step(data, x, tau, next).map(|_| ()),
            }
        });
        walked.map(|_| ())
    }

    fn step<'d>(&'d self, data: &'d mut Data, x: &State, tau: &[f64], next: &mut State) -> Result<Step<'d>, String> {
        slipstick::step(self.model, data, x, &Input::tau(tau), next).map_err(|e| e.to_string())
    }

    /// Times of steps and of Jacobians.
    fn jacobians(&self, met: &mut Met) -> Result<[Vec<f64>; 2], String> {
        let mut times = [Vec::new(), Vec::new()];
        let mut modes = [0.0; 3];
        self.walk(|data, x, tau, next| {
            let (us, step) = watch(|| self.step(data, x, tau, next));
            let mut step = step?;
            times[0].push(us);
            let (us, jacobian) = watch(|| step.jacobian().map(|_| ()));
            times[1].push(if jacobian.is_ok() { us } else { f64::NAN });
            if let Err(error) = jacobian {
                met.refusal.get_or_insert(error.to_string());
            }
            step.contacts().for_each(|c| modes[place(c.mode)] += 1.0);
            Ok(())
        })?;
        met.modes = modes.map(|n| n / times[0].len() as f64);
        Ok(times)
    }

    /// Times of reverse passes, each after a step of its own: nothing is left over from a Jacobian.
    fn vjps(&self) -> Result<Vec<f64>, String> {
        let n = self.model.nv();
        let w: Vec<f64> = (0..2 * n).map(|k| (k as f64 + 1.0).sin()).collect();
        let (mut times, mut out) = (Vec::new(), vec![0.0; 3 * n]);
        self.walk(|data, x, tau, next| {
            let mut step = self.step(data, x, tau, next)?;
            out.fill(0.0);
            let (q, rest) = out.split_at_mut(n);
            let (v, tau) = rest.split_at_mut(n);
            let weights = OutputGrad { q: &w[..n], v: &w[n..], ..OutputGrad::default() };
            let (us, vjp) = watch(|| step.vjp(weights, InputGrad { q, v, tau, ..InputGrad::default() }));
            times.push(if vjp.is_ok() { us } else { f64::NAN });
            Ok(())
        })?;
        Ok(times)
    }

    /// Times of forward and of central differences.
    fn differences(&self, met: &mut Met) -> Result<[Vec<f64>; 2], String> {
        let mut times = [Vec::new(), Vec::new()];
        let mut out = StepDifferences::new(self.model);
        met.differences.clear();
        self.walk(|data, x, tau, next| {
            let before = data.warm_start();
            for (times, difference) in times.iter_mut().zip(DIFFERENCES) {
                let input = Input::tau(tau);
                let (us, done) = watch_long(|| finite_differences(self.model, data, x, &input, difference, &mut out));
                done.map_err(|e| e.to_string())?;
                times.push(us);
            }
            data.restore(&before).map_err(|e| e.to_string())?;
            let mut step = self.step(data, x, tau, next)?;
            if let Ok(jacobian) = step.jacobian() {
                met.differences.push(difference(&jacobian, &out));
            }
            Ok(())
        })?;
        Ok(times)
    }
}

/// Runs and says how long it took (µs).
pub fn watch<T>(run: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = run();
    (start.elapsed().as_secs_f64() * 1e6, result)
}

/// Time of what takes longer than a busy system leaves a thread alone: the time that the thread waited for a core is
/// taken off, and whether that is sure. It is not where it waited between a look at that time and at the clock, which may be
/// so for any wait of a short run.
pub fn watch_alone<T>(run: impl FnOnce() -> T) -> (f64, bool, T) {
    const QUICK: f64 = 100.0; // a look without waiting takes less (µs)
    // one instant ends a look and begins the run: between two of them a wait would go unseen
    let first = Instant::now();
    let before = waited_us();
    let begin = Instant::now();
    let result = run();
    let end = Instant::now();
    let after = waited_us();
    let us = |from: Instant, to: Instant| (to - from).as_secs_f64() * 1e6;
    let (lasted, waited) = (us(begin, end), after - before);
    let quick = us(first, begin).max(us(end, Instant::now())) < QUICK;
    let sure = quick && (waited == 0.0 || lasted > 10.0 * QUICK);
    (lasted - if sure { waited } else { 0.0 }, sure, result)
}

/// A measurement, repeated until it is sure; NaN if that never happens.
fn watch_long<T>(mut run: impl FnMut() -> T) -> (f64, T) {
    const TRIES: usize = 10;
    for _ in 1..TRIES {
        let (us, sure, result) = watch_alone(&mut run);
        if sure {
            return (us, result);
        }
    }
    (f64::NAN, run())
}

fn place(mode: Mode) -> usize {
    match mode {
        Mode::Break => 0,
        Mode::Stick => 1,
        Mode::Slide => 2,
    }
}

/// Of ∂v_next/∂q and ∂v_next/∂v, relative to the largest number of each block; the larger of the two. (Differences along
/// tau are too coarse with steps and tolerances as they are.)
fn difference(jacobian: &StepJacobian, estimate: &StepDifferences) -> f64 {
    let blocks = [(jacobian.dv_dq, estimate.dv_dq()), (jacobian.dv_dv, estimate.dv_dv())];
    let of_block = |(exact, estimate): (MatRef, MatRef)| {
        let numbers = (0..exact.rows()).flat_map(|i| exact.row(i).iter().zip(estimate.row(i)));
        let (apart, largest) =
            numbers.fold((0.0f64, f64::MIN_POSITIVE), |m, (a, b)| (m.0.max((a - b).abs()), m.1.max(a.abs())));
        apart / largest
    };
    blocks.map(of_block).into_iter().fold(0.0, f64::max)
}
