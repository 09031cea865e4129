//! slipstick.torch under the system's own Python: Debian's package of PyTorch is a small build for CPUs, where the registry's
//! wheels bring gigabytes for GPUs.

use std::path::Path;
use std::process::Command;

use crate::process::{Outcome, Stop, ask, run};
use crate::python::{Packages, Venv};
use crate::system;
use crate::workspace::Workspace;

const PYTHON: &str = "/usr/bin/python3";
const TESTS: [&str; 2] = ["python/tests/test_torch.py", "python/tests/test_dlpack.py"];
const EXAMPLES: [&str; 2] = ["examples/python/torch_policy.py", "examples/python/torch_shac.py"];

/// Runs the tests and the examples with the module that the oracles' environment has built.
pub fn check(workspace: &Workspace, packages: Packages) -> Outcome {
    interpreter()?;
    Venv::ensure(workspace, packages)?.install_module(workspace, "dev")?;
    // the oracles of conftest.py are not there, and none is asked for
    let pytest = ["-m", "pytest", "--noconftest", "-q", "-rs", "-p", "no:cacheprovider"];
    run(python(workspace).args(pytest).args(TESTS))?;
    EXAMPLES.iter().try_for_each(|example| run(python(workspace).arg(example)))
}

/// A Python with PyTorch, installed if it is missing.
pub fn interpreter() -> Result<(), Stop> {
    let there = || Path::new(PYTHON).exists() && has("torch").is_some() && has("pytest").is_some();
    system::packages(&["python3-torch", "python3-pytest"], there)
}

fn has(module: &str) -> Option<String> {
    // found, not imported: that takes a second
    let find = format!("import importlib.util as u; print(u.find_spec('{module}').name)");
    ask(Command::new(PYTHON).args(["-c", &find]))
}

fn python(workspace: &Workspace) -> Command {
    let mut command = workspace.command(PYTHON, &[]);
    command.env_remove("PYTHONHOME").env_remove("VIRTUAL_ENV");
    command.env("PYTHONPATH", "python:python/tests").env("PYTHONDONTWRITEBYTECODE", "1");
    command
}
