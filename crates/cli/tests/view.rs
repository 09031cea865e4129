//! `slipstick view` as users run it.

use crate::common::{Folder, slipstick};
use std::process::Command;

/// What a page is told.
fn data(page: &str) -> serde_json::Value {
    let text = std::fs::read_to_string(page).unwrap();
    let data = text.split_once("id=\"data\">").and_then(|(_, rest)| rest.split_once("</script>")).unwrap().0;
    crate::common::json(data)
}

/// The number of frames of a page.
fn frames(page: &str) -> u64 {
    data(page)["frames"]["count"].as_u64().unwrap()
}

#[test]
fn a_recorded_run_becomes_a_page_with_its_contacts() {
    let folder = Folder::new("view");
    let (run, page, direct) = (folder.path("run.npz"), folder.path("page.html"), folder.path("direct.html"));
    for arguments in [&["--contacts", "--out", &run][..], &["--out", &direct]] {
        assert_eq!(slipstick(&[&["run", "quadruped", "--steps", "100"], arguments].concat()).0, Some(0));
    }
    let (code, out, error) = slipstick(&["view", &run, "quadruped", "--out", &page, "--no-open"]);
    assert_eq!((code, out.trim(), error.as_str()), (Some(0), page.as_str(), ""));
    let [by_file, by_run] = [&page, &direct].map(|path| data(path)["frames"].clone());
    for part in ["count", "times", "poses", "curves"] {
        assert!(by_file[part] == by_run[part], "{part} by way of a file are those of the run");
    }
    for part in ["ends", "geoms", "modes"] {
        assert!(by_file["contacts"][part] == by_run["contacts"][part], "so are {part} of contacts");
    }
    assert_eq!(slipstick(&["run", "quadruped", "--steps", "100", "--out", &run]).0, Some(0));
    let (code, _, error) = slipstick(&["view", &run, "quadruped", "--out", &page, "--no-open"]);
    assert!(
        code == Some(0) && error.contains("run.npz has no contacts; slipstick run --contacts keeps them"),
        "{error}"
    );
}

#[test]
fn a_robot_alone_is_one_picture_in_a_temporary_file() {
    let (code, out, error) = slipstick(&["view", "quadruped", "--keyframe", "stand", "--no-open"]);
    assert_eq!((code, error.as_str()), (Some(0), ""));
    assert!(out.contains("slipstick-quadruped-") && frames(out.trim()) == 1, "{out}");
    std::fs::remove_file(out.trim()).unwrap();
}

