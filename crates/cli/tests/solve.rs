//! `slipstick solve` as users run it.

use crate::common::{Folder, json, slipstick};

#[test]
fn the_velocity_of_a_cube_is_recovered_and_shown() {
    let folder = Folder::new("solve");
    let (code, out, error) = slipstick(&["solve", "cube-velocity", "--json", "--out", &folder.path("")]);
    assert_eq!(code, Some(0), "{out}{error}");
    let report = json(&out);
    assert_eq!((report["format"].as_str(), report["version"].as_u64()), (Some("slipstick-experiment"), Some(1)));
    let claims = report["claims"].as_array().unwrap();
    assert!(claims.len() > 5 && claims.iter().all(|c| c["holds"] == true), "{claims:#?}");
    assert!(error.contains("iteration  0: error") && error.contains("gradient_descent"), "progress: {error}");
    for figure in report["figures"].as_array().unwrap() {
        let text = std::fs::read_to_string(folder.0.join(figure.as_str().unwrap())).unwrap();
        assert!(text.starts_with("<svg") && text.ends_with("</svg>\n"), "{figure}");
    }
    let saved = std::fs::read_to_string(folder.0.join("cube-velocity.json")).unwrap();
    assert_eq!(json(&saved), report);
    let motion = std::fs::read_to_string(folder.0.join("cube-velocity.csv")).unwrap();
    assert!(motion.lines().count() > 100, "a line per state");
}

#[test]
fn torques_that_hold_a_quadruped_are_found_within_their_limits() {
    let (code, out, error) = slipstick(&["solve", "quadruped-payload", "--limits", "--json", "--quiet"]);
    assert_eq!(code, Some(0), "{out}{error}");
    let report = json(&out);
    let (torques, limits) = (&report["data"]["torques"], &report["data"]["limits"]);
    assert_eq!(torques.as_array().map(Vec::len), Some(12));
    for (torque, limit) in torques.as_array().unwrap().iter().zip(limits.as_array().unwrap()) {
        assert!(torque.as_f64().unwrap().abs() <= limit[1].as_f64().unwrap(), "{torque} of {limit}");
    }
    assert!(error.is_empty(), "{error}");
    let (code, _, error) = slipstick(&["solve", "biped-push-up", "--models", "no such folder"]);
    assert!(code == Some(1) && error.contains("no such folder"), "{error}");
}

#[test]
fn bad_use_of_solve_names_the_experiments() {
    let (code, _, error) = slipstick(&["solve", "cube"]);
    assert_eq!(code, Some(2), "{error}");
    assert!(error.contains("cube-velocity") && error.contains("cube-impulse"), "{error}");
    assert_eq!(slipstick(&["solve"]).0, Some(2));
    for option in [&["--limits"][..], &["--models", "."]] {
        let (code, _, error) = slipstick(&[&["solve", "cube-velocity"], option].concat());
        assert!(code == Some(2) && error.contains("is for robots (quadruped-stand, "), "{error}");
    }
    let (code, help, _) = slipstick(&["solve", "--help"]);
    assert_eq!(code, Some(0));
    assert!(help.contains("slipstick solve cube-velocity") && help.contains("which impulse"), "{help}");
    assert!(help.contains("quadruped-handstand --limits") && help.contains("biped-push-up"), "{help}");
}
