//! What the program prints: reports on standard output, everything else on standard error. Nobody need take it: a reader
//! that stops reading (`| head`) is no failure, a full disk is one.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write, stderr, stdout};
use std::path::Path;

/// Prints a line of a report, like `println!`, without a panic.
macro_rules! say {
    ($($text:tt)*) => { $crate::output::report(format_args!($($text)*)) };
}
/// Prints a line beside the report, like `eprintln!`, without a panic.
macro_rules! tell {
    ($($text:tt)*) => { $crate::output::remark(format_args!($($text)*)) };
}
pub(crate) use {say, tell};

/// Exit code of a run of which some steps did not converge.
pub const NOT_CONVERGED: u8 = 3;
/// Exit code of work that Ctrl-C ended, as shells have it: 128 + SIGINT.
pub const INTERRUPTED: u8 = 130;

pub fn report(text: Arguments) {
    let mut out = stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        // the verb goes on to its end: its exit code says what it found, whoever has read it
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            remark(format_args!("error: cannot write the output: {e}"));
            std::process::exit(1)
        }
        _ => {}
    }
}

pub fn remark(text: Arguments) {
    let _ = writeln!(stderr(), "{text}"); // there is no other place to complain
}

/// Why a verb did not do its work.
pub enum Failure {
    /// It was asked for something that makes no sense.
    Use(String),
    /// It tried.
    Failed(String),
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::Failed(message)
    }
}

/// Writes a file, whole or not at all.
pub fn write(path: &Path, text: impl AsRef<[u8]>) -> Result<(), String> {
    slipstick::files::write_file(path, |out| out.write_all(text.as_ref())).map_err(|e| unwritable(path, &e))
}

/// An error if a file cannot be written, before the work whose result goes there.
pub fn check_writable(path: &Path) -> Result<(), String> {
    slipstick::files::check_writable(path).map_err(|e| unwritable(path, &e))
}

/// Makes a folder, unless it is there.
pub fn make_folder(path: &Path) -> Result<(), String> {
    std::fs::create_dir_all(path).map_err(|e| format!("{}: the folder cannot be made: {e}", path.display()))
}

fn unwritable(path: &Path, error: &std::io::Error) -> String {
    format!("{}: cannot be written: {error}", path.display())
}
