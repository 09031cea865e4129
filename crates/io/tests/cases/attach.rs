//! `<attach>` and `<replicate>`: which names, classes and states copies have. MuJoCo's numbers for the same files are
//! compared in python/tests/test_loading_attach.py.

use crate::mjcf;
use slipstick_core::Model;
use slipstick_io::load;
use std::path::PathBuf;

/// A folder with a model `Kid` of three joints, a motor and a keyframe.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("attach_{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let kid = r#"<mujoco model="Kid"><worldbody><body name="a"><joint name="j"/><geom size="1"/>
      <body name="b" pos="0 0 1"><joint type="ball"/><geom size="1"/></body></body><body name="z"><freejoint/><geom size="1"/></body>
      </worldbody><actuator><motor joint="j" name="m"/></actuator>
      <keyframe><key name="home" qpos="0.5 0 1 0 0 5 6 7 0 0 1 0" ctrl="0.25"/></keyframe></mujoco>"#;
    std::fs::write(folder.join("kid.xml"), kid).unwrap();
    folder
}

fn names(model: &Model) -> Vec<&str> {
    model.joints().iter().map(|j| j.name.as_str()).collect()
}

#[test]
fn a_model_is_found_by_the_name_in_its_file_and_brings_its_keyframes() {
    let folder = folder("keys");
    let main = r#"<mujoco><asset><model file="kid.xml"/></asset><worldbody><body><joint name="own"/><geom size="1"/>
      <attach model="Kid" body="a" prefix="p_"/></body><attach model="Kid" body="a" prefix="r_"/></worldbody>
      <keyframe><key name="mine" qpos="3"/></keyframe></mujoco>"#;
    std::fs::write(folder.join("main.xml"), main).unwrap();
    let model = load(folder.join("main.xml")).unwrap();
    let keys: Vec<_> = model.keyframes().iter().map(|k| (k.name.as_str(), k.q.clone(), k.ctrl.clone())).collect();
    let (still, turned) = ([0.0, 1.0, 0.0, 0.0, 0.0], [0.5, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(keys[0], ("mine", [[3.0].as_slice(), &still, &still].concat(), vec![0.0; 2]));
    assert_eq!(keys[1], ("p_home", [[0.0].as_slice(), &turned, &still].concat(), vec![0.25, 0.0]));
    assert_eq!(keys[2], ("r_home", [[0.0].as_slice(), &still, &turned].concat(), vec![0.0, 0.25]));
    let other = main.replace("model=\"Kid\"", "model=\"kid\"");
    std::fs::write(folder.join("main.xml"), other).unwrap();
    let error = load(folder.join("main.xml")).unwrap_err().to_string();
    assert!(error.contains("no model among the assets named 'kid'"), "{error}");
}

#[test]
fn a_keyframe_of_a_replicated_model_holds_for_the_first_copy() {
    let folder = folder("replicated");
    let main = r#"<mujoco><asset><model file="kid.xml"/></asset><worldbody><replicate count="2">
      <attach model="Kid" body="z" prefix="p_"/></replicate></worldbody></mujoco>"#;
    std::fs::write(folder.join("main.xml"), main).unwrap();
    let model = load(folder.join("main.xml")).unwrap();
    assert_eq!(model.keyframes()[0].q, [5.0, 6.0, 7.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
}

const OWN: &str = r#"<mujoco><default><default class="s"><joint type="slide"/><geom size=".2"/></default></default><worldbody>
  <body name="o" childclass="s"><frame name="f" pos="0 3 0"><geom name="h"/><body name="x"><joint name="x"/><geom name="g"/></body>
  </frame><geom/></body><body name="w" pos="0 0 9"><frame pos="2 0 0">ATTACH</frame></body></worldbody>
  <contact><exclude body1="o" body2="x"/></contact><equality><joint joint1="x"/></equality>
  <actuator><motor joint="x" name="m"/></actuator><sensor><jointpos joint="x" name="jp"/></sensor></mujoco>"#;

#[test]
fn a_frame_of_the_same_model_can_be_attached() {
    let model = mjcf(&OWN.replace("ATTACH", r#"<attach frame="f" prefix="p_"/>"#)).unwrap();
    assert_eq!(names(&model), ["x", "p_x"]);
    assert_eq!(model.joints()[1].kind, model.joints()[0].kind, "with the class of its first place");
    assert_eq!(model.geoms().len(), 5);
    let placed = model.frames().iter().find(|f| f.name == "p_x").unwrap();
    let place = model.placements()[placed.body.0].position.to_array();
    assert_eq!(place, [2.0, 3.0, 9.0], "with its own pose, not that around it");
    assert_eq!((model.nu(), model.sensors().len(), model.excludes().len()), (2, 2, 2));
    assert_eq!(model.equalities().len(), 2);
}

#[test]
fn what_cannot_be_attached_is_told() {
    let wrong = |attach: &str| mjcf(&OWN.replace("ATTACH", attach)).unwrap_err().to_string();
    assert!(wrong(r#"<attach prefix="p_"/>"#).contains("attribute 'model', 'body' or 'frame' is missing"));
    assert!(wrong(r#"<attach body="later" prefix="p_"/>"#).contains("no body before the attachment named 'later'"));
    assert!(wrong(r#"<attach body="w" prefix="p_"/>"#).contains("without the attachment itself"));
    assert!(wrong(r#"<attach frame="f"/>"#).contains("prefix"));
    assert!(wrong(r#"<attach frame="f" prefix=""/>"#).contains("a second"));
}

#[test]
fn copies_take_along_the_constraints_among_themselves_only() {
    let file = |section: &str| {
        let copied = r#"<replicate count="2" prefix="A"><body name="b"><joint name="j"/><joint name="k" axis="1 0 0"/>
          <geom size="1"/></body></replicate>"#;
        format!(
            r#"<mujoco><worldbody><body name="o"><joint name="jo"/><geom size="1"/></body>{copied}</worldbody>
              <equality>{section}</equality></mujoco>"#
        )
    };
    let count = |section: &str| mjcf(&file(section)).unwrap().equalities().len();
    assert_eq!(count(r#"<joint joint1="j" joint2="k"/>"#), 2);
    assert_eq!(count(r#"<joint joint1="j" joint2="jo"/>"#), 0);
    assert_eq!(count(r#"<weld body1="b" body2="world"/><connect body1="b" anchor="0 0 0"/>"#), 4);
    assert_eq!(count(r#"<connect body1="b" body2="o" anchor="0 0 0"/>"#), 0);
}

#[test]
fn keyframes_of_attached_models_hold_for_their_mocap_bodies() {
    let folder = folder("mocap");
    let kid = r#"<mujoco model="Held"><worldbody><body name="m" mocap="true"/><body name="n" mocap="true" pos="1 2 3"/></worldbody>
      <keyframe><key name="k" mpos="4 5 6 7 8 9" mquat="0 1 0 0 0 0 0 0"/></keyframe></mujoco>"#;
    std::fs::write(folder.join("held.xml"), kid).unwrap();
    let main = r#"<mujoco><asset><model file="held.xml"/></asset><worldbody><body name="own" mocap="true" pos="0 0 1"/>
      <attach model="Held" body="n" prefix="p_"/><attach model="Held" body="m" prefix="q_"/></worldbody></mujoco>"#;
    std::fs::write(folder.join("main.xml"), main).unwrap();
    let model = load(folder.join("main.xml")).unwrap();
    let own = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0];
    let (n, m) = ([7.0, 8.0, 9.0, 1.0, 0.0, 0.0, 0.0], [4.0, 5.0, 6.0, 0.0, 1.0, 0.0, 0.0]);
    let rest = [1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0];
    let keys: Vec<_> = model.keyframes().iter().map(|k| (k.name.as_str(), k.mocap.clone())).collect();
    // as in MuJoCo, an earlier key also holds for what is attached later
    assert_eq!(keys[0], ("p_k", [own, n, m].concat()));
    assert_eq!(keys[1], ("q_k", [own, rest, m].concat()));
}
