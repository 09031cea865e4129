//! The parent process: starts children, counts what they report, keeps what they find and goes on behind it.

use crate::arguments::Arguments;
use crate::chaos::Table;
use crate::child::{FOUND, Progress};
use crate::minimize;
use crate::target::Target;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

/// A child ends after so many seconds and another goes on: what it might have lost is not lost for long.
const SLICE: f64 = 60.0;
/// Where the table of chaos is kept while it grows.
const TABLE: &str = "chaos.md";

/// How a child ended that was not to end so.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// Its kind: findings of the same kind count as the same when an input is made smaller.
    pub kind: String,
    pub message: String,
}

/// This program again, with a limit of memory.
pub fn limited(memory: u64, words: &[String]) -> Result<Output, String> {
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut command = match memory {
        0 => Command::new(program),
        megabytes => {
            // the shell's limit holds for the program that takes its place
            let mut shell = Command::new("sh");
            shell
                .arg("-c")
                .arg(format!("ulimit -c 0; ulimit -v {} && exec \"$0\" \"$@\"", megabytes * 1024))
                .arg(program);
            shell
        }
    };
    command.args(words).output().map_err(|e| format!("cannot start a child: {e}"))
}

/// What is wrong with the way a child ended; `None`: nothing.
pub fn failure(output: &Output) -> Option<Failure> {
    if output.status.success() {
        return None;
    }
    let (said, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let line = |text: &str, word: &str| text.lines().find(|l| l.contains(word)).map(str::to_string);
    let found = said.lines().rev().find(|l| l.starts_with("finding: ")).map(str::to_string);
    let known = [
        ("panicked at", "panic"),
        ("hang:", "hang"),
        ("memory allocation of", "memory"),
        ("overflowed its stack", "stack"),
    ];
    let kind = known.iter().find(|(sign, _)| told.contains(sign));
    let (kind, message) = match (output.status.code(), found, kind) {
        (Some(code), Some(text), _) if code == i32::from(FOUND) => (of_words(&text), text),
        (_, _, Some((sign, kind))) => {
            let text = line(&told, sign).unwrap_or_default();
            let place = if *kind == "panic" {
                text.split("panicked at").nth(1).unwrap_or("").trim().to_string()
            } else {
                String::new()
            };
            (format!("{kind} {place}"), told.lines().take(4).collect::<Vec<_>>().join(" | "))
        }
        _ => (format!("{}", output.status), format!("{} {}", output.status, told.lines().last().unwrap_or_default())),
    };
    Some(Failure { kind: kind.trim().to_string(), message })
}

/// A message without its numbers.
fn of_words(text: &str) -> String {
    let is_word = |w: &&str| !w.chars().any(|c| c.is_ascii_digit());
    text.split_whitespace().filter(is_word).take(8).collect::<Vec<_>>().join(" ")
}

/// Numbers of a target.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    accepted: u64,
    refused: u64,
    findings: u64,
    longest: u64,
    longest_case: u64,
    seconds: f64,
}

