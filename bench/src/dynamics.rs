//! RNEA, ABA, CRBA with its factor, and their derivatives: what users call, checks included.

use crate::report::{self, Robot, Row, Timing};
use crate::states::{self, Sample};
use crate::{Dynamics, peer, robots};
use slipstick::Model;
use slipstick::dynamics::Workspace;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

/// Algorithm, names of the peer's variants of it, goal for ours / peer.
const ALGORITHMS: [(&str, &[&str], f64); 6] = [
    ("rnea", &["rnea"], 0.7),
    ("aba", &["aba_local", "aba_world"], 0.7),
    ("crba_factor", &["crba_factor_local", "crba_factor_world"], 0.7),
    ("rnea_derivatives", &["rnea_derivatives"], 0.7),
    ("aba_derivatives", &["aba_derivatives"], 0.5),
    ("fk_derivatives", &["fk_derivatives"], 0.7),
];

pub fn run(arguments: &Dynamics) -> Result<(), String> {
    let mut version = None;
    let mut table = Vec::new();
    for (name, model, source) in robots::load(&arguments.models, &arguments.only)? {
        let samples = states::random(&model, arguments.states, arguments.seed);
        let (mut ours, mut theirs) = (BTreeMap::new(), BTreeMap::new());
        // in turns, so that a slow spell of the machine meets both
        for _ in 0..arguments.rounds {
            keep_better(&mut ours, time_all(&model, &samples, arguments.repeats)?);
            if let Some(program) = &arguments.pinocchio {
                let answer = peer::pinocchio(program, &name, &model, &samples, arguments.repeats)?;
                same_problem(&name, &model, &samples[0], &answer.tau)?;
                keep_better(&mut theirs, answer.timings);
                version = Some(answer.version);
            }
        }
        let rows = ALGORITHMS.iter().map(|(algorithm, variants, goal)| Row {
            algorithm,
            ours: ours[*algorithm],
            peer: variants.iter().filter_map(|v| theirs.get(*v)).copied().reduce(Timing::better),
            goal: *goal,
        });
        table.push(Robot { name, source, nv: model.nv(), rows: rows.collect(), variants: theirs });
    }
    report::print(&table);
    if let Some(file) = &arguments.json {
        let text = format!("{:#}\n", report::to_json(&table, version.as_deref()));
        slipstick::files::write_file(file, |out| out.write_all(text.as_bytes()))
            .map_err(|e| format!("{}: {e}", file.display()))?;
    }
    Ok(())
}

fn keep_better(best: &mut BTreeMap<String, Timing>, new: BTreeMap<String, Timing>) {
    for (name, t) in new {
        best.entry(name).and_modify(|b| *b = b.better(t)).or_insert(t);
    }
}

/// Both engines must have been given the same robot and state.
fn same_problem(name: &str, model: &Model, s: &Sample, peer: &[f64]) -> Result<(), String> {
    let mut tau = vec![0.0; model.nv()];
    Workspace::new(model).rnea(model, &s.q, &s.v, &s.a, &[], &mut tau).map_err(|e| e.to_string())?;
    let scale = tau.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    let error = tau.iter().zip(peer).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs())) / scale;
    if peer.len() == tau.len() && error < 1e-9 {
        Ok(())
    } else {
        Err(format!("{name}: the peer's torques differ by {error:.1e} (relative): not the same problem"))
    }
}

fn time_all(model: &Model, samples: &[Sample], repeats: usize) -> Result<BTreeMap<String, Timing>, String> {
    let mut work = Workspace::new(model);
    let mut out = vec![0.0; model.nv()];
    let mut timings = BTreeMap::new();
    let mut add = |name: &str, t: Timing| {
        timings.insert(name.to_string(), t);
    };
    // forward dynamics gets the torques of the sampled accelerations, as the peer does
    let mut torques = vec![vec![0.0; model.nv()]; samples.len()];
    for (s, tau) in samples.iter().zip(&mut torques) {
        work.rnea(model, &s.q, &s.v, &s.a, &[], tau).map_err(|e| e.to_string())?;
        work.aba(model, &s.q, &s.v, tau, &[], &mut out).map_err(|e| e.to_string())?;
    }
    let samples = &samples.iter().zip(&torques).collect::<Vec<_>>()[..];
    add("rnea", time(repeats, samples, |(s, _)| black_box(work.rnea(model, &s.q, &s.v, &s.a, &[], &mut out)).is_ok()));
    add("aba", time(repeats, samples, |(s, tau)| black_box(work.aba(model, &s.q, &s.v, tau, &[], &mut out)).is_ok()));
    add("crba_factor", time(repeats, samples, |(s, _)| black_box(work.factor(model, &s.q)).is_ok()));
    add(
        "rnea_derivatives",
        time(repeats, samples, |(s, _)| black_box(work.rnea_derivatives(model, &s.q, &s.v, &s.a, &[])).is_ok()),
    );
    add(
        "aba_derivatives",
        time(repeats, samples, |(s, tau)| black_box(work.aba_derivatives(model, &s.q, &s.v, tau, &[])).is_ok()),
    );
    add(
        "fk_derivatives",
        time(repeats, samples, |(s, _)| black_box(work.kinematics_derivatives(model, &s.q, &s.v, &s.a)).is_ok()),
    );
    Ok(timings)
}

/// Time per call over passes through all samples; ten passes to warm up.
fn time<S: Copy>(repeats: usize, samples: &[S], mut call: impl FnMut(S) -> bool) -> Timing {
    let mut passes = Vec::with_capacity(repeats);
    for pass in 0..repeats + 10 {
        let start = Instant::now();
        for s in samples {
            black_box(call(*s));
        }
        if pass >= 10 {
            passes.push(start.elapsed().as_secs_f64() * 1e6 / samples.len() as f64);
        }
    }
    Timing::of(passes)
}
