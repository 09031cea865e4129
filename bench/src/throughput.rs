//! How many steps and gradients per second a batch makes, against the number of threads; compared with sequential
//! simulations on one thread, and MuJoCo's `rollout` from the same states.

use crate::error::BenchError;
use crate::gradient::goals::number;
use crate::gradient::ours::watch;
use crate::peer::{ask, numbers, strange};
use crate::report::write;
use serde_json::{Value, json};
use slipstick::gradient::{InputGrad, OutputGrad};
use slipstick::rollout::StateGrad;
use slipstick::{Batch, Data, Input, Model, State};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// How much is measured.
#[derive(Clone)]
pub struct ThroughputOptions {
    /// Environments of a batch.
    pub environments: usize,
    /// Numbers of threads.
    pub threads: Vec<usize>,
    /// The best of so many runs counts.
    pub repeats: usize,
}

impl ThroughputOptions {
    /// 256 environments on 1, 2, 4 … threads and as many as there are cores.
    pub fn new() -> ThroughputOptions {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let powers = std::iter::successors(Some(1), |n| Some(2 * n)).take_while(|n| *n < cores);
        ThroughputOptions { environments: 256, threads: powers.chain([cores]).collect(), repeats: 5 }
    }
}

impl Default for ThroughputOptions {
    fn default() -> ThroughputOptions {
        ThroughputOptions::new()
    }
}

/// Steps of a run, the first from a cold start; forces stay as they are.
const STEPS: usize = 25;
/// Microseconds per gradient that the paper gives for MJX on an A100.
const PAPER: [(&str, f64); 2] = [("half_cheetah", 3.7), ("humanoid", 103.2)];

/// Where the environments of a batch start, and the forces on them: one row each.
pub(crate) struct Starts {
    q: Vec<f64>,
    v: Vec<f64>,
    tau: Vec<f64>,
    n: usize,
}

impl Starts {
    /// So many of the states that a robot went through (q, v, tau), evenly along its motions.
    pub fn spread(states: &[[Vec<f64>; 3]], n: usize) -> Starts {
        let rows = || (0..n).map(|i| &states[i * states.len() / n]);
        let part = |k: usize| rows().flat_map(|s| s[k].iter().copied()).collect();
        Starts { q: part(0), v: part(1), tau: part(2), n }
    }

    fn row<'a>(&self, numbers: &'a [f64], i: usize) -> &'a [f64] {
        let width = numbers.len() / self.n;
        &numbers[i * width..(i + 1) * width]
    }

    /// Lines as in `bench/mujoco/step.hpp`.
    fn to_text(&self) -> String {
        let mut out = String::new();
        for i in 0..self.n {
            out.push_str("state");
            for x in [&self.q, &self.v, &self.tau].into_iter().flat_map(|part| self.row(part, i)) {
                let _ = write!(out, " {x:?}");
            }
            out.push('\n');
        }
        out
    }
}

/// Per second.
#[derive(Clone, Copy)]
pub(crate) struct Rates {
    pub steps: f64,
    /// Steps with the gradient of each.
    pub gradients: f64,
}

/// Of one robot.
pub(crate) struct RobotThroughput {
    /// One simulation after the other.
    pub single: Rates,
    /// By number of threads.
    pub batch: Vec<(usize, Rates)>,
    pub bytes_per_environment: usize,
    /// Steps per second, in the order of `batch`; or why there are none.
    pub mujoco: Result<Vec<f64>, String>,
}

/// Our side; MuJoCo's is left open.
pub(crate) fn measure(
    name: &str,
    model: &Model,
    starts: &Starts,
    options: &ThroughputOptions,
) -> Result<RobotThroughput, BenchError> {
    let failed = |got: String| BenchError::Measure { what: format!("{name}, throughput"), got };
    let single = single(model, starts, options.repeats).map_err(failed)?;
    let (mut rates, mut bytes) = (Vec::new(), 0);
    for threads in &options.threads {
        let batch = Batch::new(model, starts.n).map_err(|e| failed(e.to_string()))?;
        let mut batch = batch.threads(*threads);
        rates.push((*threads, together(&mut batch, model, starts, options.repeats).map_err(failed)?));
        bytes = batch.bytes_per_environment();
    }
    let mujoco = Err("it was not asked for".to_string());
    Ok(RobotThroughput { single, batch: rates, bytes_per_environment: bytes, mujoco })
}

