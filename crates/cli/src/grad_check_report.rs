//! What `slipstick grad-check` prints. Text and JSON have the same keys.

use crate::output::say;
use serde_json::{Map, Value, json};
use slipstick::Model;
use slipstick::check::grad_check::{Errors, GradReport, ParameterError, Sample, StateReport, WorstEntry, block_names};
use std::collections::BTreeMap;
use std::path::Path;

pub fn print(model: &Model, report: &GradReport, saved: Option<&Path>) {
    let [left_out, flagged] = [report.left_out_share(), report.flagged_share()].map(|share| 100.0 * share);
    say!(
        "{}: {} states, {} skipped ({left_out:.1} %), {} at a corner ({flagged:.1} %)",
        model.name(),
        report.states,
        report.left_out,
        report.flagged
    );
    let [columns, corners, one_side] = report.columns;
    say!("  {:<14} {columns}, {corners} at a corner, {one_side} of these right on one side", "columns");
    say!("  {:<14} {} columns", "wrong_unflagged", report.wrong_unflagged);
    let modes: Vec<String> = report.modes.iter().map(|(m, [n, out])| format!("{m} {n} ({out} at a corner)")).collect();
    say!("  {:<14} {}", "modes", modes.join(", "));
    say!("  {:<14} {:<32} {:>7} {:>13} {:>12}", "block", "mode", "states", "median_error", "worst_error");
    for (name, errors) in report.blocks.iter().chain(&report.parameters) {
        print_errors(name, errors);
    }
    print_errors("impulse", &report.impulse);
    say!("  {:<14} {:.1e}", "adjoint_error", report.adjoint_error);
    if let Some((sample, p)) = report.worst_parameter() {
        let error = p.error.unwrap_or(0.0);
        say!("  {:<14} {error:.1e} of {}: {}", "parameters", entry_name(model, p), sample.origin);
    }
    for (what, times) in &report.unsupported {
        say!("  {:<14} {what} ({times} times)", "unsupported");
    }
    if let Some(w) = report.worst.first() {
        say!("  {:<14} {}: {} ({})", "worst_state", describe(&w.entry), w.sample.origin, w.mode);
    }
    for (sample, error) in report.failures.iter().take(5) {
        say!("  {:<14} {error}: {}", "failed", sample.origin);
    }
    match report.failures.len() {
        0 => {}
        n => say!("  {:<14} {n} states in all", "failed"),
    }
    if let Some(file) = saved {
        say!("  {:<14} {}; check it again with --replay", "saved to", file.display());
    }
}

fn print_errors(name: &str, errors: &Errors) {
    let line = |mode: &str, of: Option<&str>| {
        let (n, median, worst) = (errors.count(of), errors.median(of), errors.worst(of));
        say!("  {:<14} {mode:<32} {n:>7} {median:>13.1e} {worst:>12.1e}", if of.is_none() { name } else { "" });
    };
    line("all", None);
    errors.modes().for_each(|mode| line(mode, Some(mode)));
}

fn describe(w: &WorstEntry) -> String {
    let WorstEntry { block, row, column, exact, difference, step, error } = *w;
    format!(
        "{block}[{row}, {column}] is {exact:.9e}, its difference over ±{step:.0e} {difference:.9e}: {error:.1e} off"
    )
}

pub fn to_json(model: &Model, report: &GradReport, saved: Option<&Path>) -> Value {
    let modes: Map<String, Value> =
        report.modes.iter().map(|(m, [n, out])| (m.clone(), json!({ "states": n, "flagged": out }))).collect();
    let [columns, flagged_columns, right_on_one_side] = report.columns;
    let failures: Vec<Value> =
        report.failures.iter().map(|(s, e)| json!({ "state": s.origin, "error": e.to_string() })).collect();
    json!({
        "format": "slipstick-grad-check", "version": 2, "robot": model.name(),
        "states": report.states, "left_out": report.left_out, "left_out_share": report.left_out_share(),
        "flagged": report.flagged, "flagged_share": report.flagged_share(), "wrong_unflagged": report.wrong_unflagged,
        "columns": columns, "flagged_columns": flagged_columns, "flagged_right_on_one_side": right_on_one_side, "modes": modes,
        "median_error": report.median_error(), "worst_error": report.worst_error(),
        "blocks": errors_to_json(&report.blocks), "adjoint_error": report.adjoint_error,
        "parameters": errors_to_json(&report.parameters), "parameters_left_out": report.parameters_left_out,
        "impulse": errors_of(&report.impulse),
        "worst_parameters": report.worst_parameters.values().map(|(sample, p)| {
            json!({ "entry": entry_name(model, p), "error": p.error, "state": sample_to_json(sample) })
        }).collect::<Vec<_>>(),
        "unsupported": report.unsupported, "failures": failures,
        "worst_state": report.worst.first().map(|w| {
            let mut state = sample_to_json(&w.sample);
            state["mode"] = json!(w.mode);
            state["entry"] = entry_to_json(&w.entry);
            state["file"] = json!(saved.map(|f| f.display().to_string()));
            state
        }),
    })
}

