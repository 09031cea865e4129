//! A smaller input that fails as the whole one does: pieces are left out as long as it still fails.

use crate::arguments::Arguments;
use crate::parent::{Failure, failure, limited};
use crate::target::Target;
use std::path::Path;
use std::time::{Duration, Instant};

/// Attempts, and time for all of them.
const MOST: usize = 400;
const LONGEST: Duration = Duration::from_secs(60);

/// Leaves out pieces, from large ones to small ones.
pub fn input(target: Target, whole: &[u8], wanted: &Failure, a: &Arguments) -> Result<Vec<u8>, String> {
    let (end, file) = (Instant::now() + LONGEST, a.out.join(format!("attempt-{}", std::process::id())));
    let mut least = whole.to_vec();
    let mut attempts = 0;
    let mut size = least.len() / 2;
    while size > 0 && attempts < MOST && Instant::now() < end {
        let mut at = 0;
        while at < least.len() && attempts < MOST && Instant::now() < end {
            let smaller = [&least[..at], &least[(at + size).min(least.len())..]].concat();
            attempts += 1;
            if fails(target, &smaller, wanted, a.memory, &file)? {
                least = smaller;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    _ = std::fs::remove_file(&file);
    Ok(least)
}

fn fails(target: Target, input: &[u8], wanted: &Failure, memory: u64, file: &Path) -> Result<bool, String> {
    std::fs::write(file, input).map_err(|e| format!("{}: {e}", file.display()))?;
    let words = ["case", target.name(), &file.to_string_lossy()].map(String::from);
    let output = limited(memory, &words)?;
    Ok(failure(&output).is_some_and(|f| f.kind == wanted.kind))
}
