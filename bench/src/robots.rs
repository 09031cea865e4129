//! The six robots of the paper's table: from the models folder, or built-in ones of the same kind.

use slipstick::{LoadOptions, Model};
use std::path::Path;

/// Name, file in the models folder, whether its root floats, built-in that stands in for it.
const ROBOTS: [(&str, &str, bool, &str); 6] = [
    ("ur5", "ur5/example-robot-data/robots/ur_description/urdf/ur5_robot.urdf", false, "arm"),
    ("half_cheetah", "half_cheetah/paper_scene.xml", false, "half_cheetah"),
    ("go1", "go1/example-robot-data/robots/go1_description/urdf/go1.urdf", true, "quadruped"),
    ("h1", "h1/unitree_ros/h1_description/urdf/h1_paper.urdf", true, "biped"),
    ("humanoid", "humanoid/humanoid.xml", false, "humanoid"),
    ("atlas", "atlas/roboschool/atlas_v4_with_multisense.urdf", true, "atlas"),
];

/// The robots whose name contains `only`, each with where it came from.
pub fn load(folder: &Path, only: &str) -> Result<Vec<(String, Model, String)>, String> {
    let mut out = Vec::new();
    for (name, file, free_root, builtin) in ROBOTS.iter().filter(|r| r.0.contains(only)) {
        let path = folder.join(file);
        let (model, source) = if path.is_file() {
            let mut options = LoadOptions::default();
            options.free_root = *free_root;
            (slipstick::load_with(&path, &options).map_err(|e| e.to_string())?, (*file).to_string())
        } else {
            (slipstick::builtin(builtin).map_err(|e| e.to_string())?, format!("built-in {builtin}"))
        };
        out.push(((*name).to_string(), model, source));
    }
    if out.is_empty() {
        return Err(format!("no robot's name contains '{only}'"));
    }
    Ok(out)
}
