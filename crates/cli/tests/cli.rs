//! The program as users run it.

use crate::common::{Folder, json, slipstick};
use std::process::Command;

const ARM: &str = r#"<robot name="arm"><link name="base"/>
  <link name="hand"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <joint name="elbow" type="revolute"><parent link="base"/><child link="hand"/><origin xyz="0 0 1"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="2" effort="30" velocity="4"/></joint></robot>"#;

#[test]
fn a_run_explains_its_last_step() {
    let (code, out, _) = slipstick(&["run", "quadruped", "--steps", "300", "--explain"]);
    let sentences: Vec<&str> = out.lines().filter(|l| l.trim().starts_with("contact of ")).collect();
    assert!(code == Some(0) && sentences.len() == 4, "{out}");
    assert!(sentences.iter().all(|l| l.contains("would open it")), "{sentences:?}");
    let (_, out, _) = slipstick(&["run", "quadruped", "--steps", "300", "--explain", "--json"]);
    assert!(json(&out)["explanation"].as_array().is_some_and(|s| s.len() >= 4), "{out}");
}

#[test]
fn a_sound_file_passes_the_check() {
    let folder = Folder::new("sound");
    let arm = folder.file("arm.urdf", ARM);
    let (code, out, _) = slipstick(&["check", &arm, "--strict"]);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("loads as 1 dofs, 1 moving bodies, 2.0000 kg, 0 collision pairs"), "{out}");
    assert!(out.contains("0 errors, 0 warnings, 1 notes"), "{out}");
    assert_eq!(slipstick(&["check", "quadruped"]).0, Some(0));
}

