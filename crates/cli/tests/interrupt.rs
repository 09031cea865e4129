//! Ctrl-C, as far as there are signals.
#![cfg(unix)]

use crate::common::{Folder, json};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// Starts the program and interrupts it when it is at work.
fn interrupted(arguments: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_slipstick"));
    let child = program.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    std::thread::sleep(Duration::from_secs(1));
    interrupt(&child);
    child.wait_with_output().expect("it ends")
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()), "the program has ended by itself");
}

#[test]
fn an_interrupted_run_writes_what_there_is() {
    let folder = Folder::new("interrupt");
    let file = folder.path("run.npz");
    let output = interrupted(&["run", "cube", "--steps", "5000000", "--json", "--explain", "--out", &file]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{error}");
    let report = json(&String::from_utf8_lossy(&output.stdout));
    let steps = report["steps"].as_u64().unwrap() as usize;
    assert!(report["interrupted"] == true && 0 < steps && steps < 5_000_000, "{steps}");
    assert!(report["explanation"].is_array() && report["samples"].as_array().is_some_and(|s| s.len() > 1));
    let told = format!("interrupted after {steps} of 5000000 steps; {file} has them");
    assert!(error.contains(&told), "{error}");
    let model = slipstick::builtin("cube").unwrap();
    assert_eq!(slipstick::Trajectory::load(&file, &model).unwrap().steps(), steps);
}

#[test]
fn an_interrupted_check_reports_the_states_until_then() {
    let output = interrupted(&["grad-check", "quadruped", "--states", "1000000", "--json"]);
    assert_eq!(output.status.code(), Some(130));
    let states = json(&String::from_utf8_lossy(&output.stdout))["states"].as_u64().unwrap();
    assert!((1..1_000_000).contains(&states));
    assert!(String::from_utf8_lossy(&output.stderr).contains(&format!("interrupted after {states} of 1000000 states")));
}

#[test]
fn a_second_interrupt_ends_the_program_at_once() {
    let folder = Folder::new("second");
    let pipe = folder.path("nobody_reads.csv");
    assert!(Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()));
    let mut program = Command::new(env!("CARGO_BIN_EXE_slipstick"));
    let mut child =
        program.args(["run", "cube", "--steps", "5000000", "--out", &pipe]).stderr(Stdio::null()).spawn().unwrap();
    let wait = || std::thread::sleep(Duration::from_secs(1));
    wait();
    interrupt(&child);
    wait();
    assert!(child.try_wait().unwrap().is_none(), "it waits for a reader of the pipe");
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
