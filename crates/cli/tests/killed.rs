//! `kill -9` at random moments while the program writes: a file has its old content or its new one, and never a part.

use crate::common::{Folder, slipstick};
use slipstick::random::Rng;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Kills of each kind of file.
const KILLS: usize = 10;

#[test]
fn what_was_whole_stays_whole_when_the_program_is_killed() {
    let mut draw = Rng(11);
    for name in ["run.npz", "run.csv", "run.json", "run.html"] {
        let folder = Folder::new(&format!("killed-{name}"));
        let file = folder.path(name);
        let arguments = |steps| ["run", "cube", "--steps", steps, "--out", &file].map(str::to_string);
        let written = |steps| {
            let begin = Instant::now();
            let arguments = arguments(steps);
            assert_eq!(slipstick(&arguments.each_ref().map(|x| &x[..])).0, Some(0));
            (std::fs::read(&file).unwrap(), begin.elapsed())
        };
        let ((new, whole), (old, _)) = (written("40000"), written("20000"));
        let mut killed = 0;
        for _ in 0..KILLS {
            std::fs::write(&file, &old).unwrap();
            let mut program = Command::new(env!("CARGO_BIN_EXE_slipstick"));
            let mut child =
                program.args(arguments("40000")).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_secs_f64(draw.between(0.0, 1.1) * whole.as_secs_f64()));
            child.kill().unwrap();
            killed += usize::from(!child.wait().unwrap().success());
            let found = std::fs::read(&file).unwrap();
            assert!(found == old || found == new, "{name}: {} bytes are left", found.len());
        }
        assert!(killed > 0, "{name}: every run was done before it was killed");
    }
}
