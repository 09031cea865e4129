//! Peers' programs: how they are compiled and run, and their output.

use crate::gradient::times::Times;
use crate::peer::{ask, numbers, strange};
use crate::report::mean;
use crate::step::peers::{Peers, Way};
use crate::step::scene::Phase;
use crate::table::Effort;
use crate::table::peers::{PeerFigures, THICKER};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Seconds that a peer may take for each thing that it times in one motion; ten times that to compile it.
const PATIENCE: u32 = 20;

/// A peer's program in Python.
pub struct Script<'a> {
    pub python: &'a Path,
    pub file: &'static str,
    pub effort: &'a Effort,
    /// That it is to time.
    pub states: usize,
    /// Where it keeps what it compiled for the robot's other motion.
    pub cache: &'a Path,
}

impl Script<'_> {
    /// `files` come before the numbers among its arguments.
    pub fn ask(&self, files: &[&Path], peers: &Peers, phase: Phase) -> Result<PeerFigures, String> {
        let program = here(self.file)?;
        let numbers_of = [self.effort.every, self.effort.repeats].map(|n| n.to_string());
        let mut command = Command::new(self.python);
        command.arg(&program).args(files).args(numbers_of).arg(PATIENCE.to_string()).arg(THICKER.to_string());
        command.env("JAX_COMPILATION_CACHE_DIR", self.cache).env("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "1");
        let json = ask(self.python, &mut command).map_err(|e| reason(&e, self.python))?;
        let text = |name: &str| json[name].as_str();
        let figures = || {
            let mut times = Vec::new();
            for (name, list) in json["times"].as_object()? {
                let mut one = Times::default();
                one.keep_better(numbers(list).filter(|l| l.len() == self.states)?);
                times.push((name.clone(), one));
            }
            let who = format!("{} {}", text("peer")?, text("version")?);
            let contacts = mean(&numbers(&json["contacts"])?.into_iter().filter(|x| x.is_finite()).collect::<Vec<_>>());
            Some(PeerFigures { who, contacts, times, note: text("note").map(str::to_string) })
        };
        let figures = figures().ok_or_else(|| strange(&program))?;
        if let Some(first) = numbers(&json["first_velocity"]).filter(|v| !v.is_empty()) {
            peers.check(Way::MujocoGiven, phase, &first)?;
        }
        Ok(figures)
    }
}

/// A file of the benchmark's folder, where the program was made.
pub fn here(file: &str) -> Result<PathBuf, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let missing = || format!("{} is not there: run it from the repository that it was built in", path.display());
    if path.is_file() { Ok(path.clone()) } else { Err(missing()) }
}

/// Compiles a peer and says where it is.
pub fn build(script: &str, python: &Path, programs: &Path) -> Result<PathBuf, String> {
    eprintln!("{script}: compiles a peer, which may take minutes the first time");
    let run = Command::new("bash").arg(here(script)?).arg(python).arg(programs).output();
    let run = run.map_err(|e| format!("bash: {e}"))?;
    let printed = String::from_utf8_lossy(&run.stdout).trim().to_string();
    match run.status.success() && !printed.is_empty() {
        true => Ok(printed.into()),
        false => Err(reason(&String::from_utf8_lossy(&run.stderr), python)),
    }
}

/// The last line of what a program said. Where its interpreter is matters to nobody who reads the figures.
pub fn reason(text: &str, python: &Path) -> String {
    let name = python.file_name().map_or("python".into(), |n| n.to_string_lossy());
    let line = text.trim().lines().last().unwrap_or("it said nothing");
    line.replace(&python.display().to_string(), &name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_the_last_line_without_folders() {
        let said = "Traceback\n/a/b/python3: no module named jax\n";
        assert_eq!(reason(said, Path::new("/a/b/python3")), "python3: no module named jax");
        assert_eq!(reason("", Path::new("python")), "it said nothing");
    }
}