#[test]
fn warnings_fail_the_check_only_if_it_is_strict() {
    let folder = Folder::new("warnings");
    let doubtful = folder.file("arm.urdf", &ARM.replace(r#"velocity="4""#, r#"velocity="0""#));
    let (code, out, _) = slipstick(&["check", &doubtful]);
    assert_eq!(code, Some(0));
    assert!(out.contains("arm.urdf:4: <joint name=\"elbow\">: a velocity limit that is not positive"), "{out}");
    assert!(out.contains("hint: give the rated speed"), "{out}");
    let (code, out, _) = slipstick(&["check", &doubtful, "--strict", "--json"]);
    assert_eq!(code, Some(1));
    let report = json(&out);
    assert_eq!((report["errors"].as_u64(), report["warnings"].as_u64()), (Some(0), Some(1)));
    assert_eq!(report["findings"][0]["level"], "warning");
    let (code, _, error) = slipstick(&["info", &doubtful, "--strict"]);
    assert_eq!(code, Some(1));
    assert!(error.contains("strict loading allows no warnings, got 1"), "{error}");
}

#[test]
fn errors_fail_the_check_with_place_and_hint() {
    let folder = Folder::new("errors");
    let broken = folder.file("arm.urdf", &ARM.replace("<parent link=\"base\"/>", "<parent link=\"bse\"/>"));
    let (code, out, _) = slipstick(&["check", &broken, "--json"]);
    assert_eq!(code, Some(1));
    let report = json(&out);
    let finding = &report["findings"][0];
    assert_eq!((report["loads"].as_bool(), finding["level"].as_str()), (Some(false), Some("error")));
    assert!(finding["where"].as_str().unwrap().ends_with("arm.urdf:4: <joint name=\"elbow\">"), "{finding}");
    assert_eq!(finding["text"], "there is no link named 'bse'");
    assert!(finding["hint"].as_str().unwrap().contains("must be a <link>"), "{finding}");
    let (code, out, _) = slipstick(&["check", "quadrupd"]);
    assert_eq!(code, Some(1));
    assert!(out.contains("neither a file nor a built-in robot"), "{out}");
}

#[test]
fn overlaps_at_the_start_are_listed_with_the_lines_that_exclude_them() {
    let folder = Folder::new("overlap");
    let base = r#"<mujoco><worldbody><geom name="floor" type="plane" size="0 0 1"/><body name="base" pos="0 0 0.01">
        <joint axis="0 0 1"/><geom name="hull" type="box" size="0.1 0.1 0.05"/></body></worldbody></mujoco>"#;
    let file = folder.file("base.xml", base);
    let (code, out, _) = slipstick(&["check", &file]);
    assert_eq!(code, Some(0), "{out}");
    let pair = "geom 'floor' of 'world' and geom 'hull' of 'base' overlap by 40.0 mm in every pose";
    assert!(out.contains(pair) && out.contains(r#"<exclude body1="world" body2="base"/>"#), "{out}");
    let (code, out, _) = slipstick(&["check", &file, "--strict", "--overlap", "exclude"]);
    assert!(code == Some(0) && out.contains("0 errors, 0 warnings"), "{out}");
    let (code, out, _) = slipstick(&["check", &file, "--overlap", "error"]);
    assert!(code == Some(1) && out.contains("no geoms that overlap at the start, got 1"), "{out}");
    assert_eq!(slipstick(&["check", &file, "--overlap", "drop"]).0, Some(2));
}

#[test]
fn hardly_meant_numbers_are_found() {
    let folder = Folder::new("sanity");
    let odd = r#"<mujoco><worldbody><body name="a"><joint name="j" range="-1 1"/><geom name="big" size="200" mass="1e6"/>
        <body name="b"><joint name="k" range="10 20"/><geom size="0.1" mass="0.1"/></body></body></worldbody>
      <actuator><motor name="m" joint="j" gear="0" ctrlrange="-1 1"/></actuator>
      <keyframe><key name="home" qpos="2 0.2" ctrl="3"/></keyframe></mujoco>"#;
    let (code, out, _) = slipstick(&["check", &folder.file("odd.xml", odd)]);
    assert_eq!(code, Some(0), "{out}");
    for part in [
        "keyframe 'home': joint 'j' is at 2, outside",
        "keyframe 'home': control of 'm' is 3, outside -1 … 1",
        "masses differ widely: 'a' has 1000000 kg, 'b' has 0.1 kg",
        "actuator 'm' has no effect",
        "geom 'big' reaches 200 m",
        "note: the neutral pose is outside the limits of 1 joint (k)",
    ] {
        assert!(out.contains(part), "{part} in\n{out}");
    }
    let stuck = folder.file("stuck.urdf", &ARM.replace("lower=\"-1\" upper=\"2\"", "lower=\"1\" upper=\"1\""));
    let (_, out, _) = slipstick(&["check", &stuck]);
    assert!(out.contains("joint 'elbow' has an empty range"), "{out}");
}

#[test]
fn bad_use_has_an_exit_code_of_its_own() {
    for arguments in
        [&["check"][..], &["check", "a", "--frob"], &["convert", "quadruped"], &["convert", "quadruped", "a.obj"]]
    {
        let (code, _, error) = slipstick(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {error}");
    }
}

#[test]
fn robots_are_converted_there_and_back() {
    let folder = Folder::new("convert");
    let (arm, xml, back) = (folder.file("arm.urdf", ARM), folder.path("arm.xml"), folder.path("back.urdf"));
    let (code, out, error) = slipstick(&["convert", &arm, &xml, "--ground"]);
    assert_eq!(code, Some(0), "{error}");
    assert!(out.contains("joint 'elbow': MJCF has no velocity limit (4)"), "{out}");
    let (code, out, error) = slipstick(&["convert", &xml, &back]);
    assert_eq!(code, Some(0), "{error}");
    assert!(out.contains("geom 'floor': URDF has no planes"), "{out}");
    let (_, out, _) = slipstick(&["convert", "quadruped", &folder.path("quadruped.urdf")]);
    let first = out.lines().next().unwrap_or_default();
    assert!(first.ends_with("(12 dofs, 7.5394 kg, 17 geoms; base fixed unless loaded with free_root)"), "{out}");
    let info = |file: &str| json(&slipstick(&["info", file, "--json"]).1);
    let (a, b) = (info(&arm), info(&back));
    assert_eq!((&a["joints"][0]["range"], &a["mass"]), (&b["joints"][0]["range"], &b["mass"]));
    let (code, _, error) = slipstick(&["convert", &arm, &arm]);
    assert_eq!(code, Some(2));
    assert!(error.contains("overwrite"), "{error}");
    let (code, _, error) = slipstick(&["convert", "biped", &folder.path("biped.urdf")]);
    assert_eq!(code, Some(0), "{error}");
    assert!(folder.0.join("meshes").is_dir());
}

#[test]
fn meshes_of_other_robots_are_not_replaced_unasked() {
    let folder = Folder::new("meshes");
    let robot = |x: f64| {
        let mesh = |name: &str| format!("<mesh name='{name}' vertex='0 0 0 {x} 0 0 0 1 0 0 0 1'/>");
        let geom = |name: &str| format!("<geom type='mesh' mesh='{name}'/>");
        let (meshes, geoms) = (["A b", "a_b"].map(mesh).concat(), ["A b", "a_b"].map(geom).concat());
        format!("<mujoco><asset>{meshes}</asset><worldbody><body><joint/>{geoms}</body></worldbody></mujoco>")
    };
    let (first, second) = (folder.file("first.xml", &robot(1.0)), folder.file("second.xml", &robot(2.0)));
    let convert = |input: &str, more: &[&str]| {
        let (code, _, error) = slipstick(&[&["convert", input, &folder.path("out.urdf")], more].concat());
        (code, error)
    };
    assert_eq!(convert(&first, &[]).0, Some(0));
    let files = || std::fs::read_dir(folder.0.join("meshes")).unwrap().count();
    assert_eq!(files(), 2, "names that differ in case or in replaced letters have files of their own");
    assert_eq!(convert(&first, &[]).0, Some(0), "the same content again");
    let (code, error) = convert(&second, &[]);
    assert!(code == Some(1) && error.contains("another mesh of this name is there"), "{error}");
    assert_eq!(convert(&second, &["--overwrite"]).0, Some(0));
    assert_eq!(files(), 2);
}

#[test]
fn info_tells_pairs_and_their_rule() {
    let folder = Folder::new("pairs");
    let arm = folder.file("arm.urdf", ARM);
    let list = folder.file("pairs.json", r#"[["floor", "hand_0"]]"#);
    let rule = |arguments: &[&str]| {
        let (code, out, error) = slipstick(&[&["info", arm.as_str(), "--json", "--ground"], arguments].concat());
        assert_eq!(code, Some(0), "{error}");
        let info = json(&out);
        (info["pair_rule"].as_str().unwrap().to_string(), info["pairs"].as_u64().unwrap())
    };
    assert_eq!(rule(&[]), ("paper".to_string(), 1));
    assert_eq!(rule(&["--pairs", "mujoco"]), ("mujoco".to_string(), 1));
    assert_eq!(rule(&["--pairs", &list]), ("list".to_string(), 1));
    let (_, out, _) = slipstick(&["info", "quadruped", "--pairs", "paper"]);
    assert!(out.contains("(rule: paper)"), "{out}");
    let (code, _, error) = slipstick(&["info", &arm, "--pairs", &list]);
    assert_eq!(code, Some(1));
    assert!(error.contains("there is no geom named 'floor'; load the robot with ground"), "{error}");
}

#[test]
fn contacts_lists_pairs_points_normals_and_depths() {
    let folder = Folder::new("contacts");
    let scene = r#"<mujoco><worldbody><geom name="floor" type="plane" size="0 0 1"/>
      <body name="crate" pos="0 0 0.098"><freejoint/><geom name="crate" type="box" size="0.1 0.2 0.1"/></body>
      <body name="ball" pos="1 0 0.12"><freejoint/><geom type="sphere" size="0.1"/></body></worldbody></mujoco>"#;
    let scene = folder.file("scene.xml", scene);
    let (code, out, error) = slipstick(&["contacts", &scene]);
    assert_eq!(code, Some(0), "{error}");
    assert!(out.contains("4 points in 1 of 3 pairs nearer than 0.01 m"), "{out}");
    assert!(out.contains("floor (world) – crate (crate)"), "{out}");
    assert_eq!(out.matches("-0.002000").count(), 4, "{out}");
    let (_, out, _) = slipstick(&["contacts", &scene, "--contact-distance", "0.05"]);
    assert!(out.contains("5 points in 2 of 3 pairs"), "{out}");
    assert!(out.contains("floor (world) – #2 (ball)"), "{out}");

    let (code, out, error) = slipstick(&["contacts", &scene, "--contact-distance", "0.05", "--json"]);
    assert_eq!(code, Some(0), "{error}");
    let report = json(&out);
    assert_eq!((report["format"].as_str(), report["version"].as_u64()), (Some("slipstick-contacts"), Some(1)));
    assert_eq!((report["pairs"].as_u64(), report["contact_distance"].as_f64()), (Some(3), Some(0.05)));
    let ball = &report["contacts"][4];
    assert_eq!(ball["geoms"], serde_json::json!(["floor", ""]));
    assert_eq!(
        (&ball["geom_numbers"], &ball["bodies"]),
        (&serde_json::json!([0, 2]), &serde_json::json!(["world", "ball"]))
    );
    assert_eq!(ball["normal"], serde_json::json!([0.0, 0.0, 1.0]));
    assert!((ball["distance"].as_f64().unwrap() - 0.02).abs() < 1e-12, "{ball}");
    assert!((ball["point"][2].as_f64().unwrap() - 0.01).abs() < 1e-12, "{ball}");
    assert_eq!(ball["feature"].as_str().map(str::len), Some(16));
}

#[test]
fn a_quadruped_stands_on_four_feet() {
    let (code, out, error) = slipstick(&["contacts", "quadruped", "--keyframe", "home"]);
    assert_eq!(code, Some(0), "{error}");
    assert!(out.contains("4 points in 4 of 133 pairs"), "{out}");
    assert!(slipstick(&["contacts", "--help"]).1.contains("slipstick contacts quadruped --keyframe home"));
}

#[test]
fn a_quadruped_holds_its_pose() {
    let (code, out, error) = slipstick(&["run", "quadruped", "--json"]);
    assert_eq!(code, Some(0), "{error}");
    let report = json(&out);
    assert_eq!((report["format"].as_str(), report["version"].as_u64()), (Some("slipstick-run"), Some(2)));
    assert_eq!((report["steps"].as_u64(), report["contacts"]["max"].as_u64()), (Some(1000), Some(4)));
    assert_eq!((report["controller"].as_str(), report["solver"].as_str()), (Some("hold"), Some("auto")));
    assert!(report["worst_residual"].as_f64().unwrap() <= 1e-8, "{report:#}");
    assert!(report["penetration"].as_f64().unwrap() < 1e-4, "{report:#}");
    let samples = report["samples"].as_array().unwrap();
    assert_eq!(samples.len(), 11);
    assert!(samples.iter().all(|s| s["com_height"].as_f64().unwrap() > 0.24), "{report:#}");
    let (_, text, _) = slipstick(&["run", "quadruped"]);
    for key in [
        "contacts",
        "modes",
        "iterations",
        "stage",
        "status",
        "worst_residual",
        "compliance_shift",
        "penetration",
        "energy",
    ] {
        assert!(report.get(key).is_some(), "{key} in {report:#}");
        assert!(text.contains(&format!("\n  {key} ")), "{key} in {text}");
    }
    assert_eq!(error, "", "no bar where nobody sees it move");
}

#[test]
fn trajectories_are_written_as_their_name_says_and_can_be_driven_again() {
    let folder = Folder::new("trajectory");
    let run = |arguments: &[&str]| {
        let (code, out, error) = slipstick(&[&["run", "ant", "--steps", "40"], arguments].concat());
        assert_eq!(code, Some(0), "{error}");
        out
    };
    for name in ["a.npz", "a.csv", "a.json"] {
        run(&["--controller", "random", "--seed", "7", "--out", &folder.path(name)]);
    }
    let recorded = json(&std::fs::read_to_string(folder.0.join("a.json")).unwrap());
    assert_eq!(recorded["format"], "slipstick-trajectory");
    assert_eq!(
        (recorded["q"].as_array().map(Vec::len), recorded["ctrl"].as_array().map(Vec::len)),
        (Some(41), Some(40))
    );
    assert_eq!(&std::fs::read(folder.0.join("a.npz")).unwrap()[..4], b"PK\x03\x04");
    run(&["--controller", &folder.path("a.csv"), "--out", &folder.path("b.json")]);
    let again = json(&std::fs::read_to_string(folder.0.join("b.json")).unwrap());
    assert_eq!(recorded["q"], again["q"], "the same controls, the same motion");
    run(&["--controller", "random", "--seed", "8", "--out", &folder.path("c.json")]);
    assert_ne!(recorded["q"], json(&std::fs::read_to_string(folder.0.join("c.json")).unwrap())["q"]);
}

#[test]
fn a_run_can_be_kept_as_a_page() {
    let folder = Folder::new("replay");
    let page = folder.path("ant.HTML");
    let (code, _, error) = slipstick(&["run", "ant", "--time", "0.5", "--out", &page]);
    assert_eq!(code, Some(0), "{error}");
    let text = std::fs::read_to_string(page).unwrap();
    assert!(text.contains("<title>ant</title>"), "the title is the robot's name");
    let data = text.split_once("id=\"data\">").and_then(|(_, rest)| rest.split_once("</script>")).unwrap().0;
    let told = json(data);
    assert_eq!((&told["format"], &told["model"]), (&"slipstick-replay".into(), &"ant".into()));
    assert!((31..=32).contains(&told["frames"]["count"].as_u64().unwrap()), "{}", told["frames"]["count"]);
    assert_ne!(told["frames"]["contacts"]["modes"], "", "it touches the ground");
    assert!(slipstick(&["run", "--help"]).1.contains(".html"));
}

#[test]
fn every_solver_and_controller_runs() {
    for solver in ["auto", "cold", "admm", "pgs"] {
        let (code, out, error) = slipstick(&["run", "quadruped", "--steps", "20", "--solver", solver, "--json"]);
        assert_eq!(code, Some(0), "{error}");
        assert_eq!(json(&out)["solver"], solver);
    }
    let height = |controller: &str| {
        let (code, out, error) = slipstick(&["run", "quadruped", "--controller", controller, "--json"]);
        assert_eq!(code, Some(0), "{error}");
        json(&out)["samples"][10]["com_height"].as_f64().unwrap()
    };
    assert!(height("off") < 0.2 && height("hold") > 0.24, "without actuators it falls");
    assert!(slipstick(&["run", "--help"]).1.contains("critically damped"));
}

#[test]
fn a_divergence_names_body_and_step_and_leaves_what_was_recorded() {
    let folder = Folder::new("diverges");
    let spring = r#"<mujoco><option timestep="0.1" gravity="0 0 0"/><worldbody><body name="bob">
      <joint type="slide" stiffness="500"/><geom size="0.1" mass="1"/></body></worldbody>
      <keyframe><key name="home" qpos="0.1"/></keyframe></mujoco>"#;
    let file = folder.path("spring.csv");
    let (code, _, error) = slipstick(&["run", &folder.file("spring.xml", spring), "--time", "100", "--out", &file]);
    assert_eq!(code, Some(1), "{error}");
    assert!(error.starts_with("error: step ") && error.contains("of body 'bob'"), "{error}");
    assert!(std::fs::read_to_string(file).unwrap().lines().count() > 5);
}

#[test]
fn bad_use_is_told_apart_from_failure() {
    for arguments in [
        &["run", "quadruped", "--time", "nan"][..],
        &["run", "quadruped", "--dt", "-0.1"],
        &["run", "arm", "--dt", "1e-300"],
        &["run", "quadruped", "--keyframe", "nope"],
        &["run", "quadruped", "--controller", "nobody"],
        &["run", "cube", "--controller", "random"],
        &["run", "quadruped", "--solver", "magic"],
        &["run", "quadruped", "--steps", "5", "--time", "1"],
        &["run", "quadruped", "--steps", "100000000", "--out", "large.npz"],
        &["run", "quadruped", "--out", "motion.mp4"],
        &["contacts", "quadruped", "--keyframe", "nope"],
        &["contacts", "quadruped", "--contact-distance", "-1"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_slipstick")).args(arguments).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
}
