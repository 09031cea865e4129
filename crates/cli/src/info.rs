//! `slipstick info`: a robot at a glance.

use crate::output::say;
use crate::settings;
use crate::source::{self, Source};
use serde_json::{Map, Value, json};
use slipstick::Model;
use slipstick::model::{Actuator, BodyId, Dynamics, Joint, PairRule, Transmission};
use std::collections::BTreeMap;

/// Arguments of `slipstick info`.
#[derive(clap::Args)]
#[command(
    after_help = "Example: slipstick info quadruped\n         slipstick info robot.urdf --free-root --json\n         \
                        slipstick info quadruped --parameters"
)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    /// List the parameters by group, with the names that `slipstick run --set` takes; in JSON they are added.
    #[arg(long)]
    parameters: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub fn main(arguments: &Arguments) -> Result<(), String> {
    let model = source::load(&arguments.source)?;
    match (arguments.json, arguments.parameters) {
        (true, wanted) => say!("{:#}", to_json(&model, wanted)),
        (false, true) => print_parameters(&model),
        (false, false) => print_summary(&model),
    }
    Ok(())
}

fn print_parameters(model: &Model) {
    for (group, entries) in settings::list(model) {
        say!("{group} ({})", entries.len());
        entries.iter().for_each(|(name, value)| say!("  {name:<40} {value}"));
    }
}

/// A few lines: sizes, tree, geoms, pairs, actuators, warnings, notes.
pub fn print_summary(model: &Model) {
    let o = model.options();
    say!("{}: {} dofs (nq {}, nv {}), {} controls", model.name(), model.nv(), model.nq(), model.nv(), model.nu());
    say!("  mass {:.4} kg in {} moving bodies, {} links", model.total_mass(), model.n_bodies() - 1, n_links(model));
    say!("  time step {} s, gravity {:?} m/s²", o.dt, o.gravity);
    let names: Vec<&str> = model.keyframes().iter().map(|k| k.name.as_str()).collect();
    say!("  keyframes: {}", if names.is_empty() { "none".to_string() } else { names.join(", ") });
    let geoms: Vec<String> = geoms_by_shape(model).iter().map(|(shape, n)| format!("{n} {shape}")).collect();
    say!("  geoms: {}", if geoms.is_empty() { "none".to_string() } else { geoms.join(", ") });
    say!("  collision pairs: {} (rule: {})", model.pairs().len(), rule(model));
    say!("tree");
    print_tree(model, BodyId(0), 1);
    if model.nu() > 0 {
        say!("actuators");
        for a in model.actuators() {
            let range = a.ctrl_range.map_or("any ctrl".to_string(), |[lo, hi]| format!("ctrl {lo} … {hi}"));
            let (on, off) = (target(model, a), if a.enabled { "" } else { ", switched off" });
            say!("  {} on {on}: gain {}, bias {:?}, {range}{}{off}", a.name, a.gain, a.bias, dynamics(a));
        }
    }
    let counts = [
        (model.tendons().len(), "tendons"),
        (model.equalities().len(), "equality constraints"),
        (model.sensors().len(), "sensors"),
    ];
    for (n, what) in counts.into_iter().filter(|(n, _)| *n > 0) {
        say!("{what}: {n}");
    }
    if !model.warnings().is_empty() {
        say!("warnings");
        model.warnings().iter().for_each(|w| say!("  {w}"));
    }
    if !model.notes().is_empty() {
        say!("notes");
        model.notes().iter().for_each(|n| say!("  {n}"));
    }
}

/// How the list of pairs was made.
fn rule(model: &Model) -> &'static str {
    match model.pair_rule() {
        PairRule::Mujoco => "mujoco",
        PairRule::Paper => "paper",
        PairRule::List(_) => "list",
        _ => "other",
    }
}

fn n_links(model: &Model) -> usize {
    model.frames().iter().filter(|f| f.inertia.is_some()).count() - 1
}

fn print_tree(model: &Model, parent: BodyId, depth: usize) {
    // an explicit stack: a chain of thousands of links must not exhaust the call stack
    let mut stack = vec![(parent, depth)];
    while let Some((body, depth)) = stack.pop() {
        if body != BodyId::WORLD {
            let joints: Vec<String> = joints_of(model, body).map(describe).collect();
            let indent = "  ".repeat(depth);
            say!(
                "{indent}{} ({:.4} kg): {}",
                model.bodies()[body.0].name,
                model.inertias()[body.0].mass,
                joints.join(", ")
            );
        }
        let children = (1..model.n_bodies()).filter(|i| model.bodies()[*i].parent == body);
        let deeper = if body == BodyId::WORLD { depth } else { depth + 1 };
        stack.extend(children.rev().map(|i| (BodyId(i), deeper)));
    }
}

