//! Replays in a headless browser: `cargo xtask test --only replay` checks one, `cargo xtask pictures` takes those of the
//! documentation.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::process::{Outcome, Stop, ask, prepare, run};
use crate::system;
use crate::workspace::Workspace;

const SHOOT: &str = "crates/view/web/shoot.mjs";
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// Ten seconds of the quadruped may take so much.
const MOST_BYTES: u64 = 5_000_000;
/// Pages that are checked, and the runs that they show: a robot that tumbles, and every kind of shape.
const CHECKED: [(&str, &[&str]); 2] = [
    ("quadruped.html", &["quadruped", "--time", "10", "--controller", "random", "--seed", "1"]),
    ("shapes.html", &["crates/view/web/shapes.xml", "--controller", "off"]),
];
/// A picture in the repository may take so much.
const MOST_PICTURE: u64 = 150_000;

/// A picture of the documentation: the file, the run that it shows, and from where.
struct Picture {
    file: &'static str,
    run: &'static [&'static str],
    view: &'static str,
}

const PICTURES: [Picture; 1] = [Picture {
    file: "docs/figures/quadruped.png",
    run: &["quadruped", "--time", "1"],
    view: r#"{"frame": 45, "azimuth": -52, "elevation": 14, "zoom": 1.2, "width": 1120, "height": 560}"#,
}];

/// Replays open from disk, play and scrub, and are small.
pub fn check(workspace: &Workspace) -> Outcome {
    let (node, browser) = tools(workspace)?;
    let folder = folder(workspace)?;
    for (name, arguments) in CHECKED {
        let page = folder.join(name);
        film(workspace, arguments, &page)?;
        let bytes = size(&page)?;
        if bytes > MOST_BYTES {
            return Err(Stop::Failed(format!("{} has {bytes} bytes, expected at most {MOST_BYTES}", page.display())));
        }
        println!("{}: {bytes} bytes", page.display());
        run(workspace.command(&node, &[SHOOT, "check", &browser]).args([&page, &folder]))?;
    }
    Ok(())
}

/// Exit code of the verb `pictures`; `Err` is bad use.
pub fn main(workspace: &Workspace, args: &[String]) -> Result<ExitCode, String> {
    if let Some(arg) = args.first() {
        return Err(format!("unknown argument '{arg}' of pictures"));
    }
    Ok(match PICTURES.iter().try_for_each(|picture| take(workspace, picture)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Failed(why) | Stop::NotRun(why)) => {
            eprintln!("xtask pictures: {why}");
            ExitCode::FAILURE
        }
    })
}

fn take(workspace: &Workspace, picture: &Picture) -> Outcome {
    let (node, browser) = tools(workspace)?;
    let page = folder(workspace)?.join("picture.html");
    film(workspace, picture.run, &page)?;
    let file = workspace.root.join(picture.file);
    let mut shoot = workspace.command(&node, &[SHOOT, "picture", &browser]);
    run(shoot.args([&page, &file]).arg(picture.view))?;
    let bytes = size(&file)?;
    println!("{}: {bytes} bytes", picture.file);
    match bytes > MOST_PICTURE {
        true => Err(Stop::Failed(format!("{} has {bytes} bytes, expected at most {MOST_PICTURE}", picture.file))),
        false => Ok(()),
    }
}

/// `slipstick run …`, kept as a page.
fn film(workspace: &Workspace, arguments: &[&str], page: &Path) -> Outcome {
    let mut command = workspace.cargo(&["run", "--release", "--", "run"]);
    prepare(command.args(arguments).arg("--out").arg(page))
}

/// Where pages and pictures of them are left.
fn folder(workspace: &Workspace) -> Result<PathBuf, Stop> {
    let folder = workspace.target.join("replay");
    fs::create_dir_all(&folder).map_err(|e| Stop::Failed(format!("cannot make {}: {e}", folder.display())))?;
    Ok(folder)
}

fn size(file: &Path) -> Result<u64, Stop> {
    let found = fs::metadata(file).map_err(|e| Stop::Failed(format!("cannot read {}: {e}", file.display())))?;
    Ok(found.len())
}

/// Node and the browser.
pub fn tools(workspace: &Workspace) -> Result<(String, String), Stop> {
    if ask(&mut workspace.command("node", &["--version"])).is_none() {
        return Err(Stop::NotRun("node is not installed".into()));
    }
    Ok(("node".into(), system::program(&BROWSERS, "chromium")?.into()))
}
