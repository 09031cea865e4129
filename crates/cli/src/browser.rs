//! Opens a page in the browser of the user.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Some openers wait until the browser is closed: one that still runs after this time has found a browser.
const PATIENCE: Duration = Duration::from_secs(2);

/// Opens a file; the error says why that was not possible.
pub fn open(page: &Path) -> Result<(), String> {
    let page = std::path::absolute(page).map_err(|e| e.to_string())?;
    let (program, before): (&str, &[&str]) = match std::env::consts::OS {
        "windows" => ("cmd", &["/C", "start", ""]), // the first quoted word is the title of a window
        "macos" => ("open", &[]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    command.args(before).arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().map_err(|e| format!("{program}: {e}"))?;
    wait(child).map_err(|e| format!("{program}: {e}"))
}

fn wait(mut child: Child) -> Result<(), String> {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        match child.try_wait().map_err(|e| e.to_string())? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(status.to_string()),
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    }
    Ok(())
}
