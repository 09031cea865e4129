//! Models to URDF and back: the same M and bias, and a list of what is lost.

use crate::robots::shared_models;
use crate::write::{RICH, assert_same_dynamics};
use crate::{mjcf, repository, urdf};
use slipstick_core::Model;
use slipstick_core::model::ParameterGroup;
use slipstick_io::{LoadOptions, load_with, mesh_file_names, mesh_to_obj, to_urdf};

/// Writes a model and its meshes as URDF, reads it back and compares M and bias.
fn through_urdf(name: &str, model: &Model, free_root: bool) -> Model {
    let folder = std::env::temp_dir().join(format!("slipstick-to-urdf-{}-{name}", std::process::id()));
    std::fs::create_dir_all(folder.join("meshes")).unwrap();
    for (name, mesh) in mesh_file_names(model).iter().zip(model.meshes()) {
        std::fs::write(folder.join("meshes").join(name), mesh_to_obj(mesh)).unwrap();
    }
    let (text, losses) = to_urdf(model);
    assert!(!losses.is_empty());
    std::fs::write(folder.join("robot.urdf"), text).unwrap();
    let mut options = LoadOptions::default();
    options.free_root = free_root;
    let back = load_with(folder.join("robot.urdf"), &options).unwrap_or_else(|e| panic!("{e}"));
    std::fs::remove_dir_all(folder).unwrap();
    // URDF has no armature and no reference positions
    let mut p = model.parameters().clone();
    p.group_mut(ParameterGroup::Armature).fill(0.0);
    let mut options = model.options().clone();
    options.gravity = back.options().gravity;
    let bare = model.with_parameters(p).unwrap().with_options(options).unwrap();
    let mut shift = vec![0.0; model.nq()];
    for j in model.joints().iter().filter(|j| j.q.len() == 1) {
        shift[j.q.start] = j.reference;
    }
    assert_same_dynamics(name, &bare, &back, &shift, false);
    back
}

#[test]
fn robots_survive_urdf() {
    let models = repository().join("crates/slipstick/models");
    for (name, free) in [("half_cheetah_planar", false), ("hopper", false), ("quadruped", true), ("arm", false)] {
        let model = load_with(models.join(format!("{name}.xml")), &LoadOptions::default()).unwrap();
        let back = through_urdf(name, &model, free);
        for f in model.frames().iter().filter(|f| f.inertia.is_some()) {
            assert!(back.frame(&f.name).is_ok(), "{name}: {}", f.name);
        }
    }
    let Some(folder) = shared_models() else { return };
    for (file, free) in [
        ("go1/example-robot-data/robots/go1_description/urdf/go1.urdf", true),
        ("h1/unitree_ros/h1_description/urdf/h1_paper.urdf", true),
        ("ur5/example-robot-data/robots/ur_description/urdf/ur5_robot.urdf", false),
    ] {
        let mut options = LoadOptions::default();
        options.free_root = free;
        let model = load_with(folder.join(file), &options).unwrap();
        let back = through_urdf(file.split('/').next().unwrap(), &model, free);
        assert_eq!(back.geoms().len(), model.geoms().len(), "{file}");
        let efforts = |m: &Model| m.joints().iter().map(|j| (j.name.clone(), j.range, j.velocity)).collect::<Vec<_>>();
        assert_eq!(efforts(&back)[usize::from(free)..], efforts(&model)[usize::from(free)..], "{file}");
    }
}

#[test]
fn what_urdf_cannot_say_is_listed() {
    let (text, losses) = to_urdf(&mjcf(RICH).unwrap());
    let all = losses.iter().map(|l| l.to_string()).collect::<Vec<_>>().join("\n");
    for part in [
        "5 actuators",
        "1 tendon",
        "16 sensors",
        "ball joints",
        "armature",
        "springs",
        "time step 0.003",
        "ellipsoid",
        "reference position",
        "geom 'floor': URDF has no planes",
        "3 equality constraints",
        "gravity compensation",
    ] {
        assert!(all.contains(part), "{part} in\n{all}");
    }
    let back = urdf(&text).unwrap();
    assert!(back.frame("lens").is_ok() && back.joint("b_x").is_ok());
}
