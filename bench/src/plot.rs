//! A plot with logarithmic axes as SVG, written out by hand: two axes, lines with marks, a legend.

use std::fmt::Write;

/// A line of the plot.
pub struct Series {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const BOTTOM: f64 = 50.0;
const MARGIN: f64 = 20.0;
const COLOURS: [&str; 4] = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd"];

/// Slope of the straight line that fits log y over log x best: y grows like x to this power.
pub fn exponent(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let mean = logs.iter().fold((0.0, 0.0), |m, p| (m.0 + p.0 / n, m.1 + p.1 / n));
    let (xy, xx) = logs.iter().fold((0.0, 0.0), |s, p| {
        let x = p.0 - mean.0;
        (s.0 + x * (p.1 - mean.1), s.1 + x * x)
    });
    xy / xx
}

/// Decades that hold all numbers.
fn decades(numbers: impl Iterator<Item = f64>) -> (i32, i32) {
    let (low, high) = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    (low.log10().floor() as i32, high.log10().ceil() as i32)
}

/// The whole picture.
pub fn log_log(x_label: &str, y_label: &str, series: &[Series]) -> String {
    let points = || series.iter().flat_map(|s| &s.points);
    let (x0, x1) = decades(points().map(|p| p.0));
    let (y0, y1) = decades(points().map(|p| p.1));
    let px = |x: f64| LEFT + (x.log10() - f64::from(x0)) / f64::from(x1 - x0) * (WIDTH - LEFT - MARGIN);
    let py = |y: f64| HEIGHT - BOTTOM - (y.log10() - f64::from(y0)) / f64::from(y1 - y0) * (HEIGHT - BOTTOM - MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let (top, bottom, right) = (MARGIN, HEIGHT - BOTTOM, WIDTH - MARGIN);
    let mut line = |a: [f64; 2], b: [f64; 2], colour: &str| {
        let _ = writeln!(svg, "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"{colour}\"/>", a[0], a[1], b[0], b[1]);
    };
    for k in x0..=x1 {
        line([px(10f64.powi(k)), top], [px(10f64.powi(k)), bottom], "#cccccc");
    }
    for k in y0..=y1 {
        line([LEFT, py(10f64.powi(k))], [right, py(10f64.powi(k))], "#cccccc");
    }
    let mut text = |x: f64, y: f64, anchor: &str, colour: &str, words: &str| {
        let _ =
            writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{words}</text>");
    };
    for k in x0..=x1 {
        text(px(10f64.powi(k)), bottom + 18.0, "middle", "black", &10f64.powi(k).to_string());
    }
    for k in y0..=y1 {
        text(LEFT - 6.0, py(10f64.powi(k)) + 4.0, "end", "black", &10f64.powi(k).to_string());
    }
    text((LEFT + right) / 2.0, HEIGHT - 12.0, "middle", "black", x_label);
    text(LEFT - 50.0, top - 6.0, "start", "black", y_label);
    for (i, s) in series.iter().enumerate() {
        let words = format!("{} (power {:.2})", s.name, exponent(&s.points));
        text(LEFT + 12.0, top + 18.0 * (i + 1) as f64, "start", COLOURS[i % COLOURS.len()], &words);
    }
    for (i, s) in series.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        let path: Vec<String> = s.points.iter().map(|(x, y)| format!("{:.1} {:.1}", px(*x), py(*y))).collect();
        let _ = writeln!(svg, "<path d=\"M{}\" stroke=\"{colour}\" stroke-width=\"2\" fill=\"none\"/>", path.join("L"));
        for (x, y) in &s.points {
            let _ = writeln!(svg, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"/>", px(*x), py(*y));
        }
    }
    svg.push_str("</svg>\n");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_of_a_power_is_found() {
        let points: Vec<(f64, f64)> = [1.0, 3.0, 10.0, 700.0].iter().map(|x: &f64| (*x, 5.0 * x.powf(1.7))).collect();
        assert!((exponent(&points) - 1.7).abs() < 1e-12);
    }

    #[test]
    fn every_point_lies_inside_the_axes() {
        let series = Series { name: "a".into(), points: vec![(100.0, 0.1), (3000.0, 80.0)] };
        let svg = log_log("x", "y", &[series]);
        assert_eq!(svg.matches("<circle").count(), 2);
        for part in svg.split("<circle cx=\"").skip(1) {
            let x: f64 = part.split('"').next().unwrap().parse().unwrap();
            assert!((LEFT..=WIDTH - MARGIN).contains(&x));
        }
    }
}
