//! Sections of MJCF that tie the tree together or act on it. Expected numbers are worked out by hand, by MuJoCo's rules.

use crate::{mjcf, warnings};
use slipstick_core::Model;
use slipstick_core::dynamics::Workspace;
use slipstick_core::model::{
    EqualityKind, FrameId, GeomId, JointId, PairRule, Quantity, RayData, SensorObject, Shape, Transmission,
};
use slipstick_core::spatial::{Vec3, vec3};
use slipstick_io::to_mjcf;

fn load(xml: &str) -> Model {
    mjcf(xml).unwrap_or_else(|e| panic!("{e}\n{xml}"))
}

fn near(a: Vec3, b: Vec3) -> bool {
    (a - b).norm() < 1e-14
}

fn wrong(xml: &str) -> String {
    mjcf(xml).expect_err("an error").to_string()
}

/// Two bodies on hinges, one meter apart, the second turned by a quarter about z.
fn two(rest: &str) -> String {
    format!(
        r#"<mujoco><default><equality active="false"/><tendon stiffness="5"/></default><worldbody>
        <body name="a" pos="1 0 0"><joint name="x" ref="90" springref="45"/><geom name="ga" size="1"/>
          <site name="sa" pos="0 0 1"/></body>
        <body name="b" pos="2 0 0" euler="0 0 90"><joint name="y" type="slide"/><geom name="gb" size="1"/>
          <site name="sb" pos="0 2 0"/><body name="c"><joint type="ball" name="z"/><geom name="gc" size="1"/></body></body>
        </worldbody>{rest}</mujoco>"#
    )
}

#[test]
fn anchors_and_poses_left_out_are_those_of_the_neutral_configuration() {
    let model = load(&two(
        r#"<equality><connect body1="b" body2="a" anchor="1 0 0"/><connect name="to world" body1="a" anchor="0 0 3" active="true"/>
           <connect site1="sa" site2="sb"/><weld body1="a" body2="b" anchor="1 0 0" torquescale="2"/>
           <weld body1="a" body2="b" relpose="5 0 0 2 0 0 0" anchor="1 0 0"/><weld site1="sa" site2="sb"/></equality>"#,
    ));
    let (a, b) = (model.frame("a").unwrap(), model.frame("b").unwrap());
    let kinds: Vec<_> = model.equalities().iter().map(|e| e.kind.clone()).collect();
    let connects = [
        ([b, a], [vec3(1.0, 0.0, 0.0), vec3(1.0, 1.0, 0.0)]),
        ([a, FrameId(0)], [vec3(0.0, 0.0, 3.0), vec3(1.0, 0.0, 3.0)]),
        ([a, b], [vec3(0.0, 0.0, 1.0), vec3(0.0, 2.0, 0.0)]),
    ];
    for (kind, (links, expected)) in kinds.iter().zip(connects) {
        let EqualityKind::Connect { frames, points } = kind else { panic!("{kind:?}") };
        assert_eq!(*frames, links);
        assert!(near(points[0], expected[0]) && near(points[1], expected[1]), "{points:?}");
    }
    let welds = [
        (vec3(1.0, 0.0, 0.0), vec3(1.0, 0.0, 0.0), 2.0),
        (vec3(4.0, 0.0, 0.0), vec3(1.0, 0.0, 0.0), 1.0),
        (vec3(0.0, -2.0, 1.0), vec3(0.0, 2.0, 0.0), 1.0),
    ];
    for (kind, (position, point, scale)) in kinds[3..].iter().zip(welds) {
        let EqualityKind::Weld { frames, pose, anchor, torque_scale } = kind else { panic!("{kind:?}") };
        assert_eq!((*frames, *torque_scale), ([a, b], scale));
        assert!(near(pose.position, position) && near(*anchor, point), "{pose:?} {anchor:?}");
    }
    let active: Vec<bool> = model.equalities().iter().map(|e| e.active).collect();
    assert_eq!(active, [false, true, false, false, false, false]);
}

