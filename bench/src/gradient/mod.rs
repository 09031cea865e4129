//! Derivatives of the step of six robots, falling and standing, compared with MuJoCo's finite differences, Pinocchio's
//! derivatives of the smooth part and the paper's baseline; all at the same states, right after the step.

pub(crate) mod goals;
pub(crate) mod ours;
mod page;
pub(crate) mod peers;
mod report;
pub(crate) mod times;

use crate::machine::Machine;
use crate::motion_arguments::GradientArguments;
use crate::report::write;
use crate::step::drive::Drive;
use crate::step::peers::{Peers, Way};
use crate::step::scene::{Phase, Scene, with_scenes};
use ours::Ours;
use peers::PeerTimes;
use report::{Figures, Row};
use std::path::Path;

pub fn run(arguments: &GradientArguments) -> Result<(), String> {
    let machine = Machine::look();
    let figures = with_scenes(&arguments.motions, |folder, scenes| time(arguments, folder, scenes))?;
    println!("{}", figures.to_markdown());
    println!("{}", machine.describe());
    if let Some(file) = &arguments.motions.json {
        write(file, &format!("{:#}\n", figures.to_json(&machine)))?;
    }
    if let Some(file) = &arguments.page {
        write(file, &page::write(arguments, &machine, &figures))?;
    }
    Ok(())
}

fn time(arguments: &GradientArguments, folder: &Path, scenes: &[Scene]) -> Result<Figures, String> {
    let mut figures = Figures::default();
    for scene in scenes {
        for phase in Phase::ALL {
            let timed = time_phase(arguments, folder, scene, phase, &mut figures);
            figures.rows.push(timed.map_err(|e| format!("{} {}: {e}", scene.name, phase.name()))?);
        }
    }
    Ok(figures)
}

fn time_phase(
    arguments: &GradientArguments,
    folder: &Path,
    scene: &Scene,
    phase: Phase,
    figures: &mut Figures,
) -> Result<Row, String> {
    let (motions, every) = (&arguments.motions, arguments.every);
    let drive = Drive::of_scene(scene, phase, motions.count, motions.steps, motions.seed);
    let recording = drive.follow(&scene.model, 1)?.recording;
    let peers = Peers::new(motions, folder, scene, phase, &drive, &recording)?;
    let states = (motions.count * motions.steps).div_ceil(every);
    let (mut ours, mut answers) = (Ours::default(), PeerTimes::default());
    // in turns, so that a slow spell of the machine meets all
    for _ in 0..motions.rounds {
        ours.time(&drive, &scene.model, every, motions.repeats)?;
        for way in Way::ALL {
            figures.peers.extend(answers.ask(&peers, way, scene, phase, every, states)?);
        }
    }
    let (nv, source, PeerTimes { mujoco, baseline }) = (scene.model.nv(), scene.source.clone(), answers);
    Ok(Row { name: scene.name, phase: phase.name(), source, nv, states, ours, mujoco, baseline })
}
