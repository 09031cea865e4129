//! The figures of a run, and their JSON.

use crate::gradient::ours::Ours;
use crate::gradient::times::Times;
use crate::machine::{Machine, RUSTC};
use crate::report::{mean, median};
use crate::table::measure::Effort;
use crate::table::peers::Verdict;
use crate::table::ratios;
use crate::throughput::{self, RobotThroughput, ThroughputOptions};
use serde_json::{Map, Value, json};

/// All figures of a run.
pub struct Table {
    pub(crate) rows: Vec<Row>,
    pub(crate) machine: Machine,
    effort: Effort,
    throughput: Option<ThroughputOptions>,
}

/// A robot.
pub(crate) struct Row {
    pub name: String,
    pub source: String,
    pub nv: usize,
    pub geometries: usize,
    pub pairs: usize,
    /// Per mesh, on average.
    pub vertices: Option<f64>,
    /// `drop` and `hold`.
    pub phases: Vec<RowPhase>,
    pub throughput: Option<RobotThroughput>,
}

/// A robot in one of its motions.
pub(crate) struct RowPhase {
    pub name: &'static str,
    pub ours: Ours,
    pub peers: Vec<Verdict>,
}

/// What is timed: name in JSON, words, and where it is.
pub(crate) type Quantity = (&'static str, &'static str, fn(&Ours) -> &Times);

pub(crate) const QUANTITIES: [Quantity; 5] = [
    ("step_us", "simulation", |o| &o.step),
    ("jacobian_us", "implicit gradients", |o| &o.jacobian),
    ("vjp_us", "vector-Jacobian product", |o| &o.vjp),
    ("fd_us", "finite differences", |o| &o.central),
    ("fd_forward_us", "  one-sided", |o| &o.forward),
];

impl RowPhase {
    /// What a peer needed for something, if it was run.
    pub fn peer_times(&self, peer: &str, what: &str) -> Option<&Times> {
        let (_, verdict) = self.peers.iter().find(|(name, _)| *name == peer)?;
        verdict.as_ref().ok()?.times.iter().find(|(name, _)| name == what).map(|(_, t)| t)
    }

    fn to_json(&self, row: &Row) -> Value {
        let met = &self.ours.met;
        let mut all = json!({ "contacts": met.contacts(), "difference_from_central": met.difference(),
            "ratios": ratios::to_json(row, self) });
        for (name, _, of) in QUANTITIES {
            all[name] = figures(of(&self.ours));
            all[name]["spread"] = json!(of(&self.ours).spread());
        }
        all
    }
}

impl Row {
    /// Over the states of both motions.
    pub fn times(&self, of: fn(&Ours) -> &Times) -> Times {
        Times::join(self.phases.iter().map(|p| of(&p.ours)))
    }

    /// Of a peer that was run in both.
    pub fn peer_times(&self, peer: &str, what: &str) -> Option<Times> {
        let parts: Option<Vec<&Times>> = self.phases.iter().map(|p| p.peer_times(peer, what)).collect();
        parts.map(Times::join)
    }

    /// Points in the contact problem per timed step.
    pub fn contacts(&self) -> f64 {
        mean(&self.phases.iter().map(|p| p.ours.met.contacts()).collect::<Vec<_>>())
    }

    /// Names of peers, in the order of their columns.
    pub fn peers(&self) -> Vec<&'static str> {
        self.phases.first().map_or(Vec::new(), |p| p.peers.iter().map(|(name, _)| *name).collect())
    }

    /// Why a peer was not run in one of the motions.
    pub fn not_run(&self, peer: &str) -> Option<String> {
        self.phases.iter().find_map(|p| {
            let (_, verdict) = p.peers.iter().find(|(name, _)| *name == peer)?;
            verdict.as_ref().err().map(|why| format!("{}: {why}", p.name))
        })
    }

    fn peer_to_json(&self, peer: &'static str) -> Value {
        if let Some(why) = self.not_run(peer) {
            return json!({ "not_run": why });
        }
        let runs = self.phases.iter().filter_map(|p| p.peers.iter().find(|(name, _)| *name == peer)?.1.as_ref().ok());
        let runs: Vec<_> = runs.collect();
        let Some(first) = runs.first() else { return Value::Null };
        let contacts = mean(&runs.iter().map(|r| r.contacts).collect::<Vec<_>>());
        let mut all = json!({ "who": first.who, "contacts": contacts, "note": first.note });
        for (what, _) in &first.times {
            all[format!("{what}_us")] = self.peer_times(peer, what).map_or(Value::Null, |t| figures(&t));
        }
        all
    }

    fn to_json(&self) -> Value {
        let phases: Map<String, Value> = self.phases.iter().map(|p| (p.name.to_string(), p.to_json(self))).collect();
        let peers: Map<String, Value> =
            self.peers().into_iter().map(|p| (p.to_string(), self.peer_to_json(p))).collect();
        let refusal = self.phases.iter().find_map(|p| p.ours.met.refusal.clone());
        let mut all = json!({ "name": self.name, "source": self.source, "nv": self.nv, "geometries": self.geometries,
            "pairs": self.pairs, "vertices": self.vertices, "contacts": self.contacts(), "phases": phases,
            "peers": peers, "refusal": refusal });
        for (name, _, of) in QUANTITIES {
            all[name] = figures(&self.times(of));
        }
        all
    }
}

/// Numbers over the states of the least time at each.
fn figures(t: &Times) -> Value {
    json!({ "mean": t.mean(), "sd": t.sd(), "median": t.median(), "min": t.min() })
}

impl Table {
    pub(crate) fn new(
        rows: Vec<Row>,
        machine: Machine,
        effort: Effort,
        throughput: Option<ThroughputOptions>,
    ) -> Table {
        Table { rows, machine, effort, throughput }
    }

    /// With the keys `format`, `version`, `machine`, `rustc`, `effort`, `robots` and `throughput`.
    pub fn to_json(&self) -> Value {
        let Effort { steps, every, repeats, rounds, seed } = self.effort;
        json!({ "format": "slipstick-bench", "version": 1, "slipstick": env!("CARGO_PKG_VERSION"),
            "machine": self.machine.to_json(), "rustc": RUSTC,
            "effort": { "steps": steps, "every": every, "repeats": repeats, "rounds": rounds, "seed": seed },
            "robots": self.rows.iter().map(Row::to_json).collect::<Vec<_>>(), "throughput": self.throughput_to_json() })
    }

    fn throughput_to_json(&self) -> Option<Value> {
        let options = self.throughput.as_ref()?;
        let robots: Vec<Value> =
            self.rows.iter().filter_map(|r| Some(r.throughput.as_ref()?.to_json(&r.name))).collect();
        Some(json!({ "environments": options.environments, "threads": options.threads, "robots": robots }))
    }

    /// Throughput, a line per robot and number of threads; empty if it was not measured.
    pub(crate) fn throughput_lines(&self) -> Vec<Vec<String>> {
        match &self.throughput {
            None => Vec::new(),
            Some(_) => {
                throughput::lines(self.rows.iter().filter_map(|r| Some((r.name.as_str(), r.throughput.as_ref()?))))
            }
        }
    }

    /// How far the rounds' means of the same figure are apart, as a share; median of all figures.
    pub(crate) fn spread(&self) -> Option<f64> {
        let phases = self.rows.iter().flat_map(|r| &r.phases);
        let spreads: Vec<f64> =
            phases.flat_map(|p| QUANTITIES.map(|(_, _, of)| of(&p.ours).spread())).flatten().collect();
        (!spreads.is_empty()).then(|| median(&spreads))
    }
}
