//! `cargo xtask count`: instructions of a step, a Jacobian and a vjp per robot and pose, beside a baseline.
//!
//! Times depend on who else uses the machine, counts do not: growth by more than a twentieth fails. Counts belong to one
//! compiler, one C library and one set of vector instructions; the baseline names them, and on another machine the
//! difference is only reported.

use std::fs;
use std::process::{Command, ExitCode};
use std::thread;

use crate::process::{Outcome, Stop, ask, prepare};
use crate::system;
use crate::workspace::Workspace;

const ROBOTS: [&str; 6] = ["arm", "half_cheetah", "quadruped", "biped", "humanoid", "atlas"];
const POSES: [&str; 2] = ["stand", "fall"];
const STAGES: [&str; 3] = ["step", "jacobian", "vjp"];
const PROGRAM: &str = "release/slipstick-count"; // in the target folder
const BASELINE: &str = "bench/instructions.txt";
/// Growth that fails, in percent.
const ALLOWED: f64 = 5.0;

/// Exit code of the verb; `Err` is bad use.
pub fn main(workspace: &Workspace, args: &[String]) -> Result<ExitCode, String> {
    let update = match args {
        [] => false,
        [arg] if arg == "--update" => true,
        [arg, ..] => return Err(format!("unknown argument '{arg}' of count")),
    };
    let outcome = if update { rewrite(workspace) } else { check(workspace) };
    Ok(match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Failed(why) | Stop::NotRun(why)) => {
            eprintln!("xtask count: {why}");
            ExitCode::FAILURE
        }
    })
}

/// Counts and compares with the baseline.
pub fn check(workspace: &Workspace) -> Outcome {
    let file = workspace.root.join(BASELINE);
    let text = fs::read_to_string(&file).map_err(|e| Stop::Failed(format!("cannot read {}: {e}", file.display())))?;
    let baseline = Counts::parse(&text).map_err(|why| Stop::Failed(format!("{}: {why}", file.display())))?;
    let now = Counts::measure(workspace)?;
    let (table, grown) = compare(&baseline, &now);
    print!("{table}");
    if baseline.machine != now.machine {
        println!(
            "the baseline is of another machine, so growth is not judged\n  baseline: {}\n  here:     {}",
            baseline.machine, now.machine
        );
        return Ok(());
    }
    match grown.as_slice() {
        [] => Ok(()),
        grown => Err(Stop::Failed(format!(
            "more than {ALLOWED} % growth of {}; if it is wanted: cargo xtask count --update",
            grown.join(", ")
        ))),
    }
}

fn rewrite(workspace: &Workspace) -> Outcome {
    let now = Counts::measure(workspace)?;
    let file = workspace.root.join(BASELINE);
    fs::write(&file, now.text()).map_err(|e| Stop::Failed(format!("cannot write {}: {e}", file.display())))?;
    print!("{}", now.text());
    Ok(())
}

/// Instructions per call, by "robot pose stage".
#[derive(Debug, PartialEq)]
struct Counts {
    /// What they depend on.
    machine: String,
    rows: Vec<(String, u64)>,
}

impl Counts {
    fn parse(text: &str) -> Result<Counts, String> {
        let (mut machine, mut rows) = (String::new(), Vec::new());
        for (number, line) in text.lines().enumerate() {
            if let Some(name) = line.strip_prefix("machine: ") {
                machine = name.to_string();
            } else if !line.starts_with('#') && !line.is_empty() {
                let (name, count) = line.rsplit_once(' ').unwrap_or((line, ""));
                let count =
                    count.parse().map_err(|_| format!("line {}: expected a count, got '{line}'", number + 1))?;
                rows.push((name.trim().to_string(), count));
            }
        }
        if machine.is_empty() { Err("no line 'machine: …'".into()) } else { Ok(Counts { machine, rows }) }
    }

    fn text(&self) -> String {
        let mut text = String::from("# Instructions per call, written by `cargo xtask count --update`.\n");
        text += &format!("machine: {}\n", self.machine);
        self.rows.iter().for_each(|(name, count)| text += &format!("{name:<28} {count}\n"));
        text
    }

    fn measure(workspace: &Workspace) -> Result<Counts, Stop> {
        let valgrind = valgrind()?;
        prepare(&mut workspace.release_programs())?;
        let runs: Vec<_> = ROBOTS.iter().flat_map(|robot| POSES.iter().map(move |pose| (*robot, *pose))).collect();
        let mut rows = Vec::new();
        for together in runs.chunks(thread::available_parallelism().map_or(1, usize::from)) {
            rows.extend(count_together(workspace, valgrind, together)?);
        }
        Ok(Counts { machine: machine(workspace), rows })
    }
}

/// Compiler, C library, vector instructions.
fn machine(workspace: &Workspace) -> String {
    let rustc = ask(&mut workspace.command("rustc", &["--version"])).unwrap_or_default();
    let libc = ask(Command::new("getconf").arg("GNU_LIBC_VERSION")).unwrap_or_else(|| "unknown C library".into());
    let flags = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let vectors = ["avx2", "fma", "erms"].map(|flag| if flags.contains(flag) { flag } else { "-" }).join(" ");
    format!("{rustc}; {libc}; {vectors}")
}

