//! Models to files and back: the same robot.

use crate::robots::shared_models;
use crate::{mjcf, repository, urdf, warnings};
use slipstick_core::dynamics::Workspace;
use slipstick_core::model::{Actuator, JointId, JointKind, JointSpec, PairRule, ParameterGroup};
use slipstick_core::random::Rng;
use slipstick_core::spatial::{BodyInertia, Pose, Quat, Sym3, vec3};
use slipstick_core::{Model, ModelBuilder};
use slipstick_io::{
    LoadOptions, PairChoice, content_hash, load_mjcf_str, load_with, to_mjcf, to_mjcf_with_warnings, to_urdf,
};
use std::path::{Path, PathBuf};

/// A configuration and velocity away from everything special, the same for every run.
fn state(model: &Model, seed: u64) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let mut draw = Rng(seed);
    let mut random = || draw.sign();
    let d: Vec<f64> = (0..model.nv()).map(|_| 0.7 * random()).collect();
    let v: Vec<f64> = (0..model.nv()).map(|_| random()).collect();
    let ctrl: Vec<f64> = (0..model.nu()).map(|_| 0.5 * random()).collect();
    let mut q = vec![0.0; model.nq()];
    model.integrate(model.neutral(), &d, &mut q).unwrap();
    (q, v, ctrl)
}

fn assert_near(what: &str, a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len(), "{what}");
    let size = a.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
    let worst = a.iter().zip(b).fold(0.0, |m: f64, (x, y)| m.max((x - y).abs()));
    assert!(worst <= tolerance * size, "{what}: {worst:e} of {size}");
}

/// M, bias, passive and actuator forces of two models agree. `shift` is what the second one's q is less by.
pub fn assert_same_dynamics(file: &str, a: &Model, b: &Model, shift: &[f64], passive: bool) {
    assert_eq!((a.nq(), a.nv()), (b.nq(), b.nv()), "{file}");
    let (nv, mut wa, mut wb) = (a.nv(), Workspace::new(a), Workspace::new(b));
    for seed in 1..4 {
        let (q, v, ctrl) = state(a, seed);
        let qb: Vec<f64> = q.iter().zip(shift).map(|(x, s)| x - s).collect();
        let (mut x, mut y) = (vec![0.0; nv * nv], vec![0.0; nv * nv]);
        wa.crba(a, &q, &mut x).unwrap();
        wb.crba(b, &qb, &mut y).unwrap();
        assert_near(&format!("{file}: M"), &x, &y, 1e-12);
        let (mut x, mut y) = (vec![0.0; nv], vec![0.0; nv]);
        wa.bias(a, &q, &v, &mut x).unwrap();
        wb.bias(b, &qb, &v, &mut y).unwrap();
        assert_near(&format!("{file}: bias"), &x, &y, 1e-12);
        if passive {
            wa.passive(a, &q, &v, &mut x).unwrap();
            wb.passive(b, &qb, &v, &mut y).unwrap();
            assert_near(&format!("{file}: passive"), &x, &y, 1e-12);
            wa.actuate(a, &q, &v, &ctrl, &mut x).unwrap();
            wb.actuate(b, &qb, &v, &ctrl, &mut y).unwrap();
            assert_near(&format!("{file}: actuators"), &x, &y, 1e-12);
        }
    }
}

