//! Puts the script of the page into `OUT_DIR/viewer.js`: the bundle in `web/dist` if it is newer than its sources, else one
//! made here with npm and esbuild. A machine without them builds all the same; `absent.txt` then says what is missing.

use std::collections::hash_map::DefaultHasher;
use std::error::Error;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use std::{env, fs, io};

/// What a bundle is made of, in `web`.
const SOURCES: [&str; 3] = ["src", "package.json", "package-lock.json"];

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let web = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("web");
    for name in SOURCES.iter().chain(&["dist"]) {
        println!("cargo::rerun-if-changed={}", web.join(name).display());
    }
    let mut sources = Vec::new();
    SOURCES.iter().try_for_each(|name| files(&web, Path::new(name), &mut sources))?;
    let kept = kept(&web, &sources, &out)?;
    let found = ready_made(&web, &sources).or_else(|| fs::read_to_string(&kept).ok());
    let (script, absent) = match found.map_or_else(|| bundle(&web, &sources, &out), Ok) {
        Ok(script) => (script, String::new()),
        Err(reason) => {
            println!("cargo::warning=replays will not be available: {reason}");
            (String::new(), reason)
        }
    };
    fs::write(out.join("viewer.js"), &script)?;
    fs::write(out.join("absent.txt"), &absent)?;
    if absent.is_empty() && !kept.exists() {
        // under another name first: a build beside this one never reads half a file
        fs::copy(out.join("viewer.js"), out.join("kept.js"))?;
        fs::rename(out.join("kept.js"), kept)?;
    }
    Ok(())
}

/// Files at or beneath `name`, by their paths in `web`, in a fixed order.
fn files(web: &Path, name: &Path, out: &mut Vec<PathBuf>) -> io::Result<()> {
    if web.join(name).is_file() {
        out.push(name.into());
        return Ok(());
    }
    let mut names = fs::read_dir(web.join(name))?.map(|e| Ok(e?.file_name())).collect::<io::Result<Vec<_>>>()?;
    names.sort();
    names.iter().try_for_each(|inner| files(web, &name.join(inner), out))
}

/// Where a bundle of these sources is kept for other profiles, so that npm is asked once per target folder.
fn kept(web: &Path, sources: &[PathBuf], out: &Path) -> io::Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    for name in sources {
        (name, fs::read(web.join(name))?).hash(&mut hasher);
    }
    // cargo marks its target folder for programs that make backups
    let target = out.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file()).unwrap_or(out);
    Ok(target.join(format!("slipstick-viewer-{:016x}.js", hasher.finish())))
}

/// The bundle of `npm run build`, unless a source is newer.
fn ready_made(web: &Path, sources: &[PathBuf]) -> Option<String> {
    let changed = |file: &Path| -> Option<SystemTime> { fs::metadata(web.join(file)).ok()?.modified().ok() };
    let (made, newest) =
        (changed(Path::new("dist/viewer.js"))?, sources.iter().filter_map(|file| changed(file)).max()?);
    if made >= newest { fs::read_to_string(web.join("dist/viewer.js")).ok() } else { None }
}

/// Bundles a copy of the sources, so that nothing is written beside them.
fn bundle(web: &Path, sources: &[PathBuf], out: &Path) -> Result<String, String> {
    let folder = out.join("web");
    let wrong = |e: io::Error| format!("{}: {e}", folder.display());
    for name in sources {
        let place = folder.join(name);
        fs::create_dir_all(place.parent().unwrap_or(&folder)).map_err(wrong)?;
        fs::copy(web.join(name), place).map_err(wrong)?;
    }
    let quiet = ["--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1"];
    npm(&folder, &[&["ci"], &quiet[..]].concat())?;
    npm(&folder, &["run", "--silent", "build"])?;
    let script = fs::read_to_string(folder.join("dist/viewer.js")).map_err(wrong)?;
    fs::remove_dir_all(&folder).map_err(wrong)?; // forty megabytes that nobody needs any more
    Ok(script)
}

fn npm(folder: &Path, arguments: &[&str]) -> Result<(), String> {
    let program = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    let output = output.map_err(|e| format!("npm cannot be started: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
    Err(format!("npm {}: {}", arguments.first().unwrap_or(&""), line.trim()))
}
