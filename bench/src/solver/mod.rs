//! The contact solver on files of single problems: how many it solves, with how many factorizations, how far the rest is off.
//!
//! Files are sequences of records as the tool that made the corpus wrote them; `corpus.rs` reads them.

mod corpus;

use corpus::Record;
use slipstick::model::Solver;
use slipstick::ncp::{Solution, Stage, residual, solve};
use slipstick::{SolveReport, Status};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Residual at which a problem counts as solved, whatever the solver's own tolerance.
const SOLVED: f64 = 1e-10;
/// Least residual of an infeasible problem.
const LARGE: f64 = 1e-6;

/// Arguments of `slipstick-bench solver`.
#[derive(clap::Args)]
pub struct SolverArguments {
    /// Files of problems.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Factorizations per problem.
    #[arg(long, default_value_t = 170)]
    budget: u32,
    /// Scaled residual at which the solver stops.
    #[arg(long, default_value_t = 1e-10)]
    tolerance: f64,
    /// Start hard problems from zero impulses.
    #[arg(long)]
    cold: bool,
    /// Also time every problem (least of three) and one iteration of it: costs in warm iterations.
    #[arg(long)]
    time: bool,
    /// List problems that are not solved.
    #[arg(long)]
    list: bool,
}

/// What became of a problem.
struct Answer {
    hard: bool,
    report: SolveReport,
    /// By the definition of the corpus: velocities in units of at least 1 m/s.
    residual: f64,
    /// Residual of the impulses in the file.
    before: f64,
    /// In iterations from the warm start, by time; zero if it was not asked for.
    cost: f64,
}

pub fn run(arguments: &SolverArguments) -> Result<(), String> {
    println!(
        "| file | problems | solved % | before % | lost / gained | factorizations: mean | 50 % | 90 % | 99 % | max | cost: mean | 99 % | max | infeasible (false) | unsolved: number | worst |"
    );
    println!("|{}", "---|".repeat(16));
    let mut all = Vec::new();
    let mut easy = Vec::new();
    for file in &arguments.files {
        let records = corpus::read(file)?;
        let mut answers = Vec::new();
        for (k, record) in records.iter().enumerate() {
            let answer = answer(record, arguments).map_err(|e| format!("{}, problem {k}: {e}", file.display()))?;
            if arguments.list && answer.hard && answer.report.status != Status::Converged {
                eprintln!(
                    "{} {k}: {:?} residual {:.1e}, before {:.1e}",
                    file.display(),
                    answer.report.status,
                    answer.residual,
                    answer.before
                );
            }
            answers.push(answer);
        }
        let (hard, others): (Vec<_>, Vec<_>) = answers.into_iter().partition(|a| a.hard);
        print(&name(file), &hard);
        all.extend(hard);
        easy.extend(others);
    }
    print("**all hard**", &all);
    print("**easy**", &easy);
    for status in Status::ALL {
        let count = all.iter().filter(|a| a.report.status == status).count();
        println!("{}: {count}", status.name());
    }
    for stage in Stage::ALL {
        let count = all.iter().filter(|a| a.report.stage == stage && a.residual <= SOLVED).count();
        if count > 0 {
            println!("solved by {}: {count}", stage.name());
        }
    }
    Ok(())
}

fn name(file: &Path) -> String {
    let part = file.parent().and_then(|p| p.file_name()).unwrap_or_default();
    format!("{}/{}", part.to_string_lossy(), file.file_stem().unwrap_or_default().to_string_lossy())
}

fn answer(record: &Record, arguments: &SolverArguments) -> Result<Answer, String> {
    let problem = record.problem()?;
    let mut solution = Solution::default();
    let solver = if arguments.cold { Solver::Cold } else { Solver::Auto };
    let mut go = |budget: u32| {
        let begin = Instant::now();
        let report = solve(&problem, solver, arguments.tolerance, budget, Some(&record.warm), &mut solution);
        (report, begin.elapsed().as_secs_f64(), solution.lambda().to_vec())
    };
    let (report, first, lambda) = go(arguments.budget);
    let report = report.map_err(|e| e.to_string())?;
    let cost = if arguments.time {
        let whole = (0..2).map(|_| go(arguments.budget).1).fold(first, f64::min);
        let (none, one) =
            (0..3).map(|_| (go(0).1, go(1).1)).fold((f64::MAX, f64::MAX), |m, t| (m.0.min(t.0), m.1.min(t.1)));
        (whole - none) / (one - none).max(1e-7)
    } else {
        0.0
    };
    let grade = |lambda: &[f64]| residual(&problem, lambda).map_err(|e| e.to_string());
    Ok(Answer { hard: record.hard, report, residual: grade(&lambda)?, before: grade(&record.end)?, cost })
}

fn print(name: &str, answers: &[Answer]) {
    if answers.is_empty() {
        return;
    }
    let share = |count: usize| 100.0 * count as f64 / answers.len() as f64;
    let count = |is_meant: &dyn Fn(&Answer) -> bool| answers.iter().filter(|a| is_meant(a)).count();
    let quantile = |of: &dyn Fn(&Answer) -> f64, q: f64| {
        let mut x: Vec<f64> = answers.iter().map(of).collect();
        x.sort_by(f64::total_cmp);
        x[((x.len() - 1) as f64 * q) as usize]
    };
    let mean = |of: &dyn Fn(&Answer) -> f64| answers.iter().map(of).sum::<f64>() / answers.len() as f64;
    let spent = |a: &Answer| f64::from(a.report.iterations);
    let cost = |a: &Answer| a.cost;
    let (solved, before) = (|a: &Answer| a.residual <= SOLVED, |a: &Answer| a.before <= SOLVED);
    let infeasible = |a: &Answer| a.report.status == Status::Infeasible;
    let left = |a: &Answer| !solved(a) && !infeasible(a);
    let worst = answers.iter().filter(|a| left(a)).map(|a| a.residual).fold(0.0, f64::max);
    println!(
        "| {name} | {} | {:.1} | {:.1} | {} / {} | {:.1} | {} | {} | {} | {} | {:.1} | {:.0} | {:.0} | {} ({}) | {} | {worst:.0e} |",
        answers.len(),
        share(count(&solved)),
        share(count(&before)),
        count(&|a| before(a) && !solved(a)),
        count(&|a| solved(a) && !before(a)),
        mean(&spent),
        quantile(&spent, 0.5),
        quantile(&spent, 0.9),
        quantile(&spent, 0.99),
        quantile(&spent, 1.0),
        mean(&cost),
        quantile(&cost, 0.99),
        quantile(&cost, 1.0),
        count(&infeasible),
        count(&|a| infeasible(a) && a.before < LARGE),
        count(&left),
    );
}
