//! Comparison of several methods on the same problems.

use crate::ranking::Ranking;
use crate::report::Motion;
use crate::throw::{Derivative, Throw, ThrowError, Unknown};
use crate::{ExperimentError, Progress};
use slipstick::check::Difference;
use slipstick::model::GradientMode;
use slipstick::optimize::{ByDifferences, Iteration, LeastSquares, Method, OptimizeError, Options, Outcome, minimize};
use slipstick::rollout::{Memory, RolloutGradient};
use slipstick::smoothing::Bundled;
use slipstick::{Input, Model, State};

/// Where the cube begins, for how long it moves and what is looked for.
pub(crate) struct Scene {
    pub model: Model,
    pub start: State,
    pub steps: usize,
    pub unknown: Unknown,
    /// Where each search begins.
    pub guess: Vec<f64>,
    pub max_iterations: usize,
    /// What counts as a step of length one along each unknown; empty: one each.
    pub units: Vec<f64>,
}

/// Where derivatives come from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Source {
    Exact,
    /// Forward differences over `step`.
    Differences {
        step: f64,
    },
    /// Those of the central path; steps stay exact.
    CentralPath {
        kappa: f64,
    },
    Bundled(Bundled),
    /// Exact ones; when they get no further, those of the central path and then exact ones again, for each kappa.
    InTurns(Vec<f64>),
}

impl Source {
    /// Singular values of a Jacobian below this part of the largest count as zero. Formulas are exact there; differences
    /// carry the solver's rounding over their step, means their samples, and would take it for slopes.
    fn rank_tolerance(&self) -> f64 {
        match self {
            Source::Exact | Source::CentralPath { .. } | Source::InTurns(_) => 1e-10,
            Source::Differences { .. } | Source::Bundled(_) => 1e-5,
        }
    }

    pub fn name(&self) -> String {
        match self {
            Source::Exact => "exact".into(),
            Source::Differences { step } => format!("differences, h = {step:e}"),
            Source::CentralPath { kappa } => format!("central path, κ = {kappa:e}"),
            Source::Bundled(how) => format!("bundled, {} samples", how.samples),
            Source::InTurns(_) => "exact and central path in turns".into(),
        }
    }
}

impl Scene {
    /// Results of a method with derivatives from a source on problems with these solutions.
    pub fn compare(
        &self,
        method: Method,
        source: &Source,
        truths: &[Vec<f64>],
        progress: Progress,
    ) -> Result<Ranking, ExperimentError> {
        let run = |truth: &Vec<f64>| self.solve(method, source, truth, |_| ()).map(|found| found.iterations);
        let runs = truths.iter().map(run).collect::<Result<Vec<Vec<Iteration>>, _>>();
        let units = if self.units.is_empty() { "" } else { ", in fitting units" };
        let source = format!("{}{units}", source.name());
        let ranking = Ranking { method, source, runs: runs.map_err(failed)? };
        progress(&ranking.line());
        Ok(ranking)
    }

    /// One search.
    pub fn solve(
        &self,
        method: Method,
        source: &Source,
        truth: &[f64],
        progress: impl FnMut(&Iteration),
    ) -> Result<Outcome, OptimizeError<ThrowError>> {
        let options = Options {
            method,
            max_iterations: self.max_iterations,
            rank_tolerance: source.rank_tolerance(),
            units: self.units.clone(),
            ..Options::default()
        };
        match source {
            Source::Exact => minimize(&mut self.throw(truth, None)?, &self.guess, &options, progress),
            Source::Differences { step } => {
                let throw = self.throw(truth, None)?;
                let mut throw = ByDifferences::new(throw, Difference::Forward { step: *step })?;
                minimize(&mut throw, &self.guess, &options, progress)
            }
            Source::CentralPath { kappa } => {
                minimize(&mut self.throw(truth, Some(*kappa))?, &self.guess, &options, progress)
            }
            Source::Bundled(how) => {
                let derivative = Derivative::Bundled(*how);
                let throw = Throw::new(&self.model, &self.start, self.steps, self.unknown, truth, derivative);
                minimize(&mut throw.map_err(broken)?, &self.guess, &options, progress)
            }
            Source::InTurns(kappas) => self.in_turns(kappas, truth, &options, progress),
        }
    }

    fn in_turns(
        &self,
        kappas: &[f64],
        truth: &[f64],
        options: &Options,
        mut progress: impl FnMut(&Iteration),
    ) -> Result<Outcome, OptimizeError<ThrowError>> {
        let mut exact = self.throw(truth, None)?;
        let mut found = minimize(&mut exact, &self.guess, options, &mut progress)?;
        for kappa in kappas {
            if found.error <= options.tolerance {
                break;
            }
            go_on(&mut found, &mut self.throw(truth, Some(*kappa))?, options, &mut progress)?;
            go_on(&mut found, &mut exact, options, &mut progress)?;
        }
        Ok(found)
    }

