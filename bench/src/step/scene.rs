//! The six scenes of the benchmarks of steps and gradients: prepared once, loaded by every engine from the same file.

use crate::motion_arguments::Motions;
use crate::paper::{PaperRobot, Place, ROBOTS};
use crate::report::write;
use crate::{peer, tree};
use slipstick::Model;
use slipstick::model::{JointKind, ParameterGroup, Shape};
use slipstick::spatial::Quat;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a robot does for a second.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Falls limp on the floor.
    Drop,
    /// Stands, its joints held by gains.
    Hold,
}

impl Phase {
    pub const ALL: [Phase; 2] = [Phase::Drop, Phase::Hold];

    pub fn name(self) -> &'static str {
        match self {
            Phase::Drop => "drop",
            Phase::Hold => "hold",
        }
    }
}

/// A robot and its floor as every engine gets them.
pub struct Scene {
    pub name: &'static str,
    /// Where the robot came from.
    pub source: String,
    pub model: Model,
    /// For MuJoCo.
    pub xml: PathBuf,
    /// The scene with a motor on every joint: MuJoCo differentiates with respect to controls, not forces.
    pub motors: PathBuf,
    /// Tree and shapes for Pinocchio.
    pub tree: PathBuf,
    pub shapes: PathBuf,
    /// Configurations at the start of the phases.
    starts: [Vec<f64>; 2],
    /// Stiffness (N·m/rad) and damping (N·m·s/rad) of held joints.
    gains: [f64; 2],
}

impl Scene {
    pub fn start(&self, phase: Phase) -> &[f64] {
        &self.starts[phase as usize]
    }

    /// Stiffness and damping of the joints.
    pub fn gains(&self, phase: Phase) -> [f64; 2] {
        match phase {
            Phase::Drop => [0.0; 2],
            Phase::Hold => self.gains,
        }
    }
}

/// Prepares the chosen scenes in a folder, hands both on, and removes the folder.
pub fn with_scenes<T>(motions: &Motions, work: impl FnOnce(&Path, &[Scene]) -> Result<T, String>) -> Result<T, String> {
    let Some(python) = &motions.python else {
        return Err("the scenes need --python, an interpreter that has MuJoCo".to_string());
    };
    let folder = std::env::temp_dir().join(format!("slipstick-bench-{}", std::process::id()));
    let result = prepare(python, &motions.models, &motions.only, &folder).and_then(|scenes| work(&folder, &scenes));
    let _ = fs::remove_dir_all(&folder);
    result
}

fn prepare(python: &Path, models: &Path, only: &str, folder: &Path) -> Result<Vec<Scene>, String> {
    let chosen = ROBOTS.iter().filter(|r| r.name.contains(only));
    let scenes: Vec<Scene> = chosen
        .map(|robot| prepare_one(python, robot, robot.find(models), folder).map_err(|e| format!("{}: {e}", robot.name)))
        .collect::<Result<_, String>>()?;
    if scenes.is_empty() { Err(format!("no scene's name contains '{only}'")) } else { Ok(scenes) }
}

/// Prepares the scene of a robot in a folder.
pub fn prepare_one(python: &Path, robot: &'static PaperRobot, place: Place, folder: &Path) -> Result<Scene, String> {
    let name = robot.name;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("mujoco/step.py");
    let absolute = |p: PathBuf| fs::canonicalize(&p).map_err(|e| format!("{}: {e}", p.display()));
    let (path, pairs_file) = (absolute(place.file)?, place.pairs.map(absolute).transpose()?);
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut command = Command::new(python);
    command.current_dir(folder); // MuJoCo leaves a log of its warnings where it is run
    let json = peer::ask(python, command.arg(script).arg(name).arg(path).arg(folder).args(pairs_file))?;
    let read = || {
        let gains = [json["kp"].as_f64()?, json["kd"].as_f64()?];
        let starts = [peer::numbers(&json["drop"])?, peer::numbers(&json["hold"])?];
        Some((json["pairs"].as_u64()? as usize, gains, starts))
    };
    let (pairs, gains, starts) = read().ok_or_else(|| peer::strange(python))?;
    let (xml, motors) = (folder.join(format!("{name}.xml")), folder.join(format!("{name}.motors.xml")));
    let model = slipstick::load(&xml).map_err(|e| e.to_string())?;
    if model.pairs().len() != pairs {
        return Err(format!("we test {} pairs, MuJoCo {pairs}", model.pairs().len()));
    }
    let (tree, shapes) = (folder.join(format!("{name}.tree")), folder.join(format!("{name}.shapes")));
    write(&tree, &tree::write_model(name, &model))?;
    write(&shapes, &write_shapes(&model)?)?;
    Ok(Scene { name, source: place.source, model, xml, motors, tree, shapes, starts, gains })
}

/// Passive forces, shapes and pairs as plain text (`bench/pinocchio/step_shapes.hpp` reads it).
fn write_shapes(model: &Model) -> Result<String, String> {
    let friction = model.geoms().first().map_or(0.0, |g| g.surface.friction);
    if model.geoms().iter().any(|g| g.surface.friction != friction) {
        return Err("the baseline's scenes have one coefficient of friction".to_string());
    }
    let mut out = format!("friction {friction:?}\ndt {:?}\n", model.options().dt);
    let references = model.parameters().group(ParameterGroup::SpringReference);
    for joint in tree::joints(model) {
        let (q, v) = (joint.q.start, joint.v.start);
        let passive = match joint.kind {
            JointKind::Revolute { .. } | JointKind::Prismatic { .. } => {
                [model.damping()[v], model.stiffness()[v], references[q] - joint.reference]
            }
            _ => [0.0; 3],
        };
        let _ = writeln!(out, "passive {:?} {:?} {:?}", passive[0], passive[1], passive[2]);
    }
    write_geoms(model, &mut out);
    for pair in model.pairs() {
        let _ = writeln!(out, "pair {} {}", pair.geoms[0].0, pair.geoms[1].0);
    }
    Ok(out)
}

fn write_geoms(model: &Model, out: &mut String) {
    let carriers = tree::carriers(model);
    for geom in model.geoms() {
        let (line, frame) = carriers[geom.body.0];
        let pose = frame * geom.pose;
        let (s, p, q) = (geom.shape.size(), pose.position, Quat::from_matrix(&pose.rotation));
        let _ = write!(out, "shape {} {}", line.map_or(-1, |l| l as i64), geom.shape.name());
        for x in s.into_iter().chain(p.to_array()).chain([q.w, q.x, q.y, q.z]) {
            let _ = write!(out, " {x:?}");
        }
        let Shape::Mesh { mesh } = geom.shape else {
            out.push_str(" 0 0\n");
            continue;
        };
        let mesh = &model.meshes()[mesh.0];
        let _ = writeln!(out, " {} {}", mesh.vertices.len(), mesh.triangles.len());
        for v in &mesh.vertices {
            let _ = writeln!(out, "{:?} {:?} {:?}", v.x, v.y, v.z);
        }
        for t in &mesh.triangles {
            let _ = writeln!(out, "{} {} {}", t[0], t[1], t[2]);
        }
    }
}
