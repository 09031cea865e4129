//! Files that the program writes appear whole or not at all, and places that cannot be written are known before the work.

use crate::common::{Folder, slipstick};
use std::time::{Duration, Instant};

#[test]
fn unwritable_places_are_noticed_before_the_work() {
    let folder = Folder::new("unwritable");
    let place = |name: &str| folder.path(&format!("nowhere/{name}"));
    let file = folder.file("file", "");
    for arguments in [
        &["run", "quadruped", "--steps", "900000000", "--out", &place("run.html")][..],
        &["run", "quadruped", "--steps", "900000000", "--out", &place("run.npz")],
        &["grad-check", "quadruped", "--states", "1000000", "--save", &place("worst.txt")],
        &["solve", "cube-impulse", "--out", &format!("{file}/figures")],
        &["convert", "quadruped", &place("quadruped.urdf")],
        &["view", "quadruped", "--out", &place("page.html")],
    ] {
        let begin = Instant::now();
        let (code, out, error) = slipstick(arguments);
        assert_eq!((code, out.as_str(), error.lines().count()), (Some(1), "", 1), "{arguments:?}: {error}");
        assert!(error.contains(": cannot be written: ") || error.contains(": the folder cannot be made: "), "{error}");
        assert!(begin.elapsed() < Duration::from_secs(20), "{arguments:?}");
    }
}

#[cfg(unix)]
#[test]
fn the_old_file_survives_a_full_disk() {
    let folder = Folder::new("survives");
    for (name, verb) in [
        ("run.npz", "run cube --steps 500 --out"),
        ("run.csv", "run cube --steps 500 --out"),
        ("run.html", "run cube --steps 500 --out"),
        ("humanoid.xml", "convert humanoid"),
    ] {
        folder.file(name, "old");
        // files of at most one block; without the trap the signal would kill the program
        let script = format!("trap '' XFSZ; ulimit -f 1; exec \"$0\" {verb} {name}");
        let mut shell = std::process::Command::new("sh");
        shell.current_dir(&folder.0).args(["-c", &script, env!("CARGO_BIN_EXE_slipstick")]);
        let output = shell.output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && error.contains("cannot be written"), "{name}: {error}");
        assert_eq!(std::fs::read_to_string(folder.0.join(name)).unwrap(), "old", "{name}");
    }
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 4, "nothing temporary is left");
}

#[test]
fn files_are_replaced_without_traces() {
    let folder = Folder::new("replaced");
    let file = folder.file("run.csv", "old");
    assert_eq!(slipstick(&["run", "cube", "--steps", "5", "--out", &file]).0, Some(0));
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("# slipstick-trajectory"));
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1);
}