/// The best of several runs, without and with gradients.
fn best(starts: &Starts, repeats: usize, mut run: impl FnMut(bool) -> Result<(), String>) -> Result<Rates, String> {
    let mut rates = [0.0f64; 2];
    for _ in 0..repeats {
        for (rate, with_gradients) in rates.iter_mut().zip([false, true]) {
            let (us, done) = watch(|| run(with_gradients));
            done?;
            *rate = rate.max(1e6 * (starts.n * STEPS) as f64 / us);
        }
    }
    Ok(Rates { steps: rates[0], gradients: rates[1] })
}

fn together(batch: &mut Batch, model: &Model, starts: &Starts, repeats: usize) -> Result<Rates, String> {
    let (mut q, mut v) = (starts.q.clone(), starts.v.clone());
    let (mut q_next, mut v_next) = (q.clone(), v.clone());
    let n = starts.n * model.nv();
    let (weights, mut out) = (vec![1.0; n], vec![0.0; 3 * n]);
    let all = vec![true; starts.n];
    best(starts, repeats, |with_gradients| {
        q.copy_from_slice(&starts.q);
        v.copy_from_slice(&starts.v);
        batch.clear_warm_start(&all).map_err(|e| e.to_string())?;
        for _ in 0..STEPS {
            batch.step(&q, &v, &Input::tau(&starts.tau), &mut q_next, &mut v_next).map_err(|e| e.to_string())?;
            if with_gradients {
                let (gq, rest) = out.split_at_mut(n);
                let (gv, gtau) = rest.split_at_mut(n);
                let into = InputGrad { q: gq, v: gv, tau: gtau, ..InputGrad::default() };
                batch
                    .vjp(StateGrad { q: &weights, v: &weights, ..StateGrad::default() }, into)
                    .map_err(|e| e.to_string())?;
            }
            std::mem::swap(&mut q, &mut q_next);
            std::mem::swap(&mut v, &mut v_next);
        }
        Ok(())
    })
}

/// One environment after the other, each to its end.
fn single(model: &Model, starts: &Starts, repeats: usize) -> Result<Rates, String> {
    let n = model.nv();
    let (weights, mut out, mut data) = (vec![1.0; n], vec![0.0; 3 * n], Data::new(model));
    best(starts, repeats, |with_gradients| {
        for i in 0..starts.n {
            let (q, v, tau) = (starts.row(&starts.q, i), starts.row(&starts.v, i), starts.row(&starts.tau, i));
            let mut x = State::new(model, q, v).map_err(|e| e.to_string())?;
            let mut next = x.clone();
            data.clear_warm_start();
            for _ in 0..STEPS {
                let step = slipstick::step(model, &mut data, &x, &Input::tau(tau), &mut next);
                let mut step = step.map_err(|e| e.to_string())?;
                if with_gradients {
                    let (gq, rest) = out.split_at_mut(n);
                    let (gv, gtau) = rest.split_at_mut(n);
                    let w = OutputGrad { q: &weights, v: &weights, ..OutputGrad::default() };
                    step.vjp(w, InputGrad { q: gq, v: gv, tau: gtau, ..InputGrad::default() })
                        .map_err(|e| e.to_string())?;
                }
                std::mem::swap(&mut x, &mut next);
            }
        }
        Ok(())
    })
}

/// MuJoCo's steps per second from the same states on the same numbers of threads.
pub(crate) fn mujoco(
    python: &Path,
    script: &Path,
    scene: &Path,
    folder: &Path,
    starts: &Starts,
    options: &ThroughputOptions,
) -> Result<Vec<f64>, String> {
    let file = folder.join("throughput.drive");
    write(&file, &starts.to_text())?;
    let threads: Vec<String> = options.threads.iter().map(usize::to_string).collect();
    let mut command = Command::new(python);
    command.arg(script).arg(scene).arg(file).arg(STEPS.to_string()).arg(options.repeats.to_string()).args(threads);
    let rates = numbers(&ask(python, &mut command)?["steps_per_s"]);
    rates.filter(|r| r.len() == options.threads.len()).ok_or_else(|| strange(python))
}