fn assert_same_parts(file: &str, a: &Model, b: &Model) {
    let bodies = |m: &Model| m.bodies().iter().map(|b| b.name.clone()).collect::<Vec<_>>();
    let joints = |m: &Model| m.joints().iter().map(|j| (j.name.clone(), j.kind.name())).collect::<Vec<_>>();
    let frames = |m: &Model| m.frames().iter().map(|f| (f.name.clone(), f.body)).collect::<Vec<_>>();
    let geoms = |m: &Model| m.geoms().iter().map(|g| (g.name.clone(), g.link, g.shape)).collect::<Vec<_>>();
    let pairs = |m: &Model| m.pairs().iter().map(|p| p.geoms).collect::<Vec<_>>();
    assert_eq!(bodies(a), bodies(b), "{file}");
    assert_eq!(joints(a), joints(b), "{file}");
    assert_eq!(frames(a), frames(b), "{file}");
    assert_eq!(geoms(a), geoms(b), "{file}");
    assert_eq!((a.pair_rule(), pairs(a)), (b.pair_rule(), pairs(b)), "{file}");
    for (x, y) in a.frames().iter().zip(b.frames()) {
        let mass = |i: Option<BodyInertia>| i.map(|i| i.mass);
        assert_eq!(mass(x.inertia), mass(y.inertia), "{file}: {}", x.name);
        assert_near(file, &x.pose.position.to_array(), &y.pose.position.to_array(), 1e-14);
    }
    for (x, y) in a.geoms().iter().zip(b.geoms()) {
        assert_eq!(x.surface, y.surface, "{file}: {}", x.name);
        assert_near(file, &x.pose.position.to_array(), &y.pose.position.to_array(), 1e-14);
    }
    for (x, y) in a.joints().iter().zip(b.joints()) {
        assert_eq!((x.range.is_some(), x.reference), (y.range.is_some(), y.reference), "{file}: {}", x.name);
        assert_near(file, x.range.as_ref().map_or(&[], |r| r), y.range.as_ref().map_or(&[], |r| r), 1e-11);
    }
    assert_eq!(a.actuators().len(), b.actuators().len(), "{file}");
    assert_eq!(a.sensors(), b.sensors(), "{file}");
    assert_eq!(a.tendons(), b.tendons(), "{file}");
    assert_eq!(a.equalities().len(), b.equalities().len(), "{file}");
    assert_eq!(a.excludes(), b.excludes(), "{file}");
    assert_eq!(a.meshes().len(), b.meshes().len(), "{file}");
    for (x, y) in a.meshes().iter().zip(b.meshes()) {
        // MuJoCo keeps vertices in single precision: corners that are nearly coplanar may come or go
        let few = x.vertices.len() / 20;
        assert!(x.vertices.len().abs_diff(y.vertices.len()) <= few, "{file}: {}", x.name);
    }
    for (x, y) in a.keyframes().iter().zip(b.keyframes()) {
        assert_eq!((&x.name, &x.v, &x.ctrl), (&y.name, &y.v, &y.ctrl), "{file}");
        assert_near(file, &x.q, &y.q, 1e-15);
    }
    assert_near(file, a.neutral(), b.neutral(), 1e-15);
    assert_eq!((a.name(), a.options()), (b.name(), b.options()), "{file}");
}

/// Writes a model, reads it back and compares.
fn round_trip(file: &str, model: &Model) -> Model {
    let text = to_mjcf(model);
    let back = load_mjcf_str("back.xml", &text, &LoadOptions::default()).unwrap_or_else(|e| panic!("{file}: {e}"));
    assert!(back.warnings().is_empty() || !model.warnings().is_empty(), "{file}: {:?}", back.warnings());
    assert_same_parts(file, model, &back);
    assert_same_dynamics(file, model, &back, &vec![0.0; model.nq()], true);
    back
}

