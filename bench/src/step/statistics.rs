//! What the contact solver reported over many steps, stage by stage.

use serde_json::{Value, json};
use slipstick::ncp::Stage;
use slipstick::{SolveReport, Status};

/// Residual that a solve should reach, and the one that every solve must.
pub const GOOD: f64 = 1e-10;
pub const BOUND: f64 = 1e-8;
/// Share of the steps that may stay above `GOOD`.
pub const SHARE: f64 = 1e-3;
/// Fraction of the steps that may be infeasible.
pub const RARE: f64 = 1e-4;
/// Velocity by which compliance may move contacts (m/s).
pub const SHIFT: f64 = 1e-6;

const QUANTILES: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// One solve.
#[derive(Clone, Copy)]
pub struct Observation {
    pub stage: Stage,
    pub status: Status,
    pub residual: f64,
    pub iterations: u32,
    pub contacts: usize,
    pub compliance_shift: f64,
}

impl Observation {
    pub fn of(report: &SolveReport) -> Observation {
        Observation {
            stage: report.stage,
            status: report.status,
            residual: report.residual,
            iterations: report.iterations,
            contacts: report.contacts,
            compliance_shift: report.compliance_shift,
        }
    }
}

/// Many solves.
#[derive(Clone, Default)]
pub struct Statistics {
    solves: Vec<Observation>,
}

impl Statistics {
    pub fn add(&mut self, solve: Observation) {
        self.solves.push(solve);
    }

    pub fn extend(&mut self, other: &Statistics) {
        self.solves.extend_from_slice(&other.solves);
    }

    pub fn len(&self) -> usize {
        self.solves.len()
    }

    fn count(&self, is_meant: impl Fn(&Observation) -> bool) -> usize {
        self.solves.iter().filter(|s| is_meant(s)).count()
    }

    /// Solves of the whole problem with a residual above a bound. Infeasible ones are counted apart.
    pub fn above(&self, bound: f64) -> usize {
        // a residual that is not a number is above every bound
        self.count(|s| {
            s.status != Status::Infeasible && !matches!(s.residual.partial_cmp(&bound), Some(o) if o.is_le())
        })
    }

    pub fn with_status(&self, status: Status) -> usize {
        self.count(|s| s.status == status)
    }

    pub fn largest_residual(&self) -> f64 {
        self.solves.iter().filter(|s| s.status != Status::Infeasible).fold(0.0, |m, s| m.max(s.residual))
    }

    pub fn largest_shift(&self) -> f64 {
        self.solves.iter().fold(0.0, |m, s| m.max(s.compliance_shift))
    }

    /// The promises that do not hold, in words; `shift` is the largest compliance shift that is promised (m/s).
    pub fn broken_promises(&self, shift: f64) -> Vec<String> {
        let n = self.len() as f64;
        let exceptions = self.with_status(Status::Infeasible);
        let promises = [
            (self.above(GOOD) as f64 <= SHARE * n, format!("{} of {n} residuals above {GOOD:.0e}", self.above(GOOD))),
            (self.above(BOUND) == 0, format!("{} of {n} residuals above {BOUND:.0e}", self.above(BOUND))),
            (exceptions as f64 <= RARE * n, format!("{exceptions} of {n} infeasible steps")),
            (self.largest_shift() <= shift, format!("a compliance shift of {:.1e} m/s", self.largest_shift())),
        ];
        promises.into_iter().filter(|(kept, _)| !kept).map(|(_, words)| words).collect()
    }

    /// A row per stage that occurs, then all, as Markdown.
    pub fn print(&self) {
        println!(
            "| stage | steps | fraction | contacts, mean (max) | iterations, mean (max) | residual: median | 90 % | 99 % | 99.9 % | max | above {GOOD:.0e} | above {BOUND:.0e} | infeasible | not converged | compliance shift, max (m/s) |"
        );
        println!("|{}", "---|".repeat(15));
        for (name, part) in self.parts() {
            let q = part.quantiles();
            println!(
                "| {name} | {} | {:.2} % | {:.1} ({:.0}) | {:.2} ({:.0}) | {:.1e} | {:.1e} | {:.1e} | {:.1e} | {:.1e} | {} | {} | {} | {} | {:.1e} |",
                part.len(),
                100.0 * part.len() as f64 / self.len() as f64,
                part.mean(|s| s.contacts as f64),
                part.max(|s| s.contacts as f64),
                part.mean(|s| f64::from(s.iterations)),
                part.max(|s| f64::from(s.iterations)),
                q[0],
                q[1],
                q[2],
                q[3],
                part.largest_residual(),
                part.above(GOOD),
                part.above(BOUND),
                part.with_status(Status::Infeasible),
                part.with_status(Status::NotConverged),
                part.largest_shift()
            );
        }
    }

    /// One row without quantiles.
    pub fn print_brief(&self, name: &str) {
        println!(
            "| {name} | {} | {:.1} ({:.0}) | {:.1e} | {} | {} | {} | {} | {:.1e} |",
            self.len(),
            self.mean(|s| s.contacts as f64),
            self.max(|s| s.contacts as f64),
            self.largest_residual(),
            self.above(GOOD),
            self.above(BOUND),
            self.with_status(Status::Infeasible),
            self.with_status(Status::NotConverged),
            self.largest_shift()
        );
    }

    pub fn to_json(&self) -> Value {
        let part = |(name, p): (&str, Statistics)| {
            let q = p.quantiles();
            let figures = json!({ "steps": p.len(), "contacts": p.mean(|s| s.contacts as f64),
                "iterations": { "mean": p.mean(|s| f64::from(s.iterations)), "max": p.max(|s| f64::from(s.iterations)) },
                "residual": { "median": q[0], "p90": q[1], "p99": q[2], "p999": q[3], "max": p.largest_residual() },
                "above_1e-10": p.above(GOOD), "above_1e-8": p.above(BOUND),
                "infeasible": p.with_status(Status::Infeasible),
                "not_converged": p.with_status(Status::NotConverged), "compliance_shift": p.largest_shift() });
            (name.to_string(), figures)
        };
        Value::Object(self.parts().into_iter().map(part).collect())
    }

    fn parts(&self) -> Vec<(&'static str, Statistics)> {
        let of = |stage: Stage| self.solves.iter().filter(|s| s.stage == stage).copied().collect();
        let by_stage = Stage::ALL.map(|stage| (stage.name(), Statistics { solves: of(stage) }));
        by_stage.into_iter().filter(|(_, p)| p.len() > 0).chain([("all", self.clone())]).collect()
    }

    fn quantiles(&self) -> [f64; 4] {
        let mut residuals: Vec<f64> = self.solves.iter().map(|s| s.residual).collect();
        residuals.sort_by(f64::total_cmp);
        QUANTILES.map(|q| residuals.get((q * residuals.len() as f64) as usize).copied().unwrap_or(f64::NAN))
    }

    fn mean(&self, value: impl Fn(&Observation) -> f64) -> f64 {
        self.solves.iter().map(value).sum::<f64>() / self.len().max(1) as f64
    }

    fn max(&self, value: impl Fn(&Observation) -> f64) -> f64 {
        self.solves.iter().map(value).fold(0.0, f64::max)
    }
}
