//! Real robots: the built-in ones, and those of the folder of shared models where it is present.
#![allow(clippy::print_stderr)] // a test that is skipped says so

use crate::repository;
use slipstick_io::{LoadOptions, load, load_with};
use std::path::PathBuf;

#[test]
fn every_built_in_robot_loads_without_a_warning() {
    let files = std::fs::read_dir(repository().join("crates/slipstick/models")).unwrap();
    let mut count = 0;
    for path in files.flatten().map(|f| f.path()).filter(|p| p.extension().is_some_and(|e| e == "xml")) {
        let model = load(&path).unwrap_or_else(|e| panic!("{e}"));
        assert!(model.warnings().is_empty(), "{:?}", model.warnings());
        count += 1;
    }
    assert!(count > 0, "no built-in robots");
}

/// The folder of shared models, if this machine has it.
pub fn shared_models() -> Option<PathBuf> {
    let folder = std::env::var_os("SLIPSTICK_MODELS").map_or(repository().join("../shared/models"), PathBuf::from);
    let found = folder.is_dir().then_some(folder.clone());
    if found.is_none() {
        eprintln!("SKIPPED: there is no folder {}", folder.display());
    }
    found
}

/// File, nq, nv, mass [kg], geoms that can collide (floor included).
type Row = (&'static str, usize, usize, f64, usize);

const MJCF: [Row; 13] = [
    ("half_cheetah/half_cheetah.xml", 9, 9, 14.0, 9),
    ("half_cheetah/paper_scene.xml", 13, 12, 14.0, 9),
    ("humanoid/humanoid.xml", 28, 27, 40.8440, 20),
    ("humanoid_gym/humanoid.xml", 24, 23, 42.1160, 18),
    ("hopper/hopper.xml", 6, 6, 15.8200, 5),
    ("walker2d/walker2d_v5.xml", 9, 9, 23.6771, 8),
    ("ant/ant.xml", 15, 14, 0.9109, 14),
    ("inverted_pendulum/inverted_double_pendulum.xml", 3, 3, 18.8695, 5),
    ("cartpole/cartpole_swingup.xml", 2, 2, 1.1, 0),
    ("go1/menagerie/go1.xml", 19, 18, 12.7434, 42),
    ("h1/menagerie/h1.xml", 26, 25, 51.4370, 32),
    ("go1/paper_scene.xml", 19, 18, 13.1005, 39),
    ("h1/paper_scene.xml", 26, 25, 51.6010, 25),
];

const URDF: [Row; 6] = [
    ("go1/example-robot-data/robots/go1_description/urdf/go1.urdf", 19, 18, 13.1005, 39),
    ("h1/unitree_ros/h1_description/urdf/h1_paper.urdf", 26, 25, 51.6010, 25),
    ("h1/unitree_ros/h1_description/urdf/h1.urdf", 26, 25, 51.6010, 24),
    ("atlas/roboschool/atlas_v4_with_multisense.urdf", 37, 36, 182.4168, 89),
    ("atlas/drake_models/atlas/atlas_convex_hull.urdf", 37, 36, 175.1180, 43),
    ("atlas/drake_models/atlas/atlas_minimal_contact.urdf", 37, 36, 175.1180, 17),
];

#[test]
fn shared_robots_have_the_counts_and_masses_of_their_table() {
    let Some(folder) = shared_models() else { return };
    let mut free_on_ground = LoadOptions::default();
    (free_on_ground.free_root, free_on_ground.ground) = (true, true);
    let rows = MJCF.iter().map(|row| (row, LoadOptions::default()));
    for ((file, nq, nv, mass, geoms), options) in rows.chain(URDF.iter().map(|row| (row, free_on_ground.clone()))) {
        let model = load_with(folder.join(file), &options).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((model.nq(), model.nv()), (*nq, *nv), "{file}");
        // the table has four digits
        assert!((model.total_mass() - mass).abs() < 1e-4, "{file}: {}", model.total_mass());
        let solid = model.geoms().iter().filter(|g| g.surface.contype != 0 || g.surface.conaffinity != 0);
        assert_eq!(solid.count(), *geoms, "{file}");
    }
}

#[test]
fn the_arm_keeps_its_fixed_links_as_frames() {
    let Some(folder) = shared_models() else { return };
    let file = folder.join("ur5/example-robot-data/robots/ur_description/urdf/ur5_robot.urdf");
    let model = load(file).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((model.nv(), model.geoms().len(), model.meshes().len()), (6, 8, 7));
    for name in ["base_link", "tool0", "ee_link"] {
        assert!(model.frame(name).is_ok(), "{name}");
    }
}
