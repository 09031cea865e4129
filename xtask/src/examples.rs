//! The example programs in Rust: each runs and ends well.

use std::fs;
use std::path::Path;

use crate::process::{Outcome, Stop, prepare, run};
use crate::workspace::Workspace;

const FOLDER: &str = "examples/rust";
const PACKAGE: [&str; 2] = ["--package", "slipstick-examples"];

/// Programs check their own results. What they write goes into a folder that is theirs.
pub fn check(workspace: &Workspace) -> Outcome {
    prepare(workspace.cargo(&["build", "--quiet", "--examples"]).args(PACKAGE))?;
    let out = workspace.target.join("examples-output");
    fs::create_dir_all(&out).map_err(|e| failed(&out, &e))?;
    for name in names(&workspace.root.join(FOLDER))? {
        let mut program = workspace.cargo(&["run", "--quiet"]);
        run(program.args(PACKAGE).args(["--example", &name, "--"]).arg(&out))?;
    }
    Ok(())
}

/// Files of the folder, without their ending.
fn names(folder: &Path) -> Result<Vec<String>, Stop> {
    let files = fs::read_dir(folder).map_err(|e| failed(folder, &e))?.flatten().map(|entry| entry.path());
    let programs = files.filter(|file| file.extension().is_some_and(|ending| ending == "rs"));
    let mut names: Vec<_> =
        programs.filter_map(|file| Some(file.file_stem()?.to_string_lossy().into_owned())).collect();
    names.sort();
    if names.is_empty() { Err(Stop::Failed(format!("{} has no programs", folder.display()))) } else { Ok(names) }
}

fn failed(path: &Path, error: &std::io::Error) -> Stop {
    Stop::Failed(format!("{}: {error}", path.display()))
}
