//! Descriptions of robots: load, step, differentiate, write, load again.
#![allow(non_snake_case)]

use crate::case::{Answer, Verdict, finite, load_options};
use slipstick::dynamics::Workspace;
use slipstick::files::{load_str, to_mjcf, to_urdf};
use slipstick::model::Shape;
use slipstick::sensors::Sensors;
use slipstick::{GradientError, Input, Model, Simulator, StepError};

/// Larger models are loaded and not stepped: their time is that of an honest large model.
const MOST_DOFS: usize = 120;
const MOST_GEOMS: usize = 150;
const STEPS: usize = 3;

pub fn text(input: &[u8]) -> Verdict {
    let text = String::from_utf8_lossy(input);
    let options = load_options();
    match load_str("case.xml", &text, &options) {
        Ok(model) => whole(&model).map(|()| Answer::Accepted),
        Err(error) if error.to_string().is_empty() => Err("an error without a message".into()),
        Err(_) => Ok(Answer::Refused),
    }
}

/// Everything that is done with a model.
fn whole(model: &Model) -> Result<(), String> {
    finite("q0", model.neutral())?;
    finite("parameters", model.parameters().values())?;
    if model.nv() > MOST_DOFS || model.geoms().len() > MOST_GEOMS {
        return Ok(());
    }
    steps(model, STEPS)?;
    inverse_dynamics(model)?;
    written(model)
}

/// Steps from the first keyframe, with sensors and the last one's Jacobian.
pub fn steps(model: &Model, n: usize) -> Result<(), String> {
    let mut sim = Simulator::new(model);
    if let Some(k) = model.keyframes().first().filter(|k| !k.name.is_empty()) {
        sim.reset_to_keyframe(&k.name).map_err(|e| format!("a keyframe of the file is refused: {e}"))?;
    }
    let (ctrl, mut sensors) = (vec![0.1; model.nu()], Sensors::new(model));
    for _ in 0..n {
        match sim.step(&Input::ctrl(&ctrl)) {
            Ok(step) => {
                finite("v_next", step.v_next())?;
                finite("residual", &[step.report().residual])?;
                let read = step.sensors(&mut sensors);
                // what a sensor refers to may not be there: a typed error
                if let (Ok(_), Ok(values)) = (read, sensors.values()) {
                    finite("sensors", values)?;
                }
            }
            Err(StepError::Diverged { .. } | StepError::SingularMass { .. }) => return Ok(()),
            Err(other) => return Err(format!("a step from the model's own state: {other}")),
        }
        finite("q", &sim.state().q)?;
    }
    derivatives(&mut sim)
}

fn derivatives(sim: &mut Simulator) -> Result<(), String> {
    let Some(mut step) = sim.last_step() else { return Ok(()) };
    match step.jacobian() {
        Ok(J) => finite("A", &J.A()).and_then(|()| finite("B", &J.B())),
        // the derivative of what the solver did not solve is refused
        Err(GradientError::FailedStep { .. }) => Ok(()),
        Err(error) if error.to_string().is_empty() => Err("a gradient's error without a message".into()),
        Err(_) => Ok(()),
    }
}

/// Forces that keep a state, and the motion that they make.
fn inverse_dynamics(model: &Model) -> Result<(), String> {
    let (mut workspace, n) = (Workspace::new(model), model.nv());
    let (v, a, mut tau) = (vec![0.3; n], vec![-0.2; n], vec![0.0; n]);
    let sound = |e: slipstick::InputError| format!("rnea at the neutral configuration: {e}");
    workspace.rnea(model, model.neutral(), &v, &a, &[], &mut tau).map_err(sound)?;
    finite("tau", &tau)
}

/// What is written can be read, and is the same robot.
fn written(model: &Model) -> Result<(), String> {
    let text = to_mjcf(model);
    let options = load_options();
    let again = load_str("written.xml", &text, &options).map_err(|e| format!("what was written is refused: {e}"))?;
    // a height field that touches nothing is a picture to readers, and left out
    let geoms = |m: &Model| m.geoms().iter().filter(|g| !matches!(g.shape, Shape::HeightField { .. })).count();
    let sizes = |m: &Model| {
        let tree = [m.nq(), m.nv(), m.n_bodies(), m.joints().len(), geoms(m)];
        (tree, [m.nu(), m.na(), m.sensors().len(), m.equalities().len(), m.tendons().len()])
    };
    if sizes(model) != sizes(&again) {
        return Err(format!("sizes {:?} come back as {:?}", sizes(model), sizes(&again)));
    }
    finite("q0 of the written model", again.neutral())?;
    let (urdf, _) = to_urdf(model);
    match infinite_value(&urdf) {
        Some(value) => Err(format!("the URDF says {value}")),
        None => Ok(()),
    }
}

/// An attribute whose numbers are not all finite; names may be what they like.
fn infinite_value(xml: &str) -> Option<String> {
    let quoted: Vec<&str> = xml.split('"').collect();
    let values = quoted.chunks_exact(2).map(|pair| (pair[0].rsplit([' ', '\n']).next().unwrap_or_default(), pair[1]));
    let wrong = |value: &str| value.split_whitespace().any(|x| x.parse::<f64>().is_ok_and(|x| !x.is_finite()));
    let names = ["name=", "link=", "joint=", "filename="];
    values
        .filter(|(name, _)| !names.contains(name))
        .find(|(_, value)| wrong(value))
        .map(|(name, value)| format!("{name}{value}"))
}