impl RobotThroughput {
    pub fn to_json(&self, name: &str) -> Value {
        let rates = |r: &Rates| json!({ "steps_per_s": r.steps, "gradients_per_s": r.gradients });
        let threads = self.batch.iter().enumerate().map(|(k, (threads, r))| {
            let mut all = rates(r);
            all["threads"] = json!(threads);
            all["mujoco_steps_per_s"] = json!(self.mujoco.as_ref().ok().map(|list| list[k]));
            all
        });
        json!({ "name": name, "single": rates(&self.single), "batch": threads.collect::<Vec<_>>(),
            "bytes_per_environment": self.bytes_per_environment, "mujoco_not_run": self.mujoco.as_ref().err() })
    }
}

/// A line per robot and number of threads; the first line is the head.
pub(crate) fn lines<'a>(robots: impl Iterator<Item = (&'a str, &'a RobotThroughput)>) -> Vec<Vec<String>> {
    let head = [
        "throughput",
        "threads",
        "steps/s",
        "gradients/s",
        "µs per gradient and thread",
        "MuJoCo steps/s",
        "bytes each",
    ];
    let mut lines = vec![head.map(str::to_string).to_vec()];
    for (name, robot) in robots {
        lines.push(line(name, "single", 1, robot.single, None, None));
        for (k, (threads, rates)) in robot.batch.iter().enumerate() {
            let mujoco = robot.mujoco.as_ref().ok().map(|list| list[k]);
            lines.push(line(name, &threads.to_string(), *threads, *rates, mujoco, Some(robot.bytes_per_environment)));
        }
        if let Some((_, us)) = PAPER.iter().find(|(robot, _)| *robot == name) {
            let words = [name, "paper: MJX on an A100", "-", "-", &number(*us), "-", "-"];
            lines.push(words.map(str::to_string).to_vec());
        }
    }
    lines
}

fn line(name: &str, how: &str, threads: usize, r: Rates, mujoco: Option<f64>, bytes: Option<usize>) -> Vec<String> {
    let whole = |x: f64| format!("{x:.0}");
    let per_gradient = number(1e6 * threads as f64 / r.gradients);
    let mujoco = mujoco.map_or("-".to_string(), whole);
    let bytes = bytes.map_or("-".to_string(), |b| b.to_string());
    vec![name.to_string(), how.to_string(), whole(r.steps), whole(r.gradients), per_gradient, mujoco, bytes]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_are_spread_over_all_states() {
        let states: Vec<[Vec<f64>; 3]> = (0..10).map(|k| [vec![f64::from(k), 0.0], vec![1.0], vec![2.0]]).collect();
        let starts = Starts::spread(&states, 5);
        assert_eq!(starts.q, [0.0, 0.0, 2.0, 0.0, 4.0, 0.0, 6.0, 0.0, 8.0, 0.0]);
        assert_eq!(starts.to_text().lines().nth(1), Some("state 2.0 0.0 1.0 2.0"));
        assert_eq!(Starts::spread(&states[..1], 3).v, [1.0; 3], "states may repeat");
    }

    #[test]
    fn a_batch_and_single_simulations_are_measured() {
        let model = slipstick::builtin("sphere").unwrap();
        let x = State::neutral(&model);
        let starts = Starts::spread(&[[x.q.clone(), x.v.clone(), vec![0.0; model.nv()]]], 3);
        let options = ThroughputOptions { environments: 3, threads: vec![1, 2], repeats: 1 };
        let figures = measure("sphere", &model, &starts, &options).unwrap();
        assert!(figures.single.steps > 0.0 && figures.batch.iter().all(|(_, r)| r.gradients > 0.0));
        assert_eq!(lines([("sphere", &figures)].into_iter()).len(), 4);
    }
}
