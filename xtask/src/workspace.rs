//! Where things are: the repository's root and its build folder.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

pub struct Workspace {
    pub root: PathBuf,   // repository root: every command runs here unless it says otherwise
    pub target: PathBuf, // cargo's build folder, also home of the virtual environment and the peers' programs
}

impl Workspace {
    /// The repository this program belongs to.
    ///
    /// The run-time variable comes first: a build folder shared by two clones may hold the other one's binary.
    pub fn find() -> Self {
        let manifest_dir = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let root = Path::new(&manifest_dir).parent().map_or_else(PathBuf::new, Path::to_path_buf);
        let target = root.join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()));
        Self { root, target }
    }

    /// `program args…`, to be run in the root.
    pub fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(&self.root);
        command
    }

    /// `cargo args…`. Cargo is taken from PATH, so that the printed command is the one a reader would type.
    pub fn cargo(&self, args: &[&str]) -> Command {
        self.command("cargo", args)
    }

    /// Builds the command-line tool and the program that is counted. Together their libraries are built once, and each is
    /// linked, which takes a minute, on a core of its own.
    pub fn release_programs(&self) -> Command {
        let packages = ["-p", "slipstick-cli", "-p", "slipstick-bench"];
        let mut command = self.cargo(&["build", "--release"]);
        command.args(packages).args(["--bin", "slipstick", "--bin", "slipstick-count"]);
        command
    }
}
