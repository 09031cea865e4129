//! The six scenes of the step benchmark: prepared once, loaded by every engine from the same file.

use crate::report::write;
use crate::{step_peers, tree};
use slipstick::spatial::{Pose, Quat};
use slipstick::{Joint, JointKind, Model, ParameterGroup, Shape};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Name, file in the models folder, built-in robot that stands in for it.
pub const ROBOTS: [(&str, &str, &str); 6] = [
    ("half_cheetah", "paper_scene.xml", "half_cheetah"),
    ("humanoid", "humanoid.xml", "humanoid"),
    ("ur5", "paper_scene.xml", "arm"),
    ("go1", "paper_scene.xml", "quadruped"),
    ("h1", "paper_scene.xml", "biped"),
    ("atlas", "paper_scene.xml", "atlas"),
];

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
    /// Tree and shapes for Pinocchio.
    pub tree: PathBuf,
    pub shapes: PathBuf,
    /// Configurations at the start of the phases.
    starts: [Vec<f64>; 2],
    /// Stiffness [N·m/rad] and damping [N·m·s/rad] of held joints.
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

/// Prepares the scenes whose name contains `only` in a folder.
pub fn prepare(python: &Path, models: &Path, only: &str, folder: &Path) -> Result<Vec<Scene>, String> {
    let chosen = ROBOTS.iter().filter(|r| r.0.contains(only));
    let scenes: Vec<Scene> = chosen
        .map(|(name, file, builtin)| {
            prepare_one(python, models, folder, name, file, builtin).map_err(|e| format!("{name}: {e}"))
        })
        .collect::<Result<_, String>>()?;
    if scenes.is_empty() { Err(format!("no scene's name contains '{only}'")) } else { Ok(scenes) }
}

/// A robot's file, its list of pairs and where it came from; the built-in robot if the models folder lacks it.
fn file_of(models: &Path, name: &str, file: &str, builtin: &str) -> (PathBuf, Option<PathBuf>, String) {
    let paper = models.join(name).join(file);
    let pairs_file = models.join(name).join("paper_pairs.json");
    if paper.is_file() && pairs_file.is_file() {
        return (paper, Some(pairs_file), format!("{name}/{file}"));
    }
    eprintln!("{name}: the paper's scene is SKIPPED, {} is not there; built-in {builtin} stands in", paper.display());
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models");
    (models.join(format!("{builtin}.xml")), None, format!("built-in {builtin}"))
}

fn prepare_one(
    python: &Path,
    models: &Path,
    folder: &Path,
    name: &'static str,
    file: &str,
    builtin: &str,
) -> Result<Scene, String> {
    let (path, pairs_file, source) = file_of(models, name, file, builtin);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("mujoco/step.py");
    let absolute = |p: PathBuf| fs::canonicalize(&p).map_err(|e| format!("{}: {e}", p.display()));
    let (path, pairs_file) = (absolute(path)?, pairs_file.map(absolute).transpose()?);
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut command = Command::new(python);
    command.current_dir(folder); // MuJoCo leaves a log of its warnings where it is run
    let json = step_peers::ask(python, command.arg(script).arg(name).arg(path).arg(folder).args(pairs_file))?;
    let read = || {
        let gains = [json["kp"].as_f64()?, json["kd"].as_f64()?];
        let starts = [step_peers::numbers(&json["drop"])?, step_peers::numbers(&json["hold"])?];
        Some((json["pairs"].as_u64()? as usize, gains, starts))
    };
    let (pairs, gains, starts) = read().ok_or_else(|| step_peers::strange(python))?;
    let xml = folder.join(format!("{name}.xml"));
    let model = slipstick::load(&xml).map_err(|e| e.to_string())?;
    if model.pairs().len() != pairs {
        return Err(format!("we test {} pairs, MuJoCo {pairs}", model.pairs().len()));
    }
    let (tree, shapes) = (folder.join(format!("{name}.tree")), folder.join(format!("{name}.shapes")));
    write(&tree, &tree::write_model(name, &model))?;
    write(&shapes, &write_shapes(&model)?)?;
    Ok(Scene { name, source, model, xml, tree, shapes, starts, gains })
}

/// Passive forces, shapes and pairs as plain text (`bench/pinocchio/step_shapes.hpp` reads it).
fn write_shapes(model: &Model) -> Result<String, String> {
    let friction = model.geoms().first().map_or(0.0, |g| g.surface.friction);
    if model.geoms().iter().any(|g| g.surface.friction != friction) {
        return Err("the recipe's scenes have one coefficient of friction".to_string());
    }
    let mut out = format!("friction {friction:?}\ndt {:?}\n", model.options().dt);
    let references = model.parameters().group(ParameterGroup::SpringReference);
    for joint in lines(model) {
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

/// The model's joint behind each joint line of the tree file, in its order.
fn lines(model: &Model) -> impl Iterator<Item = &Joint> {
    let n_lines = |j: &Joint| match j.kind {
        JointKind::Planar => 3,
        JointKind::Free if model.armature()[j.v.start] != 0.0 => 2,
        _ => 1,
    };
    let of_body = move |body| model.joints().iter().filter(move |j| j.body.0 == body);
    (1..model.n_bodies()).flat_map(of_body).flat_map(move |j| std::iter::repeat_n(j, n_lines(j)))
}

/// For each body its last joint line (`None`: the world) and its frame there: the line's frame is at the joint's anchor.
fn carriers(model: &Model) -> Vec<(Option<usize>, Pose)> {
    let mut carriers = vec![(None, Pose::IDENTITY); model.n_bodies()];
    for (k, joint) in lines(model).enumerate() {
        carriers[joint.body.0] = (Some(k), Pose::translation(-joint.anchor));
    }
    carriers
}

fn write_geoms(model: &Model, out: &mut String) {
    let carriers = carriers(model);
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
