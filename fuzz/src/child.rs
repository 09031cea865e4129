//! A child process: cases one after the other, until time, steps or cases are used up or something is found.

use crate::arguments::Arguments;
use crate::case::Answer;
use crate::chaos;
use crate::clock::Stopwatch;
use crate::target::Target;
use crate::watch::Watch;
use std::fs::File;
use std::io;
use std::io::{Seek, SeekFrom, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Exit code of a child whose last case is a finding.
pub const FOUND: u8 = 77;
/// Processor time of a case of fuzz and of an episode of chaos (s).
const LIMIT: f64 = 20.0;
const EPISODE_LIMIT: f64 = 120.0;

/// How far a child is: kept in a file, so that it survives the child.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Progress {
    /// The case that was begun last.
    pub case: u64,
    pub accepted: u64,
    pub refused: u64,
    /// Longest case (µs), and which it was.
    pub longest: u64,
    pub longest_case: u64,
}

impl Progress {
    pub fn from_text(text: &str) -> Option<Progress> {
        let numbers: Vec<u64> = text.split_whitespace().map_while(|word| word.parse().ok()).collect();
        let &[case, accepted, refused, longest, longest_case] = &numbers[..] else { return None };
        Some(Progress { case, accepted, refused, longest, longest_case })
    }

    /// Numbers of a fixed width: a text is overwritten in one call.
    fn text(&self) -> String {
        let Progress { case, accepted, refused, longest, longest_case } = self;
        format!("{case:020} {accepted:020} {refused:020} {longest:020} {longest_case:020}\n")
    }
}

struct Keeper(File);

impl Keeper {
    fn keep(&mut self, progress: &Progress) -> io::Result<()> {
        self.0.seek(SeekFrom::Start(0))?;
        self.0.write_all(progress.text().as_bytes())
    }
}

/// `child TARGET --seed S --from N --time T --progress FILE`, or `child chaos …`.
pub fn main(arguments: &Arguments) -> Result<ExitCode, String> {
    let file = File::create(&arguments.progress).map_err(|e| format!("{}: {e}", arguments.progress.display()))?;
    match arguments.word(0)? {
        "chaos" => chaos_episodes(arguments, Keeper(file)),
        name => fuzz_cases(arguments, Target::named(name)?, Keeper(file)),
    }
}

fn fuzz_cases(a: &Arguments, target: Target, mut keeper: Keeper) -> Result<ExitCode, String> {
    let (watch, end) = (Watch::start(LIMIT), Instant::now() + Duration::from_secs_f64(a.time));
    let mut p = Progress { case: a.from, ..Progress::default() };
    let last = a.cases.map_or(u64::MAX, |n| a.from + n);
    while p.case < last && Instant::now() < end {
        keeper.keep(&p).map_err(|e| e.to_string())?;
        watch.begin(p.case);
        let begin = Stopwatch::start();
        match target.run(&target.input(a.seed, p.case)) {
            Ok(Answer::Accepted) => p.accepted += 1,
            Ok(Answer::Refused) => p.refused += 1,
            Err(what) => {
                println!("finding: {what}");
                return Ok(ExitCode::from(FOUND));
            }
        }
        let took = begin.elapsed().as_micros() as u64;
        if took > p.longest {
            (p.longest, p.longest_case) = (took, p.case);
        }
        p.case += a.stride;
    }
    keeper.keep(&p).map_err(|e| e.to_string())?;
    Ok(ExitCode::SUCCESS)
}

fn chaos_episodes(a: &Arguments, mut keeper: Keeper) -> Result<ExitCode, String> {
    let robots = chaos::robots(&a.robots)?;
    let (watch, end) = (Watch::start(EPISODE_LIMIT), Instant::now() + Duration::from_secs_f64(a.time));
    let mut p = Progress { case: a.from, ..Progress::default() };
    let mut steps = 0;
    while Instant::now() < end && steps < a.steps.unwrap_or(u64::MAX) {
        keeper.keep(&p).map_err(|e| e.to_string())?;
        watch.begin(p.case);
        let robot = &robots[(p.case % robots.len() as u64) as usize];
        let tally = chaos::episode(robot, a.seed, p.case, &a.out);
        steps += tally.steps;
        println!("{}", tally.line());
        p.accepted += 1;
        p.case += a.stride;
    }
    keeper.keep(&p).map_err(|e| e.to_string())?;
    Ok(ExitCode::SUCCESS)
}

/// `case TARGET FILE`: one input; prints what becomes of it.
pub fn single(arguments: &Arguments) -> Result<ExitCode, String> {
    let (target, path) = (Target::named(arguments.word(0)?)?, arguments.word(1)?);
    let input = std::fs::read(path).map_err(|e| format!("{path}: {e}"))?;
    Watch::start(LIMIT).begin(0);
    Ok(match target.run(&input) {
        Ok(answer) => {
            println!("{answer:?}");
            ExitCode::SUCCESS
        }
        Err(what) => {
            println!("finding: {what}");
            ExitCode::from(FOUND)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_survives_as_text() {
        let p = Progress { case: 12, accepted: 3, refused: 4, longest: 5_000_000, longest_case: 7 };
        assert_eq!(Progress::from_text(&p.text()), Some(p));
        assert_eq!(Progress::from_text(""), None);
    }
}