fn errors_to_json(errors: &BTreeMap<&'static str, Errors>) -> Value {
    Value::Object(errors.iter().map(|(name, e)| (name.to_string(), errors_of(e))).collect())
}

fn errors_of(e: &Errors) -> Value {
    let of = |mode: Option<&str>| json!({ "states": e.count(mode), "median_error": e.median(mode), "worst_error": e.worst(mode) });
    let mut all = of(None);
    all["modes"] = Value::Object(e.modes().map(|m| (m.to_string(), of(Some(m)))).collect());
    all
}

/// Name of the parameter that is off most.
fn entry_name(model: &Model, p: &ParameterError) -> String {
    let layout = model.parameters().layout();
    layout.name(layout.range(p.group).start + p.worst).unwrap_or_default()
}

fn sample_to_json(s: &Sample) -> Value {
    let wrenches = s.wrenches.iter().map(|w| {
        json!({ "body": w.body.0, "force": w.force.to_array(), "torque": w.torque.to_array(),
            "point": w.point.map(|p| p.to_array()) })
    });
    json!({
        "origin": s.origin, "time": s.x.time, "q": s.x.q, "v": s.x.v, "ctrl": s.ctrl, "tau": s.tau,
        "wrenches": wrenches.collect::<Vec<_>>(),
    })
}

fn entry_to_json(w: &WorstEntry) -> Value {
    json!({
        "block": w.block, "row": w.row, "column": w.column, "exact": w.exact, "difference": w.difference,
        "step": w.step, "error": w.error,
    })
}

pub fn print_state(model: &Model, sample: &Sample, state: &StateReport) {
    say!("{}: {}", model.name(), sample.origin);
    say!("  {:<14} {}{}", "mode", state.mode, if state.left_out { ", skipped" } else { "" });
    let StateReport { columns, flagged, right_on_one_side, wrong_unflagged, .. } = state;
    say!("  {:<14} {columns}, {flagged} at a corner, {right_on_one_side} of these right on one side", "columns");
    say!("  {:<14} {wrong_unflagged} columns", "wrong_unflagged");
    for (name, error) in blocks(state) {
        say!("  {name:<14} {error:.1e}");
    }
    if let Some(error) = state.impulse_error {
        say!("  {:<14} {error:.1e}", "dimpulse");
    }
    say!("  {:<14} {:.1e}", "adjoint_error", state.adjoint_error);
    for p in &state.parameters {
        let error = p.error.map_or("skipped".into(), |e| format!("{e:.1e}"));
        say!("  {:<14} {} ({})", p.group.name(), p.unsupported.clone().unwrap_or(error), entry_name(model, p));
    }
    if let Some(entry) = &state.worst {
        say!("  {:<14} {}", "worst", describe(entry));
    }
}

fn blocks(state: &StateReport) -> impl Iterator<Item = (&'static str, f64)> + '_ {
    block_names()
        .into_iter()
        .zip(&state.errors)
        .flat_map(|(names, errors)| names.into_iter().zip(errors.iter().copied()))
}

pub fn state_to_json(model: &Model, sample: &Sample, state: &StateReport) -> Value {
    let errors: BTreeMap<&str, f64> = blocks(state).collect();
    let parameters: BTreeMap<&str, Value> = state
        .parameters
        .iter()
        .map(|p| (p.group.name(), json!({ "error": p.error, "left_out": p.left_out, "unsupported": p.unsupported })))
        .collect();
    json!({
        "format": "slipstick-grad-check-state", "version": 2, "robot": model.name(), "state": sample_to_json(sample),
        "mode": state.mode, "left_out": state.left_out, "columns": state.columns, "flagged": state.flagged,
        "flagged_right_on_one_side": state.right_on_one_side, "wrong_unflagged": state.wrong_unflagged, "blocks": errors, "impulse_error": state.impulse_error,
        "adjoint_error": state.adjoint_error, "parameters": parameters,
        "worst": state.worst.as_ref().map(entry_to_json),
    })
}
