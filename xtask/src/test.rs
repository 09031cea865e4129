//! `cargo xtask test`: every check of the repository, part by part, with a summary at the end.

use std::mem::swap;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::thread;
use std::time::Instant;

use crate::beside::{self, Ended};
use crate::count;
use crate::examples;
use crate::fuzz;
use crate::packages;
use crate::process::{Outcome, Stop, ask, prepare, run, run_captured};
use crate::python::{self, Packages, Venv};
use crate::replay;
use crate::report::{PartResult, summary};
use crate::supply;
use crate::torch;
use crate::viewer;
use crate::workspace::Workspace;
use Build::{Dev, Release};

/// The README's first command, after `cargo`.
const QUICKSTART: &[&str] = &["run", "--release", "--", "run", "quadruped"];
const WASM: &str = "wasm32-unknown-unknown";

/// Read by Rust and Python tests: with it they take all cases of a long matrix, without it one.
const FULL: &str = "SLIPSTICK_FULL";

struct Part {
    name: &'static str,
    about: &'static str,
    run: Run,
    fetch: Option<fn(&Workspace, Settings)>, // gets what the part needs from elsewhere, while other parts compile
    build: Build,
}

/// Builds of one kind wait for each other, so parts of different kinds run side by side.
#[derive(Clone, Copy, PartialEq)]
enum Build {
    Dev,
    Release,
}

type Run = fn(&Workspace, Settings) -> Outcome;

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

    /// As they were given.
    fn arguments(self) -> Vec<&'static str> {
        let offline = self.packages == Packages::LocalWheels;
        [(self.full, "--full"), (offline, "--offline-python")]
            .into_iter()
            .filter_map(|(on, arg)| on.then_some(arg))
            .collect()
    }
}

const PARTS: &[Part] = &[
    part("format", "rustfmt agrees with every file", Dev, |w, _| format(w)),
    part("clippy", "no warnings, in all targets", Dev, |w, _| clippy(w)),
    part("tests", "unit and integration tests of all crates", Dev, tests),
    part("doctests", "examples in the documentation", Dev, |w, _| doctests(w)),
    part("examples", "the programs of examples/rust run and end well", Dev, |w, _| examples::check(w)),
    part("rustdoc", "documentation builds without warnings", Dev, |w, _| rustdoc(w)),
    part("wasm", "core builds for wasm32, slipstick compiles without its default features", Dev, |w, _| wasm(w)),
    part("python", "the Python module against Pinocchio and MuJoCo", Dev, python)
        .after(|w, settings| _ = Venv::ensure(w, settings.packages)),
    part("fuzz", "random files, problems and robots, a fixed seed; constant memory", Dev, |w, _| fuzz::check(w)),
    part("supply", "sources, checksums and licenses of all packages; no unsafe code elsewhere", Dev, |w, _| {
        supply::check(w)
    }),
    part("torch", "slipstick.torch under the system's Python, with its PyTorch", Dev, |w, s| {
        torch::check(w, s.packages)
    })
    .after(|_, _| _ = torch::interpreter()),
    part("packages", "crates compile outside the repository; wheel and source distribution work", Dev, |w, s| {
        packages::check(w, s.packages, s.full)
    }),
    part("quickstart", "the README's first command", Release, |w, _| quickstart(w)),
    part("viewer", "the script of replays is what its sources make", Dev, |w, _| viewer::check(w)),
    part("replay", "a replay opens from disk in a headless browser, plays and scrubs", Release, |w, s| {
        replay::check(w, s.full)
    })
    .after(|w, _| _ = replay::tools(w)),
    part("instructions", "counts of step, Jacobian and vjp beside their baseline", Release, |w, _| count::check(w))
        .after(|_, _| _ = count::valgrind()),
];

const fn part(name: &'static str, about: &'static str, build: Build, run: Run) -> Part {
    Part { name, about, run, fetch: None, build }
}

impl Part {
    const fn after(self, fetch: fn(&Workspace, Settings)) -> Part {
        Part { fetch: Some(fetch), ..self }
    }
}

