//! Lines on standard output. A reader that stops reading (`| head`) ends the program quietly, a full disk does not.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write, stdout};

/// Prints a line, like `println!`, without a panic when nobody takes it.
macro_rules! say {
    ($($text:tt)*) => { $crate::output::line(format_args!($($text)*)) };
}
pub(crate) use say;

pub fn line(text: Arguments) {
    let mut out = stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Ok(()) => {}
        Err(e) if e.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        Err(e) => {
            eprintln!("error: cannot write the output: {e}");
            std::process::exit(1)
        }
    }
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
