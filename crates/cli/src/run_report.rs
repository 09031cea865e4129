//! What `slipstick run` prints: the summary, and the robot at eleven times. Text and JSON have the same keys.

use crate::output::say;
use crate::run_loop::{Outcome, Sample};
use serde_json::{Value, json};
use slipstick::Model;
use slipstick::rollout::Summary;
use std::collections::BTreeMap;

pub fn print(model: &Model, controller: &str, outcome: &Outcome) {
    let s = &outcome.summary;
    let each = 1e6 * outcome.elapsed.as_secs_f64() / s.steps.max(1) as f64;
    say!(
        "{}: {} steps of {} s, controller {controller}, {each:.1} µs per step",
        model.name(),
        s.steps,
        model.options().dt
    );
    say!("  {:<16} {:.2} per step, at most {}", "contacts", s.mean_contacts(), s.most_contacts);
    say!("  {:<16} {}", "modes", counts(&s.modes));
    say!("  {:<16} {:.2} per step, at most {}", "iterations", s.mean_iterations(), s.most_iterations);
    say!("  {:<16} {}", "stage", counts(&s.stage));
    say!("  {:<16} {}", "status", counts(&s.status));
    say!("  {:<16} {:.1e}", "worst_residual", s.worst_residual);
    say!("  {:<16} {:.1e} m/s", "compliance_shift", s.compliance_shift);
    say!("  {:<16} {:.1e} m", "penetration", s.penetration);
    if let Some(a) = &s.audit {
        let (n, out, failed) = (a.checks, a.left_out, a.failed);
        let worst = format!("worst error {:.1e} in step {}", a.worst_error, a.worst_step);
        say!("  {:<16} {n} derivatives compared, {out} skipped at switches, {failed} failed, {worst}", "audit");
    }
    if let Some([start, end]) = energies(outcome) {
        say!("  {:<16} {start:.5} J at the start, {end:.5} J at the end", "energy");
    }
    print_samples(&outcome.samples);
    if let Some(text) = &outcome.explanation {
        say!("  last step");
        text.lines().for_each(|line| say!("    {line}"));
    }
}

fn print_samples(samples: &[Sample]) {
    let names = ["time (s)", "com z (m)", "kinetic (J)", "potential (J)", "total (J)", "contacts"];
    say!("  {:>9} {:>13} {:>12} {:>12} {:>12} {:>9}", names[0], names[1], names[2], names[3], names[4], names[5]);
    for s in samples {
        let (time, height, total) = (s.state.time, s.com_height, s.kinetic + s.potential);
        say!("  {time:>9.4} {height:>13.6} {:>12.5} {:>12.5} {total:>12.5} {:>9}", s.kinetic, s.potential, s.contacts);
    }
}

/// Words and their counts, without zeros.
fn counts(counts: &BTreeMap<&'static str, usize>) -> String {
    let some: Vec<String> = counts.iter().filter(|(_, n)| **n > 0).map(|(word, n)| format!("{word} {n}")).collect();
    if some.is_empty() { "none".into() } else { some.join(", ") }
}

/// Energy at the start and at the end (J).
fn energies(outcome: &Outcome) -> Option<[f64; 2]> {
    let total = |s: &Sample| s.kinetic + s.potential;
    Some([total(outcome.samples.first()?), total(outcome.samples.last()?)])
}

pub fn print_json(model: &Model, controller: &str, outcome: &Outcome) {
    let rows = outcome.samples.iter().map(|s| {
        json!({
            "time": s.state.time, "com_height": s.com_height, "kinetic": s.kinetic, "potential": s.potential,
            "contacts": s.contacts, "q": s.state.q, "v": s.state.v,
        })
    });
    let warnings: Vec<String> = model.warnings().iter().map(ToString::to_string).collect();
    let mut report = json!({
        "format": "slipstick-run", "version": 2, "model": model.name(), "dt": model.options().dt,
        "solver": model.options().solver.name(), "controller": controller,
        "interrupted": outcome.interrupted, "seconds": outcome.elapsed.as_secs_f64(), "warnings": warnings, "samples": rows.collect::<Vec<_>>(),
    });
    if let (Value::Object(report), Some(text)) = (&mut report, &outcome.explanation) {
        report.insert("explanation".into(), text.lines().collect());
    }
    if let (Value::Object(report), Value::Object(summary)) = (&mut report, summary(&outcome.summary, energies(outcome)))
    {
        report.extend(summary);
    }
    say!("{report:#}");
}

fn summary(s: &Summary, energy: Option<[f64; 2]>) -> Value {
    let audit = s.audit.as_ref().map(|a| {
        json!({ "checks": a.checks, "left_out": a.left_out, "failed": a.failed,
            "worst_error": a.worst_error, "worst_step": a.worst_step })
    });
    json!({
        "audit": audit,
        "steps": s.steps,
        "contacts": { "mean": s.mean_contacts(), "max": s.most_contacts },
        "modes": s.modes,
        "iterations": { "mean": s.mean_iterations(), "max": s.most_iterations },
        "stage": s.stage, "status": s.status,
        "worst_residual": s.worst_residual, "compliance_shift": s.compliance_shift, "penetration": s.penetration,
        "energy": energy.map(|[start, end]| json!({ "start": start, "end": end })),
    })
}
