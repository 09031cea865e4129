//! `slipstick-bench table` as it is run. Times are checked to be times, not to be short.

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output};

/// Exit code, standard output, standard error.
fn bench(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_slipstick-bench"));
    let Output { status, stdout, stderr } = program.args(arguments).output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// A temporary file that is removed at the end.
struct File(PathBuf);

impl File {
    fn new(name: &str) -> File {
        File(std::env::temp_dir().join(format!("slipstick-bench-test-{}-{name}", std::process::id())))
    }

    fn path(&self) -> String {
        self.0.display().to_string()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

const SHORT: [&str; 5] = ["--quick", "--steps", "120", "--repeats", "1"];

fn number(value: &Value) -> f64 {
    value.as_f64().filter(|x| x.is_finite()).unwrap_or_else(|| panic!("no number: {value}"))
}

fn assert_times(times: &Value) {
    let [mean, sd, median, min] = ["mean", "sd", "median", "min"].map(|k| number(&times[k]));
    assert!(min > 0.0 && min <= median && min <= mean && sd >= 0.0, "{times}");
}

#[test]
fn robots_are_timed_and_described_in_json() {
    let (code, out, error) = bench(&[&["table", "quadruped", "cube", "--json"], &SHORT[..]].concat());
    assert_eq!(code, Some(0), "{error}");
    assert_eq!(error, "", "no bar where nobody sees it move");
    let report = json(&out);
    assert_eq!((report["format"].as_str(), report["version"].as_u64()), (Some("slipstick-bench"), Some(1)));
    assert!(report["rustc"].as_str().unwrap().starts_with("rustc "), "{report:#}");
    assert!(report["machine"]["cores"].as_u64().unwrap() >= 1);
    assert_eq!(report["effort"]["steps"].as_u64(), Some(120));
    let robots = report["robots"].as_array().unwrap();
    let names: Vec<_> = robots.iter().map(|r| (r["name"].as_str().unwrap(), r["nv"].as_u64().unwrap())).collect();
    assert_eq!(names, [("quadruped", 18), ("cube", 6)]);
    for robot in robots {
        for figure in ["step_us", "jacobian_us", "vjp_us", "fd_us", "fd_forward_us"] {
            assert_times(&robot[figure]);
            assert_times(&robot["phases"]["drop"][figure]);
            assert_times(&robot["phases"]["hold"][figure]);
        }
        assert!(number(&robot["contacts"]) > 0.0 && robot["vertices"].is_null() && robot["refusal"].is_null());
    }
    let cube = &robots[1];
    assert_eq!((cube["geometries"].as_u64(), cube["pairs"].as_u64()), (Some(2), Some(1)));
}

#[test]
fn the_table_has_a_column_per_robot_and_a_json_file_beside_it() {
    let file = File::new("figures.json");
    let option = format!("--json={}", file.path());
    let (code, out, error) = bench(&[&["table", "cube", "sphere", &option], &SHORT[..]].concat());
    assert_eq!(code, Some(0), "{error}");
    let rows =
        ["DoFs", "geometries", "collision pairs", "contacts", "simulation", "implicit gradients", "finite differences"];
    for row in rows {
        let line = out.lines().find(|l| l.starts_with(row)).unwrap_or_else(|| panic!("{row} in\n{out}"));
        assert!(line.matches(|c: char| c.is_ascii_digit()).count() >= 2, "{line}");
    }
    assert!(out.lines().next().unwrap().contains("cube") && out.contains(" ± ") && out.contains("least"), "{out}");
    let written = json(&std::fs::read_to_string(&file.0).unwrap());
    assert_eq!(written["robots"].as_array().map(Vec::len), Some(2));
}

#[test]
fn growth_is_measured_fitted_and_drawn() {
    let (page, folder) = (File::new("page.html"), std::env::temp_dir().join(format!("bench-{}", std::process::id())));
    std::fs::create_dir_all(&folder).unwrap();
    let markdown = folder.join("page.md").display().to_string();
    let (code, out, error) = bench(
        &[&["table", "cube", "--growth", "--json", "--html", &page.path(), "--page", &markdown], &SHORT[..]].concat(),
    );
    assert_eq!(code, Some(0), "{error}");
    let report = json(&out);
    let curves = report["growth"].as_array().unwrap();
    let names: Vec<&str> = curves.iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["chain", "stack", "pile", "batch", "horizon"]);
    for curve in curves {
        let sizes = curve["x"].as_array().unwrap();
        assert!(sizes.windows(2).all(|w| number(&w[0]) < number(&w[1])), "{curve}");
        for series in curve["series"].as_object().unwrap().values() {
            let times = series["us"].as_array().unwrap();
            assert!(times.len() == sizes.len() && times.iter().all(|t| number(t) > 0.0), "{series}");
            assert!(number(&series["exponent"]) <= number(&series["steepest"]["power"]) + 1e-9, "{series}");
        }
    }
    let page = std::fs::read_to_string(&page.0).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.matches("<svg").count() == 5, "{page}");
    assert!(page.contains("implicit gradients") && !page.contains("src="), "it needs nothing else");
    let markdown = std::fs::read_to_string(markdown).unwrap();
    assert!(markdown.contains("| DoFs | 6 |") && markdown.contains("](figures/growth-pile.svg)"), "{markdown}");
    assert!(std::fs::read_to_string(folder.join("figures/growth-pile.svg")).unwrap().starts_with("<svg"));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn throughput_is_told_by_the_number_of_threads() {
    let arguments = ["table", "cube", "--threads", "1,2", "--environments", "5"];
    let (code, out, error) = bench(&[&arguments[..], &["--json"], &SHORT[..]].concat());
    assert_eq!(code, Some(0), "{error}");
    let throughput = &json(&out)["throughput"];
    assert_eq!(throughput["environments"].as_u64(), Some(5));
    let cube = &throughput["robots"][0];
    let batch = cube["batch"].as_array().unwrap();
    assert_eq!(batch.iter().map(|b| b["threads"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2]);
    for rates in batch.iter().chain([&cube["single"]]) {
        assert!(number(&rates["steps_per_s"]) > 0.0 && number(&rates["gradients_per_s"]) > 0.0, "{rates}");
    }
    assert!(number(&cube["bytes_per_environment"]) > 0.0);
    assert!(bench(&[&arguments[..], &SHORT[..]].concat()).1.contains("gradients/s"));
    assert!(json(&bench(&[&["table", "cube", "--json"], &SHORT[..]].concat()).1)["throughput"].is_null());
}

#[test]
fn peers_that_cannot_be_had_are_named_and_stop_nothing() {
    let programs = std::env::temp_dir().display().to_string();
    let missing = ["--peers", "--python", "no-such-python", "--programs", &programs];
    let (code, out, error) = bench(&[&["table", "quadruped", "cube", "--json"], &missing[..], &SHORT[..]].concat());
    assert_eq!(code, Some(0), "{error}");
    for robot in json(&out)["robots"].as_array().unwrap() {
        assert_times(&robot["step_us"]);
        for peer in ["mujoco", "pinocchio", "nimble", "mjx"] {
            assert!(!robot["peers"][peer]["not_run"].as_str().unwrap().is_empty(), "{}", robot["peers"]);
        }
    }
    let (_, text, _) = bench(&[&["table", "quadruped"], &missing[..], &SHORT[..]].concat());
    assert!(text.contains("mujoco is NOT RUN: ") && text.contains("no-such-python"), "{text}");
}

#[test]
fn the_same_seed_times_the_same_motions() {
    let difference = |seed: &str| {
        let out = bench(&[&["table", "half_cheetah", "--json", "--seed", seed], &SHORT[..]].concat()).1;
        json(&out)["robots"][0]["phases"]["drop"]["difference_from_central"].clone()
    };
    assert_eq!(difference("3"), difference("3"));
    assert_ne!(difference("3"), difference("4"));
}

#[test]
fn bad_use_is_told_apart_from_failure() {
    for arguments in [
        &["table", "--steps", "0"][..],
        &["table", "--steps", "-3"],
        &["table", "--repeats", "many"],
        &["table", "--rounds", "0"],
        &["table", "--seed", "-1"],
        &["table", "--threads", "0"],
        &["table", "--threads", "1,two"],
        &["table", "--environments", "0"],
        &["table", "--models", "no-such-folder"],
        &["table", "go1"],
    ] {
        let (code, _, error) = bench(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {error}");
        assert!(!error.is_empty(), "{arguments:?}");
    }
    let (code, _, error) = bench(&["table", "nobody"]);
    assert!(code == Some(1) && error.contains("no built-in robot is named"), "{error}");
    let (code, _, error) = bench(&["table", "no-such-file.xml"]);
    assert!(code == Some(1) && error.contains("no-such-file.xml"), "{error}");
    let help = bench(&["table", "--help"]).1;
    assert!(help.contains("slipstick-bench table --models") && help.contains("--quick"), "{help}");
}

#[test]
fn a_robot_that_cannot_move_is_refused() {
    let file = File::new("still.xml");
    std::fs::write(&file.0, r#"<mujoco><worldbody><geom type="plane" size="1 1 1"/></worldbody></mujoco>"#).unwrap();
    let (code, _, error) = bench(&["table", &file.path(), "--quick"]);
    assert!(code == Some(2) && error.contains("has no degrees of freedom"), "{error}");
}
