//! Whether memory grows: many steps with derivatives, many loads, and the resident memory before and after.

use crate::arguments::Arguments;
use crate::case::load_options;
use slipstick::files::{load_mjcf_str, to_mjcf};
use slipstick::{Input, Simulator, builtin, builtin_names};
use std::process::ExitCode;

/// Growth that fails (MB): pages that the allocator keeps come and go by about one.
const ALLOWED: f64 = 8.0;
/// A Jacobian is asked for once in so many steps.
const DIFFERENTIATED: u64 = 100;

pub fn main(a: &Arguments) -> Result<ExitCode, String> {
    let steps =
        growth(&format!("{} steps", a.steps.unwrap_or(1_000_000)), |part| walk(a.steps.unwrap_or(1_000_000) / part))?;
    let loads = growth(&format!("{} loads", a.loads), |part| load(a.loads / part))?;
    Ok(if steps.max(loads) <= ALLOWED { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Growth of memory over some work (MB). A tenth of it comes first: memory that is made once is no growth.
fn growth(what: &str, work: impl Fn(u64) -> Result<(), String>) -> Result<f64, String> {
    work(10)?;
    let before = resident()?;
    work(1)?;
    let after = resident()?;
    println!("{what}: {before:.1} MB before, {after:.1} MB after");
    Ok(after - before)
}

/// Steps of the quadruped, which falls and is put up again.
fn walk(steps: u64) -> Result<(), String> {
    let mut sim = Simulator::new(&builtin("quadruped").map_err(|e| e.to_string())?);
    let ctrl = vec![0.1; sim.model().nu()];
    for k in 0..steps {
        if k % 2000 == 0 {
            sim.reset();
        }
        let mut step = sim.step(&Input::ctrl(&ctrl)).map_err(|e| e.to_string())?;
        if k % DIFFERENTIATED == 0 {
            step.jacobian().map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}

/// Loads of all built-in robots, each stepped once.
fn load(loads: u64) -> Result<(), String> {
    let options = load_options();
    let texts: Vec<String> = builtin_names().filter_map(|name| builtin(name).ok()).map(|m| to_mjcf(&m)).collect();
    for k in 0..loads as usize {
        let model = load_mjcf_str("robot.xml", &texts[k % texts.len()], &options).map_err(|e| e.to_string())?;
        Simulator::new(&model).step(&Input::default()).map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// Resident memory of this process (MB).
fn resident() -> Result<f64, String> {
    let text = std::fs::read_to_string("/proc/self/status").map_err(|e| format!("/proc/self/status: {e}"))?;
    let line = text.lines().find_map(|l| l.strip_prefix("VmRSS:")).ok_or("there is no VmRSS")?;
    let kilobytes = line.trim().trim_end_matches("kB").trim().parse::<f64>().map_err(|e| e.to_string())?;
    Ok(kilobytes / 1024.0)
}
