//! The search itself: from point to point until there is a reason to end.

use super::bounded::StepBounds;
use super::linearized::LinearizedProblem;
use super::svd::dot;
use super::types::{Iteration, Method, Options, Outcome, Stop};
use super::{LeastSquares, OptimizeError};
use slipstick_core::InputError;
use slipstick_core::linalg::MatMut;
use std::time::Instant;

/// A step must lower ½‖r‖² by this part of what its slope promises.                                              (lsq-7)
const SUFFICIENT: f64 = 1e-4;
/// Points that are tried for a step: 2⁻⁴⁰ of it is beyond hope.
const TRIALS: usize = 40;

/// The x that makes ½‖r(x)‖² least, as far as a search from `x0` finds it. `progress` sees every line of the log as it is
/// written. A search that ends early is no error: [`Outcome::stop`] says why it did.
pub fn minimize<P: LeastSquares + ?Sized>(
    problem: &mut P,
    x0: &[f64],
    options: &Options,
    mut progress: impl FnMut(&Iteration),
) -> Result<Outcome, OptimizeError<P::Error>> {
    let begin = Instant::now();
    let mut search = Search::begin(problem, x0, options)?;
    let (mut iterations, mut taken) = (Vec::new(), Taken::default());
    let stop = loop {
        let mut here = search.linearize()?;
        let line = taken.line(search.iteration, &here, begin);
        progress(&line);
        let end = reason(&line, here.cosine(), options);
        iterations.push(line);
        if let Some(stop) = end {
            break stop;
        }
        match search.advance(&mut here, options)? {
            Next::Step(step) => taken = step,
            Next::End(stop) => break stop,
        }
    };
    let Search { x, r, .. } = search;
    Ok(Outcome { x, error: dot(&r, &r).sqrt(), residual: r, iterations, stop })
}

/// Whether a point is the last one.
fn reason(line: &Iteration, cosine: f64, options: &Options) -> Option<Stop> {
    if line.error <= options.tolerance {
        Some(Stop::Tolerance)
    } else if cosine <= options.gradient_tolerance {
        Some(Stop::Gradient)
    } else if line.iteration > 0 && line.step <= options.step_tolerance {
        Some(Stop::Step)
    } else if line.iteration >= options.max_iterations {
        Some(Stop::MaxIterations)
    } else {
        None
    }
}

/// A step that was taken.
#[derive(Default)]
struct Taken {
    length: f64,
    fraction: f64,
    damping: f64,
    trials: usize,
}

impl Taken {
    fn line(&self, iteration: usize, here: &LinearizedProblem, begin: Instant) -> Iteration {
        Iteration {
            iteration,
            error: here.error(),
            gradient: dot(&here.gradient, &here.gradient).sqrt(),
            step: self.length,
            fraction: self.fraction,
            damping: self.damping,
            trials: self.trials,
            seconds: begin.elapsed().as_secs_f64(),
        }
    }
}

enum Next {
    Step(Taken),
    End(Stop),
}

/// A problem, the point at which it is looked at, and one that is tried.
struct Search<'p, P: ?Sized> {
    problem: &'p mut P,
    bounds: Option<[Vec<f64>; 2]>,
    /// Of each unknown: steps are measured in them.
    units: Vec<f64>,
    iteration: usize,
    x: Vec<f64>,
    r: Vec<f64>,
    x_tried: Vec<f64>,
    r_tried: Vec<f64>,
    /// Levenberg–Marquardt: the price of a step's length, and by what it rises after a bad one.
    damping: Option<f64>,
    rise: f64,
}

impl<'p, P: LeastSquares + ?Sized> Search<'p, P> {
    fn begin(problem: &'p mut P, x0: &[f64], options: &Options) -> Result<Self, OptimizeError<P::Error>> {
        let (m, n, x) = (problem.residuals(), problem.unknowns(), x0.to_vec());
        options.check(n)?;
        let bounds = check(problem, x0)?;
        let units = if options.units.is_empty() { vec![1.0; n] } else { options.units.clone() };
        let mut search = Search {
            problem,
            bounds,
            units,
            iteration: 0,
            x_tried: x.clone(),
            x,
            r: vec![0.0; m],
            r_tried: vec![0.0; m],
            damping: None,
            rise: 2.0,
        };
        let Search { problem, x, r, .. } = &mut search;
        problem.residual(x, r).map_err(|error| OptimizeError::Problem { iteration: 0, error })?;
        match search.r.iter().position(|r| !r.is_finite()) {
            Some(row) => Err(OptimizeError::NotFinite { what: "residual", row, iteration: 0 }),
            None => Ok(search),
        }
    }

    /// How the problem looks from the point.
    fn linearize(&mut self) -> Result<LinearizedProblem, OptimizeError<P::Error>> {
        let (m, n, iteration) = (self.r.len(), self.units.len(), self.iteration);
        let mut J = vec![0.0; m * n];
        let done = self.problem.jacobian(&self.x, MatMut::new(&mut J, m, n));
        done.map_err(|error| OptimizeError::Problem { iteration, error })?;
        if let Some(k) = J.iter().position(|a| !a.is_finite()) {
            return Err(OptimizeError::NotFinite { what: "jacobian", row: k / n, iteration });
        }
        J.iter_mut().enumerate().for_each(|(k, a)| *a *= self.units[k % n]);
        let room = self.bounds.as_ref().map(|[low, high]| {
            let from = |end: &[f64]| (0..n).map(|j| (end[j] - self.x[j]) / self.units[j]).collect();
            StepBounds { low: from(low), high: from(high) }
        });
        Ok(LinearizedProblem::new(&self.r, J, n, room))
    }

