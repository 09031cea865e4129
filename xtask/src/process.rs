//! Running commands so that a reader sees what was run and why it stopped.

use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Why a piece of work did not pass.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    Failed(String), // it ran and something is wrong
    NotRun(String), // the machine lacks something that it needs
}

pub type Outcome = Result<(), Stop>;

/// Prints the command and runs it with its output on the terminal.
pub fn run(command: &mut Command) -> Outcome {
    announce(command);
    let status = command.status().map_err(|error| cannot_start(command, &error))?;
    if status.success() { Ok(()) } else { Err(Stop::Failed(format!("{}: {status}", name(command)))) }
}

/// As `run`, with standard output moved to standard error: for preparations, whose chatter is not the result.
pub fn prepare(command: &mut Command) -> Outcome {
    run(command.stdout(io::stderr()))
}

/// As `run`, and returns what the command wrote to standard output, which is also shown.
pub fn run_captured(command: &mut Command) -> Result<String, Stop> {
    announce(command);
    let output = command.stderr(Stdio::inherit()).output().map_err(|error| cannot_start(command, &error))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    print!("{text}");
    if output.status.success() { Ok(text) } else { Err(Stop::Failed(format!("{}: {}", name(command), output.status))) }
}

/// Standard output of a quiet question to the machine; `None` if the program is absent or says no.
pub fn ask(command: &mut Command) -> Option<String> {
    let Output { status, stdout, .. } = command.output().ok()?;
    status.success().then(|| String::from_utf8_lossy(&stdout).trim().to_string())
}

/// The command as one would type it: variables, program, arguments.
pub fn describe(command: &Command) -> String {
    let variables = command.get_envs().filter_map(|(key, value)| {
        // a PATH prepared for a child says nothing to a reader and fills the line
        let value = value.filter(|_| key != "PATH")?;
        Some(format!("{}={}", key.to_string_lossy(), quoted(&value.to_string_lossy())))
    });
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    variables.chain(words.map(|word| quoted(&word.to_string_lossy()))).collect::<Vec<_>>().join(" ")
}

fn announce(command: &Command) {
    eprintln!("$ {}", describe(command));
}

fn quoted(word: &str) -> String {
    if word.is_empty() || word.contains([' ', '\'', '"', '$', '*']) {
        format!("'{}'", word.replace('\'', r"'\''"))
    } else {
        word.to_string()
    }
}

/// Enough of the command to recognize it in a summary: `cargo clippy --workspace`, `python -m pytest`.
fn name(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args().take(2));
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn cannot_start(command: &Command, error: &io::Error) -> Stop {
    let program = command.get_program().to_string_lossy();
    // a missing folder gives the same error as a missing program, but is the repository's fault, not the machine's
    match command.get_current_dir() {
        Some(folder) if !folder.is_dir() => Stop::Failed(format!("there is no folder {}", folder.display())),
        _ if error.kind() == io::ErrorKind::NotFound => Stop::NotRun(format!("{program} is not installed")),
        _ => Stop::Failed(format!("cannot start {program}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_described_command_can_be_typed_again() {
        let mut command = Command::new("cargo");
        command.args(["doc", "it's"]).env("RUSTDOCFLAGS", "-D warnings").env("PATH", "/bin").env_remove("PYTHONPATH");
        assert_eq!(describe(&command), r"RUSTDOCFLAGS='-D warnings' cargo doc 'it'\''s'");
    }

    #[test]
    fn a_missing_program_is_not_run_and_a_failing_one_failed() {
        assert!(matches!(run(&mut Command::new("no-such-program-anywhere")), Err(Stop::NotRun(_))));
        let failing = run(Command::new("cargo").arg("--no-such-flag"));
        assert!(matches!(failing, Err(Stop::Failed(why)) if why.starts_with("cargo --no-such-flag: exit")));
        assert!(matches!(run(Command::new("cargo").current_dir("no-such-folder")), Err(Stop::Failed(_))));
    }
}
