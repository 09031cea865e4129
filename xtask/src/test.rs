//! `cargo xtask test`: every check of the repository, part by part, with a summary at the end.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use crate::count;
use crate::process::{Outcome, Stop, ask, run, run_captured};
use crate::python::{self, Packages, Venv};
use crate::replay;
use crate::workspace::Workspace;

/// The README's first command, after `cargo`.
const QUICKSTART: &[&str] = &["run", "--release", "--", "run", "quadruped"];
const WASM: &str = "wasm32-unknown-unknown";

/// Read by Rust and Python tests: with it they take all cases of a long matrix, without it one.
const FULL: &str = "SLIPSTICK_FULL";

/// What the arguments say to all parts.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Settings {
    packages: Packages,
    full: bool, // all cases of long matrices
}

impl Settings {
    /// The command, told to take all cases if that is wanted.
    fn apply(self, mut command: Command) -> Command {
        if self.full {
            command.env(FULL, "1");
        }
        command
    }
}

struct Part {
    name: &'static str,
    about: &'static str,
    run: fn(&Workspace, Settings) -> Outcome,
}

const PARTS: &[Part] = &[
    Part { name: "format", about: "rustfmt agrees with every file", run: |w, _| format(w) },
    Part { name: "clippy", about: "no warnings, in all targets", run: |w, _| clippy(w) },
    Part { name: "tests", about: "unit and integration tests of all crates", run: tests },
    Part { name: "doctests", about: "examples in the documentation", run: |w, _| doctests(w) },
    Part { name: "rustdoc", about: "documentation builds without warnings", run: |w, _| rustdoc(w) },
    Part { name: "wasm", about: "core builds for wasm32", run: |w, _| wasm(w) },
    Part { name: "python", about: "the Python module against Pinocchio and MuJoCo", run: python },
    Part { name: "quickstart", about: "the README's first command", run: |w, _| quickstart(w) },
    Part {
        name: "replay",
        about: "a replay opens from disk in a headless browser, plays and scrubs",
        run: |w, _| replay::check(w),
    },
    Part {
        name: "instructions",
        about: "counts of step, Jacobian and vjp beside their baseline",
        run: |w, _| count::check(w),
    },
];

