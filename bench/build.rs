//! Remembers which compiler makes the program: figures are shown with it, wherever the program is run.

use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_string());
    let version = Command::new(rustc).arg("--version").output().ok();
    let version = version.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_string()).filter(|v| !v.is_empty());
    println!("cargo::rustc-env=SLIPSTICK_RUSTC={}", version.unwrap_or_else(|| "rustc of unknown version".to_string()));
    println!("cargo::rerun-if-changed=build.rs");
}
