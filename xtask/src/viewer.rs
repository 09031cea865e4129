//! The script of replays, `crates/view/web/viewer.js`: three.js and our own sources in one file, which builds of the crate
//! take as it is. `cargo xtask viewer` makes it with npm, the part `viewer` of the gate tells whether it is up to date.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::process::{Outcome, Stop, ask, prepare};
use crate::workspace::Workspace;

const WEB: &str = "crates/view/web";
const BUNDLE: &str = "viewer.js";
/// What the bundle is made of, in `WEB`.
const SOURCES: [&str; 3] = ["src", "package.json", "package-lock.json"];
const QUIET: [&str; 6] =
    ["--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1"];

/// Exit code of the verb; `Err` is bad use.
pub fn main(workspace: &Workspace, args: &[String]) -> Result<ExitCode, String> {
    if let Some(arg) = args.first() {
        return Err(format!("unknown argument '{arg}' of viewer"));
    }
    let shipped = workspace.root.join(WEB).join(BUNDLE);
    Ok(match bundle(workspace).and_then(|made| copy(&made, &shipped)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Failed(why) | Stop::NotRun(why)) => {
            eprintln!("xtask viewer: {why}");
            ExitCode::FAILURE
        }
    })
}

/// The bundle that is shipped is the one that its sources make.
pub fn check(workspace: &Workspace) -> Outcome {
    let (made, shipped) = (bundle(workspace)?, workspace.root.join(WEB).join(BUNDLE));
    if read(&made)? == read(&shipped)? {
        return Ok(());
    }
    Err(Stop::Failed(format!("{} is not what its sources make: run cargo xtask viewer", shipped.display())))
}

/// Bundles a copy of the sources in the target folder; where the bundle is.
fn bundle(workspace: &Workspace) -> Result<PathBuf, Stop> {
    if ask(&mut workspace.command("npm", &["--version"])).is_none() {
        return Err(Stop::NotRun("npm is not installed".into()));
    }
    let (web, folder) = (workspace.root.join(WEB), workspace.target.join("viewer"));
    if folder.is_dir() {
        fs::remove_dir_all(&folder).map_err(|e| failed(&folder, &e))?;
    }
    SOURCES.iter().try_for_each(|name| copy(&web.join(name), &folder.join(name)))?;
    prepare(workspace.command("npm", &["ci"]).args(QUIET).current_dir(&folder))?;
    prepare(workspace.command("npm", &["run", "--silent", "build"]).current_dir(&folder))?;
    Ok(folder.join(BUNDLE))
}

/// Copies a file, or a folder and all that is in it.
fn copy(from: &Path, to: &Path) -> Outcome {
    if from.is_dir() {
        let entries = fs::read_dir(from).map_err(|e| failed(from, &e))?;
        return entries.flatten().try_for_each(|entry| copy(&entry.path(), &to.join(entry.file_name())));
    }
    to.parent().map_or(Ok(()), fs::create_dir_all).map_err(|e| failed(to, &e))?;
    fs::copy(from, to).map(|_| ()).map_err(|e| failed(from, &e))
}

fn read(file: &Path) -> Result<Vec<u8>, Stop> {
    fs::read(file).map_err(|e| failed(file, &e))
}

fn failed(path: &Path, error: &std::io::Error) -> Stop {
    Stop::Failed(format!("{}: {error}", path.display()))
}