pub fn valgrind() -> Result<&'static str, Stop> {
    system::program(&["valgrind"], "valgrind")
}

/// Rows of several runs, each on a core of its own, which changes no count.
fn count_together(workspace: &Workspace, valgrind: &str, runs: &[(&str, &str)]) -> Result<Vec<(String, u64)>, Stop> {
    thread::scope(|scope| {
        let start = |&(robot, pose)| scope.spawn(move || count(workspace, valgrind, robot, pose));
        let started: Vec<_> = runs.iter().map(start).collect();
        let rows = started.into_iter().map(|run| run.join().expect("a count does not panic"));
        Ok(rows.collect::<Result<Vec<_>, _>>()?.concat())
    })
}

/// Instructions per call of the three stages.
fn count(workspace: &Workspace, valgrind: &str, robot: &str, pose: &str) -> Result<Vec<(String, u64)>, Stop> {
    let output = workspace.target.join(format!("count-{robot}-{pose}.callgrind"));
    let mut command = Command::new(valgrind);
    command.args(["--tool=callgrind", "--quiet", "--collect-atstart=no"]);
    STAGES.iter().for_each(|stage| _ = command.arg(format!("--toggle-collect=*counted_{stage}*")));
    command.arg(format!("--callgrind-out-file={}", output.display()));
    prepare(command.arg(workspace.target.join(PROGRAM)).args([robot, pose]))?;
    let text =
        fs::read_to_string(&output).map_err(|e| Stop::Failed(format!("cannot read {}: {e}", output.display())))?;
    let nothing = |stage| Stop::Failed(format!("{}: nothing counted for {stage}", output.display()));
    let row = |stage| Ok((format!("{robot} {pose} {stage}"), per_call(&text, stage).ok_or_else(|| nothing(stage))?));
    STAGES.into_iter().map(row).collect()
}

/// Mean cost of the calls of `counted_<stage>` in a profile. A call is written as `cfn=(number) name`, `calls=n …` and a line
/// with its position and inclusive cost; names are spelled out once, then only numbered.
fn per_call(profile: &str, stage: &str) -> Option<u64> {
    let wanted = format!("counted_{stage}");
    let (mut numbers, mut calls, mut cost) = (Vec::new(), 0, 0);
    let mut lines = profile.lines();
    while let Some(line) = lines.next() {
        let Some((_, callee)) = line.split_once("fn=") else { continue };
        let number = callee.split(')').next()?;
        if callee.contains(&wanted) {
            numbers.push(number);
        }
        if line.starts_with("cfn=") && numbers.contains(&number) {
            let count = lines.find_map(|line| line.strip_prefix("calls="))?.split(' ').next()?;
            calls += count.parse::<u64>().ok()?;
            cost += lines.next()?.split(' ').nth(1)?.parse::<u64>().ok()?;
        }
    }
    (calls > 0).then(|| cost / calls)
}

/// A table, and the names of what has grown too much or has no baseline.
fn compare(baseline: &Counts, now: &Counts) -> (String, Vec<String>) {
    let mut table = format!("{:<28} {:>10} {:>10} {:>8}\n", "instructions per call", "baseline", "now", "growth");
    let mut grown = Vec::new();
    for (name, count) in &now.rows {
        let before = baseline.rows.iter().find(|(known, _)| known == name).map(|(_, count)| *count);
        let growth = before.map_or(f64::INFINITY, |before| 100.0 * (*count as f64 / before as f64 - 1.0));
        table += &format!("{name:<28} {:>10} {count:>10} {growth:>+7.1}%\n", before.unwrap_or(0));
        if growth > ALLOWED {
            grown.push(name.clone());
        }
    }
    (table, grown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_beyond_a_twentieth_and_unknown_rows_are_named() {
        let counts = |rows: &[(&str, u64)]| Counts {
            machine: "here".into(),
            rows: rows.iter().map(|(name, count)| (name.to_string(), *count)).collect(),
        };
        let before = counts(&[("arm stand step", 1000), ("arm stand vjp", 1000), ("arm fall vjp", 1000)]);
        let now = counts(&[("arm stand step", 1049), ("arm stand vjp", 1051), ("arm fall vjp", 10), ("new", 1)]);
        assert_eq!(compare(&before, &now).1, ["arm stand vjp", "new"]);
        assert_eq!(Counts::parse(&now.text()), Ok(now));
    }

    #[test]
    fn costs_of_calls_are_found_whether_a_name_is_spelled_out_or_numbered() {
        let profile = "fn=(1) main\n10 5\ncfn=(2) bin::counted_step::h1\ncalls=3 40\n12 300\ncfn=(3) other\ncalls=1 2\n13 7\n\
                       fn=(2)\n40 280\n\nfn=(1)\ncfn=(2)\ncalls=1 40\n14 100\n";
        assert_eq!(per_call(profile, "step"), Some(100));
        assert_eq!(per_call(profile, "vjp"), None);
    }

    #[test]
    fn a_spoilt_baseline_is_refused_by_line() {
        assert_eq!(
            Counts::parse("machine: x\narm stand step many"),
            Err("line 2: expected a count, got 'arm stand step many'".into())
        );
        assert!(Counts::parse("arm stand step 3").is_err());
    }
}
