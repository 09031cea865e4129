//! How long something takes, by the processor: other programs on the machine do not count.

use std::time::{Duration, Instant};

/// A time that runs.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch {
    begin: Instant,
    used: Option<u64>,
}

impl Stopwatch {
    pub fn start() -> Stopwatch {
        Stopwatch { begin: Instant::now(), used: used() }
    }

    /// Processor time of this thread since the start; where the system does not tell, the time that has passed.
    pub fn elapsed(&self) -> Duration {
        match (self.used, used()) {
            (Some(before), Some(now)) => Duration::from_nanos(now.saturating_sub(before)),
            _ => self.begin.elapsed(),
        }
    }
}

/// Processor time of this thread (ns).
fn used() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time() {
        let watch = Stopwatch::start();
        let sum = (0..20_000_000_u64).fold(0, |s: u64, k| s ^ std::hint::black_box(k));
        assert!(watch.elapsed() > Duration::ZERO, "{sum}");
    }
}
