//! `cargo xtask bench WHAT`: slipstick beside its peers in one run. `dynamics`: Pinocchio, on the same states; `loading`:
//! MuJoCo's compiler, on the same files; `collision`: coal on the same pairs of shapes, MuJoCo on the same scenes;
//! `step` and `gradient`: MuJoCo and the paper's recipe on the same scenes; `table`: the paper's table beside all peers;
//! `solver FILES`: the contact solver on files of single problems; `worst FILES`: the slowest of many random states of robots,
//! beside MuJoCo; `coverage`: which of MuJoCo's models load here and move as there; `hostile`: what becomes
//! of bad models; `jax`: `slipstick.jax` beside MJX.

use std::env;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::process::{Outcome, Stop, prepare, run};
use crate::python::{Environment, Packages, Venv};
use crate::workspace::Workspace;

/// Scripts that compile a peer, given an interpreter that has it and the output folder; and the program left there.
const PINOCCHIO: [&str; 2] = ["bench/pinocchio/build.sh", "pinocchio_dynamics"];
const COAL: [&str; 2] = ["bench/coal/build.sh", "coal_distance"];
const MUJOCO: [&str; 2] = ["bench/mujoco/build.sh", "mujoco_collision"];
const MUJOCO_STEP: [&str; 2] = ["bench/mujoco/step.sh", "mujoco_step"];
const RECIPE: [&str; 2] = ["bench/pinocchio/step.sh", "pinocchio_step"];
const MUJOCO_GRADIENT: [&str; 2] = ["bench/mujoco/gradient.sh", "mujoco_gradient"];
const RECIPE_GRADIENT: [&str; 2] = ["bench/pinocchio/gradient.sh", "pinocchio_gradient"];
const PACKAGE: &str = "slipstick-bench"; // package and binary
const EXPECTED: &str =
    "expected dynamics, loading, collision, step, gradient, table, solver, worst, coverage, hostile or jax";
/// Peers that do not go together with the others in one environment.
const NIMBLE: Environment =
    Environment { folder: "venv-nimble", requirements: "bench/nimble/requirements.txt", dependencies: false };
const MJX: Environment =
    Environment { folder: "venv-mjx", requirements: "bench/mjx/requirements.txt", dependencies: true };
/// Where the robots of the paper's table are, if not in SLIPSTICK_MODELS.
const MODELS: &str = "../shared/models";
const LOADING_PLOT: &str = "docs/figures/loading.svg";
const COLLISION_PLOT: &str = "docs/figures/collision.svg";
const TABLE_PAGE: &str = "docs/benchmarks.md";
const GRADIENT_PAGE: &str = "docs/benchmarks-gradient.md";

/// Exit code of the verb; `Err` is bad use.
pub fn main(workspace: &Workspace, args: &[String]) -> Result<ExitCode, String> {
    let outcome = match args.split_first() {
        Some((what, rest)) if what == "dynamics" => dynamics(workspace, rest),
        Some((what, rest)) if what == "loading" => loading(workspace, rest),
        Some((what, rest)) if what == "collision" => collision(workspace, rest),
        Some((what, rest)) if what == "step" => step(workspace, rest),
        Some((what, rest)) if what == "gradient" => gradient(workspace, rest),
        Some((what, rest)) if what == "table" => table(workspace, rest),
        Some((what, rest)) if what == "solver" => solver(workspace, rest),
        Some((what, rest)) if what == "worst" => worst(workspace, rest),
        Some((what, rest)) if what == "coverage" => coverage(workspace, rest),
        Some((what, rest)) if what == "hostile" => hostile(workspace, rest),
        Some((what, rest)) if what == "jax" => jax(workspace, rest),
        Some((what, _)) => return Err(format!("unknown benchmark '{what}' ({EXPECTED})")),
        None => return Err(format!("bench needs the name of a benchmark ({EXPECTED})")),
    };
    Ok(match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Failed(message) | Stop::NotRun(message)) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    })
}

/// Preparations speak on standard error, so that standard output is the benchmark's own.
fn dynamics(workspace: &Workspace, args: &[String]) -> Outcome {
    let venv = Venv::ensure(workspace, Packages::Registry)?;
    let pinocchio = build_peer(workspace, &venv, PINOCCHIO)?;
    let mut bench = bench(workspace, &["dynamics", "--pinocchio"])?;
    run(bench.arg(pinocchio).args(args))
}

fn loading(workspace: &Workspace, args: &[String]) -> Outcome {
    let venv = Venv::ensure(workspace, Packages::Registry)?;
    let mut bench = bench(workspace, &["loading", "--plot", LOADING_PLOT, "--python"])?;
    run(bench.arg(venv.interpreter()).args(args))
}

fn collision(workspace: &Workspace, args: &[String]) -> Outcome {
    let venv = Venv::ensure(workspace, Packages::Registry)?;
    let (coal, mujoco) = (build_peer(workspace, &venv, COAL)?, build_peer(workspace, &venv, MUJOCO)?);
    let mut bench = bench(workspace, &["collision"])?;
    if is_whole(args) {
        bench.args(["--plot", COLLISION_PLOT]);
    }
    bench.arg("--python").arg(venv.interpreter()).arg("--coal").arg(coal).arg("--mujoco").arg(mujoco);
    run(bench.args(args))
}

