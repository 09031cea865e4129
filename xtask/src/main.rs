//! The repository's own commands, run as `cargo xtask VERB`: `test` checks everything, `bench` compares with peers,
//! `count` watches the number of instructions, `fuzz` and `chaos` feed it with random input, `pictures` takes those of the documentation, `viewer` bundles the script of
//! replays.
//!
//! Standard library only, so that it builds in a second on a fresh clone.

#![allow(clippy::print_stdout, clippy::print_stderr)] // a program that talks to the one who runs it

mod bench;
mod beside;
mod count;
mod examples;
mod fuzz;
mod packages;
mod process;
mod python;
mod replay;
mod report;
mod supply;
mod system;
mod test;
mod torch;
mod viewer;
mod workspace;

use std::process::ExitCode;

use workspace::Workspace;

const HELP: &str = "\
The repository's own commands.

Usage: cargo xtask VERB [ARGS…]

Verbs:
  test [--full] [--only PART]… [--list] [--offline-python]
      Runs every check, part by part, and ends with a summary. Exit code 1 if a part failed.
      --full            take all cases of the tests that have a long matrix, not one of each
      --only PART       run this part only (may be repeated)
      --list            list the parts and stop
      --offline-python  install Python packages from local wheels only (pip --no-index)
  bench dynamics [ARGS…]
      Times slipstick and Pinocchio on the same states. ARGS go to the slipstick-bench program.
  bench loading [ARGS…]
      Times slipstick and MuJoCo's compiler on the same files, and plots times over numbers of links.
  bench collision [ARGS…]
      Times slipstick and coal on the same pairs of shapes, and MuJoCo on the same scenes; --quick for a short run.
  bench step [ARGS…]
      Times whole steps of slipstick, MuJoCo and the paper's recipe on the same scenes; --quick for a short run.
      With --sweep: no times, but residuals over 120,000 random steps of all robots.
  bench gradient [ARGS…]
      Times derivatives of the step beside MuJoCo's finite differences, Pinocchio and the paper's recipe, and writes
      docs/benchmarks-gradient.md; --quick for a short run that writes nothing.
  bench table [ARGS…]
      The paper's table: slipstick beside MuJoCo, the paper's recipe, Nimble and MJX, each in an environment of its own.
      Without ARGS everything is measured and docs/benchmarks.md written; ARGS go to slipstick-bench table (--quick,
      --throughput, --growth, --html FILE, --json=FILE).
  bench solver [ARGS…] FILES
      Grades the contact solver on files of single problems, as docs/benchmarks-solver.md has it.
  bench worst [ARGS…] FILES
      Steps robots (MJCF) in 100,000 random states each and times the slowest twenty beside MuJoCo; --states N for fewer.
  bench jax [--states N] [--page FILE]
      Times slipstick.jax and MJX on the same states: compilation, steps, gradients, and counts gradients that are not finite.
  count [--update]
      Counts the instructions of a step, a Jacobian and a vjp of six robots with callgrind; exit code 1 if a count is more
      than 5 % above bench/instructions.txt. --update writes that file anew.
  bench hostile [ARGS…]
      What becomes of hundreds of bad models in slipstick, MuJoCo and Pinocchio; --page docs/reliability.md writes the table.
  fuzz [--target NAME]… [--time SECONDS] [--cases N] [--seed N] [--jobs N] [--out FOLDER]
      Random and damaged input for readers, shapes and contact problems, in child processes with limits of memory and time.
      What goes wrong is made smaller and kept in target/fuzz.
  chaos [--steps N] [--seed N] [--robots A,B,…] [--jobs N] [--out FOLDER]
      Robots in hostile states under hostile forces; ends with a table. --replay FILE takes a saved step again.
  leak [--steps N] [--loads N]
      A million steps and a thousand loads, with the memory before and after.
  pictures
      Takes the pictures of replays in docs/figures anew, with a headless Chromium.
  viewer
      Bundles three.js and crates/view/web/src into crates/view/web/viewer.js, with npm: after a change of these sources.

Examples:
  cargo xtask test
  cargo xtask test --only clippy --only tests
  cargo xtask bench dynamics --help
";

const BAD_USE: u8 = 2;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let workspace = Workspace::find();
    let result = match args.split_first() {
        None => Err("no verb given".to_string()),
        Some((verb, _)) if matches!(verb.as_str(), "--help" | "-h" | "help") => {
            print!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        Some((verb, rest)) if verb == "test" => test::main(&workspace, rest),
        Some((verb, rest)) if verb == "bench" => bench::main(&workspace, rest),
        Some((verb, rest)) if verb == "count" => count::main(&workspace, rest),
        Some((verb, rest)) if verb == "pictures" => replay::main(&workspace, rest),
        Some((verb, rest)) if matches!(verb.as_str(), "fuzz" | "chaos" | "leak") => fuzz::main(&workspace, verb, rest),
        Some((verb, rest)) if verb == "viewer" => viewer::main(&workspace, rest),
        Some((verb, _)) => {
            Err(format!("unknown verb '{verb}' (expected test, bench, count, fuzz, chaos, leak, pictures or viewer)"))
        }
    };
    result.unwrap_or_else(|message| {
        eprintln!("xtask: {message}; see cargo xtask --help");
        ExitCode::from(BAD_USE)
    })
}
