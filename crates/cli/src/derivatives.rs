//! `--gradient` and `--perturb` of `slipstick run`: derivatives on the page of a motion.

use crate::names;
use slipstick::Model;
use slipstick::spatial::Vec3;
use slipstick_view::{Output, Perturbation, Replay};

/// Adds what the options ask for to a replay.
pub fn apply(mut replay: Replay, gradients: &[String], changes: &[String]) -> Result<Replay, String> {
    for text in gradients {
        let output = output(replay.model(), text)?;
        replay = replay.with_gradient_of(output).map_err(|e| format!("--gradient {text}: {e}"))?;
    }
    if changes.is_empty() {
        return Ok(replay);
    }
    let along = perturbation(replay.model(), changes)?;
    replay.with_perturbation(&changes.join(", "), along).map_err(|e| format!("--perturb: {e}"))
}

/// `velocity:BODY:AXIS` or `position:BODY:AXIS`. Names of bodies may have colons.
fn output(model: &Model, text: &str) -> Result<Output, String> {
    let wrong = |expected: &str| format!("--gradient {text}: expected {expected}");
    let form = "velocity:BODY:AXIS or position:BODY:AXIS";
    let (quantity, rest) = text.split_once(':').ok_or_else(|| wrong(form))?;
    let (body, axis) = rest.rsplit_once(':').ok_or_else(|| wrong(form))?;
    let place = ["x", "y", "z"].iter().position(|word| *word == axis);
    let axis = Vec3::UNITS[place.ok_or_else(|| wrong("x, y or z as axis"))?];
    let made = match quantity {
        "velocity" => Output::velocity(model, body, axis),
        "position" => Output::position(model, body, axis),
        _ => return Err(wrong(form)),
    };
    made.map_err(|e| format!("--gradient {text}: {e}"))
}

/// `v:DOF=NUMBER` for q, v, tau and ctrl, several at once.
fn perturbation(model: &Model, texts: &[String]) -> Result<Perturbation, String> {
    let (nv, nu) = (model.nv(), model.nu());
    let mut all = Perturbation { q: vec![0.0; nv], v: vec![0.0; nv], tau: vec![0.0; nv], ctrl: vec![0.0; nu] };
    let actuators: Vec<String> = model.actuators().iter().map(|a| a.name.clone()).collect();
    for text in texts {
        let wrong = |expected: &str| format!("--perturb {text}: expected {expected}");
        let form = "GROUP:NAME=NUMBER with group q, v, tau or ctrl";
        let (group, rest) = text.split_once(':').ok_or_else(|| wrong(form))?;
        let (name, number) = rest.rsplit_once('=').ok_or_else(|| wrong(form))?;
        let number: f64 = number.parse().map_err(|_| wrong("a number after ="))?;
        let (numbers, known) = match group {
            "q" => (&mut all.q, model.dof_names()),
            "v" => (&mut all.v, model.dof_names()),
            "tau" => (&mut all.tau, model.dof_names()),
            "ctrl" => (&mut all.ctrl, &actuators[..]),
            _ => return Err(wrong(form)),
        };
        let place = known.iter().position(|other| other == name);
        let unknown = || format!("--perturb {text}: {}", names::hint(name, known.iter().map(String::as_str)));
        numbers[place.ok_or_else(unknown)?] = number;
    }
    Ok(all)
}
