//! Random and hostile input: `cargo xtask fuzz` and `cargo xtask chaos` start this program.
//!
//! A run is a sequence of numbered cases, each made from the seed and its number alone. Cases run in child processes with a
//! limit of memory and one of processor time, so that an abort, a full stack and a loop without end are findings like any other.

#![allow(clippy::print_stdout, clippy::print_stderr)] // a program that talks to the one who runs it

mod arguments;
mod case;
mod chaos;
mod child;
mod clock;
mod corpus;
mod leak;
mod minimize;
mod mutate;
mod parent;
mod target;
mod tree;
mod watch;

use arguments::Arguments;
use std::process::ExitCode;

const HELP: &str = "\
Usage: slipstick-fuzz COMMAND [OPTIONS]

Commands:
  fuzz     files, bytes, shapes and problems at random; without --target all, one after the other
  chaos    robots in hostile states under hostile forces; ends with a table
  replay FILE     the step that chaos has saved in a file
  case TARGET FILE     one input of a target
  leak     a million steps and a thousand loads, with the memory before and after
  targets  lists the targets

Options:
  --target NAME     of fuzz, may be repeated
  --time SECONDS    of fuzz, for all targets together (default 60)
  --cases N         of fuzz, per target, instead of a time
  --steps N         of chaos (default 100000); of leak (default 1000000)
  --loads N         of leak (default 1000)
  --robots A,B,…    of chaos: built-in names, files, or 'random'; default: all built-in robots and 'random'
  --seed N          (default 1)
  --jobs N          child processes at a time (default 1)
  --memory MB       limit of a child's address space (default 4096; 0: none)
  --out FOLDER      for findings (default target/fuzz)
";

const BAD_USE: u8 = 2;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some((command, rest)) = words.split_first() else {
        print!("{HELP}");
        return ExitCode::from(BAD_USE);
    };
    let done = Arguments::parse(rest).and_then(|arguments| run(command, &arguments));
    done.unwrap_or_else(|message| {
        eprintln!("slipstick-fuzz: {message}");
        ExitCode::from(BAD_USE)
    })
}

fn run(command: &str, arguments: &Arguments) -> Result<ExitCode, String> {
    match command {
        "fuzz" => parent::fuzz(arguments),
        "chaos" => parent::chaos(arguments),
        "child" => child::main(arguments),
        "case" => child::single(arguments),
        "replay" => chaos::replay::main(arguments.word(0)?),
        "leak" => leak::main(arguments),
        "targets" => {
            target::Target::ALL.iter().for_each(|t| println!("{}", t.name()));
            Ok(ExitCode::SUCCESS)
        }
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        other => Err(format!("unknown command '{other}'; see slipstick-fuzz --help")),
    }
}
