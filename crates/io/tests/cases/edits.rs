//! Named changes of a model against files that say the same.

use crate::{mjcf, urdf};
use slipstick_core::model::{ParameterGroup, Transmission};
use slipstick_core::{Data, Input, Mode, Model, State, Step, step};
use slipstick_io::{LoadOptions, load_urdf_str, to_mjcf};

/// Two hinges over a floor that the hand can reach; only the first one has a range, only the second a limit of effort.
const ARM: &str = r#"<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0.5 0 0"/><mass value="2"/><inertia ixx="0.002" iyy="0.17" izz="0.17"/></inertial>
  </link>
  <link name="fore">
    <inertial><origin xyz="0.4 0 0"/><mass value="1.2"/><inertia ixx="0.001" iyy="0.065" izz="0.065"/></inertial>
    <collision name="hand"><origin xyz="0.8 0 0"/><geometry><sphere radius="0.08"/></geometry></collision>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><origin xyz="0 0 0.6"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="80" velocity="10"/><dynamics damping="0.1"/>
  </joint>
  <joint name="elbow" type="continuous">
    <parent link="upper"/><child link="fore"/><origin xyz="1 0 0"/><axis xyz="0 1 0"/>
    <limit effort="40" velocity="10"/>
  </joint>
</robot>"#;

fn arm() -> Model {
    load_urdf_str("arm.urdf", ARM, &LoadOptions::default().with_ground()).unwrap()
}

/// Coordinates and velocities of all steps, then the Jacobian of the last one and how many contacts it had.
fn motion(model: &Model, start: &State, steps: usize, ctrl: &[f64]) -> Vec<f64> {
    let (mut data, mut x, mut next) = (Data::new(model), start.clone(), start.clone());
    let mut out = Vec::new();
    for _ in 0..steps {
        step(model, &mut data, &x, &Input::ctrl(ctrl), &mut next).unwrap();
        std::mem::swap(&mut x, &mut next);
        out.extend(x.q.iter().chain(&x.v));
    }
    let mut last = Step::last(model, &mut data).unwrap();
    let touching = last.contacts().filter(|c| c.impulse.norm() > 0.0).count();
    let J = last.jacobian().unwrap();
    let blocks = [J.dv_dq, J.dv_dv, J.dv_dtau, J.dv_dctrl];
    out.extend(blocks.iter().flat_map(|m| (0..m.rows()).flat_map(|i| m.row(i))));
    out.push(touching as f64);
    out
}

fn farthest(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |m, (x, y)| m.max((x - y).abs() / (1.0 + x.abs())))
}

#[test]
fn servos_are_position_actuators_of_the_file() {
    let plain = to_mjcf(&arm());
    let with = |section: &str| mjcf(&plain.replace("</mujoco>", &format!("{section}</mujoco>"))).unwrap();
    let by_hand = with(
        r#"<actuator>
             <position name="shoulder" joint="shoulder" kp="200" kv="20" ctrlrange="-2 2" forcerange="-80 80"/>
             <position name="elbow" joint="elbow" kp="200" kv="20" forcerange="-40 40"/>
           </actuator>"#,
    );
    let servos = mjcf(&plain).unwrap().with_servos(200.0, 20.0).unwrap();
    assert_eq!(servos.actuators(), by_hand.actuators());
    assert_eq!(servos.parameters(), by_hand.parameters(), "values and names of all parameters");
    // far from its target, so that a servo saturates; then on the floor
    let start = State::neutral(&servos);
    let [ours, theirs] = [&servos, &by_hand].map(|m| motion(m, &start, 400, &[0.9, -0.9]));
    assert!(ours == theirs, "off by {:e}", farthest(&ours, &theirs));
    assert_eq!(ours.last(), Some(&1.0), "the hand is on the floor");

    let from_urdf = arm().with_servos(200.0, 20.0).unwrap();
    let rounding = farthest(&motion(&from_urdf, &start, 400, &[0.9, -0.9]), &ours);
    assert!(rounding < 1e-14, "{rounding:e}");
    let again = mjcf(&to_mjcf(&from_urdf)).unwrap();
    assert_eq!(again.actuators(), from_urdf.actuators());
    assert_eq!(again.parameters().layout(), from_urdf.parameters().layout());
}

