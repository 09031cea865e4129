//! `slipstick grad-check` and `slipstick run --audit` as users run them.

use crate::common::{File, json, slipstick};

#[test]
fn derivatives_of_a_humanoid_pass_and_are_told_by_block_and_mode() {
    let arguments = ["grad-check", "humanoid", "--states", "30", "--seed", "3", "--parameters"];
    let bounds = ["--median", "1e-8", "--worst", "1e-5"];
    let (code, out, error) = slipstick(&[&arguments[..], &bounds, &["--json"]].concat());
    assert_eq!(code, Some(0), "{out}{error}");
    let report = json(&out);
    assert_eq!((report["format"].as_str(), report["version"].as_u64()), (Some("slipstick-grad-check"), Some(2)));
    assert_eq!((report["robot"].as_str(), report["states"].as_u64()), (Some("humanoid"), Some(30)));
    for block in ["dq_dq", "dq_dv", "dq_dtau", "dq_dctrl", "dv_dq", "dv_dv", "dv_dtau", "dv_dctrl"] {
        let errors = &report["blocks"][block];
        assert!(errors["median_error"].as_f64().unwrap() <= errors["worst_error"].as_f64().unwrap(), "{errors}");
        assert!(errors["modes"].as_object().unwrap().len() > 1, "{errors}");
    }
    assert_eq!(report["wrong_unflagged"].as_u64(), Some(0));
    assert!(report["left_out_share"].as_f64() == Some(0.0) && report["flagged_share"].as_f64().unwrap() < 0.2);
    assert!(report["parameters"]["friction"]["worst_error"].is_number(), "{report:#}");
    assert!(report["adjoint_error"].as_f64().unwrap() <= 1e-11);
    assert_eq!(report["worst_state"]["q"].as_array().map(Vec::len), Some(28));
    let (_, text, error) = slipstick(&arguments);
    assert_eq!(error, "", "no bar where nobody sees it move");
    for word in [
        "30 states,",
        "skipped",
        "at a corner",
        "wrong_unflagged",
        "median_error",
        "worst_error",
        "dv_dctrl",
        "stick",
        "adjoint_error",
        "worst_state",
    ] {
        assert!(text.contains(word), "{word} in\n{text}");
    }
}

#[test]
fn a_bound_that_nothing_can_keep_is_a_failure() {
    assert_eq!(slipstick(&["grad-check", "cube", "--states", "6", "--worst", "1e-16"]).0, Some(1));
    assert_eq!(slipstick(&["grad-check", "cube", "--states", "6", "--median", "1e-18"]).0, Some(1));
    assert_eq!(slipstick(&["grad-check", "cube", "--states", "6"]).0, Some(0));
}

#[test]
fn the_worst_state_is_saved_and_looked_at_again() {
    let file = File::new("worst.txt");
    let save = ["grad-check", "ant", "--states", "10", "--save", &file.path(), "--json"];
    let (code, out, error) = slipstick(&save);
    assert_eq!(code, Some(0), "{error}");
    let report = json(&out);
    assert_eq!(report["worst_state"]["file"].as_str(), Some(file.path().as_str()));
    let (code, out, error) = slipstick(&["grad-check", "ant", "--replay", &file.path(), "--json"]);
    assert_eq!(code, Some(0), "{error}");
    let again = json(&out);
    assert_eq!(again["worst"], report["worst_state"]["entry"], "the same state, the same error");
    assert_eq!(again["state"]["q"], report["worst_state"]["q"]);
    let (_, text, _) = slipstick(&["grad-check", "ant", "--replay", &file.path()]);
    assert!(text.contains("dv_dq") && text.contains("adjoint_error"), "{text}");
    let (code, _, error) = slipstick(&["grad-check", "cube", "--replay", &file.path()]);
    assert_eq!(code, Some(2));
    assert!(error.contains("expected a state of 'cube', got one of 'ant'"), "{error}");
}

#[test]
fn bad_use_of_grad_check_is_told_apart_from_failure() {
    for arguments in [
        &["grad-check"][..],
        &["grad-check", "cube", "--states", "-1"],
        &["grad-check", "cube", "--worst", "nan"],
        &["grad-check", "cube", "--replay", "no-such-file"],
        &["grad-check", "cube", "--replay", "a", "--save", "b"],
        &["run", "cube", "--audit", "x"],
    ] {
        let (code, _, error) = slipstick(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {error}");
        assert!(!error.is_empty(), "{arguments:?}");
    }
    assert_eq!(slipstick(&["grad-check", "nobody"]).0, Some(1));
    let help = slipstick(&["grad-check", "--help"]).1;
    assert!(help.contains("slipstick grad-check quadruped") && help.contains("are skipped"), "{help}");
}

#[test]
fn a_run_can_be_audited() {
    let run = |arguments: &[&str]| {
        let (code, out, error) = slipstick(&[&["run", "humanoid", "--steps", "200"], arguments].concat());
        assert_eq!(code, Some(0), "{error}");
        out
    };
    let report = json(&run(&["--audit", "10", "--json"]));
    let audit = &report["audit"];
    assert_eq!(audit["checks"].as_u64().unwrap() + audit["left_out"].as_u64().unwrap(), 20, "{audit}");
    assert!(audit["checks"].as_u64().unwrap() > 10 && audit["worst_error"].as_f64().unwrap() < 1e-5, "{audit}");
    assert_eq!(audit["failed"].as_u64(), Some(0), "{audit}");
    let plain = json(&run(&["--json"]));
    assert!(plain["audit"].is_null());
    assert_eq!(plain["samples"][10]["q"], report["samples"][10]["q"], "audits change nothing");
    assert!(run(&["--audit", "50"]).contains("\n  audit "));
}
