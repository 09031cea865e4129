//! The six scenes of the paper's table: which files they are in, or which built-in robots stand in for them.

use std::path::{Path, PathBuf};

/// A robot of the table.
pub struct PaperRobot {
    pub name: &'static str,
    /// In the robot's folder of the models folder.
    pub file: &'static str,
    /// Built-in robot that stands in for it.
    pub builtin: &'static str,
    /// Stiffness (N·m/rad) and damping (N·m·s/rad) that hold a joint (`bench/mujoco/scene.py` has the same).
    pub gains: [f64; 2],
    /// Least armature (kg·m²) and damping (N·m·s/rad) of a joint: explicit gains are stable with them.
    pub least: [f64; 2],
    /// Home where the file has none: parts of joint names and angles (rad).
    pub pose: &'static [(&'static str, f64)],
    /// Of a free root at home (rad): both feet of the cheetah touch the floor.
    pub pitch: f64,
}

const PLAIN: PaperRobot = PaperRobot {
    name: "",
    file: "paper_scene.xml",
    builtin: "",
    gains: [0.0; 2],
    least: [0.0; 2],
    pose: &[],
    pitch: 0.0,
};

pub const ROBOTS: [PaperRobot; 6] = [
    PaperRobot { name: "half_cheetah", builtin: "half_cheetah", gains: [200.0, 6.0], pitch: 0.02631, ..PLAIN },
    PaperRobot { name: "humanoid", file: "humanoid.xml", builtin: "humanoid", gains: [1000.0, 8.0], ..PLAIN },
    PaperRobot {
        name: "ur5",
        builtin: "arm",
        gains: [500.0, 15.0],
        least: [0.1, 0.2],
        pose: &[("shoulder_lift_joint", -1.0), ("elbow_joint", 1.4), ("wrist_1_joint", -0.4)],
        ..PLAIN
    },
    PaperRobot {
        name: "go1",
        builtin: "quadruped",
        gains: [60.0, 1.8],
        least: [0.01, 0.2],
        pose: &[("thigh_joint", 0.9), ("calf_joint", -1.8)],
        ..PLAIN
    },
    PaperRobot {
        name: "h1",
        builtin: "biped",
        gains: [1500.0, 45.0],
        least: [0.1, 0.5],
        pose: &[("hip_pitch_joint", -0.3), ("knee_joint", 0.8), ("ankle_joint", -0.5)],
        ..PLAIN
    },
    PaperRobot {
        name: "atlas",
        builtin: "atlas",
        gains: [5000.0, 75.0],
        least: [0.1, 0.5],
        pose: &[("leg_hpy", -0.3), ("leg_kny", 0.6), ("leg_aky", -0.3), ("l_arm_shx", -1.2), ("r_arm_shx", 1.2)],
        ..PLAIN
    },
];

/// Where a robot is.
#[derive(Clone)]
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
        let PaperRobot { name, file, builtin, .. } = self;
        let (paper, pairs) = (models.join(name).join(file), models.join(name).join("paper_pairs.json"));
        if paper.is_file() && pairs.is_file() {
            return Place { file: paper, pairs: Some(pairs), source: format!("{name}/{file}") };
        }
        eprintln!(
            "{name}: the paper's scene is SKIPPED, {} is not there; built-in {builtin} stands in",
            paper.display()
        );
        self.built_in()
    }

    /// The built-in robot that stands in for it.
    pub fn built_in(&self) -> Place {
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/slipstick/models");
        let file = models.join(format!("{}.xml", self.builtin));
        Place { file, pairs: None, source: format!("built-in {}", self.builtin) }
    }
}
