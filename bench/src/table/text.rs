//! The table as text: a column per robot, as in the paper.

use crate::gradient::goals::number;
use crate::gradient::ours::Ours;
use crate::gradient::times::Times;
use crate::table::ratios;
use crate::table::report::{QUANTITIES, Row, Table};
use std::fmt::Write;

/// What is shown of peers: who, what, and in which words.
const PEERS: [(&str, &str, &str); 14] = [
    ("mujoco", "step", "MuJoCo, simulation"),
    ("mujoco", "step_own_way", "  along its own trajectory"),
    ("mujoco", "fd", "MuJoCo, centered differences"),
    ("mujoco", "fd_own_way", "  along its own trajectory"),
    ("pinocchio", "step", "Pinocchio baseline, simulation"),
    ("pinocchio", "jacobian", "Pinocchio baseline, gradients"),
    ("pinocchio", "aba_derivatives", "Pinocchio, ABA derivatives only"),
    ("nimble", "step", "Nimble, simulation"),
    ("nimble", "forward_pass", "Nimble, step with gradients enabled"),
    ("nimble", "jacobian", "Nimble, gradients"),
    ("mjx", "step", "MJX, simulation"),
    ("mjx", "step_in_batch", "  per state, all at once"),
    ("mjx", "jvp", "MJX, one direction"),
    ("mjx", "jacobian", "MJX, gradients"),
];

impl Table {
    /// The table, ratios if there are peers, throughput if it was measured, then how to read it and what was measured on.
    pub fn to_text(&self) -> String {
        let tables = [self.lines(), self.ratio_lines(), self.throughput_lines()];
        let shown: Vec<String> = tables.iter().filter(|t| !t.is_empty()).map(|t| align(t)).collect();
        format!("{}\n\n{}", shown.join("\n\n"), self.notes())
    }

    /// The cells of the table, line by line; the first line has the names of the robots.
    pub(crate) fn lines(&self) -> Vec<Vec<String>> {
        let mut lines = vec![self.line("", |r| r.name.clone())];
        lines.push(self.line("DoFs", |r| r.nv.to_string()));
        lines.push(self.line("geometries", |r| r.geometries.to_string()));
        lines.push(self.line("collision pairs", |r| r.pairs.to_string()));
        lines.push(self.line("vertices per mesh", |r| r.vertices.map_or("-".to_string(), |n| format!("{n:.0}"))));
        lines.push(self.line("contacts", |r| format!("{:.1}", r.contacts())));
        for (_, words, of) in QUANTITIES {
            lines.push(self.line(words, |r| mean_and_sd(&r.times(of))));
            lines.push(self.line("  median", |r| cell(r.times(of).median())));
            lines.push(self.line("  least", |r| cell(r.times(of).min())));
        }
        lines.push(self.line("gradients / simulation", |r| ratio(r, |o| &o.jacobian, |o| &o.step)));
        lines.push(self.line("differences / gradients", |r| ratio(r, |o| &o.central, |o| &o.jacobian)));
        for (peer, what, words) in PEERS {
            if self.rows.iter().any(|r| r.peers().contains(&peer)) {
                lines.push(self.line(words, |r| peer_cell(r, peer, what)));
            }
        }
        lines
    }

    /// Ratios to peers, a column per robot and motion; empty without peers.
    pub(crate) fn ratio_lines(&self) -> Vec<Vec<String>> {
        ratios::lines(&self.rows)
    }

    fn line(&self, title: &str, cell: impl Fn(&Row) -> String) -> Vec<String> {
        std::iter::once(title.to_string()).chain(self.rows.iter().map(cell)).collect()
    }

    /// How to read the table, what it was measured on, and what was not run.
    pub(crate) fn notes(&self) -> String {
        let spread =
            self.spread().map_or("unknown after a single round".to_string(), |s| format!("{:.1} %", 100.0 * s));
        let mut notes = format!(
            "Microseconds: mean ± standard deviation over the states of a fall and of standing, of the least time at each state.\n\
             Gradients: what they add to a finished step. Finite differences: central.\n\
             Noise (difference of the rounds' means, median of all figures): {spread}.\n{}.",
            self.machine.describe()
        );
        for row in &self.rows {
            for phase in &row.phases {
                if let Some(why) = &phase.ours.met.refusal {
                    let _ = write!(notes, "\n{} {}: no gradient at some states: {why}", row.name, phase.name);
                }
            }
            for peer in row.peers() {
                if let Some(why) = row.not_run(peer) {
                    let _ = write!(notes, "\n{}: {peer} is NOT RUN: {why}", row.name);
                }
            }
        }
        for row in &self.rows {
            if let Some(Err(why)) = row.throughput.as_ref().map(|t| &t.mujoco).filter(|_| !row.peers().is_empty()) {
                let _ = write!(notes, "\n{}: MuJoCo's rollout is NOT RUN: {why}", row.name);
            }
        }
        for (who, note) in self.who() {
            let _ = write!(notes, "\n{who}{note}");
        }
        notes
    }

    /// Peers that were run, and what is different about their scenes.
    fn who(&self) -> std::collections::BTreeSet<(String, String)> {
        let all = self.rows.iter().flat_map(|r| r.phases.iter().map(move |p| (r, p)));
        let figures = all.flat_map(|(r, p)| p.peers.iter().filter_map(move |(_, v)| Some((r, v.as_ref().ok()?))));
        let words = |(row, f): (&Row, &crate::table::peers::PeerFigures)| {
            (f.who.clone(), f.note.as_ref().map_or(String::new(), |n| format!(", {}: {n}", row.name)))
        };
        figures.map(words).collect()
    }
}

fn peer_cell(row: &Row, peer: &str, what: &str) -> String {
    match (row.not_run(peer), row.peer_times(peer, what)) {
        (None, Some(times)) => mean_and_sd(&times),
        (Some(_), _) => "not run".to_string(),
        (None, None) => "-".to_string(),
    }
}

fn ratio(row: &Row, a: fn(&Ours) -> &Times, b: fn(&Ours) -> &Times) -> String {
    row.times(a).over(&row.times(b)).map_or("-".to_string(), |[mean, _]| number(mean))
}

fn mean_and_sd(t: &Times) -> String {
    if t.is_there() { format!("{} ± {}", number(t.mean()), number(t.sd())) } else { "-".to_string() }
}

fn cell(x: f64) -> String {
    if x.is_finite() { number(x) } else { "-".to_string() }
}

/// The first column to the left, the others to the right.
fn align(lines: &[Vec<String>]) -> String {
    let width = |k: usize| lines.iter().map(|cells| cells[k].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    let line = |cells: &Vec<String>| {
        let mut line = format!("{:<w$}", cells[0], w = widths[0]);
        for (cell, w) in cells.iter().zip(&widths).skip(1) {
            line += &format!("  {cell:>w$}");
        }
        line
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let line = |a: &str, b: &str| vec![a.to_string(), b.to_string()];
        assert_eq!(align(&[line("", "cube"), line("step ± x", "1")]), "          cube\nstep ± x     1");
    }
}
