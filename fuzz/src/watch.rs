//! A limit of processor time per case: whoever exceeds it is named and aborted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Between two looks.
const PERIOD: Duration = Duration::from_millis(200);
/// Of the kernel's counters of processor time: the same on all Linux systems (1/s).
const TICKS: f64 = 100.0;

/// Cases are announced to the watch; a thread looks how long they take.
#[derive(Debug, Clone)]
pub struct Watch(Arc<AtomicU64>);

impl Watch {
    /// No case may take more seconds of processor time.
    pub fn start(limit: f64) -> Watch {
        let case = Arc::new(AtomicU64::new(u64::MAX));
        let seen = case.clone();
        thread::spawn(move || {
            let (began, mut last, mut since) = (Instant::now(), u64::MAX, 0.0);
            loop {
                thread::sleep(PERIOD);
                let (now, case) = (used(began), seen.load(Ordering::Relaxed));
                if case != last {
                    (last, since) = (case, now);
                } else if case != u64::MAX && now - since > limit {
                    eprintln!("hang: case {case} has taken {:.1} s", now - since);
                    std::process::abort();
                }
            }
        });
        Watch(case)
    }

    pub fn begin(&self, case: u64) {
        self.0.store(case, Ordering::Relaxed);
    }
}

/// Processor time of this process (s); where the system does not tell, the time since a moment.
fn used(began: Instant) -> f64 {
    let ticks = || {
        let text = std::fs::read_to_string("/proc/self/stat").ok()?;
        // behind the name, which may hold anything: user and system time are the 12th and 13th
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        Some(fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?)
    };
    ticks().map_or_else(|| began.elapsed().as_secs_f64(), |ticks| ticks / TICKS)
}
