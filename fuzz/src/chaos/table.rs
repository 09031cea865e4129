//! What episodes counted, per robot.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Counts of one episode, or of all of a robot.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    pub robot: String,
    pub steps: u64,
    /// Converged or acceptable.
    pub converged: u64,
    pub infeasible: u64,
    pub unconverged: u64,
    /// Typed errors: divergence, and a mass matrix that is singular.
    pub diverged: u64,
    pub singular: u64,
    /// Steps whose residual was computed once more.
    pub graded: u64,
    /// Steps with less than their whole position correction.
    pub corrected: u64,
    /// Findings: numbers that are not finite, residuals that are not what the status says, energy from nowhere, states that the library refuses
    /// although it made them.
    pub nonfinite: u64,
    pub unreported: u64,
    pub energy: u64,
    pub refused: u64,
    /// The longest step (µs).
    pub worst: u64,
}

impl Tally {
    fn numbers(&mut self) -> [&mut u64; 13] {
        [
            &mut self.steps,
            &mut self.converged,
            &mut self.infeasible,
            &mut self.unconverged,
            &mut self.diverged,
            &mut self.singular,
            &mut self.graded,
            &mut self.corrected,
            &mut self.nonfinite,
            &mut self.unreported,
            &mut self.energy,
            &mut self.refused,
            &mut self.worst,
        ]
    }

    /// As a child tells it.
    pub fn line(&self) -> String {
        let mut copy = self.clone();
        let numbers: Vec<String> = copy.numbers().iter().map(|n| n.to_string()).collect();
        format!("tally {} {}", self.robot.replace(' ', "_"), numbers.join(" "))
    }

    fn from_line(line: &str) -> Option<Tally> {
        let mut words = line.strip_prefix("tally ")?.split(' ');
        let mut tally = Tally { robot: words.next()?.into(), ..Tally::default() };
        for number in tally.numbers() {
            *number = words.next()?.parse().ok()?;
        }
        Some(tally)
    }

    fn add(&mut self, mut other: Tally) {
        let worst = self.worst.max(other.worst);
        self.numbers().into_iter().zip(other.numbers()).for_each(|(a, b)| *a += *b);
        self.worst = worst;
    }

    pub fn findings(&self) -> u64 {
        self.nonfinite + self.unreported + self.energy + self.refused
    }
}

/// All robots.
#[derive(Debug, Default)]
pub struct Table {
    rows: BTreeMap<String, Tally>,
    /// Children that did not end as they should, by kind.
    lost: BTreeMap<String, u64>,
}

impl Table {
    /// Takes a line of a child; those that are no counts are shown.
    pub fn take(&mut self, line: &str) {
        match Tally::from_line(line) {
            Some(tally) => self
                .rows
                .entry(tally.robot.clone())
                .or_insert_with(|| Tally { robot: tally.robot.clone(), ..Tally::default() })
                .add(tally),
            None => println!("{line}"),
        }
    }

    pub fn lost(&mut self, kind: &str) {
        *self.lost.entry(kind.into()).or_default() += 1;
    }

    pub fn steps(&self) -> u64 {
        self.rows.values().map(|t| t.steps).sum()
    }

    pub fn findings(&self) -> u64 {
        self.rows.values().map(Tally::findings).sum::<u64>() + self.lost.values().sum::<u64>()
    }

    pub fn is_sound(&self) -> bool {
        self.findings() == 0
    }

    /// The table as Markdown.
    pub fn text(&self) -> String {
        let mut text = String::from(
            "| robot | steps | converged | not converged | infeasible | reduced correction | divergence errors | graded | not finite \
             | unreported | energy | worst step (ms) |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        );
        let mut all = Tally { robot: "all".into(), ..Tally::default() };
        for row in self.rows.values() {
            all.add(row.clone());
        }
        for t in self.rows.values().chain([&all]) {
            let solved = t.converged + t.infeasible + t.unconverged;
            _ = writeln!(
                text,
                "| {} | {} | {:.3} % | {} | {} | {} | {} | {} | {} | {} | {} | {:.1} |",
                t.robot,
                t.steps,
                100.0 * t.converged as f64 / solved.max(1) as f64,
                t.unconverged,
                t.infeasible,
                t.corrected,
                t.diverged + t.singular,
                t.graded,
                t.nonfinite + t.refused,
                t.unreported,
                t.energy,
                t.worst as f64 / 1e3
            );
        }
        for (kind, n) in &self.lost {
            _ = writeln!(text, "\n{n} × {kind}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_survive_as_text_and_add_up() {
        let one = Tally { robot: "cube".into(), steps: 5, converged: 4, energy: 1, worst: 70, ..Tally::default() };
        assert_eq!(Tally::from_line(&one.line()), Some(one.clone()));
        let mut table = Table::default();
        table.take(&one.line());
        table.take(&Tally { worst: 30, ..one }.line());
        assert_eq!((table.steps(), table.findings(), table.is_sound()), (10, 2, false));
        assert!(table.text().contains("| cube | 10 | 100.000 % |") && table.text().contains("| 2 | 0.1 |"));
    }
}
