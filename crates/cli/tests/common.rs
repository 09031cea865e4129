//! The program as a test runs it, and files that are removed at the end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Exit code, standard output, standard error.
pub fn slipstick(arguments: &[&str]) -> (Option<i32>, String, String) {
    slipstick_in(Path::new("."), arguments)
}

/// As `slipstick`, run in a folder.
pub fn slipstick_in(folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_slipstick"));
    let Output { status, stdout, stderr } = program.args(arguments).current_dir(folder).output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

pub fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// A path of this process's own among the temporary files.
fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("slipstick-test-{}-{name}", std::process::id()))
}

/// A file that is removed at the end.
pub struct File(pub PathBuf);

impl File {
    pub fn new(name: &str) -> File {
        File(temporary(name))
    }

    pub fn path(&self) -> String {
        self.0.display().to_string()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A folder that is removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = temporary(name);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn file(&self, name: &str, text: &str) -> String {
        fs::write(self.0.join(name), text).unwrap();
        self.path(name)
    }

    pub fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
