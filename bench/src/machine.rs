//! What figures were measured on.

use serde_json::{Value, json};
use std::fs;
use std::time::Instant;

/// The compiler that made this program (`build.rs`).
pub const RUSTC: &str = env!("SLIPSTICK_RUSTC");

/// The machine and how busy it was.
pub struct Machine {
    processor: String,
    cores: usize,
    /// Of the last minute, at the beginning.
    load: Option<String>,
    /// Least time between two readings of the clock, a part of every time that is shown (µs).
    clock_us: f64,
}

impl Machine {
    pub fn look() -> Machine {
        Machine {
            processor: processor().unwrap_or_else(|| std::env::consts::ARCH.to_string()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            load: load(),
            clock_us: clock(),
        }
    }

    /// A sentence; called at the end, whose load it adds.
    pub fn describe(&self) -> String {
        let load = match (&self.load, load()) {
            (Some(a), Some(b)) => format!(", load {a} before and {b} after"),
            _ => String::new(),
        };
        format!(
            "{}, {} cores{load}; {RUSTC}; the clock itself takes {:.3} µs of every figure",
            self.processor, self.cores, self.clock_us
        )
    }

    pub fn to_json(&self) -> Value {
        json!({ "processor": self.processor, "cores": self.cores, "rustc": RUSTC, "load_before": self.load,
            "load_after": load(), "clock_us": self.clock_us })
    }
}

fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("model name"))?;
    line.split_once(':').map(|(_, name)| name.trim().to_string())
}

fn load() -> Option<String> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').next().map(str::to_string)
}

/// How long this thread has waited for a core since it began (µs); zero where the system does not say.
pub fn waited_us() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').nth(1).and_then(|ns| ns.parse::<f64>().ok()).map_or(0.0, |ns| 1e-3 * ns)
}

fn clock() -> f64 {
    (0..1000).map(|_| Instant::now().elapsed().as_secs_f64() * 1e6).fold(f64::INFINITY, f64::min)
}
