//! Standard output and error that nobody reads: no verb panics, and its exit code is still its own.

use crate::common::{Folder, slipstick, slipstick_in};
use std::io::pipe;
use std::process::Command;

/// A short use of each verb and its exit code; NPZ and TMP stand for files.
const USES: [(&[&str], i32); 15] = [
    (&["models"], 0),
    (&["info", "atlas", "--json"], 0),
    (&["info", "atlas", "--parameters"], 0),
    (&["check", "quadruped"], 0),
    (&["check", "nobody"], 1),
    (&["contacts", "quadruped"], 0),
    (&["convert", "quadruped", "quadruped.urdf"], 0),
    (&["run", "quadruped", "--steps", "20", "--explain"], 0),
    (&["run", "quadruped", "--steps", "20", "--dt", "10"], 3),
    (&["run", "nobody"], 1),
    (&["view", "quadruped", "--no-open", "--out", "page.html"], 0),
    (&["grad-check", "cube", "--states", "2"], 0),
    (&["solve", "quadruped-stand"], 0),
    (&["completions", "bash"], 0),
    (&["man"], 0),
];

/// Exit code where both outputs are closed before the program begins.
fn unheard(folder: &Folder, arguments: &[&str]) -> Option<i32> {
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let mut program = Command::new(env!("CARGO_BIN_EXE_slipstick"));
    program.current_dir(&folder.0).args(arguments).stdout(writer.try_clone().unwrap()).stderr(writer);
    program.status().expect("it runs").code()
}

#[test]
fn a_closed_pipe_is_no_panic_in_any_verb() {
    let folder = Folder::new("pipes");
    for (arguments, code) in USES {
        assert_eq!(unheard(&folder, arguments), Some(code), "{arguments:?}");
        assert_eq!(unheard(&folder, &[arguments[0], "--help"]), Some(0), "{arguments:?}");
        assert_eq!(unheard(&folder, &[arguments[0], "--no-such-option"]), Some(2), "{arguments:?}");
    }
    assert_eq!(unheard(&folder, &[]), Some(2));
    let help = slipstick(&["--help"]).1;
    let verbs = help.lines().skip_while(|l| *l != "Commands:").skip(1).take_while(|l| !l.is_empty());
    for verb in verbs.filter_map(|line| line.split_whitespace().next()).filter(|verb| *verb != "help") {
        assert!(USES.iter().any(|(arguments, _)| arguments[0] == verb), "{verb}: no use of it here");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure_and_no_panic() {
    let folder = Folder::new("full");
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_slipstick"));
    let output = program.args(["models"]).stdout(full()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && error.contains("cannot write the output"), "{error}");
    let mut program = Command::new(env!("CARGO_BIN_EXE_slipstick"));
    assert_eq!(program.args(["run", "nobody"]).stderr(full()).output().unwrap().status.code(), Some(1));
    let save = ["grad-check", "cube", "--states", "2", "--save", "/dev/full"];
    let (code, _, error) = slipstick_in(&folder.0, &save);
    assert!(code == Some(1) && error.contains("/dev/full: cannot be written: No space left"), "{error}");
    let (code, out, _) = slipstick_in(&folder.0, &["grad-check", "cube", "--states", "2", "--save", "/dev/stdout"]);
    assert!(code == Some(0) && out.contains("2 states,") && out.contains("slipstick-grad-check-state"), "{out}");
}