#[test]
fn what_cannot_be_viewed_is_refused() {
    let folder = Folder::new("view_refused");
    let run = folder.path("run.npz");
    assert_eq!(slipstick(&["run", "ant", "--steps", "2", "--out", &run]).0, Some(0));
    let other = folder.file("other.npz", "PK");
    let nowhere = folder.path("nowhere/page.html");
    for (arguments, code, told) in [
        (&["view", run.as_str()][..], 2, "a trajectory needs its robot"),
        (&["view", &run, "quadruped"], 1, "q_names: expected 19 names as the model has, got 15"),
        (&["view", &other, "ant"], 1, "other.npz: expected a zip archive"),
        (&["view", "nothing.npz", "ant"], 1, "nothing.npz: cannot be read"),
        (&["view", "a.csv", "ant"], 2, "expected a trajectory whose name ends in .npz"),
        (&["view", &run, "ant", "--keyframe", "home"], 2, "--keyframe is for a robot alone"),
        (&["view", "ant", "--keyframe", "hme"], 2, "did you mean 'home'?"),
        (&["view", "ant", "--out", "page.pdf"], 2, "ends in .html"),
        (&["view", "ant", "--out", &nowhere], 1, "cannot be written"),
        (&["view", "nobody"], 1, "neither a file nor a built-in robot"),
    ] {
        let (got, _, error) = slipstick(&[arguments, &["--no-open"]].concat());
        assert!(got == Some(code) && error.contains(told), "{arguments:?}: {got:?} {error}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_page_is_opened_in_the_browser_if_there_is_one() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("browser");
    let view = |path: &str| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_slipstick"));
        program.current_dir(&folder.0).args(["view", "cube", "--out", "page.html"]).env("PATH", path);
        let output = program.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, error) = view("/nowhere");
    assert!(code == Some(0) && error.contains("no browser was opened (xdg-open: "), "{error}");
    assert!(error.contains("open page.html in one"), "{error}");
    let opener = folder.file("xdg-open", "#!/bin/sh\necho \"$1\" > opened\n");
    std::fs::set_permissions(opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(view(&folder.path("")), (Some(0), String::new()));
    let opened = std::fs::read_to_string(folder.0.join("opened")).unwrap();
    assert_eq!(opened.trim(), folder.path("page.html"), "its whole path");
}

#[test]
fn motions_are_shown_beside_each_other_and_as_ghosts() {
    let folder = Folder::new("view_companions");
    let (first, second, page) = (folder.path("first.npz"), folder.path("second.npz"), folder.path("page.html"));
    assert_eq!(slipstick(&["run", "quadruped", "--steps", "40", "--out", &first]).0, Some(0));
    assert_eq!(slipstick(&["run", "quadruped", "--steps", "40", "--controller", "zero", "--out", &second]).0, Some(0));
    let view = ["view", &first, "quadruped", "--ghost", &second, "--beside", &second, "--distance", "2", "--no-open"];
    assert_eq!(slipstick(&[&view[..], &["--out", &page]].concat()).0, Some(0));
    let others = data(&page)["companions"].clone();
    assert_eq!(
        (&others[0]["offset"], &others[1]["offset"]),
        (&serde_json::Value::Null, &serde_json::json!([0.0, 2.0, 0.0]))
    );
    assert!(others[0]["robot"].is_null(), "the robot is told once");
    assert!(others[0]["frames"]["poses"] != data(&page)["frames"]["poses"]);
    let (code, _, error) = slipstick(&["view", "quadruped", "--ghost", &second, "--no-open"]);
    assert!(code == Some(2) && error.contains("expected a trajectory before the robot"), "{error}");
}

#[test]
fn derivatives_are_on_the_page_of_a_run() {
    let folder = Folder::new("view_gradients");
    let page = folder.path("page.html");
    let run = ["run", "quadruped", "--steps", "40", "--out", &page, "--gradient", "velocity:trunk:x"];
    assert_eq!(
        slipstick(&[&run[..], &["--perturb", "v:root[0]=1", "--perturb", "ctrl:FL_hip=0.1"]].concat()).0,
        Some(0)
    );
    let told = data(&page);
    assert_eq!(told["gradients"][0]["name"], "velocity of trunk along x");
    assert_eq!(told["changes"][0]["name"], "v:root[0]=1, ctrl:FL_hip=0.1");
    for (arguments, expected) in [
        (["--gradient", "speed:trunk:x"], "expected velocity:BODY:AXIS"),
        (["--gradient", "velocity:trnk:x"], "trnk"),
        (["--gradient", "velocity:trunk:w"], "x, y or z"),
        (["--perturb", "v:root[9]=1"], "there are"),
        (["--perturb", "v:root[0]=fast"], "expected a number after ="),
        (["--perturb", "mass:trunk=1"], "q, v, tau or ctrl"),
    ] {
        let (code, _, error) =
            slipstick(&[&["run", "quadruped", "--steps", "1", "--out", &page][..], &arguments].concat());
        assert!(code == Some(2) && error.contains(expected), "{arguments:?}: {code:?} {error}");
    }
    let numbers = folder.path("run.npz");
    let (code, _, error) = slipstick(&["run", "quadruped", "--out", &numbers, "--gradient", "velocity:trunk:x"]);
    assert!(code == Some(2) && error.contains("ends in .html"), "{error}");
}
