//! Bars: a few numbers for each of many names, side by side.

use crate::axis::Axis;
use crate::svg::{INK, Svg};

/// Numbers of names.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bars {
    /// What is written below each place.
    pub labels: Vec<String>,
    /// Name in the legend, and a number per label.
    pub groups: Vec<(String, Vec<f64>)>,
    /// Largest magnitude per label, drawn as a line on either side; empty: none. What is not finite is left out.
    pub limits: Vec<f64>,
}

/// Of a place, that bars fill.
const FILLED: f64 = 0.8;

impl Bars {
    /// All numbers, and zero.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = f64> + '_ {
        let limits = self.limits.iter().flat_map(|x| [*x, -*x]);
        self.groups.iter().flat_map(|g| g.1.iter().copied()).chain(limits).chain([0.0])
    }

    pub(crate) fn draw(&self, svg: &mut Svg, x: [f64; 2], floor: f64, y: &Axis, color: impl Fn(&str) -> &'static str) {
        let place = (x[1] - x[0]) / self.labels.len().max(1) as f64;
        let width = FILLED * place / self.groups.len().max(1) as f64;
        let Some(zero) = y.place(0.0) else { return };
        for (k, label) in self.labels.iter().enumerate() {
            let left = x[0] + place * (k as f64 + 0.5 * (1.0 - FILLED));
            for (i, (name, numbers)) in self.groups.iter().enumerate() {
                if let Some(top) = numbers.get(k).and_then(|n| y.place(*n)) {
                    let start = left + width * i as f64;
                    svg.block([start, zero], [start + width, top], color(name));
                }
            }
            for limit in self.limits.get(k).into_iter().filter(|l| l.is_finite()).flat_map(|l| [*l, -*l]) {
                if let Some(at) = y.place(limit) {
                    svg.line([left, at], [left + FILLED * place, at], INK);
                }
            }
            svg.slanted([x[0] + place * (k as f64 + 0.6), floor + 12.0], label);
        }
        svg.line([x[0], zero], [x[1], zero], INK);
    }
}
