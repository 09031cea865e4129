//! What an experiment has to say: claims that hold or do not, a summary, figures, a motion to look at.

use serde_json::{Value, json};
use slipstick::{Model, Trajectory};

/// The result of an experiment.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Report {
    /// The experiment, as the command line names it.
    pub name: &'static str,
    /// What it shows, and whether it does.
    pub claims: Vec<Claim>,
    /// Lines for a reader.
    pub summary: Vec<String>,
    /// Names of files and pictures (SVG).
    pub figures: Vec<(String, String)>,
    /// Numbers for a program.
    pub data: Value,
    /// What was found, as it moves.
    pub motion: Option<Motion>,
}

/// A robot and how it moves.
#[derive(Debug, Clone)]
pub struct Motion {
    /// The robot.
    pub model: Model,
    /// Its states.
    pub trajectory: Trajectory,
}

/// A statement about a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// In words.
    pub text: String,
    /// The number.
    pub value: f64,
    /// What it is held against.
    pub bound: Bound,
}

/// Which numbers make a claim true.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// Up to this one.
    AtMost(f64),
    /// From this one on.
    AtLeast(f64),
}

impl Claim {
    /// Holds if the value is at most the bound.
    pub fn at_most(text: impl Into<String>, value: f64, bound: f64) -> Claim {
        Claim { text: text.into(), value, bound: Bound::AtMost(bound) }
    }

    /// Holds if the value is at least the bound.
    pub fn at_least(text: impl Into<String>, value: f64, bound: f64) -> Claim {
        Claim { text: text.into(), value, bound: Bound::AtLeast(bound) }
    }

    /// Whether it is true; never of what is not a number.
    pub fn holds(&self) -> bool {
        match self.bound {
            Bound::AtMost(bound) => self.value <= bound,
            Bound::AtLeast(bound) => self.value >= bound,
        }
    }

    fn to_json(&self) -> Value {
        let (relation, bound) = match self.bound {
            Bound::AtMost(bound) => ("at_most", bound),
            Bound::AtLeast(bound) => ("at_least", bound),
        };
        json!({ "text": self.text, "holds": self.holds(), "value": self.value, "relation": relation, "bound": bound })
    }

    fn to_text(&self) -> String {
        let verdict = if self.holds() { "holds" } else { "FAILS" };
        let (relation, bound) = match self.bound {
            Bound::AtMost(bound) => ("at most", bound),
            Bound::AtLeast(bound) => ("at least", bound),
        };
        format!("{verdict}: {} ({}, {relation} {})", self.text, number(self.value), number(bound))
    }
}

impl Report {
    /// An empty one.
    pub fn new(name: &'static str) -> Report {
        Report { name, claims: vec![], summary: vec![], figures: vec![], data: Value::Null, motion: None }
    }

    /// Whether all claims hold.
    pub fn holds(&self) -> bool {
        self.claims.iter().all(Claim::holds)
    }

    /// Claims, summary and numbers.
    pub fn to_json(&self) -> Value {
        json!({ "format": "slipstick-experiment", "version": 1, "name": self.name, "holds": self.holds(),
            "claims": self.claims.iter().map(Claim::to_json).collect::<Vec<_>>(),
            "summary": self.summary, "figures": self.figures.iter().map(|f| &f.0).collect::<Vec<_>>(), "data": self.data })
    }

    /// Summary and claims.
    pub fn to_text(&self) -> String {
        let claims = self.claims.iter().map(Claim::to_text);
        self.summary.iter().cloned().chain(claims).collect::<Vec<_>>().join("\n")
    }
}

/// Short, whatever its size.
pub(crate) fn number(x: f64) -> String {
    let size = x.abs();
    if x == x.trunc() && size < 1e5 {
        format!("{x:.0}")
    } else if (1e-2..1e5).contains(&size) {
        format!("{x:.3}")
    } else {
        format!("{x:.1e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_about_what_is_not_a_number_does_not_hold() {
        assert!(!Claim::at_most("", f64::NAN, 1.0).holds() && !Claim::at_least("", f64::NAN, 1.0).holds());
        assert!(Claim::at_most("", 1.0, 1.0).holds() && Claim::at_least("", 1.0, 1.0).holds());
        assert!(!Claim::at_most("", 2.0, 1.0).holds() && !Claim::at_least("", 0.0, 1.0).holds());
    }

    #[test]
    fn a_report_says_which_claim_fails() {
        let mut report = Report::new("test");
        report.claims =
            vec![Claim::at_most("the error is small", 1e-9, 1e-8), Claim::at_least("it is quick", 2.0, 3.0)];
        assert!(!report.holds());
        assert_eq!(
            report.to_text(),
            "holds: the error is small (1.0e-9, at most 1.0e-8)\nFAILS: it is quick (2, at least 3)"
        );
        let json = report.to_json();
        assert_eq!((json["holds"].as_bool(), json["claims"][0]["holds"].as_bool()), (Some(false), Some(true)));
    }
}
