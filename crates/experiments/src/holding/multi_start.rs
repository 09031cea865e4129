//! Searches of one kind from many starts.

use super::torques::TorquesError;
use super::{Search, Start, Task, Way};
use slipstick::optimize::OptimizeError;
use std::fmt;

/// Error that the paper reaches in about ten iterations (m/s, rad/s).
pub(super) const PAPER: f64 = 1e-5;

/// Error that is wanted in the end (m/s, rad/s).
pub(super) const SMALL: f64 = 1e-10;

/// Searches of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Searches {
    /// Their kind.
    pub way: Way,
    /// From zero.
    pub zero: Search,
    /// From random torques, by the seeds 1, 2, …
    pub random: Vec<Search>,
}

impl Searches {
    /// From zero and `starts − 1` random torques.
    pub fn of(task: Task, way: Way, starts: u64) -> Result<Searches, OptimizeError<TorquesError>> {
        let zero = task.search(way, Start::Zero)?;
        let random = (1..starts).map(|seed| task.search(way, Start::Random(seed)));
        Ok(Searches { way, zero, random: random.collect::<Result<_, _>>()? })
    }

    /// All of them, that from zero first.
    pub fn all(&self) -> impl Iterator<Item = &Search> {
        [&self.zero].into_iter().chain(&self.random)
    }

    /// How many end with an error of at most 1e-10.
    pub fn successes(&self) -> usize {
        self.all().filter(|s| s.error() <= SMALL).count()
    }

    /// The largest last error (m/s, rad/s).
    pub fn worst(&self) -> f64 {
        self.all().map(Search::error).fold(0.0, f64::max)
    }

    /// Iterations to an error of at most `error`, over the searches that reach it: the median.
    fn median_iterations(&self, error: f64) -> Option<usize> {
        let mut counts: Vec<usize> = self.all().filter_map(|s| s.iterations_to(error)).collect();
        counts.sort_unstable();
        counts.get(counts.len() / 2).copied()
    }

    /// Time of a search (ms): the median.
    fn median_time(&self) -> f64 {
        let mut times: Vec<f64> = self.all().filter_map(|s| s.seconds.last().copied()).collect();
        times.sort_by(f64::total_cmp);
        times.get(times.len() / 2).map_or(f64::NAN, |s| 1e3 * s)
    }
}

impl fmt::Display for Searches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |n: Option<usize>| n.map_or("–".to_string(), |n| n.to_string());
        let (zero, medians) = (&self.zero, [PAPER, SMALL].map(|e| count(self.median_iterations(e))));
        write!(
            f,
            "{:24} from zero {:.1e} in {:>2} iterations; of {} starts {:>2} reach 1e-10, \
             iterations to 1e-5 {:>2}, to 1e-10 {:>2}, worst {:.1e}, {:.1} ms",
            self.way.to_string(),
            zero.error(),
            zero.errors.len() - 1,
            self.all().count(),
            self.successes(),
            medians[0],
            medians[1],
            self.worst(),
            self.median_time()
        )
    }
}
