//! Times of one derivative over many states.

use crate::report::{mean, median};
use serde_json::{Value, json};

/// Least times, one per state, NaN where there is no result; and the mean of each round, as a measure of noise.
#[derive(Clone, Default)]
pub struct Times {
    best_us: Vec<f64>,
    round_means: Vec<f64>,
}

impl Times {
    /// Another round over the same states.
    pub fn keep_better(&mut self, round: Vec<f64>) {
        self.round_means.push(mean(&finite(&round)));
        if self.best_us.is_empty() {
            self.best_us = round;
        } else {
            self.best_us.iter_mut().zip(&round).for_each(|(best, t)| *best = best.min(*t));
        }
    }

    /// The states of several motions as one list; of its rounds nothing is known.
    pub fn join<'a>(parts: impl IntoIterator<Item = &'a Times>) -> Times {
        let best_us = parts.into_iter().flat_map(|t| t.best_us.iter().copied()).collect();
        Times { best_us, round_means: Vec::new() }
    }

    /// The least times, as one round.
    pub fn best(self) -> Vec<f64> {
        self.best_us
    }

    /// Whether any state has a result.
    pub fn is_there(&self) -> bool {
        self.best_us.iter().any(|t| t.is_finite())
    }

    pub fn mean(&self) -> f64 {
        mean(&finite(&self.best_us))
    }

    /// Standard deviation over the states.
    pub fn sd(&self) -> f64 {
        let (all, mean) = (finite(&self.best_us), self.mean());
        (all.iter().map(|t| (t - mean) * (t - mean)).sum::<f64>() / all.len() as f64).sqrt()
    }

    pub fn median(&self) -> f64 {
        median(&finite(&self.best_us))
    }

    pub fn min(&self) -> f64 {
        self.best_us.iter().copied().fold(f64::NAN, f64::min)
    }

    /// How far the means of the rounds are apart, as a share of the lowest; `None` after a single round.
    pub fn spread(&self) -> Option<f64> {
        let least = self.round_means.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.round_means.iter().copied().fold(0.0, f64::max);
        (self.round_means.len() > 1 && self.is_there()).then_some(most / least - 1.0)
    }

    /// Mean over mean and median over median, of the states where both have a result.
    pub fn over(&self, other: &Times) -> Option<[f64; 2]> {
        let both = self.best_us.iter().zip(&other.best_us).filter(|(a, b)| a.is_finite() && b.is_finite());
        let (a, b): (Vec<f64>, Vec<f64>) = both.unzip();
        (!a.is_empty()).then(|| [mean(&a) / mean(&b), median(&a) / median(&b)])
    }

    pub fn to_json(&self) -> Value {
        json!({ "mean_us": self.mean(), "median_us": self.median(), "min_us": self.min(), "spread": self.spread(),
            "states": finite(&self.best_us).len() })
    }
}

fn finite(numbers: &[f64]) -> Vec<f64> {
    numbers.iter().copied().filter(|x| x.is_finite()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_taken_where_both_have_an_answer() {
        let of = |numbers: &[f64]| Times { best_us: numbers.to_vec(), ..Times::default() };
        assert_eq!(of(&[2.0, f64::NAN, 4.0]).over(&of(&[1.0, 50.0, 2.0])), Some([2.0, 2.0]));
        assert_eq!(of(&[f64::NAN]).over(&of(&[1.0])), None);
    }

    #[test]
    fn the_least_time_counts_and_rounds_show_the_noise() {
        let mut times = Times::default();
        times.keep_better(vec![2.0, 4.0]);
        times.keep_better(vec![1.0, 8.0]);
        assert_eq!((times.mean(), times.min(), times.spread()), (2.5, 1.0, Some(0.5)));
    }
}