/// Exit code of the verb; `Err` is bad use.
pub fn main(workspace: &Workspace, args: &[String]) -> Result<ExitCode, String> {
    let request = Request::parse(args)?;
    if request.list {
        for part in PARTS {
            println!("{:<12} {}", part.name, part.about);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let start = Instant::now();
    let results = run_all(workspace, &request);
    print!("{}", summary(&results, start.elapsed()));
    let failed = results.iter().any(|result| matches!(result.outcome, Err(Stop::Failed(_))));
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Release builds and what needs them run beside the other parts, once everything is fetched. Alone they run like any part.
fn run_all(workspace: &Workspace, request: &Request) -> Vec<PartResult> {
    let (mut parts, mut beside): (Vec<&Part>, Vec<&Part>) = request.parts.iter().partition(|part| part.build == Dev);
    if parts.is_empty() {
        swap(&mut parts, &mut beside);
    }
    if !beside.is_empty() {
        let names: Vec<_> = beside.iter().map(|part| part.name).collect();
        println!("side by side with the other parts, and shown after them: {}", names.join(", "));
    }
    let fetches = request.parts.iter().filter_map(|part| part.fetch);
    thread::scope(|scope| {
        let background = scope.spawn(|| {
            fetches.for_each(|fetch| fetch(workspace, request.settings));
            beside.iter().map(|part| beside::run(workspace, part.name, &request.settings.arguments())).collect()
        });
        let mut results: Vec<PartResult> =
            parts.iter().map(|part| run_part(workspace, part, request.settings)).collect();
        let ended: Vec<Ended> = background.join().expect("parts end with a result");
        for Ended { result, output } in ended {
            println!("{output}");
            results.push(result);
        }
        results
    })
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

fn run_part(workspace: &Workspace, part: &Part, settings: Settings) -> PartResult {
    println!("\n=== {}: {}", part.name, part.about);
    let start = Instant::now();
    let outcome = (part.run)(workspace, settings);
    let result = PartResult { name: part.name, outcome, time: start.elapsed() };
    println!("{}", result.line());
    result
}

fn format(workspace: &Workspace) -> Outcome {
    run(&mut workspace.cargo(&["fmt", "--all", "--check"]))
}

fn clippy(workspace: &Workspace) -> Outcome {
    run(&mut workspace.cargo(&["clippy", ALL, "--all-targets", "--", "-D", "warnings"]))
}

/// Every crate at once, so that all parts of a kind ask for the same features of dependencies, and share their builds.
const ALL: &str = "--workspace";

fn tests(workspace: &Workspace, settings: Settings) -> Outcome {
    let has_nextest = ask(&mut workspace.cargo(&["nextest", "--version"])).is_some();
    let runner: &[&str] = if has_nextest { &["nextest", "run"] } else { &["test"] };
    // --tests: doc tests are a part of their own, and clippy has looked at the examples
    let mut command = settings.apply(workspace.cargo(runner));
    run(command.args([ALL, "--tests", "--no-fail-fast"]))
}

fn doctests(workspace: &Workspace) -> Outcome {
    run(&mut workspace.cargo(&["test", "--doc", ALL, "--no-fail-fast"]))
}

fn rustdoc(workspace: &Workspace) -> Outcome {
    run(workspace.cargo(&["doc", "--no-deps", ALL]).env("RUSTDOCFLAGS", "-D warnings"))
}

fn wasm(workspace: &Workspace) -> Outcome {
    let libraries = ask(&mut workspace.command("rustc", &["--print", "target-libdir", "--target", WASM]));
    if !libraries.is_some_and(|folder| Path::new(&folder).is_dir()) {
        run(&mut workspace.command("rustup", &["target", "add", WASM]))
            .map_err(|_| Stop::NotRun(format!("the target {WASM} is not installed and rustup cannot add it")))?;
    }
    // whether they build is asked, not how fast they run: a third of the time
    let bare = ["check", "--package", "slipstick", "--no-default-features", "--target", WASM];
    for arguments in [&bare[..], &["build", "--package", "slipstick-core", "--target", WASM]] {
        run(workspace.cargo(arguments).env("CARGO_PROFILE_DEV_OPT_LEVEL", "0"))?;
    }
    Ok(())
}

fn python(workspace: &Workspace, settings: Settings) -> Outcome {
    let venv = Venv::ensure(workspace, settings.packages)?;
    run(&mut settings.apply(python::module_tests(workspace, &venv)?))
}

fn quickstart(workspace: &Workspace) -> Outcome {
    prepare(&mut workspace.release_programs())?;
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
    fn parts_that_run_beside_the_others_get_the_same_settings() {
        for args in [&[][..], &["--full"], &["--full", "--offline-python"]] {
            let settings = request(args).unwrap().settings;
            assert_eq!(settings.arguments(), args);
            assert_eq!(request(&settings.arguments()).unwrap().settings, settings);
        }
    }
}