#[test]
fn new_servos_follow_the_actuators_that_there_are() {
    let xml = r#"<mujoco><worldbody>
        <body name="base"><freejoint name="root"/><geom size="0.1"/>
          <body name="thigh"><joint name="hip"/><geom size="0.1"/>
            <body name="shank"><joint name="knee" range="-90 90"/><geom size="0.1"/>
              <body name="foot"><joint name="ankle" type="ball"/><geom size="0.1"/>
                <body name="toe"><joint name="toe" type="slide"/><geom size="0.1"/></body>
                <body name="heel"><joint name="heel"/><geom size="0.1"/></body>
                <body name="spur"><joint name="spur"/><geom size="0.1"/></body></body></body></body></body>
        </worldbody>
        <tendon><fixed name="strap"><joint joint="heel" coef="1"/></fixed></tendon>
        <equality><joint joint1="spur" joint2="knee"/></equality>
        <actuator><motor name="toe" joint="hip"/><motor name="pull" tendon="strap"/></actuator>
        <keyframe><key name="bent" qpos="0 0 1 1 0 0 0 0.1 0.2 1 0 0 0 0.3 0.4 0.2" ctrl="5 6"/></keyframe></mujoco>"#;
    let file = mjcf(xml).unwrap();
    let model = file.with_servos(50.0, 2.0).unwrap();
    assert_eq!(
        (file.nu(), model.nu()),
        (2, 4),
        "the hip has a motor, the heel a tendon, the spur follows, the ankle is a ball"
    );
    let names: Vec<&str> = model.actuators().iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["toe", "pull", "knee", "toe_servo1"]);
    let [knee, toe] = [&model.actuators()[2], &model.actuators()[3]];
    assert_eq!(knee.transmission, Transmission::Joint(model.joint("knee").unwrap()));
    assert_eq!((knee.ctrl_range, knee.force_range), (model.joints()[2].range, None));
    assert_eq!((toe.gain, toe.bias, toe.ctrl_range), (50.0, [0.0, -50.0, -2.0], None));
    assert_eq!(model.keyframe("bent").unwrap().ctrl, [5.0, 6.0, 0.2, 0.3]);
    let numbers = model.parameters().group(ParameterGroup::Actuator);
    assert_eq!(numbers[..8], *file.parameters().group(ParameterGroup::Actuator));
    assert_eq!(model.parameters().values()[model.parameters().layout().index("actuator/knee/bias1").unwrap()], -50.0);
    assert!(!model.shares_structure(&file));
    // it has all servos that it can have
    let error = model.with_servos(1.0, 0.0).unwrap_err().to_string();
    assert!(
        error.starts_with("joints for servos (one dof,") && error.ends_with("expected at least one, got 0"),
        "{error}"
    );
}

#[test]
fn single_joints_get_servos_with_gains_of_their_own() {
    let model = arm().with_servos_of(&[("elbow", 30.0, 3.0), ("shoulder", 90.0, 9.0)]).unwrap();
    let gains: Vec<_> = model.actuators().iter().map(|a| (a.name.as_str(), a.gain, a.bias[2])).collect();
    assert_eq!(gains, [("elbow", 30.0, -3.0), ("shoulder", 90.0, -9.0)]);
    let told = |joints: &[(&str, f64, f64)]| arm().with_servos_of(joints).unwrap_err().to_string();
    assert_eq!(told(&[("elbo", 1.0, 1.0)]), "the model has no joint named 'elbo' (did you mean 'elbow'?)");
    let expected = "kd of the servo of joint 'elbow': expected zero or a positive number, got -1";
    assert_eq!(told(&[("elbow", 1.0, -1.0)]), expected);
    let twice = "joint 'elbow': actuators: expected none yet, for a servo, got 1";
    assert_eq!(told(&[("elbow", 1.0, 1.0), ("elbow", 2.0, 1.0)]), twice);
    assert_eq!(model.with_servos_of(&[("elbow", 1.0, 1.0)]).unwrap_err().to_string(), twice);
    let error = arm().with_servos(f64::NAN, 0.0).unwrap_err().to_string();
    assert_eq!(error, "kp of servos: expected zero or a positive number, got NaN");
    let weak = urdf(&ARM.replace("effort=\"40\"", "effort=\"0\"")).unwrap();
    assert_eq!(weak.with_servos(1.0, 0.0).unwrap().nu(), 1, "a joint without effort is passive");
    let error = weak.with_servos_of(&[("elbow", 1.0, 0.0)]).unwrap_err().to_string();
    assert_eq!(error, "joint 'elbow': effort limit: expected more than zero, for a servo, got 0");
    let floating = load_urdf_str("arm.urdf", ARM, &LoadOptions::default().with_free_root()).unwrap();
    let error = floating.with_servos_of(&[("root", 1.0, 0.0)]).unwrap_err().to_string();
    assert_eq!(error, "joint 'root': dofs: expected one, for a servo, got 6");
}