/// Exit code of the verb; `Err` is bad use.
pub fn main(workspace: &Workspace, args: &[String]) -> Result<ExitCode, String> {
    let request = Request::parse(args)?;
    if request.list {
        for part in PARTS {
            println!("{:<12} {}", part.name, part.about);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let results: Vec<PartResult> =
        request.parts.iter().map(|part| run_part(workspace, part, request.settings)).collect();
    print!("{}", summary(&results));
    let failed = results.iter().any(|result| matches!(result.outcome, Err(Stop::Failed(_))));
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

struct Request {
    parts: Vec<&'static Part>, // in the order of PARTS, whatever the order of the arguments
    list: bool,
    settings: Settings,
}

impl Request {
    fn parse(args: &[String]) -> Result<Self, String> {
        let (mut only, mut list) = (Vec::new(), false);
        let mut settings = Settings { packages: Packages::Registry, full: false };
        let mut args = args.iter().map(String::as_str);
        while let Some(arg) = args.next() {
            match arg {
                "--list" => list = true,
                "--full" => settings.full = true,
                "--offline-python" => settings.packages = Packages::LocalWheels,
                "--only" => only.push(known_part(args.next().ok_or("--only needs the name of a part")?)?),
                _ => return Err(format!("unknown argument '{arg}' of test")),
            }
        }
        let parts = PARTS.iter().filter(|part| only.is_empty() || only.contains(&part.name)).collect();
        Ok(Self { parts, list, settings })
    }
}

fn known_part(name: &str) -> Result<&'static str, String> {
    let names: Vec<_> = PARTS.iter().map(|part| part.name).collect();
    let unknown = || format!("unknown part '{name}' (expected one of {})", names.join(", "));
    names.iter().copied().find(|known| *known == name).ok_or_else(unknown)
}

struct PartResult {
    name: &'static str,
    outcome: Outcome,
    time: Duration,
}

fn run_part(workspace: &Workspace, part: &Part, settings: Settings) -> PartResult {
    println!("\n=== {}: {}", part.name, part.about);
    let start = Instant::now();
    let outcome = (part.run)(workspace, settings);
    let time = start.elapsed();
    let seconds = time.as_secs_f64();
    match &outcome {
        Ok(()) => println!("--- {}: passed in {seconds:.1} s", part.name),
        Err(Stop::Failed(why)) => println!("--- {}: FAILED after {seconds:.1} s: {why}", part.name),
        Err(Stop::NotRun(why)) => println!("--- {}: NOT RUN: {why}", part.name),
    }
    PartResult { name: part.name, outcome, time }
}

/// Table of the parts, then one plain line of counts, which is the last.
fn summary(results: &[PartResult]) -> String {
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    let mut text = String::from("\npart          result    seconds\n");
    for PartResult { name, outcome, time } in results {
        let (count, word, why) = match outcome {
            Ok(()) => (&mut passed, "passed", ""),
            Err(Stop::Failed(why)) => (&mut failed, "FAILED", why.as_str()),
            Err(Stop::NotRun(why)) => (&mut skipped, "NOT RUN", why.as_str()),
        };
        *count += 1;
        let row = format!("{name:<12}  {word:<7}  {:>8.1}  {why}", time.as_secs_f64());
        text += row.trim_end();
        text += "\n";
    }
    let total: Duration = results.iter().map(|result| result.time).sum();
    text += &format!("{:<12}  {:<7}  {:>8.1}\n\n", "total", "", total.as_secs_f64());
    text += &format!("{passed} passed, {failed} failed");
    if skipped > 0 {
        text += &format!(", {skipped} skipped");
    }
    text + "\n"
}

fn format(workspace: &Workspace) -> Outcome {
    run(&mut workspace.cargo(&["fmt", "--all", "--check"]))
}

fn clippy(workspace: &Workspace) -> Outcome {
    run(&mut workspace.cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

/// The Python module is tested from Python: as an extension it does not link without an interpreter.
const RUST_ONLY: [&str; 3] = ["--workspace", "--exclude", "slipstick-python"];

fn tests(workspace: &Workspace, settings: Settings) -> Outcome {
    let has_nextest = ask(&mut workspace.cargo(&["nextest", "--version"])).is_some();
    // --tests keeps `cargo test` from running the doc tests, which are a part of their own
    let runner: &[&str] = if has_nextest { &["nextest", "run"] } else { &["test", "--tests"] };
    let mut command = settings.apply(workspace.cargo(runner));
    run(command.args(RUST_ONLY).arg("--no-fail-fast"))
}

fn doctests(workspace: &Workspace) -> Outcome {
    run(workspace.cargo(&["test", "--doc"]).args(RUST_ONLY).arg("--no-fail-fast"))
}

fn rustdoc(workspace: &Workspace) -> Outcome {
    run(workspace.cargo(&["doc", "--no-deps", "--workspace"]).env("RUSTDOCFLAGS", "-D warnings"))
}

fn wasm(workspace: &Workspace) -> Outcome {
    let libraries = ask(&mut workspace.command("rustc", &["--print", "target-libdir", "--target", WASM]));
    if !libraries.is_some_and(|folder| Path::new(&folder).is_dir()) {
        run(&mut workspace.command("rustup", &["target", "add", WASM]))
            .map_err(|_| Stop::NotRun(format!("the target {WASM} is not installed and rustup cannot add it")))?;
    }
    run(&mut workspace.cargo(&["build", "--package", "slipstick-core", "--target", WASM]))
}

fn python(workspace: &Workspace, settings: Settings) -> Outcome {
    let venv = Venv::ensure(workspace, settings.packages)?;
    run(&mut settings.apply(python::module_tests(workspace, &venv)?))
}

fn quickstart(workspace: &Workspace) -> Outcome {
    let output = run_captured(&mut workspace.cargo(QUICKSTART))?;
    if output.trim().is_empty() { Err(Stop::Failed("the command printed nothing".to_string())) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::describe;

    fn request(args: &[&str]) -> Result<Request, String> {
        Request::parse(&args.iter().map(|arg| arg.to_string()).collect::<Vec<_>>())
    }

    fn result(name: &'static str, outcome: Outcome) -> PartResult {
        PartResult { name, outcome, time: Duration::from_millis(1500) }
    }

    #[test]
    fn without_arguments_every_part_is_run() {
        let request = request(&[]).unwrap();
        assert_eq!(request.parts.len(), PARTS.len());
        assert_eq!(request.settings, Settings { packages: Packages::Registry, full: false });
        assert!(!request.list);
    }

    #[test]
    fn chosen_parts_run_in_the_usual_order() {
        let request = request(&["--only", "wasm", "--offline-python", "--only", "format"]).unwrap();
        assert_eq!(request.parts.iter().map(|part| part.name).collect::<Vec<_>>(), ["format", "wasm"]);
        assert_eq!(request.settings.packages, Packages::LocalWheels);
    }

    #[test]
    fn only_a_full_run_tells_tests_to_take_all_cases() {
        for (args, wanted) in [(&[][..], "cargo test"), (&["--full"], "SLIPSTICK_FULL=1 cargo test")] {
            let mut command = Command::new("cargo");
            command.arg("test");
            assert_eq!(describe(&request(args).unwrap().settings.apply(command)), wanted);
        }
    }

    #[test]
    fn bad_arguments_are_refused_by_name() {
        assert!(request(&["--only", "lint"]).is_err_and(|message| message.contains("'lint'")));
        assert!(request(&["--only"]).is_err_and(|message| message.contains("--only")));
        assert!(request(&["--fast"]).is_err_and(|message| message.contains("'--fast'")));
    }

    #[test]
    fn the_last_line_counts_the_parts() {
        let clean = [result("format", Ok(())), result("clippy", Ok(()))];
        assert_eq!(summary(&clean).lines().last(), Some("2 passed, 0 failed"));

        let mixed = [
            result("format", Ok(())),
            result("clippy", Err(Stop::Failed("cargo: exit status: 101".to_string()))),
            result("wasm", Err(Stop::NotRun("no target".to_string()))),
        ];
        let text = summary(&mixed);
        assert_eq!(text.lines().last(), Some("1 passed, 1 failed, 1 skipped"));
        assert!(text.contains("clippy        FAILED        1.5  cargo: exit status: 101"), "{text}");
        assert!(text.contains("wasm          NOT RUN       1.5  no target"), "{text}");
        assert!(text.contains("total                       4.5"), "{text}");
    }
}
