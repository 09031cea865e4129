//! A bar on standard error that shows how far a long run is; only where someone can see it move.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

/// Nothing is shown before this time, and then so often.
const FIRST: Duration = Duration::from_millis(500);
const PERIOD: Duration = Duration::from_millis(100);
/// Steps between two looks at the clock.
const STRIDE: usize = 64;
const WIDTH: usize = 40;

pub struct Progress {
    steps: usize,
    /// What is counted.
    what: &'static str,
    /// Of them between two looks at the clock.
    stride: usize,
    begin: Instant,
    next: Duration,
    seen: bool,
    shown: bool,
}

impl Progress {
    pub fn new(steps: usize) -> Progress {
        Progress::of(steps, "steps", STRIDE)
    }

    /// Never shown.
    pub fn quiet(mut self, quiet: bool) -> Progress {
        self.seen &= !quiet;
        self
    }

    /// A bar for items that take longer than a step: `every` of them between two looks at the clock.
    pub fn of(steps: usize, what: &'static str, stride: usize) -> Progress {
        let (begin, seen) = (Instant::now(), stderr().is_terminal());
        Progress { steps, what, stride, begin, next: FIRST, seen, shown: false }
    }

    /// After so many steps.
    pub fn show(&mut self, done: usize) {
        if !self.seen || !done.is_multiple_of(self.stride) {
            return;
        }
        let elapsed = self.begin.elapsed();
        if elapsed < self.next {
            return;
        }
        (self.next, self.shown) = (elapsed + PERIOD, true);
        let _ = write!(stderr(), "\r{}", line(done, self.steps, self.what, elapsed)); // a bar that cannot be drawn is no failure
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(stderr(), "\r{}\r", " ".repeat(line(0, self.steps, self.what, FIRST).len() + WIDTH));
        }
    }
}

fn line(done: usize, steps: usize, what: &str, elapsed: Duration) -> String {
    let filled = WIDTH * done / steps.max(1);
    let (full, empty) = ("#".repeat(filled), "-".repeat(WIDTH - filled));
    let per_second = done as f64 / elapsed.as_secs_f64().max(1e-9);
    let left = (steps - done) as f64 / per_second.max(1e-9);
    format!("[{full}{empty}] {done}/{steps} {what}, {per_second:.0} per s, {left:.0} s left ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_full_as_the_work_is_done() {
        let half = line(500, 1000, "steps", Duration::from_secs(2));
        assert_eq!(half.matches('#').count(), WIDTH / 2);
        assert!(half.ends_with("500/1000 steps, 250 per s, 2 s left "), "{half}");
        assert_eq!(line(1000, 1000, "steps", Duration::from_secs(2)).matches('-').count(), 0);
    }
}
