//! Figures as SVG, written out by hand: panels side by side with curves, marks or bars, and a legend below them.
//!
//! Numbers go in, a text comes out: no files, no fonts, no dependencies. The same numbers give the same text, so figures
//! in a repository change only when what they show does.
//!
//! ```
//! use slipstick_plot::{Panel, Scale, Series, figure};
//! let error = Series::new("Newton", (0..5).map(|k| (f64::from(k), 10f64.powi(-k * k))).collect());
//! let panel = Panel::curves("Convergence", ["iteration", "error"], [Scale::Linear, Scale::Log], vec![error]);
//! assert!(figure(&[panel]).starts_with("<svg"));
//! ```

mod axis;
mod bars;
mod curves;
mod figure;
mod power;
mod svg;

pub use axis::Scale;
pub use bars::Bars;
pub use curves::Series;
pub use figure::{Panel, figure};
pub use power::{exponent, upper_exponent};

/// Curves with marks on logarithmic axes, and in the legend the power with which each grows as `fit` finds it.
pub fn log_log(x_label: &str, y_label: &str, series: &[Series], fit: fn(&[(f64, f64)]) -> f64) -> String {
    let named = |s: &Series| Series { name: format!("{} (power {:.2})", s.name, fit(&s.points)), ..s.clone() }.marked();
    let series = series.iter().map(named).collect();
    figure(&[Panel::curves("", [x_label, y_label], [Scale::Log; 2], series).wide()])
}

/// Marks on logarithmic axes of the same decades, and the diagonal where both numbers are equal.
pub fn scatter(x_label: &str, y_label: &str, series: &[Series]) -> String {
    figure(&[Panel::marks("", [x_label, y_label], [Scale::Log; 2], series.to_vec()).wide().with_diagonal()])
}
