//! What URDF means. Whole robots are compared with Pinocchio in python/tests.

use crate::urdf;
use slipstick_core::{JointKind, Shape};
use slipstick_io::{LoadOptions, load_urdf_str};

const ARM: &str = r#"<robot name="arm">
  <link name="hand"><inertial><origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/><mass value="2"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="2"/></inertial>
    <collision><geometry><box size="1 2 3"/></geometry></collision>
    <collision><origin xyz="1 0 0"/><geometry><cylinder radius="1" length="4"/></geometry></collision>
    <visual><geometry><mesh filename="package://none_such/picture.dae"/></geometry></visual></link>
  <link name="base"><inertial><mass value="5"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <link name="tool"><inertial><mass value="1"/><inertia ixx="0" iyy="0" izz="0"/></inertial></link>
  <joint name="grip" type="fixed"><parent link="hand"/><child link="tool"/><origin xyz="0 0 2"/></joint>
  <joint name="elbow" type="revolute"><parent link="base"/><child link="hand"/><origin xyz="1 2 3"/>
    <axis xyz="0 3 0"/><limit lower="-1" upper="2" effort="30" velocity="4"/><dynamics damping="0.5" friction="0.1"/></joint>
</robot>"#;

#[test]
fn joints_carry_their_limits_and_links_their_inertia() {
    let model = urdf(ARM).unwrap();
    let names: Vec<_> = model.frames().iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["world", "base", "hand", "tool"]);
    let elbow = &model.joints()[0];
    assert_eq!((elbow.range, elbow.effort, elbow.velocity), (Some([-1.0, 2.0]), [-30.0, 30.0], 4.0));
    assert!(matches!(elbow.kind, JointKind::Revolute { axis } if axis.y == 1.0));
    assert_eq!(model.damping(), [0.5]);
    let hand = model.frames()[2].inertia.unwrap();
    assert!((hand.about_com.xx - 2.0).abs() < 1e-15 && (hand.about_com.yy - 1.0).abs() < 1e-15);
    assert_eq!(model.inertias()[1].mass, 3.0);
    assert!((model.inertias()[1].com.z - 4.0 / 3.0).abs() < 1e-15);
    let geoms: Vec<_> = model.geoms().iter().map(|g| (g.name.as_str(), g.shape.size())).collect();
    assert_eq!(geoms, [("hand_0", [0.5, 1.0, 1.5]), ("hand_1", [1.0, 2.0, 0.0])]);
}

#[test]
fn a_free_root_has_the_mass_that_a_fixed_one_loses() {
    let mut options = LoadOptions::default();
    (options.free_root, options.ground) = (true, true);
    let model = load_urdf_str("arm.urdf", ARM, &options).unwrap();
    assert_eq!((model.nq(), model.nv(), model.joints()[0].name.as_str()), (8, 7, "root"));
    assert_eq!(model.total_mass(), 8.0);
    assert_eq!((model.geoms()[0].name.as_str(), model.geoms()[0].shape), ("floor", Shape::Plane));
    assert_eq!(urdf(ARM).unwrap().total_mass(), 3.0);
}

#[test]
fn a_root_link_named_world_is_the_world() {
    let model = urdf(&ARM.replace("\"base\"", "\"world\"")).unwrap();
    assert_eq!(model.frames()[0].name, "world");
    assert_eq!(model.n_bodies(), 2);
    let mut options = LoadOptions::default();
    options.free_root = true;
    let model = load_urdf_str("arm.urdf", &ARM.replace("\"base\"", "\"world\""), &options).unwrap();
    assert_eq!(model.bodies()[1].name, "world_link");
    assert!(model.warnings()[0].to_string().contains("renamed to 'world_link'"));
}

#[test]
fn all_kinds_of_joints_are_known() {
    let with = |kind: &str| urdf(&ARM.replace("revolute", kind)).unwrap();
    let joint = |kind: &str| with(kind).joints()[0].clone();
    assert_eq!(joint("continuous").range, None);
    assert!(matches!(joint("prismatic").kind, JointKind::Prismatic { .. }));
    assert_eq!(joint("floating").kind, JointKind::Free);
    assert_eq!(with("floating").neutral()[..4], [1.0, 2.0, 3.0, 1.0]);
    assert_eq!(with("fixed").nv(), 0);
    // the plane of this one is not normal to z: two slides and a hinge
    let names: Vec<_> = with("planar").joints().iter().map(|j| j.name.clone()).collect();
    assert_eq!(names, ["elbow_x", "elbow_y", "elbow"]);
    let flat = urdf(&ARM.replace("revolute", "planar").replace("0 3 0", "0 0 1")).unwrap();
    assert_eq!(flat.joints()[0].kind, JointKind::Planar);
}

#[test]
fn doubtful_numbers_are_warned_about_and_kept() {
    let doubtful = ARM
        .replace(r#"iyy="2" iyz="0" izz="2""#, r#"iyy="-2" iyz="0" izz="2""#)
        .replace(r#"velocity="4"/>"#, r#"velocity="0"/><mimic joint="grip"/>"#);
    let model = urdf(&doubtful).unwrap();
    let parts = ["mimic is not known", "velocity limit", "negative principal moment"];
    assert_eq!(model.warnings().len(), parts.len(), "{:#?}", model.warnings());
    for part in parts {
        assert!(model.warnings().iter().any(|w| w.to_string().contains(part)), "{part}: {:#?}", model.warnings());
    }
}
