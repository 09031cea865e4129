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
const MOST_BYTES: u64 = 2_000_000;
/// Pages that are checked, and the runs that they show: a robot that tumbles, with a gradient and a ghost, and every kind of shape.
const CHECKED: [(&str, &[&str]); 2] = [
    ("quadruped.html", &["quadruped", "--time", "10", "--controller", "random", "--seed", "1"]),
    ("shapes.html", &["crates/view/web/shapes.xml", "--controller", "off"]),
];
/// A page with the visual meshes of a robot may take so much.
const MOST_VISUAL_BYTES: u64 = 8_000_000;
const DERIVATIVES: (&str, &[&str]) =
    ("derivatives.html", &["quadruped", "--time", "0.5", "--gradient", "velocity:trunk:x", "--perturb", "v:root[0]=1"]);
/// With `--full`: where our robots are, and others that pip packages bring into the Python environment.
const ROBOTS: &str = "crates/slipstick/models";
const THIRD_PARTY: [&str; 3] = [
    "gymnasium/envs/mujoco/assets/humanoid.xml",
    "dm_control/suite/dog.xml",
    "cmeel.prefix/share/example-robot-data/robots/panda_description/urdf/panda.urdf",
];
/// A picture in the repository may take so much, one that moves so much.
const MOST_PICTURE: u64 = 250_000;
const MOST_MOTION: u64 = 600_000;

/// A picture of the documentation: the file, the page that it shows, and from where.
struct Picture {
    file: &'static str,
    page: Page,
    /// `picture` or `animate` of `shoot.mjs`.
    verb: &'static str,
    view: &'static str,
}

/// Where a page comes from.
enum Page {
    /// Arguments of `slipstick run`.
    Run(&'static [&'static str]),
    /// An example of `examples/rust`, and the page that it leaves.
    Example(&'static str, &'static str),
}

const PUSHED: Page = Page::Example("replay_gradients", "pushed.html");
const PICTURES: [Picture; 4] = [
    Picture {
        file: "docs/figures/quadruped.png",
        page: Page::Run(&["quadruped", "--time", "1"]),
        verb: "picture",
        view: r#"{"frame": 45, "azimuth": -52, "elevation": 14, "zoom": 1.2, "width": 1120, "height": 560}"#,
    },
    Picture {
        file: "docs/figures/pushed.png",
        page: PUSHED,
        verb: "animate",
        view: r#"{"width": 1280, "height": 640, "every": 2, "rate": 20, "zoom": 1.3, "elevation": 12, "set": {"cones": true}}"#,
    },
    Picture {
        file: "docs/figures/page.png",
        page: PUSHED,
        verb: "picture",
        view: r#"{"frame": 16, "bare": false, "width": 1280, "height": 720, "set": {"plots-switch": true}}"#,
    },
    Picture {
        file: "docs/figures/dark.png",
        page: PUSHED,
        verb: "picture",
        view: r#"{"frame": 20, "bare": false, "width": 1120, "height": 560, "zoom": 1.3,
                  "set": {"dark": true, "names": true, "frames": true, "changed": false}}"#,
    },
];

/// Replays open from disk, play and scrub, and are small; `full`: those of all robots.
pub fn check(workspace: &Workspace, full: bool) -> Outcome {
    let (node, browser) = tools(workspace)?;
    let folder = folder(workspace)?;
    let open = |name: &str, arguments: &[&str], most: u64| {
        let page = folder.join(name);
        // what has no actuators is drawn aside
        let mut off: Vec<&str> = arguments.iter().map(|a| if *a == "random" { "off" } else { a }).collect();
        off.extend(["--gravity", "6,0,-9.81"]);
        film(workspace, arguments, &page).or_else(|_| film(workspace, &off, &page))?;
        let bytes = size(&page)?;
        if bytes > most {
            return Err(Stop::Failed(format!("{} has {bytes} bytes, expected at most {most}", page.display())));
        }
        println!("{}: {bytes} bytes", page.display());
        run(workspace.command(&node, &[SHOOT, "check", &browser]).args([&page, &folder]))
    };
    for (name, arguments) in CHECKED.into_iter().chain([DERIVATIVES]) {
        open(name, arguments, MOST_BYTES)?;
    }
    if full {
        for robot in robots(workspace)? {
            let name = robot.file_stem().unwrap_or_default().to_string_lossy();
            let robot = robot.to_string_lossy();
            open(&format!("{name}.html"), &[&robot, "--time", "0.5", "--controller", "random"], MOST_VISUAL_BYTES)?;
        }
    }
    Ok(())
}

/// Our robots, and those of others that are there.
fn robots(workspace: &Workspace) -> Result<Vec<PathBuf>, Stop> {
    let folder = workspace.root.join(ROBOTS);
    let files = fs::read_dir(&folder).map_err(|e| Stop::Failed(format!("cannot read {}: {e}", folder.display())))?;
    let is_model = |file: &PathBuf| file.extension().is_some_and(|ending| ending == "xml");
    let mut robots: Vec<PathBuf> = files.flatten().map(|entry| entry.path()).filter(is_model).collect();
    robots.sort();
    let packages = workspace.target.join("venv/lib");
    let versions: Vec<PathBuf> = fs::read_dir(packages).into_iter().flatten().flatten().map(|e| e.path()).collect();
    for name in THIRD_PARTY {
        let found = versions.iter().map(|version| version.join("site-packages").join(name)).find(|file| file.is_file());
        match found {
            Some(file) => robots.push(file),
            None => println!("{name} is not there: its package comes with the part python"),
        }
    }
    Ok(robots)
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
    let page = match picture.page {
        Page::Run(arguments) => {
            let page = folder(workspace)?.join("picture.html");
            film(workspace, arguments, &page)?;
            page
        }
        Page::Example(name, page) => {
            let mut example =
                workspace.cargo(&["run", "--quiet", "--package", "slipstick-examples", "--example", name]);
            prepare(example.arg("--").arg(folder(workspace)?))?;
            folder(workspace)?.join(page)
        }
    };
    let file = workspace.root.join(picture.file);
    let mut shoot = workspace.command(&node, &[SHOOT, picture.verb, &browser]);
    run(shoot.args([&page, &file]).arg(picture.view))?;
    let (bytes, most) = (size(&file)?, if picture.verb == "animate" { MOST_MOTION } else { MOST_PICTURE });
    println!("{}: {bytes} bytes", picture.file);
    match bytes > most {
        true => Err(Stop::Failed(format!("{} has {bytes} bytes, expected at most {most}", picture.file))),
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