/// All files below a folder with an extension.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let (mut out, mut stack) = (Vec::new(), vec![folder.to_path_buf()]);
    while let Some(folder) = stack.pop() {
        for path in std::fs::read_dir(folder).unwrap().flatten().map(|e| e.path()) {
            if path.is_dir() {
                stack.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

#[test]
fn every_built_in_robot_survives_writing() {
    let files = files(&repository().join("crates/slipstick/models"), "xml");
    assert!(!files.is_empty());
    for path in files {
        let model = load_with(&path, &LoadOptions::default()).unwrap();
        round_trip(&path.display().to_string(), &model);
    }
}

#[test]
fn every_shared_robot_survives_writing() {
    let Some(folder) = shared_models() else { return };
    let mut count = 0;
    for path in files(&folder, "xml") {
        // some need pictures that are not there
        let Ok(model) = load_with(&path, &LoadOptions::default()) else { continue };
        round_trip(&path.display().to_string(), &model);
        count += 1;
    }
    assert!(count >= 16, "{count}");
    for path in files(&folder, "urdf") {
        let mut options = LoadOptions::default();
        (options.free_root, options.ground) = (!path.to_string_lossy().contains("ur5"), true);
        let model = load_with(&path, &options).unwrap_or_else(|e| panic!("{e}"));
        let back = round_trip(&path.display().to_string(), &model);
        assert_eq!(back.pair_rule(), &PairRule::Paper);
    }
}

pub const RICH: &str = r#"<mujoco model="a &amp; b"><option timestep="0.003" gravity="0 1 -9" magnetic="1 0 0.5"/>
  <worldbody><geom name="floor" type="plane" size="1 1 1"/><body name="stand" pos="0 0 1"><geom size="0.1"/></body>
    <site name="goal" pos="1 2 3"/>
    <body name="cart" pos="1 0 0" euler="10 20 30" gravcomp="0.5"><joint name="s" type="slide" axis="1 0 0" ref="0.2" springref="0.1"
      stiffness="3" damping="2" range="-1 1" frictionloss="0.3" armature="0.01" actuatorfrcrange="-5 6"/>
      <joint name="h" axis="0 1 0" pos="0.1 0 0.2" stiffness="1"/><geom size="0.1 0.2" type="capsule" condim="1" margin="0.01" priority="2"/>
      <body name="arm" pos="0 0.3 0"><joint name="b" type="ball" pos="0 0 0.1" damping="0.1" stiffness="2" range="0 100"/>
        <geom type="box" size="0.1 0.2 0.3" euler="0 10 0" friction="0.4" contype="5" conaffinity="-1"/>
        <body name="camera" pos="0.1 0 0"><geom size="0.05" mass="0.1"/><site name="lens" pos="0 0 0.01"/>
          <body name="lid"><joint name="k"/><geom name="lid" type="ellipsoid" size="0.1 0.2 0.1"/><site name="rim" euler="0 0 90"/></body>
        </body></body></body>
    <body name="ball" pos="0 0 3" quat="1 1 0 0"><joint name="free" type="free" damping="0.2"/><geom name="ball" size="0.2"/></body>
  </worldbody>
  <contact><exclude body1="cart" body2="ball"/><pair geom1="lid" geom2="ball" friction="0.7 0.7" condim="1" margin="0.02"/></contact>
  <tendon><fixed name="t" stiffness="4" damping="0.5" springlength="0.1 0.3" range="-1 2"><joint joint="s" coef="2"/><joint joint="k" coef="-1"/></fixed></tendon>
  <equality><joint joint1="k" joint2="h" polycoef="0.1 2 0 0.5 0"/><connect name="c" body1="arm" body2="ball" anchor="0.1 0 0"/>
    <weld body1="lid" body2="stand" relpose="0.1 0.2 0.3 1 0.5 0 0" anchor="0 0.1 0" active="false"/></equality>
  <actuator><motor name="m" joint="s" gear="30" ctrlrange="-1 1" ctrllimited="true"/><position joint="k" kp="20" kv="2"/>
    <general name="g" tendon="t" gainprm="3" biastype="affine" biasprm="0.1 -3 -0.2" forcerange="-2 2"/>
    <motor joint="b" gear="1 2 3"/><velocity name="w" joint="free" kv="3" gear="0 0 1 0 0 2"/></actuator>
  <sensor><jointpos joint="h"/><tendonpos name="len" tendon="t"/><gyro site="lens"/><framepos objtype="xbody" objname="arm" reftype="site" refname="rim"/>
    <framelinvel objtype="body" objname="lid"/><subtreecom body="cart"/><actuatorfrc actuator="m"/><clock/>
    <rangefinder site="rim" data="dist normal" cutoff="2"/><contact geom1="ball" data="found force" num="3" reduce="maxforce"/>
    <contact site="rim"/><contact subtree1="cart" body2="ball" reduce="netforce"/><distance body1="arm" geom2="lid" cutoff="4"/>
    <magnetometer site="lens"/><e_potential/><insidesite site="rim" objtype="xbody" objname="arm"/></sensor>
  <keyframe><key name="home" qpos="0.1 0.2 1 0 0 0 0.3 1 2 3 1 0 0 0" ctrl="0.1 0.2 0.3 0.4 0.5"/></keyframe></mujoco>"#;

#[test]
fn everything_that_a_model_has_survives_writing() {
    let model = mjcf(RICH).unwrap();
    assert!(warnings(&model).is_empty(), "{:?}", model.warnings());
    assert_eq!((model.nv(), model.nu(), model.sensors().len(), model.equalities().len()), (12, 5, 16, 3));
    let back = round_trip("rich", &model);
    assert_eq!(back.name(), "a & b");
    let text = |m: &Model| format!("{:?}", m.equalities().iter().map(|e| (&e.name, e.active)).collect::<Vec<_>>());
    assert_eq!(text(&model), text(&back));
    for ((m, c), (n, d)) in model.gravity_compensation().iter().zip(back.gravity_compensation()) {
        assert!((m - n).abs() < 1e-14 && (*c - *d).norm() < 1e-14);
    }
    assert!(model.gravity_compensation()[1].0 > 0.0);
    for (a, b) in model.pairs().iter().zip(back.pairs()) {
        assert_eq!(a, b);
    }
    assert_eq!(to_mjcf_with_warnings(&model).1, []);
}

#[test]
fn changed_parameters_are_written() {
    let model = mjcf(RICH).unwrap();
    let mut p = model.parameters().clone();
    p.group_mut(ParameterGroup::Inertial)[10] += 0.5; // mass of the arm, which has a camera
    p.group_mut(ParameterGroup::Damping)[0] = 7.0;
    p.group_mut(ParameterGroup::Actuator)[0] = 2.0;
    let changed = model.with_parameters(p).unwrap();
    let back = mjcf(&to_mjcf(&changed)).unwrap();
    assert_same_dynamics("changed", &changed, &back, &vec![0.0; model.nq()], true);
    assert_ne!(content_hash(&model), content_hash(&changed));
}

#[test]
fn joints_that_mjcf_does_not_have_are_split() {
    let mut b = ModelBuilder::new("split");
    let inertia = BodyInertia { mass: 2.0, com: vec3(0.1, 0.2, 0.0), about_com: Sym3::diagonal(vec3(0.1, 0.2, 0.25)) };
    let turned = |x: f64| Pose::new(vec3(x, 0.0, 1.0), Quat::exp(vec3(0.3, 0.1, 0.2)));
    let planar = JointSpec { damping: 0.3, stiffness: 2.0, ..JointSpec::new("p", JointKind::Planar) };
    let base = b.add_link(ModelBuilder::WORLD, "base", turned(1.0), inertia, vec![planar]);
    b.add_link(base, "loose", turned(2.0), inertia, vec![JointSpec::new("f", JointKind::Free)]);
    let push = Actuator { gear: [2.0, 3.0, 4.0, 0.0, 0.0, 0.0], ..Actuator::position("push", JointId(0), 5.0, 1.0) };
    b.add_actuator(push);
    let model = b.build().unwrap();
    let (text, losses) = to_mjcf_with_warnings(&model);
    let back = mjcf(&text).unwrap();
    let names: Vec<_> = back.joints().iter().map(|j| j.name.as_str()).collect();
    assert_eq!(names, ["p_x", "p_y", "p", "f_x", "f_y", "f_z", "f"]);
    assert_same_dynamics("split", &model, &back, &vec![0.0; model.nq()], true);
    assert_eq!(losses.len(), 2, "{losses:?}");
}

#[test]
fn an_inertia_that_no_body_has_is_written_with_its_carrier() {
    let odd = r#"<robot name="r"><link name="a"><inertial><mass value="0.1"/>
        <inertia ixx="1e-3" ixy="2e-3" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link>
      <link name="b"><inertial><origin xyz="0 0 1" rpy="1 2 3"/><mass value="2"/>
        <inertia ixx="1" ixy="0" ixz="0" iyy="1.1" iyz="0" izz="1.2"/></inertial></link>
      <joint name="j" type="fixed"><parent link="a"/><child link="b"/><origin xyz="1 0 0" rpy="0.3 0.2 0.1"/></joint></robot>"#;
    let mut options = LoadOptions::default();
    options.free_root = true;
    let model = slipstick_io::load_urdf_str("odd.urdf", odd, &options).unwrap();
    let (text, losses) = to_mjcf_with_warnings(&model);
    assert!(losses[0].to_string().starts_with("link 'a': its rotational inertia"), "{losses:?}");
    let back = mjcf(&text).unwrap();
    assert!(back.warnings().is_empty(), "{:?}", back.warnings());
    let masses = |m: &Model| m.frames().iter().map(|f| f.inertia.unwrap().mass).collect::<Vec<_>>();
    assert_eq!(masses(&model), masses(&back));
    assert_same_dynamics("odd", &model, &back, &vec![0.0; model.nq()], true);
}

#[test]
fn a_list_of_pairs_is_written_as_explicit_pairs() {
    let path = std::env::temp_dir().join(format!("slipstick-write-{}.json", std::process::id()));
    std::fs::write(&path, r#"[["floor", "lid"], [1, 2]]"#).unwrap();
    let mut options = LoadOptions::default();
    options.pairs = PairChoice::File(path.clone());
    let model = load_mjcf_str("rich.xml", RICH, &options).unwrap();
    std::fs::remove_file(path).unwrap();
    let back = mjcf(&to_mjcf(&model)).unwrap();
    let pairs = |m: &Model| m.pairs().iter().map(|p| p.geoms).collect::<Vec<_>>();
    assert_eq!(pairs(&back), pairs(&model));
    // the capsule has the higher priority and no friction
    assert_eq!(back.pairs()[1].surface.unwrap().condim, 1);
}

#[test]
fn a_long_chain_is_written_without_exhausting_the_stack() {
    let mut b = ModelBuilder::new("chain");
    let inertia = BodyInertia { mass: 1.0, com: vec3(0.0, 0.0, 0.1), about_com: Sym3::diagonal(vec3(0.1, 0.1, 0.1)) };
    let mut parent = ModelBuilder::WORLD;
    for i in 0..3000 {
        let joint = JointSpec::new(format!("j{i}"), JointKind::Revolute { axis: vec3(0.0, 1.0, 0.0) });
        parent = b.add_link(parent, format!("l{i}"), Pose::translation(vec3(0.0, 0.0, 0.1)), inertia, vec![joint]);
    }
    let model = b.build().unwrap();
    assert_eq!(mjcf(&to_mjcf(&model)).unwrap().nv(), 3000);
    assert_eq!(urdf(&to_urdf(&model).0).unwrap().nv(), 3000);
}

#[test]
fn the_hash_tells_robots_apart_and_is_the_same_in_every_run() {
    let (a, b) = (mjcf(RICH).unwrap(), mjcf(&RICH.replace("kp=\"20\"", "kp=\"21\"")).unwrap());
    assert_ne!(content_hash(&a), content_hash(&b));
    assert_eq!(content_hash(&a), content_hash(&mjcf(&format!("<!-- same -->{RICH}")).unwrap()));
    let small = r#"<mujoco model="m"><worldbody><body name="b"><joint name="j"/><geom size="1" mass="2"/></body></worldbody></mujoco>"#;
    assert_eq!(content_hash(&mjcf(small).unwrap()), "22c709e8716fe3c76e7bef2894104bf9");
    let hash = content_hash(&a);
    let other = a.with_pair_rule(PairRule::Paper).unwrap();
    assert!(hash.len() == 32 && hash != content_hash(&other));
}

#[test]
fn the_hash_sees_mocap_poses_sensors_and_what_rays_meet() {
    let text = r#"<mujoco model="m"><option magnetic="0 1 2"/><worldbody><geom type="plane" size="1 2 1" rgba="1 1 1 0.5"/>
      <body name="b" mocap="true" pos="1 0 4"><geom name="g" size="1"/><site name="s"/></body></worldbody>
      <sensor><rangefinder site="s" cutoff="3"/><contact geom1="g" data="found"/></sensor>
      <keyframe><key name="k" mpos="1 2 3"/></keyframe></mujoco>"#;
    let model = mjcf(text).unwrap();
    let hash = content_hash(&model);
    assert_eq!(content_hash(&mjcf(&to_mjcf(&model)).unwrap()), hash, "{}", to_mjcf(&model));
    let changes = [
        ("magnetic=\"0 1 2", "magnetic=\"0 1 3"),
        ("size=\"1 2 1", "size=\"1 3 1"),
        ("1 1 1 0.5", "1 1 1 0"),
        ("pos=\"1 0 4", "pos=\"1 0 5"),
        ("cutoff=\"3", "cutoff=\"4"),
        ("found", "force"),
        ("mpos=\"1 2 3", "mpos=\"1 2 4"),
    ];
    for (old, new) in changes {
        assert_ne!(content_hash(&mjcf(&text.replace(old, new)).unwrap()), hash, "{new}");
    }
}
