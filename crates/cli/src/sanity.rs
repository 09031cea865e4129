//! Numbers that load and are hardly meant.

use crate::check::{Finding, Level, finding};
use slipstick::Model;
use slipstick::model::{Joint, Shape, Transmission};

/// Masses of bodies beyond this ratio make every solver lose digits.
const MASS_RATIO: f64 = 1e5;
/// A shape larger than this (m) is likely to be in millimeters.
const LARGE: f64 = 100.0;
/// Slack when a position is compared with its limits (rad or m): files have few digits.
const SLACK: f64 = 1e-3;

/// Doubts about a model.
pub fn check(model: &Model) -> Vec<Finding> {
    let mut out = Vec::new();
    joints(model, &mut out);
    keyframes(model, &mut out);
    masses(model, &mut out);
    actuators(model, &mut out);
    shapes(model, &mut out);
    out
}

fn warn(out: &mut Vec<Finding>, text: String, hint: &str) {
    out.push(finding(Level::Warning, "", text, hint));
}

fn note(out: &mut Vec<Finding>, text: String, hint: &str) {
    out.push(finding(Level::Note, "", text, hint));
}

/// The joint's limits, if its position lies outside.
fn exceeded(j: &Joint, q: &[f64]) -> Option<[f64; 2]> {
    let x = q[j.q.start];
    j.range.filter(|[lo, hi]| j.q.len() == 1 && (x < lo - SLACK || x > hi + SLACK))
}

fn joints(model: &Model, out: &mut Vec<Finding>) {
    if model.nv() == 0 {
        note(out, "nothing moves: the model has no joints".into(), "a root link moves with --free-root");
    }
    let stuck = |j: &&Joint| j.q.len() == 1 && j.range.is_some_and(|[lo, hi]| hi <= lo);
    for j in model.joints().iter().filter(stuck) {
        warn(out, format!("joint '{}' has an empty range", j.name), "give it a range, or make it fixed");
    }
    let outside = model.joints().iter().filter(|j| exceeded(j, model.neutral()).is_some());
    let names: Vec<&str> = outside.map(|j| j.name.as_str()).collect();
    if !names.is_empty() {
        let text =
            format!("the neutral pose is outside the limits of {} ({})", plural(names.len(), "joint"), few(&names));
        note(out, text, "start from a keyframe");
    }
}

fn keyframes(model: &Model, out: &mut Vec<Finding>) {
    for k in model.keyframes() {
        for j in model.joints() {
            if let Some([lo, hi]) = exceeded(j, &k.q) {
                let x = k.q[j.q.start];
                let text = format!("keyframe '{}': joint '{}' is at {x}, outside {lo} … {hi}", k.name, j.name);
                warn(out, text, "change the keyframe or the limit; check degrees and radians");
            }
        }
        for (a, u) in model.actuators().iter().zip(&k.ctrl) {
            if let Some([lo, hi]) = a.ctrl_range.filter(|[lo, hi]| *u < lo - SLACK || *u > hi + SLACK) {
                let text = format!("keyframe '{}': control of '{}' is {u}, outside {lo} … {hi}", k.name, a.name);
                warn(out, text, "it is clamped to the range");
            }
        }
    }
}

fn masses(model: &Model, out: &mut Vec<Finding>) {
    let masses = model.inertias()[1..].iter().zip(&model.bodies()[1..]).filter(|(i, _)| i.mass > 0.0);
    let order = |a: &&(f64, &str), b: &&(f64, &str)| a.0.total_cmp(&b.0);
    let list: Vec<(f64, &str)> = masses.map(|(i, b)| (i.mass, b.name.as_str())).collect();
    if let (Some(min), Some(max)) = (list.iter().min_by(order), list.iter().max_by(order))
        && max.0 > MASS_RATIO * min.0
    {
        let text = format!("masses differ widely: '{}' has {} kg, '{}' has {} kg", max.1, max.0, min.1, min.0);
        warn(out, text, "check the units; a marker needs no joint of its own");
    }
}

fn actuators(model: &Model, out: &mut Vec<Finding>) {
    for a in model.actuators() {
        if a.gear == [0.0; 6] || a.gain == 0.0 && a.gain_slopes == [0.0; 2] && a.bias == [0.0; 3] {
            warn(out, format!("actuator '{}' has no effect: its gear or gain is zero", a.name), "");
        }
        if let Transmission::Joint(id) = a.transmission
            && model.joints()[id.0].effort.iter().all(|x| x.abs() < 1e-9)
        {
            let text = format!(
                "actuator '{}' acts on joint '{}', whose effort limit is zero",
                a.name,
                model.joints()[id.0].name
            );
            warn(out, text, "give the joint an effort limit, or none");
        }
    }
}

fn shapes(model: &Model, out: &mut Vec<Finding>) {
    for g in model.geoms() {
        let reach = match g.shape {
            Shape::Mesh { mesh } => model.meshes()[mesh.0].vertices.iter().fold(0.0, |m: f64, v| m.max(v.norm())),
            shape => shape.size().into_iter().fold(0.0, f64::max),
        };
        if reach > LARGE && g.body.0 != 0 {
            let text = format!("geom '{}' reaches {reach:.0} m from its center", g.name);
            warn(out, text, "a mesh in millimeters needs scale=\"0.001 0.001 0.001\"");
        }
    }
    if !model.geoms().is_empty() && model.pairs().is_empty() {
        note(
            out,
            "no pair of geoms may collide".into(),
            "see --pairs, contype and conaffinity; a floor comes with --ground",
        );
    }
}

fn plural(n: usize, word: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}

/// The first names of a list.
fn few(names: &[&str]) -> String {
    let dots = if names.len() > 4 { ", …" } else { "" };
    format!("{}{dots}", names[..names.len().min(4)].join(", "))
}