#[test]
fn a_mass_is_that_of_a_file_with_this_mass() {
    let xml = |mass: &str| {
        let body = format!(
            r#"<body name="a"><joint/><inertial pos="0.1 0.2 0.3" mass="{mass}" fullinertia="0.04 0.05 0.06 0.001 0.002 0.003"/>"#
        );
        let scaled = if mass == "6" {
            body.replace("0.04 0.05 0.06 0.001 0.002 0.003", "0.12 0.15 0.18 0.003 0.006 0.009")
        } else {
            body
        };
        format!(
            "<mujoco><worldbody>{scaled}<body name=\"b\"><joint/><geom size=\"0.1\"/></body></body></worldbody></mujoco>"
        )
    };
    let [light, heavy] = ["2", "6"].map(|mass| mjcf(&xml(mass)).unwrap());
    let made = light.with_mass(&[("a", 6.0)]).unwrap();
    assert!(made.shares_structure(&light) && light.inertias()[1].mass == 2.0);
    assert_eq!(made.inertias()[1].mass, 6.0);
    assert!(farthest(made.parameters().values(), heavy.parameters().values()) < 1e-15);
    assert_eq!(made.with_mass(&[]).unwrap().parameters(), made.parameters());
    let written = mjcf(&to_mjcf(&made)).unwrap();
    assert!(farthest(written.parameters().values(), heavy.parameters().values()) < 1e-15);

    let told = |masses: &[(&str, f64)]| light.with_mass(masses).unwrap_err().to_string();
    assert_eq!(told(&[("a", 0.0)]), "mass of body 'a': expected a positive number, got 0");
    assert_eq!(told(&[("a", f64::INFINITY)]), "mass of body 'a': expected a positive number, got inf");
    assert_eq!(told(&[("world", 1.0)]), "mass of body 'world': expected a body that moves, got 1");
    assert_eq!(told(&[("arm", 1.0)]), "the model has no body named 'arm' (it has: world, a, b)");
    let tool = ARM.replace(
        "</robot>",
        r#"<link name="tool"/><joint name="grip" type="fixed"><parent link="fore"/>
        <child link="tool"/></joint></robot>"#,
    );
    let error = urdf(&tool).unwrap().with_mass(&[("tool", 1.0)]).unwrap_err().to_string();
    let expected =
        "mass of 'tool', which is fixed to body 'fore': expected the mass of a whole body, by its name, got 1";
    assert_eq!(error, expected);
    let armature = r#"<mujoco><worldbody><body name="wheel"><joint armature="1"/></body></worldbody></mujoco>"#;
    let error = mjcf(armature).unwrap().with_mass(&[("wheel", 1.0)]).unwrap_err().to_string();
    assert_eq!(error, "mass of body 'wheel' before the change, which is scaled: expected a positive number, got 0");
}

