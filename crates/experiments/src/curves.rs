//! Pictures and texts that the experiments with the cube share.

use crate::ranking::Ranking;
use slipstick::optimize::{Iteration, Method};
use slipstick_plot::{Panel, Scale, Series, figure};

/// Points of a disc of radius one, and a number from −1 to 1 with each: evenly spread, the same every time. Neighbors on
/// the spiral are a golden angle apart.
pub(crate) fn spread(n: usize) -> impl Iterator<Item = [f64; 3]> {
    (0..n).map(move |k| {
        let (radius, angle) = (((k as f64 + 0.5) / n as f64).sqrt(), 2.399_963_229_728_653 * k as f64);
        let spin = 2.0 * (0.5 + k as f64 * 0.618_033_988_749_894_9).fract() - 1.0;
        [radius * angle.cos(), radius * angle.sin(), spin]
    })
}

/// A line about an iteration.
pub(crate) fn iteration(i: &Iteration) -> String {
    format!("iteration {:2}: error {:.3e}, gradient {:.1e}, step {:.1e}", i.iteration, i.error, i.gradient, i.step)
}

/// Median errors over iterations and over time, a panel per method.
pub(crate) fn figures(name: &str, rankings: &[Ranking]) -> Vec<(String, String)> {
    let panels = |x_label: &str, scale: Scale, of: fn(&Ranking) -> Series| {
        let panel = |(method, title): (Method, &str)| {
            let series: Vec<Series> = rankings.iter().filter(|s| s.method == method && plain(s)).map(of).collect();
            Panel::curves(title, [x_label, "median error ‖q_T − q*‖"], [scale, Scale::Log], series)
        };
        let methods = [(Method::GaussNewton, "Gauss–Newton"), (Method::GradientDescent, "Gradient descent")];
        figure(&methods.map(panel))
    };
    vec![
        (format!("{name}-iterations.svg"), panels("iteration", Scale::Linear, Ranking::by_iteration)),
        (format!("{name}-time.svg"), panels("time (ms)", Scale::Log, Ranking::by_time)),
    ]
}

/// Exact derivatives and differences, as the paper compares them.
fn plain(ranking: &Ranking) -> bool {
    ranking.source == "exact" || ranking.source.starts_with("differences")
}

/// Where the searches of Gauss–Newton end, the best first: exact and smoothed derivatives.
pub(crate) fn ends(rankings: &[Ranking]) -> String {
    let chosen = rankings.iter().filter(|s| s.method == Method::GaussNewton && !s.source.starts_with("differences"));
    let series = |s: &Ranking| {
        let errors = s.errors().into_iter().enumerate();
        Series::new(s.source.clone(), errors.map(|(k, e)| (k as f64 + 1.0, e.max(1e-13))).collect()).marked()
    };
    let labels = ["problems, the best first", "last error ‖q_T − q*‖"];
    figure(&[Panel::curves("", labels, [Scale::Linear, Scale::Log], chosen.map(series).collect()).wide()])
}
