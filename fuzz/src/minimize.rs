//! A smaller input that fails as the whole one does: pieces are left out as long as it still fails.

use crate::arguments::Arguments;
use crate::parent::{Failure, failure, limited};
use crate::target::Target;
use std::path::Path;
use std::time::{Duration, Instant};

/// Attempts, and time for all of them, with lines and with bytes each.
const MOST: usize = 400;
const LONGEST: Duration = Duration::from_secs(60);

/// Leaves out lines, then bytes.
pub fn input(target: Target, whole: &[u8], wanted: &Failure, a: &Arguments) -> Result<Vec<u8>, String> {
    let file = a.out.join(format!("attempt-{}", std::process::id()));
    let fails = |input: &[u8]| fails(target, input, wanted, a.memory, &file);
    let lines: Vec<&[u8]> = whole.split_inclusive(|b| *b == b'\n').collect();
    let lines = fewer(lines, &fails)?.concat();
    let bytes = fewer(lines.chunks(1).collect(), &fails)?.concat();
    _ = std::fs::remove_file(&file);
    Ok(bytes)
}

/// Leaves out runs of pieces, from long ones to short ones.
fn fewer<'a>(
    mut pieces: Vec<&'a [u8]>,
    fails: &impl Fn(&[u8]) -> Result<bool, String>,
) -> Result<Vec<&'a [u8]>, String> {
    let (end, mut attempts) = (Instant::now() + LONGEST, 0);
    let mut run = pieces.len().div_ceil(2);
    while run > 0 && attempts < MOST && Instant::now() < end {
        let mut at = 0;
        while at < pieces.len() && attempts < MOST && Instant::now() < end {
            let rest = [&pieces[..at], &pieces[(at + run).min(pieces.len())..]].concat();
            attempts += 1;
            if fails(&rest.concat())? {
                pieces = rest;
            } else {
                at += run;
            }
        }
        run /= 2;
    }
    Ok(pieces)
}

fn fails(target: Target, input: &[u8], wanted: &Failure, memory: u64, file: &Path) -> Result<bool, String> {
    std::fs::write(file, input).map_err(|e| format!("{}: {e}", file.display()))?;
    let words = ["case", target.name(), &file.to_string_lossy()].map(String::from);
    let output = limited(memory, &words)?;
    Ok(failure(&output).is_some_and(|f| f.kind == wanted.kind))
}