#[test]
fn friction_is_that_of_a_file_with_this_friction() {
    let xml = |floor: f64, ball: f64, pair: f64| {
        format!(
            r#"<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" friction="{floor}"/>
              <body pos="0 0 0.099"><freejoint/><geom name="ball" size="0.1" mass="1" friction="{ball}"/></body>
              <body pos="1 0 0.099"><freejoint/><geom name="puck" size="0.1" mass="1" friction="{floor}"/></body>
              </worldbody><contact><pair geom1="floor" geom2="puck" friction="{pair} {pair}"/></contact></mujoco>"#
        )
    };
    let slide = |model: &Model| {
        let mut start = State::neutral(model);
        (start.v[0], start.v[6]) = (1.0, 1.0);
        motion(model, &start, 20, &[])
    };
    let model = mjcf(&xml(0.2, 0.3, 0.1)).unwrap();
    let made = model.with_friction(&[("floor", 0.4), ("ball", 0.0)]).unwrap();
    assert!(made.shares_structure(&model));
    let mut file = slide(&mjcf(&xml(0.4, 0.0, 0.1)).unwrap());
    assert!(slide(&made) == file, "the pair keeps its own friction");
    // the smaller one of two decides nothing
    assert!(slide(&made.with_friction(&[("ball", 0.39)]).unwrap()) == file);
    file = slide(&mjcf(&xml(0.25, 0.25, 0.25)).unwrap());
    assert!(slide(&model.with_uniform_friction(0.25).unwrap()) == file);
    assert!(to_mjcf(&model.with_uniform_friction(0.25).unwrap()).contains("friction=\"0.25 0.25\""));
    assert!(model.with_uniform_friction(0.1).unwrap().shares_structure(&model), "the pair has this friction already");

    let told = |friction: &[(&str, f64)]| model.with_friction(friction).unwrap_err().to_string();
    assert_eq!(told(&[("bal", 1.0)]), "the model has no geom named 'bal' (did you mean 'ball'?)");
    assert_eq!(told(&[("ball", -1.0)]), "friction of geom 'ball': expected zero or a positive number, got -1");
    let error = model.with_uniform_friction(f64::NAN).unwrap_err().to_string();
    assert_eq!(error, "friction: expected zero or a positive number, got NaN");
}

#[test]
fn the_sum_over_geoms_is_the_derivative_with_respect_to_uniform_friction() {
    let xml = r#"<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
        <body pos="0 0 0.1"><freejoint/><geom name="box" type="box" size="0.1 0.2 0.1" mass="1"/></body>
        </worldbody></mujoco>"#;
    let model = mjcf(xml).unwrap().with_uniform_friction(0.4).unwrap();
    let mut start = State::neutral(&model);
    start.v.copy_from_slice(&[1.0, 0.3, 0.0, 0.0, 0.0, 0.2]);
    let pushed = |model: &Model| {
        let (mut data, mut next) = (Data::new(model), start.clone());
        let done = step(model, &mut data, &start, &Input::default(), &mut next).unwrap();
        assert!(done.contacts().filter(|c| c.mode == Mode::Slide).count() == 4);
        next.v
    };
    let (mut data, mut next) = (Data::new(&model), start.clone());
    let mut done = step(&model, &mut data, &start, &Input::default(), &mut next).unwrap();
    let mut by_geom = vec![0.0; 2 * model.nv()];
    done.parameter_jacobian(ParameterGroup::Friction, &mut [0.0; 12], &mut by_geom).unwrap();
    const H: f64 = 1e-4;
    let [more, less] = [H, -H].map(|h| pushed(&model.with_uniform_friction(0.4 + h).unwrap()));
    for (k, row) in by_geom.chunks(2).enumerate() {
        let difference = (more[k] - less[k]) / (2.0 * H);
        assert!((row[0] + row[1] - difference).abs() < 1e-8, "{k}: {row:?} is not {difference}");
        assert_eq!(row[0], row[1], "the geoms tie");
    }
    assert!((by_geom[0] + by_geom[1]).abs() > 1e-2, "friction slows it down");
    // of two that differ the larger one decides
    let made = model.with_friction(&[("floor", 0.39)]).unwrap();
    let mut done = step(&made, &mut data, &start, &Input::default(), &mut next).unwrap();
    done.parameter_jacobian(ParameterGroup::Friction, &mut [0.0; 12], &mut by_geom).unwrap();
    assert!(by_geom.chunks(2).all(|row| row[0] == 0.0) && by_geom[1] < -1e-2);
}
