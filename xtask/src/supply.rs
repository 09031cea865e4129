//! The part `supply`: where everything comes from that is built into slipstick, under which licenses, and what is `unsafe`.
//!
//! Offline, from the lock files and the sources that cargo has fetched. `cargo deny check` (deny.toml) asks for advisories.

use std::fs;
use std::path::Path;

use crate::process::{Outcome, Stop, ask};
use crate::workspace::Workspace;

/// Licenses that allow everything as long as they are named. Each part of an expression with `OR` or `AND` must be one.
const PERMISSIVE: [&str; 13] = [
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "0BSD",
];
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";
/// Files that may lift the ban of `unsafe` (ARCHITECTURE.md §8): the call of vector code, the C interface of XLA, and the counting
/// allocators of tests.
const UNSAFE: [&str; 4] = [
    "crates/core/src/dispatch.rs",
    "crates/python/src/jax",
    "crates/core/tests/counting",
    "crates/slipstick/tests/counting",
];
const LOCK: &str = "Cargo.lock";
const NPM_LOCK: &str = "crates/view/web/package-lock.json";

pub fn check(workspace: &Workspace) -> Outcome {
    let read = |name: &str| {
        let path = workspace.root.join(name);
        fs::read_to_string(&path).map_err(|e| Stop::Failed(format!("cannot read {}: {e}", path.display())))
    };
    let (lock, npm) = (read(LOCK)?, read(NPM_LOCK)?);
    let metadata = ask(&mut workspace.cargo(&["metadata", "--format-version", "1", "--offline", "--locked"]))
        .ok_or_else(|| Stop::NotRun("cargo metadata --offline: not all packages are here".into()))?;
    let wrong = [foreign(&lock), unhashed(&npm), restrictive(&metadata), unfenced(workspace)].concat();
    println!(
        "{} packages of Cargo.lock, {} of package-lock.json, {} licenses",
        packages(&lock).len(),
        npm.matches("\"integrity\":").count(),
        licenses(&metadata).len()
    );
    match wrong.as_slice() {
        [] => Ok(()),
        wrong => {
            wrong.iter().for_each(|w| println!("  {w}"));
            Err(Stop::Failed(format!("{} defects of the supply chain, the first: {}", wrong.len(), wrong[0])))
        }
    }
}

/// Blocks of a lock file, without its head.
fn packages(lock: &str) -> Vec<&str> {
    lock.split("[[package]]").skip(1).collect()
}

/// Packages that are neither ours nor from crates.io with a checksum.
fn foreign(lock: &str) -> Vec<String> {
    let value = |block: &str, key: &str| {
        let line =
            block.lines().find_map(|l| l.strip_prefix(&format!("{key} = ")).map(|v| v.trim_matches('"').to_string()));
        line.unwrap_or_default()
    };
    let is_ours = |name: &str| name.starts_with("slipstick") || name == "xtask";
    let judge = |block: &&str| {
        let (name, source, checksum) = (value(block, "name"), value(block, "source"), value(block, "checksum"));
        let fetched = source == REGISTRY && checksum.len() == 64;
        let fine = fetched || (source.is_empty() && is_ours(&name));
        (!fine).then(|| format!("Cargo.lock: {name} is not from crates.io with a checksum: '{source}'"))
    };
    packages(lock).iter().filter_map(judge).collect()
}

/// Packages of npm without a hash. The first entry is the folder itself.
fn unhashed(npm: &str) -> Vec<String> {
    let entries: Vec<&str> = npm.split("\"node_modules/").skip(1).collect();
    let bare = entries.iter().filter(|entry| !entry.contains("\"integrity\": \"sha512-"));
    let mut wrong: Vec<String> = bare
        .map(|entry| format!("package-lock.json: {} has no hash", entry.split('"').next().unwrap_or_default()))
        .collect();
    if entries.is_empty() {
        wrong.push("package-lock.json: there are no packages".into());
    }
    wrong
}

/// The license expressions of `cargo metadata`, with the package before them.
fn licenses(metadata: &str) -> Vec<(String, String)> {
    let string = |text: &str| text.split('"').next().unwrap_or_default().to_string();
    let packages = metadata.split("{\"name\":\"").skip(1);
    let of = |p: &str| {
        // dependencies have names too, but no version behind it
        let license = p.split_once("\"license\":")?.1;
        let is_package = p.split_once('"')?.1.starts_with(",\"version\":");
        is_package.then(|| (string(p), license.strip_prefix('"').map(string).unwrap_or_default()))
    };
    packages.filter_map(of).collect()
}

