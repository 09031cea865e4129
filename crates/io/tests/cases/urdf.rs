//! What URDF means. Whole robots are compared with Pinocchio in python/tests.

use crate::{repository, urdf};
use slipstick_core::model::{EqualityKind, JointId, JointKind, Shape};
use slipstick_io::{LoadOptions, load_urdf_str, load_with, urdf_schema_table};

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
fn doubtful_numbers_are_warned_about() {
    let doubtful = ARM.replace(r#"velocity="4"/>"#, r#"velocity="0" effort="-1"/>"#).replace(r#"effort="30" "#, "");
    let doubtful = doubtful.replace(r#"type="fixed"#, r#"type="prismatic"#);
    let model = urdf(&doubtful).unwrap();
    let parts = ["velocity limit", "negative effort", "no <limit>"];
    assert_eq!(model.warnings().len(), parts.len(), "{:#?}", model.warnings());
    for part in parts {
        assert!(model.warnings().iter().any(|w| w.to_string().contains(part)), "{part}: {:#?}", model.warnings());
    }
    assert_eq!(model.joints()[0].effort, [f64::NEG_INFINITY, f64::INFINITY]);
}

#[test]
fn negative_moments_of_a_body_become_zero_and_its_mass_stays() {
    // turned by 90° about z: the negative moment lies along x of the link
    let model = urdf(&ARM.replace(r#"iyy="2" iyz="0" izz="2""#, r#"iyy="-20" iyz="0" izz="2""#)).unwrap();
    let [warning] = model.warnings() else { panic!("{:#?}", model.warnings()) };
    assert!(warning.effect.contains("negative moments of the body are set to zero"), "{warning}");
    let hand = model.inertias()[1];
    assert_eq!(hand.mass, 3.0);
    assert!(hand.smallest_moment().abs() < 1e-12, "{hand:?}");
    // the tool, 1 kg on a lever of 1 m and 2 kg beside it, gives 2/3 to both moments across
    assert!((hand.about_com.yy - (1.0 + 2.0 / 3.0)).abs() < 1e-12 && (hand.about_com.zz - 2.0).abs() < 1e-12);
}

#[test]
fn a_defect_that_merging_cures_changes_no_number() {
    let odd = r#"<mass value="1"/><inertia ixx="1e-6" ixy="1e-6" ixz="1e-6" iyy="1e-6" iyz="1e-6" izz="1e-6"/>"#;
    let model = urdf(&ARM.replace(r#"<mass value="1"/><inertia ixx="0" iyy="0" izz="0"/>"#, odd)).unwrap();
    assert_eq!(model.frames()[3].inertia.unwrap().about_com.xy, 1e-6);
    assert!((model.inertias()[1].about_com.xy - 1e-6).abs() < 1e-15);
    let doubly = odd.replace("ixy=\"1e-6\"", "ixy=\"2e-6\"");
    let model = urdf(&ARM.replace(r#"<mass value="1"/><inertia ixx="0" iyy="0" izz="0"/>"#, &doubly)).unwrap();
    assert!(model.warnings()[0].effect.ends_with("(merged with the link that carries it, all is well)"));
    assert!((model.inertias()[1].about_com.xy - 2e-6).abs() < 1e-15);
}

#[test]
fn a_joint_that_moves_nothing_gets_an_armature() {
    let empty = |kind: &str| {
        format!(
            "<robot name='r'><link name='a'/><link name='b'/><link name='c'/>
             <joint name='f' type='fixed'><parent link='b'/><child link='c'/></joint>
             <joint name='j' type='{kind}'><parent link='a'/><child link='b'/><limit lower='0' upper='1'/></joint></robot>"
        )
    };
    for kind in ["revolute", "prismatic", "floating"] {
        let model = urdf(&empty(kind)).unwrap();
        assert!(model.armature().iter().all(|a| *a == 1e-6), "{kind}: {:?}", model.armature());
        assert!(model.warnings().iter().any(|w| w.effect.contains("joint 'j' moves no inertia")), "{kind}");
        assert_eq!(model.total_mass(), 0.0);
    }
    // a point mass on the axis is no inertia about it
    let on_axis = empty("revolute").replace(
        "<link name='c'/>",
        "<link name='c'><inertial><origin xyz='3 0 0'/><mass value='2'/></inertial></link>",
    );
    assert_eq!(urdf(&on_axis).unwrap().armature(), [1e-6]);
    assert_eq!(urdf(&on_axis.replace("3 0 0", "3 1 0")).unwrap().armature(), [0.0]);
}

#[test]
fn a_mimic_joint_follows_another() {
    let pair = r#"<robot name="gripper"><link name="palm"/>
      <link name="left"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
      <link name="right"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
      <joint name="b" type="prismatic"><parent link="palm"/><child link="right"/><limit lower="0" upper="1"/>
        <mimic joint="a" multiplier="-2" offset="0.5"/></joint>
      <joint name="a" type="prismatic"><parent link="palm"/><child link="left"/><limit lower="0" upper="1"/></joint>
      </robot>"#;
    let model = urdf(pair).unwrap();
    assert!(model.warnings().is_empty(), "{:?}", model.warnings());
    let [equality] = model.equalities() else { panic!("{:?}", model.equalities()) };
    let (a, b) = (model.joint("a").unwrap(), model.joint("b").unwrap());
    let coefficients = [0.5, -2.0, 0.0, 0.0, 0.0];
    assert_eq!(equality.kind, EqualityKind::Joint { joint: b, other: Some(a), coefficients });
    // a leader that does not move stays at zero
    let fixed = pair.replacen(
        "type=\"prismatic\"><parent link=\"palm\"/><child link=\"left\"",
        "type=\"fixed\"><parent link=\"palm\"/><child link=\"left\"",
        1,
    );
    let model = urdf(&fixed).unwrap();
    let coefficients = [0.5, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(model.equalities()[0].kind, EqualityKind::Joint { joint: JointId(0), other: None, coefficients });
    let lost = urdf(&pair.replace("mimic joint=\"a\"", "mimic joint=\"c\"")).unwrap();
    assert!(lost.equalities().is_empty());
    assert!(lost.warnings()[0].effect.starts_with("there is no joint 'c' to mimic"), "{:?}", lost.warnings());
    let wrong = [
        ("mimic joint=\"a\"", "mimic joint=\"b\"", "expected another joint to follow, got 'b' itself"),
        ("multiplier=\"-2\"", "multiplier=\"two\"", "multiplier: expected a finite number, got 'two'"),
        ("name=\"a\" type=\"prismatic\"", "name=\"a\" type=\"floating\"", "expected a joint with one dof to follow"),
        (
            "name=\"b\" type=\"prismatic\"",
            "name=\"b\" type=\"floating\"",
            "expected a joint with one dof, to follow another",
        ),
    ];
    for (from, to, expected) in wrong {
        let error = urdf(&pair.replace(from, to)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn the_extension_for_mujoco_is_obeyed() {
    let with = |attributes: &str| {
        let block = format!("<mujoco><compiler {attributes} discardvisual=\"true\" fusestatic=\"false\"/></mujoco>");
        urdf(&ARM.replace("<robot name=\"arm\">", &format!("<robot name=\"arm\">{block}"))).unwrap()
    };
    assert_eq!(with("boundmass=\"2.5\"").inertias()[1].mass, 5.0);
    assert_eq!(with("boundinertia=\"0.25\"").frames()[3].inertia.unwrap().about_com.yy, 0.25);
    let uneven = r#"<mujoco><compiler balanceinertia="true"/></mujoco>"#;
    let text = ARM.replace(r#"ixx="1" ixy"#, r#"ixx="7" ixy"#).replacen('>', &format!(">{uneven}"), 1);
    assert!((urdf(&text).unwrap().frames()[2].inertia.unwrap().about_com.zz - 11.0 / 3.0).abs() < 1e-15);
    assert!(with("").warnings().is_empty() && with("").notes().is_empty());
}

#[test]
fn meshes_are_found_in_the_folder_that_the_extension_names() {
    let folder = std::env::temp_dir().join(format!("slipstick-urdf-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("shapes")).unwrap();
    let mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    std::fs::write(folder.join("shapes/part.obj"), mesh).unwrap();
    let text = |block: &str| {
        let shape = r#"<mesh filename="package://elsewhere/deep/part.obj"/>"#;
        ARM.replace(r#"<box size="1 2 3"/>"#, shape).replacen('>', &format!(">{block}"), 1)
    };
    let three = folder.join("three.urdf");
    std::fs::write(&three, text("").replace("package://elsewhere/deep", "package:///shapes")).unwrap();
    assert_eq!(load_with(three, &LoadOptions::default()).unwrap().meshes().len(), 1);
    let load = |block: &str| {
        let file = folder.join("arm.urdf");
        std::fs::write(&file, text(block)).unwrap();
        load_with(file, &LoadOptions::default())
    };
    let found = load("<mujoco><compiler meshdir=\"shapes\"/></mujoco>");
    assert_eq!(found.unwrap().meshes()[0].vertices.len(), 4);
    let error = load("").unwrap_err().to_string();
    assert!(error.contains("'package://elsewhere/deep/part.obj' was not found"), "{error}");
    assert!(error.ends_with("name the folder of its package with package_dirs"), "{error}");
    std::fs::write(folder.join("arm.urdf"), text("").replace("deep/", "../../")).unwrap();
    let error = load_with(folder.join("arm.urdf"), &LoadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("expected a path that stays inside its package"), "{error}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn mistakes_in_the_tree_come_with_something_to_do() {
    let link = |n: &str| format!("<link name='{n}'/>");
    let joint = |n: &str, a: &str, b: &str| {
        format!("<joint name='{n}' type='fixed'><parent link='{a}'/><child link='{b}'/></joint>")
    };
    let cases = [
        (link("a") + &link("b"), "connect them with joints"),
        (link("a") + &link("a"), "rename one of them, and the joints that mean it"),
        (link("a") + &joint("j", "a", "b"), "every parent and child of a joint must be a <link> of the file"),
        (
            link("a") + &link("b") + &joint("j", "a", "b") + &joint("k", "b", "a"),
            "URDF describes trees: cut the loop open",
        ),
    ];
    for (inner, hint) in cases {
        let error = urdf(&format!("<robot name='r'>{inner}</robot>")).unwrap_err();
        assert_eq!(error.hint(), hint, "{error}");
    }
}

#[test]
fn elements_of_other_programs_are_passed_over_and_unknown_ones_noted() {
    let extra = "<material name='red'/><transmission/><gazebo reference='hand'/><drake:x/><frob/><frob/></robot>";
    let model = urdf(&ARM.replace("</robot>", extra)).unwrap();
    assert!(model.warnings().is_empty());
    let sticky = urdf(&ARM.replace("</link>", "<contact><lateral_friction value='1'/></contact></link>")).unwrap();
    assert!(sticky.warnings()[0].effect.starts_with("friction and stiffness of links are not supported"));
    assert_eq!(model.notes(), ["test.urdf:12: <frob> in <robot> is not part of URDF and was not read"]);
}

/// The documentation carries the table that the reader goes by. `UPDATE_DOCS=1` writes it anew.
#[test]
fn the_documented_table_of_urdf_is_the_one_in_the_code() {
    let path = repository().join("docs/urdf.md");
    let text = std::fs::read_to_string(&path).expect("docs/urdf.md");
    let (begin, end) = ("<!-- urdf table: begin -->\n", "<!-- urdf table: end -->");
    let (before, rest) = text.split_once(begin).expect("the mark where the table begins");
    let (_, after) = rest.split_once(end).expect("the mark where the table ends");
    let wanted = format!("{before}{begin}{}{end}{after}", urdf_schema_table());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &wanted).unwrap();
    } else {
        assert!(text == wanted, "docs/urdf.md is out of date: run this test with UPDATE_DOCS=1");
    }
}
