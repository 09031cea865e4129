//! Results of one method on many problems, for the ranking of methods.

use crate::report::number;
use serde_json::{Value, json};
use slipstick::optimize::{Iteration, Method};
use slipstick_plot::Series;

/// An error up to this counts as solved (m and rad together).
pub(crate) const SOLVED: f64 = 1e-6;
/// Below this errors are rounding; they are drawn here.
const FLOOR: f64 = 1e-13;

/// The searches of a method with derivatives from a source, one per problem.
#[derive(Debug, Clone)]
pub(crate) struct Ranking {
    pub method: Method,
    pub source: String,
    pub runs: Vec<Vec<Iteration>>,
}

impl Ranking {
    /// Last errors, the smallest first.
    pub fn errors(&self) -> Vec<f64> {
        sorted(self.runs.iter().filter_map(|run| run.last()).map(|i| i.error))
    }

    pub fn median_error(&self) -> f64 {
        middle(&self.errors())
    }

    /// Nine in ten ended below it.
    pub fn high_error(&self) -> f64 {
        let errors = self.errors();
        errors.get((9 * errors.len()).div_ceil(10).saturating_sub(1)).copied().unwrap_or(f64::NAN)
    }

    /// How many were solved.
    pub fn solved(&self) -> usize {
        self.errors().iter().filter(|e| **e <= SOLVED).count()
    }

    /// Iterations until solved: the median over all problems, infinite for those that were not.
    pub fn iterations(&self) -> f64 {
        let until =
            |run: &Vec<Iteration>| run.iter().find(|i| i.error <= SOLVED).map_or(f64::INFINITY, |i| i.iteration as f64);
        middle(&sorted(self.runs.iter().map(until)))
    }

    /// Time of an iteration, mean over all (ms).
    pub fn milliseconds(&self) -> f64 {
        let sum = |of: fn(&Iteration) -> f64| self.runs.iter().filter_map(|r| r.last()).map(of).sum::<f64>();
        1e3 * sum(|i| i.seconds) / sum(|i| i.iteration as f64).max(1.0)
    }

    /// The median error after each iteration; a search that has ended stays where it is.
    pub fn by_iteration(&self) -> Series {
        let last = self.runs.iter().map(Vec::len).max().unwrap_or(0);
        let error = |k: usize| middle(&sorted(self.runs.iter().filter_map(|r| r.get(k).or(r.last())).map(|i| i.error)));
        self.series((0..last).map(|k| (k as f64, error(k).max(FLOOR))).collect())
    }

    /// The median error over time (ms).
    pub fn by_time(&self) -> Series {
        let mut times: Vec<f64> = self.runs.iter().flatten().map(|i| i.seconds).collect();
        times.sort_by(f64::total_cmp);
        let before =
            |run: &Vec<Iteration>, t: f64| run.iter().rev().find(|i| i.seconds <= t).or(run.first()).map(|i| i.error);
        let error = |t: f64| middle(&sorted(self.runs.iter().filter_map(|run| before(run, t))));
        // as many points as a picture shows
        let stride = times.len().div_ceil(100).max(1);
        self.series(times.into_iter().step_by(stride).map(|t| (1e3 * t, error(t).max(FLOOR))).collect())
    }

    fn series(&self, points: Vec<(f64, f64)>) -> Series {
        let series = Series::new(self.source.clone(), points);
        if self.source.starts_with("differences") { series.dashed() } else { series }
    }

    pub const HEAD: &str = "method               derivatives                             solved  median error  90 % below  iterations  ms each";

    pub fn line(&self) -> String {
        let iterations = self.iterations();
        format!(
            "{:<20} {:<39} {:>2}/{:<3} {:>13} {:>11} {:>11} {:>8.2}",
            self.method.name(),
            self.source,
            self.solved(),
            self.runs.len(),
            number(self.median_error()),
            number(self.high_error()),
            if iterations.is_finite() { number(iterations) } else { "–".into() },
            self.milliseconds()
        )
    }

    pub fn to_json(&self) -> Value {
        let iterations = self.iterations();
        json!({ "method": self.method.name(), "derivatives": self.source, "problems": self.runs.len(),
            "solved": self.solved(), "median_error": self.median_error(), "high_error": self.high_error(),
            "median_iterations": if iterations.is_finite() { json!(iterations) } else { Value::Null },
            "milliseconds_per_iteration": self.milliseconds(), "median_error_by_iteration": self.by_iteration().points })
    }
}

fn sorted(numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers
}

/// The median of sorted numbers: the upper one of two.
fn middle(sorted: &[f64]) -> f64 {
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipstick::linalg::MatMut;
    use slipstick::optimize::{LeastSquares, Options, minimize};

    /// Newton's iterations for xᵖ = 0 from one: the error falls by (1 − 1/p)ᵖ each time.
    struct Power(i32);

    impl LeastSquares for Power {
        type Error = std::convert::Infallible;
        fn unknowns(&self) -> usize {
            1
        }
        fn residuals(&self) -> usize {
            1
        }
        fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), Self::Error> {
            r[0] = x[0].powi(self.0);
            Ok(())
        }
        fn jacobian(&mut self, x: &[f64], mut J: MatMut) -> Result<(), Self::Error> {
            J[(0, 0)] = f64::from(self.0) * x[0].powi(self.0 - 1);
            Ok(())
        }
    }

    fn ranking(powers: &[i32], max_iterations: usize) -> Ranking {
        let options = Options { max_iterations, ..Options::default() };
        let run = |p: &i32| minimize(&mut Power(*p), &[1.0], &options, |_| ()).unwrap().iterations;
        Ranking { method: Method::GaussNewton, source: "exact".into(), runs: powers.iter().map(run).collect() }
    }

    #[test]
    fn medians_are_those_of_all_problems_solved_or_not() {
        let enough = ranking(&[1, 2, 3], 12);
        assert_eq!(enough.solved(), 3);
        // a quarter per iteration for p = 2: 4⁻¹⁰ < 1e-6
        assert_eq!(enough.iterations(), 10.0);
        assert_eq!(enough.by_iteration().points[1], (1.0, 0.25));
        let few = ranking(&[1, 2, 3], 5);
        assert_eq!((few.solved(), few.iterations()), (1, f64::INFINITY));
        assert!(few.to_json()["median_iterations"].is_null() && few.line().contains("1/3"));
    }

    #[test]
    fn errors_over_time_fall_from_the_first_to_the_last() {
        let points = ranking(&[2, 3, 4], 12).by_time().points;
        assert_eq!(points[0].1, 1.0);
        assert!(points.windows(2).all(|w| w[1].1 <= w[0].1 && w[1].0 >= w[0].0));
    }
}