    /// What an unknown leads to, to look at.
    pub fn motion(&self, unknown: &[f64]) -> Result<Motion, ExperimentError> {
        let (mut start, mut tau) = (self.start.clone(), vec![0.0; self.steps * self.model.nv()]);
        match self.unknown {
            Unknown::Velocity => start.v.copy_from_slice(unknown),
            Unknown::Impulse => {
                let dt = self.model.options().dt;
                tau.iter_mut().zip(unknown).for_each(|(tau, impulse)| *tau = impulse / dt);
            }
        }
        let mut rollouts = RolloutGradient::new(&self.model, self.steps, Memory::Recompute);
        let rollout = rollouts.run(&start, &Input::tau(&tau));
        let rollout = rollout.map_err(ExperimentError::during("moving the cube"))?;
        Ok(Motion { model: self.model.clone(), trajectory: rollout.trajectory().clone() })
    }

    /// A throw with exact derivatives, or with those of the central path.
    pub fn throw(&self, truth: &[f64], kappa: Option<f64>) -> Result<Throw, OptimizeError<ThrowError>> {
        let mut options = self.model.options().clone();
        options.gradient = kappa.map_or(GradientMode::Exact, |kappa| GradientMode::ExactForwardCentral { kappa });
        let model = self.model.with_options(options)?;
        Throw::new(&model, &self.start, self.steps, self.unknown, truth, Derivative::OfModel).map_err(broken)
    }
}

/// A problem that could not even be set up.
fn broken(error: ThrowError) -> OptimizeError<ThrowError> {
    OptimizeError::Problem { iteration: 0, error }
}

pub(crate) fn failed(error: OptimizeError<ThrowError>) -> ExperimentError {
    ExperimentError::during("searching")(error)
}

/// Searches on from where a search ended; its log becomes part of the first one's.
fn go_on<P: LeastSquares>(
    found: &mut Outcome,
    problem: &mut P,
    options: &Options,
    mut progress: impl FnMut(&Iteration),
) -> Result<(), OptimizeError<P::Error>> {
    let (before, seconds) = (found.iterations.len() - 1, found.iterations.last().map_or(0.0, |i| i.seconds));
    let options = Options { max_iterations: options.max_iterations.saturating_sub(before), ..options.clone() };
    let shifted = |i: &Iteration| {
        let mut i = i.clone();
        (i.iteration, i.seconds) = (i.iteration + before, i.seconds + seconds);
        i
    };
    let x = found.x.clone();
    let next = minimize(problem, &x, &options, |i| progress(&shifted(i)))?;
    found.iterations.extend(next.iterations.iter().skip(1).map(shifted));
    (found.x, found.residual, found.error, found.stop) = (next.x, next.residual, next.error, next.stop);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstick::optimize::Stop;

    #[test]
    fn a_cube_that_sticks_is_set_going_by_smoothed_derivatives() {
        let model = slipstick::builtin("cube").unwrap();
        let (start, guess) = (State::keyframe(&model, "home").unwrap(), vec![0.0; 6]);
        let scene =
            Scene { model, start, steps: 60, unknown: Unknown::Impulse, guess, max_iterations: 8, units: vec![] };
        let truth = [0.5, 1.0, 0.0, 0.0, 0.0, 0.02];
        // at rest on the floor: no small push moves it, and the exact derivative says so
        let exact = scene.solve(Method::GaussNewton, &Source::Exact, &truth, |_| ()).unwrap();
        assert!(exact.iterations.len() == 1 && exact.stop != Stop::Tolerance, "{exact:?}");
        let mut seen = Vec::new();
        let in_turns = Source::InTurns(vec![1e-2]);
        let found = scene.solve(Method::GaussNewton, &in_turns, &truth, |i| seen.push(i.iteration)).unwrap();
        assert!(found.error < 0.6 * exact.error, "{} of {}", found.error, exact.error);
        // one log, as of a single search
        assert!(found.iterations.iter().enumerate().all(|(k, i)| i.iteration == k) && found.iterations.len() <= 9);
        assert!(found.iterations.windows(2).all(|w| w[0].seconds <= w[1].seconds));
        assert_eq!(found.iterations.last().map(|i| i.error), Some(found.error));
        assert_eq!(seen.last(), found.iterations.last().map(|i| &i.iteration));
    }
}
