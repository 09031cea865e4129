//! What users install: the packages of the crates, which hold all that they need and compile outside the repository; the
//! source distribution and the wheel of the Python package, with which the README's Python block runs.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::process::{Outcome, Stop, ask, prepare, run};
use crate::python::{Packages, Venv};
use crate::workspace::Workspace;

/// Crates that are not published.
const PRIVATE: [&str; 8] = [
    "--exclude",
    "slipstick-python",
    "--exclude",
    "slipstick-bench",
    "--exclude",
    "slipstick-examples",
    "--exclude",
    "xtask",
];
/// What every package of a crate holds, and what those of some crates need besides.
const HELD: [&str; 4] = ["Cargo.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE"];
const CRATES: [(&str, &[&str]); 7] = [
    ("slipstick-core", &["src/lib.rs"]),
    ("slipstick-io", &["src/lib.rs"]),
    ("slipstick", &["src/lib.rs", "models/quadruped.xml"]),
    ("slipstick-view", &["src/lib.rs", "web/page.html", "web/page.css", "web/viewer.js"]),
    ("slipstick-plot", &["src/lib.rs"]),
    ("slipstick-experiments", &["src/lib.rs"]),
    ("slipstick-cli", &["src/main.rs"]),
];
const SDIST: [&str; 9] = [
    "PKG-INFO",
    "README.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "Cargo.lock",
    "crates/slipstick/models/quadruped.xml",
    "crates/view/web/viewer.js",
    "python/slipstick/_native.pyi",
    "python/slipstick/py.typed",
];
const WHEEL: [&str; 4] = ["slipstick/_native.abi3.so", "slipstick/_native.pyi", "slipstick/py.typed", "LICENSE-MIT"];
const REQUIREMENTS: &str = "python/requirements-test.txt";
/// The oldest series of numpy with wheels for all interpreters of the matrix, beside the one that the oracles use.
const OLD_NUMPY: &str = "numpy~=1.26.0";
/// The released wheel may take so much.
const MOST_BYTES: u64 = 6_000_000;

/// Everything that is shipped. With `full` the wheel is the released one, and the source distribution is installed too.
pub fn check(workspace: &Workspace, packages: Packages, full: bool) -> Outcome {
    crates(workspace)?;
    python(workspace, packages, full)
}

/// `cargo package` compiles what it packs, against a registry that holds the other packages.
fn crates(workspace: &Workspace) -> Outcome {
    forget_packages()?;
    forget_builds(workspace)?;
    run(workspace.cargo(&["package", "--workspace", "--quiet", "--allow-dirty"]).args(PRIVATE))?;
    for (name, needed) in CRATES {
        let pattern = format!("{name}-{}.crate", env!("CARGO_PKG_VERSION"));
        let file = workspace.target.join("package").join(pattern);
        contents(workspace, &file, "tar", &["-tzf"])?.holds(HELD.iter().chain(needed))?;
    }
    Ok(())
}

/// Drops what cargo has unpacked of our packages before. It knows them by their version, and would compile against old ones.
fn forget_packages() -> Outcome {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")));
    let Some(registry) = home.map(|home| home.join("registry")) else { return Ok(()) };
    let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let name = |path: &Path| path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    // registries in a folder have no name, only a hash behind a hyphen
    let local = ["src", "cache"].into_iter().flat_map(|kind| entries(&registry.join(kind)));
    for package in
        local.filter(|path| name(path).starts_with('-')).flat_map(|folder| entries(&folder).collect::<Vec<_>>())
    {
        if name(&package).starts_with("slipstick") {
            let removed = if package.is_dir() { fs::remove_dir_all(&package) } else { fs::remove_file(&package) };
            removed.map_err(|e| failed(&package, &e))?;
        }
    }
    Ok(())
}

/// Drops what was compiled of them: cargo takes packages of a registry for unchangeable, too.
fn forget_builds(workspace: &Workspace) -> Outcome {
    let debug = workspace.target.join("debug");
    for file in fs::read_dir(debug.join("deps")).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let stem = file.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned());
        let sources = if file.extension().is_some_and(|e| e == "d") { fs::read_to_string(&file) } else { continue };
        let is_unpacked = sources.is_ok_and(|text| text.contains("registry/src/-"));
        let (Some((name, hash)), true) = (stem.rsplit_once('-'), stem.starts_with("slipstick") && is_unpacked) else {
            continue;
        };
        let fingerprint = debug.join(".fingerprint").join(format!("{}-{hash}", name.replace('_', "-")));
        if fingerprint.is_dir() {
            fs::remove_dir_all(&fingerprint).map_err(|e| failed(&fingerprint, &e))?;
        }
    }
    Ok(())
}

