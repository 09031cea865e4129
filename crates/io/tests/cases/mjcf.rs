//! What MJCF means, on files small enough to work out by hand. Larger ones are compared with MuJoCo in python/tests.

use crate::mjcf;
use slipstick_core::Model;
use slipstick_core::model::{JointKind, Shape};
use slipstick_io::{LoadOptions, load_mjcf_str};
use std::f64::consts::PI;

fn load(xml: &str) -> Model {
    mjcf(xml).unwrap_or_else(|e| panic!("{e}\n{xml}"))
}

fn assert_close(got: f64, expected: f64) {
    assert!((got - expected).abs() <= 1e-14 * expected.abs().max(1.0), "got {got}, expected {expected}");
}

#[test]
fn a_freejoint_ignores_the_defaults_that_a_joint_of_type_free_obeys() {
    let model = load(
        r#"<mujoco><default><joint damping="2" armature="3"/></default><worldbody>
           <body><freejoint/><geom size="1"/></body><body><joint type="free"/><geom size="1"/></body>
           </worldbody></mujoco>"#,
    );
    assert_eq!(model.damping(), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]);
    assert_eq!(model.armature()[5..7], [0.0, 3.0]);
}

#[test]
fn angles_are_degrees_for_hinges_and_balls_only() {
    let model = load(
        r#"<mujoco><worldbody>
           <body><joint range="-90 180" ref="45"/><geom size="1"/></body>
           <body><joint type="slide" range="-90 180" ref="45"/><geom size="1"/></body>
           <body><joint type="ball" range="0 90"/><geom size="1"/></body></worldbody></mujoco>"#,
    );
    let ranges: Vec<_> = model.joints().iter().map(|j| j.range.unwrap()).collect();
    assert_eq!(ranges, [[-PI / 2.0, PI], [-90.0, 180.0], [0.0, PI / 2.0]]);
    assert_eq!(model.neutral(), [PI / 4.0, 45.0, 1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn mass_comes_from_geoms_unless_an_inertial_is_given() {
    let body = |compiler: &str| {
        let xml = format!(
            r#"<mujoco><compiler {compiler}/><worldbody><body><joint/>
               <inertial mass="7" pos="0 0 0" diaginertia="1 1 1"/>
               <geom type="box" size="0.5 0.5 0.5" density="2"/><geom size="1" mass="3" pos="0 0 4"/>
               </body></worldbody></mujoco>"#
        );
        load(&xml).inertias()[1]
    };
    assert_eq!(body("").mass, 7.0);
    assert_eq!(body(r#"inertiafromgeom="false""#).mass, 7.0);
    let sum = body(r#"inertiafromgeom="true""#);
    assert_close(sum.mass, 5.0);
    assert_close(sum.com.z, 12.0 / 5.0);
    assert_close(body(r#"boundmass="8""#).mass, 8.0);
    assert_close(body(r#"settotalmass="14""#).about_com.xx, 2.0);
}

#[test]
fn frames_move_what_is_written_in_them() {
    let model = load(
        r#"<mujoco><worldbody><frame pos="0 0 1" euler="0 0 90"><body pos="1 0 0">
           <geom size="1"/><frame pos="0 2 0" euler="0 90 0"><joint axis="0 0 1" pos="0 0 3"/></frame>
           </body></frame></worldbody></mujoco>"#,
    );
    let p = model.placements()[1].position;
    assert!((p.x.abs() + (p.y - 1.0).abs() + (p.z - 1.0).abs()) < 1e-15, "{p:?}");
    let JointKind::Revolute { axis } = model.joints()[0].kind else { panic!("a hinge") };
    assert!((axis.x - 1.0).abs() < 1e-15 && axis.z.abs() < 1e-15, "{axis:?}");
}

#[test]
fn links_without_joints_stay_as_frames_with_their_mass() {
    let model = load(
        r#"<mujoco><worldbody><body name="arm"><joint/><geom size="1" mass="1"/>
           <body name="tool" pos="0 0 2"><geom size="1" mass="3"/><site name="tip" pos="0 0 1"/></body></body>
           </worldbody></mujoco>"#,
    );
    assert_eq!(model.n_bodies(), 2);
    assert_eq!(model.inertias()[1].mass, 4.0);
    let tool = &model.frames()[model.frame("tool").unwrap().0];
    assert_eq!(tool.inertia.unwrap().mass, 3.0);
    assert_eq!(model.frames()[model.frame("tip").unwrap().0].pose.position.z, 3.0);
}

#[test]
fn servos_and_motors_share_one_set_of_defaults() {
    let model = load(
        r#"<mujoco><default><general ctrlrange="-1 1" gainprm="3" biastype="affine" biasprm="1 2 -3"/>
           <default class="servo"><position kp="10" kv="2"/></default></default>
           <worldbody><body><joint name="j" range="-90 0"/><geom size="1"/></body></worldbody><actuator>
           <motor joint="j" gear="5"/><position joint="j" class="servo" kp="20"/><velocity joint="j" class="servo"/>
           <general joint="j" biasprm="9"/><position joint="j" class="servo" inheritrange="0.5"/></actuator></mujoco>"#,
    );
    let laws: Vec<_> = model.actuators().iter().map(|a| (a.gain, a.bias)).collect();
    let servo = |kp: f64| (kp, [0.0, -kp, -2.0]);
    assert_eq!(laws, [(1.0, [0.0; 3]), servo(20.0), (1.0, [0.0, 0.0, -1.0]), (3.0, [9.0, 2.0, -3.0]), servo(10.0)]);
    assert_eq!(model.actuators()[0].gear[0], 5.0);
    assert_eq!(model.actuators()[1].ctrl_range, Some([-1.0, 1.0]));
    let [low, high] = model.actuators()[4].ctrl_range.unwrap();
    assert_close(low, -0.375 * PI);
    assert_close(high, -0.125 * PI);
}

#[test]
fn actuators_that_cannot_be_kept_take_their_controls_out_of_keyframes() {
    let model = load(
        r#"<mujoco><worldbody><body><joint name="j" ref="180"/><geom size="1"/><site name="s"/></body></worldbody>
           <actuator><motor name="a" joint="j"/><general body="b"/><muscle joint="j"/><motor name="b" joint="j"/></actuator>
           <keyframe><key name="k" ctrl="1 2 3 4"/></keyframe></mujoco>"#,
    );
    assert_eq!((model.nu(), model.warnings().len()), (2, 2));
    assert!(model.warnings()[0].to_string().starts_with("test.xml:2: <muscle>: <muscle> is not supported"));
    assert!(model.warnings()[1].to_string().starts_with("test.xml:2: <general>: body transmission is not supported"));
    let key = model.keyframe("k").unwrap();
    assert_eq!(key.ctrl, [1.0, 4.0]);
    assert_eq!(key.q, [PI]);
}

#[test]
fn what_would_change_the_motion_is_warned_about_once_each() {
    let model = load(
        r#"<mujoco><option density="1000" viscosity="0"><flag override="enable" spring="enable"/></option>
           <default><damper kv="1"/></default>
           <worldbody><body mocap="false"><joint name="j" stiffness="1 2"/>
           <geom size="1" condim="6"/><geom size="1" condim="4"/><composite/></body></worldbody>
           <tendon><spatial range="0 1"/><fixed armature="1"><joint joint="j" coef="1"/></fixed></tendon>
           <actuator><muscle joint="j"/></actuator></mujoco>"#,
    );
    let starts = [
        "<option>: fluid forces",
        "<spatial>: spatial tendons",
        "<fixed>: armature of a tendon",
        "<muscle>: <muscle> is not supported",
        "<flag>: contact override",
        "<composite>",
        "<joint name=\"j\">: only the first number of stiffness",
        "<geom>: condim",
    ];
    assert_eq!(model.warnings().len(), starts.len(), "{:#?}", model.warnings());
    for start in starts {
        assert!(model.warnings().iter().any(|w| w.to_string().contains(start)), "{start} {:#?}", model.warnings());
    }
    let condim = model.warnings().iter().find(|w| w.effect.starts_with("condim")).unwrap();
    assert!(condim.effect.ends_with("(and 1 more place)"));
}

#[test]
fn pictures_need_no_mesh_files() {
    let xml = |geom: &str| {
        format!(
            r#"<mujoco><asset><mesh name="m" file="none_such.stl"/></asset><worldbody><body><joint/>
               <inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/><geom type="mesh" mesh="m" {geom}/></body></worldbody></mujoco>"#
        )
    };
    assert_eq!(load(&xml(r#"contype="0" conaffinity="0""#)).geoms().len(), 0);
    let error = mjcf(&xml("")).unwrap_err().to_string();
    assert!(error.contains("file: expected a mesh file, got 'none_such.stl'; none_such.stl: "), "{error}");
}

#[test]
fn root_and_ground_are_added_on_request() {
    let xml = r#"<mujoco><worldbody><body name="a"><geom name="floor" size="1"/></body></worldbody></mujoco>"#;
    let mut options = LoadOptions::default();
    options.free_root = true;
    options.ground = true;
    let model = load_mjcf_str("a.xml", xml, &options).unwrap();
    assert_eq!((model.nq(), model.joints()[0].name.as_str()), (7, "root"));
    assert_eq!((model.geoms()[0].shape, model.geoms()[0].name.as_str()), (Shape::Plane, "floor_2"));
    let held = xml.replace("<geom", "<joint/><geom");
    assert!(
        load_mjcf_str("a.xml", &held, &options).unwrap_err().to_string().contains("without joints, to make it free")
    );
}

#[test]
fn generated_names_avoid_those_of_the_file() {
    let model = load(
        r#"<mujoco><worldbody><body><joint/><geom size="1"/><body name="body_1"><joint name="body_1_2_joint"/>
           <geom size="1"/></body></body></worldbody></mujoco>"#,
    );
    let names: Vec<_> = model.bodies().iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["world", "body_1_2", "body_1"]);
    assert_eq!(model.joints()[0].name, "body_1_2_joint_2");
}

#[test]
fn a_chain_of_thousands_of_links_does_not_exhaust_the_stack() {
    let n = 3000;
    let open = r#"<body pos="0 0 1"><joint/><geom size="0.1"/>"#.repeat(n);
    let model = load(&format!("<mujoco><worldbody>{open}{}</worldbody></mujoco>", "</body>".repeat(n)));
    assert_eq!(model.nv(), n);
}
