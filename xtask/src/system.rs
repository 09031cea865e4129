//! Programs of the system. One that is missing is installed with apt-get, and a line says so before.

use std::process::Command;
use std::sync::Mutex;

use crate::process::{Stop, ask, prepare};

static INSTALLING: Mutex<()> = Mutex::new(());

/// The first of `names` that starts; without any, the first that starts once `package` is installed.
pub fn program(names: &[&'static str], package: &str) -> Result<&'static str, Stop> {
    // who comes second waits, and finds what the first has installed
    let _one_at_a_time = INSTALLING.lock();
    find(package, || first_that_starts(names), || refusal(package), || install(&[package]))
}

/// What is no program: packages that are installed unless `there` says that all is there.
pub fn packages(packages: &[&str], there: impl Fn() -> bool) -> Result<(), Stop> {
    let _one_at_a_time = INSTALLING.lock();
    let listed = packages.join(" ");
    find(&listed, || there().then_some(""), || refusal(&listed), || install(packages)).map(|_| ())
}

/// The order of things, whatever the machine: look, say what is missing, install, look again.
fn find(
    package: &str,
    there: impl Fn() -> Option<&'static str>,
    refusal: impl Fn() -> Option<String>,
    install: impl Fn() -> bool,
) -> Result<&'static str, Stop> {
    if let Some(name) = there() {
        return Ok(name);
    }
    if let Some(why) = refusal() {
        return Err(Stop::NotRun(format!("{package} is not installed, and {why}")));
    }
    eprintln!("{package} is not installed: installing the system's package with apt-get");
    let missing = || Stop::NotRun(format!("{package} is not installed, and apt-get could not install it"));
    if install() { there().ok_or_else(missing) } else { Err(missing()) }
}

fn first_that_starts(names: &[&'static str]) -> Option<&'static str> {
    names.iter().copied().find(|name| ask(Command::new(name).arg("--version")).is_some())
}

/// Why this machine or this user cannot install packages.
fn refusal(package: &str) -> Option<String> {
    if ask(Command::new("apt-get").arg("--version")).is_none() {
        return Some(format!("there is no apt-get to install it: install {package} by hand"));
    }
    let user = ask(Command::new("id").arg("--user"));
    (user.as_deref() != Some("0")).then(|| format!("only root can install it: sudo apt-get install {package}"))
}

/// Installs packages; where their lists are missing or too old, after updating them.
fn install(packages: &[&str]) -> bool {
    let apt = |words: &[&str]| prepare(Command::new("apt-get").args(words)).is_ok();
    let words = [&["install", "--yes", "--quiet", "--no-install-recommends"], packages].concat();
    apt(&words) || (apt(&["update", "--quiet"]) && apt(&words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_program_that_is_there_is_not_installed() {
        let found = find("tool", || Some("tool"), || panic!("asked"), || panic!("installed"));
        assert_eq!(found, Ok("tool"));
    }

    #[test]
    fn a_missing_program_is_installed_once_and_found() {
        let installed = Cell::new(0);
        let there = || (installed.get() > 0).then_some("tool");
        let install = || {
            installed.set(installed.get() + 1);
            true
        };
        assert_eq!(find("tool", there, || None, install), Ok("tool"));
        assert_eq!(installed.get(), 1);
    }

    #[test]
    fn what_cannot_be_installed_is_not_run_with_the_reason() {
        let refused = find("tool", || None, || Some("only root can".into()), || panic!("installed"));
        assert_eq!(refused, Err(Stop::NotRun("tool is not installed, and only root can".into())));
        for worked in [false, true] {
            let missing = find("tool", || None, || None, || worked);
            assert!(matches!(missing, Err(Stop::NotRun(why)) if why.ends_with("apt-get could not install it")));
        }
    }
}