fn python(workspace: &Workspace, packages: Packages, full: bool) -> Outcome {
    let folder = workspace.target.join("python-packages");
    if folder.is_dir() {
        fs::remove_dir_all(&folder).map_err(|e| failed(&folder, &e))?;
    }
    fs::create_dir_all(&folder).map_err(|e| failed(&folder, &e))?;
    let venv = Venv::ensure(workspace, packages)?;
    let maturin =
        |verb: &[&str]| prepare(venv.python(workspace).args(["-m", "maturin"]).args(verb).arg("--out").arg(&folder));

    maturin(&["sdist"])?;
    let sdist = made(&folder, "tar.gz")?;
    contents(workspace, &sdist, "tar", &["-tzf"])?.holds(&SDIST)?;

    // the profile of the tests: they built it already, and it is another file in nothing but speed
    maturin(&["build", "--quiet", "--profile", if full { "release" } else { "dev" }])?;
    let wheel = made(&folder, "whl")?;
    contents(workspace, &wheel, "python3", &["-m", "zipfile", "-l"])?.holds(&WHEEL)?;
    let bytes = fs::metadata(&wheel).map_err(|e| failed(&wheel, &e))?.len();
    if full && (bytes > MOST_BYTES || !wheel.to_string_lossy().contains("manylinux")) {
        let expected = format!("expected a manylinux wheel of at most {MOST_BYTES} bytes");
        return Err(Stop::Failed(format!("{expected}, got {} with {bytes}", wheel.display())));
    }

    let script = readme(workspace, &folder)?;
    let numpy = pinned_numpy(workspace)?;
    let mut cases = vec![(&wheel, numpy.as_str())];
    if full {
        cases.extend([(&wheel, OLD_NUMPY), (&sdist, numpy.as_str())]);
    }
    for (package, numpy) in cases {
        let environment = folder.join("venv");
        prepare(workspace.command("python3", &["-m", "venv", "--clear"]).arg(&environment))?;
        let interpreter = environment.join("bin/python").to_string_lossy().into_owned();
        let mut pip = workspace.command(&interpreter, &["-m", "pip", "install", "--quiet"]);
        pip.arg("--disable-pip-version-check");
        if packages == Packages::LocalWheels {
            pip.arg("--no-index");
        }
        prepare(pip.arg(numpy).arg(package))?;
        run(workspace.command(&interpreter, &[]).arg(&script).current_dir(&folder))?;
    }
    Ok(())
}

/// Names in an archive.
struct Contents {
    archive: PathBuf,
    names: String,
}

fn contents(workspace: &Workspace, archive: &Path, program: &str, list: &[&str]) -> Result<Contents, Stop> {
    let names = ask(workspace.command(program, list).arg(archive));
    let names = names.ok_or_else(|| Stop::Failed(format!("{program} cannot list {}", archive.display())))?;
    let bytes = fs::metadata(archive).map_err(|e| failed(archive, &e))?.len();
    println!("{}: {bytes} bytes, {} files", archive.display(), names.lines().count());
    Ok(Contents { archive: archive.into(), names })
}

impl Contents {
    /// All of these are in it, and none of the tests are.
    fn holds<'a>(&self, needed: impl IntoIterator<Item = &'a &'a str>) -> Outcome {
        let fail = |what: String| Err(Stop::Failed(format!("{} {what}", self.archive.display())));
        let words = || self.names.split_whitespace();
        // names of a wheel begin at its root, others in a folder
        let is = |word: &str, name: &str| word.strip_suffix(name).is_some_and(|p| p.is_empty() || p.ends_with('/'));
        if let Some(name) = needed.into_iter().find(|name| !words().any(|word| is(word, name))) {
            return fail(format!("lacks {name}"));
        }
        match words().find(|word| word.contains("python/tests/") || word.contains("node_modules")) {
            Some(name) => fail(format!("holds {name}")),
            None => Ok(()),
        }
    }
}

/// The file with an ending that a build left in the folder.
fn made(folder: &Path, ending: &str) -> Result<PathBuf, Stop> {
    let files = fs::read_dir(folder).map_err(|e| failed(folder, &e))?.flatten().map(|entry| entry.path());
    let found = files.into_iter().find(|file| file.to_string_lossy().ends_with(ending));
    found.ok_or_else(|| Stop::Failed(format!("maturin left no .{ending} in {}", folder.display())))
}

/// The README's Python blocks as a script.
fn readme(workspace: &Workspace, folder: &Path) -> Result<PathBuf, Stop> {
    let page = workspace.root.join("README.md");
    let text = fs::read_to_string(&page).map_err(|e| failed(&page, &e))?;
    let blocks: Vec<_> = text.split("```python\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    if blocks.is_empty() {
        return Err(Stop::Failed("README.md has no block of Python".into()));
    }
    let script = folder.join("readme.py");
    fs::write(&script, blocks.concat()).map_err(|e| failed(&script, &e))?;
    Ok(script)
}

/// `numpy==…` of the oracles: the newest one that is tested.
fn pinned_numpy(workspace: &Workspace) -> Result<String, Stop> {
    let file = workspace.root.join(REQUIREMENTS);
    let text = fs::read_to_string(&file).map_err(|e| failed(&file, &e))?;
    let line = text.lines().find(|line| line.starts_with("numpy=="));
    line.map(str::to_string).ok_or_else(|| Stop::Failed(format!("{} names no numpy", file.display())))
}

fn failed(path: &Path, error: &std::io::Error) -> Stop {
    Stop::Failed(format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_that_lacks_a_file_or_holds_tests_is_told() {
        let archive = |names: &str| Contents { archive: "a.crate".into(), names: names.into() };
        assert_eq!(archive("a-1/README.md\na-1/src/lib.rs").holds(&["README.md", "src/lib.rs"]), Ok(()));
        assert_eq!(archive("slipstick/py.typed 2026-01-01").holds(&["slipstick/py.typed"]), Ok(()));
        let lacking = archive("a-1/OLD-README.md").holds(&["README.md"]);
        assert_eq!(lacking, Err(Stop::Failed("a.crate lacks README.md".into())));
        let held = archive("a-1/python/tests/robots.py").holds(&[]);
        assert_eq!(held, Err(Stop::Failed("a.crate holds a-1/python/tests/robots.py".into())));
    }
}
