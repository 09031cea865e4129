//! `slipstick completions` and `slipstick man`: for shells and readers of manuals, from the definition of the arguments.

use crate::output::{Failure, make_folder, say, write};
use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use std::path::PathBuf;

/// Arguments of `slipstick completions`.
#[derive(clap::Args)]
#[command(
    after_help = "Example: slipstick completions bash > ~/.local/share/bash-completion/completions/slipstick\n         \
                        slipstick completions zsh > ~/.zfunc/_slipstick\n         \
                        slipstick completions fish > ~/.config/fish/completions/slipstick.fish"
)]
pub struct Completions {
    /// Which shell.
    shell: Shell,
}

/// Arguments of `slipstick man`.
#[derive(clap::Args)]
#[command(after_help = "Example: slipstick man | man -l -\n         slipstick man ~/.local/share/man/man1")]
pub struct Manual {
    /// Folder for a page of each verb, created if missing; without it the page of the program is printed.
    folder: Option<PathBuf>,
}

pub fn completions(arguments: &Completions, mut program: Command) -> Result<(), Failure> {
    let mut script = Vec::new(); // a writer that fails would be a panic
    clap_complete::generate(arguments.shell, &mut program, "slipstick", &mut script);
    say!("{}", String::from_utf8_lossy(&script).trim_end());
    Ok(())
}

pub fn manual(arguments: &Manual, program: Command) -> Result<(), Failure> {
    let mut program = program.disable_help_subcommand(true);
    program.build(); // gives verbs the names of their pages
    let Some(folder) = &arguments.folder else {
        say!("{}", String::from_utf8_lossy(&page(&Man::new(program))?).trim_end());
        return Ok(());
    };
    make_folder(folder)?;
    let verbs: Vec<Command> = program.get_subcommands().cloned().collect();
    for man in verbs.into_iter().chain([program]).map(Man::new) {
        let file = folder.join(man.get_filename());
        write(&file, page(&man)?)?;
        say!("{}", file.display());
    }
    Ok(())
}

fn page(man: &Man) -> Result<Vec<u8>, String> {
    let mut page = Vec::new();
    man.render(&mut page).map_err(|e| e.to_string())?;
    Ok(page)
}
