//! Plots with logarithmic axes as SVG, written out by hand: two axes, marks with or without lines, a legend.

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

/// The same for the upper half of the points, by rising x: what is fixed per call matters least there.
pub fn upper_exponent(points: &[(f64, f64)]) -> f64 {
    exponent(&points[(points.len() / 2).min(points.len().saturating_sub(2))..])
}

/// Decades that hold all numbers, at least one.
fn decades(numbers: impl Iterator<Item = f64>) -> (i32, i32) {
    let (low, high) = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    let first = low.log10().floor() as i32;
    (first, (high.log10().ceil() as i32).max(first + 1))
}

/// Logarithmic axes from whole decades to whole decades.
struct Axes {
    x: (i32, i32),
    y: (i32, i32),
}

const TOP: f64 = MARGIN;
const RIGHT: f64 = WIDTH - MARGIN;
const FLOOR: f64 = HEIGHT - BOTTOM;

impl Axes {
    fn of(series: &[Series]) -> Axes {
        let points = || series.iter().flat_map(|s| &s.points);
        Axes { x: decades(points().map(|p| p.0)), y: decades(points().map(|p| p.1)) }
    }

    fn px(&self, x: f64) -> f64 {
        LEFT + (x.log10() - f64::from(self.x.0)) / f64::from(self.x.1 - self.x.0) * (RIGHT - LEFT)
    }

    fn py(&self, y: f64) -> f64 {
        FLOOR - (y.log10() - f64::from(self.y.0)) / f64::from(self.y.1 - self.y.0) * (FLOOR - TOP)
    }

    /// The beginning of a picture: lines at the decades, numbers and labels.
    fn draw(&self, x_label: &str, y_label: &str) -> String {
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" font-family=\"sans-serif\" \
             font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        let power = |k: i32| 10f64.powi(k);
        for k in self.x.0..=self.x.1 {
            line(&mut svg, [self.px(power(k)), TOP], [self.px(power(k)), FLOOR], "#cccccc");
        }
        for k in self.y.0..=self.y.1 {
            line(&mut svg, [LEFT, self.py(power(k))], [RIGHT, self.py(power(k))], "#cccccc");
        }
        for k in self.x.0..=self.x.1 {
            // the last number ends where the picture does
            let (x, anchor) = if k == self.x.1 { (WIDTH - 2.0, "end") } else { (self.px(power(k)), "middle") };
            text(&mut svg, [x, FLOOR + 18.0], anchor, "black", &power(k).to_string());
        }
        for k in self.y.0..=self.y.1 {
            text(&mut svg, [LEFT - 6.0, self.py(power(k)) + 4.0], "end", "black", &power(k).to_string());
        }
        text(&mut svg, [(LEFT + RIGHT) / 2.0, HEIGHT - 12.0], "middle", "black", x_label);
        text(&mut svg, [LEFT, TOP - 6.0], "start", "black", y_label);
        svg
    }

    fn marks(&self, svg: &mut String, s: &Series, colour: &str) {
        for (x, y) in &s.points {
            let (cx, cy) = (self.px(*x), self.py(*y));
            let _ = writeln!(svg, "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"3\" fill=\"{colour}\"/>");
        }
    }
}

fn line(svg: &mut String, a: [f64; 2], b: [f64; 2], colour: &str) {
    let _ = writeln!(svg, "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"{colour}\"/>", a[0], a[1], b[0], b[1]);
}

fn text(svg: &mut String, at: [f64; 2], anchor: &str, colour: &str, words: &str) {
    let [x, y] = at;
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{words}</text>");
}

/// A line of the legend.
fn legend(svg: &mut String, i: usize, words: &str) {
    text(svg, [LEFT + 12.0, TOP + 18.0 * (i + 1) as f64], "start", COLOURS[i % COLOURS.len()], words);
}

/// Lines with marks, and the power with which each grows as `fit` finds it.
pub fn log_log(x_label: &str, y_label: &str, series: &[Series], fit: fn(&[(f64, f64)]) -> f64) -> String {
    let axes = Axes::of(series);
    let mut svg = axes.draw(x_label, y_label);
    for (i, s) in series.iter().enumerate() {
        legend(&mut svg, i, &format!("{} (power {:.2})", s.name, fit(&s.points)));
    }
    for (i, s) in series.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        let path: Vec<String> =
            s.points.iter().map(|(x, y)| format!("{:.1} {:.1}", axes.px(*x), axes.py(*y))).collect();
        let _ = writeln!(svg, "<path d=\"M{}\" stroke=\"{colour}\" stroke-width=\"2\" fill=\"none\"/>", path.join("L"));
        axes.marks(&mut svg, s, colour);
    }
    svg.push_str("</svg>\n");
    svg
}

/// Marks without lines, on axes of the same decades, and the diagonal where both numbers are equal.
pub fn scatter(x_label: &str, y_label: &str, series: &[Series]) -> String {
    let Axes { x, y } = Axes::of(series);
    let both = (x.0.min(y.0), x.1.max(y.1));
    let axes = Axes { x: both, y: both };
    let mut svg = axes.draw(x_label, y_label);
    line(&mut svg, [LEFT, FLOOR], [RIGHT, TOP], "black");
    for (i, s) in series.iter().enumerate() {
        legend(&mut svg, i, &s.name);
        axes.marks(&mut svg, s, COLOURS[i % COLOURS.len()]);
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
        let svg = log_log("x", "y", &[series], exponent);
        assert_eq!(svg.matches("<circle").count(), 2);
        for part in svg.split("<circle cx=\"").skip(1) {
            let x: f64 = part.split('"').next().unwrap().parse().unwrap();
            assert!((LEFT..=WIDTH - MARGIN).contains(&x));
        }
    }

    #[test]
    fn equal_numbers_lie_on_the_diagonal() {
        let series = Series { name: "a".into(), points: vec![(30.0, 30.0), (2.0, 700.0)] };
        let svg = scatter("x", "y", &[series]);
        let mark = svg.split("<circle cx=\"").nth(1).unwrap();
        let numbers: Vec<f64> = mark.split('"').step_by(2).take(2).map(|n| n.parse().unwrap()).collect();
        let (along, up) = ((numbers[0] - LEFT) / (RIGHT - LEFT), (FLOOR - numbers[1]) / (FLOOR - TOP));
        assert!((along - up).abs() < 1e-3);
    }
}
