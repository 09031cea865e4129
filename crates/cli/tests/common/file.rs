//! A file that is removed at the end.

use std::path::PathBuf;

pub struct File(pub PathBuf);

impl File {
    pub fn new(name: &str) -> File {
        File(std::env::temp_dir().join(format!("slipstick-test-{}-{name}", std::process::id())))
    }

    pub fn path(&self) -> String {
        self.0.display().to_string()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
