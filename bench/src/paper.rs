//! The six scenes of the paper's table: which files they are in, or which built-in robots stand in for them.

use std::path::{Path, PathBuf};

/// A robot of the table.
pub struct PaperRobot {
    pub name: &'static str,
    /// In the robot's folder of the models folder.
    pub file: &'static str,
    /// Built-in robot that stands in for it.
    pub builtin: &'static str,
}

pub const ROBOTS: [PaperRobot; 6] = [
    PaperRobot { name: "half_cheetah", file: "paper_scene.xml", builtin: "half_cheetah" },
    PaperRobot { name: "humanoid", file: "humanoid.xml", builtin: "humanoid" },
    PaperRobot { name: "ur5", file: "paper_scene.xml", builtin: "arm" },
    PaperRobot { name: "go1", file: "paper_scene.xml", builtin: "quadruped" },
    PaperRobot { name: "h1", file: "paper_scene.xml", builtin: "biped" },
    PaperRobot { name: "atlas", file: "paper_scene.xml", builtin: "atlas" },
];

/// Where a robot is.
pub struct Place {
    pub file: PathBuf,
    /// The paper's list of pairs.
    pub pairs: Option<PathBuf>,
    /// In words.
    pub source: String,
}

impl PaperRobot {
    /// The robot's file and its list of pairs; the built-in robot's, loudly, if the models folder lacks one of them.
    pub fn find(&self, models: &Path) -> Place {
        let PaperRobot { name, file, builtin } = self;
        let (paper, pairs) = (models.join(name).join(file), models.join(name).join("paper_pairs.json"));
        if paper.is_file() && pairs.is_file() {
            return Place { file: paper, pairs: Some(pairs), source: format!("{name}/{file}") };
        }
        eprintln!(
            "{name}: the paper's scene is SKIPPED, {} is not there; built-in {builtin} stands in",
            paper.display()
        );
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models");
        Place { file: models.join(format!("{builtin}.xml")), pairs: None, source: format!("built-in {builtin}") }
    }
}
