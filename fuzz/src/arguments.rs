//! The command line.

use crate::target::Target;
use std::path::PathBuf;
use std::str::FromStr;

/// What the command line says, with defaults.
#[derive(Debug, Clone)]
pub struct Arguments {
    /// What is no option.
    words: Vec<String>,
    pub targets: Vec<Target>,
    pub time: f64,
    pub cases: Option<u64>,
    pub steps: Option<u64>,
    pub loads: u64,
    pub robots: Vec<String>,
    pub seed: u64,
    pub jobs: usize,
    /// Megabytes of a child; 0: no limit.
    pub memory: u64,
    pub out: PathBuf,
    /// Of a child: the first case, the distance to the next, and where it writes how far it is.
    pub from: u64,
    pub stride: u64,
    pub progress: PathBuf,
}

impl Arguments {
    pub fn parse(args: &[String]) -> Result<Arguments, String> {
        let mut a = Arguments {
            words: Vec::new(),
            targets: Vec::new(),
            time: 60.0,
            cases: None,
            steps: None,
            loads: 1000,
            robots: Vec::new(),
            seed: 1,
            jobs: 1,
            memory: 4096,
            out: "target/fuzz".into(),
            from: 0,
            stride: 1,
            progress: PathBuf::new(),
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            if !arg.starts_with("--") {
                a.words.push(arg.clone());
                continue;
            }
            let value = args.next().ok_or_else(|| format!("{arg} needs a value"))?;
            a.set(arg, value)?;
        }
        Ok(a)
    }

    fn set(&mut self, option: &str, value: &str) -> Result<(), String> {
        match option {
            "--target" => self.targets.push(Target::named(value)?),
            "--time" => self.time = number(option, value)?,
            "--cases" => self.cases = Some(number(option, value)?),
            "--steps" => self.steps = Some(number(option, value)?),
            "--loads" => self.loads = number(option, value)?,
            "--robots" => self.robots = value.split(',').map(str::to_string).collect(),
            "--seed" => self.seed = number(option, value)?,
            "--jobs" => self.jobs = number::<usize>(option, value)?.max(1),
            "--memory" => self.memory = number(option, value)?,
            "--out" => self.out = value.into(),
            "--from" => self.from = number(option, value)?,
            "--stride" => self.stride = number::<u64>(option, value)?.max(1),
            "--progress" => self.progress = value.into(),
            _ => return Err(format!("unknown option '{option}'; see slipstick-fuzz --help")),
        }
        Ok(())
    }

    pub fn word(&self, k: usize) -> Result<&str, String> {
        self.words.get(k).map(String::as_str).ok_or_else(|| "an argument is missing; see slipstick-fuzz --help".into())
    }
}

fn number<T: FromStr>(option: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{option}: expected a number, got '{value}'"))
}
