//! Whole steps of six robots, falling and standing, compared with MuJoCo's `mj_step` and the paper's baseline made of Pinocchio
//! and coal.

pub(crate) mod drive;
mod motion;
pub(crate) mod peers;
mod report;
pub(crate) mod robot;
pub(crate) mod scene;
mod statistics;
mod sweep;

use crate::motion_arguments::{Motions, StepArguments};
use crate::report::write;
use drive::{Drive, Steps};
use peers::{Peers, Way};
use report::{Figures, Row};
use scene::{Phase, Scene, with_scenes};
use std::path::Path;

pub fn run(arguments: &StepArguments) -> Result<(), String> {
    if arguments.sweep {
        return sweep::run(arguments);
    }
    let motions = &arguments.motions;
    let figures = with_scenes(motions, |folder, scenes| time(motions, folder, scenes))?;
    figures.print();
    if let Some(file) = &motions.json {
        write(file, &format!("{:#}\n", figures.to_json()))?;
    }
    Ok(())
}

fn time(motions: &Motions, folder: &Path, scenes: &[Scene]) -> Result<Figures, String> {
    let mut figures = Figures::default();
    for scene in scenes {
        for phase in Phase::ALL {
            let timed = time_phase(motions, folder, scene, phase, &mut figures);
            timed.map_err(|e| format!("{} {}: {e}", scene.name, phase.name()))?;
        }
    }
    Ok(figures)
}

fn time_phase(
    motions: &Motions,
    folder: &Path,
    scene: &Scene,
    phase: Phase,
    figures: &mut Figures,
) -> Result<(), String> {
    let drive = Drive::of_scene(scene, phase, motions.count, motions.steps, motions.seed);
    let mut ours = drive.follow(&scene.model, 1)?;
    let peers = Peers::new(motions, folder, scene, phase, &drive, &ours.recording)?;
    let mut answers: [Option<Steps>; 4] = Default::default();
    // in turns, so that a slow spell of the machine meets all
    for _ in 0..motions.rounds {
        ours.steps.keep_better(drive.follow(&scene.model, motions.repeats)?.steps);
        for (way, answer) in Way::ALL.into_iter().zip(&mut answers) {
            let Some((program, command)) = peers.command(way, &scene.xml) else { continue };
            let (version, steps) = peers::steps(program, command)?;
            peers.check(way, phase, &steps.first_velocity)?;
            if steps.best_us.len() != ours.steps.best_us.len() {
                return Err(format!("a peer timed {} steps of {}", steps.best_us.len(), ours.steps.best_us.len()));
            }
            figures.versions.insert(version);
            answer.get_or_insert_with(Steps::default).keep_better(steps);
        }
    }
    figures.rows.push(Row::new(scene, phase, ours, answers));
    Ok(())
}
