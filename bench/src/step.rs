//! Whole steps of six robots, falling and standing, beside MuJoCo's `mj_step` and the paper's recipe made of Pinocchio
//! and coal.

use crate::report::write;
use crate::step_drive::{Coordinates, Drive, Steps};
use crate::step_report::{Figures, Row};
use crate::step_scene::{Phase, Scene, prepare};
use crate::{StepArguments, step_peers, step_sweep};
use slipstick::{Implicit, Model};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Largest difference of velocities after a first step without contact: more means another robot [m/s].
const SAME: f64 = 1e-4;

pub fn run(arguments: &StepArguments) -> Result<(), String> {
    if arguments.sweep {
        return step_sweep::run(arguments);
    }
    let Some(python) = &arguments.python else {
        return Err("the scenes need --python, an interpreter that has MuJoCo".to_string());
    };
    let folder = std::env::temp_dir().join(format!("slipstick-bench-step-{}", std::process::id()));
    let figures =
        prepare(python, &arguments.models, &arguments.only, &folder).and_then(|s| time(arguments, &folder, &s));
    let _ = fs::remove_dir_all(&folder);
    let figures = figures?;
    figures.print();
    if let Some(file) = &arguments.json {
        write(file, &format!("{:#}\n", figures.to_json()))?;
    }
    Ok(())
}

fn time(arguments: &StepArguments, folder: &Path, scenes: &[Scene]) -> Result<Figures, String> {
    let mut figures = Figures::default();
    for scene in scenes {
        for phase in Phase::ALL {
            let timed = time_phase(arguments, folder, scene, phase, &mut figures);
            timed.map_err(|e| format!("{} {}: {e}", scene.name, phase.name()))?;
        }
    }
    Ok(figures)
}

fn time_phase(
    arguments: &StepArguments,
    folder: &Path,
    scene: &Scene,
    phase: Phase,
    figures: &mut Figures,
) -> Result<(), String> {
    let drive = Drive::new(scene, phase, arguments.motions, arguments.steps, arguments.seed);
    let mut ours = drive.follow(&scene.model, 1)?;
    // own ways and our states, in the coordinates of each peer
    let text = |name: &str, text: String| {
        let file = folder.join(name);
        write(&file, &text).map(|()| file)
    };
    let (own, given) = (Coordinates::File, Coordinates::FromPose);
    let files = [
        text("mujoco.own", drive.write(&scene.model, own))?,
        text("mujoco.given", drive.write_states(&scene.model, &ours.recording, own))?,
        text("recipe.own", drive.write(&scene.model, given))?,
        text("recipe.given", drive.write_states(&scene.model, &ours.recording, given))?,
    ];
    let repeats = arguments.repeats.to_string();
    let ask = |k: usize| -> Result<Option<(String, Steps)>, String> {
        let (program, command) = match (k, &arguments.mujoco, &arguments.recipe) {
            (0 | 1, Some(program), _) => {
                let margin = if k == 0 { 0.0 } else { arguments.thicker };
                let mut command = Command::new(program);
                command.arg(&scene.xml).arg(&files[k]).arg(&repeats).arg(margin.to_string());
                (program, command)
            }
            (2 | 3, _, Some(program)) => {
                let mut command = Command::new(program);
                command.arg(&scene.tree).arg(&scene.shapes).arg(&files[k]).arg(&repeats);
                (program, command)
            }
            _ => return Ok(None),
        };
        step_peers::steps(program, command).map(Some)
    };
    let mut peers: [Option<Steps>; 4] = Default::default();
    // in turns, so that a slow spell of the machine meets all
    for _ in 0..arguments.rounds {
        ours.steps.keep_better(drive.follow(&scene.model, arguments.repeats)?.steps);
        for (k, peer) in peers.iter_mut().enumerate() {
            if let Some((version, steps)) = ask(k)? {
                figures.versions.insert(version);
                peer.get_or_insert_with(Steps::default).keep_better(steps);
            }
        }
    }
    let explicit = drive.first_velocity(&explicit(&scene.model)?)?;
    let first = [&ours.steps.first_velocity, &ours.steps.first_velocity, &explicit, &explicit];
    for (peer, first) in peers.iter().zip(first).filter_map(|(p, f)| Some((p.as_ref()?, f))) {
        check_peer(phase, ours.steps.best_us.len(), first, peer)?;
    }
    figures.rows.push(Row::new(scene, phase, ours, peers));
    Ok(())
}

/// With joint damping taken at the beginning of the step, as the recipe does.
fn explicit(model: &Model) -> Result<Model, String> {
    let mut options = model.options().clone();
    options.implicit = Implicit::None;
    model.with_options(options).map_err(|e| e.to_string())
}

/// A falling robot touches nothing in its first step, where all engines agree if they have the same robot.
fn check_peer(phase: Phase, steps: usize, first: &[f64], peer: &Steps) -> Result<(), String> {
    if peer.best_us.len() != steps {
        return Err(format!("a peer timed {} steps instead of {steps}", peer.best_us.len()));
    }
    let difference = peer.first_velocity.iter().zip(first).fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
    if phase == Phase::Drop && !matches!(difference.partial_cmp(&SAME), Some(o) if o.is_le()) {
        return Err(format!("a peer's first step differs by {difference:.1e} m/s: not the same robot"));
    }
    Ok(())
}
