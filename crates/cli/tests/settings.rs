//! `slipstick run` with other parameters, and what it says of steps that did not converge.

use crate::common::{Folder, json, slipstick};

fn run(arguments: &[&str]) -> serde_json::Value {
    let (code, out, error) =
        slipstick(&[&["run", "cube", "--keyframe", "thrown", "--time", "2", "--json"], arguments].concat());
    assert_eq!(code, Some(0), "{error}");
    json(&out)
}

#[test]
fn parameters_and_gravity_are_set_before_the_run() {
    let way = |arguments: &[&str]| run(arguments)["samples"][10]["q"][0].as_f64().unwrap();
    assert!(way(&["--set", "friction=0.02"]) > 1.2 * way(&[]), "it slides farther on ice");
    let energy = |arguments: &[&str]| run(arguments)["energy"]["start"].as_f64().unwrap();
    let mass = json(&slipstick(&["info", "cube", "--json"]).1)["mass"].as_f64().unwrap();
    let twice = format!("mass.cube={}", 2.0 * mass);
    assert!((energy(&["--set", &twice]) - 2.0 * energy(&[])).abs() < 1e-9);
    let report = run(&["--gravity", "0,0,0"]);
    assert!(report["samples"][0]["potential"].as_f64() == Some(0.0) && report["contacts"]["max"].as_u64() == Some(0));
    assert_eq!(run(&["--gravity", "-1.62"])["energy"], run(&["--set", "gravity.z=-1.62"])["energy"]);
}

#[test]
fn names_that_do_not_exist_have_hints() {
    for (arguments, hint) in [
        (["run", "quadruped", "--set", "friction.flor=1"], "did you mean 'friction.floor'?"),
        (["run", "quadruped", "--set", "masses.trunk=1"], "there is no group 'masses'"),
        (["run", "quadruped", "--keyframe", "hom"], "did you mean 'home'? there are home, stand, handstand"),
        (["contacts", "quadruped", "--keyframe", "stnd"], "did you mean 'stand'?"),
        (["run", "quadruped", "--gravity", "1,2"], "expected three numbers X,Y,Z, or one along z"),
        (["run", "quadruped", "--gravity", "inf"], "expected three numbers X,Y,Z, or one along z"),
    ] {
        let (code, _, error) = slipstick(&arguments);
        assert!(code == Some(2) && error.contains(hint), "{arguments:?}: {error}");
    }
}

#[test]
fn parameters_are_listed_as_they_can_be_set() {
    let (code, out, _) = slipstick(&["info", "quadruped", "--parameters"]);
    assert!(code == Some(0) && out.contains("\nfriction (18)\n") && out.contains("\n  friction.floor "), "{out}");
    let listed = json(&slipstick(&["info", "quadruped", "--json", "--parameters"]).1);
    assert!(listed["parameters"]["mass.trunk"].as_f64().is_some_and(|mass| mass > 5.0), "{listed:#}");
    assert!(json(&slipstick(&["info", "quadruped", "--json"]).1).get("parameters").is_none());
}

#[test]
fn a_run_that_did_not_converge_says_so_and_has_a_code_of_its_own() {
    let (code, out, error) = slipstick(&["run", "quadruped", "--dt", "10", "--steps", "20", "--json"]);
    assert_eq!(code, Some(3), "{error}");
    let failed = json(&out)["status"]["not_converged"].as_u64().unwrap();
    assert!(failed > 0 && error.contains(&format!("warning: {failed} of 20 steps did not converge")), "{error}");
    let (code, out, quiet) = slipstick(&["run", "quadruped", "--dt", "10", "--steps", "20", "--quiet"]);
    assert_eq!((code, out.as_str(), quiet), (Some(3), "", error), "no report, and the warning stays");
    assert_eq!(slipstick(&["run", "quadruped", "--steps", "20", "-q"]), (Some(0), String::new(), String::new()));
    assert!(slipstick(&["run", "--help"]).1.contains("3 finished, but steps did not converge"));
}

#[test]
fn contacts_are_kept_where_the_file_has_room_for_them() {
    let folder = Folder::new("contacts_kept");
    let run = |arguments: &[&str]| slipstick(&[&["run", "quadruped", "--steps", "20"], arguments].concat());
    for name in ["run.npz", "run.html"] {
        let (code, _, error) = run(&["--contacts", "--out", &folder.path(name)]);
        assert_eq!(code, Some(0), "{error}");
    }
    let model = slipstick::builtin("quadruped").unwrap();
    let kept = slipstick::Trajectory::load(folder.path("run.npz"), &model).unwrap();
    assert_eq!(kept.contacts_of(19).map(<[_]>::len), Some(4));
    let (code, _, error) = run(&["--contacts", "--out", &folder.path("run.csv")]);
    assert!(code == Some(2) && error.contains("ends in .npz or .html"), "{error}");
    assert_eq!(run(&["--contacts"]).0, Some(2));
}