pub fn fuzz(a: &Arguments) -> Result<ExitCode, String> {
    let targets = if a.targets.is_empty() { Target::ALL.to_vec() } else { a.targets.clone() };
    let share = a.time / targets.len() as f64;
    let queue = Mutex::new(targets.iter().rev().copied().collect::<Vec<_>>());
    let counts = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..a.jobs {
            scope.spawn(|| {
                while let Some(target) = queue.lock().expect("no panic in between").pop() {
                    let count = fuzz_target(a, target, share * a.jobs as f64);
                    counts.lock().expect("no panic in between").push((target, count));
                }
            });
        }
    });
    let counts = counts.into_inner().expect("no panic in between");
    println!(
        "\n{:<12} {:>10} {:>10} {:>10} {:>9} {:>12}",
        "target", "cases", "accepted", "refused", "findings", "longest"
    );
    let mut findings = 0;
    for (target, count) in counts {
        let c = count?;
        findings += c.findings;
        println!(
            "{:<12} {:>10} {:>10} {:>10} {:>9} {:>9.3} s of case {} in {:.0} s",
            target.name(),
            c.accepted + c.refused + c.findings,
            c.accepted,
            c.refused,
            c.findings,
            c.longest as f64 / 1e6,
            c.longest_case,
            c.seconds
        );
    }
    Ok(if findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Children one after the other until the time or the cases are used up.
fn fuzz_target(a: &Arguments, target: Target, time: f64) -> Result<Count, String> {
    let (begin, mut count, mut from) = (Instant::now(), Count::default(), 0);
    let (progress, mut kinds) = (progress_file(a, target.name(), 0)?, HashSet::new());
    loop {
        let left = a.cases.map_or(u64::MAX, |n| n - from.min(n));
        let time = if a.cases.is_some() { SLICE } else { time - begin.elapsed().as_secs_f64() };
        if left == 0 || time <= 0.0 {
            break;
        }
        let cases = left.min(u64::MAX / 2);
        let words = ["child", target.name(), "--seed", &a.seed.to_string(), "--from", &from.to_string()];
        let limits = [
            "--time",
            &time.min(SLICE).to_string(),
            "--cases",
            &cases.to_string(),
            "--progress",
            &progress.to_string_lossy(),
        ];
        let words: Vec<String> = words.iter().chain(&limits).map(ToString::to_string).collect();
        let output = limited(a.memory, &words)?;
        let p = told(&progress, &output)?;
        (count.accepted, count.refused) = (count.accepted + p.accepted, count.refused + p.refused);
        if p.longest > count.longest {
            (count.longest, count.longest_case) = (p.longest, p.longest_case);
        }
        from = p.case;
        if let Some(failure) = failure(&output) {
            count.findings += 1;
            keep(a, target, p.case, &failure, kinds.insert(failure.kind.clone()))?;
            from += 1;
        }
        println!(
            "{}: {} accepted, {} refused, {} findings",
            target.name(),
            count.accepted,
            count.refused,
            count.findings
        );
    }
    count.seconds = begin.elapsed().as_secs_f64();
    Ok(count)
}

/// Saves the input of a case and, of the first of its kind, a smaller one that fails alike.
fn keep(a: &Arguments, target: Target, case: u64, failure: &Failure, is_first: bool) -> Result<(), String> {
    let folder = a.out.join(target.name());
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let (input, file) = (target.input(a.seed, case), folder.join(format!("seed{}-case{case}", a.seed)));
    std::fs::write(&file, &input).map_err(|e| format!("{}: {e}", file.display()))?;
    println!("FINDING {} seed {} case {case}: {}\n  {}", target.name(), a.seed, failure.message, file.display());
    if !is_first {
        return Ok(());
    }
    let small = minimize::input(target, &input, failure, a)?;
    let least = file.with_extension("least");
    std::fs::write(&least, &small).map_err(|e| format!("{}: {e}", least.display()))?;
    println!("  {} bytes instead of {}: {}", small.len(), input.len(), least.display());
    Ok(())
}

/// How far a child came. One that came nowhere would be started for ever.
fn told(progress: &Path, output: &Output) -> Result<Progress, String> {
    let told = std::fs::read_to_string(progress).ok().and_then(|text| Progress::from_text(&text));
    told.ok_or_else(|| format!("a child ended before its first case: {}", String::from_utf8_lossy(&output.stderr)))
}

fn progress_file(a: &Arguments, name: &str, job: usize) -> Result<PathBuf, String> {
    std::fs::create_dir_all(&a.out).map_err(|e| format!("{}: {e}", a.out.display()))?;
    Ok(a.out.join(format!("progress-{name}-{job}-{}", std::process::id())))
}

/// Episodes until the steps are done, in as many processes as jobs.
pub fn chaos(a: &Arguments) -> Result<ExitCode, String> {
    let (table, wanted) = (Mutex::new(Table::default()), a.steps.unwrap_or(100_000));
    let results: Vec<_> = thread::scope(|scope| {
        let table = &table;
        let jobs: Vec<_> = (0..a.jobs).map(|job| scope.spawn(move || chaos_job(a, job, wanted, table))).collect();
        jobs.into_iter().map(|job| job.join().expect("a job ends")).collect()
    });
    results.into_iter().collect::<Result<Vec<()>, String>>()?;
    let table = table.into_inner().expect("no panic in between");
    print!("\n{}", table.text());
    Ok(if table.is_sound() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn chaos_job(a: &Arguments, job: usize, wanted: u64, table: &Mutex<Table>) -> Result<(), String> {
    let progress = progress_file(a, "chaos", job)?;
    let mut from = job as u64;
    loop {
        let done = table.lock().expect("no panic in between").steps();
        if done >= wanted {
            return Ok(());
        }
        let left = (wanted - done).div_ceil(a.jobs as u64);
        let output = limited(a.memory, &chaos_words(a, from, left, &progress))?;
        let p = told(&progress, &output)?;
        let mut table = table.lock().expect("no panic in between");
        String::from_utf8_lossy(&output.stdout).lines().for_each(|line| table.take(line));
        from = p.case;
        if let Some(failure) = failure(&output) {
            println!("FINDING chaos seed {} episode {}: {}", a.seed, p.case, failure.message);
            table.lost(&failure.kind);
            from += a.jobs as u64;
        }
        println!("{} of {wanted} steps, {} findings", table.steps(), table.findings());
        // a run of hours can be read, and stopped, at any time
        let page = a.out.join(TABLE);
        std::fs::write(&page, table.text()).map_err(|e| format!("{}: {e}", page.display()))?;
    }
}

fn chaos_words(a: &Arguments, from: u64, steps: u64, progress: &Path) -> Vec<String> {
    let mut words: Vec<String> = ["child", "chaos"].map(String::from).to_vec();
    let options = [
        ("--seed", a.seed.to_string()),
        ("--from", from.to_string()),
        ("--stride", a.jobs.to_string()),
        ("--time", SLICE.to_string()),
        ("--steps", steps.to_string()),
        ("--progress", progress.to_string_lossy().into_owned()),
        ("--out", a.out.to_string_lossy().into_owned()),
    ];
    options.into_iter().for_each(|(name, value)| words.extend([name.to_string(), value]));
    if !a.robots.is_empty() {
        words.extend(["--robots".to_string(), a.robots.join(",")]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_findings_do_not_depend_on_numbers() {
        let kind = of_words("finding: distances 1e-3 and 2e-4 from the two sides");
        assert_eq!(kind, of_words("finding: distances 5e-1 and 7e-9 from the two sides"));
        assert_ne!(kind, of_words("finding: v[1] is NaN"));
    }
}