fn step(workspace: &Workspace, args: &[String]) -> Outcome {
    if args.iter().any(|a| a == "--sweep") {
        return run(bench(workspace, &["step"])?.args(args)); // needs no peer
    }
    run(beside(workspace, "step", MUJOCO_STEP, RECIPE)?.args(args))
}

fn gradient(workspace: &Workspace, args: &[String]) -> Outcome {
    let mut bench = beside(workspace, "gradient", MUJOCO_GRADIENT, RECIPE_GRADIENT)?;
    if is_whole(args) {
        bench.args(["--page", GRADIENT_PAGE]);
    }
    run(bench.args(args))
}

fn solver(workspace: &Workspace, args: &[String]) -> Outcome {
    run(bench(workspace, &["solver"])?.args(args))
}

/// From Python, with the module that users get.
fn worst(workspace: &Workspace, args: &[String]) -> Outcome {
    let venv = Venv::ensure(workspace, Packages::Registry)?;
    venv.install_module(workspace, "release")?;
    run(venv.python(workspace).arg("bench/worst_steps.py").args(args))
}

/// From Python, as users load.
fn coverage(workspace: &Workspace, args: &[String]) -> Outcome {
    let venv = Venv::ensure(workspace, Packages::Registry)?;
    venv.install_module(workspace, "release")?;
    run(venv.python(workspace).arg("bench/coverage.py").args(args))
}

/// From Python, where its peers are.
fn hostile(workspace: &Workspace, args: &[String]) -> Outcome {
    let venv = Venv::ensure(workspace, Packages::Registry)?;
    venv.install_module(workspace, "release")?;
    run(venv.python(workspace).arg("bench/hostile.py").args(args))
}

/// slipstick.jax and MJX in one environment, with the wheel that users get.
fn jax(workspace: &Workspace, args: &[String]) -> Outcome {
    let (builder, folder) = (Venv::ensure(workspace, Packages::Registry)?, workspace.target.join("wheel-jax"));
    let venv = Venv::of(workspace, &MJX, Packages::Registry)?;
    prepare(builder.python(workspace).args(["-m", "maturin", "build", "--release", "--quiet", "--out"]).arg(&folder))?;
    let install = ["-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", "--find-links"];
    prepare(venv.python(workspace).args(install).arg(&folder).args(["--no-index", "slipstick"]))?;
    run(venv.python(workspace).arg("bench/jax_overhead.py"))?;
    run(venv.python(workspace).arg("bench/jax_peers.py").args(args))
}

/// `slipstick-bench table --peers`, with an environment for every peer that can be had; the tool names those that cannot. Without
/// further arguments it measures everything and writes the page.
fn table(workspace: &Workspace, args: &[String]) -> Outcome {
    let venv = Venv::ensure(workspace, Packages::Registry)?;
    let mut bench = bench(workspace, &["table", "--peers", "--python"])?;
    bench.arg(venv.interpreter()).arg("--programs").arg(workspace.target.join("bench"));
    for (option, environment) in [("--nimble", NIMBLE), ("--mjx", MJX)] {
        match Venv::of(workspace, &environment, Packages::Registry) {
            Ok(venv) => _ = bench.arg(option).arg(venv.interpreter()),
            Err(Stop::Failed(why) | Stop::NotRun(why)) => eprintln!("xtask: {option} is NOT RUN: {why}"),
        }
    }
    if args.is_empty() {
        bench.args(["--throughput", "--growth", "--page", TABLE_PAGE]);
    }
    let models = env::var_os("SLIPSTICK_MODELS").map_or(workspace.root.join(MODELS), PathBuf::from);
    if models.is_dir() && !args.iter().any(|a| a.starts_with("--models")) {
        bench.arg("--models").arg(models);
    }
    run(bench.args(args))
}

/// A benchmark on scenes prepared by MuJoCo, beside it and the paper's recipe.
fn beside(workspace: &Workspace, what: &str, mujoco: [&str; 2], recipe: [&str; 2]) -> Result<Command, Stop> {
    let venv = Venv::ensure(workspace, Packages::Registry)?;
    let (mujoco, recipe) = (build_peer(workspace, &venv, mujoco)?, build_peer(workspace, &venv, recipe)?);
    let mut bench = bench(workspace, &[what])?;
    bench.arg("--python").arg(venv.interpreter()).arg("--mujoco").arg(mujoco).arg("--recipe").arg(recipe);
    Ok(bench)
}

/// Figures of a short or partial run are not worth keeping.
fn is_whole(args: &[String]) -> bool {
    !args.iter().any(|a| a == "--quick" || a.starts_with("--only"))
}

fn build_peer(workspace: &Workspace, venv: &Venv, [script, program]: [&str; 2]) -> Result<PathBuf, Stop> {
    let folder = workspace.target.join("bench");
    prepare(workspace.command("bash", &[script]).arg(venv.interpreter()).arg(&folder))?;
    Ok(folder.join(program))
}

/// The program. It keeps hulls in a folder of its own: what the user has in the cache changes no figure.
fn bench(workspace: &Workspace, args: &[&str]) -> Result<Command, Stop> {
    prepare(&mut workspace.cargo(&["build", "--release", "--package", PACKAGE]))?;
    let program = workspace.target.join("release").join(PACKAGE);
    let mut command = workspace.command(&program.to_string_lossy(), args);
    command.env("SLIPSTICK_CACHE", workspace.target.join("bench/hulls"));
    Ok(command)
}
