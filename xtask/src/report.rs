//! What became of the parts of a run: a line each when they end, a table when all have ended.

use std::time::Duration;

use crate::process::{Outcome, Stop};

pub struct PartResult {
    pub name: &'static str,
    pub outcome: Outcome,
    pub time: Duration,
}

impl PartResult {
    /// The line that ends the output of a part.
    pub fn line(&self) -> String {
        let (start, seconds) = (start_of_line(self.name), self.time.as_secs_f64());
        match &self.outcome {
            Ok(()) => format!("{start}passed in {seconds:.1} s"),
            Err(Stop::Failed(why)) => format!("{start}FAILED after {seconds:.1} s: {why}"),
            Err(Stop::NotRun(why)) => format!("{start}NOT RUN: {why}"),
        }
    }
}

fn start_of_line(name: &str) -> String {
    format!("--- {name}: ")
}

/// What a part has printed, up to the line that ends it, and the outcome that the line tells.
pub fn outcome_in<'a>(log: &'a str, name: &str) -> (&'a str, Outcome) {
    let start = start_of_line(name);
    let Some(place) = log.rfind(&format!("\n{start}")) else {
        return (log, Err(Stop::Failed("it ended without a result".into())));
    };
    let (output, rest) = log.split_at(place + 1);
    let line = rest.lines().next().unwrap_or_default();
    let outcome = match line[start.len()..].split_once(": ") {
        Some(("NOT RUN", why)) => Err(Stop::NotRun(why.into())),
        Some((_, why)) => Err(Stop::Failed(why.into())),
        None => Ok(()),
    };
    (&log[..output.len() + line.len()], outcome)
}

/// Table of the parts and the time of the whole, then one plain line of counts, which is the last.
pub fn summary(results: &[PartResult], total: Duration) -> String {
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    let mut text = String::from("\npart          result    seconds\n");
    for PartResult { name, outcome, time } in results {
        let (count, word, why) = match outcome {
            Ok(()) => (&mut passed, "passed", ""),
            Err(Stop::Failed(why)) => (&mut failed, "FAILED", why.as_str()),
            Err(Stop::NotRun(why)) => (&mut skipped, "NOT RUN", why.as_str()),
        };
        *count += 1;
        let row = format!("{name:<12}  {word:<7}  {:>8.1}  {why}", time.as_secs_f64());
        text += row.trim_end();
        text += "\n";
    }
    text += &format!("{:<12}  {:<7}  {:>8.1}\n\n", "total", "", total.as_secs_f64());
    text += &format!("{passed} passed, {failed} failed");
    if skipped > 0 {
        text += &format!(", {skipped} skipped");
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(name: &'static str, outcome: Outcome) -> PartResult {
        PartResult { name, outcome, time: Duration::from_millis(1500) }
    }

    #[test]
    fn the_last_line_counts_the_parts() {
        let clean = [result("format", Ok(())), result("clippy", Ok(()))];
        assert_eq!(summary(&clean, Duration::ZERO).lines().last(), Some("2 passed, 0 failed"));

        let mixed = [
            result("format", Ok(())),
            result("clippy", Err(Stop::Failed("cargo: exit status: 101".to_string()))),
            result("wasm", Err(Stop::NotRun("no target".to_string()))),
        ];
        let text = summary(&mixed, Duration::from_millis(2500));
        assert_eq!(text.lines().last(), Some("1 passed, 1 failed, 1 skipped"));
        assert!(text.contains("clippy        FAILED        1.5  cargo: exit status: 101"), "{text}");
        assert!(text.contains("wasm          NOT RUN       1.5  no target"), "{text}");
        assert!(text.contains("total                       2.5"), "{text}");
    }

    #[test]
    fn the_outcome_of_a_part_is_read_from_what_it_printed() {
        for outcome in [Ok(()), Err(Stop::Failed("cargo: exit: 1".into())), Err(Stop::NotRun("no node: none".into()))] {
            let output = format!("\n=== replay\n--- clippy: passed\n{}", result("replay", outcome.clone()).line());
            let log = format!("{output}\n\npart  result\n");
            assert_eq!(outcome_in(&log, "replay"), (output.as_str(), outcome));
        }
        assert!(matches!(outcome_in("\n=== replay\nkilled", "replay"), (_, Err(Stop::Failed(_)))));
    }
}