#[test]
fn joints_and_tendons_can_follow_each_other() {
    let model = load(&two(
        r#"<tendon><fixed name="t"><joint joint="x" coef="2"/></fixed><fixed name="u"><joint joint="y" coef="1"/></fixed></tendon>
           <equality><joint joint1="y" joint2="x" polycoef="0.5 2"/><joint joint1="x"/><tendon tendon1="u" tendon2="t"/></equality>"#,
    ));
    let kinds: Vec<_> = model.equalities().iter().map(|e| e.kind.clone()).collect();
    let (x, y) = (JointId(0), JointId(1));
    let plain = [0.0, 1.0, 0.0, 0.0, 0.0];
    assert_eq!(
        kinds,
        [
            EqualityKind::Joint { joint: y, other: Some(x), coefficients: [0.5, 2.0, 0.0, 0.0, 0.0] },
            EqualityKind::Joint { joint: x, other: None, coefficients: plain },
            EqualityKind::Tendon { tendon: 1, other: Some(0), coefficients: plain },
        ]
    );
    assert!(
        wrong(&two(r#"<equality><joint joint1="z"/></equality>"#)).contains("expected a hinge or a slide, got 'z'")
    );
    assert!(wrong(&two(r#"<equality><weld body1="a" site2="sb"/></equality>"#)).contains("expected sites alone"));
    assert!(wrong(&two(r#"<equality><weld body1="none"/></equality>"#)).contains("no body named 'none'"));
}

#[test]
fn springs_of_tendons_rest_where_the_springs_of_their_joints_do() {
    let tendon = |attributes: &str| {
        let xml = two(&format!(r#"<tendon><fixed {attributes}><joint joint="x" coef="2"/></fixed></tendon>"#));
        load(&xml).tendons()[0].clone()
    };
    let quarter = std::f64::consts::FRAC_PI_2;
    assert_eq!((tendon("").rest, tendon("").stiffness), ([quarter; 2], 5.0));
    assert_eq!(tendon(r#"springlength="1""#).rest, [1.0, 1.0]);
    let full = tendon(r#"springlength="0 1" range="-1 2" damping="3" frictionloss="4" stiffness="0""#);
    assert_eq!((full.rest, full.range), ([0.0, 1.0], Some([-1.0, 2.0])));
    assert_eq!((full.stiffness, full.damping, full.dry_friction), (0.0, 3.0, 4.0));
    assert!(wrong(&two("<tendon><fixed/></tendon>")).contains("a <joint> in the tendon is missing"));
}

#[test]
fn pairs_have_their_own_contact_properties_and_exclusions_hold_for_links() {
    let model = load(&two(
        r#"<contact><exclude body1="a" body2="b"/><pair geom1="gc" geom2="ga" friction="0.3 0.3" condim="1" margin="0.1" gap="0.05"/>
           </contact>"#,
    ));
    assert_eq!(model.excludes(), [[model.frame("a").unwrap(), model.frame("b").unwrap()]]);
    assert_eq!(model.pair_rule(), &PairRule::Mujoco);
    let [pair] = model.pairs() else { panic!("{:?}", model.pairs()) };
    assert_eq!(pair.geoms, [GeomId(0), GeomId(2)]);
    let surface = pair.surface.unwrap();
    assert_eq!((surface.friction, surface.condim, surface.offset), (0.3, 1, 0.1));
    assert!(warnings(&model).is_empty(), "{:?}", model.warnings());
    let twice = two(r#"<contact><pair geom1="ga" geom2="ga"/></contact>"#);
    assert!(wrong(&twice).contains("expected another geom than geom1"));
}

#[test]
fn sites_know_their_link_and_the_shape_in_which_they_feel() {
    let model = mjcf(
        r#"<mujoco><default><site type="box" size="0.1 0.2 0.3"/></default><worldbody><body name="arm"><joint/><geom size="1"/>
           <site name="default"/><body name="tool"><geom size="1"/><site name="ball" type="sphere" size="0.05"/>
           <site name="rod" type="capsule" fromto="0 0 0 0 0 2" size="0.02"/></body></body></worldbody></mujoco>"#,
    )
    .unwrap();
    for model in [&model, &mjcf(&to_mjcf(&model)).unwrap()] {
        let site = |name: &str| {
            let frame = &model.frames()[model.frame(name).unwrap().0];
            (model.frames()[frame.parent.0].name.clone(), frame.zone)
        };
        assert_eq!(site("default"), ("arm".into(), Some(Shape::Box { half_size: vec3(0.1, 0.2, 0.3) })));
        assert_eq!(site("ball"), ("tool".into(), Some(Shape::Sphere { radius: 0.05 })));
        assert_eq!(site("rod"), ("tool".into(), Some(Shape::Capsule { radius: 0.02, half_length: 1.0 })));
        assert_eq!(site("tool"), ("arm".into(), None), "a link has a parent and no shape of its own");
    }
}

#[test]
fn keyframes_are_completed_and_zero_quaternions_are_no_rotation() {
    let xml = |key: &str| {
        mjcf(&format!(
            r#"<mujoco><worldbody><body pos="0 0 2"><freejoint/><geom size="1"/></body>
               <body><joint type="ball"/><geom size="1"/><body><joint name="x" type="slide" ref="4"/><geom size="1"/></body></body>
               </worldbody><actuator><motor joint="x"/><motor joint="x"/></actuator><keyframe><key name="k" {key}/></keyframe></mujoco>"#
        ))
    };
    // numbers of MuJoCo 4.0
    let model = xml(r#"qpos="0 0 1 0 0 0 0 1e-16 0 0 0 3""#).unwrap();
    assert_eq!(model.keyframe("k").unwrap().q, [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 3.0]);
    let note = "keyframe 'k': a zero quaternion is read as no rotation (qpos[3])";
    assert!(model.notes().iter().any(|n| n == note) && model.warnings().is_empty(), "{:?}", model.notes());
    let model = xml(r#"qpos="5 6" qvel="7" ctrl="8""#).unwrap();
    let key = model.keyframe("k").unwrap();
    assert_eq!(key.q, [5.0, 6.0, 2.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 4.0]);
    assert_eq!((key.v[..2].to_vec(), &key.ctrl[..]), (vec![7.0, 0.0], &[8.0, 0.0][..]));
    assert!(model.notes().iter().any(|n| n.contains("qpos has 2 of 12 numbers")), "{:?}", model.notes());
    let error = xml(r#"qvel="1 2 3 4 5 6 7 8 9 10 11""#).unwrap_err().to_string();
    assert!(error.contains("qvel: expected at most 10 numbers, as the model has, not 11"), "{error}");
    let full = xml(r#"qpos="0 0 1 1 0 0 0 1 0 0 0 3""#).unwrap();
    assert!(full.notes().is_empty(), "{:?}", full.notes());
}

#[test]
fn a_ball_joint_may_be_limited_without_a_range() {
    let range = |limits: &str| {
        let xml = format!(
            "<mujoco><worldbody><body><joint type='ball' {limits}/><geom size='1'/></body></worldbody></mujoco>"
        );
        mjcf(&xml).unwrap().joints()[0].range
    };
    assert_eq!(range("limited='true'"), Some([0.0, 0.0]), "as in MuJoCo 4.0");
    assert_eq!(range("limited='true' range='0 0'"), Some([0.0, 0.0]));
    assert_eq!(range("limited='true' range='0 180'"), Some([0.0, std::f64::consts::PI]));
    assert_eq!(
        (range("limited='false' range='0 9'"), range("range='0 0'"), range("limited='auto'")),
        (None, None, None)
    );
}

#[test]
fn sensors_are_listed_and_those_that_cannot_be_kept_are_warned_about() {
    let model = load(&two(
        r#"<actuator><motor name="m" joint="x"/></actuator><sensor><gyro name="g" site="sb"/><jointpos joint="x"/>
           <framepos objtype="body" objname="b" reftype="xbody" refname="a"/><actuatorfrc actuator="m"/><clock/>
           <rangefinder site="sa"/><framepos objtype="geom" objname="ga"/></sensor>"#,
    ));
    let (b, sb) = (model.frame("b").unwrap(), model.frame("sb").unwrap());
    let got: Vec<_> = model.sensors().iter().map(|s| (s.quantity, s.object)).collect();
    assert_eq!(got[0], (Quantity::Gyro, SensorObject::Frame(sb)));
    assert_eq!(got[1], (Quantity::Position, SensorObject::Joint(JointId(0))));
    assert_eq!(got[2], (Quantity::Position, SensorObject::Inertial(b)));
    assert_eq!(model.sensors()[2].reference, Some(model.frame("a").unwrap()));
    assert_eq!(got[4], (Quantity::Clock, SensorObject::World));
    let sa = SensorObject::Frame(model.frame("sa").unwrap());
    assert_eq!((got[5], got.len()), ((Quantity::RangeFinder(RayData::DISTANCE), sa), 6));
    let told: Vec<_> = warnings(&model).iter().map(|w| w.effect.as_str()).collect();
    let geom = "the model does not have what this sensor is attached to: its reading is missing";
    assert_eq!(told, [geom]);
    assert!(wrong(&two(r#"<sensor><gyro site="a"/></sensor>"#)).contains("no site named 'a'"));
}

#[test]
fn weight_is_taken_off_as_the_file_says() {
    let model = load(
        r#"<mujoco><worldbody><body gravcomp="0.5"><joint type="slide"/><geom size="1" mass="4"/>
           <body gravcomp="1" pos="1 0 0"><geom size="1" mass="2"/></body></body></worldbody></mujoco>"#,
    );
    let (mass, center) = model.gravity_compensation()[1];
    assert_eq!((mass, center.x), (4.0, 0.5));
}

#[test]
fn damping_ratios_and_times_become_numbers_by_the_inertia() {
    let model = load(
        r#"<mujoco><worldbody><body><joint name="x" type="slide" springdamper="0.5 2"/><geom size="1" mass="4"/></body>
           <body><joint name="y" type="slide"/><geom size="1" mass="1"/></body></worldbody>
           <tendon><fixed name="t"><joint joint="x" coef="2"/><joint joint="y" coef="1"/></fixed></tendon>
           <actuator><position joint="x" kp="9" dampratio="1" gear="2"/><position tendon="t" kp="8" dampratio="0.5"/></actuator></mujoco>"#,
    );
    // m = 1 / (gear²/4) and 1 / (2²/4 + 1): kv = 2 · 1 · √(9 · 1), 2 · 0.5 · √(8 / 2)
    let damping: Vec<f64> = model.actuators().iter().map(|a| a.bias[2]).collect();
    assert!((damping[0] + 6.0).abs() < 1e-14 && (damping[1] + 2.0).abs() < 1e-14, "{damping:?}");
    assert_eq!(model.actuators()[1].transmission, Transmission::Tendon(0));
    // stiffness m / (time · ratio)², damping 2 m / time
    assert!((model.stiffness()[0] - 4.0).abs() < 1e-14 && (model.damping()[0] - 16.0).abs() < 1e-14);
    let mut tau = [0.0; 2];
    Workspace::new(&model).passive(&model, &[0.5, 0.0], &[0.0, 0.0], &mut tau).unwrap();
    assert!((tau[0] + 2.0).abs() < 1e-14);
}

#[test]
fn free_bodies_start_with_the_quaternion_of_the_file() {
    let model = load(
        r#"<mujoco><worldbody><body quat="-1 0 0 0"><freejoint/><geom size="1"/></body>
           <frame euler="0 0 270"><body euler="0 0 180" pos="1 0 0"><freejoint/><geom size="1"/></body></frame>
           </worldbody></mujoco>"#,
    );
    assert_eq!(model.neutral()[3], -1.0);
    // 450° in all: the half angle is 225°
    assert!((model.neutral()[10] - 225f64.to_radians().cos()).abs() < 1e-15, "{:?}", model.neutral());
}

#[test]
fn pictures_are_discarded_on_request_but_weigh() {
    let xml = |compiler: &str| {
        format!(
            r#"<mujoco><compiler {compiler}/><worldbody><body><joint/><geom size="1" mass="1"/>
               <geom name="v" size="1" mass="2" contype="0" conaffinity="0"/></body></worldbody></mujoco>"#
        )
    };
    let (all, few) = (load(&xml("")), load(&xml(r#"discardvisual="true""#)));
    assert_eq!((all.geoms().len(), few.geoms().len()), (2, 1));
    assert_eq!((all.total_mass(), few.total_mass()), (3.0, 3.0));
}

#[test]
fn an_inertial_inside_a_frame_is_placed_by_it() {
    let xml = r#"<mujoco><worldbody><body><joint/><frame pos="1 0 0" euler="0 90 0">
        <inertial pos="0.1 0.05 0" mass="1" diaginertia="0.1 0.2 0.25"/></frame></body></worldbody></mujoco>"#;
    let model = slipstick_io::load_mjcf_str("test.xml", xml, &Default::default()).unwrap();
    let i = &model.inertias()[1];
    // a quarter turn about y takes x to −z and exchanges the moments about x and z
    assert!((i.com.x - 1.0).abs() + (i.com.y - 0.05).abs() + (i.com.z + 0.1).abs() < 1e-12, "{:?}", i.com);
    assert!((i.about_com.xx - 0.25).abs() + (i.about_com.zz - 0.1).abs() < 1e-12, "{:?}", i.about_com);
}

#[test]
fn gravity_stays_off_whatever_a_later_option_says() {
    let xml = r#"<mujoco><option><flag gravity="disable"/></option><option gravity="0 0 -5"/></mujoco>"#;
    let model = slipstick_io::load_mjcf_str("test.xml", xml, &Default::default()).unwrap();
    assert_eq!(model.options().gravity, [0.0; 3]);
}

#[test]
fn a_mass_that_only_its_bound_gives_lies_where_mujoco_puts_it() {
    let xml = r#"<mujoco><compiler boundmass="1" boundinertia="0.1"/><worldbody><body pos="0 0 1"><joint/></body></worldbody></mujoco>"#;
    let model = slipstick_io::load_mjcf_str("test.xml", xml, &Default::default()).unwrap();
    assert_eq!((model.inertias()[1].mass, model.inertias()[1].com.z), (1.0, 1.0));
}

const DRIVEN: &str = r#"<mujoco><worldbody><site name="w" pos="1 0 2" euler="10 20 30"/><body gravcomp="0.5"><freejoint name="root"/>
  <geom size="0.1"/><site name="a" pos="0.1 0 0"/><body><joint name="ball" type="ball"/><geom size="0.1"/>
  <body><joint name="j" armature="0.5" damping="0.25" actuatorgravcomp="true"/><geom size="0.1" mass="1"/><site name="b" pos="0 0.2 0"/>
  <body><joint name="x" type="slide"/><geom size="0.1"/></body></body></body></body></worldbody>
  <tendon><fixed name="t" actuatorfrcrange="-2 3"><joint joint="x" coef="1"/></fixed></tendon>
  <default><motor cranklength="1.5"/></default>
  <actuator><motor site="a" gear="0 0 1 0 0 0.1"/><motor site="b" refsite="w" gear="1 0 0 0 0 0"/><motor cranksite="a" slidersite="b"/>
  <motor jointinparent="ball"/><motor jointinparent="j" gear="3" armature="0.1" damping="0.2"/>
  <motor tendon="t" forcerange="-1 5"/></actuator></mujoco>"#;

#[test]
fn actuators_act_on_what_the_file_says() {
    let model = load(DRIVEN);
    assert!(warnings(&model).is_empty(), "{:?}", model.warnings());
    let site = |name: &str| FrameId(model.frames().iter().position(|f| f.name == name).unwrap());
    let (a, b, w) = (site("a"), site("b"), site("w"));
    let joint = |name: &str| model.joint(name).unwrap();
    let wanted = [
        Transmission::Site { site: a, reference: None },
        Transmission::Site { site: b, reference: Some(w) },
        Transmission::SliderCrank { crank: a, slider: b, rod: 1.5 },
        Transmission::JointInParent(joint("ball")),
        Transmission::Joint(joint("j")),
        Transmission::Tendon(0),
    ];
    assert_eq!(model.actuators().iter().map(|a| a.transmission).collect::<Vec<_>>(), wanted);
    let dof = model.joints()[joint("j").0].v.start;
    assert!((model.armature()[dof] - 1.4).abs() + (model.damping()[dof] - 2.05).abs() < 1e-14);
    assert!(model.joints()[joint("j").0].driven_compensation && !model.joints()[joint("x").0].driven_compensation);
    assert_eq!(model.actuators()[5].force_range, Some([-1.0, 3.0]));
}

#[test]
fn what_actuators_act_on_survives_writing() {
    let model = load(DRIVEN);
    let back = load(&to_mjcf(&model));
    let parts = |m: &Model| m.actuators().iter().map(|a| (a.transmission, a.gear, a.force_range)).collect::<Vec<_>>();
    assert_eq!(parts(&model), parts(&back));
    assert_eq!(model.armature(), back.armature());
    assert!(back.joints().iter().zip(model.joints()).all(|(a, b)| a.driven_compensation == b.driven_compensation));
}

#[test]
fn a_tendon_with_several_actuators_does_not_limit_them_silently() {
    let xml = DRIVEN.replace(r#"<motor tendon="t" "#, r#"<motor tendon="t"/><motor tendon="t" armature="1" "#);
    let model = load(&xml);
    let effects: Vec<_> = warnings(&model).iter().map(|w| w.effect.as_str()).collect();
    assert_eq!(effects.len(), 2, "{effects:?}");
    assert!(
        effects.iter().any(|e| e.starts_with("actuatorfrcrange of tendon 't' is not supported with several actuators"))
    );
    assert!(effects.iter().any(|e| e.starts_with("armature and damping of an actuator on a tendon")));
}
