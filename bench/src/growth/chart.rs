//! Curves of costs over sizes: as text, JSON and pictures.

use crate::gradient::goals::number;
use serde_json::{Value, json};
use slipstick_plot::{Series, log_log, upper_exponent};

/// All curves of a run.
pub struct Growth {
    pub(crate) curves: Vec<Curve>,
}

/// Times over the size of a problem.
pub struct Curve {
    pub(crate) name: &'static str,
    pub(crate) x_label: &'static str,
    /// What is timed, in the order of the numbers of a point.
    pub(crate) series: &'static [&'static str],
    pub(crate) points: Vec<Point>,
}

/// A size.
pub(crate) struct Point {
    pub x: f64,
    /// One per series (µs).
    pub times_us: Vec<f64>,
    /// How many states were timed, and in how many of them contact was not solved to the tolerance.
    pub states: usize,
    pub unsolved: usize,
}

impl Curve {
    fn points_of(&self, k: usize) -> Vec<(f64, f64)> {
        self.points.iter().map(|p| (p.x, p.times_us[k])).collect()
    }

    /// Cost grows like size to this power, in the upper half of the sizes.
    fn exponent(&self, k: usize) -> f64 {
        upper_exponent(&self.points_of(k))
    }

    /// The steepest piece between two neighboring sizes: its power and its ends. A cliff shows here.
    fn steepest(&self, k: usize) -> Option<(f64, [f64; 2])> {
        let points = self.points_of(k);
        let piece = |w: &[(f64, f64)]| ((w[1].1 / w[0].1).ln() / (w[1].0 / w[0].0).ln(), [w[0].0, w[1].0]);
        points.windows(2).map(piece).max_by(|a, b| a.0.total_cmp(&b.0))
    }

    fn unsolved(&self) -> usize {
        self.points.iter().map(|p| p.unsolved).sum()
    }

    fn to_json(&self) -> Value {
        let series = |(k, name): (usize, &&str)| {
            let us: Vec<f64> = self.points.iter().map(|p| p.times_us[k]).collect();
            let steepest = self.steepest(k).map(|(power, [a, b])| json!({ "power": power, "from": a, "to": b }));
            ((*name).to_string(), json!({ "us": us, "exponent": self.exponent(k), "steepest": steepest }))
        };
        let list = |of: fn(&Point) -> usize| self.points.iter().map(of).collect::<Vec<_>>();
        json!({ "name": self.name, "x_label": self.x_label, "x": self.points.iter().map(|p| p.x).collect::<Vec<_>>(),
            "series": self.series.iter().enumerate().map(series).collect::<serde_json::Map<_, _>>(),
            "states": list(|p| p.states), "unsolved": list(|p| p.unsolved) })
    }

    fn to_text(&self) -> String {
        let head: String = self.points.iter().map(|p| format!(" {:>8}", p.x)).collect();
        let width = self.series.iter().map(|s| s.len()).max().unwrap_or(0).max(self.name.len());
        let mut out = format!("{}\n  {:<width$}{head}  power  steepest", self.x_label, self.name);
        for (k, name) in self.series.iter().enumerate() {
            let times: String = self.points.iter().map(|p| format!(" {:>8}", number(p.times_us[k]))).collect();
            let steep = self.steepest(k).map_or(String::new(), |(p, [a, b])| format!("{p:.2} ({a} to {b})"));
            out += &format!("\n  {name:<width$}{times}  {:>5.2}  {steep}", self.exponent(k));
        }
        if self.unsolved() > 0 {
            let where_ = self.points.iter().filter(|p| p.unsolved > 0);
            let sizes: Vec<String> =
                where_.map(|p| format!("{} ({} of {} states)", p.x, p.unsolved, p.states)).collect();
            out += &format!("\n  not solved to the tolerance at {}", sizes.join(", "));
        }
        out
    }

    pub(crate) fn to_svg(&self) -> String {
        let series = |(k, name): (usize, &&str)| Series::new(*name, self.points_of(k));
        let all: Vec<Series> = self.series.iter().enumerate().map(series).collect();
        log_log(self.x_label, "microseconds", &all, upper_exponent)
    }
}

impl Growth {
    /// A list of curves, each with its sizes and its series of times, their fitted exponents and steepest pieces.
    pub fn to_json(&self) -> Value {
        Value::Array(self.curves.iter().map(Curve::to_json).collect())
    }

    /// A table per curve.
    pub fn to_text(&self) -> String {
        let curves: Vec<String> = self.curves.iter().map(Curve::to_text).collect();
        format!(
            "{}\n\nMicroseconds: median over states of the least time at each. Power: least squares over the upper half of the sizes.",
            curves.join("\n\n")
        )
    }

    /// A picture per curve, with its name.
    pub(crate) fn pictures(&self) -> impl Iterator<Item = (&'static str, String)> + '_ {
        self.curves.iter().map(|c| (c.name, c.to_svg()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(times: &[(f64, f64)]) -> Curve {
        let points = times.iter().map(|(x, t)| Point { x: *x, times_us: vec![*t], states: 1, unsolved: 0 }).collect();
        Curve { name: "a", x_label: "x", series: &["step"], points }
    }

    #[test]
    fn a_cliff_is_found_where_it_is() {
        let c = curve(&[(1.0, 1.0), (2.0, 2.0), (4.0, 64.0), (8.0, 128.0)]);
        assert_eq!(c.steepest(0), Some((5.0, [2.0, 4.0])));
        assert!(c.to_text().contains("5.00 (2 to 4)"));
    }

    #[test]
    fn the_exponent_is_that_of_the_large_sizes() {
        let c = curve(&[(1.0, 9.0), (2.0, 9.0), (4.0, 16.0), (8.0, 64.0)]);
        assert!((c.exponent(0) - 2.0).abs() < 1e-12);
        assert_eq!(c.to_json()["series"]["step"]["us"][3], 64.0);
    }
}
