//! The virtual environment with the oracles, the Python module built into it, and pytest.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use crate::process::{Outcome, Stop, ask, prepare};
use crate::workspace::Workspace;

/// The oracles, and what builds and tests the Python module.
const ORACLES: Environment =
    Environment { folder: "venv", requirements: "python/requirements-test.txt", dependencies: true };
const TESTS: &str = "python/tests";
const PROFILE: &str = "dev"; // the libraries as the Rust tests have built them

static MAKING: Mutex<()> = Mutex::new(());

/// Where pip may look for packages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Packages {
    Registry,
    LocalWheels,
}

/// A Python environment: where it is in the target folder, the file that lists its packages, and whether their
/// dependencies come along.
pub struct Environment {
    pub folder: &'static str,
    pub requirements: &'static str,
    pub dependencies: bool,
}

/// Builds the module into the environment; returns the command that runs its tests against the oracles.
pub fn module_tests(workspace: &Workspace, venv: &Venv) -> Result<Command, Stop> {
    venv.install_module(workspace, PROFILE)?;
    let mut pytest = venv.python(workspace);
    // -n: a process per core; -rs: a test skipped for want of robots or packages says so at the end
    pytest.args(["-m", "pytest", TESTS, "-n", "auto", "-q", "-rs", "-W", "ignore::DeprecationWarning"]);
    Ok(pytest)
}

/// A Python environment that holds exactly the packages of its list.
pub struct Venv {
    folder: PathBuf,
}

impl Venv {
    /// Builds the module with a profile and installs it.
    pub fn install_module(&self, workspace: &Workspace, profile: &str) -> Outcome {
        let build = ["-m", "maturin", "develop", "--quiet", "--profile", profile];
        prepare(self.python(workspace).args(build))
    }

    /// The environment of the oracles.
    pub fn ensure(workspace: &Workspace, packages: Packages) -> Result<Self, Stop> {
        Venv::of(workspace, &ORACLES, packages)
    }

    /// Makes an environment, or takes the one there is if Python and the requirements are unchanged.
    pub fn of(workspace: &Workspace, environment: &Environment, packages: Packages) -> Result<Self, Stop> {
        // who comes second waits, and finds what the first has made
        let _one_at_a_time = MAKING.lock();
        let requirements = workspace.root.join(environment.requirements);
        let text = fs::read_to_string(&requirements)
            .map_err(|error| Stop::Failed(format!("cannot read {}: {error}", requirements.display())))?;
        let version = ask(&mut workspace.command("python3", &["--version"]))
            .ok_or_else(|| Stop::NotRun("python3 is not on PATH".to_string()))?;
        let venv = Self { folder: workspace.target.join(environment.folder) };
        let stamp = stamp(&version, &text);
        if !venv.is_current(&stamp) {
            venv.make(workspace, &requirements, environment.dependencies, packages)?;
            // written last: an interrupted install leaves no stamp and is done again
            fs::write(venv.stamp_file(), stamp)
                .map_err(|error| Stop::Failed(format!("cannot write {}: {error}", venv.stamp_file().display())))?;
        }
        Ok(venv)
    }

    /// The environment's interpreter.
    pub fn interpreter(&self) -> PathBuf {
        self.folder.join("bin/python")
    }

    /// A command for the environment's interpreter, shielded from the caller's own Python settings.
    pub fn python(&self, workspace: &Workspace) -> Command {
        let mut command = workspace.command(&self.interpreter().to_string_lossy(), &[]);
        command.env_remove("PYTHONHOME").env_remove("PYTHONPATH");
        command.env("VIRTUAL_ENV", &self.folder).env("PATH", path_with_first(&self.folder.join("bin")));
        command
    }

    fn make(&self, workspace: &Workspace, requirements: &Path, dependencies: bool, packages: Packages) -> Outcome {
        prepare(workspace.command("python3", &["-m", "venv", "--clear"]).arg(&self.folder))?;
        let mut pip = self.python(workspace);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        if packages == Packages::LocalWheels {
            pip.arg("--no-index");
        }
        if !dependencies {
            pip.arg("--no-deps");
        }
        prepare(pip.arg("--requirement").arg(requirements))
    }

    fn is_current(&self, stamp: &str) -> bool {
        self.interpreter().exists() && fs::read_to_string(self.stamp_file()).is_ok_and(|found| found == stamp)
    }

    fn stamp_file(&self) -> PathBuf {
        self.folder.join("requirements.stamp")
    }
}

/// What an environment depends on, word for word: exact, and readable when it surprises.
fn stamp(version: &str, requirements: &str) -> String {
    format!("{version}\n{requirements}")
}

fn path_with_first(folder: &Path) -> std::ffi::OsString {
    let mut path = folder.as_os_str().to_owned();
    if let Some(rest) = env::var_os("PATH") {
        path.push(":");
        path.push(rest);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_is_current_only_with_an_interpreter_and_the_same_stamp() {
        let folder = env::temp_dir().join(format!("xtask-venv-{}", std::process::id()));
        let venv = Venv { folder: folder.clone() };
        let wanted = stamp("Python 3.11.7", "numpy==2\n");
        assert!(!venv.is_current(&wanted));

        fs::create_dir_all(folder.join("bin")).unwrap();
        fs::write(venv.interpreter(), "").unwrap();
        assert!(!venv.is_current(&wanted), "an install that was interrupted has no stamp");

        fs::write(venv.stamp_file(), &wanted).unwrap();
        assert!(venv.is_current(&wanted));
        assert!(!venv.is_current(&stamp("Python 3.12.0", "numpy==2\n")));
        assert!(!venv.is_current(&stamp("Python 3.11.7", "numpy==3\n")));
        fs::remove_dir_all(folder).unwrap();
    }
}