fn restrictive(metadata: &str) -> Vec<String> {
    let all = licenses(metadata);
    let mut wrong: Vec<String> = all
        .iter()
        .filter(|(_, license)| !is_permissive(license))
        .map(|(name, license)| format!("{name}: license '{license}' is not in the list of permissive ones"))
        .collect();
    if all.is_empty() {
        wrong.push("cargo metadata names no license".into());
    }
    wrong
}

/// Whether an expression leaves a choice that is permissive: all that `AND` joins, one of what `OR` or `/` joins.
fn is_permissive(expression: &str) -> bool {
    let plain = expression.replace(['(', ')'], "");
    let known = |license: &str| PERMISSIVE.contains(&license.trim());
    !plain.is_empty() && plain.split(" AND ").all(|part| part.replace('/', " OR ").split(" OR ").any(known))
}

/// Sources of ours that allow `unsafe` outside the named files. The workspace denies it, so that it needs the attribute.
fn unfenced(workspace: &Workspace) -> Vec<String> {
    let mut wrong = Vec::new();
    for folder in ["crates", "examples", "bench", "fuzz", "xtask"] {
        sources(&workspace.root.join(folder), &mut |path, text| {
            let name = path.strip_prefix(&workspace.root).unwrap_or(path).to_string_lossy().replace('\\', "/");
            let lifted = text.contains(concat!("allow(unsafe", "_code)"));
            if lifted && !UNSAFE.iter().any(|allowed| name.starts_with(allowed)) {
                wrong.push(format!("{name}: unsafe code outside {}", UNSAFE.join(", ")));
            }
        });
    }
    let manifest = fs::read_to_string(workspace.root.join("Cargo.toml")).unwrap_or_default();
    if !manifest.contains("unsafe_code = \"deny\"") {
        wrong.push("Cargo.toml: unsafe_code is not denied".into());
    }
    wrong
}

fn sources(folder: &Path, look: &mut dyn FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("node_modules") {
            sources(&path, look);
        } else if path.extension().is_some_and(|e| e == "rs") {
            look(&path, &fs::read_to_string(&path).unwrap_or_default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_license_must_leave_a_permissive_choice() {
        for fine in [
            "MIT",
            "MIT OR Apache-2.0",
            "MIT/Apache-2.0",
            "(MIT OR GPL-3.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR X",
        ] {
            assert!(is_permissive(fine), "{fine}");
        }
        for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "LGPL-2.1 OR GPL-3.0"] {
            assert!(!is_permissive(bad), "{bad}");
        }
    }

    #[test]
    fn packages_of_other_places_are_found() {
        let from = |source: &str, checksum: &str| format!("[[package]]\nname = \"a\"\n{source}{checksum}\n");
        let (registry, hash) = (format!("source = \"{REGISTRY}\"\n"), format!("checksum = \"{}\"\n", "0".repeat(64)));
        assert!(foreign(&from(&registry, &hash)).is_empty());
        assert!(foreign("[[package]]\nname = \"slipstick-io\"\n").is_empty());
        for bad in [from(&registry, ""), from("", &hash), from("source = \"git+https://x\"\n", &hash)] {
            assert_eq!(foreign(&bad).len(), 1, "{bad}");
        }
    }

    #[test]
    fn packages_without_a_hash_are_found() {
        let good = r#"{"node_modules/three": {"version": "1", "integrity": "sha512-x"}}"#;
        assert!(unhashed(good).is_empty());
        assert_eq!(unhashed(&good.replace("sha512-x", "")).len(), 1);
        assert_eq!(unhashed("{}").len(), 1);
    }

    #[test]
    fn licenses_are_those_of_packages_and_not_of_dependencies() {
        let text = r#"{"packages":[{"name":"a","version":"1","license":"MIT","dependencies":[{"name":"b","source":null}]},{"name":"c","version":"2","license":null}]}"#;
        assert_eq!(licenses(text), [("a".into(), "MIT".into()), ("c".into(), String::new())]);
    }
}