    fn advance(&mut self, here: &mut LinearizedProblem, options: &Options) -> Result<Next, OptimizeError<P::Error>> {
        let next = match options.method {
            Method::GaussNewton => {
                let d = here.gauss_newton(0.0, options.rank_tolerance);
                self.along(here, d, options)
            }
            Method::GradientDescent => self.along(here, here.descent(options.rate), options),
            Method::LevenbergMarquardt => self.damped(here, options),
        };
        let next = next.map_err(|error| OptimizeError::Problem { iteration: self.iteration, error })?;
        if let Next::Step(_) = next {
            std::mem::swap(&mut self.x, &mut self.x_tried);
            std::mem::swap(&mut self.r, &mut self.r_tried);
            self.iteration += 1;
        }
        Ok(next)
    }

    /// The whole step, or half of it, or half of that, until the error falls as it should.                      (lsq-7)
    fn along(&mut self, here: &LinearizedProblem, mut d: Vec<f64>, options: &Options) -> Result<Next, P::Error> {
        let (before, slope) = (0.5 * dot(&self.r, &self.r), here.slope(&d));
        let mut fraction = 1.0;
        for trials in 1..=TRIALS {
            let after = self.try_step(&d)?;
            let taken = Taken { length: dot(&d, &d).sqrt(), fraction, damping: 0.0, trials };
            match options.line_search {
                false if after.is_finite() => return Ok(Next::Step(taken)),
                false => return Ok(Next::End(Stop::NotFinite)),
                // strictly: what rounds to no change is no progress
                true if after <= before + SUFFICIENT * fraction * slope && after < before => {
                    return Ok(Next::Step(taken));
                }
                true => {}
            }
            fraction *= 0.5;
            d.iter_mut().for_each(|d| *d *= 0.5);
        }
        Ok(Next::End(Stop::Stalled))
    }

    /// Steps whose length costs ever more, until one is good; the better it is, the less the next one pays.      (lsq-8)
    fn damped(&mut self, here: &mut LinearizedProblem, options: &Options) -> Result<Next, P::Error> {
        let before = 0.5 * dot(&self.r, &self.r);
        let mut damping = self.damping.unwrap_or(options.damping * here.largest_square());
        for trials in 1..=TRIALS {
            let d = here.gauss_newton(damping, options.rank_tolerance);
            let after = self.try_step(&d)?;
            let gain = (before - after) / here.predicted(&d);
            if after < before && gain > 0.0 {
                let (part, paid) = (2.0 * gain - 1.0, damping);
                (self.damping, self.rise) = (Some(damping * (1.0 - part * part * part).max(1.0 / 3.0)), 2.0);
                return Ok(Next::Step(Taken { length: dot(&d, &d).sqrt(), fraction: 1.0, damping: paid, trials }));
            }
            damping = damping.max(f64::MIN_POSITIVE) * self.rise;
            self.rise *= 2.0;
        }
        Ok(Next::End(Stop::Stalled))
    }

    /// ½‖r‖² at the point that a step leads to; infinite if it is not a number there.
    fn try_step(&mut self, d: &[f64]) -> Result<f64, P::Error> {
        let step: Vec<f64> = d.iter().zip(&self.units).map(|(d, unit)| d * unit).collect();
        self.problem.retract(&self.x, &step, &mut self.x_tried);
        if let Some([low, high]) = &self.bounds {
            // a sum may end a digit outside
            let ends = low.iter().zip(high);
            self.x_tried.iter_mut().zip(ends).for_each(|(x, (low, high))| *x = x.max(*low).min(*high));
        }
        self.problem.residual(&self.x_tried, &mut self.r_tried)?;
        let after = 0.5 * dot(&self.r_tried, &self.r_tried);
        Ok(if after.is_nan() { f64::INFINITY } else { after })
    }
}

/// The first point and the bounds: right lengths, finite numbers, one between the others.
fn check<P: LeastSquares + ?Sized>(problem: &P, x0: &[f64]) -> Result<Option<[Vec<f64>; 2]>, InputError> {
    let length = |what, got: usize, expected: usize| {
        if got == expected { Ok(()) } else { Err(InputError::Length { what, expected, got }) }
    };
    length("x0", x0.len(), problem.coordinates())?;
    if let Some(index) = x0.iter().position(|x| !x.is_finite()) {
        return Err(InputError::NotFinite { what: "x0", index });
    }
    let Some((low, high)) = problem.bounds() else { return Ok(None) };
    // a bound is one of a coordinate, a step one of an unknown: they must be the same thing
    length("x0 of a problem with bounds", x0.len(), problem.unknowns())?;
    length("lower bounds", low.len(), x0.len())?;
    length("upper bounds", high.len(), x0.len())?;
    match (0..x0.len()).find(|j| !(low[*j] <= x0[*j] && x0[*j] <= high[*j])) {
        Some(j) => {
            Err(InputError::Value { what: format!("x0[{j}]"), expected: "a number within its bounds", got: x0[j] })
        }
        None => Ok(Some([low.to_vec(), high.to_vec()])),
    }
}