fn joints_of(model: &Model, body: BodyId) -> impl Iterator<Item = &Joint> {
    model.joints().iter().filter(move |j| j.body == body)
}

fn describe(j: &Joint) -> String {
    let range = j.range.map_or(String::new(), |[lo, hi]| format!(" {lo:.3} … {hi:.3}"));
    format!("{} {}{range}", j.kind.name(), j.name)
}

fn geoms_by_shape(model: &Model) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for g in model.geoms() {
        *counts.entry(g.shape.name()).or_insert(0) += 1;
    }
    counts
}

/// What stands between control and force of an actuator.
fn dynamics(a: &Actuator) -> String {
    match a.activation.map(|activation| activation.dynamics) {
        None => String::new(),
        Some(Dynamics::Filter { time_constant }) => format!(", filter {time_constant} s"),
        Some(Dynamics::ExactFilter { time_constant }) => format!(", exact filter {time_constant} s"),
        Some(_) => ", integrator".into(),
    }
}

/// Name of the joint, tendon or site that an actuator acts on.
fn target<'m>(model: &'m Model, a: &Actuator) -> &'m str {
    match a.transmission {
        Transmission::Joint(id) | Transmission::JointInParent(id) => &model.joints()[id.0].name,
        Transmission::Tendon(id) => &model.tendons()[id].name,
        other => other.frames().next().map_or("", |site| &model.frames()[site.0].name),
    }
}

/// JSON has no infinity: an unlimited effort is null.
fn finite(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { Value::Null }
}

fn to_json(model: &Model, parameters: bool) -> Value {
    let bodies = (0..model.n_bodies()).map(|i| {
        let b = &model.bodies()[i];
        let inertia = &model.inertias()[i];
        json!({ "name": b.name, "parent": model.bodies()[b.parent.0].name, "mass": inertia.mass, "com": inertia.com.to_array() })
    });
    let joints = model.joints().iter().map(|j| {
        json!({
            "name": j.name, "type": j.kind.name(), "body": model.bodies()[j.body.0].name,
            "q": [j.q.start, j.q.end], "v": [j.v.start, j.v.end], "range": j.range,
            "effort": j.effort.map(finite), "velocity": finite(j.velocity),
        })
    });
    let links = model.frames().iter().filter_map(|f| {
        f.inertia.map(|i| json!({ "name": f.name, "body": model.bodies()[f.body.0].name, "mass": i.mass }))
    });
    let actuators = model.actuators().iter().map(|a| {
        json!({ "name": a.name, "target": target(model, a), "gain": a.gain, "bias": a.bias,
                "gear": a.gear, "ctrl_range": a.ctrl_range, "force_range": a.force_range,
                "dynamics": dynamics(a).trim_start_matches(", "), "enabled": a.enabled })
    });
    let mut info = json!({
        "format": "slipstick-info", "version": 1,
        "name": model.name(), "nq": model.nq(), "nv": model.nv(), "nu": model.nu(), "na": model.na(),
        "mass": model.total_mass(), "dt": model.options().dt, "gravity": model.options().gravity,
        "bodies": bodies.collect::<Vec<_>>(), "joints": joints.collect::<Vec<_>>(),
        "links": links.collect::<Vec<_>>(), "actuators": actuators.collect::<Vec<_>>(),
        "geoms": model.geoms().len(), "geoms_by_shape": geoms_by_shape(model),
        "pairs": model.pairs().len(), "pair_rule": rule(model), "hash": slipstick::files::content_hash(model),
        "keyframes": model.keyframes().iter().map(|k| k.name.clone()).collect::<Vec<_>>(),
        "warnings": model.warnings().iter().map(|w| {
            json!({ "what": w.what, "where": w.place, "effect": w.effect })
        }).collect::<Vec<_>>(),
        "notes": model.notes(),
    });
    if parameters {
        let entries = settings::list(model).into_iter().flat_map(|(_, entries)| entries);
        info["parameters"] = entries.map(|(name, value)| (name, json!(value))).collect::<Map<_, _>>().into();
    }
    info
}
